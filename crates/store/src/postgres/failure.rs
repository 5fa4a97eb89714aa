//! What PostgreSQL's errors mean to a caller.

use std::error::Error;

use tokio_postgres::error::SqlState;

pub(super) use crate::error::{corrupt, file};
use crate::{CommitError, NotWritten, ReadError};

/// A read that the server refused, or that did not reach it.
impl From<tokio_postgres::Error> for ReadError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.code() {
            Some(&SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED) => Self::Corrupt {
                what: "a page".to_owned(),
                source: error.into(),
            },
            _ => Self::Unavailable(error.into()),
        }
    }
}

/// Nothing was written, because there is no way to write.
pub(super) fn unavailable(why: impl Into<Box<dyn Error + Send + Sync>>) -> CommitError {
    CommitError::NotWritten {
        reason: NotWritten::Unavailable,
        source: why.into(),
    }
}
