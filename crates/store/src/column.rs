//! Rows as a database gives them, and the values that are read from their columns.
//!
//! Which columns a value is read from is said once for all databases, beside the value's type, by
//! [`read_from!`]: the list that a statement selects and the order in which it is read are the same
//! text.

use std::borrow::Cow;
use std::error::Error;

use refire_core::alert::RuleKind;
use refire_core::dead_letter::{LetterStatus, Reason, RetryFrom};
use refire_core::definition::WorkflowId;
use refire_core::execution::{EventKind, Status, TriggerKind};
use refire_core::id::{
    AlertId, AlertRuleId, BulkId, ChannelId, DlqId, ExecutionId, GroupId, ItemId, LockToken,
    NodeId, NoticeId, RequestId, ScheduledTaskId, SilenceId, TriggerId, WebhookId,
};
use refire_core::time::Timestamp;
use refire_core::trigger::Outcome;
use refire_core::webhook::RequestStatus;

use crate::ReadError;

/// A time that means none: before every time. PostgreSQL keeps work that is due at once so.
pub(crate) const AT_ONCE: i64 = i64::MIN;

/// A row of an answer. Each kind of value has one form on its way, whatever the column's type is.
pub(crate) trait Columns {
    /// A number, or whether something is so.
    fn number(&self, at: usize) -> Result<Option<i64>, ReadError>;
    /// A text.
    fn text(&self, at: usize) -> Result<Option<&str>, ReadError>;
    /// Bytes, or an id.
    fn bytes(&self, at: usize) -> Result<Option<&[u8]>, ReadError>;
}

impl Columns for &dyn Columns {
    fn number(&self, at: usize) -> Result<Option<i64>, ReadError> {
        (**self).number(at)
    }

    fn text(&self, at: usize) -> Result<Option<&str>, ReadError> {
        (**self).text(at)
    }

    fn bytes(&self, at: usize) -> Result<Option<&[u8]>, ReadError> {
        (**self).bytes(at)
    }
}

/// A place in a row.
pub(crate) struct Cursor<'a, R> {
    pub(crate) row: &'a R,
    pub(crate) at: usize,
}

impl<R: Columns> Cursor<'_, R> {
    /// What is read from here on.
    pub(crate) fn next<T: Field>(&mut self) -> Result<T, ReadError> {
        T::take(self)
    }
}

/// What stands in a row from this column on.
pub(crate) fn read_at<T: Field>(row: &impl Columns, at: usize) -> Result<T, ReadError> {
    Cursor { row, at }.next()
}

/// What is read from one column or from several.
pub(crate) trait Field: Sized {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError>;
}

/// What is read from columns that a statement names.
pub(crate) trait Named: Field {
    /// As a statement selects them.
    const COLUMNS: &'static str;
}

/// What is read from one column.
pub(crate) trait Column: Sized {
    fn read(row: &impl Columns, at: usize) -> Result<Option<Self>, ReadError>;
}

impl<T: Column> Field for Option<T> {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        let at = cursor.at;
        cursor.at += 1;
        T::read(cursor.row, at)
    }
}

impl<T: Column> Field for T {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        let at = cursor.at;
        let value: Option<T> = cursor.next()?;
        value.ok_or_else(|| damaged(format!("there is nothing in column {at}")))
    }
}

impl<A: Field, B: Field> Field for (A, B) {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        Ok((cursor.next()?, cursor.next()?))
    }
}

impl<A: Field, B: Field, C: Field> Field for (A, B, C) {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        Ok((cursor.next()?, cursor.next()?, cursor.next()?))
    }
}

/// Two that are there together, such as when something was done and who did it, or not at all.
impl<A: Column, B: Column> Field for Option<(A, B)> {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        let (one, other): (Option<A>, Option<B>) = cursor.next()?;
        Ok(one.zip(other))
    }
}

/// What became of a slot, from its word and the word of its reason behind it.
impl Field for Outcome {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        let at = cursor.at;
        cursor.at += 2;
        let (status, reason) = (cursor.row.text(at)?, cursor.row.text(at + 1)?);
        let status = status.unwrap_or_default();
        Self::from_words(status, reason)
            .ok_or_else(|| damaged(format!("no slot is {status:?} because of {reason:?}")))
    }
}

/// A row that cannot be what was written.
pub(crate) fn damaged(why: impl Into<Box<dyn Error + Send + Sync>>) -> ReadError {
    ReadError::Corrupt {
        what: "a row".to_owned(),
        source: why.into(),
    }
}

macro_rules! numbers {
    ($($type:ty),*) => {
        $(impl Column for $type {
            fn read(row: &impl Columns, at: usize) -> Result<Option<Self>, ReadError> {
                let number = row.number(at)?.map(Self::try_from).transpose();
                number.map_err(damaged)
            }
        })*
    };
}
numbers!(i64, u64, u32, u16, u8);

macro_rules! ids {
    ($($type:ty),*) => {
        $(impl Column for $type {
            fn read(row: &impl Columns, at: usize) -> Result<Option<Self>, ReadError> {
                Ok(<[u8; 16]>::read(row, at)?.map(Self::from_bytes))
            }
        })*
    };
}
ids!(
    AlertId,
    AlertRuleId,
    BulkId,
    ChannelId,
    DlqId,
    ExecutionId,
    GroupId,
    ItemId,
    LockToken,
    NodeId,
    NoticeId,
    RequestId,
    ScheduledTaskId,
    SilenceId,
    TriggerId,
    WebhookId
);

/// Words from closed lists.
macro_rules! words {
    ($($type:ty),*) => {
        $(impl Column for $type {
            fn read(row: &impl Columns, at: usize) -> Result<Option<Self>, ReadError> {
                let Some(text) = row.text(at)? else {
                    return Ok(None);
                };
                let unknown = || damaged(format!("{text:?} is not a word this program knows"));
                Self::from_name(text).ok_or_else(unknown).map(Some)
            }
        })*
    };
}
words!(
    LetterStatus,
    Reason,
    RequestStatus,
    RetryFrom,
    RuleKind,
    Status,
    TriggerKind
);

impl<const N: usize> Column for [u8; N] {
    fn read(row: &impl Columns, at: usize) -> Result<Option<Self>, ReadError> {
        let bytes = row.bytes(at)?.map(TryInto::try_into).transpose();
        bytes.map_err(damaged)
    }
}

impl Column for Vec<u8> {
    fn read(row: &impl Columns, at: usize) -> Result<Option<Self>, ReadError> {
        Ok(row.bytes(at)?.map(<[u8]>::to_vec))
    }
}

impl Column for String {
    fn read(row: &impl Columns, at: usize) -> Result<Option<Self>, ReadError> {
        Ok(row.text(at)?.map(str::to_owned))
    }
}

/// The name of an event: one of core's, without copying it, or one that no version knows.
impl Column for Cow<'static, str> {
    fn read(row: &impl Columns, at: usize) -> Result<Option<Self>, ReadError> {
        let known = |name: &str| EventKind::NAMES.iter().find(|known| **known == name);
        let name = row.text(at)?.map(|name| match known(name) {
            Some(known) => Self::Borrowed(*known),
            None => Self::Owned(name.to_owned()),
        });
        Ok(name)
    }
}

impl Column for bool {
    fn read(row: &impl Columns, at: usize) -> Result<Option<Self>, ReadError> {
        Ok(row.number(at)?.map(|number| number != 0))
    }
}

impl Column for Timestamp {
    fn read(row: &impl Columns, at: usize) -> Result<Option<Self>, ReadError> {
        let micros = row.number(at)?.filter(|micros| *micros != AT_ONCE);
        Ok(micros.map(Self::from_micros))
    }
}

impl Column for WorkflowId {
    fn read(row: &impl Columns, at: usize) -> Result<Option<Self>, ReadError> {
        let id = row.text(at)?.map(Self::kept).transpose();
        id.map_err(|error| ReadError::Corrupt {
            what: "a workflow's id".to_owned(),
            source: error.into(),
        })
    }
}

/// Says which columns each field of a type is read from, in order, and what the others are; `or_default`
/// where there may be nothing, `as_bits` where a number uses its sign for another bit. What is guarded by
/// a checksum names that column last, and the function that compares it.
macro_rules! read_from {
    (@next $cursor:ident or_default) => {
        $cursor.next::<Option<_>>()?.unwrap_or_default()
    };
    (@next $cursor:ident as_bits) => {
        $cursor.next::<i64>()?.cast_unsigned()
    };
    (@next $cursor:ident) => {
        $cursor.next()?
    };
    ($type:ident {
        $first:ident: $first_column:literal
        $(, $field:ident: $column:literal $($how:ident)?)*
        $(; $other:ident = $value:expr)* $(;)?
    } $(checked by $crc:literal with $fits:path)?) => {
        impl crate::column::Field for $type {
            fn take<R: crate::column::Columns>(
                cursor: &mut crate::column::Cursor<'_, R>,
            ) -> Result<Self, crate::ReadError> {
                let read = $type {
                    $first: cursor.next()?,
                    $($field: read_from!(@next cursor $($how)?),)*
                    $($other: $value,)*
                };
                $($fits(&read, cursor.next()?)?;)?
                Ok(read)
            }
        }

        impl crate::column::Named for $type {
            const COLUMNS: &'static str =
                concat!($first_column $(, ", ", $column)* $(, ", ", $crc)?);
        }
    };
}
pub(crate) use read_from;
