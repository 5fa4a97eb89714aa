//! Silences: times in which alerts are told to nobody.

use std::collections::HashMap;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use refire_client::model::{Page, Silence, SilenceState};
use refire_core::id::{AlertRuleId, SilenceId};
use refire_engine::alert::AlertError;
use refire_store::SilenceRow;

use super::page::whole;
use super::{Actor, Answer, App, Content, Id, Params, Problem};
use crate::codes;

/// Silences, those that end last first; the newest 200, those that are over among them.
#[utoipa::path(
    get,
    path = "/api/silences",
    responses((status = 200, description = "All silences", body = Page<Silence>)),
)]
pub(super) async fn list_silences(app: App, _: Params<()>) -> Answer<Page<Silence>> {
    let names = names(&app).await?;
    let rows = app.engine.alerts().silences().await?;
    let items = rows.iter().map(|row| shown(&app, &names, row)).collect();
    Ok(Json(whole(items)))
}

/// Makes a silence: of a rule, about a subject, or of everything.
///
/// It begins now unless `starts_at` says otherwise. Alerts fire and are shown all the same; what still fires at its end
/// is told then.
#[utoipa::path(
    post,
    path = "/api/silences",
    request_body(
        content(
            (serde_json::Value = "application/json", example = json!({"rule": "Executions fail", "subject": "ship_order", "ends_at": "2026-11-19T06:00:00Z", "comment": "the partner moves its servers"})),
            (String = "application/yaml"),
        ),
        description = "The silence, in JSON or YAML",
    ),
    responses(
        (status = 201, description = "The silence", body = Silence, headers(("Location" = String, description = "The silence"))),
        (status = 400, description = "Every problem of the silence"),
        (status = 409, description = "There are too many"),
    ),
)]
pub(super) async fn create_silence(
    app: App,
    actor: Actor,
    _: Params<()>,
    body: Content,
) -> Result<Response, Problem> {
    let (alerts, by) = (app.engine.alerts(), actor.name());
    let made = alerts.create_silence(body.text()?, &by).await;
    let row = made.map_err(problem)?;
    let shown = Json(shown(&app, &names(&app).await?, &row));
    let mut response = (StatusCode::CREATED, shown).into_response();
    if let Ok(location) = HeaderValue::from_str(&format!("/api/silences/{}", row.id)) {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

/// A silence.
#[utoipa::path(
    get,
    path = "/api/silences/{id}",
    responses((status = 200, description = "The silence", body = Silence)),
)]
pub(super) async fn get_silence(app: App, id: Id<SilenceId>, _: Params<()>) -> Answer<Silence> {
    let row = id.outcome(app.engine.alerts().silence(id.known()?)).await?;
    Ok(Json(shown(&app, &names(&app).await?, &row)))
}

/// Writes a silence anew; who made it and when stays.
#[utoipa::path(
    put,
    path = "/api/silences/{id}",
    request_body(
        content(
            (serde_json::Value = "application/json", example = json!({"ends_at": "2026-11-19T08:00:00Z"})),
            (String = "application/yaml"),
        ),
        description = "The whole silence, in JSON or YAML",
    ),
    responses(
        (status = 200, description = "The silence", body = Silence),
        (status = 400, description = "Every problem of the silence"),
    ),
)]
pub(super) async fn replace_silence(
    app: App,
    id: Id<SilenceId>,
    _: Params<()>,
    body: Content,
) -> Answer<Silence> {
    let alerts = app.engine.alerts();
    let replaced = alerts.replace_silence(id.known()?, body.text()?).await;
    let row = replaced.map_err(|error| id.named(problem(error)))?;
    Ok(Json(shown(&app, &names(&app).await?, &row)))
}

/// Ends a silence: what still fires is told with the next look.
#[utoipa::path(
    delete,
    path = "/api/silences/{id}",
    responses((status = 204, description = "Gone")),
)]
pub(super) async fn delete_silence(
    app: App,
    id: Id<SilenceId>,
    _: Params<()>,
) -> Result<StatusCode, Problem> {
    id.outcome(app.engine.alerts().remove_silence(id.known()?))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What is wrong with a silence is said of the body, and not of a rule.
fn problem(error: AlertError) -> Problem {
    match error {
        AlertError::Invalid(problems) => Problem::of_body(&codes::INVALID_BODY, &problems),
        other => other.into(),
    }
}

/// Rules by their ids.
async fn names(app: &App) -> Result<HashMap<AlertRuleId, String>, Problem> {
    let rules = app.engine.alerts().rules().await?;
    let named = rules.into_iter().map(|view| (view.id, view.rule.name));
    Ok(named.collect())
}

fn shown(app: &App, names: &HashMap<AlertRuleId, String>, row: &SilenceRow) -> Silence {
    let now = app.engine.now();
    let state = if row.ends_at <= now {
        SilenceState::Over
    } else if row.starts_at <= now {
        SilenceState::Active
    } else {
        SilenceState::Planned
    };
    Silence {
        id: row.id.to_string(),
        rule_id: row.rule.map(|rule| rule.to_string()),
        rule: row.rule.and_then(|rule| names.get(&rule).cloned()),
        subject: row.subject.clone(),
        starts_at: row.starts_at.to_string(),
        ends_at: row.ends_at.to_string(),
        state,
        comment: row.comment.clone(),
        created_by: row.created_by.clone(),
        created_at: row.created_at.to_string(),
    }
}
