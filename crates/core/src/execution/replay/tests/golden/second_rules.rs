//! What rules 2 decide otherwise than rules 1: aborted attempts are recorded, and a mapping that cannot
//! be worked out fails its step.

use super::history::History;

const UNDO: &[&str] = &["a | compensate: undo", "b", "undo"];
const SIDE_BY_SIDE: &[&str] = &["a", "b | needs: []", "c | needs: []"];

pub(super) fn histories() -> Vec<History> {
    let mut all = aborted();
    all.extend(mapping());
    all
}

fn aborted() -> Vec<History> {
    vec![
        History::new("aborted by a cancel", "", SIDE_BY_SIDE, |run| {
            run.fail("a", "503").begin("a").begin("b").wait(70).cancel();
        })
        .edit("id: a", "id: d"),
        History::new(
            "aborted by a cancel while paused",
            "",
            SIDE_BY_SIDE,
            |run| {
                run.begin("b").wait(5).pause().wait(70).cancel();
            },
        )
        .edit("id: a", "id: d"),
        History::new("aborted by a cancel with undoing", "", UNDO, |run| {
            run.ok("a", "1").begin("b").wait(3).cancel_and_undo();
            run.wait(9).ok("undo", "null");
        })
        .edit("compensate: undo", "needs: []"),
        History::new(
            "aborted by a cancel with undoing while paused",
            "",
            UNDO,
            |run| {
                run.ok("a", "1")
                    .begin("b")
                    .pause()
                    .wait(3)
                    .cancel_and_undo();
                run.ok("undo", "null");
            },
        )
        .edit("compensate: undo", "needs: []"),
        History::new("an undoing aborted by a cancel", "", UNDO, |run| {
            run.ok("a", "1")
                .fail("b", "400")
                .begin("undo")
                .wait(8)
                .cancel();
        })
        .edit("compensate: undo", "needs: []"),
    ]
}

fn mapping() -> Vec<History> {
    let costly = "a | outputMapping: {k: \"$[?match(@, '[a-z]{2,40}')]\"}";
    vec![
        History::new(
            "a mapping that is costly on three values",
            "",
            &[costly],
            |run| {
                run.ok("a", r#"["ab","c","de"]"#);
            },
        )
        .edit("{2,40}", "{1,40}"),
        History::new("a mapping that is too costly", "", &[costly], |run| {
            run.ok("a", &format!("[{}1]", "\"ab\",".repeat(60)));
        })
        .edit("jitter: none", "retryOn: {errors: [mapping]}"),
    ]
}
