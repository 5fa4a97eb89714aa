//! Columns to types and back.
//!
//! Foreign texts are kept as bytes, because a `text` cannot hold the character NUL. Unsigned numbers
//! are kept in the next larger signed type, or in one of the same size where they stay small.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use refire_core::definition::WorkflowId;
use refire_core::id::{DlqId, ExecutionId, NodeId};
use refire_core::time::Timestamp;
use refire_core::trigger::Outcome;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use super::failure::corrupt;
use crate::unreadable::readable;
use crate::{ReadError, WorkRow};

/// A `due_at` that means at once: before every time.
pub(super) const AT_ONCE: i64 = i64::MIN;

/// What a work row is read from, in the order of [`work_row_at`].
pub(super) const WORK: &str = "work.execution, work.step, work.attempt, work.is_retry, \
     workflows.id, work.priority, work.due_at, work.limit_key, work.owner, work.begun, \
     work.begun_at";

/// A row that holds [`WORK`] from this column on.
fn work_row_at(row: &Row, at: usize) -> Result<WorkRow, ReadError> {
    Ok(WorkRow {
        execution: execution_id(row, at)?,
        step: get(row, at + 1)?,
        attempt: small(row, at + 2)?,
        is_retry: get(row, at + 3)?,
        workflow: workflow_id(row, at + 4)?,
        priority: priority(row, at + 5)?,
        due_at: due(get(row, at + 6)?),
        limit_key: maybe_foreign(row, at + 7)?,
        owner: maybe_node_id(row, at + 8)?,
        begun: get(row, at + 9)?,
        begun_at: maybe_time(row, at + 10)?,
    })
}

/// The same where many are walked over: what cannot be read is left out.
pub(super) fn readable_work_at(row: &Row, at: usize) -> Option<WorkRow> {
    readable(work_row_at(row, at), name_of_execution(row, at))
}

/// An execution, for a message.
pub(super) fn name_of_execution(row: &Row, at: usize) -> String {
    execution_id(row, at).map_or_else(|_| "?".to_owned(), |id| id.to_string())
}

/// Any column. What cannot be read is damage: the statements fit the tables.
pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, ReadError> {
    row.try_get(at).map_err(corrupt(|| "a row".to_owned()))
}

/// An id's bytes as PostgreSQL keeps them.
pub(super) fn uuid(bytes: &[u8; 16]) -> Uuid {
    Uuid::from_bytes(*bytes)
}

pub(super) fn execution_id(row: &Row, at: usize) -> Result<ExecutionId, ReadError> {
    Ok(ExecutionId::from_bytes(get::<Uuid>(row, at)?.into_bytes()))
}

pub(super) fn maybe_execution_id(row: &Row, at: usize) -> Result<Option<ExecutionId>, ReadError> {
    let id = get::<Option<Uuid>>(row, at)?;
    Ok(id.map(|id| ExecutionId::from_bytes(id.into_bytes())))
}

pub(super) fn node_id(row: &Row, at: usize) -> Result<NodeId, ReadError> {
    Ok(NodeId::from_bytes(get::<Uuid>(row, at)?.into_bytes()))
}

pub(super) fn maybe_node_id(row: &Row, at: usize) -> Result<Option<NodeId>, ReadError> {
    let id = get::<Option<Uuid>>(row, at)?;
    Ok(id.map(|id| NodeId::from_bytes(id.into_bytes())))
}

pub(super) fn dlq_id(row: &Row, at: usize) -> Result<DlqId, ReadError> {
    Ok(DlqId::from_bytes(get::<Uuid>(row, at)?.into_bytes()))
}

pub(super) fn time(row: &Row, at: usize) -> Result<Timestamp, ReadError> {
    get(row, at).map(Timestamp::from_micros)
}

pub(super) fn maybe_time(row: &Row, at: usize) -> Result<Option<Timestamp>, ReadError> {
    Ok(get::<Option<i64>>(row, at)?.map(Timestamp::from_micros))
}

/// When work may begin.
pub(super) fn due(kept: i64) -> Option<Timestamp> {
    (kept != AT_ONCE).then(|| Timestamp::from_micros(kept))
}

/// The same to be kept.
pub(super) fn kept_due(due: Option<Timestamp>) -> i64 {
    due.map_or(AT_ONCE, Timestamp::as_micros)
}

pub(super) fn workflow_id(row: &Row, at: usize) -> Result<WorkflowId, ReadError> {
    WorkflowId::new(get::<&str>(row, at)?).map_err(corrupt(|| "a workflow's id".to_owned()))
}

/// A text from outside, kept as bytes.
pub(super) fn foreign(row: &Row, at: usize) -> Result<String, ReadError> {
    text_of(get::<&[u8]>(row, at)?)
}

/// The same where it may be absent.
pub(super) fn maybe_foreign(row: &Row, at: usize) -> Result<Option<String>, ReadError> {
    get::<Option<&[u8]>>(row, at)?.map(text_of).transpose()
}

fn text_of(bytes: &[u8]) -> Result<String, ReadError> {
    std::str::from_utf8(bytes)
        .map(str::to_owned)
        .map_err(corrupt(|| "a text".to_owned()))
}

/// A word from a closed list.
pub(super) fn word<T>(row: &Row, at: usize, find: fn(&str) -> Option<T>) -> Result<T, ReadError> {
    let text: &str = get(row, at)?;
    find(text).ok_or_else(|| {
        let unknown = format!("{text:?} is not a word this program knows");
        corrupt(|| "a row".to_owned())(unknown)
    })
}

/// The same where there may be none.
pub(super) fn maybe_word<T>(
    row: &Row,
    at: usize,
    find: fn(&str) -> Option<T>,
) -> Result<Option<T>, ReadError> {
    match get::<Option<&str>>(row, at)? {
        None => Ok(None),
        Some(_) => word(row, at, find).map(Some),
    }
}

/// What became of a slot, from its word and the word of its reason behind it.
pub(super) fn outcome(row: &Row, at: usize) -> Result<Outcome, ReadError> {
    let (status, reason): (&str, _) = (get(row, at)?, maybe_foreign(row, at + 1)?);
    Outcome::from_words(status, reason.as_deref()).ok_or_else(|| {
        let unknown = format!("no slot is {status:?} because of {reason:?}");
        corrupt(|| "a row".to_owned())(unknown)
    })
}

/// A count that is never negative, kept as `bigint`.
pub(super) fn count(row: &Row, at: usize) -> Result<u64, ReadError> {
    get::<i64>(row, at)?
        .try_into()
        .map_err(corrupt(|| "a count".to_owned()))
}

/// The same where it may be absent.
pub(super) fn maybe_count(row: &Row, at: usize) -> Result<Option<u64>, ReadError> {
    get::<Option<i64>>(row, at)?
        .map(|value| value.try_into().map_err(corrupt(|| "a count".to_owned())))
        .transpose()
}

/// A small count (attempts, versions of definitions), kept as `integer`.
pub(super) fn small(row: &Row, at: usize) -> Result<u32, ReadError> {
    get::<i32>(row, at)?
        .try_into()
        .map_err(corrupt(|| "a count".to_owned()))
}

/// The same where it may be absent.
pub(super) fn maybe_small(row: &Row, at: usize) -> Result<Option<u32>, ReadError> {
    get::<Option<i32>>(row, at)?
        .map(|value| value.try_into().map_err(corrupt(|| "a count".to_owned())))
        .transpose()
}

pub(super) fn priority(row: &Row, at: usize) -> Result<u8, ReadError> {
    get::<i16>(row, at)?
        .try_into()
        .map_err(corrupt(|| "a priority".to_owned()))
}

/// A checksum, kept as `bigint`.
pub(super) fn crc(row: &Row, at: usize) -> Result<u32, ReadError> {
    get::<i64>(row, at)?
        .try_into()
        .map_err(corrupt(|| "a checksum".to_owned()))
}

/// A count as a `bigint`. Versions, sequences and waits stay far below 2⁶³.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A small count as an `integer`. Attempts and versions of definitions stay far below 2³¹.
pub(super) fn signed_small(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// A moment of the database's clock.
pub(super) fn moment(row: &Row, at: usize) -> Result<Timestamp, ReadError> {
    let moment: SystemTime = get(row, at)?;
    let since = moment
        .duration_since(UNIX_EPOCH)
        .map_err(corrupt(|| "a time".to_owned()))?;
    Ok(Timestamp::from_micros(micros(since)))
}

/// A span as the database counts it.
pub(super) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
