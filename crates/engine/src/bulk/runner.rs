//! The loop that runs bulk jobs: a chunk of each in turn, as fast as each may go. It remembers nothing that
//! is not in the store but what a job is about, so any node may take the next chunk.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use refire_core::bulk::{Action, JobState};
use refire_core::dead_letter::Transform;
use refire_core::id::BulkId;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_store::{BulkPart, BulkRow, BulkStep, BulkWish, LIMIT_MAX, Part, PartOutcome};
use tokio::time::Instant;

use super::{BulkError, BulkJobs, transform};
use crate::commit::CommitFailure;
use crate::turn::Turn;

/// Jobs that go on at the same time; the others wait for one of them to end.
const JOBS_AT_ONCE: usize = 16;
/// Things of one chunk: commits wait for it.
const CHUNK_MAX: u32 = 100;
/// Things that are removed in one chunk, each with all of its events.
const PURGED_MAX: u32 = 10;
/// A slow job takes its things one by one, a faster one so many times a second.
const CHUNKS_PER_SECOND: u32 = 10;
/// How often to look where another node may have made a job, or steered one.
const SHARED_LOOK_EVERY: Duration = Duration::from_secs(1);
/// The same where a bell rings for all of that.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// How long to wait after trouble.
const TROUBLE_WAIT: Duration = Duration::from_secs(1);

/// A job as this node knows it.
pub(super) struct Known {
    pub(super) wish: BulkWish,
    pub(super) transform: Option<Transform>,
    /// When its next chunk may begin.
    next_at: Instant,
}

/// What a chunk came to.
#[derive(Default)]
pub(super) struct Chunk {
    /// What is still to be written of it.
    pub(super) step: Step,
    /// Things that it was about.
    pub(super) count: usize,
}

/// Where a job stands after a chunk.
#[derive(Default)]
pub(super) struct Step {
    pub(super) items: Vec<refire_store::BulkItemRow>,
    pub(super) letters: Option<refire_store::BulkLetters>,
    pub(super) cursor: Option<refire_core::id::ItemId>,
    pub(super) ends: bool,
}

/// Runs jobs until the node stops.
pub(super) async fn run_loop(jobs: Arc<BulkJobs>) {
    let net = match jobs.context.store.is_shared() {
        true => SHARED_LOOK_EVERY,
        false => LOOK_EVERY,
    };
    let (mut turn, mut known) = (Turn::default(), HashMap::new());
    loop {
        let wait = jobs.round(&mut turn, &mut known).await.min(net);
        if wait.is_zero() {
            // Others have their turn, too.
            tokio::task::yield_now().await;
            continue;
        }
        tokio::select! {
            biased;
            () = jobs.bell.notified() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

impl BulkJobs {
    /// A chunk of each job that may go on, if it is this node's turn; how long until the next may.
    async fn round(&self, turn: &mut Turn, known: &mut HashMap<BulkId, Known>) -> Duration {
        let running = self
            .context
            .store
            .bulk_jobs(&[JobState::Running], None, LIMIT_MAX);
        let mut running = match running.await {
            Ok(running) => running,
            Err(error) => {
                let error: &dyn Error = &error;
                tracing::error!(error, "looking for bulk jobs");
                return TROUBLE_WAIT;
            }
        };
        if running.is_empty() || !turn.is_first(&self.context).await {
            known.clear();
            return Duration::MAX;
        }
        running.reverse();
        running.truncate(JOBS_AT_ONCE);
        known.retain(|id, _| running.iter().any(|row| row.id == *id));
        let mut wait = Duration::MAX;
        for row in &running {
            let now = Instant::now();
            let next_at = known.get(&row.id).map_or(now, |job| job.next_at);
            let next_at = match next_at <= now {
                true => now + self.go_on(row, known).await,
                false => next_at,
            };
            if let Some(job) = known.get_mut(&row.id) {
                job.next_at = next_at;
            }
            wait = wait.min(next_at.saturating_duration_since(Instant::now()));
        }
        wait
    }

    /// One chunk of a job; how long its next one waits, counted from the beginning of this one.
    async fn go_on(&self, row: &BulkRow, known: &mut HashMap<BulkId, Known>) -> Duration {
        let done = match self.know(row.id, known).await {
            Ok(job) => self.chunk(row, job).await,
            Err(error) => Err(error),
        };
        match done {
            Ok(count) => {
                let count = u32::try_from(count).unwrap_or(CHUNK_MAX);
                Duration::from_secs(1) * count / row.rate.max(1)
            }
            Err(BulkError::Commit(CommitFailure::Stopping)) => TROUBLE_WAIT,
            Err(error) => {
                let error: &dyn Error = &error;
                tracing::warn!(job = %row.id, error, "a bulk job waits");
                TROUBLE_WAIT
            }
        }
    }

    async fn know<'k>(
        &self,
        id: BulkId,
        known: &'k mut HashMap<BulkId, Known>,
    ) -> Result<&'k Known, BulkError> {
        match known.entry(id) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let wish = self.context.store.bulk_wish(id).await?;
                let wish = wish.ok_or(BulkError::NotFound)?;
                Ok(place.insert(Known {
                    transform: transform(&wish)?,
                    wish,
                    next_at: Instant::now(),
                }))
            }
        }
    }

    /// Does a chunk and writes what became of it; how many things it was about.
    async fn chunk(&self, row: &BulkRow, job: &Known) -> Result<usize, BulkError> {
        let most = match row.action {
            Action::Purge => PURGED_MAX,
            _ => CHUNK_MAX,
        };
        let size = (row.rate / CHUNKS_PER_SECOND).clamp(1, most);
        #[cfg(feature = "planted")]
        let row = &self.passed_early(row, job, size).await?;
        let Chunk { step, count } = self.make(row, job, size).await?;
        let is_chore = step.letters.is_some();
        let (job, rev) = (row.id, row.rev);
        let step = BulkStep {
            job,
            rev,
            items: step.items,
            letters: step.letters,
            cursor: step.cursor,
            ends: step.ends,
        };
        let part = Part::Bulk(BulkPart::Step(Box::new(step)));
        // Steps without letters are small: they do not wait for another turn of maintenance.
        let outcome = match is_chore {
            true => self.context.queue.chore(part).await?,
            false => self.context.queue.part(part).await?,
        };
        match outcome {
            // Otherwise it was paused or cancelled meanwhile, or another node went on with it.
            PartOutcome::Touched(_) => Ok(count),
            other => Err(CommitFailure::unexpected("outcome", &other).into()),
        }
    }

    /// The defect of a cursor that is written before the things that it passes.
    #[cfg(feature = "planted")]
    async fn passed_early(
        &self,
        row: &BulkRow,
        job: &Known,
        size: u32,
    ) -> Result<BulkRow, BulkError> {
        if !planted::is(Defect::CursorBeforeItems) || row.action != Action::Retry {
            return Ok(row.clone());
        }
        let page = self
            .letters_behind(&job.wish.selection, Some(super::item::start(row)), size)
            .await?;
        let step = BulkStep {
            job: row.id,
            rev: row.rev,
            items: Vec::new(),
            letters: None,
            cursor: page.cursor,
            ends: false,
        };
        let part = Part::Bulk(BulkPart::Step(Box::new(step)));
        self.context.queue.part(part).await?;
        Ok(BulkRow {
            rev: row.rev + 1,
            ..row.clone()
        })
    }
}
