//! One execution: its state, its values, its log.

use std::borrow::Cow;

use refire_core::execution::{Event, EventKind, EventRow, Execution, apply_to};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use rusqlite::{OptionalExtension, Row, params};

use crate::checksum;
use crate::sqlite::columns::{
    WORK, bytes, count, maybe_count, maybe_time, signed, text, time, work_row,
};
use crate::sqlite::failure::corrupt;
use crate::sqlite::readers::Reader;
use crate::{EventFilter, LIMIT_MAX, ReadError, Stored, Summary, WorkRow};

/// What an event is read from, in the order of [`event_row`].
const EVENT: &str = "sequence, type, v, at, step, attempt, backoff_ms, reason, payload, crc";

/// The execution with its work, as of one moment.
pub(in crate::sqlite) fn stored(
    reader: &Reader,
    id: ExecutionId,
) -> Result<Option<Stored>, ReadError> {
    reader.transaction(|| {
        let Some(state) = state(reader, id)? else {
            return Ok(None);
        };
        Ok(Some(Stored {
            id,
            state,
            work: work_of(reader, id)?,
        }))
    })
}

/// The state with the values that its steps may yet read, if they are short.
pub(in crate::sqlite) fn with_values(
    reader: &Reader,
    id: ExecutionId,
) -> Result<Option<Execution>, ReadError> {
    reader.transaction(|| state_and_values(reader, id))
}

/// The same with whether any of its work has begun.
pub(in crate::sqlite) fn summary(
    reader: &Reader,
    id: ExecutionId,
) -> Result<Option<Summary>, ReadError> {
    reader.transaction(|| {
        let Some(state) = state_and_values(reader, id)? else {
            return Ok(None);
        };
        summed_up(reader, id, state).map(Some)
    })
}

fn state_and_values(reader: &Reader, id: ExecutionId) -> Result<Option<Execution>, ReadError> {
    let Some(mut state) = state(reader, id)? else {
        return Ok(None);
    };
    for sequence in state.missing_short_values() {
        if let Some(value) = value(reader, id, sequence)? {
            state.payloads.insert(sequence, value);
        }
    }
    Ok(Some(state))
}

/// A state with what the execution's work says about it.
pub(super) fn summed_up(
    reader: &Reader,
    id: ExecutionId,
    state: Execution,
) -> Result<Summary, ReadError> {
    let mut select = reader.prepare(
        "SELECT count(*) > 0, min(max(begun_at, coalesce(due_at, begun_at))) FROM work
         WHERE execution = ?1 AND begun",
    )?;
    let (begun, running_since) = select.query_row([id.as_bytes()], |row| {
        Ok((row.get(0)?, maybe_time(row, 1)?))
    })?;
    Ok(Summary {
        id,
        state,
        begun,
        running_since,
    })
}

/// The snapshot, brought up to date by the events after it.
pub(super) fn state(reader: &Reader, id: ExecutionId) -> Result<Option<Execution>, ReadError> {
    let what = || format!("the state of {id}");
    let mut select = reader.prepare(
        "SELECT version, snapshot_version, snapshot, snapshot_crc FROM executions
             WHERE id = ?1",
    )?;
    let mut rows = select.query([id.as_bytes()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let (version, snapshot_version) = (count(row, 0)?, count(row, 1)?);
    let mut state = match snapshot_version {
        0 => Execution::empty(),
        _ => {
            let snapshot = bytes(row, 2)?;
            let crc = checksum::snapshot(id, snapshot_version, snapshot);
            checksum::verify(row.get(3)?, crc).map_err(corrupt(what))?;
            serde_json::from_slice::<Execution>(snapshot).map_err(corrupt(what))?
        }
    };
    if snapshot_version < version {
        for event in events_after(reader, id, snapshot_version)? {
            let event = Event::decode(&event).map_err(corrupt(what))?;
            if event.sequence != state.version + 1 {
                let gap = format!("event {} follows {}", event.sequence, state.version);
                return Err(corrupt(what)(gap));
            }
            apply_to(&mut state, &event);
        }
    }
    if state.version != version {
        let differ = format!("its row says version {version}, its log {}", state.version);
        return Err(corrupt(what)(differ));
    }
    Ok(Some(state))
}

fn events_after(reader: &Reader, id: ExecutionId, after: u64) -> Result<Vec<EventRow>, ReadError> {
    reader
        .prepare(&format!(
            "SELECT {EVENT} FROM workflow_events WHERE execution = ?1 AND sequence > ?2
             ORDER BY sequence"
        ))?
        .query_and_then(params![id.as_bytes(), signed(after)], |row| {
            event_row(row, id)
        })?
        .collect()
}

fn work_of(reader: &Reader, id: ExecutionId) -> Result<Vec<WorkRow>, ReadError> {
    reader
        .prepare(&format!(
            "SELECT {WORK} FROM work JOIN workflows ON workflows.key = work.workflow
             WHERE work.execution = ?1 ORDER BY work.step"
        ))?
        .query_and_then([id.as_bytes()], |row| {
            work_row(row).map_err(corrupt(|| format!("the work of {id}")))
        })?
        .collect()
}

fn event_row(row: &Row<'_>, id: ExecutionId) -> Result<EventRow, ReadError> {
    let name = text(row, 1)?;
    let known = EventKind::NAMES.iter().find(|known| **known == name);
    let event = EventRow {
        sequence: count(row, 0)?,
        name: known.map_or_else(
            || Cow::Owned(name.to_owned()),
            |known| Cow::Borrowed(*known),
        ),
        v: row.get(2)?,
        at: time(row, 3)?,
        step: row.get(4)?,
        attempt: row.get(5)?,
        backoff_ms: maybe_count(row, 6)?,
        reason: row.get(7)?,
        payload: row.get(8)?,
    };
    checksum::verify(row.get(9)?, checksum::event(id, &event))
        .map_err(corrupt(|| format!("event {} of {id}", event.sequence)))?;
    Ok(event)
}

/// The values of those events that keep one.
pub(in crate::sqlite) fn values(
    reader: &Reader,
    id: ExecutionId,
    sequences: &[u64],
) -> Result<Vec<(u64, Json)>, ReadError> {
    reader.transaction(|| {
        let mut values = Vec::with_capacity(sequences.len());
        for sequence in sequences {
            if let Some(value) = value(reader, id, *sequence)? {
                values.push((*sequence, value));
            }
        }
        Ok(values)
    })
}

/// The value that an event keeps.
pub(super) fn value(
    reader: &Reader,
    id: ExecutionId,
    sequence: u64,
) -> Result<Option<Json>, ReadError> {
    let mut select = reader.prepare(&format!(
        "SELECT {EVENT} FROM workflow_events WHERE execution = ?1 AND sequence = ?2"
    ))?;
    let mut rows = select.query(params![id.as_bytes(), signed(sequence)])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let row = event_row(row, id)?;
    let event = Event::decode(&row).map_err(corrupt(|| format!("event {sequence} of {id}")))?;
    Ok(event.value().cloned())
}

/// Events after `after` that pass the filter, oldest first.
pub(in crate::sqlite) fn history(
    reader: &Reader,
    id: ExecutionId,
    filter: &EventFilter,
    after: u64,
    limit: u32,
) -> Result<Vec<EventRow>, ReadError> {
    let limit = limit.min(LIMIT_MAX);
    let names = (!filter.names.is_empty()).then(|| serde_json::json!(filter.names).to_string());
    reader.transaction(|| {
        let rows = reader
            .prepare(&format!(
                "SELECT {EVENT} FROM workflow_events
                 WHERE execution = ?1 AND sequence > ?2
                   AND (?3 IS NULL OR attempt = ?3)
                   AND (?4 IS NULL OR type IN (SELECT value FROM json_each(?4)))
                   AND (?5 IS NULL OR step = ?5)
                 ORDER BY sequence LIMIT ?6"
            ))?
            .query_and_then(
                params![
                    id.as_bytes(),
                    signed(after),
                    filter.attempt,
                    names,
                    filter.step,
                    limit
                ],
                |row| event_row(row, id),
            )?
            .collect::<Result<Vec<_>, _>>()?;
        if *filter == EventFilter::default() {
            let is_end = rows.len() < limit as usize;
            refuse_gaps(reader, id, after, &rows, is_end)?;
        }
        Ok(rows)
    })
}

/// A log that lacks an event, in the middle or at its end, is not shown as if it were whole.
fn refuse_gaps(
    reader: &Reader,
    id: ExecutionId,
    after: u64,
    rows: &[EventRow],
    is_end: bool,
) -> Result<(), ReadError> {
    let missing = |sequence: u64| {
        let what = || format!("the log of {id}");
        corrupt(what)(format!("event {sequence} is missing"))
    };
    for (row, expected) in rows.iter().zip(after + 1..) {
        if row.sequence != expected {
            return Err(missing(expected));
        }
    }
    if is_end {
        let version = reader
            .prepare("SELECT version FROM executions WHERE id = ?1")?
            .query_row([id.as_bytes()], |row| count(row, 0))
            .optional()?;
        let last = after + rows.len() as u64;
        if version.is_some_and(|version| version > last) {
            return Err(missing(last + 1));
        }
    }
    Ok(())
}
