//! What can go wrong with a store, decided from outside: a simulation plans it, the model obeys.

use async_trait::async_trait;

use crate::{Batch, News, NotWritten, ReadError};

/// Where a commit is when its faults are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Moment {
    /// Nothing of the batch is applied.
    Arrived,
    /// Applied where a crash drops it, and seen by nobody yet.
    Applied,
    /// Durable and seen by reads, but not answered. A lazy disk only says so.
    Durable,
}

/// How a commit goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As it should.
    Go,
    /// Nothing is written. Not at [`Moment::Durable`]: what is durable cannot be refused.
    Refuse(NotWritten),
    /// The answer is lost. On a disk of one process the caller hears that nobody knows, and later
    /// commits of the same process are refused. On a shared one the process finds out or not, as
    /// [`Faults::lost`] says, and goes on.
    Unknown {
        /// Whether the next process finds the batch. Reads of this one do not see it. At
        /// [`Moment::Durable`] it is there, whatever the caller hears, so this must be true. On a
        /// shared disk, before that moment: the batch is under way for so long that it may arrive
        /// when nobody waits for it any more (see [`super::Disk::arrive`]).
        durable: bool,
    },
}

/// What a process finds out about a commit whose answer was lost on its way from a shared disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Whether it was written. If it was not, it never will be, and it is sent again.
    Known,
    /// Nothing, and it has given up.
    Nothing,
}

/// The plan of what goes wrong. Whatever it does not say goes well.
///
/// Its methods may take time, and they may end the process (see [`super::Disk::crash`]) and stay
/// pending for ever.
#[async_trait]
pub trait Faults: Send + Sync {
    /// Asked at each moment of each commit.
    async fn commit(&self, moment: Moment, batch: &Batch) -> Verdict {
        let _ = (moment, batch);
        Verdict::Go
    }

    /// Asked before each read, with the name of the store's method.
    async fn read(&self, what: &'static str) -> Result<(), ReadError> {
        let _ = what;
        Ok(())
    }

    /// Asked after each read, before its caller has the answer: meanwhile it may grow old, or be
    /// lost.
    async fn answer(&self, what: &'static str) -> Result<(), ReadError> {
        let _ = what;
        Ok(())
    }

    /// Asked when the answer to a commit was lost on its way from a shared disk: how long finding
    /// out takes, and what is found.
    async fn lost(&self, batch: &Batch) -> Finding {
        let _ = batch;
        Finding::Known
    }

    /// Asked when news from another process are about to be heard: when, and what arrives.
    async fn news(&self, news: News) -> Option<News> {
        Some(news)
    }
}

/// Nothing goes wrong.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFaults;

impl Faults for NoFaults {}
