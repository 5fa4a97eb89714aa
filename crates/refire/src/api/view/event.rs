//! Events as the API shows them.

use refire_client::model::{Event, ReplayDifference, ReplayResult};
use refire_core::execution::EventRow;
use refire_core::execution::replay::Replay;
use serde_json::value::RawValue;

use crate::api::Problem;

/// A stored event.
pub(crate) fn event(row: EventRow) -> Result<Event, Problem> {
    let payload = String::from_utf8(row.payload).map_err(Problem::internal)?;
    Ok(Event {
        sequence: row.sequence,
        event_type: row.name.into_owned(),
        timestamp: row.at.to_string(),
        step_id: row.step,
        payload: RawValue::from_string(payload).map_err(Problem::internal)?,
        attempt_number: row.attempt,
        backoff_delay_ms: row.backoff_ms,
        failure_reason: row.reason,
    })
}

/// What a replay found.
pub(crate) fn replayed(replay: Replay) -> Result<ReplayResult, Problem> {
    let identical = replay.is_identical();
    let shown = |found: Option<refire_core::execution::Event>| {
        found.map(|found| event(found.encode())).transpose()
    };
    let first_difference = match replay.first_difference {
        None => None,
        Some(difference) => Some(ReplayDifference {
            sequence: difference.sequence,
            recorded: shown(difference.recorded)?,
            derived: shown(difference.derived)?,
            note: difference.note,
        }),
    };
    Ok(ReplayResult {
        identical,
        events: replay.events,
        first_difference,
    })
}
