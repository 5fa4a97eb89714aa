//! Bulk jobs as they are kept: what they are about and how, where they stand, and what became of each thing.

use refire_core::bulk::{Action, Counts, ItemOutcome, JobState, Verdict};
use refire_core::dead_letter::RetryFrom;
use refire_core::id::{BulkId, DlqId, ExecutionId, ItemId};
use refire_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::column::{Columns, Cursor, Field, read_from};
use crate::error::corrupt;
use crate::layer::store_trait;
use crate::task::numbered;
use crate::{ExecutionFilter, LetterFilter, ReadError};

store_trait! {
    /// Bulk jobs, and what became of what they are about.
    pub trait BulkJobs {
        /// One job. Its counts are exact.
        async fn bulk_job(&self, id: BulkId) -> Result<Option<BulkRow>, ReadError>;

        /// What a job is about, and how.
        async fn bulk_wish(&self, id: BulkId) -> Result<Option<BulkWish>, ReadError>;

        /// Jobs before this one that stand in one of these states (none = any), newest first.
        async fn bulk_jobs(
            &self,
            states: &[JobState],
            before: Option<BulkId>,
            limit: u32,
        ) -> Result<Vec<BulkRow>, ReadError>;

        /// What became of things of a job with one of these outcomes (none = any), from the newest thing
        /// to the oldest, those before this one.
        async fn bulk_items(
            &self,
            job: BulkId,
            outcomes: &[ItemOutcome],
            before: Option<ItemId>,
            limit: u32,
        ) -> Result<Vec<BulkItemRow>, ReadError>;

        /// Which of these letters there are.
        async fn known_letters(&self, ids: &[DlqId]) -> Result<Vec<DlqId>, ReadError>;

        /// Which of these executions there are.
        async fn known_executions(&self, ids: &[ExecutionId]) -> Result<Vec<ExecutionId>, ReadError>;
    }
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkRow {
    /// Its id.
    pub id: BulkId,
    /// What it does.
    pub action: Action,
    /// Where it stands.
    pub state: JobState,
    /// Everything from the newest thing down to this one, and itself, has its outcome. Absent = nothing has.
    pub cursor: Option<ItemId>,
    /// How many things it was about when it was made, where that was known.
    pub total: Option<u64>,
    /// How many have each outcome.
    pub counts: Counts,
    /// How many a second at most.
    pub rate: u32,
    /// Who made it.
    pub by: String,
    /// Grows with each change.
    pub rev: u64,
    /// When it was made. What came later is none of its business.
    pub created_at: Timestamp,
    /// When it moved last.
    pub updated_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// Outcomes that the row counts, and those of things behind its cursor.
macro_rules! counted {
    ($column:literal, $outcome:literal) => {
        concat!(
            "job.",
            $column,
            " + (SELECT count(*) FROM bulk_items AS item WHERE item.job = job.id AND item.outcome = ",
            $outcome,
            " AND (job.cursor IS NULL OR item.item < job.cursor))"
        )
    };
}

impl Field for BulkRow {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        Ok(Self {
            id: cursor.next()?,
            action: cursor.next()?,
            state: cursor.next()?,
            cursor: cursor.next()?,
            total: cursor.next()?,
            rate: cursor.next()?,
            by: cursor.next()?,
            rev: cursor.next()?,
            created_at: cursor.next()?,
            updated_at: cursor.next()?,
            ended_at: cursor.next()?,
            counts: Counts {
                ok: cursor.next()?,
                failed: cursor.next()?,
                skipped: cursor.next()?,
            },
        })
    }
}

impl BulkRow {
    /// What it is read from; `job` is the table of jobs.
    pub(crate) const COLUMNS: &'static str = concat!(
        "job.id, job.action, job.state, job.cursor, job.total, job.rate, job.created_by, job.rev,
         job.created_at, job.updated_at, job.ended_at, ",
        counted!("ok", "0"),
        ", ",
        counted!("failed", "1"),
        ", ",
        counted!("skipped", "2"),
    );
}

numbered!(Action, JobState, ItemOutcome);

/// What a job is about, and how it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkWish {
    /// What it is about.
    pub selection: Selection,
    /// How.
    #[serde(default)]
    pub options: BulkOptions,
}

/// What a job is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// These, none twice, the newest first.
    Ids(Vec<ItemId>),
    /// The dead letters that pass.
    Letters {
        /// What they pass.
        filter: LetterFilter,
        /// The same in the words of whoever asked: names and texts.
        asked: Vec<(String, String)>,
    },
    /// The executions that pass.
    Executions {
        /// What they pass.
        filter: Box<ExecutionFilter>,
        /// The same in the words of whoever asked.
        asked: Vec<(String, String)>,
    },
}

impl Selection {
    /// These, whatever their order and however often each is named.
    #[must_use]
    pub fn of(mut ids: Vec<ItemId>) -> Self {
        ids.sort_unstable_by(|a, b| b.cmp(a));
        ids.dedup();
        Self::Ids(ids)
    }
}

/// How a job does what it does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BulkOptions {
    /// Where retries begin.
    pub from: RetryFrom,
    /// Whether retries have the automatic retries of their workflow.
    pub retries: bool,
    /// How the inputs of letters change, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transform: Option<String>,
    /// Whether letters are purged that wait for somebody.
    pub include_pending: bool,
    /// Whether cancelled executions undo their steps.
    pub compensate: bool,
}

impl BulkWish {
    /// As it is kept. Plain structs of words and numbers: this cannot fail.
    pub(crate) fn text(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// What a job is about, as it is read.
impl Field for BulkWish {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        let text: Vec<u8> = cursor.next()?;
        serde_json::from_slice(&text).map_err(corrupt(|| "a bulk job".to_owned()))
    }
}

/// A job to be made. It begins at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBulk {
    /// Its id.
    pub id: BulkId,
    /// What it does.
    pub action: Action,
    /// What it is about, and how.
    pub wish: BulkWish,
    /// How many things those are, if that is known.
    pub total: Option<u64>,
    /// How many a second at most.
    pub rate: u32,
    /// Who makes it.
    pub by: String,
}

impl NewBulk {
    /// Its row at the beginning.
    #[cfg(feature = "model")]
    pub(crate) fn row(&self, now: Timestamp) -> BulkRow {
        BulkRow {
            id: self.id,
            action: self.action,
            state: JobState::Running,
            cursor: None,
            total: self.total,
            counts: Counts::default(),
            rate: self.rate,
            by: self.by.clone(),
            rev: 1,
            created_at: now,
            updated_at: now,
            ended_at: None,
        }
    }
}

/// What became of a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkItemRow {
    /// The thing.
    pub item: ItemId,
    /// What became of it.
    pub outcome: ItemOutcome,
    /// The execution that was started for it.
    pub execution: Option<ExecutionId>,
    /// Why it was not done.
    pub detail: Option<String>,
    /// When.
    pub at: Timestamp,
}

read_from! {
    BulkItemRow {
        item: "item.item",
        outcome: "item.outcome",
        execution: "item.execution",
        detail: "item.detail",
        at: "item.at"
    }
}

impl BulkItemRow {
    /// A thing on which there is a verdict.
    #[must_use]
    pub fn judged(item: ItemId, verdict: Verdict, at: Timestamp) -> Self {
        Self {
            item,
            outcome: verdict.outcome,
            execution: None,
            detail: verdict.detail,
            at,
        }
    }
}
