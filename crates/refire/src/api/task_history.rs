//! The history of scheduled tasks: a record of each attempt.

use axum::Json;
use axum::extract::Path;
use refire_client::model::{TaskHistory, TaskStatusAnswer};
use refire_client::query::{Paging, TaskHistoryQuery};
use refire_core::id::{ExecutionId, ScheduledTaskId};
use refire_core::scheduled::record::ExecutionStatus;
use refire_engine::scheduled::{HistoryFilter, read_record_id};

use super::cursor::Scope;
use super::page::LIMIT_DEFAULT;
use super::{Answer, App, Id, List, Params, Problem, view};
use crate::codes;

/// The attempts of a scheduled task, newest first, each with what became of it.
#[utoipa::path(
    get,
    path = "/task-history/{taskId}",
    params(
        ("taskId" = String, Path, description = "`task-…`"),
        TaskHistoryQuery,
        Paging,
    ),
    responses(
        (status = 200, description = "A page of attempts", body = TaskHistory),
        (status = 400, description = "A parameter is wrong"),
        (status = 404, description = "There is no such task"),
    ),
)]
pub(super) async fn get_task_history(
    app: App,
    id: Id<ScheduledTaskId>,
    Params((query, paging)): Params<(TaskHistoryQuery, Paging)>,
) -> Answer<TaskHistory> {
    let task = id.known()?;
    let is_meant = |known: &ExecutionStatus| {
        let mut words = query.status.iter();
        words.any(|word| word.name() == known.name())
    };
    let statuses = ExecutionStatus::ALL.into_iter().filter(is_meant).collect();
    let filter = HistoryFilter {
        cycle: query.cycle.map(u64::from),
        statuses,
        is_retry: query.is_retry,
    };
    let scope = Scope::new(List::TaskHistory, &(task, &filter));
    let after: Option<(ExecutionId, u32)> = scope.key(paging.cursor.as_deref())?;
    let limit = paging.limit.unwrap_or(LIMIT_DEFAULT) as usize;
    let tasks = app.engine.scheduled();
    let page = id
        .outcome(tasks.history(task, &filter, after, limit))
        .await?;
    let items: Result<_, Problem> = page
        .records
        .iter()
        .map(|found| view::scheduled::record(&app, task, found))
        .collect();
    Ok(Json(TaskHistory {
        task_id: task.to_string(),
        items: items?,
        next_cursor: page.next.map(|next| scope.cursor(&next)),
    }))
}

/// Asks the target how the task goes, in the way that it has given for this attempt.
#[utoipa::path(
    get,
    path = "/task-history/{taskId}/{executionId}/status",
    params(
        ("taskId" = String, Path, description = "`task-…`"),
        ("executionId" = String, Path, description = "`exec_…-` and the attempt"),
    ),
    responses(
        (status = 200, description = "What the target answered, whatever its status", body = TaskStatusAnswer),
        (status = 404, description = "There is no such attempt, or its target has not said how to ask"),
        (status = 501, description = "This kind of query is not supported yet"),
        (status = 502, description = "The target could not be asked"),
    ),
)]
pub(super) async fn get_task_status(
    app: App,
    Path((task, execution)): Path<(String, String)>,
    _: Params<()>,
) -> Answer<TaskStatusAnswer> {
    let id: Id<ScheduledTaskId> = Id::new(task);
    let task = id.known()?;
    let missing = || {
        let detail = format!("there is no execution `{execution}` of {task}");
        Problem::new(&codes::NO_EXECUTION, detail)
    };
    let record = read_record_id(&execution).ok_or_else(missing)?;
    let tasks = app.engine.scheduled();
    let found = id.outcome(tasks.record(task, record)).await?;
    let row = found.callback.as_ref();
    let query = row.map(|row| app.engine.callbacks().query_config(row));
    let query = query.transpose().map_err(Problem::internal)?.flatten();
    let Some(query) = query else {
        let detail = "the target has not said how to ask about this attempt (`queryConfig`)";
        return Err(Problem::new(&codes::NO_QUERY, detail));
    };
    let asked = tasks.ask(&query).await?;
    Ok(Json(TaskStatusAnswer {
        queried_at: asked.at.to_string(),
        http_status: asked.status,
        response: view::raw(&asked.body)?,
    }))
}
