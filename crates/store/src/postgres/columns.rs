//! Columns to types and back.
//!
//! Foreign texts are kept as bytes, because a `text` cannot hold the character NUL. Unsigned numbers
//! are kept in the next larger signed type, or in one of the same size where they stay small.

use std::error::Error;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};
use uuid::Uuid;

use super::failure::corrupt;
pub(super) use crate::column::AT_ONCE;
use crate::column::{Columns, damaged, read_at};
pub(super) use crate::table::{signed, signed_small};
use crate::unreadable::readable;
use crate::{ReadError, WorkRow};

/// What the server sent, in its binary form.
struct Sent<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Sent<'a> {
    fn from_sql(_: &Type, sent: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(sent))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl Columns for Row {
    fn number(&self, at: usize) -> Result<Option<i64>, ReadError> {
        let Some(sent) = self.bytes(at)? else {
            return Ok(None);
        };
        // The types of numbers, and yes or no, differ in nothing but their length.
        let mut number = [0; 8];
        let Some(start) = number.len().checked_sub(sent.len()) else {
            return Err(damaged(format!("there is no number in column {at}")));
        };
        if sent.first().is_some_and(|first| first.cast_signed() < 0) {
            number = [0xff; 8];
        }
        number[start..].copy_from_slice(sent);
        Ok(Some(i64::from_be_bytes(number)))
    }

    fn text(&self, at: usize) -> Result<Option<&str>, ReadError> {
        let text = self.bytes(at)?.map(std::str::from_utf8).transpose();
        text.map_err(corrupt(|| "a text".to_owned()))
    }

    fn bytes(&self, at: usize) -> Result<Option<&[u8]>, ReadError> {
        Ok(get::<Option<Sent<'_>>>(self, at)?.map(|sent| sent.0))
    }
}

/// A row of work where many are walked over, from this column on: what cannot be read is left out.
pub(super) fn readable_work_at(row: &Row, at: usize) -> Option<WorkRow> {
    readable(read_at(row, at), name_of_execution(row, at))
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
    read_at(row, at)
}

pub(super) fn maybe_execution_id(row: &Row, at: usize) -> Result<Option<ExecutionId>, ReadError> {
    read_at(row, at)
}

pub(super) fn time(row: &Row, at: usize) -> Result<Timestamp, ReadError> {
    read_at(row, at)
}

/// When work may begin.
pub(super) fn due(kept: i64) -> Option<Timestamp> {
    (kept != AT_ONCE).then(|| Timestamp::from_micros(kept))
}

/// The same to be kept.
pub(crate) fn kept_due(due: Option<Timestamp>) -> i64 {
    due.map_or(AT_ONCE, Timestamp::as_micros)
}

/// A text from outside that may be absent, kept as bytes.
pub(super) fn maybe_foreign(row: &Row, at: usize) -> Result<Option<String>, ReadError> {
    read_at(row, at)
}

/// A word from a closed list.
pub(super) fn word<T>(row: &Row, at: usize, find: fn(&str) -> Option<T>) -> Result<T, ReadError> {
    let text: &str = get(row, at)?;
    find(text).ok_or_else(|| damaged(format!("{text:?} is not a word this program knows")))
}

/// A count that is never negative.
pub(super) fn count(row: &Row, at: usize) -> Result<u64, ReadError> {
    read_at(row, at)
}

/// A small count (attempts, versions of definitions).
pub(super) fn small(row: &Row, at: usize) -> Result<u32, ReadError> {
    read_at(row, at)
}

pub(super) fn priority(row: &Row, at: usize) -> Result<u8, ReadError> {
    read_at(row, at)
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
