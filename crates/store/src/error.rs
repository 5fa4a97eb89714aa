//! How a commit or a read can fail. A commit has three ends: written, not written, not known.

use std::error::Error;

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
