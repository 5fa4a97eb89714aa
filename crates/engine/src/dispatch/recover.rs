//! What a process that died left behind: begun attempts are lost and run again, everything else
//! it held is free again. Runs beside normal work, nobody waits for it, and it does not give up
//! while the store is in trouble.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use refire_core::definition::StepId;
use refire_core::execution::{Command, Lost};
use refire_core::id::ExecutionId;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_store::{News, Part, ReadError, Release, WorkKey, WorkRow};

use super::{Dispatcher, claim};
use crate::commit::CommandError;

/// Rows read at once.
const PAGE_ROWS: u32 = 500;
/// The first wait after a pass that left something behind.
const WAIT_MIN: Duration = Duration::from_millis(200);
/// How often to look although no node is known to have gone: the net below the bell.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// The longest wait between two passes.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// What a pass over the orphaned rows did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pass {
    pub(super) lost: u64,
    pub(super) freed: u64,
    /// Rows that could not be settled; another pass is needed.
    pub(super) left: u64,
}

/// Goes through all work whose owner is gone, until none is left; on a store that others use too,
/// again whenever a node has gone.
pub(crate) async fn recover(dispatcher: Arc<Dispatcher>) {
    let mut wait = WAIT_MIN;
    loop {
        match pass(&dispatcher).await {
            Ok(Pass { lost, freed, left }) => {
                if lost + freed > 0 {
                    tracing::info!(
                        attempts_again = lost,
                        waits_taken_over = freed,
                        "recovered the work of a node that is gone"
                    );
                }
                if left == 0 {
                    if !dispatcher.store.is_shared() {
                        return;
                    }
                    wait = WAIT_MIN;
                    tokio::select! {
                        biased;
                        () = dispatcher.stopping.cancelled() => return,
                        () = dispatcher.membership.orphaned(LOOK_EVERY) => continue,
                    }
                }
                tracing::warn!(left, "recovery could not settle everything; it tries again");
            }
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn Error,
                    "recovery could not read; it tries again"
                );
            }
        }
        tokio::select! {
            biased;
            () = dispatcher.stopping.cancelled() => return,
            () = dispatcher.membership.orphaned(wait) => wait = (wait * 2).min(WAIT_MAX),
        }
    }
}

async fn pass(dispatcher: &Dispatcher) -> Result<Pass, ReadError> {
    let mut done = Pass::default();
    let mut after: Option<WorkKey> = None;
    while !dispatcher.stopping.is_cancelled() {
        let page = dispatcher.store.orphans(after.as_ref(), PAGE_ROWS).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.key());
        let is_lost = |row: &WorkRow| row.begun;
        #[cfg(feature = "planted")]
        let is_lost = |row: &WorkRow| is_lost(row) && !planted::is(Defect::LossForgotten);
        let (begun, held): (Vec<_>, Vec<_>) = page.into_iter().partition(is_lost);
        if !held.is_empty() {
            free(dispatcher, held, &mut done).await;
            // Those that are due soon belong to this node now.
            claim::take_near_timers(dispatcher).await;
        }
        lose(dispatcher, begun, &mut done).await;
    }
    Ok(done)
}

/// Attempts that had begun are lost.
pub(super) async fn lose(dispatcher: &Dispatcher, rows: Vec<WorkRow>, done: &mut Pass) {
    let mut answers = Vec::with_capacity(rows.len());
    // All in one read: the committer would ask for one after the other, and nobody commits meanwhile.
    // What moves in between is told by its version.
    let ids: Vec<ExecutionId> = rows.iter().map(|row| row.execution).collect();
    let states = dispatcher.store.states(&ids).await.unwrap_or_default();
    let mut states = states.into_iter();
    for row in rows {
        let known = states.next().flatten().map(Arc::new);
        let Ok(step) = StepId::new(row.step.as_str()) else {
            continue;
        };
        let lost = Lost {
            step,
            attempt: row.attempt,
            node: row.owner,
            begun: true,
        };
        let asked = dispatcher.command(row.execution, Command::Lost(lost), known, None);
        match asked.await {
            Ok(asked) => answers.push(asked),
            Err(_) => {
                done.left += 1;
                return;
            }
        }
    }
    for asked in answers {
        match asked.answer().await {
            Ok(_) => done.lost += 1,
            // The execution has moved on by itself.
            Err(CommandError::NotFound | CommandError::Refused(_) | CommandError::TaskMoved) => {}
            Err(CommandError::Failed(_)) => done.left += 1,
        }
    }
}

/// What was only held is free again; rows of each former owner are released in its name.
async fn free(dispatcher: &Dispatcher, mut rows: Vec<WorkRow>, done: &mut Pass) {
    rows.sort_by_key(|row| row.owner);
    for group in rows.chunk_by(|a, b| a.owner == b.owner) {
        let Some(node) = group[0].owner else { continue };
        let work = group.iter().map(|row| (row.key(), None)).collect();
        if dispatcher
            .write(Part::Release(Release { node, work }))
            .await
            .is_none()
        {
            done.left += group.len() as u64;
            continue;
        }
        done.freed += group.len() as u64;
        for row in group {
            match row.due_at {
                Some(due) if due > dispatcher.clock.now() => {}
                _ => dispatcher.slots.mark_backlog(&row.workflow),
            }
        }
        // Another node may have more room for it than this one.
        dispatcher.store.tell(News::Work);
    }
}
