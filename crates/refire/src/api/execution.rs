//! Executions: lists, one with everything, its log, commands.

use axum::Json;
use axum::extract::{Extension, Path, State};
use refire_client::model::{Event, Execution, Page};
use refire_client::query::{CancelQuery, EventQuery, ExecutionQuery, Paging};
use refire_core::execution::{Cancel, Command, Status};
use refire_core::id::ExecutionId;
use refire_store::{EventFilter, ExecutionFilter, Summary};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::auth::Actor;
use super::cursor::List;
use super::page::Window;
use super::problem::Problem;
use super::query::{Params, meant, parsed};
use super::{page, view};
use crate::codes;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(one))
        .routes(routes!(events))
        .routes(routes!(cancel))
        .routes(routes!(pause))
        .routes(routes!(resume))
}

/// The execution of a path; what is not an id is simply not there.
pub(super) fn known_id(id: &str) -> Result<ExecutionId, Problem> {
    id.parse().map_err(|_| not_found(id))
}

pub(super) fn not_found(id: &str) -> Problem {
    Problem::new(
        &codes::NO_EXECUTION,
        format!("there is no execution `{id}`"),
    )
}

/// The filters that lists of executions share.
pub(super) fn filter(query: &ExecutionQuery) -> Result<ExecutionFilter, Problem> {
    Ok(ExecutionFilter {
        workflow: parsed(query.workflow.as_deref())?,
        statuses: meant(&query.status, Status::from_name),
        retried: false,
    })
}

/// Executions, newest first, without input, output and steps.
#[utoipa::path(
    get,
    path = "/api/executions",
    operation_id = "list_executions",
    tag = "Executions",
    params(ExecutionQuery, Paging),
    responses(
        (status = 200, description = "A page of executions", body = Page<Execution>),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
async fn list(
    State(app): State<App>,
    Params((query, paging)): Params<(ExecutionQuery, Paging)>,
) -> Result<Json<Page<Execution>>, Problem> {
    let filter = filter(&query)?;
    let page = rows(&app, List::Executions, &filter, &paging).await?;
    let mut items = Vec::with_capacity(page.items.len());
    for row in &page.items {
        items.push(view::execution::listed(&app.engine, row).await?);
    }
    Ok(Json(page.with(items)))
}

/// A page of a list of executions.
pub(super) async fn rows(
    app: &App,
    list: List,
    filter: &ExecutionFilter,
    paging: &Paging,
) -> Result<Page<Summary>, Problem> {
    let window = Window::new(list, filter, paging)?;
    let store = app.engine.store();
    let rows = store.executions(filter, window.behind, window.rows).await?;
    Ok(window.page(rows, |row| row.id))
}

/// One execution with its input, output and steps.
#[utoipa::path(
    get,
    path = "/api/executions/{id}",
    operation_id = "get_execution",
    tag = "Executions",
    params(("id" = String, Path, description = "`exec_…`")),
    responses(
        (status = 200, description = "The execution", body = Execution),
        (status = 404, description = "There is none"),
    ),
)]
async fn one(
    State(app): State<App>,
    Path(id): Path<String>,
    _: Params<()>,
) -> Result<Json<Execution>, Problem> {
    show(&app, &id).await
}

async fn show(app: &App, id: &str) -> Result<Json<Execution>, Problem> {
    let stored = app.engine.store().execution(known_id(id)?).await?;
    let stored = stored.ok_or_else(|| not_found(id))?;
    Ok(Json(view::execution::full(&app.engine, &stored).await?))
}

/// An execution's log, oldest first.
#[utoipa::path(
    get,
    path = "/api/executions/{id}/events",
    operation_id = "list_events",
    tag = "Executions",
    params(
        ("id" = String, Path, description = "`exec_…`"),
        EventQuery,
        Paging,
    ),
    responses(
        (status = 200, description = "A page of events", body = Page<Event>),
        (status = 404, description = "There is no such execution"),
    ),
)]
async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    Params((query, paging)): Params<(EventQuery, Paging)>,
) -> Result<Json<Page<Event>>, Problem> {
    // In any case, since they are shouted in the log and nowhere else.
    let names = query.event_type.iter();
    let filter = EventFilter {
        attempt: query.attempt,
        names: names.map(|name| name.to_ascii_uppercase()).collect(),
        step: query.step,
    };
    let execution = known_id(&id)?;
    let window = Window::new(List::Events, &(execution, &filter), &paging)?;
    let after = window.behind.unwrap_or(0);
    let store = app.engine.store();
    let rows = store
        .history(execution, &filter, after, window.rows)
        .await?;
    if rows.is_empty() && store.execution(execution).await?.is_none() {
        return Err(not_found(&id));
    }
    page::shown(window.page(rows, |row| row.sequence), view::event::event)
}

/// Ends an execution. Timers are dropped and results of attempts in flight ignored.
#[utoipa::path(
    post,
    path = "/api/executions/{id}/cancel",
    operation_id = "cancel_execution",
    tag = "Executions",
    params(
        ("id" = String, Path, description = "`exec_…`"),
        CancelQuery,
    ),
    responses(
        (status = 200, description = "Cancelled, now or before", body = Execution),
        (status = 404, description = "There is none"),
        (status = 409, description = "It has already ended in another way"),
    ),
)]
async fn cancel(
    State(app): State<App>,
    Extension(actor): Extension<Actor>,
    Path(id): Path<String>,
    Params(query): Params<CancelQuery>,
) -> Result<Json<Execution>, Problem> {
    let compensate = query.compensate.unwrap_or_default();
    let by = Some(actor.name().to_owned());
    command(
        &app,
        &id,
        Command::Cancel(Cancel {
            compensate,
            ..Cancel::by(by)
        }),
    )
    .await
}

/// Pauses an execution: attempts in flight finish, nothing new starts.
#[utoipa::path(
    post,
    path = "/api/executions/{id}/pause",
    operation_id = "pause_execution",
    tag = "Executions",
    params(("id" = String, Path, description = "`exec_…`")),
    responses(
        (status = 200, description = "Paused", body = Execution),
        (status = 404, description = "There is none"),
        (status = 409, description = "It has ended, or is undoing its steps"),
    ),
)]
async fn pause(
    State(app): State<App>,
    Extension(actor): Extension<Actor>,
    Path(id): Path<String>,
    _: Params<()>,
) -> Result<Json<Execution>, Problem> {
    command(
        &app,
        &id,
        Command::Pause {
            by: Some(actor.name().to_owned()),
        },
    )
    .await
}

/// Resumes a paused execution where it stopped.
#[utoipa::path(
    post,
    path = "/api/executions/{id}/resume",
    operation_id = "resume_execution",
    tag = "Executions",
    params(("id" = String, Path, description = "`exec_…`")),
    responses(
        (status = 200, description = "Resumed", body = Execution),
        (status = 404, description = "There is none"),
        (status = 409, description = "It is not paused"),
    ),
)]
async fn resume(
    State(app): State<App>,
    Extension(actor): Extension<Actor>,
    Path(id): Path<String>,
    _: Params<()>,
) -> Result<Json<Execution>, Problem> {
    command(
        &app,
        &id,
        Command::Resume {
            by: Some(actor.name().to_owned()),
        },
    )
    .await
}

async fn command(app: &App, id: &str, command: Command) -> Result<Json<Execution>, Problem> {
    match app
        .engine
        .executions()
        .command(known_id(id)?, command)
        .await
    {
        Err(refire_engine::CommandError::NotFound) => Err(not_found(id)),
        Err(error) => Err(error.into()),
        // It is done; that it cannot be shown just now must not look as if it were not.
        Ok(_) => show(app, id).await.map_err(|_| {
            let detail = "it is done, but the execution cannot be read at the moment";
            Problem::new(&codes::INTERNAL, detail)
        }),
    }
}
