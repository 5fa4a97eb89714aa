//! Logs that a later build wrote: what this one does not know it keeps, folds over, and does not
//! pretend to have derived.

use super::history::History;
use crate::execution::event::{Event, EventKind, Unknown};

/// Puts an event of a later build behind event `after`.
fn insert(log: &mut Vec<Event>, after: usize, name: &str, v: u16, payload: &str) {
    let mut event = log[after - 1].clone();
    event.kind = EventKind::Unknown(Unknown {
        name: name.to_owned(),
        v,
        payload: payload.as_bytes().to_vec(),
    });
    log.insert(after, event);
    for (index, event) in log.iter_mut().enumerate() {
        event.sequence = index as u64 + 1;
    }
}

fn one_step(name: &'static str, then: fn(&mut Vec<Event>)) -> History {
    History::new(name, "", &["a"], |run| {
        run.fail("a", "503").ok("a", r#"{"x":1}"#);
    })
    .then(then)
}

pub(super) fn histories() -> Vec<History> {
    vec![
        one_step("a type of a later build", |log| {
            let payload = r#"{"token":"cb_1","n":123456789012345678901234567890,"s":"\u0000"}"#;
            insert(log, 5, "SIGNAL_RECEIVED", 1, payload);
        }),
        one_step("a later version of a known type", |log| {
            insert(
                log,
                2,
                "STEP_SCHEDULED",
                2,
                r#"{"due":{"at":"later"},"worker":"w-1"}"#,
            );
        }),
        one_step("a type of a later build after the end", |log| {
            let end = log.len();
            insert(log, end, "EXECUTION_ARCHIVED", 1, "{}");
        }),
        one_step("rules of a later build", |log| {
            if let EventKind::ExecutionStarted(started) = &mut log[0].kind {
                started.rules = u16::MAX;
            }
        }),
    ]
}
