//! Rows: whatever stands in a database is an event, an unknown one, or an error; what was read is
//! written and read again as the same.

use refire_core::execution::{Event, EventKind, EventRow, Execution, apply};
use refire_core::time::Timestamp;

/// The first line is the row's head (`type v step attempt backoff_ms`, what is missing is empty),
/// the rest its payload. Whatever the type, the payload is read as a snapshot too.
pub fn run(data: &[u8]) {
    let end = data
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(data.len());
    let (head, payload) = data.split_at(end);
    let payload = payload.strip_prefix(b"\n").unwrap_or(payload);
    if let Ok(head) = std::str::from_utf8(head) {
        event(head, payload);
    }
    snapshot(payload);
}

fn event(head: &str, payload: &[u8]) {
    let mut words = head.split(' ');
    let mut word = || words.next().unwrap_or_default();
    let row = EventRow {
        sequence: 7,
        name: word().to_owned().into(),
        v: word().parse().unwrap_or(1),
        at: Timestamp::from_millis(1_800_000_000_000),
        step: Some(word().to_owned()).filter(|step| !step.is_empty()),
        attempt: word().parse().ok(),
        backoff_ms: word().parse().ok(),
        reason: None,
        payload: payload.to_vec(),
    };
    let event = match Event::decode(&row) {
        Ok(event) => event,
        Err(error) => {
            assert!(error.to_string().starts_with("event 7 of type"), "{error}");
            return;
        }
    };
    let written = event.encode();
    let again = Event::decode(&written).expect("what was written is read");
    assert_eq!(again, event);
    assert_eq!(again.encode(), written, "written alike the second time");
    if matches!(event.kind, EventKind::Unknown(_)) {
        assert_eq!(written, row, "what is not known is kept as it is");
    }
    // Snapshots hold what events brought.
    let state = apply(Execution::empty(), &event);
    let text = serde_json::to_vec(&state).expect("a state has a text");
    let read: Execution = serde_json::from_slice(&text).expect("its text is read");
    assert_eq!(read, state);
}

fn snapshot(payload: &[u8]) {
    let Ok(state) = serde_json::from_slice::<Execution>(payload) else {
        return;
    };
    let written = serde_json::to_vec(&state).expect("a state has a text");
    let again: Execution = serde_json::from_slice(&written).expect("its text is read");
    assert_eq!(again, state);
}
