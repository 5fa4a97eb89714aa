//! The parts of a commit that make bulk jobs and move them on.

use refire_core::bulk::{JobState, LetterWork};
use refire_core::id::{BulkId, DlqId, ExecutionId, ItemId};
use refire_core::time::Timestamp;

use crate::bulk::{BulkItemRow, NewBulk};

/// What happens to a job.
#[derive(Debug, Clone)]
pub enum BulkPart {
    /// It is made. Other parts may carry one with them.
    Create(Box<NewBulk>),
    /// It is paused, resumed or cancelled. The outcome says whether it had this number.
    Change {
        /// Which.
        id: BulkId,
        /// The number of its last change, as the caller has seen it.
        rev: u64,
        /// Where it stands from now on.
        state: JobState,
    },
    /// It moves on. The outcome says whether it was running and had this number; if not, nothing is written.
    Step(Box<BulkStep>),
}

/// A job moves on by some things.
#[derive(Debug, Clone)]
pub struct BulkStep {
    /// The job.
    pub job: BulkId,
    /// The number of its last change, as the caller has seen it.
    pub rev: u64,
    /// What became of things; one that has its row already keeps it.
    pub items: Vec<BulkItemRow>,
    /// Letters that are changed with it, each with its row of the outcome.
    pub letters: Option<BulkLetters>,
    /// Everything down to this one has its row. Absent = as before.
    pub cursor: Option<ItemId>,
    /// Whether nothing is left.
    pub ends: bool,
}

/// Letters that a job gives up or removes.
#[derive(Debug, Clone)]
pub struct BulkLetters {
    /// Which.
    pub ids: Vec<DlqId>,
    /// What happens to them.
    pub work: LetterWork,
    /// Who.
    pub by: String,
}

/// The thing of a job that a new execution is for; refused if it has its row already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkItem {
    /// The job.
    pub job: BulkId,
    /// The thing.
    pub item: ItemId,
}

impl BulkItem {
    /// Its row when the execution is written.
    pub(crate) fn done(self, execution: ExecutionId, at: Timestamp) -> BulkItemRow {
        BulkItemRow {
            execution: Some(execution),
            ..BulkItemRow::judged(self.item, refire_core::bulk::Verdict::OK, at)
        }
    }
}
