//! One execution: its state, its values, its log.

use std::collections::HashMap;

use refire_core::execution::{Event, EventRow, Execution};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use uuid::Uuid;

use super::can_be_text;
use super::state::{EVENT, Gathered, event_row, stored_of};
use crate::postgres::columns::{execution_id, get, maybe_count, signed, signed_small, uuid};
use crate::postgres::failure::corrupt;
use crate::postgres::pool::Reader;
use crate::{EventFilter, LIMIT_MAX, ReadError, Stored};

/// The execution with its work, as of one moment.
pub(in crate::postgres) async fn stored(
    reader: &Reader,
    id: ExecutionId,
) -> Result<Option<Stored>, ReadError> {
    Ok(stored_of(reader, &[id]).await?.pop().flatten())
}

/// The states with the values that their steps may yet read, if they are short. Almost always one
/// statement: values that are likely to be wanted come with the states.
pub(in crate::postgres) async fn with_values(
    reader: &Reader,
    ids: &[ExecutionId],
) -> Result<Vec<Option<Execution>>, ReadError> {
    let mut gathered = Gathered::with_values(reader, ids).await?;
    let mut states: HashMap<ExecutionId, Execution> = HashMap::with_capacity(ids.len());
    let mut missing: Vec<(ExecutionId, u64)> = Vec::new();
    let mut is_asked_twice = false;
    for id in ids {
        if states.contains_key(id) {
            is_asked_twice = true;
            continue;
        }
        let Some(parts) = gathered.take(*id) else {
            continue;
        };
        let (mut state, ahead) = parts.state_and_values(*id)?;
        for sequence in state.missing_short_values() {
            match ahead.iter().find(|event| event.sequence == sequence) {
                Some(event) => keep_value(&mut state, *id, event)?,
                None => missing.push((*id, sequence)),
            }
        }
        states.insert(*id, state);
    }
    for (id, event) in events(reader, &missing).await? {
        if let Some(state) = states.get_mut(&id) {
            keep_value(state, id, &event)?;
        }
    }
    let mut answer = |id| match is_asked_twice {
        true => states.get(id).cloned(),
        false => states.remove(id),
    };
    Ok(ids.iter().map(&mut answer).collect())
}

fn keep_value(state: &mut Execution, id: ExecutionId, event: &EventRow) -> Result<(), ReadError> {
    if let Some(value) = value_of(id, event)? {
        state.payloads.insert(event.sequence, value);
    }
    Ok(())
}

/// The value that an event keeps.
pub(super) fn value_of(id: ExecutionId, event: &EventRow) -> Result<Option<Json>, ReadError> {
    let decoded =
        Event::decode(event).map_err(corrupt(|| format!("event {} of {id}", event.sequence)))?;
    Ok(decoded.value().cloned())
}

/// These events, in no order.
async fn events(
    reader: &Reader,
    wanted: &[(ExecutionId, u64)],
) -> Result<Vec<(ExecutionId, EventRow)>, ReadError> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let executions: Vec<Uuid> = wanted.iter().map(|(id, _)| uuid(id.as_bytes())).collect();
    let sequences: Vec<i64> = wanted
        .iter()
        .map(|(_, sequence)| signed(*sequence))
        .collect();
    let sql = format!(
        "SELECT {EVENT}, execution FROM unnest($1::uuid[], $2::bigint[]) AS wanted (id, number)
         JOIN workflow_events ON execution = wanted.id AND sequence = wanted.number"
    );
    let rows = reader.rows(&sql, &[&executions, &sequences]).await?;
    rows.iter()
        .map(|row| {
            let id = execution_id(row, 10)?;
            Ok((id, event_row(row, id, 0)?))
        })
        .collect()
}

/// The values of those events that keep one.
pub(in crate::postgres) async fn values(
    reader: &Reader,
    id: ExecutionId,
    sequences: &[u64],
) -> Result<Vec<(u64, Json)>, ReadError> {
    let wanted: Vec<(ExecutionId, u64)> = sequences.iter().map(|number| (id, *number)).collect();
    let mut found: HashMap<u64, Json> = HashMap::new();
    for (_, event) in events(reader, &wanted).await? {
        if let Some(value) = value_of(id, &event)? {
            found.insert(event.sequence, value);
        }
    }
    Ok(sequences
        .iter()
        .filter_map(|number| Some((*number, found.get(number)?.clone())))
        .collect())
}

/// Events after `after` that pass the filter, oldest first.
pub(in crate::postgres) async fn history(
    reader: &Reader,
    id: ExecutionId,
    filter: &EventFilter,
    after: u64,
    limit: u32,
) -> Result<Vec<EventRow>, ReadError> {
    let has_name = |name: &String| can_be_text(Some(name));
    let names: Vec<_> = filter.names.iter().filter(|name| has_name(name)).collect();
    if names.len() < filter.names.len().min(1) || !can_be_text(filter.step.as_deref()) {
        return Ok(Vec::new());
    }
    let limit = limit.min(LIMIT_MAX);
    // The log and the version that its row says, as of one moment.
    let sql = format!(
        "SELECT found.*, executions.version
         FROM (SELECT $1::uuid AS id) AS asked
         LEFT JOIN executions ON executions.id = asked.id
         LEFT JOIN LATERAL (
             SELECT {EVENT} FROM workflow_events
             WHERE execution = asked.id AND sequence > $2
               AND ($3::integer IS NULL OR attempt = $3)
               AND (cardinality($4::text[]) = 0 OR type = ANY($4))
               AND ($5::text IS NULL OR step = $5)
             ORDER BY sequence LIMIT $6
         ) AS found ON true"
    );
    let rows = reader
        .rows(
            &sql,
            &[
                &uuid(id.as_bytes()),
                &signed(after),
                &filter.attempt.map(signed_small),
                &names,
                &filter.step,
                &i64::from(limit),
            ],
        )
        .await?;
    let version = match rows.first() {
        Some(row) => maybe_count(row, 10)?,
        None => None,
    };
    let mut events = Vec::with_capacity(rows.len());
    for row in &rows {
        if get::<Option<i64>>(row, 0)?.is_some() {
            events.push(event_row(row, id, 0)?);
        }
    }
    events.sort_unstable_by_key(|event| event.sequence);
    if *filter == EventFilter::default() {
        let is_end = events.len() < limit as usize;
        refuse_gaps(id, after, &events, version.filter(|_| is_end))?;
    }
    Ok(events)
}

/// A log that lacks an event, in the middle or at its end, is not shown as if it were whole.
fn refuse_gaps(
    id: ExecutionId,
    after: u64,
    rows: &[EventRow],
    ends_at: Option<u64>,
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
    let last = after + rows.len() as u64;
    match ends_at {
        Some(version) if version > last => Err(missing(last + 1)),
        _ => Ok(()),
    }
}
