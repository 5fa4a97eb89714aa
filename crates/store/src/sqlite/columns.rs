//! Columns to types and back.

use refire_core::id::{DlqId, ExecutionId};
use refire_core::time::Timestamp;
use refire_core::trigger::Outcome;
use rusqlite::types::{FromSqlError, Type, ValueRef};
use rusqlite::{Result, Row};

use crate::column::{Columns, Field, read_at};
pub(super) use crate::table::signed;
use crate::unreadable::readable;
use crate::{ReadError, WorkRow};

impl Columns for Row<'_> {
    fn number(&self, at: usize) -> std::result::Result<Option<i64>, ReadError> {
        match self.get_ref(at)? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(number) => Ok(Some(number)),
            other => Err(unexpected(at, &other)),
        }
    }

    fn text(&self, at: usize) -> std::result::Result<Option<&str>, ReadError> {
        match self.get_ref(at)? {
            ValueRef::Null => Ok(None),
            _ => Ok(Some(text(self, at)?)),
        }
    }

    fn bytes(&self, at: usize) -> std::result::Result<Option<&[u8]>, ReadError> {
        match self.get_ref(at)? {
            ValueRef::Null => Ok(None),
            ValueRef::Blob(bytes) => Ok(Some(bytes)),
            other => Err(unexpected(at, &other)),
        }
    }
}

fn unexpected(at: usize, value: &ValueRef<'_>) -> ReadError {
    unreadable(at, value.data_type(), FromSqlError::InvalidType).into()
}

/// What stands in a row from this column on, for statements of the writer.
pub(super) fn taken<T: Field>(row: &Row<'_>, at: usize) -> Result<T> {
    read_at(row, at)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(at, Type::Null, Box::new(error)))
}

/// A row of work where many are walked over: what cannot be read is left out.
pub(super) fn readable_work(row: &Row<'_>) -> Option<WorkRow> {
    readable(read_at(row, 0), name_of_execution(row))
}

/// The execution that a row begins with, for a message: also where it is no id.
pub(super) fn name_of_execution(row: &Row<'_>) -> String {
    execution_id(row, 0).map_or_else(
        |_| {
            row.bytes(0)
                .ok()
                .flatten()
                .map_or_else(|| "?".to_owned(), hex)
        },
        |id| id.to_string(),
    )
}

/// Bytes as a hexadecimal number.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn execution_id(row: &Row<'_>, at: usize) -> Result<ExecutionId> {
    taken(row, at)
}

pub(super) fn maybe_execution_id(row: &Row<'_>, at: usize) -> Result<Option<ExecutionId>> {
    taken(row, at)
}

pub(super) fn dlq_id(row: &Row<'_>, at: usize) -> Result<DlqId> {
    taken(row, at)
}

pub(super) fn time(row: &Row<'_>, at: usize) -> Result<Timestamp> {
    taken(row, at)
}

pub(super) fn maybe_time(row: &Row<'_>, at: usize) -> Result<Option<Timestamp>> {
    taken(row, at)
}

/// A text without copying it.
pub(super) fn text<'a>(row: &'a Row<'_>, at: usize) -> Result<&'a str> {
    row.get_ref(at)?
        .as_str()
        .map_err(|error| unreadable(at, Type::Text, error))
}

/// A word from a closed list.
pub(super) fn word<T>(row: &Row<'_>, at: usize, find: fn(&str) -> Option<T>) -> Result<T> {
    let text = text(row, at)?;
    find(text).ok_or_else(|| {
        let unknown = format!("{text:?} is not a word this program knows");
        unreadable(at, Type::Text, FromSqlError::Other(unknown.into()))
    })
}

/// What became of a slot, from its word and the word of its reason behind it.
pub(super) fn outcome(row: &Row<'_>, at: usize) -> Result<Outcome> {
    taken(row, at)
}

/// A count that is never negative.
pub(super) fn count(row: &Row<'_>, at: usize) -> Result<u64> {
    taken(row, at)
}

fn unreadable(at: usize, kind: Type, error: FromSqlError) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(at, kind, Box::new(error))
}
