//! Columns to types and back.

use refire_core::definition::WorkflowId;
use refire_core::id::{DlqId, ExecutionId, NodeId};
use refire_core::time::Timestamp;
use refire_core::trigger::Outcome;
use rusqlite::types::{FromSqlError, Type, ValueRef};
use rusqlite::{Result, Row};

use crate::WorkRow;
use crate::unreadable::readable;

/// What a work row is read from, in the order of [`work_row`].
pub(super) const WORK: &str = "work.execution, work.step, work.attempt, work.is_retry, \
     workflows.id, work.priority, work.due_at, work.limit_key, work.owner, work.begun, \
     work.begun_at";

/// A row that holds [`WORK`].
pub(super) fn work_row(row: &Row<'_>) -> Result<WorkRow> {
    Ok(WorkRow {
        execution: execution_id(row, 0)?,
        step: row.get(1)?,
        attempt: row.get(2)?,
        is_retry: row.get(3)?,
        workflow: workflow_id(row, 4)?,
        priority: row.get(5)?,
        due_at: maybe_time(row, 6)?,
        limit_key: row.get(7)?,
        owner: row.get::<_, Option<[u8; 16]>>(8)?.map(NodeId::from_bytes),
        begun: row.get(9)?,
        begun_at: maybe_time(row, 10)?,
    })
}

/// The same where many are walked over: what cannot be read is left out.
pub(super) fn readable_work(row: &Row<'_>) -> Option<WorkRow> {
    readable(work_row(row), name_of_execution(row))
}

/// The execution that a row begins with, for a message: also where it is no id.
pub(super) fn name_of_execution(row: &Row<'_>) -> String {
    execution_id(row, 0).map_or_else(
        |_| bytes(row, 0).map_or_else(|_| "?".to_owned(), hex),
        |id| id.to_string(),
    )
}

/// Bytes as a hexadecimal number.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn execution_id(row: &Row<'_>, at: usize) -> Result<ExecutionId> {
    row.get(at).map(ExecutionId::from_bytes)
}

pub(super) fn maybe_execution_id(row: &Row<'_>, at: usize) -> Result<Option<ExecutionId>> {
    Ok(row
        .get::<_, Option<[u8; 16]>>(at)?
        .map(ExecutionId::from_bytes))
}

pub(super) fn dlq_id(row: &Row<'_>, at: usize) -> Result<DlqId> {
    row.get(at).map(DlqId::from_bytes)
}

pub(super) fn time(row: &Row<'_>, at: usize) -> Result<Timestamp> {
    row.get(at).map(Timestamp::from_micros)
}

pub(super) fn maybe_time(row: &Row<'_>, at: usize) -> Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(at)?.map(Timestamp::from_micros))
}

pub(super) fn workflow_id(row: &Row<'_>, at: usize) -> Result<WorkflowId> {
    let text = text(row, at)?;
    WorkflowId::new(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(at, Type::Text, Box::new(error)))
}

/// A text without copying it.
pub(super) fn text<'a>(row: &'a Row<'_>, at: usize) -> Result<&'a str> {
    row.get_ref(at)?
        .as_str()
        .map_err(|error| unreadable(at, Type::Text, error))
}

/// Bytes without copying them.
pub(super) fn bytes<'a>(row: &'a Row<'_>, at: usize) -> Result<&'a [u8]> {
    row.get_ref(at)?
        .as_blob()
        .map_err(|error| unreadable(at, Type::Blob, error))
}

/// A word from a closed list.
pub(super) fn word<T>(row: &Row<'_>, at: usize, find: fn(&str) -> Option<T>) -> Result<T> {
    let text = text(row, at)?;
    find(text).ok_or_else(|| {
        let unknown = format!("{text:?} is not a word this program knows");
        unreadable(at, Type::Text, FromSqlError::Other(unknown.into()))
    })
}

/// The same where there may be none.
pub(super) fn maybe_word<T>(
    row: &Row<'_>,
    at: usize,
    find: fn(&str) -> Option<T>,
) -> Result<Option<T>> {
    match row.get_ref(at)? {
        ValueRef::Null => Ok(None),
        _ => word(row, at, find).map(Some),
    }
}

/// What became of a slot, from its word and the word of its reason behind it.
pub(super) fn outcome(row: &Row<'_>, at: usize) -> Result<Outcome> {
    let reason: Option<String> = row.get(at + 1)?;
    Outcome::from_words(text(row, at)?, reason.as_deref()).ok_or_else(|| {
        let unknown = format!("no slot is {:?} because of {reason:?}", text(row, at));
        unreadable(at, Type::Text, FromSqlError::Other(unknown.into()))
    })
}

/// A count that is never negative.
pub(super) fn count(row: &Row<'_>, at: usize) -> Result<u64> {
    let value: i64 = row.get(at)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(at, value))
}

/// The same where it may be absent.
pub(super) fn maybe_count(row: &Row<'_>, at: usize) -> Result<Option<u64>> {
    match row.get_ref(at)? {
        ValueRef::Null => Ok(None),
        _ => count(row, at).map(Some),
    }
}

fn unreadable(at: usize, kind: Type, error: FromSqlError) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(at, kind, Box::new(error))
}

/// A count as SQLite keeps it. Versions, sequences and waits stay far below 2⁶³.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
