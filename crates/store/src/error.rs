//! How a commit or a read can fail. A commit has three ends: written, not written, not known.

use std::error::Error;

use tokio::task::{JoinError, spawn_blocking};

type Source = Box<dyn Error + Send + Sync>;

/// A commit that did not end well.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Certainly nothing was written.
    #[error("nothing was written: {reason}")]
    NotWritten {
        /// Why.
        reason: NotWritten,
        /// What the database said.
        #[source]
        source: Source,
    },
    /// The commit was sent, but whether it is durable is not known.
    #[error("it is not known whether the commit was written")]
    Unknown(#[source] Source),
}

/// Why nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotWritten {
    /// A statement failed because of its data: the culprit must be found and left out.
    Statement,
    /// The disk is full.
    Full,
    /// The database cannot be reached or is shutting down.
    Unavailable,
    /// The node that commits has lost its lease: it must join again under a new id.
    LeaseLost,
}

impl std::fmt::Display for NotWritten {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Statement => "a statement failed",
            Self::Full => "the disk is full",
            Self::Unavailable => "the database is not available",
            Self::LeaseLost => "the node's lease is gone",
        })
    }
}

/// A read that failed.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The database cannot be reached or is shutting down.
    #[error("the database is not available")]
    Unavailable(#[source] Source),
    /// What was read makes no sense: damaged, or changed from outside.
    #[error("the database holds something unreadable: {what}")]
    Corrupt {
        /// What was being read.
        what: String,
        /// What is wrong with it.
        #[source]
        source: Source,
    },
    /// A file (backup, database) could not be used.
    #[error("{what}")]
    File {
        /// What was tried.
        what: String,
        /// What the system said.
        #[source]
        source: Source,
    },
}

/// Something unreadable in a database, for `map_err`.
pub(crate) fn corrupt<E: Into<Source>>(
    what: impl FnOnce() -> String,
) -> impl FnOnce(E) -> ReadError {
    move |source| ReadError::Corrupt {
        what: what(),
        source: source.into(),
    }
}

/// A file that could not be used, for `map_err`.
pub(crate) fn file<E: Into<Source>>(what: String) -> impl FnOnce(E) -> ReadError {
    move |source| ReadError::File {
        what,
        source: source.into(),
    }
}

/// What a task on another thread came to.
pub(crate) fn joined<T>(ended: Result<Result<T, ReadError>, JoinError>) -> Result<T, ReadError> {
    ended.unwrap_or_else(|broken| Err(ReadError::Unavailable(broken.into())))
}

/// What blocks is done on a thread for that.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    joined(spawn_blocking(work).await)
}

/// Nothing was written, because there is no way to write.
pub(crate) fn unavailable(why: impl Into<Source>) -> CommitError {
    CommitError::NotWritten {
        reason: NotWritten::Unavailable,
        source: why.into(),
    }
}
