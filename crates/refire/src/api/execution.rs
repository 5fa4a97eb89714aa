//! Executions: lists, one with everything, its log, commands.

use axum::Json;
use axum::extract::{Extension, Path, State};
use refire_client::model::{Event, Execution, Page, Problem as ProblemModel};
use refire_core::definition::WorkflowId;
use refire_core::execution::{Cancel, Command, EventKind, Status};
use refire_core::id::ExecutionId;
use refire_store::{EventFilter, ExecutionFilter};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::auth::Actor;
use super::cursor::{List, Scope};
use super::problem::Problem;
use super::query::Query;
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
pub(super) fn filter(query: &mut Query) -> ExecutionFilter {
    ExecutionFilter {
        workflow: query.value::<WorkflowId>("workflow"),
        statuses: query.words("status", &Status::ALL, Status::name),
        retried: false,
    }
}

/// The place of a row in lists of executions.
pub(super) fn from_key(key: &[u8]) -> Option<ExecutionId> {
    Some(ExecutionId::from_bytes(key.try_into().ok()?))
}

/// Executions, newest first, without input, output and steps.
#[utoipa::path(
    get,
    path = "/api/executions",
    operation_id = "list_executions",
    tag = "Executions",
    params(
        ("workflow" = Option<String>, Query, description = "Of this workflow"),
        ("status" = Option<String>, Query, description = "With one of these statuses; repeat it or separate by commas, such as `running,retrying`"),
        ("limit" = Option<u32>, Query, description = "Rows, 1 to 1000; default 50"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses(
        (status = 200, description = "A page of executions", body = Page<Execution>),
        (status = 400, description = "A parameter is wrong", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn list(State(app): State<App>, mut query: Query) -> Result<Json<Page<Execution>>, Problem> {
    let filter = filter(&mut query);
    let limit = query.limit();
    let cursor = query.text("cursor");
    query.finish()?;
    let scope = Scope::new(List::Executions, &filter);
    let before = scope.key(cursor.as_deref(), from_key)?;
    let store = app.engine.store();
    let mut rows = store
        .executions(&filter, before, page::rows_to_read(limit))
        .await?;
    let next_cursor = page::cut(&mut rows, limit, &scope, |row| row.id.as_bytes().to_vec());
    let mut items = Vec::with_capacity(rows.len());
    for row in &rows {
        items.push(view::execution::listed(&app.engine, row).await?);
    }
    Ok(Json(Page { items, next_cursor }))
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
        (status = 404, description = "There is none", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn one(
    State(app): State<App>,
    Path(id): Path<String>,
    query: Query,
) -> Result<Json<Execution>, Problem> {
    query.finish()?;
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
        ("attempt" = Option<u32>, Query, description = "About this attempt, such as 2"),
        ("type" = Option<String>, Query, description = "Of one of these types; repeat it or separate by commas, such as `STEP_FAILED,RETRY_SCHEDULED`"),
        ("step" = Option<String>, Query, description = "About this step"),
        ("limit" = Option<u32>, Query, description = "Rows, 1 to 1000; default 50"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses(
        (status = 200, description = "A page of events", body = Page<Event>),
        (status = 404, description = "There is no such execution", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    mut query: Query,
) -> Result<Json<Page<Event>>, Problem> {
    let filter = EventFilter {
        attempt: query.number("attempt", 1, u32::MAX),
        names: event_types(&mut query),
        step: query.text("step"),
    };
    let limit = query.limit();
    let cursor = query.text("cursor");
    query.finish()?;
    let execution = known_id(&id)?;
    let scope = Scope::new(List::Events, &(execution, &filter));
    let sequence = |key: &[u8]| Some(u64::from_be_bytes(key.try_into().ok()?));
    let after = scope.key(cursor.as_deref(), sequence)?.unwrap_or(0);
    let store = app.engine.store();
    let mut rows = store
        .history(execution, &filter, after, page::rows_to_read(limit))
        .await?;
    if rows.is_empty() && store.execution(execution).await?.is_none() {
        return Err(not_found(&id));
    }
    let next_cursor = page::cut(&mut rows, limit, &scope, |row| {
        row.sequence.to_be_bytes().to_vec()
    });
    let items = rows
        .into_iter()
        .map(view::event::event)
        .collect::<Result<_, _>>()?;
    Ok(Json(Page { items, next_cursor }))
}

/// In any case, since they are shouted in the log and nowhere else.
fn event_types(query: &mut Query) -> Vec<String> {
    let names = query.all("type").into_iter();
    let names: Vec<String> = names.map(|name| name.to_ascii_uppercase()).collect();
    for name in &names {
        if !EventKind::NAMES.contains(&name.as_str()) {
            let known = EventKind::NAMES.join(", ");
            query.refuse("type", format!("`{name}` is not one of {known}"));
        }
    }
    names
}

/// Ends an execution. Timers are dropped and results of attempts in flight ignored.
#[utoipa::path(
    post,
    path = "/api/executions/{id}/cancel",
    operation_id = "cancel_execution",
    tag = "Executions",
    params(
        ("id" = String, Path, description = "`exec_…`"),
        ("compensate" = Option<bool>, Query, description = "Undo completed steps first"),
    ),
    responses(
        (status = 200, description = "Cancelled, now or before", body = Execution),
        (status = 404, description = "There is none", body = ProblemModel, content_type = "application/problem+json"),
        (status = 409, description = "It has already ended in another way", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn cancel(
    State(app): State<App>,
    Extension(actor): Extension<Actor>,
    Path(id): Path<String>,
    mut query: Query,
) -> Result<Json<Execution>, Problem> {
    let compensate = query.flag("compensate");
    query.finish()?;
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
        (status = 404, description = "There is none", body = ProblemModel, content_type = "application/problem+json"),
        (status = 409, description = "It has ended, or is undoing its steps", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn pause(
    State(app): State<App>,
    Extension(actor): Extension<Actor>,
    Path(id): Path<String>,
    query: Query,
) -> Result<Json<Execution>, Problem> {
    query.finish()?;
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
        (status = 404, description = "There is none", body = ProblemModel, content_type = "application/problem+json"),
        (status = 409, description = "It is not paused", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn resume(
    State(app): State<App>,
    Extension(actor): Extension<Actor>,
    Path(id): Path<String>,
    query: Query,
) -> Result<Json<Execution>, Problem> {
    query.finish()?;
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
