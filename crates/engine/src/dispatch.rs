//! Due work becomes attempts: load → prepare → call → settle.
//!
//! The dispatcher owns what is in flight on this node. It decides nothing about executions: a
//! result goes to the committer as a command, and only what core says about it counts.

mod attempt;
mod begin;
mod claim;
mod flight;
mod recover;
mod report;
mod stray;

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use refire_core::definition::{Workflow, WorkflowId};
use refire_core::execution::Execution;
use refire_core::id::ExecutionId;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::time::Timestamp;
use refire_store::{News, Part, PartOutcome, Release, Store, WorkRow};
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::aside::Aside;
use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::commit::{AfterCommit, Commands, Queue, Request};
use crate::limit::{Permit, Slots};
use crate::membership::Membership;
use crate::step::Clients;
use crate::timer::Timers;
use crate::trigger::Webhooks;
use crate::vital::Vital;
use crate::waiter::Waiters;

pub(crate) use claim::{claim_loop, horizon_loop, timer_loop};
use flight::{Flights, Ticket};
pub(crate) use recover::recover;
pub(crate) use stray::stray_loop;

/// Rows given back to the store in one part.
const RELEASE_ROWS_MAX: usize = 500;
/// How long a row that could not be given back is kept before it is tried again.
const KEPT_FOR: Duration = Duration::from_secs(1);

/// What attempts work with.
pub(crate) struct Dispatcher {
    pub(crate) membership: Arc<Membership>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) slots: Arc<Slots>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) queue: Queue,
    pub(crate) commands: Commands,
    pub(crate) timers: Timers,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) clients: Clients,
    pub(crate) tracker: TaskTracker,
    /// Compiled webhooks.
    pub(crate) webhooks: Webhooks,
    /// Rings when a trigger may be due earlier than was known.
    pub(crate) trigger_bell: Notify,
    /// Set when the node stops: nothing new begins.
    pub(crate) stopping: CancellationToken,
    /// Set when the store's state is not known.
    pub(crate) broken: CancellationToken,
    /// Tasks that have rows in their hands.
    vital: Vital,
    flights: Flights,
    /// Rows that this node had forgotten and found again.
    found_again: AtomicU64,
}

/// What a dispatcher is made of.
pub(crate) struct Parts {
    pub(crate) membership: Arc<Membership>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) slots: Arc<Slots>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) queue: Queue,
    pub(crate) aside: Aside,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) clients: Clients,
    pub(crate) broken: CancellationToken,
}

impl Dispatcher {
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        let tracker = TaskTracker::new();
        let commands = Commands {
            queue: parts.queue.clone(),
            store: Arc::clone(&parts.store),
            catalog: Arc::clone(&parts.catalog),
            clock: Arc::clone(&parts.clock),
            aside: parts.aside,
        };
        Arc::new(Self {
            commands,
            membership: parts.membership,
            store: parts.store,
            catalog: parts.catalog,
            slots: parts.slots,
            clock: parts.clock,
            queue: parts.queue,
            timers: Timers::default(),
            waiters: parts.waiters,
            clients: parts.clients,
            vital: Vital::new(tracker.clone(), parts.broken.clone()),
            tracker,
            webhooks: Webhooks::default(),
            trigger_bell: Notify::new(),
            stopping: CancellationToken::new(),
            broken: parts.broken,
            flights: Flights::default(),
            found_again: AtomicU64::new(0),
        })
    }

    /// Begins an entered attempt in a task of its own.
    fn spawn(
        self: &Arc<Self>,
        ticket: Ticket,
        row: WorkRow,
        permit: Permit,
        (state, workflow): (Arc<Execution>, Arc<Workflow>),
    ) {
        let dispatcher = Arc::clone(self);
        let entered = ticket.clone();
        let work = attempt::Attempt {
            ticket: ticket.clone(),
            row: row.clone(),
            permit,
            state,
            workflow,
        };
        let task = self.tracker.spawn(async move {
            let ran = AssertUnwindSafe(attempt::run(&dispatcher, work))
                .catch_unwind()
                .await;
            if ran.is_err() {
                // A defect of ours must not leave the step without an end.
                report::panicked(&dispatcher, &row).await;
            }
            dispatcher.flights.leave(&ticket);
        });
        self.flights.attach(&entered, &task.abort_handle());
    }

    /// Gives rows back to the store, for this or another node to claim; returns when that is
    /// durable, so that whoever looks for due work afterwards finds them. What cannot be given
    /// back is kept, and tried again.
    pub(crate) async fn release(&self, mut rows: Vec<(WorkRow, Option<Timestamp>)>) {
        // What was owned under an id that is lost belongs to nobody, and is found by all.
        rows.retain(|(row, _)| self.membership.owns(row));
        // A row whose attempt is under way is not for others, whoever has an old copy of it. If that
        // attempt is none after all, the copy may be the last that knows of the row.
        for (row, _) in rows.extract_if(.., |(row, _)| self.flights.holds(&row.key())) {
            self.keep(row, self.clock.now().plus(KEPT_FOR));
        }
        for chunk in rows.chunks(RELEASE_ROWS_MAX) {
            let work = chunk.iter().map(|(row, due)| (row.key(), *due)).collect();
            let release = Release {
                node: self.membership.id(),
                work,
            };
            if self.part(Part::Release(release)).await.is_some() {
                self.store.tell(News::Work);
                continue;
            }
            for (row, due) in chunk {
                let again = self.clock.now().plus(KEPT_FOR);
                self.keep(row.clone(), due.map_or(again, |due| due.max(again)));
            }
        }
    }

    /// As [`Dispatcher::release`], in a task of its own; then they are looked for.
    fn give_back(self: &Arc<Self>, rows: Vec<WorkRow>) {
        if rows.is_empty() {
            return;
        }
        let dispatcher = Arc::clone(self);
        self.vital.spawn(async move {
            let now = dispatcher.clock.now();
            let is_due = |row: &&WorkRow| row.due_at.is_none_or(|due| due <= now);
            let due = rows.iter().filter(is_due);
            let workflows: BTreeSet<WorkflowId> = due.map(|row| row.workflow.clone()).collect();
            // What is not due yet, or was put off, is not for others before its time.
            let with_time = |row: WorkRow| {
                let until = row.due_at.filter(|due| *due > now);
                (row, until)
            };
            let rows: Vec<_> = rows.into_iter().map(with_time).collect();
            let to_come: Vec<Timestamp> = rows.iter().filter_map(|(_, until)| *until).collect();
            dispatcher.release(rows).await;
            for at in to_come {
                dispatcher.slots.look_again_at(at);
            }
            for workflow in &workflows {
                dispatcher.slots.mark_backlog(workflow);
            }
        });
    }

    /// Keeps an owned row in memory until then. What may be begun in the store says so.
    pub(crate) fn keep(&self, mut row: WorkRow, until: Timestamp) {
        if !self.membership.owns(&row) {
            return;
        }
        row.due_at = Some(until);
        self.timers.add_exact(row);
    }

    /// Commits a part; none if it was not written.
    pub(crate) async fn part(&self, part: Part) -> Option<PartOutcome> {
        let (reply, answer) = oneshot::channel();
        let request = Request::Part {
            part,
            reply: Some(reply),
        };
        self.queue.result(request).await.ok()?;
        match answer.await {
            Ok(Ok(outcome)) => Some(outcome),
            Ok(Err(failure)) => {
                tracing::warn!(%failure, "a change of work was not committed");
                None
            }
            Err(_) => None,
        }
    }

    /// Aborts what still runs and gives it back: not a loss, since nothing failed.
    pub(crate) async fn abort_and_release_all(&self) {
        let aborted = self.flights.abort_all();
        if !aborted.is_empty() {
            tracing::info!(
                attempts = aborted.len(),
                "aborted attempts; they run again after the start"
            );
        }
        let timers = self.timers.drain();
        let rows = aborted.into_iter().chain(timers).map(|row| (row, None));
        self.release(rows.collect()).await;
    }

    /// The lease is lost: calls are stopped, and what was owned is forgotten. The store has it, and
    /// whoever recovers it.
    pub(crate) fn abandon(&self) {
        #[cfg(feature = "planted")]
        if planted::is(Defect::LostResultTaken) || planted::is(Defect::CallsKept) {
            return;
        }
        let aborted = self.flights.abort_all();
        let timers = self.timers.drain();
        if aborted.len() + timers.len() > 0 {
            tracing::warn!(
                attempts = aborted.len(),
                waits = timers.len(),
                "gave up what was owned under the lost lease"
            );
        }
    }

    /// Whether anything of an execution is here.
    pub(crate) fn has_any(&self, execution: ExecutionId) -> bool {
        self.flights.has_any(execution) || self.timers.has_any(execution)
    }

    /// The execution is paused: what has not been called is forgotten.
    pub(crate) fn hold(self: &Arc<Self>, execution: ExecutionId) {
        let waiting = self.timers.hold(execution);
        let begun = waiting.into_iter().filter(|row| row.begun);
        let begun = begun.chain(self.flights.hold(execution));
        // The store has dropped the others. It drops these now, since the execution is paused, and
        // resuming makes them again.
        self.give_back(begun.collect());
    }

    /// Another node has paused the execution: what has not been called goes back, all of it. Since
    /// then it may have been resumed and claimed anew, and a row that is still this node's must not be
    /// forgotten; where the store has dropped it, giving it back does nothing.
    pub(crate) fn let_go(self: &Arc<Self>, execution: ExecutionId) {
        let waiting = self.timers.hold(execution);
        let flights = self.flights.let_go(execution);
        self.give_back(waiting.into_iter().chain(flights).collect());
    }

    /// Another node has changed the execution, which goes on: what waits here may be of the past, and
    /// what replaced it somebody else's. It goes back; where it is not this node's, that does nothing.
    pub(crate) fn let_timers_go(self: &Arc<Self>, execution: ExecutionId) {
        self.give_back(self.timers.hold(execution));
    }

    /// The execution has ended: its timers are void and its attempts are aborted.
    pub(crate) fn abort(&self, execution: ExecutionId) {
        self.timers.hold(execution);
        self.flights.abort(execution);
    }

    /// Attempts in flight.
    pub(crate) fn running(&self) -> usize {
        self.flights.len()
    }

    /// Rows that this node had forgotten and found again.
    pub(crate) fn found_again(&self) -> u64 {
        self.found_again.load(Ordering::Relaxed)
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
                node: self.0.membership.id(),
                work: vec![(work.key(), None)],
            };
            let request = Request::Part {
                part: Part::Release(release),
                reply: None,
            };
            let _ = self.0.queue.try_result(request);
            return;
        }
        if !self.0.membership.owns(&work) {
            return;
        }
        #[cfg(feature = "planted")]
        if planted::forgets(Defect::AttemptForgotten) {
            return;
        }
        let ticket = self.0.flights.enter(&work);
        if let Some(ticket) = ticket.filter(|ticket| self.0.flights.begins(ticket)) {
            self.0.spawn(ticket, work, permit, (state, workflow));
        }
    }

    fn confirm(&self, work: WorkRow) {
        let dispatcher = Arc::clone(&self.0);
        self.0.vital.spawn(async move {
            begin::begin_all(&dispatcher, vec![work]).await;
        });
    }

    fn wait(&self, work: WorkRow) {
        #[cfg(feature = "planted")]
        if planted::is(Defect::TimerForgotten) {
            return;
        }
        self.0.timers.add(work);
    }

    fn backlog(&self, workflow: &WorkflowId) {
        #[cfg(feature = "planted")]
        if planted::is(Defect::WakeUpLost) {
            return;
        }
        self.0.slots.mark_backlog(workflow);
        self.0.store.tell(News::Work);
    }

    fn withdraw(&self, execution: ExecutionId, step: &str) {
        self.0.timers.withdraw(execution, step);
        self.0.flights.withdraw(execution, step);
    }

    fn hold(&self, execution: ExecutionId) {
        self.0.hold(execution);
        self.0.store.tell(News::Withdrawn(execution));
    }

    fn abort(&self, execution: ExecutionId) {
        self.0.abort(execution);
        self.0.store.tell(News::Withdrawn(execution));
    }

    fn trigger_due(&self) {
        self.0.trigger_bell.notify_one();
        self.0.store.tell(News::Due);
    }

    fn look_again(&self, at: Timestamp) {
        self.0.slots.look_again_at(at);
    }

    fn refused(&self, execution: ExecutionId) {
        self.0.slots.forget_turn(execution);
    }

    fn changed(&self, execution: ExecutionId, state: &Execution) {
        self.0.waiters.changed(execution, state);
    }

    fn must_stop(&self) {
        self.0.broken.cancel();
    }
}
