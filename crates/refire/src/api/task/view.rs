//! Tasks as workers and people see them.

use refire_client::model::{self, Raw, Task};
use refire_core::json::Json as Text;
use refire_core::task::TaskStatus;
use refire_core::time::Timestamp;
use refire_engine::task::Fetched;
use refire_store::TaskRow;
use serde_json::value::RawValue;

use crate::api::{App, Problem};

/// The statuses that a word of the API means: what is held is pending for workers, what is retired is gone.
pub(super) fn statuses(words: &[model::TaskStatus]) -> Vec<TaskStatus> {
    let is_meant = |status: &TaskStatus| words.iter().any(|word| word.name() == status.shown());
    TaskStatus::ALL.into_iter().filter(is_meant).collect()
}

fn raw(text: &Text) -> Option<Raw> {
    RawValue::from_string(text.as_str().to_owned()).ok()
}

/// A task without its values.
pub(super) fn task(row: &TaskRow) -> Task {
    let at = |time: Option<Timestamp>| time.map(|time| time.to_string());
    let seconds = |ms: u64| ms / 1_000;
    let execution_id = row.execution.to_string();
    let has = |status| row.status == status;
    Task {
        id: row.id().to_string(),
        workflow_instance_id: execution_id.clone(),
        execution_id,
        workflow_id: row.workflow.to_string(),
        step_id: row.step.clone(),
        task_type: row.task_type.clone(),
        priority: row.priority,
        input: None,
        output: None,
        worker_id: row.worker.clone(),
        locked_at: at(row.locked_at),
        lock_duration_seconds: seconds(row.lock_ms),
        lock_expires_at: at(row.lock_until),
        last_heartbeat_at: at(row.heartbeat_at),
        heartbeat_interval_seconds: row.heartbeat_ms.map(seconds),
        heartbeat_max_missed: row
            .silence_ms
            .zip(row.heartbeat_ms)
            .map(|(silence, interval)| silence / interval.max(1)),
        available_at: row.available_at.to_string(),
        timeout_at: row.timeout_at.to_string(),
        completed_at: at(row.completed_at),
        status: model::TaskStatus::from_name(row.status.shown()),
        retry_count: row
            .attempt
            .saturating_sub(u32::from(!has(TaskStatus::Failed))),
        max_retries: row.attempts_max,
        error_message: row.error.clone(),
        progress: row.progress,
        progress_message: row.message.clone(),
        created_at: row.created_at.to_string(),
        updated_at: row.updated_at.to_string(),
        version: row.rev,
        lock_token: None,
    }
}

/// A task as the worker gets it that has fetched it.
pub(super) fn fetched(fetched: &Fetched) -> Task {
    Task {
        input: raw(&fetched.input),
        lock_token: fetched.row.token.map(|token| token.to_string()),
        ..task(&fetched.row)
    }
}

/// A task with its values.
pub(super) async fn detail(app: &App, row: &TaskRow) -> Result<Task, Problem> {
    let input = app.engine.tasks().input(row).await?;
    let mut output = None;
    if row.status == TaskStatus::Completed
        && let Some(stored) = app.engine.store().execution(row.execution).await?
        && let Ok(step) = row.step.parse()
        && let Some(kept) = stored.state.step(&step).and_then(|step| step.output)
    {
        let values = app.engine.store();
        let values = values.values(row.execution, &[kept.sequence]).await?;
        output = values.first().and_then(|(_, value)| raw(value));
    }
    Ok(Task {
        input: raw(&input),
        output,
        ..task(row)
    })
}
