//! What can go wrong with a store, decided from outside: a simulation plans it, the model obeys.

use async_trait::async_trait;

use crate::{Batch, NotWritten, ReadError};

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
    /// The caller hears that nobody knows, and later commits of the same process are refused.
    Unknown {
        /// Whether the next process finds the batch. Reads of this one do not see it. At
        /// [`Moment::Durable`] it is there, whatever the caller hears, so this must be true.
        durable: bool,
    },
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

    /// Asked after each read, before its caller has the answer: meanwhile it may grow old.
    async fn answer(&self, what: &'static str) {
        let _ = what;
    }
}

/// Nothing goes wrong.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFaults;

impl Faults for NoFaults {}
