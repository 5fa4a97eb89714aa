//! Scheduled tasks: made, looked at, changed, run. Bodies and parameters are written as in the document
//! that the calls come from, in camelCase.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use refire_client::model::{ScheduledTask, ScheduledTaskCreated, ScheduledTaskPage, TaskRun};
use refire_client::query::{CancelTaskQuery, Paging, ScheduledQuery};
use refire_core::id::ScheduledTaskId;
use refire_engine::scheduled::{ScheduledView, record_id};
use refire_store::ScheduledFilter;

use super::etag::{self, Wanted};
use super::execute::idempotency_key;
use super::{Actor, Answer, App, Content, Id, List, Params, Problem, Window, view};

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Makes a scheduled task.
///
/// A service is called at the times that the schedule says, with the payload, an execution id and, unless
/// `callbackWindow` is 0, a callback address. 201 means that the task is on disk; an `immediate` one has
/// begun. With an `Idempotency-Key`, a repeated request makes no second task.
#[utoipa::path(
    post,
    path = "/schedule-task",
    params(("Idempotency-Key" = Option<String>, Header, description = "The same key never makes a second task")),
    request_body(
        content(
            (serde_json::Value = "application/json", example = json!({"taskName": "Monthly report", "scheduleType": "cron", "isRecurring": true, "scheduleConfig": {"cron": "0 9 1 * *", "timezone": "Asia/Taipei"}, "taskConfig": {"taskType": "report", "targetConfig": {"triggerType": "http", "url": "https://reports.example.com/run", "method": "POST"}, "taskPayload": {"reportType": "monthly"}, "retryConfig": {"retryOnTimeout": true, "maxRetries": 2, "retryIntervalMinutes": 30}}})),
            (String = "application/yaml"),
        ),
        description = "The task, in JSON or YAML",
    ),
    responses(
        (status = 200, description = "The task that was made with this key before", body = ScheduledTaskCreated),
        (status = 201, description = "The task", body = ScheduledTaskCreated, headers(("Location" = String, description = "The task"))),
        (status = 400, description = "Every problem of the task"),
        (status = 409, description = "The key was used with another request"),
    ),
)]
pub(super) async fn schedule_task(
    app: App,
    actor: Actor,
    _: Params<()>,
    headers: HeaderMap,
    body: Content,
) -> Result<Response, Problem> {
    let key = idempotency_key(&headers)?;
    let tasks = app.engine.scheduled();
    let made = tasks
        .create(body.text()?, key.as_deref(), &actor.name())
        .await?;
    let status = match made.is_new {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    let shown = view::scheduled::created(&made);
    let mut response = (status, Json(&shown)).into_response();
    let location = format!("/api/scheduled-tasks/{}", shown.task_id);
    let headers = response.headers_mut();
    if let Ok(location) = HeaderValue::from_str(&location) {
        headers.insert(LOCATION, location);
    }
    if !made.is_new {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// Scheduled tasks, newest first.
#[utoipa::path(
    get,
    path = "/api/scheduled-tasks",
    params(ScheduledQuery, Paging),
    responses(
        (status = 200, description = "A page of tasks", body = ScheduledTaskPage),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
pub(super) async fn list_scheduled_tasks(
    app: App,
    Params((query, paging)): Params<(ScheduledQuery, Paging)>,
) -> Answer<ScheduledTaskPage> {
    let filter = ScheduledFilter {
        task_type: query.task_type.clone(),
        schedule_type: query.schedule_type.map(|word| word.name().to_owned()),
        is_active: query.is_active,
        is_finished: query.is_finished,
    };
    let window = Window::new(List::ScheduledTasks, &(&filter, &query.q), &paging)?;
    let tasks = app.engine.scheduled();
    let found = tasks
        .list(&filter, query.q.as_deref(), window.behind, window.rows)
        .await?;
    let page = window.page(found, |view| view.row.id);
    let mut items = Vec::with_capacity(page.items.len());
    for view in &page.items {
        items.push(shown(&app, view).await?);
    }
    Ok(Json(ScheduledTaskPage {
        items,
        next_cursor: page.next_cursor,
    }))
}

async fn shown(app: &App, view: &ScheduledView) -> Result<ScheduledTask, Problem> {
    let last = app.engine.scheduled().last_status(view.row.id).await?;
    view::scheduled::task(view, last)
}

/// A task with the version that `If-Match` names.
async fn tagged(app: &App, view: &ScheduledView) -> Result<Response, Problem> {
    let mut response = Json(shown(app, view).await?).into_response();
    etag::tag(response.headers_mut(), view.row.version);
    Ok(response)
}

/// A scheduled task: what was asked for, when it begins next, and how it went last.
#[utoipa::path(
    get,
    path = "/api/scheduled-tasks/{id}",
    responses((status = 200, description = "The task", body = ScheduledTask, headers(("ETag" = String, description = "Its version, for `If-Match`")))),
)]
pub(super) async fn get_scheduled_task(
    app: App,
    id: Id<ScheduledTaskId>,
    _: Params<()>,
) -> Result<Response, Problem> {
    let view = id.outcome(app.engine.scheduled().get(id.known()?)).await?;
    tagged(&app, &view).await
}

/// Changes a scheduled task by a JSON merge patch on the request that made it.
///
/// `null` removes a field. The result is checked as a whole. Cycles that are open keep what they began
/// with; a changed schedule counts from now on. With `If-Match`, only the version that you have seen is
/// changed; without it the last change wins.
#[utoipa::path(
    patch,
    path = "/api/scheduled-tasks/{id}",
    params(("If-Match" = Option<String>, Header, description = "The version that is changed, such as `\"3\"`")),
    request_body(
        content(
            (serde_json::Value = "application/json", example = json!({"scheduleConfig": {"time": "03:00"}})),
            (String = "application/yaml"),
        ),
        description = "The fields to change",
    ),
    responses(
        (status = 200, description = "The task as it is now", body = ScheduledTask),
        (status = 400, description = "Every problem of the result"),
        (status = 409, description = "It was cancelled"),
        (status = 412, description = "It has another version"),
    ),
)]
pub(super) async fn change_scheduled_task(
    app: App,
    actor: Actor,
    id: Id<ScheduledTaskId>,
    _: Params<()>,
    headers: HeaderMap,
    body: Content,
) -> Result<Response, Problem> {
    let version = wanted_version(&headers)?;
    let (tasks, by) = (app.engine.scheduled(), actor.name());
    let changed = tasks.patch(id.known()?, body.text()?, version, &by);
    let view = id.outcome(changed).await?;
    tagged(&app, &view).await
}

/// The version that `If-Match` names; none = any.
fn wanted_version(headers: &HeaderMap) -> Result<Option<u32>, Problem> {
    Ok(match etag::wanted(headers)? {
        Some(Wanted::Version(version)) => Some(version),
        Some(Wanted::Any) | None => None,
    })
}

/// Pauses a scheduled task: no new cycle begins. Open ones, their retries and their callbacks go on.
#[utoipa::path(
    post,
    path = "/api/scheduled-tasks/{id}/pause",
    responses(
        (status = 200, description = "The task", body = ScheduledTask),
        (status = 409, description = "It was cancelled"),
    ),
)]
pub(super) async fn pause_scheduled_task(
    app: App,
    id: Id<ScheduledTaskId>,
    _: Params<()>,
) -> Result<Response, Problem> {
    let view = id
        .outcome(app.engine.scheduled().pause(id.known()?))
        .await?;
    tagged(&app, &view).await
}

/// Lets a paused task go on. Cycles that were planned during the pause are skipped.
#[utoipa::path(
    post,
    path = "/api/scheduled-tasks/{id}/resume",
    responses(
        (status = 200, description = "The task", body = ScheduledTask),
        (status = 409, description = "It was cancelled"),
    ),
)]
pub(super) async fn resume_scheduled_task(
    app: App,
    id: Id<ScheduledTaskId>,
    _: Params<()>,
) -> Result<Response, Problem> {
    let view = id
        .outcome(app.engine.scheduled().resume(id.known()?))
        .await?;
    tagged(&app, &view).await
}

/// Cancels a scheduled task: no cycle begins any more, and open executions are cancelled.
///
/// It can still be read, and deleted.
#[utoipa::path(
    post,
    path = "/api/scheduled-tasks/{id}/cancel",
    params(CancelTaskQuery),
    responses(
        (status = 200, description = "The task", body = ScheduledTask),
        (status = 409, description = "It was cancelled before"),
    ),
)]
pub(super) async fn cancel_scheduled_task(
    app: App,
    actor: Actor,
    id: Id<ScheduledTaskId>,
    Params(query): Params<CancelTaskQuery>,
) -> Result<Response, Problem> {
    let keep_running = query.keep_running.unwrap_or(false);
    let (tasks, by) = (app.engine.scheduled(), actor.name());
    let cancelled = tasks.cancel(id.known()?, keep_running, &by);
    let view = id.outcome(cancelled).await?;
    tagged(&app, &view).await
}

/// Begins a cycle now, also while the task is paused. Planned times stay as they are.
#[utoipa::path(
    post,
    path = "/api/scheduled-tasks/{id}/run",
    responses(
        (status = 202, description = "It has begun", body = TaskRun),
        (status = 409, description = "It was cancelled"),
    ),
)]
pub(super) async fn run_scheduled_task(
    app: App,
    actor: Actor,
    id: Id<ScheduledTaskId>,
    _: Params<()>,
) -> Result<(StatusCode, Json<TaskRun>), Problem> {
    let (tasks, by) = (app.engine.scheduled(), actor.name());
    let run = id.outcome(tasks.run(id.known()?, &by)).await?;
    let shown = TaskRun {
        execution_id: record_id(run.execution, 1),
        cycle_number: run.cycle,
    };
    Ok((StatusCode::ACCEPTED, Json(shown)))
}

/// Cancels a scheduled task and hides it. Its executions are kept.
#[utoipa::path(
    delete,
    path = "/api/scheduled-tasks/{id}",
    responses((status = 204, description = "Deleted")),
)]
pub(super) async fn delete_scheduled_task(
    app: App,
    actor: Actor,
    id: Id<ScheduledTaskId>,
    _: Params<()>,
) -> Result<StatusCode, Problem> {
    let (tasks, by) = (app.engine.scheduled(), actor.name());
    id.outcome(tasks.delete(id.known()?, &by)).await?;
    Ok(StatusCode::NO_CONTENT)
}
