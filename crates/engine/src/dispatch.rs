//! Due work becomes attempts: load → prepare → call → settle.
//!
//! The dispatcher owns what is in flight on this node. It decides nothing about executions: a
//! result goes to the committer as a command, and only what core says about it counts.

mod attempt;
mod begin;
mod claim;
mod flight;
mod letter_log;
mod park;
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
use refire_core::minute::Minute;
use refire_core::notify::NoticeKind;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::time::Timestamp;
use refire_store::{News, Part, Release, WorkRow};
use tokio_util::task::TaskTracker;

use crate::commit::{AfterCommit, CommitFailure, FollowUp, Request, Written};
use crate::context::Context;
use crate::limit::Permit;
use crate::lock::Mutex;
use crate::news::news_loop;
use crate::timer::Timers;
use crate::vital::Vital;

use flight::{Flights, Ticket};
use letter_log::LetterLog;

/// Rows released in one part.
const RELEASE_ROWS_MAX: usize = 500;
/// How long a row that could not be released is kept before it is tried again.
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
        vital.spawn_until(&self.stopping, claim::timer_loop(same()));
        vital.spawn(claim::horizon_loop(same()));
        vital.spawn(claim::claim_loop(same()));
        vital.spawn(recover::recover(same()));
        vital.spawn(stray::stray_loop(same()));
        if self.store.is_shared() {
            vital.spawn_until(&self.stopping, news_loop(same()));
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

    /// Releases rows, for this or another node to claim; returns when that is durable, so that
    /// whoever looks for due work afterwards finds them. What cannot be released is kept, and tried
    /// again.
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
    fn release_in_background(self: &Arc<Self>, rows: Vec<WorkRow>) {
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

    /// Aborts what still runs and releases it: not a loss, since nothing failed.
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
        // Nothing can be locked for those who wait here.
        let waiters = &self.tasks.matcher;
        waiters.refuse_all(&CommitFailure::Unavailable);
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
        let mut rows = self.uncalled(execution);
        // The store has dropped the others. It drops these now, since the execution is paused, and
        // resuming makes them again.
        rows.retain(|row| row.begun);
        self.release_in_background(rows);
    }

    /// Another node has paused the execution: what has not been called is released, all of it. Since
    /// then it may have been resumed and claimed anew, and a row that is still this node's must not be
    /// forgotten; where the store has dropped it, that does nothing.
    pub(crate) fn release_uncalled(self: &Arc<Self>, execution: ExecutionId) {
        self.release_in_background(self.uncalled(execution));
    }

    /// Another node has changed the execution, which goes on: what waits here may be of the past, and
    /// what replaced it somebody else's. It is released; where it is not this node's, that does nothing.
    pub(crate) fn release_timers(self: &Arc<Self>, execution: ExecutionId) {
        self.release_in_background(self.timers.hold(execution));
    }

    /// What of an execution waits here or has not been called, and is dropped.
    fn uncalled(&self, execution: ExecutionId) -> Vec<WorkRow> {
        let mut rows = self.timers.hold(execution);
        rows.extend(self.flights.drop_uncalled(execution));
        rows
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
pub(crate) struct Follow {
    dispatcher: Arc<Dispatcher>,
    letters: Mutex<LetterLog>,
}

impl Follow {
    pub(crate) fn new(dispatcher: &Arc<Dispatcher>) -> Self {
        Self {
            dispatcher: Arc::clone(dispatcher),
            letters: Mutex::default(),
        }
    }

    /// Runs an attempt; its slot is held.
    fn run(&self, work: WorkRow, permit: Permit, written: &Written) {
        let dispatcher = &self.dispatcher;
        if dispatcher.stopping.is_cancelled() {
            // Nothing new begins on a node that stops; if the row cannot be released now, the next
            // start finds it.
            let release = Release {
                node: dispatcher.membership.id(),
                work: vec![(work.key(), None)],
            };
            let request = Request::Part {
                part: Part::Release(release),
                reply: None,
            };
            let _ = dispatcher.queue.try_result(request);
            return;
        }
        if !dispatcher.membership.owns(&work) {
            return;
        }
        #[cfg(feature = "planted")]
        if planted::forgets(Defect::AttemptForgotten) {
            return;
        }
        let ticket = dispatcher.flights.enter(&work);
        if let Some(ticket) = ticket.filter(|ticket| dispatcher.flights.begins(ticket)) {
            let with = (Arc::clone(&written.state), Arc::clone(&written.workflow));
            dispatcher.spawn(ticket, work, permit, with);
        }
    }

    fn follow(&self, written: &Written, follow_up: FollowUp) {
        #[cfg(feature = "planted")]
        if planted::is(Defect::TimerForgotten) && matches!(follow_up, FollowUp::Wait(_))
            || planted::is(Defect::WakeUpLost) && matches!(follow_up, FollowUp::Backlog)
            || planted::is(Defect::TaskWakeLost) && matches!(follow_up, FollowUp::TaskAvailable(..))
        {
            return;
        }
        let (dispatcher, id) = (&self.dispatcher, written.id);
        match follow_up {
            FollowUp::Run(work, _) if written.is_old => {
                // The world may have moved on.
                let again = Arc::clone(dispatcher);
                let begin = async move { begin::begin_all(&again, vec![work]).await };
                dispatcher.vital.spawn(begin);
            }
            FollowUp::Run(work, permit) => self.run(work, permit, written),
            FollowUp::Wait(work) => dispatcher.timers.add(work),
            FollowUp::Backlog => {
                dispatcher.slots.mark_backlog(&written.workflow.id);
                dispatcher.store.tell(News::Work);
            }
            FollowUp::LookAgain(at) => dispatcher.slots.look_again_at(at),
            FollowUp::Withdraw(step) => {
                dispatcher.timers.withdraw(id, &step);
                dispatcher.flights.withdraw(id, &step);
            }
            FollowUp::Hasten(step) => {
                dispatcher.timers.withdraw(id, &step);
                dispatcher.store.tell(News::Withdrawn(id));
            }
            FollowUp::Hold => {
                dispatcher.hold(id);
                dispatcher.store.tell(News::Withdrawn(id));
            }
            FollowUp::Abort => {
                dispatcher.abort(id);
                dispatcher.store.tell(News::Withdrawn(id));
            }
            FollowUp::TriggerDue => dispatcher.announce(News::Due),
            FollowUp::Fetched(taken, fetched) => taken.give(*fetched),
            FollowUp::TaskAvailable(task_type, at) => {
                let now = dispatcher.now();
                dispatcher.tasks.available(&task_type, at, now);
                if at <= now {
                    dispatcher.store.tell(News::Task(task_type));
                }
            }
            FollowUp::TaskClock(at) => dispatcher.tasks.clocks.clock_at(at),
            FollowUp::CallbackClock(at) => dispatcher.clients.issuer.windows.clock_at(at),
            FollowUp::Letter(letter, reason) => {
                let mut letters = self.letters.lock();
                letters.note(&written.workflow.id, id, letter, reason);
                drop(letters);
                let workflow = Some(&written.workflow.id);
                if dispatcher
                    .notices
                    .wants(NoticeKind::DeadLetterCreated, workflow)
                {
                    dispatcher.notice_raised();
                }
            }
        }
    }
}

impl AfterCommit for Follow {
    fn written(&self, written: &Written, follow_ups: Vec<FollowUp>) {
        let minute = Minute::of(&written.state, written.is_new, written.retries);
        let tally = &self.dispatcher.tally;
        tally.note(&written.workflow.id, written.at, &minute);
        for follow_up in follow_ups {
            self.follow(written, follow_up);
        }
        let waiters = &self.dispatcher.waiters;
        waiters.changed(written.id, &written.state);
    }

    fn refused(&self, execution: ExecutionId) {
        self.dispatcher.slots.forget_turn(execution);
    }

    fn must_stop(&self) {
        self.dispatcher.broken.cancel();
    }
}
