//! Starting executions, one or many. A 2xx answer means: it is on disk.

use std::time::Duration;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use refire_client::model::{Accepted, Execution, ExecutionStatus, Input};
use refire_client::query::ExecuteQuery;
use refire_core::definition::WorkflowId;
use refire_core::duration;
use refire_core::execution::{Status, Trigger};
use refire_core::id::ExecutionId;
use refire_core::json::Json as Text;
use refire_core::limit::PRIORITY_DEFAULT;
use refire_core::trace::Trace;
use refire_engine::Submission;
use refire_store::Stored;

use super::{Actor, App, Content, Id, Params, Problem, view};
use crate::codes;

/// The longest wait for an execution's end.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(60);
/// How far a start may be put off.
pub(super) const DELAY_MAX: Duration = Duration::from_secs(365 * 24 * 3_600);
/// Characters of an idempotency key.
pub(super) const KEY_LENGTH_MAX: usize = 255;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Starts an execution with the body as its input.
///
/// With an `Idempotency-Key`, a repeated request does not start a second execution: for 7 days it
/// gets the id of the first. With `wait` the answer is the finished execution, if it ends in time.
#[utoipa::path(
    post,
    path = "/api/workflows/{id}/execute",
    params(
        ExecuteQuery,
        ("Idempotency-Key" = Option<String>, Header, description = "The same key never starts a second execution; such as `order-4711`"),
        ("traceparent" = Option<String>, Header, description = "The caller's trace (W3C); the calls of the steps belong to it"),
    ),
    request_body(
        content = inline(Input), content_type = "application/json",
        description = "The input: any JSON value but null; an empty body is {}",
        example = json!({"customer_id": 4711}),
    ),
    responses(
        (status = 200, description = "It ended within the wait", body = Execution),
        (status = 202, description = "It is saved and will run", body = Accepted,
            headers(("Location" = String, description = "The execution"), ("Idempotent-Replayed" = String, description = "true if the key was used before for this execution")),
            example = json!({"execution_id": "exec_01kb2m8x0c7q2t5v9w3y4z6a8d", "status": "pending"})),
        (status = 400, description = "The body or a parameter is wrong"),
        (status = 409, description = "The key was used with another input"),
        (status = 413, description = "The body is too large"),
        (status = 500, description = "It may have been accepted: repeat with the same key"),
        (status = 503, description = "Nothing was started"),
    ),
)]
pub(super) async fn execute_workflow(
    app: App,
    actor: Actor,
    id: Id<WorkflowId>,
    Params(query): Params<ExecuteQuery>,
    headers: HeaderMap,
    body: Content,
) -> Result<Response, Problem> {
    let time = |text: Option<&str>| text.map(duration::parse).transpose();
    let wait = time(query.wait.as_deref()).map_err(Problem::internal)?;
    let delay = time(query.delay.as_deref()).map_err(Problem::internal)?;
    let submission = Submission {
        workflow: id.known()?,
        input: input(&body)?,
        trigger: Trigger::manual(Some(actor.name())),
        idempotency_key: idempotency_key(&headers)?,
        priority: query
            .priority
            .and_then(|one| u8::try_from(one).ok())
            .unwrap_or(PRIORITY_DEFAULT),
        delay,
        retry: None,
        trace: trace(&headers),
    };
    let workflow = submission.workflow.clone();
    let accepted_one = app.engine.executions().submit(submission).await?;
    let started = settle(&accepted_one, &workflow)?;
    match wait {
        Some(wait) => Ok(finished(&app, started, wait).await),
        None => Ok(accepted(&app, started).await),
    }
}

/// The caller's trace, which the calls of the steps continue.
pub(super) fn trace(headers: &HeaderMap) -> Option<Trace> {
    let all = |name| headers.get_all(name).iter().map(HeaderValue::as_bytes);
    Trace::read(all("traceparent"), all("tracestate"))
}

/// The body as an input.
fn input(body: &Content) -> Result<Text, Problem> {
    if body.is_blank() {
        return Ok(Text::empty_object());
    }
    not_null(body.json()?)
}

/// `null` is nearly always a mistake of whoever made the body.
pub(super) fn not_null(input: Text) -> Result<Text, Problem> {
    if input.is_null() {
        let detail = "the input is null; send a JSON value, or an empty body for {}";
        return Err(Problem::new(&codes::INVALID_BODY, detail));
    }
    Ok(input)
}

pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let key = match std::str::from_utf8(value.as_bytes()) {
        _ if values.next().is_some() => Err("is given more than once"),
        Ok(key) => checked_key(key),
        Err(_) => Err("is not UTF-8"),
    };
    key.map(Some).map_err(wrong_key)
}

fn wrong_key(message: impl Into<String>) -> Problem {
    Problem::field(&codes::INVALID_PARAMETER, "Idempotency-Key", message)
}

/// Refuses a key where none is kept: whoever sends one counts on it.
pub(super) fn no_idempotency_key(headers: &HeaderMap, instead: &str) -> Result<(), Problem> {
    if !headers.contains_key(IDEMPOTENCY_KEY) {
        return Ok(());
    }
    let message = format!("is not supported here; leave it out: {instead}");
    Err(wrong_key(message))
}

/// A key that can be kept.
pub(super) fn checked_key(key: &str) -> Result<String, &'static str> {
    match key.chars().count() {
        0 => Err("is empty"),
        1..=KEY_LENGTH_MAX => Ok(key.to_owned()),
        _ => Err("has more than 255 characters"),
    }
}

/// A durable execution.
pub(super) struct Started {
    pub(super) id: ExecutionId,
    pub(super) duplicate: bool,
}

/// What became of a submission: an execution, or a key that belongs to another input.
pub(super) fn settle(
    accepted: &refire_engine::Accepted,
    workflow: &WorkflowId,
) -> Result<Started, Problem> {
    let (id, duplicate, differs) = match *accepted {
        refire_engine::Accepted::New { id, .. } => (id, false, false),
        refire_engine::Accepted::Duplicate { id, body_differs } => (id, true, body_differs),
    };
    if differs {
        let detail = format!(
            "the idempotency key belongs to {id} of workflow `{workflow}`, which was started with \
             another input"
        );
        return Err(Problem::new(&codes::IDEMPOTENCY_CONFLICT, detail));
    }
    Ok(Started { id, duplicate })
}

/// Waits for the end, unless the server stops meanwhile.
///
/// The execution is durable already, so nothing that goes wrong from here on may look as if it
/// were not: then the answer is 202.
async fn finished(app: &App, started: Started, wait: Duration) -> Response {
    let stored = tokio::select! {
        stored = app.engine.executions().wait(started.id, wait) => stored.ok().flatten(),
        () = app.gate.stopping() => None,
    };
    let is_over = |stored: &&Stored| stored.state.status.is_terminal();
    let shown = match stored.as_ref().filter(is_over) {
        Some(stored) => view::execution::full(&app.engine, stored).await.ok(),
        None => None,
    };
    let Some(execution) = shown else {
        let status = current(app, started.id).await;
        return accepted_as(&started, status);
    };
    let mut response = Json(execution).into_response();
    mark(&mut response, &started);
    response
}

/// 202, with where to look.
pub(super) async fn accepted(app: &App, started: Started) -> Response {
    let status = status_of(app, &started).await;
    accepted_as(&started, status)
}

fn accepted_as(started: &Started, status: Status) -> Response {
    let mut response = (StatusCode::ACCEPTED, Json(shown(started, status))).into_response();
    mark(&mut response, started);
    response
}

/// An accepted execution as shown.
pub(super) async fn model(app: &App, started: &Started) -> Accepted {
    shown(started, status_of(app, started).await)
}

/// A new one has only just been written; an earlier one may have gone on since.
async fn status_of(app: &App, started: &Started) -> Status {
    match started.duplicate {
        false => Status::Pending,
        true => current(app, started.id).await,
    }
}

/// The status that anybody would see now.
async fn current(app: &App, id: ExecutionId) -> Status {
    match app.engine.store().execution(id).await {
        Ok(Some(stored)) => stored.status(),
        _ => Status::Pending,
    }
}

fn shown(started: &Started, status: Status) -> Accepted {
    Accepted {
        execution_id: started.id.to_string(),
        status: ExecutionStatus::from_name(status.name()),
        duplicate: started.duplicate,
    }
}

fn mark(response: &mut Response, started: &Started) {
    let headers = response.headers_mut();
    if let Ok(location) = HeaderValue::from_str(&format!("/api/executions/{}", started.id)) {
        headers.insert(LOCATION, location);
    }
    if started.duplicate {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
}
