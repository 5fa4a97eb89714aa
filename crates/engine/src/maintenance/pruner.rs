//! Retention: ended executions go after their time, by status. A dead letter that waits for a
//! person keeps its execution, however old.

use std::sync::Arc;
use std::time::Duration;

use refire_core::execution::Status;
use refire_store::{Part, PartOutcome, Prune};
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::commit::{Queue, Request};
use crate::membership::Membership;
use tokio_util::sync::CancellationToken;

/// Rows looked at in one chunk; more would hold up the writer noticeably.
const CHUNK_ROWS: u32 = 500;

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
    /// How often to look.
    pub every: Duration,
}

const DAY: Duration = Duration::from_secs(24 * 3_600);

impl Default for Retention {
    fn default() -> Self {
        Self {
            completed: Some(30 * DAY),
            cancelled: Some(30 * DAY),
            failed: Some(90 * DAY),
            requests: Some(30 * DAY),
            every: Duration::from_secs(600),
        }
    }
}

/// Removes what is old, now and then.
pub(crate) async fn prune_loop(
    retention: Retention,
    queue: Queue,
    clock: Arc<dyn Clock>,
    membership: Arc<Membership>,
    stopping: CancellationToken,
) {
    loop {
        tokio::select! {
            biased;
            () = stopping.cancelled() => return,
            () = tokio::time::sleep(retention.every) => {}
        }
        if !membership.is_oldest().await {
            continue;
        }
        let removed = tokio::select! {
            biased;
            () = stopping.cancelled() => return,
            removed = prune(retention, &queue, clock.as_ref()) => removed,
        };
        if removed > 0 {
            tracing::info!(removed, "removed old executions, requests and keys");
        }
    }
}

/// One pass over everything; how many rows went.
pub(crate) async fn prune(retention: Retention, queue: &Queue, clock: &dyn Clock) -> u64 {
    let rules = [
        (vec![Status::Completed], retention.completed),
        (vec![Status::Cancelled], retention.cancelled),
        (vec![Status::Failed, Status::Dlq], retention.failed),
    ];
    let mut removed = 0;
    for (statuses, age) in rules {
        let Some(age) = age else { continue };
        let mut after = None;
        loop {
            let before = clock.now().minus(age);
            let statuses = statuses.clone();
            let chunk = Prune::Executions {
                statuses,
                before,
                after,
                limit: CHUNK_ROWS,
            };
            let Some((gone, next)) = chunk_done(queue, chunk).await else {
                return removed;
            };
            removed += gone;
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
    }
    let limit = CHUNK_ROWS;
    if let Some(age) = retention.requests {
        let before = clock.now().minus(age);
        removed += repeat(queue, || Prune::Requests { before, limit }).await;
        removed += repeat(queue, || Prune::Triggers { before, limit }).await;
    }
    removed + repeat(queue, || Prune::IdempotencyKeys { limit }).await
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
    let (reply, answer) = oneshot::channel();
    queue
        .chore(Request::Part {
            part: Part::Prune(prune),
            reply: Some(reply),
        })
        .await
        .ok()?;
    match answer.await.ok()? {
        Ok(PartOutcome::Pruned { removed, next }) => Some((removed, next)),
        Ok(_) => None,
        Err(failure) => {
            tracing::warn!(%failure, "retention stopped");
            None
        }
    }
}
