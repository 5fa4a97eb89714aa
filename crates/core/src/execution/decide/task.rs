//! External tasks: what a decision offers to workers outside, and what it records of them.
//!
//! Who holds a task is in the store and not in the log: fetching one is no decision. So a failing
//! execution does not know whether somebody works on a task; it asks the store to retire what nobody
//! holds, and [`retired`] is the answer.

use std::time::Duration;

use super::advance;
use super::draft::{Draft, Header};
use crate::definition::{Step, StepId};
use crate::execution::command::{Began, Refusal};
use crate::execution::effect::{Effect, Offer};
use crate::execution::event::{
    EventKind, ExternalTaskCreated, ExternalTaskLocked, ExternalTaskReleased, StepStarted,
};
use crate::execution::state::StepState;
use crate::failure::{ErrorClass, Failure};
use crate::limit;
use crate::time::Timestamp;

/// The task that a step is for workers, with its input filled in; none if it is not one.
pub(super) fn created(
    draft: &Draft<'_>,
    step: &Step,
) -> Result<Option<ExternalTaskCreated>, Failure> {
    let Some(task) = step.kind.external_task() else {
        return Ok(None);
    };
    let input = task.input.as_ref().map(|tree| tree.render(&draft.scope()));
    let input = input
        .transpose()
        .map_err(|error| Failure::new(ErrorClass::Template, format!("`input`: {error}")))?;
    let origin = draft.state.origin.as_ref();
    let priority = origin.map_or(limit::PRIORITY_DEFAULT, |origin| origin.priority);
    Ok(Some(ExternalTaskCreated {
        task_type: task.task_type.clone(),
        priority: task.priority.unwrap_or(priority),
        input,
    }))
}

/// Records a step's task, if it is one.
pub(super) fn create(draft: &mut Draft<'_>, step: &StepId, task: Option<ExternalTaskCreated>) {
    if let Some(task) = task {
        draft.emit(Header::step(step, 1), EventKind::ExternalTaskCreated(task));
    }
}

impl Draft<'_> {
    /// The offer of the step's live attempt, which has just been made; none if it is no task.
    pub(super) fn offer(&self, id: &StepId) -> Option<Offer> {
        let (index, step) = self.workflow.step(id.as_ref())?;
        let task = step.kind.external_task()?;
        let state = self.state.step(id).filter(|step| step.is_live())?;
        let available_at = state.due_at.unwrap_or(self.now);
        Some(Offer {
            step: id.clone(),
            attempt: state.attempt,
            available_at,
            timeout_at: available_at.plus(task.timeout),
            attempts_max: self.attempts_max(index, state.undoes.is_some()),
            is_held: self.state.paused_at.is_some(),
        })
    }
}

/// Records that a worker had fetched the attempt's task: only now that it ended, since fetching is
/// no commit of the execution.
pub(super) fn fetched(
    draft: &mut Draft<'_>,
    id: &StepId,
    state: &StepState,
    (worker_id, locked_at): (Option<String>, Timestamp),
) {
    let at = locked_at.min(draft.now);
    let header = || Header::step(id, state.attempt);
    let locked = ExternalTaskLocked {
        worker_id,
        locked_at,
    };
    draft.emit_at(at, header(), EventKind::ExternalTaskLocked(locked));
    let started = EventKind::StepStarted(StepStarted::at(locked_at));
    draft.emit_at(at, header(), started);
}

/// Records that the task was taken from its worker, if one of its clocks did that.
pub(super) fn released(
    draft: &mut Draft<'_>,
    id: &StepId,
    state: &StepState,
    (began, because): (&Began, ErrorClass),
) {
    let by_clock = because.speaks_for_itself() && because != ErrorClass::Worker;
    if by_clock && matches!(began, Began::Fetched { .. }) {
        draft.emit(
            Header::step(id, state.attempt),
            EventKind::ExternalTaskReleased(ExternalTaskReleased { because }),
        );
    }
}

/// What resuming does for a task; none if it is none. Its time goes on where the pause stopped it.
pub(super) fn offered_again(
    draft: &Draft<'_>,
    id: &StepId,
    paused_at: Option<Timestamp>,
) -> Option<Effect> {
    let state = draft.state.step(id).filter(|step| step.is_task())?;
    let from = paused_at.unwrap_or(draft.now);
    let from = from.max(state.due_at.unwrap_or(from));
    let later = match from < draft.now {
        true => draft.now.since(from),
        false => Duration::ZERO,
    };
    #[cfg(feature = "planted")]
    let later = match crate::planted::is(crate::planted::Defect::TimeoutNotMoved) {
        true => Duration::ZERO,
        false => later,
    };
    let step = id.clone();
    Some(Effect::OfferAgain { step, later })
}

/// The execution is failing: tasks that nobody holds shall not begin any more.
pub(super) fn retire(draft: &mut Draft<'_>) {
    let tasks: Vec<StepId> = draft
        .state
        .steps
        .iter()
        .filter(|(_, step)| step.is_live() && step.is_task())
        .map(|(id, _)| id.clone())
        .collect();
    for step in tasks {
        draft.effect(Effect::Retire { step });
    }
}

/// Nobody had the task, and nobody can fetch it any more: its step ends here.
pub(super) fn retired(draft: &mut Draft<'_>, step: StepId, attempt: u32) -> Result<(), Refusal> {
    if draft.state.status.is_terminal() {
        return Err(Refusal::Ended(draft.state.status));
    }
    let live = draft.live(&step, attempt);
    let is_retired = live.is_some_and(|(_, _, state)| state.is_task() && state.undoes.is_none());
    if !is_retired || draft.state.failing.is_none() {
        return Err(Refusal::NotLive { step, attempt });
    }
    advance::drop_attempt(draft, &step);
    advance::settle(draft);
    Ok(())
}
