//! Tasks for workers: they fetch them, say that they are still at it, and report what came of it.
//!
//! Bodies and parameters are written as the systems write them that workers come from, in camelCase. The same
//! calls are under `/api/n8n/external-tasks`.

pub(super) mod summary;
mod view;

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use refire_client::model::{ExtendTask, FailTask, Heartbeat, Task, TaskPage};
use refire_client::query::{LockQuery, Paging, PollQuery, TaskQuery};
use refire_core::id::{LockToken, TaskId};
use refire_core::json::Json as Text;
use refire_engine::task::{Ended, Poll, TaskTypes, worker_failure};
use refire_store::TaskFilter;

use super::query::parsed;
use super::{Answer, App, Content, Id, List, Params, Problem, Window};
use crate::codes;

/// Tasks that one poll takes at most.
pub(super) const TASKS_MAX: u32 = 100;
/// How long a poll waits at most, in seconds.
pub(super) const WAIT_SECONDS_MAX: u32 = 300;
/// How long it waits if nothing is said.
const WAIT_SECONDS_DEFAULT: u32 = 30;
/// Types that one poll asks for at most.
pub(super) const TYPES_MAX: usize = 20;
/// Characters of a worker's name.
pub(super) const WORKER_CHARS_MAX: usize = 200;
/// Bytes of what a worker says about its progress.
const MESSAGE_BYTES_MAX: usize = 500;

/// Fetches tasks, and waits for the first.
///
/// Takes what is there and never waits to fill `maxTasks`. A task that is fetched is locked for the worker;
/// `lockToken` is the lock's name and belongs into every call about the task.
#[utoipa::path(
    get,
    path = "/api/external-tasks/poll",
    params(PollQuery),
    responses(
        (status = 200, description = "Tasks, with their lock tokens", body = Vec<Task>),
        (status = 204, description = "There was none until the end of the wait"),
        (status = 400, description = "A parameter is wrong"),
        (status = 503, description = "Too many polls wait, or the server stops"),
    ),
)]
pub(super) async fn poll_tasks(
    app: App,
    Params(query): Params<PollQuery>,
) -> Result<Response, Problem> {
    let delivery = app.engine.tasks().poll(poll(query)).await?;
    if delivery.tasks().is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let tasks: Vec<Task> = delivery.tasks().iter().map(view::fetched).collect();
    let body = serde_json::to_vec(&tasks).map_err(Problem::internal)?;
    let length = body.len();
    // What the connection takes has arrived; what it does not take goes back.
    let body = stream::once(async move {
        delivery.arrived();
        Ok::<_, Infallible>(body)
    });
    let headers = [
        (CONTENT_TYPE, "application/json".to_owned()),
        (CONTENT_LENGTH, length.to_string()),
    ];
    Ok((headers, Body::from_stream(body)).into_response())
}

/// What a poll asks for.
fn poll(query: PollQuery) -> Poll {
    let mut types = TaskTypes::default();
    for written in query.task_type {
        match written.strip_suffix('*') {
            Some(prefix) => types.prefixes.push(prefix.to_owned()),
            None => types.names.push(written),
        }
    }
    let wait = query.wait_seconds.unwrap_or(WAIT_SECONDS_DEFAULT);
    Poll {
        types,
        worker: query.worker_id,
        worker_type: query.worker_type,
        max: query.max_tasks.unwrap_or(1),
        wait: Duration::from_secs(wait.into()),
    }
}

/// The lock that a call names, in a parameter or a header. What is no token is nobody's.
fn token(query: &LockQuery, headers: &HeaderMap) -> Option<LockToken> {
    const NOBODYS: LockToken = LockToken::from_bytes([0; 16]);
    let header = headers.get("x-lock-token");
    let header = header.map(|text| text.to_str().unwrap_or("?"));
    let text = query.lock_token.as_deref().or(header);
    let text = text.filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or(NOBODYS))
}

/// A worker has done its task; the body is the output, any JSON.
#[utoipa::path(
    post,
    path = "/api/external-tasks/{id}/complete",
    params(LockQuery),
    request_body(content = serde_json::Value, description = "The output; nothing is null"),
    responses(
        (status = 200, description = "It is recorded, now or by the same call before"),
        (status = 409, description = "The worker does not have the task"),
    ),
)]
pub(super) async fn complete_task(
    app: App,
    id: Id<TaskId>,
    Params(query): Params<LockQuery>,
    headers: HeaderMap,
    body: Content,
) -> Result<StatusCode, Problem> {
    let token = token(&query, &headers);
    let output = match body.is_blank() {
        true => Text::null(),
        false => body.json()?,
    };
    let ended = Ended::Completed(output);
    let tasks = app.engine.tasks();
    id.outcome(tasks.end(id.known()?, token, ended)).await?;
    Ok(StatusCode::OK)
}

/// A worker could not do its task.
#[utoipa::path(
    post,
    path = "/api/external-tasks/{id}/fail",
    params(LockQuery),
    request_body(content = FailTask),
    responses(
        (status = 200, description = "It is recorded, now or by the same call before"),
        (status = 409, description = "The worker does not have the task"),
    ),
)]
pub(super) async fn fail_task(
    app: App,
    id: Id<TaskId>,
    Params(query): Params<LockQuery>,
    headers: HeaderMap,
    body: Content,
) -> Result<StatusCode, Problem> {
    let token = token(&query, &headers);
    let failed: FailTask = body.read()?;
    let message = match failed.message.is_empty() {
        true => "the worker gave no reason".to_owned(),
        false => failed.message,
    };
    let mut failure = worker_failure(message, failed.stack_trace.as_deref());
    failure.retryable = failed.retryable.unwrap_or(true);
    failure.retry_after_ms = failed
        .retry_after_seconds
        .map(|wait| wait.saturating_mul(1_000));
    let ended = Ended::Failed(failure);
    let tasks = app.engine.tasks();
    id.outcome(tasks.end(id.known()?, token, ended)).await?;
    Ok(StatusCode::OK)
}

/// A worker is still at its task: its lock counts from now.
#[utoipa::path(
    post,
    path = "/api/external-tasks/{id}/heartbeat",
    params(LockQuery),
    request_body(content = Heartbeat),
    responses(
        (status = 200, description = "The lock counts from now"),
        (status = 409, description = "The worker does not have the task"),
    ),
)]
pub(super) async fn beat_task(
    app: App,
    id: Id<TaskId>,
    Params(query): Params<LockQuery>,
    headers: HeaderMap,
    body: Content,
) -> Result<StatusCode, Problem> {
    let token = token(&query, &headers);
    let beat: Heartbeat = match body.is_blank() {
        true => Heartbeat::default(),
        false => body.read()?,
    };
    let message = beat.progress_message.map(|text| {
        let end = text.floor_char_boundary(MESSAGE_BYTES_MAX.min(text.len()));
        text[..end].to_owned()
    });
    let tasks = app.engine.tasks();
    let beating = tasks.heartbeat(id.known()?, token, beat.progress, message);
    id.outcome(beating).await?;
    Ok(StatusCode::OK)
}

/// A worker needs its task for longer; never beyond the attempt's time.
#[utoipa::path(
    post,
    path = "/api/external-tasks/{id}/extend",
    params(LockQuery),
    request_body(content = ExtendTask),
    responses(
        (status = 200, description = "The lock lasts until then at least"),
        (status = 409, description = "The worker does not have the task"),
    ),
)]
pub(super) async fn extend_task(
    app: App,
    id: Id<TaskId>,
    Params(query): Params<LockQuery>,
    headers: HeaderMap,
    body: Content,
) -> Result<StatusCode, Problem> {
    let token = token(&query, &headers);
    let ExtendTask { seconds } = body.read()?;
    let by = Duration::from_secs(seconds);
    let tasks = app.engine.tasks();
    id.outcome(tasks.extend(id.known()?, token, by)).await?;
    Ok(StatusCode::OK)
}

/// A worker gives its task back. That is no attempt; another worker gets it at once.
#[utoipa::path(
    post,
    path = "/api/external-tasks/{id}/unlock",
    params(LockQuery),
    responses(
        (status = 200, description = "It is given back, now or by the same call before"),
        (status = 409, description = "The worker does not have the task"),
    ),
)]
pub(super) async fn unlock_task(
    app: App,
    id: Id<TaskId>,
    Params(query): Params<LockQuery>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let token = token(&query, &headers);
    let tasks = app.engine.tasks();
    id.outcome(tasks.unlock(id.known()?, token)).await?;
    Ok(StatusCode::OK)
}

/// Tasks, newest first.
#[utoipa::path(
    get,
    path = "/api/external-tasks",
    params(TaskQuery, Paging),
    responses(
        (status = 200, description = "A page of tasks", body = TaskPage),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
pub(super) async fn list_tasks(
    app: App,
    Params((query, paging)): Params<(TaskQuery, Paging)>,
) -> Answer<TaskPage> {
    if query.task_type.as_ref().is_some_and(|it| it.contains('*')) {
        let said = "a whole type is meant here; a `*` is for polls";
        return Err(Problem::field(&codes::INVALID_PARAMETER, "taskType", said));
    }
    let filter = TaskFilter {
        statuses: view::statuses(&query.status),
        task_type: query.task_type.clone(),
        worker: query.worker_id.clone(),
        execution: parsed(query.execution_id.as_deref())?,
    };
    let window = Window::new(List::Tasks, &filter, &paging)?;
    let rows = app
        .engine
        .store()
        .tasks(&filter, window.behind, window.rows)
        .await?;
    let page = window.page(rows, |row| row.id());
    let items = page.items.iter().map(view::task).collect();
    Ok(Json(TaskPage {
        items,
        next_cursor: page.next_cursor,
    }))
}

/// A task with its input, and its output when it is done.
#[utoipa::path(
    get,
    path = "/api/external-tasks/{id}",
    responses((status = 200, description = "The task", body = Task)),
)]
pub(super) async fn get_task(app: App, id: Id<TaskId>, _: Params<()>) -> Answer<Task> {
    let row = app.engine.store().task(id.known()?).await?;
    let row = row.ok_or_else(|| id.missing())?;
    Ok(Json(view::detail(&app, &row).await?))
}
