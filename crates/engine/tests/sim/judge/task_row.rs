//! A task's row beside its execution's log.

use refire_core::definition::{ExternalTask, StepId};
use refire_core::execution::{Event, EventKind, StepState, StepStatus};
use refire_core::id::{ExecutionId, TaskId};
use refire_core::task::TaskStatus;
use refire_store::TaskRow;
use refire_store::model::Image;

use super::Known;
use crate::world::Violation;

impl Known {
    /// What a task's worker is given, by the log.
    pub(super) fn task_input(&self, step: &str) -> Option<&str> {
        let first = self.log.first().and_then(|event| match &event.kind {
            EventKind::ExecutionStarted(started) => Some(started.input.as_str()),
            _ => None,
        });
        let of_step = |event: &&Event| event.step.as_ref().is_some_and(|it| it.as_str() == step);
        let mut events = self.log.iter().rev().filter(of_step);
        events.find_map(|event| match &event.kind {
            EventKind::ExternalTaskCreated(created) => {
                created.input.as_ref().map(|input| input.as_str()).or(first)
            }
            _ => None,
        })
    }

    /// Whether a task may be fetched when the log says; a rate limit puts off what an execution begins with.
    fn is_available(&self, step: &StepState, row: &TaskRow) -> bool {
        let is_limited = self.workflow.rate_limit.is_some() && row.attempt == 1;
        step.due_at.is_none_or(|due| match is_limited {
            true => due <= row.available_at,
            false => due == row.available_at,
        })
    }

    /// The task that a step is, by its definition.
    pub(super) fn task(&self, step: &StepId) -> Option<(u16, &ExternalTask)> {
        let (index, step) = self.workflow.step(step.as_ref())?;
        Some((u16::try_from(index).ok()?, step.kind.external_task()?))
    }
}

/// A task's row says what the log says.
pub(super) fn rows(image: &Image, id: ExecutionId, known: &Known) -> Result<(), Violation> {
    const CHECK: &str = "a task's row says what the log says";
    let fail = |what: String| Err(Violation::new(CHECK, what));
    let of = |step| TaskId {
        execution: id,
        step,
    };
    let mut count = image.tasks.range(of(0)..=of(u16::MAX)).count();
    for (name, step) in known.state.steps.iter().filter(|(_, step)| step.is_task()) {
        let Some((number, task)) = known.task(name) else {
            return fail(format!("{name} is a task, but not by its definition"));
        };
        let Some(row) = image.tasks.get(&of(number)) else {
            return fail(format!("{name}#{} has none", step.attempt));
        };
        count -= 1;
        let is_right = row.attempt == step.attempt
            && row.step == name.as_str()
            && row.task_type == task.task_type
            && Some(row.input_sequence) == step.task_input.map(|input| input.sequence)
            && (stands(known, step).contains(&row.status))
            && (!step.is_live() || known.is_available(step, row))
            && row.timeout_at >= row.available_at.plus(task.timeout)
            && row.wake_at.is_some() == is_watched(row.status);
        if !is_right {
            return fail(format!("{name} is {step:#?}, and its row {row:#?}"));
        }
    }
    match count {
        0 => Ok(()),
        _ => fail(format!("{count} rows are of no step")),
    }
}

/// Where a step's task may stand.
fn stands(known: &Known, step: &StepState) -> &'static [TaskStatus] {
    use TaskStatus::{Cancelled, Completed, Failed, Held, Locked, Pending, Retired};
    let state = &known.state;
    match step.status {
        StepStatus::Completed | StepStatus::Compensated => &[Completed],
        StepStatus::Failed => &[Failed],
        StepStatus::Skipped | StepStatus::Cancelled => &[Cancelled],
        _ if state.paused_at.is_some() => &[Held, Locked, Retired],
        _ if state.failing.is_some() && step.undoes.is_none() => &[Retired, Locked],
        StepStatus::Scheduled | StepStatus::Retrying | StepStatus::Waiting => &[Pending, Locked],
    }
}

/// Whether somebody looks at the clocks of a task that stands there.
fn is_watched(status: TaskStatus) -> bool {
    matches!(
        status,
        TaskStatus::Pending | TaskStatus::Locked | TaskStatus::Retired
    )
}
