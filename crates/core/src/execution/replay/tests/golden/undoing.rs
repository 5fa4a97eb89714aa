//! Compensation, after a failure and after a cancellation.

use super::history::History;

const UNDO: &[&str] = &[
    "a | compensate: undo_a",
    "b | compensate: undo_b",
    "c",
    "undo_a",
    "undo_b",
];

pub(super) fn histories() -> Vec<History> {
    let mut all = with_failures();
    all.extend(in_order());
    all.extend(to_the_end());
    all.extend(cancelled());
    all.extend(cancelled_and_undone());
    all
}

fn with_failures() -> Vec<History> {
    vec![
        History::new(
            "undoing exhausts its retries and the rest is undone",
            "retry: {maxRetries: 1, jitter: none}",
            UNDO,
            |run| {
                run.ok("a", "1").ok("b", "2").fail("c", "400");
                run.fail("undo_b", "503")
                    .begin("undo_b")
                    .wait(15)
                    .fail("undo_b", "503");
                run.ok("undo_a", r#"{"undone":true}"#);
            },
        )
        .edit("maxRetries: 1", "maxRetries: 2"),
        History::new("every undoing fails", "", UNDO, |run| {
            run.ok("a", "1").ok("b", "2").fail("c", "400");
            run.fail("undo_b", "400").fail("undo_a", "404");
        }),
    ]
}

fn in_order() -> Vec<History> {
    vec![
        History::new(
            "only what completed is undone",
            "",
            &[
                "a | compensate: undo_a",
                "b | needs: [a], compensate: undo_b",
                "c | needs: [a]",
                "undo_a",
                "undo_b",
            ],
            |run| {
                run.ok("a", "1")
                    .begin("b")
                    .begin("c")
                    .fail("c", "400")
                    .wait(5)
                    .fail("b", "400");
                run.ok("undo_a", "null");
            },
        )
        .edit(
            ", compensate: undo_b",
            ", compensate: undo_b, when: \"false\"",
        ),
        History::new(
            "undone in the order of completion",
            "",
            &[
                "a | compensate: undo_a",
                "b | needs: [], compensate: undo_b",
                "c | needs: [a, b]",
                "undo_a",
                "undo_b",
            ],
            |run| {
                run.ok("b", "1")
                    .ok("a", "2")
                    .fail("c", "400")
                    .ok("undo_a", "3")
                    .ok("undo_b", "4");
            },
        )
        .edit(
            "needs: [], compensate: undo_b",
            "needs: [a], compensate: undo_b",
        ),
        History::new(
            "a sibling that finishes while failing is undone first",
            "",
            &[
                "a | compensate: undo_a",
                "b | needs: [a], compensate: undo_b",
                "c | needs: [a]",
                "undo_a",
                "undo_b",
            ],
            |run| {
                run.ok("a", "1")
                    .begin("b")
                    .fail("c", "400")
                    .wait(20)
                    .ok("b", "2");
                run.ok("undo_b", "3").ok("undo_a", "4");
            },
        ),
    ]
}

fn to_the_end() -> Vec<History> {
    vec![
        History::new(
            "undoing that fails makes a letter where others make none",
            "deadLetter: exhausted",
            UNDO,
            |run| {
                run.ok("a", "1").fail("b", "400").fail("undo_a", "400");
            },
        )
        .edit(
            "a, type: local, config: {task: t},  compensate: undo_a",
            "a, type: local, config: {task: t},  compensate: undo_a, when: \"false\"",
        ),
        History::new("cancelled in the middle of undoing", "", UNDO, |run| {
            run.ok("a", "1")
                .ok("b", "2")
                .fail("c", "400")
                .ok("undo_b", "3")
                .begin("undo_a")
                .cancel();
        }),
    ]
}

fn cancelled() -> Vec<History> {
    vec![
        History::new("cancelled before anything began", "", UNDO, |run| {
            run.cancel();
        }),
        History::new("cancelled while waiting for a retry", "", UNDO, |run| {
            run.fail("a", "503").wait(100).cancel();
        })
        .edit("jitter: none", "jitter: none, initialDelay: 9s"),
        History::new(
            "cancelled while failing",
            "",
            &["a", "b | needs: []"],
            |run| {
                run.begin("b").fail("a", "400").wait(10).cancel();
            },
        ),
    ]
}

fn cancelled_and_undone() -> Vec<History> {
    vec![
        History::new(
            "cancelled with undoing while a retry waits",
            "",
            UNDO,
            |run| {
                run.ok("a", "1")
                    .fail("b", "503")
                    .wait(100)
                    .cancel_and_undo()
                    .ok("undo_a", "2");
            },
        ),
        History::new(
            "cancelled with undoing while a step runs",
            "",
            UNDO,
            |run| {
                run.ok("a", "1")
                    .begin("b")
                    .wait(100)
                    .cancel_and_undo()
                    .ok("undo_a", "2");
            },
        )
        .edit(
            "a, type: local, config: {task: t},  compensate: undo_a",
            "a, type: local, config: {task: t},  compensate: undo_a, when: \"false\"",
        ),
        History::new(
            "cancelled with undoing while failing",
            "",
            &[
                "a | compensate: undo_a",
                "b | needs: [a]",
                "c | needs: [a]",
                "undo_a",
            ],
            |run| {
                run.ok("a", "1")
                    .begin("c")
                    .fail("b", "400")
                    .cancel_and_undo()
                    .ok("undo_a", "2");
            },
        ),
        History::new("cancelled with undoing that fails", "", UNDO, |run| {
            run.ok("a", "1")
                .ok("b", "2")
                .cancel_and_undo()
                .fail("undo_b", "400")
                .ok("undo_a", "3");
        }),
        History::new(
            "cancelled with undoing that fails while failing",
            "",
            &[
                "a | compensate: undo_a",
                "b | needs: [a]",
                "c | needs: [a]",
                "undo_a",
            ],
            |run| {
                run.ok("a", "1")
                    .begin("c")
                    .fail("b", "400")
                    .cancel_and_undo()
                    .fail("undo_a", "400");
            },
        ),
        History::new("cancelled with undoing and then at once", "", UNDO, |run| {
            run.ok("a", "1")
                .cancel_and_undo()
                .cancel_and_undo()
                .begin("undo_a")
                .cancel()
                .cancel();
        }),
    ]
}
