//! Executions: one with everything, its log, commands.

pub(super) mod bulk;
pub(super) mod list;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use refire_client::model::{Attempt, Event, Execution, ExecutionRunAgain, Page};
use refire_client::query::{CancelQuery, EventQuery, Paging, RetryNowQuery};
use refire_core::definition::StepId;
use refire_core::execution::{self, Attempts, Cancel, Command, Refusal, RetryNow};
use refire_core::id::ExecutionId;
use refire_engine::ReplayError;
use refire_store::{EventFilter, LIMIT_MAX, TaskFilter};

use super::{Actor, Answer, App, Id, List, Params, Problem, Window, page, view};
use crate::codes;

/// One execution with its input, output and steps.
#[utoipa::path(
    get,
    path = "/api/executions/{id}",
    responses((status = 200, description = "The execution", body = Execution)),
)]
pub(super) async fn get_execution(
    app: App,
    id: Id<ExecutionId>,
    _: Params<()>,
) -> Answer<Execution> {
    show(&app, &id).await
}

async fn show(app: &App, id: &Id<ExecutionId>) -> Answer<Execution> {
    let stored = app.engine.store().execution(id.known()?).await?;
    let stored = stored.ok_or_else(|| id.missing())?;
    Ok(Json(view::execution::full(&app.engine, &stored).await?))
}

/// An execution's log, oldest first.
#[utoipa::path(
    get,
    path = "/api/executions/{id}/events",
    params(EventQuery, Paging),
    responses(
        (status = 200, description = "A page of events", body = Page<Event>),
        (status = 404, description = "There is no such execution"),
    ),
)]
pub(super) async fn list_events(
    app: App,
    id: Id<ExecutionId>,
    Params((query, paging)): Params<(EventQuery, Paging)>,
) -> Answer<Page<Event>> {
    // In any case, since they are shouted in the log and nowhere else.
    let names = query.event_type.iter();
    let filter = EventFilter {
        attempt: query.attempt,
        names: names.map(|name| name.to_ascii_uppercase()).collect(),
        step: query.step,
    };
    let execution = id.known()?;
    let window = Window::new(List::Events, &(execution, &filter), &paging)?;
    let after = window.behind.unwrap_or(0);
    let store = app.engine.store();
    let rows = store
        .history(execution, &filter, after, window.rows)
        .await?;
    if rows.is_empty() && store.execution(execution).await?.is_none() {
        return Err(id.missing());
    }
    let page = window.page(rows, |row| row.sequence);
    page::shown(page, |row| async { view::event::event(row) }).await
}

/// An execution's attempts, in the order in which they were planned: from its log, and those under way from
/// their rows.
#[utoipa::path(
    get,
    path = "/api/executions/{id}/attempts",
    responses((status = 200, description = "All attempts", body = Page<Attempt>)),
)]
pub(super) async fn list_attempts(
    app: App,
    id: Id<ExecutionId>,
    _: Params<()>,
) -> Answer<Page<Attempt>> {
    let execution = id.known()?;
    let store = app.engine.store();
    let stored = store.execution(execution).await?;
    let stored = stored.ok_or_else(|| id.missing())?;
    let of_execution = TaskFilter {
        execution: Some(execution),
        ..TaskFilter::default()
    };
    let tasks = store.tasks(&of_execution, None, LIMIT_MAX).await?;
    let rows = app.engine.executions().history(execution).await?;
    let log = rows.iter().map(execution::Event::decode);
    let log: Vec<_> = log.collect::<Result<_, _>>().map_err(ReplayError::from)?;
    let now = app.engine.now();
    let attempts = Attempts::of(&log).into_iter();
    let shown = attempts.map(|one| view::attempt::attempt(one, &stored, &tasks, now));
    Ok(Json(page::whole(shown.collect())))
}

/// Ends an execution. Timers are dropped and results of attempts in flight ignored.
#[utoipa::path(
    post,
    path = "/api/executions/{id}/cancel",
    params(CancelQuery),
    responses(
        (status = 200, description = "Cancelled, now or before", body = Execution),
        (status = 409, description = "It has already ended in another way"),
    ),
)]
pub(super) async fn cancel_execution(
    app: App,
    actor: Actor,
    id: Id<ExecutionId>,
    Params(query): Params<CancelQuery>,
) -> Answer<Execution> {
    let compensate = query.compensate.unwrap_or_default();
    let cancel = Cancel {
        compensate,
        ..Cancel::by(Some(actor.name()))
    };
    command(&app, &id, Command::Cancel(cancel)).await
}

/// Pauses an execution: attempts in flight finish, nothing new starts.
#[utoipa::path(
    post,
    path = "/api/executions/{id}/pause",
    responses(
        (status = 200, description = "Paused", body = Execution),
        (status = 409, description = "It has ended, or is undoing its steps"),
    ),
)]
pub(super) async fn pause_execution(
    app: App,
    actor: Actor,
    id: Id<ExecutionId>,
    _: Params<()>,
) -> Answer<Execution> {
    let by = Some(actor.name());
    command(&app, &id, Command::Pause { by }).await
}

/// Resumes a paused execution where it stopped.
#[utoipa::path(
    post,
    path = "/api/executions/{id}/resume",
    responses(
        (status = 200, description = "Resumed", body = Execution),
        (status = 409, description = "It is not paused"),
    ),
)]
pub(super) async fn resume_execution(
    app: App,
    actor: Actor,
    id: Id<ExecutionId>,
    _: Params<()>,
) -> Answer<Execution> {
    let by = Some(actor.name());
    command(&app, &id, Command::Resume { by }).await
}

/// Makes retries that wait now, in place of later. Each counts as the attempt that was planned.
#[utoipa::path(
    post,
    path = "/api/executions/{id}/retry-now",
    params(RetryNowQuery),
    responses(
        (status = 200, description = "The retry may begin", body = Execution),
        (status = 409, description = "No retry is waiting, or the execution is paused"),
    ),
)]
pub(super) async fn retry_execution_now(
    app: App,
    actor: Actor,
    id: Id<ExecutionId>,
    Params(query): Params<RetryNowQuery>,
) -> Answer<Execution> {
    let wish = RetryNow {
        step: query.step.as_deref().map(step_id).transpose()?,
        by: Some(actor.name()),
    };
    command(&app, &id, Command::RetryNow(wish)).await
}

/// Runs an execution again: a new execution with the same input, by the newest definition.
#[utoipa::path(
    post,
    path = "/api/executions/{id}/run-again",
    responses(
        (status = 202, description = "The new execution is saved", body = ExecutionRunAgain),
        (status = 409, description = "Its workflow was deleted"),
    ),
)]
pub(super) async fn run_execution_again(
    app: App,
    actor: Actor,
    id: Id<ExecutionId>,
    _: Params<()>,
) -> Result<Response, Problem> {
    let executions = app.engine.executions();
    let by = actor.name();
    let new = id.outcome(executions.run_again(id.known()?, &by)).await?;
    let body = ExecutionRunAgain {
        id: id.to_string(),
        execution_id: new.to_string(),
    };
    Ok((StatusCode::ACCEPTED, Json(body)).into_response())
}

/// No step is called by what cannot be a name, so none of that name waits.
fn step_id(text: &str) -> Result<StepId, Problem> {
    StepId::new(text).map_err(|_| Problem::new(&codes::REFUSED, Refusal::NotRetrying.to_string()))
}

async fn command(app: &App, id: &Id<ExecutionId>, command: Command) -> Answer<Execution> {
    id.outcome(app.engine.executions().command(id.known()?, command))
        .await?;
    // It is done; that it cannot be shown just now must not look as if it were not.
    show(app, id).await.map_err(|_| {
        let detail = "it is done, but the execution cannot be read at the moment";
        Problem::new(&codes::INTERNAL, detail)
    })
}
