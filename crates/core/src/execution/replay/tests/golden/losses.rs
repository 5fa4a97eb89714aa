//! Attempts that die with their node.

use super::history::History;
use crate::execution::decide::tests::fixture::{lost, step_id};
use crate::execution::{Command, Lost};
use crate::id::NodeId;

pub(super) fn histories() -> Vec<History> {
    vec![
        History::new("lost once with a node that is named", "", &["a"], |run| {
            run.begin("a").wait(700);
            run.send(Command::Lost(Lost {
                step: step_id("a"),
                attempt: 1,
                node: Some(NodeId::from_bytes([3; 16])),
                begun: true,
            }));
            run.ok("a", "1");
        })
        .edit("task: t}", "task: t}, when: \"false\""),
        History::new("a wait whose node died keeps its time", "", &["a"], |run| {
            run.fail("a", "503")
                .wait(700)
                .send(lost("a", 2, false))
                .ok("a", "1");
        })
        .edit("jitter: none", "jitter: none, initialDelay: 1s"),
        History::new(
            "losses cost no retries",
            "retry: {maxRetries: 2, jitter: none}",
            &["a"],
            |run| {
                run.fail("a", "503")
                    .lost("a")
                    .fail("a", "503")
                    .lost("a")
                    .fail("a", "503");
            },
        )
        .edit("maxRetries: 2", "maxRetries: 3"),
        History::new("lost while failing", "", &["a", "b | needs: []"], |run| {
            run.begin("b").fail("a", "400").wait(5).lost("b");
        }),
        History::new(
            "an undoing that is lost too often",
            "",
            &["a | compensate: undo", "b", "undo"],
            |run| {
                run.ok("a", "1").fail("b", "400");
                run.lost("undo")
                    .lost("undo")
                    .lost("undo")
                    .lost("undo")
                    .lost("undo");
            },
        ),
        History::new(
            "an undoing that is lost before it began",
            "",
            &["a | compensate: undo", "b", "undo"],
            |run| {
                run.ok("a", "1")
                    .fail("b", "400")
                    .send(lost("undo", 1, false))
                    .ok("undo", "2");
            },
        ),
        History::new(
            "losses wait as long as jitter says",
            "retry: {jitter: decorrelated}",
            &["a"],
            |run| {
                run.lost("a").lost("a").lost("a").lost("a").ok("a", "1");
            },
        )
        .edit("decorrelated", "none"),
        History::new(
            "lost although nothing is retried",
            "retry: false",
            &["a"],
            |run| {
                run.lost("a").lost("a").fail("a", "503");
            },
        )
        .edit("retry: false", "retry: true"),
    ]
}
