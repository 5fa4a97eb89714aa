//! Executions that have not ended: what a server finds when it starts again.

use super::history::History;

const UNDO: &[&str] = &[
    "a | compensate: undo",
    "b | needs: [a]",
    "c | needs: [a]",
    "undo",
];

pub(super) fn histories() -> Vec<History> {
    vec![
        History::new("open and just accepted", "", UNDO, |_| {}),
        History::new("open with parallel steps", "", UNDO, |run| {
            run.ok("a", "1").begin("b");
        })
        .edit("compensate: undo}", "compensate: undo, when: \"false\"}"),
        History::new("open and waiting for a retry", "", UNDO, |run| {
            run.fail("a", "503");
        })
        .edit("jitter: none", "jitter: full"),
        History::new("open and paused with a retry to come", "", UNDO, |run| {
            run.fail("a", "503").wait(100).pause();
        })
        .edit("jitter: none", "jitter: full"),
        History::new("open and failing while a sibling runs", "", UNDO, |run| {
            run.ok("a", "1").begin("c").fail("b", "400");
        })
        .edit("jitter: none", "jitter: none, retryOn: {statuses: [400]}"),
        History::new("open and undoing", "", UNDO, |run| {
            run.ok("a", "1")
                .ok("c", "3")
                .fail("b", "400")
                .fail("undo", "503");
        })
        .edit("jitter: none", "jitter: full"),
        History::new("open and undoing after a cancellation", "", UNDO, |run| {
            run.ok("a", "1").begin("b").wait(10).cancel_and_undo();
        }),
        History::new("open after a loss", "", UNDO, |run| {
            run.lost("a");
        })
        .edit("compensate: undo}", "compensate: undo, when: \"false\"}"),
    ]
}
