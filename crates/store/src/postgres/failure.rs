//! What PostgreSQL's errors mean to a caller.

use tokio_postgres::error::SqlState;

use crate::ReadError;
pub(super) use crate::error::{corrupt, file, unavailable};

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
