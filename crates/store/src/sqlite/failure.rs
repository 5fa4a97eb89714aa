//! What SQLite's errors mean to a caller: certainly nothing written, or not known.

use rusqlite::ErrorCode;

pub(super) use crate::error::{corrupt, file, unavailable};
use crate::{CommitError, NotWritten, ReadError};

/// A read that SQLite refused.
impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        let is_unreadable = match &error {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => true,
            other => matches!(
                other.sqlite_error_code(),
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
            ),
        };
        if is_unreadable {
            Self::Corrupt {
                what: "a row".to_owned(),
                source: error.into(),
            }
        } else {
            Self::Unavailable(error.into())
        }
    }
}

/// Nothing was written: a statement of the transaction failed, and it was rolled back.
pub(super) fn before_commit(error: rusqlite::Error) -> CommitError {
    let reason = match &error {
        rusqlite::Error::SqliteFailure(code, _) => match code.code {
            ErrorCode::DiskFull => NotWritten::Full,
            ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch
            | ErrorCode::TooBig
            | ErrorCode::ParameterOutOfRange
            | ErrorCode::Unknown => NotWritten::Statement,
            _ => NotWritten::Unavailable,
        },
        // Everything that the bindings themselves refuse is about the data at hand.
        _ => NotWritten::Statement,
    };
    CommitError::NotWritten {
        reason,
        source: error.into(),
    }
}

/// How a failed COMMIT ended. `None` = whether it is durable is not known.
///
/// A full disk is certain: the frame that would make the transaction valid comes last, and it did
/// not fit. An error of the disk is not: what could not be synced may be there after a restart.
pub(super) fn at_commit(error: &rusqlite::Error) -> Option<NotWritten> {
    match error.sqlite_error_code()? {
        ErrorCode::DiskFull => Some(NotWritten::Full),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Some(NotWritten::Unavailable),
        _ => None,
    }
}
