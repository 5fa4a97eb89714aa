//! Steps of an execution, in the definition's order, those included that have not had their turn.

use refire_client::model::{self, Step, StepCallback};
use refire_core::callback::CallbackStatus;
use refire_core::definition::{self, StepId, Workflow};
use refire_core::execution::{StepState, StepStatus};
use refire_store::{CallbackRow, Stored};

use super::execution::{Values, is_dropped};
use super::{error, raw};
use crate::api::Problem;

/// Every step. Without a readable definition only those that have had an event.
pub(super) fn steps(
    stored: &Stored,
    workflow: Option<&Workflow>,
    (values, callbacks): (&Values, &[CallbackRow]),
) -> Result<Vec<Step>, Problem> {
    let Some(workflow) = workflow else {
        let known = stored.state.steps.iter();
        return known
            .map(|(id, state)| one(stored, (id, "unknown"), state, (values, callbacks)))
            .collect();
    };
    let step = |step: &definition::Step| match stored.state.step(&step.id) {
        Some(state) => one(
            stored,
            (&step.id, step.kind.type_name()),
            state,
            (values, callbacks),
        ),
        None => Ok(untouched(stored, step)),
    };
    workflow.steps.iter().map(step).collect()
}

fn one(
    stored: &Stored,
    (id, step_type): (&StepId, &str),
    state: &StepState,
    (values, callbacks): (&Values, &[CallbackRow]),
) -> Result<Step, Problem> {
    let running = stored
        .work
        .iter()
        .find(|work| state.is_live() && work.step == id.as_str() && work.begun);
    let is_running = running.is_some();
    // Its target has it.
    let is_begun = is_running || state.awaited.is_some();
    let status = match is_running {
        true => model::StepStatus::Running,
        false => step_status(state.status),
    };
    // The last attempt counts once it has begun; one that was dropped before that was never made.
    let is_to_come = state.is_live() && !is_begun || is_dropped(state);
    let output = state.output.and_then(|output| values.get(&output.sequence));
    Ok(Step {
        step_id: id.to_string(),
        step_type: step_type.to_owned(),
        status,
        attempts: state.attempt.saturating_sub(u32::from(is_to_come)),
        retry_count: state.retries(),
        next_retry_at: state
            .due_at
            .filter(|_| state.status == StepStatus::Retrying && !is_begun)
            .map(|due| due.to_string()),
        started_at: state
            .started_at
            .or_else(|| running?.running_since())
            .map(|at| at.to_string()),
        completed_at: state.completed_at.map(|at| at.to_string()),
        output: output.map(raw).transpose()?,
        error: state
            .failure
            .as_ref()
            .filter(|_| !state.is_done())
            .map(error),
        callback: state.awaited.as_ref().map(|awaited| {
            let row = callbacks
                .iter()
                .find(|row| row.step == id.as_str() && row.attempt == state.attempt);
            StepCallback {
                status: callback_status(awaited.status),
                waits_until: awaited.until.to_string(),
                progress: row.and_then(|row| row.progress),
                progress_message: row.and_then(|row| row.message.clone()),
            }
        }),
        undoes: state.undoes.as_ref().map(ToString::to_string),
    })
}

fn callback_status(status: CallbackStatus) -> model::CallbackStatus {
    match status {
        CallbackStatus::Pending => model::CallbackStatus::Pending,
        CallbackStatus::Processing => model::CallbackStatus::Processing,
        CallbackStatus::Success => model::CallbackStatus::Success,
        CallbackStatus::Failed => model::CallbackStatus::Failed,
    }
}

/// The word for what the log knows of a step.
pub(super) fn step_status(status: StepStatus) -> model::StepStatus {
    match status {
        StepStatus::Scheduled => model::StepStatus::Pending,
        StepStatus::Retrying => model::StepStatus::Retrying,
        StepStatus::Waiting => model::StepStatus::Waiting,
        StepStatus::Completed => model::StepStatus::Completed,
        StepStatus::Failed => model::StepStatus::Failed,
        StepStatus::Skipped => model::StepStatus::Skipped,
        StepStatus::Compensated => model::StepStatus::Compensated,
        StepStatus::Cancelled => model::StepStatus::Cancelled,
    }
}

/// A step that has had no event: it waits, or its turn never came.
fn untouched(stored: &Stored, step: &definition::Step) -> Step {
    let status = match stored.state.status.is_terminal() {
        false => model::StepStatus::Pending,
        true => model::StepStatus::Skipped,
    };
    Step {
        step_id: step.id.to_string(),
        step_type: step.kind.type_name().to_owned(),
        status,
        attempts: 0,
        retry_count: 0,
        next_retry_at: None,
        started_at: None,
        completed_at: None,
        output: None,
        error: None,
        callback: None,
        undoes: None,
    }
}
