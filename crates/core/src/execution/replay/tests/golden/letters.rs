//! Executions that retry a dead letter.

use super::history::History;
use crate::execution::decide::tests::fixture::{json, step_id};
use crate::execution::event::Lineage;
use crate::execution::{Carried, Start, Trigger, TriggerKind};
use crate::id::{DlqId, ExecutionId};

/// Makes a start the retry of a dead letter.
fn retrying(start: &mut Start) {
    let parent = ExecutionId::from_bytes([6; 16]);
    start.automatic_retries = false;
    start.trigger = Trigger {
        kind: TriggerKind::ManualDlqRetry,
        ..Trigger::manual(Some("ada".to_owned()))
    };
    start.lineage = Lineage {
        parent: Some(parent),
        root: ExecutionId::from_bytes([5; 16]),
        letter: Some(DlqId::from_bytes([8; 16])),
        generation: 2,
    };
}

/// The same from the step `b`: what `a` gave is taken over.
fn retrying_from_b(start: &mut Start) {
    retrying(start);
    start.lineage.generation = 1;
    start.carried = vec![Carried {
        step: step_id("a"),
        output: json(r#"{"id":12345678901234567890,"x":[1,2]}"#),
        from: ExecutionId::from_bytes([6; 16]),
    }];
}

const CARRIED: &[&str] = &[
    "a | outputMapping: {id: $.id}, compensate: undo",
    "b",
    "undo",
];

pub(super) fn histories() -> Vec<History> {
    let mut all = from_the_start();
    all.extend(from_the_failed_step());
    all
}

fn from_the_start() -> Vec<History> {
    let steps = &["a | compensate: undo", "b", "undo"];
    let history = |name, head, script| History::new(name, head, steps, script).starting(retrying);
    vec![
        history("a retried letter is resolved", "", |run| {
            run.ok("a", "1").ok("b", "2");
        }),
        history(
            "a retried letter fails at once and makes no second one",
            "",
            |run| {
                run.fail("a", "503");
            },
        ),
        history("a retried letter undoes and that is retried", "", |run| {
            run.ok("a", "1")
                .fail("b", "503")
                .fail("undo", "503")
                .ok("undo", "3");
        })
        .edit("jitter: none", "jitter: none, initialDelay: 5s"),
        history("a retried letter is cancelled", "", |run| {
            run.ok("a", "1").cancel();
        }),
        history("a retried letter survives a loss", "", |run| {
            run.lost("a").ok("a", "1").ok("b", "2");
        }),
    ]
}

fn from_the_failed_step() -> Vec<History> {
    let head = "output: \"${workflow.context.id}\"";
    let history =
        |name, script| History::new(name, head, CARRIED, script).starting(retrying_from_b);
    vec![
        history("retried from the failed step", |run| {
            run.ok("b", "2");
        })
        .edit("$.id", "$.x"),
        history("retried from the failed step and failed again", |run| {
            run.fail("b", "503").ok("undo", "3");
        })
        .edit(", compensate: undo", ""),
        history(
            "retried from the failed step and cancelled with undoing",
            |run| {
                run.cancel_and_undo().ok("undo", "3");
            },
        ),
        History::new(
            "two results taken over and a step skipped",
            "output: {a: \"${steps.a.output}\", c: \"${steps.c.output}\"}",
            &["a", "b | when: \"${input.go ?? false}\"", "c", "d"],
            |run| {
                run.ok("d", "4");
            },
        )
        .starting(|start| {
            retrying_from_b(start);
            start.carried.push(Carried {
                step: step_id("c"),
                output: json("null"),
                from: ExecutionId::from_bytes([5; 16]),
            });
        })
        .edit("?? false", "?? true"),
    ]
}
