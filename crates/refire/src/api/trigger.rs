//! Triggers: make, look, change, remove.

pub(super) mod act;
pub(super) mod coming;
pub(super) mod history;
pub(super) mod preview;
pub(super) mod recheck;
pub(super) mod requests;
pub(super) mod slots;
pub(super) mod tester;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use refire_client::model::{Page, Trigger};
use refire_client::query::{ChangeQuery, OfWorkflow, Paging, TriggerQuery};
use refire_core::definition::WorkflowId;
use refire_core::execution::TriggerKind;
use refire_core::id::TriggerId;
use refire_core::trigger::CatchUp;
use refire_engine::trigger::{NewTrigger, TriggerView};
use refire_store::TriggerFilter;

use super::query::{meant, parsed};
use super::{
    Answer, App, Content, Id, List, Origin, Params, Problem, Window, page, view, workflow,
};

/// The kinds that there are.
pub(super) const KINDS: [TriggerKind; 3] = [
    TriggerKind::Cron,
    TriggerKind::Schedule,
    TriggerKind::Webhook,
];

fn kind(name: &str) -> Option<TriggerKind> {
    KINDS.into_iter().find(|kind| kind.name() == name)
}

async fn find(app: &App, id: &Id<TriggerId>) -> Result<TriggerView, Problem> {
    id.outcome(app.engine.triggers().get(id.known()?)).await
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
        (status = 500, description = "Secrets cannot be stored"),
    ),
)]
pub(super) async fn create_trigger(
    app: App,
    id: Id<WorkflowId>,
    _: Params<()>,
    origin: Origin,
    body: Content,
) -> Result<Response, Problem> {
    let workflow = id.known()?;
    let new = app.engine.triggers().create(&workflow, body.text()?);
    let new = new.await?;
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
    params(TriggerQuery, Paging),
    responses((status = 200, description = "A page of triggers", body = Page<Trigger>)),
)]
pub(super) async fn list_workflow_triggers(
    app: App,
    id: Id<WorkflowId>,
    Params((query, paging)): Params<(TriggerQuery, Paging)>,
    origin: Origin,
) -> Answer<Page<Trigger>> {
    let workflow = workflow::find(&app, &id).await?.id;
    listed(&app, Some(workflow), &query, &paging, &origin).await
}

/// Triggers, oldest first.
#[utoipa::path(
    get,
    path = "/api/triggers",
    params(OfWorkflow, TriggerQuery, Paging),
    responses(
        (status = 200, description = "A page of triggers", body = Page<Trigger>),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
pub(super) async fn list_triggers(
    app: App,
    Params((of, (query, paging))): Params<(OfWorkflow, (TriggerQuery, Paging))>,
    origin: Origin,
) -> Answer<Page<Trigger>> {
    let workflow = parsed(of.workflow.as_deref())?;
    listed(&app, workflow, &query, &paging, &origin).await
}

async fn listed(
    app: &App,
    workflow: Option<WorkflowId>,
    query: &TriggerQuery,
    paging: &Paging,
    origin: &Origin,
) -> Answer<Page<Trigger>> {
    let filter = TriggerFilter {
        workflow,
        kinds: meant(&query.trigger_type, kind),
        enabled: query.enabled,
        is_alarmed: query.overdue,
    };
    let window = Window::new(List::Triggers, &(&filter, &query.q), paging)?;
    let (triggers, words) = (app.engine.triggers(), query.q.as_deref());
    let rows = triggers.list(&filter, words, window.behind, window.rows);
    let page = window.page(rows.await?, |row| row.id);
    let now = app.engine.now();
    let view = |row| async move {
        let view = app.engine.triggers().view(row).await?;
        view::trigger::trigger(&view, now, origin)
    };
    page::shown(page, view).await
}

/// A trigger: its settings, when it fires next, and its state.
#[utoipa::path(
    get,
    path = "/api/triggers/{id}",
    responses((status = 200, description = "The trigger", body = Trigger)),
)]
pub(super) async fn get_trigger(
    app: App,
    id: Id<TriggerId>,
    _: Params<()>,
    origin: Origin,
) -> Answer<Trigger> {
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
    params(ChangeQuery),
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
        (status = 503, description = "It is being changed by somebody else"),
    ),
)]
pub(super) async fn change_trigger(
    app: App,
    id: Id<TriggerId>,
    Params(query): Params<ChangeQuery>,
    origin: Origin,
    body: Content,
) -> Answer<Trigger> {
    let (triggers, known) = (app.engine.triggers(), id.known()?);
    let changed = id
        .outcome(triggers.change(known, body.text()?, catch_up(query.catch_up)))
        .await?;
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
    params(ChangeQuery),
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
        (status = 503, description = "It is being changed by somebody else"),
    ),
)]
pub(super) async fn replace_trigger(
    app: App,
    id: Id<TriggerId>,
    Params(query): Params<ChangeQuery>,
    origin: Origin,
    body: Content,
) -> Answer<Trigger> {
    let (triggers, known) = (app.engine.triggers(), id.known()?);
    let replaced = id
        .outcome(triggers.replace(known, body.text()?, catch_up(query.catch_up)))
        .await?;
    Ok(Json(shown(&app, &origin, &replaced)?))
}

fn catch_up(wanted: Option<bool>) -> CatchUp {
    match wanted {
        Some(true) => CatchUp::Yes,
        Some(false) | None => CatchUp::No,
    }
}

/// Deletes a trigger. Its executions are kept.
#[utoipa::path(
    delete,
    path = "/api/triggers/{id}",
    responses((status = 204, description = "Deleted")),
)]
pub(super) async fn delete_trigger(
    app: App,
    id: Id<TriggerId>,
    _: Params<()>,
) -> Result<StatusCode, Problem> {
    id.outcome(app.engine.triggers().delete(id.known()?))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod tests;
