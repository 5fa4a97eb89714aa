//! Parts of lists of executions, and counts: how much is looked at for one, and how far that came.
//!
//! A filter that an index answers finds what it looks for at once. Any other looks at one execution after
//! the other, so it stops after so many and says where; who wants more goes on from there.

use std::collections::BTreeMap;

use refire_core::execution::Status;
use refire_core::id::ExecutionId;

use super::Summary;

/// Executions that are looked at for one answer.
pub const LOOKED_AT_MAX: u32 = 10_000;
/// Executions that are counted one by one; of more it is only known that there are more.
pub const COUNTED_MAX: u32 = 10_000;

/// Which part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Executions older than this one.
    pub before: Option<ExecutionId>,
    /// So many at most.
    pub limit: u32,
    /// Executions that are looked at to find them.
    pub looks: u32,
}

impl Stretch {
    /// Of what is older than an execution, so many.
    #[must_use]
    pub fn new(before: Option<ExecutionId>, limit: u32) -> Self {
        Self {
            before,
            limit,
            looks: LOOKED_AT_MAX,
        }
    }
}

/// A part of a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listed {
    /// Newest first.
    pub rows: Vec<Summary>,
    /// The last one that was looked at, if it was too much to look at all: there may be others behind it.
    pub searched_to: Option<ExecutionId>,
}

impl Listed {
    /// Where the list goes on, if this is what was found for so many rows.
    #[must_use]
    pub fn next(&self, limit: u32) -> Option<ExecutionId> {
        let is_full = self.rows.len() >= limit as usize;
        let last = self.rows.last().filter(|_| is_full).map(|row| row.id);
        self.searched_to.or(last)
    }
}

/// How many executions there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    /// By the status that a person sees.
    pub by_status: BTreeMap<Status, u64>,
    /// Whether those are all.
    pub is_exact: bool,
    /// The last one that was looked at, if it was too much to look at all.
    pub searched_to: Option<ExecutionId>,
}

impl Counted {
    /// All together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_status.values().sum()
    }

    pub(crate) fn add(&mut self, status: Status) {
        *self.by_status.entry(status).or_default() += 1;
    }
}
