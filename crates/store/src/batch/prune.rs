//! Retention: what goes is said here, and every backend finds the rows.

use refire_core::dead_letter::LetterStatus;
use refire_core::definition::WorkflowId;
use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId, RequestId, TriggerId};
use refire_core::time::Timestamp;

use super::PartOutcome;

/// Rows that one chunk removes, at most, unless a single execution has more: commits wait for a
/// chunk, and an execution may have thousands of events.
const ROWS_REMOVED_MAX: u64 = 500;

/// A chunk of retention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prune {
    /// Ended executions with everything that belongs to them. Those whose dead letter is pending
    /// or being retried stay, and so do those that have retried such a letter: its history shows them.
    Executions(OldExecutions),
    /// Idempotency keys whose time is over.
    IdempotencyKeys {
        /// Rows to remove, at most.
        limit: u32,
    },
    /// Requests to webhooks, by the time in their ids.
    Requests {
        /// That came before.
        before: Timestamp,
        /// Rows to remove, at most.
        limit: u32,
    },
    /// Requests to one webhook that started an execution, the oldest first. The others are in a ring.
    RequestsOf {
        /// Its trigger.
        trigger: TriggerId,
        /// Up to this one.
        up_to: RequestId,
        /// Rows to remove, at most.
        limit: u32,
    },
    /// What became of the things of bulk jobs that ended before; the jobs and their counts stay.
    BulkItems {
        /// That ended before.
        before: Timestamp,
        /// Rows to remove, at most.
        limit: u32,
    },
    /// The numbers of minutes.
    Minutes {
        /// That began before.
        before: Timestamp,
        /// Rows to remove, at most.
        limit: u32,
    },
    /// Bulk jobs that ended before and have no rows of things any more.
    BulkJobs {
        /// That ended before.
        before: Timestamp,
        /// Rows to remove, at most.
        limit: u32,
    },
    /// Alerts that are over.
    Alerts {
        /// Since before.
        before: Timestamp,
        /// Rows to remove, at most.
        limit: u32,
    },
    /// Deleted triggers with their ledgers and requests.
    Triggers {
        /// That were deleted before.
        before: Timestamp,
        /// Rows to remove, at most.
        limit: u32,
    },
}

/// Executions along which retention walks, in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldExecutions {
    /// With one of these (terminal) statuses.
    pub statuses: Vec<Status>,
    /// That ended before.
    pub before: Timestamp,
    /// Of this workflow only; absent = of all.
    pub workflow: Option<WorkflowId>,
    /// Where the last chunk stopped.
    pub after: Option<ExecutionId>,
    /// Executions to look at, at most; a store may stop earlier so that one chunk never holds
    /// up the writer.
    pub limit: u32,
}

/// An execution that the walk looks at.
pub(crate) struct Candidate {
    pub(crate) id: ExecutionId,
    pub(crate) status: Status,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    /// How many events it has.
    pub(crate) version: u64,
    /// The execution that it repeats.
    pub(crate) parent: Option<ExecutionId>,
}

/// What goes, and where the next chunk begins.
#[derive(Default)]
pub(crate) struct Gone {
    pub(crate) executions: Vec<ExecutionId>,
    pub(crate) letters: Vec<DlqId>,
    next: Option<ExecutionId>,
}

impl Gone {
    /// When so many executions were removed: others may have been faster.
    pub(crate) fn outcome(&self, removed: usize) -> PartOutcome {
        PartOutcome::Pruned {
            removed: removed as u64,
            next: self.next,
        }
    }
}

impl OldExecutions {
    /// Whether it has ended, and early enough.
    pub(crate) fn include(&self, candidate: &Candidate) -> bool {
        candidate.status.is_terminal()
            && self.statuses.contains(&candidate.status)
            && candidate.updated_at < self.before
    }

    /// What goes of those that were looked at. `letter_of` finds the letter of an execution; it is
    /// asked about those that are old, and about their parents.
    pub(crate) fn gone<E>(
        &self,
        looked_at: &[Candidate],
        letter_of: impl Fn(ExecutionId) -> Result<Option<(DlqId, LetterStatus)>, E>,
    ) -> Result<Gone, E> {
        let (mut gone, mut rows) = (Gone::default(), 0);
        for candidate in looked_at {
            if self.include(candidate) {
                let letter = letter_of(candidate.id)?;
                let of_parent = candidate.parent.map(&letter_of).transpose()?.flatten();
                let mut both = letter.iter().chain(&of_parent);
                if !both.any(|(_, status)| status.is_open()) {
                    rows += candidate.version + 1 + u64::from(letter.is_some());
                    if !gone.executions.is_empty() && rows > ROWS_REMOVED_MAX {
                        // The next chunk begins with this one.
                        return Ok(gone);
                    }
                    gone.executions.push(candidate.id);
                    gone.letters.extend(letter.map(|(id, _)| id));
                }
            }
            gone.next = Some(candidate.id);
        }
        // Whatever comes later was made later, so none of it can have ended early enough.
        let last = looked_at.last();
        if looked_at.len() < self.limit as usize
            || last.is_some_and(|last| last.created_at >= self.before)
        {
            gone.next = None;
        }
        Ok(gone)
    }
}
