//! Targets that call back.

use super::history::History;
use crate::execution::decide::tests::fixture::{failure, json};
use crate::execution::{Outcome, Said};
use crate::failure::{ErrorClass, Failure};

const ANSWER: &str = r#"{"status":202,"headers":{},"body":{"id":7.0}}"#;

fn done() -> Said {
    Said::Success(json(r#"{"status":"success","n":[1.50]}"#))
}

fn failed() -> Said {
    let mut failure = Failure::new(ErrorClass::CallbackFailed, "no room \u{0} left");
    failure.response = Some(r#"{"status":"failed"}"#.to_owned());
    Said::Failed(failure)
}

pub(super) fn histories() -> Vec<History> {
    let mut all = in_order();
    all.extend(in_between());
    all
}

/// Answers and callbacks in every order.
fn in_order() -> Vec<History> {
    vec![
        History::new("a step waits for its callback", "", &["a^"], |run| {
            run.wait(5).begin("a").wait(70).ok("a", ANSWER);
        }),
        History::new("a target calls back twice", "", &["a^", "b"], |run| {
            run.begin("a").wait(70).ok("a", ANSWER);
            run.wait(900).say("a", Said::Processing);
            run.wait(900).say("a", done()).ok("b", "2");
        }),
        History::new("a target calls back that it failed", "", &["a^"], |run| {
            run.ok("a", ANSWER).wait(9).say("a", failed());
            run.ok("a", ANSWER).wait(9).say("a", done());
        }),
        History::new(
            "nobody calls back in time",
            "",
            &["a^ | outputMapping: {id: $.body.id}", "b"],
            |run| {
                run.ok("a", ANSWER).window_over("a").ok("b", "1");
            },
        ),
        History::new(
            "a target calls back before its answer",
            "",
            &["a^"],
            |run| {
                run.wait(3).begin("a").wait(40).say("a", Said::Processing);
                run.wait(2).answer("a", Outcome::Succeeded(json(ANSWER)));
                run.wait(2).say("a", done());
            },
        ),
        History::new("a last word before the answer", "", &["a^"], |run| {
            run.fail("a", "503").begin("a").wait(4).say("a", failed());
            run.begin("a").wait(4).say("a", done());
        }),
        History::new("a target refuses what it had begun", "", &["a^"], |run| {
            run.begin("a").wait(4).say("a", Said::Processing);
            run.wait(1).answer("a", Outcome::Failed(failure("503")));
            run.begin("a").wait(4).say("a", Said::Processing);
            run.wait(1)
                .answer("a", Outcome::Failed(failure("read_timeout")));
            run.window_over("a");
        }),
    ]
}

/// Callbacks while something else happens to the execution.
fn in_between() -> Vec<History> {
    vec![
        History::new("a callback while paused", "", &["a^", "b"], |run| {
            run.ok("a", ANSWER)
                .pause()
                .wait(5)
                .say("a", failed())
                .wait(5)
                .resume();
            run.ok("a", ANSWER)
                .pause()
                .wait(5)
                .say("a", done())
                .resume()
                .ok("b", "1");
        }),
        History::new(
            "a callback of a failing execution",
            "",
            &["a^ | needs: []", "b | needs: []"],
            |run| {
                run.ok("a", ANSWER)
                    .fail("b", "400")
                    .wait(5)
                    .say("a", failed());
            },
        ),
        History::new("a cancel while a target is at it", "", &["a^"], |run| {
            run.begin("a").say("a", Said::Processing).wait(5).cancel();
        }),
        History::new(
            "a step is undone by callback",
            "",
            &[
                "a | compensate: undo_a",
                "b | compensate: undo_b",
                "c",
                "undo_a^",
                "undo_b^",
            ],
            |run| {
                run.ok("a", "1").ok("b", "2").fail("c", "400");
                run.ok("undo_b", ANSWER).say("undo_b", done());
                run.ok("undo_a", ANSWER).window_over("undo_a");
            },
        ),
    ]
}
