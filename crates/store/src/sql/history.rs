//! Logs of executions.

use refire_core::execution::EventRow;
use refire_core::id::ExecutionId;

use super::{Database, Query};
use crate::column::{Columns, Cursor, Field};
use crate::execution::{EVENT, event_of, refuse_gaps};
use crate::{EventFilter, LIMIT_MAX, ReadError};

/// A row of an answer: an event with its checksum, or the version that the execution's row says.
enum Line {
    Event(EventRow, u32),
    Version(u64),
}

impl Field for Line {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        // Every event has a type.
        if cursor.row.text(cursor.at + 1)?.is_none() {
            return Ok(Self::Version(cursor.next()?));
        }
        let (event, crc) = cursor.next()?;
        Ok(Self::Event(event, crc))
    }
}

/// Events after `after` that pass the filter, oldest first.
pub(crate) async fn history(
    database: &impl Database,
    id: ExecutionId,
    filter: &EventFilter,
    after: u64,
    limit: u32,
) -> Result<Vec<EventRow>, ReadError> {
    // No event has a name or a step with the one character that not every database can compare.
    let can_be = |text: &&str| !text.contains('\0');
    let names: Vec<&str> = filter
        .names
        .iter()
        .map(|name| &**name)
        .filter(can_be)
        .collect();
    if names.len() < filter.names.len().min(1) || !filter.step.as_deref().iter().all(can_be) {
        return Ok(Vec::new());
    }
    let limit = limit.min(LIMIT_MAX);
    // The log and the version that its row says, as of one moment.
    let query = Query::new(format!(
        "SELECT * FROM (SELECT {} FROM workflow_events",
        *EVENT
    ))
    .with("WHERE execution = ?", id)
    .with("AND sequence > ?", after)
    .and("attempt = ?", filter.attempt)
    .and_in("type", names)
    .and("step = ?", filter.step.as_deref())
    .page("sequence", limit)
    .with(
        ") AS found UNION ALL SELECT version, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
             FROM executions WHERE id = ?",
        id,
    );
    let (mut events, mut version) = (Vec::new(), None);
    for line in database.rows(query).await? {
        match line {
            Line::Event(event, crc) => events.push(event_of(id, event, crc)?),
            Line::Version(number) => version = Some(number),
        }
    }
    events.sort_unstable_by_key(|event| event.sequence);
    if *filter == EventFilter::default() {
        let is_end = events.len() < limit as usize;
        refuse_gaps(id, after, &events, version.filter(|_| is_end))?;
    }
    Ok(events)
}
