//! Triggers: make, look, change, remove.

mod act;
mod history;
mod requests;
mod slots;
mod tester;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use refire_client::model::{Page, Trigger};
use refire_client::query::{ChangeQuery, OfWorkflow, Paging, TriggerQuery};
use refire_core::definition::WorkflowId;
use refire_core::execution::TriggerKind;
use refire_core::id::TriggerId;
use refire_core::trigger::CatchUp;
use refire_engine::trigger::{NewTrigger, TriggerError, TriggerView};
use refire_store::TriggerFilter;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::body::Content;
use super::cursor::List;
use super::origin::Origin;
use super::page::Window;
use super::problem::Problem;
use super::query::{Params, meant, parsed};
use super::workflow::known_name;
use super::{view, workflow};
use crate::codes;

/// The kinds that there are.
pub(super) const KINDS: [TriggerKind; 3] = [
    TriggerKind::Cron,
    TriggerKind::Schedule,
    TriggerKind::Webhook,
];

fn kind(name: &str) -> Option<TriggerKind> {
    KINDS.into_iter().find(|kind| kind.name() == name)
}

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(create, of_workflow))
        .routes(routes!(list))
        .routes(routes!(one, change, replace, delete))
        .merge(act::router())
        .merge(slots::router())
        .merge(requests::router())
        .merge(tester::router())
        .merge(history::router())
}

/// The trigger of a path; what is not an id is simply not there.
fn known_id(id: &str) -> Result<TriggerId, Problem> {
    id.parse().map_err(|_| not_found(id))
}

fn not_found(id: &str) -> Problem {
    Problem::new(&codes::NO_TRIGGER, format!("there is no trigger `{id}`"))
}

/// Names the trigger that is not there.
fn named(id: &str) -> impl Fn(TriggerError) -> Problem + '_ {
    move |error| match error {
        TriggerError::NotFound => not_found(id),
        other => other.into(),
    }
}

async fn find(app: &App, id: &str) -> Result<TriggerView, Problem> {
    app.engine
        .triggers()
        .get(known_id(id)?)
        .await
        .map_err(named(id))
}

/// A trigger as shown, with its secret if that is new.
fn shown(app: &App, origin: &Origin, new: &NewTrigger) -> Result<Trigger, Problem> {
    let mut trigger = view::trigger::trigger(&new.view, app.engine.now(), origin)?;
    trigger.about.secret = new.secret.as_ref().map(|secret| secret.reveal().to_owned());
    trigger.about.unchanged = new.is_unchanged;
    Ok(trigger)
}

/// Creates a trigger for a workflow.
///
/// A `cron` trigger fires on an expression, a `schedule` at an interval, at single moments or at
/// times of day, and a `webhook` when a request arrives. The answer has the `id` and, for a webhook,
/// its address and its `secret`, which is shown only once.
#[utoipa::path(
    post,
    path = "/api/workflows/{id}/triggers",
    operation_id = "create_trigger",
    tag = "Triggers",
    params(("id" = String, Path, description = "The workflow's name", example = "customer_360_view")),
    request_body(
        content(
            (serde_json::Value = "application/json", example = json!({"trigger_type": "cron", "cron_expression": "0 9 * * MON", "timezone": "Asia/Taipei", "overlap": "skip", "misfire": "fire_once", "input": {"customer_id": 42}})),
            (String = "application/yaml"),
        ),
        description = "The settings, in JSON or YAML",
    ),
    responses(
        (status = 201, description = "The trigger", body = Trigger, headers(("Location" = String, description = "The trigger"))),
        (status = 400, description = "Every problem of the trigger"),
        (status = 404, description = "There is no such workflow"),
        (status = 500, description = "Secrets cannot be stored"),
    ),
)]
async fn create(
    State(app): State<App>,
    Path(id): Path<String>,
    _: Params<()>,
    origin: Origin,
    body: Content,
) -> Result<Response, Problem> {
    let workflow = known_name(&id)?;
    let new = app
        .engine
        .triggers()
        .create(&workflow, body.text()?)
        .await?;
    let trigger = shown(&app, &origin, &new)?;
    let location = format!("/api/triggers/{}", trigger.about.id);
    let mut response = (StatusCode::CREATED, Json(trigger)).into_response();
    if let Ok(location) = HeaderValue::from_str(&location) {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

/// The triggers of a workflow, oldest first.
#[utoipa::path(
    get,
    path = "/api/workflows/{id}/triggers",
    operation_id = "list_workflow_triggers",
    tag = "Triggers",
    params(
        ("id" = String, Path, description = "The workflow's name", example = "customer_360_view"),
        TriggerQuery,
        Paging,
    ),
    responses(
        (status = 200, description = "A page of triggers", body = Page<Trigger>),
        (status = 404, description = "There is no such workflow"),
    ),
)]
async fn of_workflow(
    State(app): State<App>,
    Path(id): Path<String>,
    Params((query, paging)): Params<(TriggerQuery, Paging)>,
    origin: Origin,
) -> Result<Json<Page<Trigger>>, Problem> {
    let name = known_name(&id)?;
    if workflow::find(&app, &name).await?.is_none() {
        return Err(workflow::not_found(&id));
    }
    listed(&app, Some(name), &query, &paging, &origin).await
}

/// Triggers, oldest first.
#[utoipa::path(
    get,
    path = "/api/triggers",
    operation_id = "list_triggers",
    tag = "Triggers",
    params(OfWorkflow, TriggerQuery, Paging),
    responses(
        (status = 200, description = "A page of triggers", body = Page<Trigger>),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
async fn list(
    State(app): State<App>,
    Params((of, (query, paging))): Params<(OfWorkflow, (TriggerQuery, Paging))>,
    origin: Origin,
) -> Result<Json<Page<Trigger>>, Problem> {
    let workflow = parsed(of.workflow.as_deref())?;
    listed(&app, workflow, &query, &paging, &origin).await
}

async fn listed(
    app: &App,
    workflow: Option<WorkflowId>,
    query: &TriggerQuery,
    paging: &Paging,
    origin: &Origin,
) -> Result<Json<Page<Trigger>>, Problem> {
    let filter = TriggerFilter {
        workflow,
        kinds: meant(&query.trigger_type, kind),
        enabled: query.enabled,
        is_alarmed: query.overdue,
    };
    let window = Window::new(List::Triggers, &filter, paging)?;
    let store = app.engine.store();
    let rows = store.triggers(&filter, window.behind, window.rows).await?;
    let page = window.page(rows, |row| row.id);
    let now = app.engine.now();
    let mut items = Vec::with_capacity(page.items.len());
    for row in &page.items {
        let view = app.engine.triggers().view(row.clone()).await?;
        items.push(view::trigger::trigger(&view, now, origin)?);
    }
    Ok(Json(page.with(items)))
}

/// A trigger: its settings, when it fires next, and its state.
#[utoipa::path(
    get,
    path = "/api/triggers/{id}",
    operation_id = "get_trigger",
    tag = "Triggers",
    params(("id" = String, Path, description = "`trg_…`")),
    responses(
        (status = 200, description = "The trigger", body = Trigger),
        (status = 404, description = "There is none"),
    ),
)]
async fn one(
    State(app): State<App>,
    Path(id): Path<String>,
    _: Params<()>,
    origin: Origin,
) -> Result<Json<Trigger>, Problem> {
    let view = find(&app, &id).await?;
    let trigger = view::trigger::trigger(&view, app.engine.now(), &origin)?;
    Ok(Json(trigger))
}

/// Changes a trigger by a JSON merge patch.
///
/// `null` resets a field to its default. Objects are changed field by field, except `input`, which is
/// replaced. The type cannot change. This can also fix a trigger that can no longer be read (see its
/// `problem`). A change of nothing makes no new version, and the answer says `unchanged`.
#[utoipa::path(
    patch,
    path = "/api/triggers/{id}",
    operation_id = "change_trigger",
    tag = "Triggers",
    params(
        ("id" = String, Path, description = "`trg_…`"),
        ChangeQuery,
    ),
    request_body(
        content(
            (serde_json::Value = "application/json", example = json!({"cron_expression": "0 10 * * MON", "jitter": null})),
            (String = "application/yaml"),
        ),
        description = "The fields to change",
    ),
    responses(
        (status = 200, description = "The trigger as it is now", body = Trigger),
        (status = 400, description = "Every problem of the result"),
        (status = 404, description = "There is none"),
        (status = 503, description = "It is being changed by somebody else"),
    ),
)]
async fn change(
    State(app): State<App>,
    Path(id): Path<String>,
    Params(query): Params<ChangeQuery>,
    origin: Origin,
    body: Content,
) -> Result<Json<Trigger>, Problem> {
    let catch_up = catch_up(query.catch_up.unwrap_or_default());
    let changed = app
        .engine
        .triggers()
        .change(known_id(&id)?, body.text()?, catch_up)
        .await
        .map_err(named(&id))?;
    Ok(Json(shown(&app, &origin, &changed)?))
}

/// Replaces all settings of a trigger.
///
/// Fields that are not named are reset to their defaults. The type and the address of a webhook stay,
/// and so does its secret as long as the authentication stays the same. Whether it is enabled stays
/// unless `enabled` is given.
#[utoipa::path(
    put,
    path = "/api/triggers/{id}",
    operation_id = "replace_trigger",
    tag = "Triggers",
    params(
        ("id" = String, Path, description = "`trg_…`"),
        ChangeQuery,
    ),
    request_body(
        content(
            (serde_json::Value = "application/json", example = json!({"trigger_type": "cron", "cron_expression": "0 10 * * MON"})),
            (String = "application/yaml"),
        ),
        description = "The settings, as for a new trigger",
    ),
    responses(
        (status = 200, description = "The trigger as it is now", body = Trigger),
        (status = 400, description = "Every problem of it"),
        (status = 404, description = "There is none"),
        (status = 503, description = "It is being changed by somebody else"),
    ),
)]
async fn replace(
    State(app): State<App>,
    Path(id): Path<String>,
    Params(query): Params<ChangeQuery>,
    origin: Origin,
    body: Content,
) -> Result<Json<Trigger>, Problem> {
    let catch_up = catch_up(query.catch_up.unwrap_or_default());
    let replaced = app
        .engine
        .triggers()
        .replace(known_id(&id)?, body.text()?, catch_up)
        .await
        .map_err(named(&id))?;
    Ok(Json(shown(&app, &origin, &replaced)?))
}

fn catch_up(wanted: bool) -> CatchUp {
    if wanted { CatchUp::Yes } else { CatchUp::No }
}

/// Deletes a trigger. Its executions are kept.
#[utoipa::path(
    delete,
    path = "/api/triggers/{id}",
    operation_id = "delete_trigger",
    tag = "Triggers",
    params(("id" = String, Path, description = "`trg_…`")),
    responses(
        (status = 204, description = "Deleted"),
        (status = 404, description = "There is none"),
    ),
)]
async fn delete(
    State(app): State<App>,
    Path(id): Path<String>,
    _: Params<()>,
) -> Result<StatusCode, Problem> {
    let removed = app.engine.triggers().delete(known_id(&id)?).await;
    removed.map_err(named(&id))?;
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod tests;
