//! Due work becomes attempts: load → prepare → call → settle.
//!
//! The dispatcher owns what is in flight on this node. It decides nothing about executions: a
//! result goes to the committer as a command, and only what core says about it counts.

mod attempt;
mod begin;
mod claim;
mod prepare;
mod recover;
mod report;
mod scope;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use refire_core::definition::{Workflow, WorkflowId};
use refire_core::execution::Execution;
use refire_core::id::{ExecutionId, NodeId};
use refire_store::{Part, Release, Store, WorkKey, WorkRow};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::caller::Caller;
use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::commit::{AfterCommit, Queue, Request};
use crate::limit::{Permit, Slots};
use crate::local::LocalTasks;
use crate::secret::Secrets;
use crate::timer::Timers;
use crate::waiter::Waiters;

pub(crate) use claim::{claim_loop, horizon_loop, timer_loop};
pub(crate) use recover::recover;

/// Rows given back to the store in one part.
const RELEASE_ROWS_MAX: usize = 500;

/// What attempts work with.
pub(crate) struct Dispatcher {
    pub(crate) node: NodeId,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) slots: Arc<Slots>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) queue: Queue,
    pub(crate) timers: Timers,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) http: Arc<dyn Caller>,
    pub(crate) local: LocalTasks,
    pub(crate) secrets: Arc<dyn Secrets>,
    pub(crate) tracker: TaskTracker,
    /// Set when the node stops: nothing new begins.
    pub(crate) stopping: CancellationToken,
    /// Set when the store's state is not known.
    pub(crate) broken: CancellationToken,
    in_flight: Mutex<HashMap<WorkKey, InFlight>>,
}

struct InFlight {
    row: WorkRow,
    abort: Option<AbortHandle>,
}

/// What a dispatcher is made of.
pub(crate) struct Parts {
    pub(crate) node: NodeId,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) slots: Arc<Slots>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) queue: Queue,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) http: Arc<dyn Caller>,
    pub(crate) local: LocalTasks,
    pub(crate) secrets: Arc<dyn Secrets>,
    pub(crate) broken: CancellationToken,
}

impl Dispatcher {
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        Arc::new(Self {
            node: parts.node,
            store: parts.store,
            catalog: parts.catalog,
            slots: parts.slots,
            clock: parts.clock,
            queue: parts.queue,
            timers: Timers::default(),
            waiters: parts.waiters,
            http: parts.http,
            local: parts.local,
            secrets: parts.secrets,
            tracker: TaskTracker::new(),
            stopping: CancellationToken::new(),
            broken: parts.broken,
            in_flight: Mutex::default(),
        })
    }

    /// Begins an attempt in a task of its own, unless that very attempt is in flight already.
    fn spawn(
        self: &Arc<Self>,
        row: WorkRow,
        permit: Permit,
        state: Arc<Execution>,
        workflow: Arc<Workflow>,
    ) {
        let key = row.key();
        {
            let mut in_flight = self.in_flight();
            if in_flight
                .get(&key)
                .is_some_and(|running| running.row.attempt == row.attempt)
            {
                return;
            }
            in_flight.insert(
                key.clone(),
                InFlight {
                    row: row.clone(),
                    abort: None,
                },
            );
        }
        let dispatcher = Arc::clone(self);
        let work = attempt::Attempt {
            row,
            permit,
            state,
            workflow,
        };
        let finished = (key.clone(), work.row.attempt);
        let task = self.tracker.spawn(async move {
            attempt::run(&dispatcher, work).await;
            dispatcher.finished(&finished.0, finished.1);
        });
        if let Some(running) = self.in_flight().get_mut(&key) {
            running.abort = Some(task.abort_handle());
        }
    }

    /// Forgets an attempt that ended, unless the step's next one has taken its place.
    fn finished(&self, key: &WorkKey, attempt: u32) {
        let mut in_flight = self.in_flight();
        if in_flight
            .get(key)
            .is_some_and(|running| running.row.attempt == attempt)
        {
            in_flight.remove(key);
        }
    }

    /// Gives rows back to the store, for this or another node to claim; returns when that is
    /// durable, so that whoever looks for due work afterwards finds them.
    pub(crate) async fn release(&self, rows: Vec<(WorkKey, Option<refire_core::time::Timestamp>)>) {
        for chunk in rows.chunks(RELEASE_ROWS_MAX) {
            let release = Release {
                node: self.node,
                work: chunk.to_vec(),
            };
            let (reply, answer) = oneshot::channel();
            let request = Request::Part {
                part: Part::Release(release),
                reply: Some(reply),
            };
            if self.queue.result(request).await.is_err() {
                return;
            }
            if !matches!(answer.await, Ok(Ok(_))) {
                tracing::warn!("work could not be given back; the next start frees it");
            }
        }
    }

    /// Aborts what still runs and gives it back: not a loss, since nothing failed.
    pub(crate) async fn abort_and_release_all(&self) {
        let rows: Vec<_> = {
            let mut in_flight = self.in_flight();
            in_flight
                .drain()
                .map(|(key, running)| {
                    running.abort.iter().for_each(AbortHandle::abort);
                    (key, None)
                })
                .collect()
        };
        if !rows.is_empty() {
            tracing::info!(
                attempts = rows.len(),
                "aborted attempts; they run again after the start"
            );
        }
        let timers = self.timers.drain();
        let rows = rows
            .into_iter()
            .chain(timers.iter().map(|row| (row.key(), None)))
            .collect();
        self.release(rows).await;
    }

    /// Attempts in flight.
    pub(crate) fn running(&self) -> usize {
        self.in_flight().len()
    }

    fn in_flight(&self) -> MutexGuard<'_, HashMap<WorkKey, InFlight>> {
        self.in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The committer's view of the dispatcher.
pub(crate) struct Follow(pub(crate) Arc<Dispatcher>);

impl AfterCommit for Follow {
    fn run(&self, work: WorkRow, permit: Permit, state: Arc<Execution>, workflow: Arc<Workflow>) {
        if self.0.stopping.is_cancelled() {
            // Nothing new begins on a node that stops; if the row cannot be given back now, the
            // next start finds it.
            let release = Release {
                node: self.0.node,
                work: vec![(work.key(), None)],
            };
            let request = Request::Part {
                part: Part::Release(release),
                reply: None,
            };
            let _ = self.0.queue.try_result(request);
            return;
        }
        self.0.spawn(work, permit, state, workflow);
    }

    fn wait(&self, work: WorkRow) {
        self.0.timers.add(work);
    }

    fn backlog(&self, workflow: &WorkflowId) {
        self.0.slots.mark_backlog(workflow);
    }

    fn withdraw(&self, execution: ExecutionId, step: &str) {
        self.0.timers.withdraw(execution, step);
    }

    fn hold(&self, execution: ExecutionId) {
        self.0.timers.hold(execution);
    }

    fn abort(&self, execution: ExecutionId) {
        self.0.timers.hold(execution);
        let mut in_flight = self.0.in_flight();
        in_flight.retain(|key, running| {
            if key.execution != execution {
                return true;
            }
            running.abort.iter().for_each(AbortHandle::abort);
            false
        });
    }

    fn changed(&self, execution: ExecutionId, state: &Execution) {
        self.0.waiters.changed(execution, state);
    }

    fn must_stop(&self) {
        self.0.broken.cancel();
    }
}
