//! One execution in each status, and what a command does to it, in one line.

use super::fixture::{
    Run, cancel, cancel_and_undo, failure, json, lost, pause, resume, retry_now, stray,
};
use crate::execution::{Command, Outcome};

/// The statuses a log can have, with the two that have a twin: `compensating` is `running`, and
/// `failing` is whatever its running siblings are.
pub(super) const STATUSES: [&str; 9] = [
    "pending",
    "retrying",
    "failing",
    "compensating",
    "paused",
    "completed",
    "failed",
    "dlq",
    "cancelled",
];

/// An execution in that status, and the step and attempt a result would be about.
pub(super) fn in_status(status: &str) -> (Run, &'static str, u32) {
    let steps = [
        "a | compensate: undo",
        "b | needs: [a]",
        "c | needs: [a]",
        "undo",
    ];
    let head = if status == "failed" {
        "deadLetter: exhausted"
    } else {
        ""
    };
    let mut run = Run::with(head, &steps, "{}");
    let (step, attempt) = match status {
        "pending" => ("a", 1),
        "retrying" => {
            run.fail("a", "503");
            ("a", 2)
        }
        "paused" => {
            run.begin("a").pause();
            ("a", 1)
        }
        "completed" => {
            run.ok("a", "1").ok("b", "2").ok("c", "3");
            ("c", 1)
        }
        "failed" | "dlq" => {
            run.fail("a", "400");
            ("a", 1)
        }
        "cancelled" => {
            run.begin("a").cancel();
            ("a", 1)
        }
        "failing" => {
            run.ok("a", "1").begin("c").fail("b", "400");
            ("c", 1)
        }
        "compensating" => {
            run.ok("a", "1").ok("c", "3").fail("b", "400");
            ("undo", 1)
        }
        other => panic!("no such status: {other}"),
    };
    (run, step, attempt)
}

/// What the command does: `refused: why`, `nothing`, or the status and events it leads to.
pub(super) fn outcome(mut run: Run, command: Command) -> String {
    let before = run.log.len();
    if let Err(refusal) = run.attempt(command) {
        return format!("refused: {refusal}");
    }
    if run.log.len() == before {
        assert!(
            run.effects.is_empty(),
            "what changes nothing has no effects either"
        );
        return "nothing".to_owned();
    }
    let names: Vec<_> = run.log[before..]
        .iter()
        .map(|event| event.kind.name())
        .collect();
    format!("{}: {}", run.status(), names.join(" "))
}

/// Compares the outcomes in all statuses with a table of `status | outcome`.
#[track_caller]
pub(super) fn assert_table(command: impl Fn(&str, u32) -> Command, table: &str) {
    let mut actual = String::new();
    for status in STATUSES {
        let (run, step, attempt) = in_status(status);
        actual += &format!("{status} | {}\n", outcome(run, command(step, attempt)));
    }
    super::fixture::assert_lines(actual.trim(), table);
}

#[test]
fn each_execution_is_in_the_status_it_is_named_after() {
    for status in STATUSES {
        let expected = match status {
            "compensating" => "running",
            "failing" => "pending",
            other => other,
        };
        assert_eq!(in_status(status).0.status(), expected);
    }
}

#[test]
fn a_refused_command_changes_nothing_and_repeating_an_accepted_one_is_harmless() {
    for status in STATUSES {
        let (_, step, attempt) = in_status(status);
        let commands = [
            stray(step, attempt, Outcome::Succeeded(json("1"))),
            stray(step, attempt, Outcome::Failed(failure("503"))),
            lost(step, attempt, true),
            pause(),
            resume(),
            retry_now(),
            cancel(),
            cancel_and_undo(),
        ];
        for command in commands {
            let (mut run, _, _) = in_status(status);
            let before = run.clone();
            if run.attempt(command.clone()).is_err() {
                assert_eq!(run.state, before.state);
                continue;
            }
            // A second time: refused, nothing, or (a lost attempt) not the live one any more.
            let after = run.log.len();
            let again = run.attempt(command);
            assert!(
                again.is_err() || run.log.len() == after,
                "{status}: {}",
                run.events()
            );
        }
    }
}
