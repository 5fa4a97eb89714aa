//! Bulk jobs: what people do with many dead letters or executions at once, as a job of the server that
//! survives it. One node runs a job, the oldest; who does it does not matter, since each thing has one row
//! for the job, written in the very commit that does it.

mod item;
mod preview;
mod runner;

use std::sync::Arc;

use refire_core::bulk::{Action, IDS_MAX, JobChange, JobState};
use refire_core::dead_letter::{Transform, TransformProblem};
use refire_core::id::{BulkId, ItemId};
use refire_store::{BulkPart, BulkRow, BulkWish, NewBulk, Part, PartOutcome, ReadError, Selection};
use tokio::sync::Notify;

use crate::commit::CommitFailure;
use crate::context::Context;
use crate::entropy;
use crate::executions::Executions;
use crate::letter::Letters;
use crate::vital::Vital;

pub use preview::{Preview, Sample};

/// Jobs that may be open.
pub const OPEN_JOBS_MAX: u32 = 100;
/// Times a change is made again because the job moved on meanwhile.
const CHANGES_MAX: u32 = 10;

/// A job that somebody wants.
#[derive(Debug, Clone)]
pub struct BulkRequest {
    /// What it does.
    pub action: Action,
    /// With what, and how.
    pub wish: BulkWish,
    /// How many a second at most.
    pub rate: u32,
    /// Who.
    pub by: String,
}

/// Why a job was not made or changed.
#[derive(Debug, thiserror::Error)]
pub enum BulkError {
    /// There is no such job.
    #[error("there is no such bulk job")]
    NotFound,
    /// It has ended.
    #[error("the bulk job is {}", .0.name())]
    Over(JobState),
    /// Too many are open.
    #[error("{OPEN_JOBS_MAX} bulk jobs are open: wait for one to end, or cancel one")]
    TooMany,
    /// Too many things are named.
    #[error("a bulk job names at most {IDS_MAX}")]
    TooManyIds,
    /// Some of the things that are named are not there.
    #[error("{} of what is named is not there", .0.len())]
    Unknown(Vec<ItemId>),
    /// The transform cannot be read.
    #[error("the transform is not valid")]
    Transform(Vec<TransformProblem>),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It could not be committed.
    #[error(transparent)]
    Commit(#[from] CommitFailure),
}

/// See the module.
pub struct BulkJobs {
    context: Arc<Context>,
    letters: Arc<Letters>,
    executions: Arc<Executions>,
    /// Rings when a job may go on.
    bell: Notify,
}

impl BulkJobs {
    pub(crate) fn open(context: &Arc<Context>, vital: &Vital) -> Arc<Self> {
        let jobs = Arc::new(Self {
            context: Arc::clone(context),
            letters: Letters::open(context, vital),
            executions: Executions::open(context, vital),
            bell: Notify::new(),
        });
        vital.spawn_until(&context.stopping, runner::run_loop(Arc::clone(&jobs)));
        jobs
    }

    /// Makes a job. It is durable when this returns, and begins at once.
    pub async fn create(&self, request: BulkRequest) -> Result<BulkId, BulkError> {
        self.context.is_open()?;
        transform(&request.wish)?;
        self.check_ids(&request).await?;
        let store = &self.context.store;
        let open = [JobState::Running, JobState::Paused];
        let open = store.bulk_jobs(&open, None, OPEN_JOBS_MAX).await?;
        if open.len() >= OPEN_JOBS_MAX as usize {
            return Err(BulkError::TooMany);
        }
        let total = self.count(&request).await?;
        let now = self.context.now();
        let id = BulkId::from_bytes(entropy::fresh(&*self.context.entropy, now));
        let new = NewBulk {
            id,
            action: request.action,
            wish: request.wish,
            total: total.is_exact.then_some(total.count),
            rate: request.rate,
            by: request.by,
        };
        let part = Part::Bulk(BulkPart::Create(Box::new(new)));
        match self.context.queue.part(part).await? {
            PartOutcome::Done => {
                self.bell.notify_one();
                Ok(id)
            }
            other => Err(CommitFailure::unexpected("outcome", &other).into()),
        }
    }

    /// Pauses, resumes or cancels a job; where it stands then.
    pub async fn change(&self, id: BulkId, change: JobChange) -> Result<BulkRow, BulkError> {
        let store = &self.context.store;
        for _ in 0..CHANGES_MAX {
            let row = store.bulk_job(id).await?.ok_or(BulkError::NotFound)?;
            let state = row
                .state
                .changed(change)
                .ok_or(BulkError::Over(row.state))?;
            if state == row.state {
                return Ok(row);
            }
            let rev = row.rev;
            let part = Part::Bulk(BulkPart::Change { id, rev, state });
            if self.context.queue.part(part).await? == PartOutcome::Touched(true) {
                self.bell.notify_one();
                let row = store.bulk_job(id).await?;
                return row.ok_or(BulkError::NotFound);
            }
        }
        Err(CommitFailure::Contended.into())
    }

    /// What is named must be there: a slip of the pen would else be found out one by one.
    async fn check_ids(&self, request: &BulkRequest) -> Result<(), BulkError> {
        let Selection::Ids(ids) = &request.wish.selection else {
            return Ok(());
        };
        if ids.len() > IDS_MAX {
            return Err(BulkError::TooManyIds);
        }
        let store = &self.context.store;
        let known: Vec<ItemId> = match request.action.is_about_letters() {
            true => {
                let ids: Vec<_> = ids.iter().map(|id| id.letter()).collect();
                let known = store.known_letters(&ids).await?;
                known.into_iter().map(ItemId::from).collect()
            }
            false => {
                let ids: Vec<_> = ids.iter().map(|id| id.execution()).collect();
                let known = store.known_executions(&ids).await?;
                known.into_iter().map(ItemId::from).collect()
            }
        };
        let known: std::collections::HashSet<ItemId> = known.into_iter().collect();
        let unknown: Vec<ItemId> = (ids.iter().copied())
            .filter(|id| !known.contains(id))
            .collect();
        match unknown.is_empty() {
            true => Ok(()),
            false => Err(BulkError::Unknown(unknown)),
        }
    }
}

/// How the inputs of a job change.
fn transform(wish: &BulkWish) -> Result<Option<Transform>, BulkError> {
    let text = wish.options.transform.as_deref();
    let read = text.map(Transform::parse).transpose();
    read.map_err(BulkError::Transform)
}
