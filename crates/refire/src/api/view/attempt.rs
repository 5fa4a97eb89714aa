//! Attempts of an execution: what its log tells of them, and of those under way what their rows tell.

use refire_client::model;
use refire_core::execution::{Attempt, AttemptStatus};
use refire_core::task::TaskStatus;
use refire_core::time::Timestamp;
use refire_store::{Stored, TaskRow};

use super::error;

/// An attempt, with what the rows of work and tasks add to it.
pub(crate) fn attempt(
    mut attempt: Attempt,
    stored: &Stored,
    tasks: &[TaskRow],
    now: Timestamp,
) -> model::Attempt {
    let step = attempt.step.to_string();
    let task = tasks.iter().find(|task| task.step == step);
    if attempt.is_open() {
        under_way(&mut attempt, stored, task, now);
    }
    let text = |at: Timestamp| at.to_string();
    let failure = attempt.failure.as_ref();
    model::Attempt {
        attempt: attempt.number,
        status: status(attempt.status),
        compensation: attempt.is_compensation,
        scheduled_at: text(attempt.scheduled_at),
        due_at: attempt.due_at.map(text),
        started_at: attempt.started_at.map(text),
        ended_at: attempt.ended_at.map(text),
        duration_ms: attempt.duration_ms,
        backoff_ms: attempt.backoff_ms,
        retryable: failure.map(|failure| failure.retryable),
        early: attempt.is_early,
        error: failure.map(error),
        response: failure.and_then(|failure| failure.response.clone()),
        node_id: attempt.node.map(|node| node.to_string()),
        worker_id: attempt.worker,
        task_id: task
            .filter(|_| attempt.is_task)
            .map(|task| task.id().to_string()),
        step_id: step,
    }
}

/// The log hears of a beginning only with its end; until then the row has it.
fn under_way(attempt: &mut Attempt, stored: &Stored, task: Option<&TaskRow>, now: Timestamp) {
    let begun = stored.work.iter().find(|row| {
        row.begun && row.step == attempt.step.as_str() && row.attempt == attempt.number
    });
    let task = task.filter(|task| task.attempt == attempt.number);
    if let Some(row) = begun {
        attempt.status = AttemptStatus::Running;
        attempt.started_at = row.running_since();
        attempt.node = row.owner;
    } else if let Some(task) = task {
        match task.status {
            TaskStatus::Locked => {
                attempt.status = AttemptStatus::Running;
                attempt.started_at = task.locked_at;
                attempt.worker.clone_from(&task.worker);
            }
            TaskStatus::Pending if task.available_at <= now => {
                attempt.status = AttemptStatus::Waiting;
            }
            _ => {}
        }
    }
}

fn status(status: AttemptStatus) -> model::AttemptStatus {
    match status {
        AttemptStatus::Planned => model::AttemptStatus::Planned,
        AttemptStatus::Waiting => model::AttemptStatus::Waiting,
        AttemptStatus::Running => model::AttemptStatus::Running,
        AttemptStatus::Completed => model::AttemptStatus::Completed,
        AttemptStatus::Failed => model::AttemptStatus::Failed,
        AttemptStatus::Lost => model::AttemptStatus::Lost,
        AttemptStatus::Cancelled => model::AttemptStatus::Cancelled,
    }
}
