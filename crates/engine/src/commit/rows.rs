//! What a decision's effects mean as rows: work that is placed with this node or left for others, and
//! what is to do once they are durable.

use std::time::Duration;

use refire_core::breaker::put_off_by;
use refire_core::dead_letter::Letter;
use refire_core::definition::Workflow;
use refire_core::execution::{Effect, Execution, Work};
use refire_core::id::{DlqId, ExecutionId, NodeId};
use refire_core::limit;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::task::TaskStatus;
use refire_core::time::Timestamp;
use refire_store::{CallbackChange, TaskChange, TaskRow, WorkChange, WorkRow};

use super::unit::FollowUp;
use crate::context::Context;
use crate::limit::{Ask, Blocked, Permit, is_alone};
use crate::step;
use crate::task::Fetched;

/// A timer due within this is owned by the node that made it.
pub(crate) const TIMER_OWNED_WITHIN: Duration = Duration::from_secs(30);

/// A decision's effects, by where they go.
#[derive(Default)]
pub(super) struct Split {
    pub(super) work: Vec<WorkChange>,
    pub(super) tasks: Vec<TaskChange>,
    pub(super) callbacks: Vec<CallbackChange>,
    pub(super) letter: Option<Box<Letter>>,
    pub(super) settle: Option<(DlqId, bool)>,
}

/// Makes work rows of effects.
pub(super) struct Rows<'a> {
    pub(super) id: ExecutionId,
    pub(super) node: NodeId,
    pub(super) context: &'a Context,
    pub(super) now: Timestamp,
    pub(super) state: &'a Execution,
    pub(super) workflow: &'a Workflow,
}

/// Whether nobody shall begin the step's task after this.
fn withdraws(effect: &Effect, task: &str) -> bool {
    match effect {
        Effect::Hold | Effect::Abort => true,
        Effect::Retire { step } | Effect::Close { step, .. } => step.as_str() == task,
        _ => false,
    }
}

impl Rows<'_> {
    pub(super) fn carry_out(
        &mut self,
        (effect, later): (Effect, &[Effect]),
        out: &mut Split,
        follow_ups: &mut Vec<FollowUp>,
    ) {
        if let Some(mut change) = TaskChange::of(&effect, self.workflow, self.state, self.now) {
            if let TaskChange::Put { row, .. } = &mut change {
                let is_wanted = !later.iter().any(|later| withdraws(later, &row.step));
                self.offer(row, is_wanted, follow_ups);
            }
            out.tasks.push(change);
        }
        let change = CallbackChange::of(&effect, self.workflow, self.state, self.now);
        out.callbacks.extend(change);
        match effect {
            // See above.
            Effect::Offer(_) | Effect::Close { .. } => {}
            Effect::Callback { put, .. } => {
                follow_ups.extend(put.is_open.then_some(FollowUp::CallbackClock(put.until)));
            }
            Effect::OfferNow(offer) => {
                let task = self.workflow.step(offer.step.as_ref());
                let task = task.and_then(|(_, step)| step.kind.external_task());
                let at = offer.available_at;
                follow_ups
                    .extend(task.map(|task| FollowUp::TaskAvailable(task.task_type.clone(), at)));
                follow_ups.push(FollowUp::TaskClock(offer.timeout_at));
            }
            Effect::OfferAgain { step, .. } | Effect::Retire { step } => {
                let task = self.workflow.step(step.as_ref());
                let task = task.and_then(|(_, step)| step.kind.external_task());
                follow_ups.push(FollowUp::TaskClock(self.now));
                // A retry that waits for its time when the execution goes on is nobody's before that.
                let due_at = self.state.step(&step).and_then(|step| step.due_at);
                let at = due_at.map_or(self.now, |due_at| due_at.max(self.now));
                follow_ups
                    .extend(task.map(|task| FollowUp::TaskAvailable(task.task_type.clone(), at)));
            }
            Effect::Schedule(work) => {
                let row = self.place(&work, follow_ups);
                #[cfg(feature = "planted")]
                if planted::is(Defect::TimerRowLost) && row.due_at.is_some() {
                    return;
                }
                out.work.push(WorkChange::Put(row));
            }
            Effect::Hasten(work) => {
                // Whoever holds it as a timer, here or elsewhere, forgets that; a claim finds it.
                follow_ups.push(FollowUp::Hasten(work.step.to_string()));
                follow_ups.push(FollowUp::Backlog);
                let mut row = self.row(&work);
                row.due_at = Some(self.now);
                out.work.push(WorkChange::Restore(row));
            }
            Effect::Restore(work) => {
                // The attempt may be running still, here or on a node that died: so the row is
                // left for a claim, which cannot take what is owned.
                let mut row = self.row(&work);
                match row.due_at {
                    Some(due) if due > self.now => follow_ups.push(FollowUp::LookAgain(due)),
                    _ => {
                        row.due_at = Some(self.now);
                        follow_ups.push(FollowUp::Backlog);
                    }
                }
                out.work.push(WorkChange::Restore(row));
            }
            Effect::Withdraw { step } => {
                let step = step.to_string();
                follow_ups.push(FollowUp::Withdraw(step.clone()));
                out.work.push(WorkChange::Remove { step });
            }
            Effect::Hold => {
                follow_ups.push(FollowUp::Hold);
                out.work.push(WorkChange::RemoveUnbegun);
            }
            Effect::Abort => {
                follow_ups.push(FollowUp::Abort);
                out.work.push(WorkChange::RemoveAll);
            }
            Effect::DeadLetter(letter) => {
                follow_ups.push(FollowUp::Letter(letter.id, letter.reason));
                out.letter = Some(letter);
            }
            Effect::SettleLetter { letter, resolved } => out.settle = Some((letter, resolved)),
        }
    }

    /// Gives a new task to whoever waits longest for one of its type, if nobody is before it; else it
    /// waits in the store.
    fn offer(&self, row: &mut TaskRow, is_wanted: bool, follow_ups: &mut Vec<FollowUp>) {
        if let Some(turn) = self.turn(row) {
            row.put_off(turn);
        }
        let input = self.state.payloads.get(row.input_sequence).cloned();
        let input = input.filter(|_| is_wanted);
        let is_due = row.status == TaskStatus::Pending && row.available_at <= self.now;
        #[cfg(feature = "planted")]
        let is_due =
            is_due || planted::is(Defect::DelayIgnored) && row.status == TaskStatus::Pending;
        let taken = input
            .filter(|_| is_due)
            .and_then(|input| Some((input, self.context.tasks.matcher.take(&row.task_type)?)));
        if let Some((input, taken)) = taken
            && let Some(holder) = taken.holder()
        {
            row.lock(holder, self.now);
            let row = row.clone();
            follow_ups.push(FollowUp::Fetched(taken, Box::new(Fetched { row, input })));
        } else if row.status == TaskStatus::Pending {
            let (task_type, at) = (row.task_type.clone(), row.available_at);
            follow_ups.push(FollowUp::TaskAvailable(task_type, at));
        }
        follow_ups.extend(row.wake_at.map(FollowUp::TaskClock));
    }

    /// When a task may be fetched by the workflow's rate, if its execution begins with it.
    fn turn(&self, row: &TaskRow) -> Option<Timestamp> {
        let origin = self.state.origin.as_ref()?;
        let is_first = row.attempt == 1 && self.state.started_at.is_none();
        let slots = is_first.then_some(&self.context.slots)?;
        slots.turn(self.workflow, origin, self.now)
    }

    fn row(&self, work: &Work) -> WorkRow {
        let origin = self.state.origin.as_ref();
        WorkRow {
            execution: self.id,
            step: work.step.to_string(),
            attempt: work.attempt,
            is_retry: work.is_retry,
            workflow: self.workflow.id.clone(),
            priority: origin.map_or(limit::PRIORITY_DEFAULT, |origin| origin.priority),
            due_at: work.due_at,
            limit_key: origin.and_then(|origin| origin.limit_key.clone()),
            owner: None,
            begun: false,
            begun_at: None,
        }
    }

    /// The row of due work: owned and begun if a slot is free, owned if it is a timer that is
    /// due soon, else left for whoever claims it.
    fn place(&self, work: &Work, follow_ups: &mut Vec<FollowUp>) -> WorkRow {
        let mut row = self.row(work);
        if row.due_at.is_none_or(|due| due <= self.now) {
            match self.reserve(work) {
                Ok(permit) => {
                    row.owner = Some(self.node);
                    (row.begun, row.begun_at) = (true, Some(self.now));
                    #[cfg(feature = "planted")]
                    if planted::is(Defect::AttemptCountedLate) {
                        (row.begun, row.begun_at) = (false, None);
                    }
                    follow_ups.push(FollowUp::Run(row.clone(), permit));
                    return row;
                }
                Err(Some(Blocked::Rate(turn))) => row.due_at = Some(turn),
                Err(Some(Blocked::Breaker(until))) if !self.is_parked_unclaimed(work) => {
                    let wait = until.since(self.now);
                    row.due_at = Some(until.plus(put_off_by(self.id, wait)));
                }
                Err(_) => {
                    // What waits goes by its time, so it has one.
                    row.due_at = Some(row.due_at.unwrap_or(self.now));
                    follow_ups.push(FollowUp::Backlog);
                    return row;
                }
            }
        }
        if row
            .due_at
            .is_some_and(|due| due <= self.now.plus(TIMER_OWNED_WITHIN))
        {
            row.owner = Some(self.node);
            follow_ups.push(FollowUp::Wait(row.clone()));
        }
        row
    }

    /// Whether work that an open breaker holds back need not be put off: nobody claims it meanwhile.
    fn is_parked_unclaimed(&self, work: &Work) -> bool {
        let step = self.workflow.step(work.step.as_ref());
        let host = step.and_then(|(_, step)| step::of(&step.kind)?.host());
        host.is_some_and(|host| is_alone(self.workflow, host))
    }

    fn reserve(&self, work: &Work) -> Result<Permit, Option<Blocked>> {
        let origin = self.state.origin.as_ref().ok_or(None)?;
        let (step, _) = self.workflow.step(work.step.as_ref()).ok_or(None)?;
        if self.context.slots.everywhere(self.workflow).is_some() {
            // Only the store knows what the other nodes run.
            return Err(None);
        }
        if self.context.slots.backlog.lock().has(&self.workflow.id) {
            // Older work waits in the store: whoever comes later queues behind it.
            return Err(None);
        }
        let ask = Ask {
            workflow: self.workflow,
            step,
            execution: self.id,
            origin,
            is_first: self.state.started_at.is_none(),
            is_retry: work.is_retry,
        };
        self.context.slots.reserve(&ask, self.now).map_err(Some)
    }
}
