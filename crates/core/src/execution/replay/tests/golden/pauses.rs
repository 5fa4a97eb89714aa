//! Pauses: in every status, and what happens meanwhile.

use super::history::History;
use crate::execution::Command;
use crate::execution::decide::tests::fixture::lost;

const LINE: &[&str] = &["a", "b"];
const PARALLEL: &[&str] = &["a", "b | needs: []", "c | needs: [a, b]"];

pub(super) fn histories() -> Vec<History> {
    let mut all = results();
    all.extend(failures());
    all.extend(limits());
    all
}

fn results() -> Vec<History> {
    vec![
        History::new("paused by nobody, twice", "", LINE, |run| {
            run.send(Command::Pause { by: None })
                .send(Command::Pause { by: None });
            run.wait(1)
                .send(Command::Resume { by: None })
                .ok("a", "1")
                .ok("b", "2");
        }),
        History::new("a result while paused", "", LINE, |run| {
            run.begin("a")
                .pause()
                .wait(50)
                .ok("a", "1")
                .wait(50)
                .resume()
                .ok("b", "2");
        }),
        History::new("a wait goes on after the pause", "", LINE, |run| {
            run.fail("a", "503")
                .pause()
                .wait(500)
                .resume()
                .ok("a", "1")
                .ok("b", "2");
        })
        .edit("jitter: none", "jitter: none, initialDelay: 3s"),
    ]
}

fn failures() -> Vec<History> {
    vec![
        History::new("the last failure while paused", "", LINE, |run| {
            run.begin("a")
                .pause()
                .wait(50)
                .fail("a", "400")
                .wait(50)
                .resume();
        }),
        History::new(
            "a sibling's wait is dropped on resume",
            "",
            PARALLEL,
            |run| {
                run.fail("b", "503")
                    .begin("a")
                    .pause()
                    .fail("a", "400")
                    .wait(10)
                    .resume();
            },
        ),
        History::new("paused while failing", "", PARALLEL, |run| {
            run.begin("b")
                .fail("a", "400")
                .pause()
                .wait(10)
                .ok("b", "2")
                .wait(10)
                .resume();
        }),
        History::new("both siblings finish while paused", "", PARALLEL, |run| {
            run.begin("a")
                .begin("b")
                .pause()
                .ok("a", "1")
                .ok("b", "2")
                .wait(9)
                .resume()
                .ok("c", "3");
        }),
        History::new("losses of both kinds while paused", "", PARALLEL, |run| {
            run.begin("a").fail("b", "503").begin("b").pause().lost("a");
            run.send(lost("b", 2, false))
                .wait(10)
                .resume()
                .ok("a", "1")
                .ok("b", "2")
                .ok("c", "3");
        }),
        History::new(
            "the output cannot be filled in after the pause",
            "output: \"${steps.a.output.x}\"",
            &["a"],
            |run| {
                run.begin("a").pause().ok("a", "1").wait(10).resume();
            },
        )
        .edit("output: \"${steps.a.output.x}\"", "output: 1"),
        History::new(
            "cancelled with undoing while paused and failing",
            "",
            &[
                "a | compensate: undo",
                "b | needs: [a]",
                "c | needs: [a]",
                "undo",
            ],
            |run| {
                run.ok("a", "1")
                    .begin("c")
                    .fail("b", "400")
                    .pause()
                    .wait(10)
                    .cancel_and_undo()
                    .ok("undo", "2");
            },
        ),
    ]
}

fn limits() -> Vec<History> {
    vec![
        History::new(
            "the time limit stands still during a pause",
            "retry: {jitter: none, maxElapsed: 10s}",
            &["a"],
            |run| {
                run.fail("a", "503")
                    .pause()
                    .wait(3_600_000)
                    .resume()
                    .fail("a", "503")
                    .ok("a", "1");
            },
        )
        .edit("maxElapsed: 10s", "maxElapsed: 3s"),
        History::new(
            "pauses before, during and after an attempt",
            "retry: {jitter: none, maxElapsed: 10s}",
            &["a", "b"],
            |run| {
                run.pause()
                    .wait(60_000)
                    .resume()
                    .begin("a")
                    .wait(1_000)
                    .pause()
                    .wait(60_000)
                    .resume();
                run.fail("a", "503")
                    .pause()
                    .wait(60_000)
                    .resume()
                    .ok("a", "1");
                run.pause()
                    .wait(60_000)
                    .resume()
                    .begin("b")
                    .wait(9_000)
                    .fail("b", "503");
            },
        )
        .edit("maxElapsed: 10s", "maxElapsed: 20s"),
    ]
}
