//! A unit of a batch: all that happens to one execution, or one thing beside executions. It
//! becomes one part of the transaction, and its answers go out together.

use std::collections::VecDeque;
use std::sync::Arc;

use refire_core::dead_letter::{Letter, Reason};
use refire_core::definition::{StepId, Workflow};
use refire_core::execution::state::Origin;
use refire_core::execution::{
    Began, Begun, Cancel, Command, Decision, Effect, Event, EventKind, Execution, Status,
    StepState, StepStatus,
};
use refire_core::id::{DlqId, ExecutionId, NodeId};
use refire_core::limit;
use refire_core::notify::NoticeKind;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::time::Timestamp;
use refire_core::trigger::End;
use refire_store::{
    Admit, Advance, ExecutionRow, NewNotice, Part, PartOutcome, RowUpdate, SeenTask, SettleLetter,
    TaskRow, TriggerEnd, WorkRow,
};

use super::request::{
    AdmitRequest, AdmitTerms, Asker, Cause, CommandError, CommitFailure, Reply, Request, Unsettled,
    send,
};
use super::rows::{Rows, Split};
use crate::context::Context;
use crate::limit::Permit;
use crate::notify::dead_letter;
use crate::task::{Fetched, Taken};

/// An answer to a command, held back until the commit is durable.
pub(super) struct CommandAnswer {
    pub(super) asker: Asker,
    pub(super) refusal: Option<CommandError>,
    /// The command, in case another node was faster and it must be decided again.
    pub(super) command: Command,
}

/// What to do once the commit is durable.
pub(crate) enum FollowUp {
    /// Run this attempt; the slot is held.
    Run(WorkRow, Permit),
    /// Wait for this timer.
    Wait(WorkRow),
    /// Unowned due work was written.
    Backlog,
    /// Unowned work that comes due then was written.
    LookAgain(Timestamp),
    /// Forget timers of this step.
    Withdraw(String),
    /// The same, wherever they are: its work is due now.
    Hasten(String),
    /// Forget the timers of the execution.
    Hold,
    /// Forget the timers and abort the attempts of the execution.
    Abort,
    /// The trigger that it was started by is told of its end.
    TriggerDue,
    /// A dead letter was written, for this reason.
    Letter(DlqId, Reason),
    /// A worker that waited has this task.
    Fetched(Taken, Box<Fetched>),
    /// Workers may fetch a task of this type from the store from then on.
    TaskAvailable(String, Timestamp),
    /// A clock of a task runs out then.
    TaskClock(Timestamp),
    /// An attempt has waited long enough for its callback then.
    CallbackClock(Timestamp),
}

impl FollowUp {
    /// Whether it is this node's own work.
    pub(super) fn is_here(&self) -> bool {
        matches!(self, Self::Run(..) | Self::Wait(_))
    }
}

pub(super) enum Kind {
    Execution {
        before: u64,
    },
    Admission(AdmitTerms),
    Plain {
        reply: Reply<Result<PartOutcome, CommitFailure>>,
    },
    /// The execution could not be had: every command of it is refused with this.
    Refused(CommandError),
}

/// See the module.
pub(super) struct Unit {
    pub(super) id: Option<ExecutionId>,
    pub(super) kind: Kind,
    /// To the commands of an execution.
    pub(super) answers: Vec<CommandAnswer>,
    pub(super) state: Option<Arc<Execution>>,
    pub(super) workflow: Option<Arc<Workflow>>,
    events: Vec<Event>,
    effects: Vec<Effect>,
    pub(super) follow_ups: Vec<FollowUp>,
    /// Retries that it plans.
    pub(super) retries: u32,
    part: Option<Part>,
    has_part: bool,
    /// The work as the store has it, if the state was read from there for this batch.
    read: Option<Vec<WorkRow>>,
    /// What must have begun when this is written.
    begun: Option<Vec<(String, u32)>>,
    /// The task that must be as it was seen when this is written.
    seen: Option<SeenTask>,
}

impl Unit {
    fn new(id: Option<ExecutionId>, kind: Kind) -> Self {
        Self {
            id,
            kind,
            answers: Vec::new(),
            state: None,
            workflow: None,
            events: Vec::new(),
            effects: Vec::new(),
            follow_ups: Vec::new(),
            retries: 0,
            part: None,
            has_part: false,
            read: None,
            begun: None,
            seen: None,
        }
    }

    /// Whether something of it is compared with a task.
    pub(super) fn has_seen(&self) -> bool {
        self.seen.is_some()
    }

    /// Whether its state is the store's own and nothing was decided on it yet: then its work is, too.
    pub(super) fn is_untouched(&self) -> bool {
        self.read.is_some() && !self.is_answered()
    }

    /// Whether workers may have tasks of it.
    pub(super) fn waits_for_workers(&self) -> bool {
        let steps = self.state.iter().flat_map(|state| state.steps.values());
        steps
            .into_iter()
            .any(|step| step.is_live() && step.is_task())
    }

    /// Tells a cancel what it aborts: the attempts that have begun by now. If others have when it is
    /// written, it is decided again.
    pub(super) fn tell_what_runs(&mut self, cancel: &mut Cancel, held: &[TaskRow], now: Timestamp) {
        let mut begun: Vec<&WorkRow> = self.read.iter().flatten().filter(|row| row.begun).collect();
        begun.sort_unstable_by(|a, b| a.step.cmp(&b.step));
        let key = |row: &&WorkRow| (row.step.clone(), row.attempt);
        let tasks = held.iter().map(|task| (task.step.clone(), task.attempt));
        let mut all: Vec<_> = begun.iter().map(key).chain(tasks).collect();
        all.sort_unstable();
        self.begun = Some(all);
        let state = self.state.as_deref();
        let attempt = |row: &WorkRow| {
            let step = StepId::new(row.step.as_str()).ok()?;
            // Rows of an older build do not say when they began: not before they were due.
            let scheduled = || {
                let step = state?.step(&step)?;
                Some(step.due_at.unwrap_or(step.scheduled_at))
            };
            // What was begun ahead of its time was not called.
            if row.due_at.is_some_and(|due| due > now) {
                return None;
            }
            // Another node's clock may be ahead of this one's.
            let at = row.running_since().or_else(scheduled)?.min(now);
            let (attempt, began) = (row.attempt, Began::Called(at));
            Some(Begun {
                step,
                attempt,
                began,
            })
        };
        let fetched = |task: &TaskRow| {
            Some(Begun {
                step: StepId::new(task.step.as_str()).ok()?,
                attempt: task.attempt,
                began: Began::Fetched {
                    worker: task.worker.clone(),
                    at: task.locked_at?.min(now),
                },
            })
        };
        let called = begun.into_iter().filter_map(attempt);
        cancel.begun = called.chain(held.iter().filter_map(fetched)).collect();
        cancel.begun.sort_by_key(|attempt| attempt.began.at());
        #[cfg(feature = "planted")]
        if planted::is(Defect::AbortUnrecorded) {
            cancel.begun.clear();
        }
    }

    /// The execution, if its state is only what was last known of it.
    pub(super) fn unconfirmed(&self) -> Option<ExecutionId> {
        self.id.filter(|_| self.read.is_none())
    }

    /// Whether it is an execution of that version.
    pub(super) fn has_version(&self, version: u64) -> bool {
        matches!(self.kind, Kind::Execution { .. })
            && self
                .state
                .as_ref()
                .is_some_and(|state| state.version == version)
    }

    /// Deciding this takes long, so whoever asks does it. What else is asked of the execution goes on.
    /// A state that this batch has changed is not given away: if the batch fails, another state will
    /// have its version. It is asked for again when that is known.
    pub(super) fn too_heavy(&self, command: Command, asker: Asker) -> Option<Request> {
        match (&self.state, self.id) {
            (Some(_), Some(id)) if self.is_answered() => return Some(asker.ask_again(id, command)),
            (Some(state), _) => {
                let too_heavy = Unsettled::TooHeavy(Arc::clone(state), Box::new(command));
                asker.answer(Err(too_heavy));
            }
            (None, _) => asker.answer(Err(CommandError::NotFound.into())),
        }
        None
    }

    /// Whether anything was decided on it.
    pub(super) fn is_answered(&self) -> bool {
        !self.answers.is_empty()
    }

    /// `read` is its work, if its state is the store's own, of this moment.
    pub(super) fn execution(
        id: ExecutionId,
        state: Arc<Execution>,
        workflow: Arc<Workflow>,
        read: Option<Vec<WorkRow>>,
    ) -> Self {
        let before = state.version;
        Self {
            state: Some(state),
            workflow: Some(workflow),
            read,
            ..Self::new(Some(id), Kind::Execution { before })
        }
    }

    pub(super) fn refused(id: ExecutionId, error: impl Into<CommandError>) -> Self {
        Self::new(Some(id), Kind::Refused(error.into()))
    }

    pub(super) fn admission(admit: AdmitRequest) -> Self {
        let Decision {
            events,
            effects,
            state,
        } = *admit.decision;
        Self {
            state: Some(Arc::new(state)),
            workflow: Some(admit.workflow),
            events,
            effects,
            ..Self::new(Some(admit.id), Kind::Admission(admit.terms))
        }
    }

    pub(super) fn plain(part: Part, reply: Reply<Result<PartOutcome, CommitFailure>>) -> Self {
        Self {
            part: Some(part),
            has_part: true,
            ..Self::new(None, Kind::Plain { reply })
        }
    }

    /// Where it stands in its batch. What takes work comes after what makes it, since that must not be dropped
    /// or made anew by the same batch. The last of all are words of workers and workers that wait: no commit
    /// waits for another when it holds their rows. Of those who wait, who asked first is served first.
    pub(super) fn order(&self) -> (u8, u64) {
        match &self.part {
            Some(Part::Claim(_) | Part::ClaimTimers(_)) => (1, 0),
            Some(Part::TouchTask(_)) => (2, 0),
            Some(Part::LockTasks(lock)) => (3, lock.place),
            _ => (0, 0),
        }
    }

    /// The execution to decide on, if there is one.
    pub(super) fn open(&mut self) -> Option<(ExecutionId, &mut Arc<Execution>, Arc<Workflow>)> {
        match self.kind {
            Kind::Execution { .. } => Some((
                self.id?,
                self.state.as_mut()?,
                Arc::clone(self.workflow.as_ref()?),
            )),
            _ => None,
        }
    }

    /// What was decided about a command.
    pub(super) fn add(
        &mut self,
        decided: Result<Decision, CommandError>,
        command: Command,
        asker: Asker,
    ) {
        let decided = decided.map(|decision| {
            self.seen = self.seen.or_else(|| asker.seen());
            self.state = Some(Arc::new(decision.state));
            self.events.extend(decision.events);
            self.effects.extend(decision.effects);
        });
        self.answers.push(CommandAnswer {
            asker,
            refusal: decided.err(),
            command,
        });
    }

    /// Why nothing can be decided on it.
    pub(super) fn reason(&self) -> CommandError {
        match &self.kind {
            Kind::Refused(error) => error.clone(),
            _ => CommandError::NotFound,
        }
    }

    /// Turns what was decided into a part of the transaction, taking slots for what may run now.
    pub(super) fn build(&mut self, node: NodeId, context: &Context, now: Timestamp) {
        let (Some(id), Some(state), Some(workflow)) =
            (self.id, self.state.as_deref(), self.workflow.clone())
        else {
            return;
        };
        if self.events.is_empty() {
            return;
        }
        let mut rows = Rows {
            id,
            node,
            context,
            now,
            state,
            workflow: &workflow,
        };
        let mut effects = Split::default();
        let mut decided = VecDeque::from(std::mem::take(&mut self.effects));
        while let Some(effect) = decided.pop_front() {
            let later = decided.make_contiguous();
            rows.carry_out((effect, later), &mut effects, &mut self.follow_ups);
        }
        warn_of_length(id, state, self.events.len() as u64);
        let is_retry = |event: &&Event| matches!(event.kind, EventKind::RetryScheduled(_));
        let retries = self.events.iter().filter(is_retry).count();
        self.retries = u32::try_from(retries).unwrap_or(u32::MAX);
        let events: Vec<_> = self.events.iter().map(Event::encode).collect();
        let update = row_update(state, self.events.len() as u64);
        let settle = effects.settle.map(|(id_of_letter, resolved)| SettleLetter {
            id: id_of_letter,
            resolved,
            execution: id,
        });
        let end = end_of(id, state, now);
        if end.is_some() {
            self.follow_ups.push(FollowUp::TriggerDue);
        }
        self.part = match &mut self.kind {
            Kind::Execution { before } => Some(Part::Advance(Box::new(Advance {
                id,
                expected_version: *before,
                begun: self.begun.take(),
                seen: self.seen.take(),
                update,
                events,
                work: effects.work,
                tasks: effects.tasks,
                callbacks: effects.callbacks,
                notices: notices_of(context, effects.letter.as_deref()),
                new_letter: effects.letter,
                settle,
                end,
            }))),
            Kind::Admission(terms) => {
                let Some(origin) = &state.origin else { return };
                let admit = Box::new(Admit {
                    row: first_row(id, origin, update),
                    events,
                    work: effects.work,
                    tasks: effects.tasks,
                    claim: terms.claim.take(),
                    letter: terms.letter.take(),
                    only_newest: terms.only_newest,
                    trigger: None,
                    request: None,
                    notices: notices_of(context, effects.letter.as_deref()),
                    new_letter: effects.letter,
                    settle,
                    end,
                    bulk: terms.bulk.take(),
                });
                Some(caused(admit, terms.cause.take()))
            }
            Kind::Plain { .. } | Kind::Refused(_) => None,
        };
        self.has_part = self.part.is_some();
    }

    pub(super) fn has_part(&self) -> bool {
        self.has_part
    }

    pub(super) fn take_part(&mut self) -> Option<Part> {
        self.part.take()
    }

    /// After a failed transaction: each unit has its part again, in order.
    pub(super) fn restore_parts(units: &mut [Self], parts: Vec<Part>) {
        let mut parts = parts.into_iter();
        for unit in units.iter_mut().filter(|unit| unit.has_part) {
            unit.part = parts.next();
        }
    }

    /// Nothing of it was committed, or nobody knows.
    pub(super) fn fail(self, failure: &CommitFailure) {
        for follow_up in self.follow_ups {
            if let FollowUp::Fetched(taken, task) = follow_up
                && *failure == CommitFailure::Unknown
            {
                taken.doubt(*task);
            }
        }
        for answer in self.answers {
            let failed = CommandError::Failed(failure.clone());
            answer.asker.answer(Err(failed.into()));
        }
        match self.kind {
            Kind::Admission(terms) => send(terms.reply, Err(failure.clone())),
            Kind::Plain { reply } => send(reply, Err(failure.clone())),
            Kind::Execution { .. } | Kind::Refused(_) => {}
        }
    }
}

/// The part of an admission with what caused it.
fn caused(mut admit: Box<Admit>, cause: Option<Cause>) -> Part {
    match cause {
        None => Part::Admit(admit),
        Some(Cause::Request { trigger, row }) => {
            admit.trigger = Some(trigger);
            admit.request = row;
            Part::Admit(admit)
        }
        Some(Cause::Fire(mut fire)) => {
            fire.admission = Some(admit);
            Part::Fire(fire)
        }
        Some(Cause::Told(mut moved)) => {
            moved.admission = Some(admit);
            Part::MoveGroups(moved)
        }
        Some(Cause::Scheduled(mut put)) => {
            put.admission = Some(admit);
            Part::PutScheduled(put)
        }
    }
}

/// What people are to be told of a dead letter.
fn notices_of(context: &Context, letter: Option<&Letter>) -> Vec<NewNotice> {
    let wanted = |letter: &&Letter| {
        let kind = NoticeKind::DeadLetterCreated;
        context.notices.wants(kind, Some(&letter.workflow))
    };
    letter.filter(wanted).map(dead_letter).into_iter().collect()
}

/// What the end of an execution means for the trigger that started it, if that is told.
fn end_of(id: ExecutionId, state: &Execution, now: Timestamp) -> Option<TriggerEnd> {
    let trigger = &state.origin.as_ref()?.trigger;
    if !trigger.awaits_end || !state.status.is_terminal() {
        return None;
    }
    Some(TriggerEnd {
        trigger: trigger.id.as_ref()?.parse().ok()?,
        end: End {
            execution: id,
            success: state.status == Status::Completed,
            slot: trigger.scheduled_at,
            at: now,
        },
    })
}

/// Says once that a history is getting long, before it reaches its limit.
fn warn_of_length(id: ExecutionId, state: &Execution, new_events: u64) {
    let before = state.version.saturating_sub(new_events);
    if before < limit::HISTORY_EVENTS_WARN && state.version >= limit::HISTORY_EVENTS_WARN {
        tracing::warn!(
            execution = %id,
            events = state.version,
            limit = limit::HISTORY_EVENTS_MAX,
            "an execution's history is getting long"
        );
    }
}

/// The row of an execution that is new.
fn first_row(id: ExecutionId, origin: &Origin, update: RowUpdate) -> ExecutionRow {
    ExecutionRow {
        id,
        workflow: origin.workflow.clone(),
        workflow_version: origin.workflow_version,
        trigger: origin.trigger.kind.name(),
        trigger_id: origin.trigger.object(),
        priority: origin.priority,
        created_at: origin.created_at,
        parent: origin.lineage.parent,
        root: origin.lineage.root,
        update,
    }
}

/// The columns of the execution's row that its state gives.
fn row_update(state: &Execution, new_events: u64) -> RowUpdate {
    let failed_last = state.failed_last.as_ref().and_then(|step| state.step(step));
    RowUpdate {
        version: state.version,
        status: state.status,
        compensating: state.compensating.is_some() && !state.status.is_terminal(),
        updated_at: state.updated_at,
        retry_count: failed_last.map_or(0, StepState::retries),
        next_retry_at: failed_last
            .filter(|step| step.status == StepStatus::Retrying)
            .and_then(|step| step.due_at),
        snapshot: snapshot(state, new_events),
    }
}

/// The state as text, unless it is as quickly had from the few events that made it, or is large and
/// was written not long ago.
fn snapshot(state: &Execution, new_events: u64) -> Option<Vec<u8>> {
    let ended = matches!(
        state.status,
        Status::Completed | Status::Failed | Status::Dlq | Status::Cancelled
    );
    let is_short = state.version <= limit::SNAPSHOT_EVENTS_MIN;
    if is_short && state.history_bytes <= limit::SNAPSHOT_VALUES_MAX {
        return None;
    }
    #[cfg(feature = "planted")]
    let state = &*super::planted::snapshot_of(state);
    // Plain structs with string keys: this cannot fail.
    let text = serde_json::to_vec(state).ok()?;
    let due = state.version / limit::SNAPSHOT_EVENTS_APART
        != state.version.saturating_sub(new_events) / limit::SNAPSHOT_EVENTS_APART;
    (text.len() <= limit::SNAPSHOT_BYTES_EVERY_COMMIT || due || ended).then_some(text)
}
