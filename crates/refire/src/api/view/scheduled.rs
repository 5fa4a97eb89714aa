//! Scheduled tasks and their attempts as the API shows them.

use refire_client::model::{
    self, Raw, ScheduleType, ScheduledTask, ScheduledTaskCreated, TaskRecord,
};
use refire_core::callback::body::masked_query;
use refire_core::id::ScheduledTaskId;
use refire_core::json::{Json, Segment};
use refire_core::scheduled::record::ExecutionStatus;
use refire_core::time::Timestamp;
use refire_engine::scheduled::{HistoryRecord, NewScheduled, ScheduledView, record_id};

use super::raw;
use crate::api::{App, Problem};

fn at(time: Option<Timestamp>) -> Option<String> {
    time.map(|time| time.to_string())
}

fn raw_of(value: Option<&Json>) -> Result<Option<Raw>, Problem> {
    value.map(raw).transpose()
}

/// A task that was made.
pub(crate) fn created(made: &NewScheduled) -> ScheduledTaskCreated {
    let ScheduledView {
        row,
        is_active,
        is_finished,
        next,
        ..
    } = &made.view;
    ScheduledTaskCreated {
        task_id: row.id.to_string(),
        task_name: row.name.clone(),
        schedule_type: ScheduleType::from_name(&row.schedule_type),
        next_execution_time: at(*next),
        is_active: *is_active,
        is_finished: *is_finished,
        created_at: row.created_at.to_string(),
        warnings: made.warnings.clone(),
    }
}

/// A task, with what its newest attempt came to.
pub(crate) fn task(
    view: &ScheduledView,
    last: Option<ExecutionStatus>,
) -> Result<ScheduledTask, Problem> {
    let row = &view.row;
    let request = Json::from_bytes(&row.request).map_err(Problem::internal)?;
    let said = |snake: &str, camel: &str| {
        let found = [camel, snake].map(|key| request.at(&[Segment::Key(key.into())]));
        found.into_iter().flatten().find(|value| !value.is_null())
    };
    let text = |snake, camel| {
        let found: Option<Json> = said(snake, camel);
        found.and_then(|value| value.as_text().map(std::borrow::Cow::into_owned))
    };
    let recurring = said("is_recurring", "isRecurring").and_then(|said| said.as_bool());
    let may_recur = !matches!(row.schedule_type.as_str(), "immediate" | "once");
    let config = said("task_config", "taskConfig").unwrap_or_else(Json::empty_object);
    let schedule = said("schedule_config", "scheduleConfig");
    Ok(ScheduledTask {
        task_id: row.id.to_string(),
        task_name: row.name.clone(),
        task_description: text("task_description", "taskDescription"),
        is_recurring: recurring.unwrap_or(may_recur),
        schedule_type: ScheduleType::from_name(&row.schedule_type),
        schedule_config: raw_of(schedule.as_ref())?,
        start_time: text("start_time", "startTime"),
        end_time: text("end_time", "endTime"),
        task_config: raw(&config)?,
        next_execution_time: at(view.next),
        is_active: view.is_active,
        is_finished: view.is_finished,
        cancelled_at: at(row.cancelled_at),
        last_execution_status: last.map(status),
        cycles: view.state.cycles,
        version: row.version,
        created_at: row.created_at.to_string(),
        updated_at: row.updated_at.to_string(),
    })
}

fn status(status: ExecutionStatus) -> model::TaskExecutionStatus {
    model::TaskExecutionStatus::from_name(status.name())
}

/// One attempt.
pub(crate) fn record(
    app: &App,
    task: ScheduledTaskId,
    found: &HistoryRecord,
) -> Result<TaskRecord, Problem> {
    let record = &found.record;
    let callback = found.callback.as_ref();
    let query = callback.map(|row| app.engine.callbacks().query_config(row));
    // One that cannot be opened any more keeps nobody from reading the rest.
    let query = query.and_then(Result::ok).flatten();
    let query = query.as_ref().map(masked_query);
    let id = record_id(found.execution, record.attempt);
    let trigger_status = record.trigger_status.map(|status| status.name());
    Ok(TaskRecord {
        execution_id: id.clone(),
        id,
        scheduled_task_id: task.to_string(),
        cycle_number: record.cycle,
        is_retry: record.is_retry,
        execution_started_at: record.started_at.to_string(),
        execution_completed_at: at(record.completed_at),
        trigger_status: trigger_status.map(model::TaskTriggerStatus::from_name),
        trigger_result: raw_of(record.trigger_result.as_ref())?,
        execution_status: status(record.execution_status),
        query_config: raw_of(query.as_ref())?,
        progress: record.progress,
        progress_message: record.progress_message.clone(),
        result: raw_of(record.result.as_ref())?,
        created_at: record.started_at.to_string(),
        updated_at: record.updated_at.to_string(),
    })
}
