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
use std::ops::Deref;
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
use refire_store::{News, Part, Release, WorkRow};
use tokio_util::task::TaskTracker;

use crate::commit::{AfterCommit, Request};
use crate::context::Context;
use crate::limit::Permit;
use crate::news::news_loop;
use crate::timer::Timers;
use crate::vital::Vital;

use flight::{Flights, Ticket};

/// Rows given back to the store in one part.
const RELEASE_ROWS_MAX: usize = 500;
/// How long a row that could not be given back is kept before it is tried again.
const KEPT_FOR: Duration = Duration::from_secs(1);

/// What attempts work with: all that is shared, and what is in flight.
pub(crate) struct Dispatcher {
    context: Arc<Context>,
    pub(crate) timers: Timers,
    pub(crate) tracker: TaskTracker,
    /// Tasks that have rows in their hands.
    vital: Vital,
    flights: Flights,
    /// Rows that this node had forgotten and found again.
    found_again: AtomicU64,
}

impl Deref for Dispatcher {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

impl Dispatcher {
    pub(crate) fn new(context: &Arc<Context>) -> Arc<Self> {
        let tracker = TaskTracker::new();
        Arc::new(Self {
            context: Arc::clone(context),
            timers: Timers::default(),
            vital: Vital::new(tracker.clone(), context.broken.clone()),
            tracker,
            flights: Flights::default(),
            found_again: AtomicU64::new(0),
        })
    }

    /// Begins the loops.
    pub(crate) fn run(self: &Arc<Self>, vital: &Vital) {
        let same = || Arc::clone(self);
        vital.spawn(claim::timer_loop(same()));
        vital.spawn(claim::horizon_loop(same()));
        vital.spawn(claim::claim_loop(same()));
        vital.spawn(recover::recover(same()));
        vital.spawn(stray::stray_loop(same()));
        if self.store.is_shared() {
            vital.spawn(news_loop(same()));
        }
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
            if self.write(Part::Release(release)).await.is_some() {
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
        self.0.announce(News::Due);
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
