//! Named histories: what happens to an execution, and how it must end.

use crate::execution::Outcome;
use crate::execution::decide::tests::fixture::{BEGINNING, Run, failure, json, lost, stray};

/// A history: a definition and what happens to its execution.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) steps: &'static [&'static str],
    pub(super) script: fn(&mut Run),
    /// How it ends.
    pub(super) status: &'static str,
    /// Waits that were drawn.
    pub(super) delays: usize,
}

const LINE: &[&str] = &["a", "b"];
const PARALLEL: &[&str] = &["a", "b | needs: []", "c | needs: [a, b]"];
const UNDO: &[&str] = &[
    "a | compensate: undo_a",
    "b | compensate: undo_b",
    "c",
    "undo_a",
    "undo_b",
];

fn retried_until_given_up(run: &mut Run, step: &str) {
    for _ in 0..20 {
        if run.work.get(step).is_some() {
            run.fail(step, "503");
        }
    }
}

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "everything succeeds",
        steps: LINE,
        script: |run| {
            run.ok("a", "1").ok("b", "2");
        },
        status: "completed",
        delays: 0,
    },
    Scenario {
        name: "one retry",
        steps: LINE,
        script: |run| {
            run.fail("a", "503").ok("a", "1").ok("b", "2");
        },
        status: "completed",
        delays: 1,
    },
    Scenario {
        name: "retries in both steps",
        steps: LINE,
        script: |run| {
            run.fail("a", "503")
                .fail("a", "dns")
                .ok("a", "1")
                .fail("b", "429")
                .ok("b", "2");
        },
        status: "completed",
        delays: 3,
    },
    Scenario {
        name: "exhausted",
        steps: LINE,
        script: |run| retried_until_given_up(run, "a"),
        status: "dlq",
        delays: 5,
    },
    Scenario {
        name: "success, then exhausted",
        steps: LINE,
        script: |run| {
            run.ok("a", "1");
            retried_until_given_up(run, "b");
        },
        status: "dlq",
        delays: 5,
    },
    Scenario {
        name: "not retryable",
        steps: LINE,
        script: |run| {
            run.fail("a", "400");
        },
        status: "dlq",
        delays: 0,
    },
    Scenario {
        name: "retried, then not retryable",
        steps: LINE,
        script: |run| {
            run.fail("a", "503").fail("a", "404");
        },
        status: "dlq",
        delays: 1,
    },
    Scenario {
        name: "the target asks for a wait",
        steps: LINE,
        script: |run| {
            let mut asking = failure("429");
            asking.retry_after_ms = Some(90_000);
            run.report("a", Outcome::Failed(asking))
                .ok("a", "1")
                .ok("b", "2");
        },
        status: "completed",
        delays: 1,
    },
    Scenario {
        name: "parallel steps in one batch",
        steps: PARALLEL,
        script: |run| {
            run.begin("a")
                .begin("b")
                .ok("a", "1")
                .ok("b", "2")
                .ok("c", "3");
        },
        status: "completed",
        delays: 0,
    },
    Scenario {
        name: "parallel steps retried in turns",
        steps: PARALLEL,
        script: |run| {
            run.fail("a", "503")
                .fail("b", "503")
                .fail("a", "503")
                .ok("b", "2")
                .ok("a", "1");
            run.ok("c", "3");
        },
        status: "completed",
        delays: 3,
    },
    Scenario {
        name: "a sibling finishes while failing",
        steps: PARALLEL,
        script: |run| {
            run.begin("b").fail("a", "400").wait(700).ok("b", "2");
        },
        status: "dlq",
        delays: 0,
    },
    Scenario {
        name: "a sibling's retry is dropped",
        steps: PARALLEL,
        script: |run| {
            run.fail("b", "503").fail("a", "400");
        },
        status: "dlq",
        delays: 1,
    },
    Scenario {
        name: "undone in reverse",
        steps: UNDO,
        script: |run| {
            run.ok("a", "1")
                .ok("b", "2")
                .fail("c", "400")
                .ok("undo_b", "3")
                .ok("undo_a", "4");
        },
        status: "dlq",
        delays: 0,
    },
    Scenario {
        name: "undoing is retried",
        steps: UNDO,
        script: |run| {
            run.ok("a", "1")
                .fail("b", "400")
                .fail("undo_a", "503")
                .ok("undo_a", "4");
        },
        status: "dlq",
        delays: 1,
    },
    Scenario {
        name: "undoing fails",
        steps: UNDO,
        script: |run| {
            run.ok("a", "1")
                .ok("b", "2")
                .fail("c", "400")
                .fail("undo_b", "400")
                .ok("undo_a", "4");
        },
        status: "dlq",
        delays: 0,
    },
    Scenario {
        name: "paused and resumed",
        steps: LINE,
        script: |run| {
            run.pause().wait(5_000).resume().ok("a", "1").ok("b", "2");
        },
        status: "completed",
        delays: 0,
    },
    Scenario {
        name: "paused during a wait that ends meanwhile",
        steps: LINE,
        script: |run| {
            run.fail("a", "503")
                .pause()
                .wait(60_000)
                .resume()
                .ok("a", "1")
                .ok("b", "2");
        },
        status: "completed",
        delays: 1,
    },
    Scenario {
        name: "a failure arrives while paused",
        steps: LINE,
        script: |run| {
            run.begin("a")
                .pause()
                .fail("a", "503")
                .resume()
                .ok("a", "1")
                .ok("b", "2");
        },
        status: "completed",
        delays: 1,
    },
    Scenario {
        name: "the last result arrives while paused",
        steps: LINE,
        script: |run| {
            run.ok("a", "1")
                .begin("b")
                .pause()
                .ok("b", "2")
                .wait(10)
                .resume();
        },
        status: "completed",
        delays: 0,
    },
    Scenario {
        name: "cancelled",
        steps: LINE,
        script: |run| {
            run.begin("a").cancel();
        },
        status: "cancelled",
        delays: 0,
    },
    Scenario {
        name: "cancelled while paused",
        steps: LINE,
        script: |run| {
            run.begin("a").pause().wait(10).cancel();
        },
        status: "cancelled",
        delays: 0,
    },
    Scenario {
        name: "cancelled while paused, with nothing to undo",
        steps: LINE,
        script: |run| {
            run.begin("a").pause().wait(10).cancel_and_undo();
        },
        status: "cancelled",
        delays: 0,
    },
    Scenario {
        name: "cancelled and undone",
        steps: UNDO,
        script: |run| {
            run.ok("a", "1")
                .ok("b", "2")
                .cancel_and_undo()
                .ok("undo_b", "3")
                .ok("undo_a", "4");
        },
        status: "cancelled",
        delays: 0,
    },
    Scenario {
        name: "cancelled while paused and undone",
        steps: UNDO,
        script: |run| {
            run.ok("a", "1")
                .pause()
                .cancel_and_undo()
                .fail("undo_a", "503")
                .ok("undo_a", "4");
        },
        status: "cancelled",
        delays: 1,
    },
    Scenario {
        name: "resumed and cancelled in the same instant",
        steps: LINE,
        script: |run| {
            run.pause().resume().cancel();
        },
        status: "cancelled",
        delays: 0,
    },
    Scenario {
        name: "lost three times, then done",
        steps: LINE,
        script: |run| {
            run.lost("a").lost("a").lost("a").ok("a", "1").ok("b", "2");
        },
        status: "completed",
        delays: 2,
    },
    Scenario {
        name: "lost too often",
        steps: LINE,
        script: |run| {
            run.lost("a").lost("a").lost("a").lost("a").lost("a");
        },
        status: "dlq",
        delays: 3,
    },
    Scenario {
        name: "lost before it began, failed, lost while paused",
        steps: LINE,
        script: |run| {
            run.send(lost("a", 1, false))
                .fail("a", "503")
                .begin("a")
                .pause()
                .lost("a");
            run.resume().ok("a", "1").ok("b", "2");
        },
        status: "completed",
        delays: 1,
    },
    Scenario {
        name: "late and doubled results in between",
        steps: LINE,
        script: |run| {
            run.fail("a", "503");
            assert!(
                run.attempt(stray("a", 1, Outcome::Succeeded(json("1"))))
                    .is_err()
            );
            run.ok("a", "1");
            assert!(
                run.attempt(stray("a", 2, Outcome::Succeeded(json("1"))))
                    .is_err()
            );
            run.ok("b", "2");
        },
        status: "completed",
        delays: 1,
    },
    Scenario {
        name: "the clock is set back",
        steps: LINE,
        script: |run| {
            run.wait(5_000).fail("a", "503");
            run.now = BEGINNING;
            run.ok("a", "1");
            run.now = BEGINNING;
            run.ok("b", "2");
        },
        status: "completed",
        delays: 1,
    },
];
