//! Retention: ended executions go after their time, by status. A dead letter that waits for a
//! person keeps its execution, however old. It goes through the commit queue's last lane, a chunk at a
//! time, and never holds up work.

use std::sync::Arc;
use std::time::Duration;

use refire_core::alert::ALERTS_KEPT;
use refire_core::execution::Status;
use refire_core::minute::MINUTES_KEPT;
use refire_store::{OldExecutions, Part, PartOutcome, Prune};

use crate::commit::{CommitFailure, Queue};
use crate::context::Context;
use crate::entropy::jittered;
use crate::notify;
use crate::turn::Turn;

/// Rows looked at in one chunk; more would hold up the writer noticeably.
const CHUNK_ROWS: u32 = 500;

/// Webhooks looked at together; each may cost a walk along all the requests that stay.
const WEBHOOKS_PAGE: u32 = 5;

/// How long ended executions are kept; absent = for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Completed ones.
    pub completed: Option<Duration>,
    /// Cancelled ones.
    pub cancelled: Option<Duration>,
    /// Failed ones, with or without a dead letter.
    pub failed: Option<Duration>,
    /// Requests to webhooks, and deleted triggers with their ledgers.
    pub requests: Option<Duration>,
    /// Requests that started an execution, of each webhook.
    pub requests_max: u32,
    /// How often to look.
    pub every: Duration,
    /// When to look first, at the latest: between half of it and the whole after the start, so that
    /// nodes that start together do not all look at once. Not later than `every`.
    pub first_within: Duration,
}

/// How long messages to people are kept, whatever else is.
const MESSAGES_KEPT: Duration = Duration::from_secs(7 * 24 * 3_600);

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// How long it is known what became of each thing of a bulk job that has ended.
const BULK_ITEMS_KEPT: Duration = Duration::from_secs(30 * 24 * 3_600);
/// And how long such a job is known, with its counts.
const BULK_JOBS_KEPT: Duration = Duration::from_secs(366 * 24 * 3_600);

impl Default for Retention {
    fn default() -> Self {
        Self {
            completed: Some(30 * DAY),
            cancelled: Some(30 * DAY),
            failed: Some(90 * DAY),
            requests: Some(30 * DAY),
            requests_max: 100_000,
            every: Duration::from_secs(600),
            first_within: Duration::from_secs(30),
        }
    }
}

/// Removes what is old: soon after the start, so that a server that is restarted often does it too, and
/// then now and then.
pub(crate) async fn prune_loop(context: Arc<Context>) {
    let retention = &context.retention;
    let first = retention.first_within.min(retention.every);
    let mut wait = jittered(&*context.entropy, first);
    let (pruner, mut turn) = (Pruner(&context), Turn::default());
    loop {
        tokio::time::sleep(wait).await;
        wait = retention.every;
        if !turn.is_first(&context).await {
            continue;
        }
        let removed = pruner.prune().await;
        if removed > 0 {
            tracing::info!(removed, "removed old executions, requests and keys");
        }
    }
}

/// One pass.
struct Pruner<'a>(&'a Context);

impl Pruner<'_> {
    /// One pass over everything; how many rows went.
    async fn prune(&self) -> u64 {
        let Some(mut removed) = self.executions().await else {
            return 0;
        };
        let (queue, limit) = (&self.0.queue, CHUNK_ROWS);
        if let Some(age) = self.0.retention.requests {
            let before = self.0.now().minus(age);
            removed += repeat(queue, || Prune::Requests { before, limit }).await;
            removed += repeat(queue, || Prune::Triggers { before, limit }).await;
            removed += self.accepted_requests().await;
        }
        let now = self.0.now();
        let before = now.minus(MINUTES_KEPT);
        removed += repeat(queue, || Prune::Minutes { before, limit }).await;
        let before = now.minus(ALERTS_KEPT);
        removed += repeat(queue, || Prune::Alerts { before, limit }).await;
        let before = now.minus(BULK_ITEMS_KEPT);
        removed += repeat(queue, || Prune::BulkItems { before, limit }).await;
        let before = now.minus(BULK_JOBS_KEPT);
        removed += repeat(queue, || Prune::BulkJobs { before, limit }).await;
        removed + repeat(queue, || Prune::IdempotencyKeys { limit }).await
    }

    /// None if the store takes nothing now.
    async fn executions(&self) -> Option<u64> {
        let retention = &self.0.retention;
        let ended = vec![
            Status::Completed,
            Status::Cancelled,
            Status::Failed,
            Status::Dlq,
        ];
        let rules = [
            (None, vec![Status::Completed], retention.completed),
            (None, vec![Status::Cancelled], retention.cancelled),
            (None, vec![Status::Failed, Status::Dlq], retention.failed),
            (Some(notify::workflow_id()), ended, Some(MESSAGES_KEPT)),
        ];
        let mut removed = 0;
        for (workflow, statuses, age) in rules {
            let Some(age) = age else { continue };
            let mut after = None;
            loop {
                let before = self.0.now().minus(age);
                let statuses = statuses.clone();
                let chunk = Prune::Executions(OldExecutions {
                    statuses,
                    before,
                    workflow: workflow.clone(),
                    after,
                    limit: CHUNK_ROWS,
                });
                let (gone, next) = chunk_done(&self.0.queue, chunk).await?;
                removed += gone;
                match next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
        }
        Some(removed)
    }

    /// Of the requests that started something the newest of each webhook stay. Refused ones have a ring.
    async fn accepted_requests(&self) -> u64 {
        let (mut after, mut removed) = (None, 0);
        loop {
            let newest = self.0.retention.requests_max;
            let page = self.0.store.requests_beyond(newest, after, WEBHOOKS_PAGE);
            let page = page.await.unwrap_or_else(|error| {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "looking for webhooks with a great many requests");
                Vec::new()
            });
            for (trigger, up_to) in &page {
                let Some(up_to) = *up_to else { continue };
                let chunk = || Prune::RequestsOf {
                    trigger: *trigger,
                    up_to,
                    limit: CHUNK_ROWS,
                };
                removed += repeat(&self.0.queue, chunk).await;
            }
            match page.last() {
                Some((last, _)) if page.len() == WEBHOOKS_PAGE as usize => after = Some(*last),
                _ => return removed,
            }
        }
    }
}

/// Chunk after chunk, until nothing goes any more.
async fn repeat(queue: &Queue, chunk: impl Fn() -> Prune) -> u64 {
    let mut removed = 0;
    loop {
        match chunk_done(queue, chunk()).await {
            Some((gone, _)) if gone > 0 => removed += gone,
            _ => return removed,
        }
    }
}

async fn chunk_done(
    queue: &Queue,
    prune: Prune,
) -> Option<(u64, Option<refire_core::id::ExecutionId>)> {
    match queue.chore(Part::Prune(prune)).await {
        Ok(PartOutcome::Pruned { removed, next }) => Some((removed, next)),
        Ok(_) | Err(CommitFailure::Stopping) => None,
        Err(failure) => {
            tracing::warn!(%failure, "retention stopped");
            None
        }
    }
}
