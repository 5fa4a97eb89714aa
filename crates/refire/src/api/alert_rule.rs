//! Rules of alerts: made, changed, removed, and tried out.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{HeaderMap, HeaderValue, StatusCode};
use refire_client::model::{
    AlertEpisode, AlertFinding, AlertKind, AlertRule, AlertRulePreview, AlertUnit, Page,
};
use refire_core::alert::preview::Episode;
use refire_core::alert::{Condition, Finding, Phase, Unit};
use refire_core::duration;
use refire_core::id::AlertRuleId;
use refire_engine::alert::RuleView;
use refire_store::{AlertFilter, LIMIT_MAX};

use super::alert::value;
use super::etag::{self, Wanted};
use super::page::whole;
use super::{Answer, App, Content, Id, Params, Problem};
use crate::codes;

/// Rules of alerts, those from the start first.
#[utoipa::path(
    get,
    path = "/api/alert-rules",
    responses((status = 200, description = "All rules", body = Page<AlertRule>)),
)]
pub(super) async fn list_alert_rules(app: App, _: Params<()>) -> Answer<Page<AlertRule>> {
    let mut items = Vec::new();
    for view in app.engine.alerts().rules().await? {
        items.push(shown(&app, &view).await?);
    }
    Ok(Json(whole(items)))
}

/// Makes a rule of alerts.
///
/// It is looked at every ten seconds by one of the servers. What it finds for as long as `for` says fires, and
/// people are told once, again every `repeat`, and once when it is over.
#[utoipa::path(
    post,
    path = "/api/alert-rules",
    request_body(
        content(
            (serde_json::Value = "application/json", example = json!({"name": "Orders fail", "kind": "failure_rate", "workflow": "ship_order", "window": "10m", "above": 20, "min_count": 10, "for": "1m", "channels": ["ops"], "repeat": "4h"})),
            (String = "application/yaml"),
        ),
        description = "The rule, in JSON or YAML",
    ),
    responses(
        (status = 201, description = "The rule", body = AlertRule, headers(("Location" = String, description = "The rule"))),
        (status = 400, description = "Every problem of the rule"),
        (status = 409, description = "Another rule has the name, or there are too many"),
    ),
)]
pub(super) async fn create_alert_rule(
    app: App,
    _: Params<()>,
    body: Content,
) -> Result<Response, Problem> {
    let view = app.engine.alerts().create_rule(body.text()?).await?;
    let shown = Json(shown(&app, &view).await?);
    let mut response = (StatusCode::CREATED, shown).into_response();
    let headers = response.headers_mut();
    etag::tag(headers, view.version);
    if let Ok(location) = HeaderValue::from_str(&format!("/api/alert-rules/{}", view.id)) {
        headers.insert(LOCATION, location);
    }
    Ok(response)
}

/// What a rule would say now, and would have said within the last day. Nothing is saved.
#[utoipa::path(
    post,
    path = "/api/alert-rules/preview",
    request_body(
        content(
            (serde_json::Value = "application/json", example = json!({"name": "Orders fail", "kind": "failure_rate", "above": 20})),
            (String = "application/yaml"),
        ),
        description = "The rule, in JSON or YAML",
    ),
    responses(
        (status = 200, description = "What it would say", body = AlertRulePreview),
        (status = 400, description = "Every problem of the rule"),
    ),
)]
pub(super) async fn preview_alert_rule(
    app: App,
    _: Params<()>,
    body: Content,
) -> Answer<AlertRulePreview> {
    let alerts = app.engine.alerts();
    let previewed = alerts.preview(body.text()?).await?;
    let unit = previewed.rule.kind().unit();
    let past = previewed.past.as_ref();
    Ok(Json(AlertRulePreview {
        now: previewed.now.iter().map(|it| finding(it, unit)).collect(),
        past: past.map(|past| past.iter().map(|it| episode(it, unit)).collect()),
        past_from: previewed.from.to_string(),
        warnings: alerts.warnings(&previewed.rule).await?,
    }))
}

fn finding(found: &Finding, unit: Unit) -> AlertFinding {
    AlertFinding {
        subject: found.subject.clone(),
        value: value(found.value),
        unit: AlertUnit::from_name(unit.name()),
        value_text: unit.shown(found.value),
    }
}

fn episode(episode: &Episode, unit: Unit) -> AlertEpisode {
    AlertEpisode {
        subject: episode.subject.to_string(),
        from: episode.from.to_string(),
        to: episode.to.map(|to| to.to_string()),
        worst: value(episode.worst),
        worst_text: unit.shown(episode.worst),
    }
}

/// A rule of alerts.
#[utoipa::path(
    get,
    path = "/api/alert-rules/{id}",
    responses((status = 200, description = "The rule", body = AlertRule, headers(("ETag" = String, description = "Its version, for `If-Match`")))),
)]
pub(super) async fn get_alert_rule(
    app: App,
    id: Id<AlertRuleId>,
    _: Params<()>,
) -> Result<Response, Problem> {
    let view = asked(&id, app.engine.alerts().rule(id.known()?)).await?;
    tagged(&app, &view).await
}

/// Changes a rule of alerts by a JSON merge patch.
///
/// `null` removes a field, and the result is checked as a whole. What fires goes on unless the changed rule does not
/// find it any more. With `If-Match`, only the version that you have seen is changed.
#[utoipa::path(
    patch,
    path = "/api/alert-rules/{id}",
    params(("If-Match" = Option<String>, Header, description = "The version that is changed, such as `\"3\"`")),
    request_body(
        content(
            (serde_json::Value = "application/json", example = json!({"above": 30, "enabled": true})),
            (String = "application/yaml"),
        ),
        description = "The fields to change",
    ),
    responses(
        (status = 200, description = "The rule as it is now", body = AlertRule),
        (status = 400, description = "Every problem of the result"),
        (status = 409, description = "Another rule has the name"),
        (status = 412, description = "It has another version"),
    ),
)]
pub(super) async fn change_alert_rule(
    app: App,
    id: Id<AlertRuleId>,
    _: Params<()>,
    headers: HeaderMap,
    body: Content,
) -> Result<Response, Problem> {
    let version = match etag::wanted(&headers)? {
        Some(Wanted::Version(version)) => Some(version),
        Some(Wanted::Any) | None => None,
    };
    let changed = app
        .engine
        .alerts()
        .change_rule(id.known()?, body.text()?, version);
    let view = asked(&id, changed).await?;
    tagged(&app, &view).await
}

/// Removes a rule of alerts. What it alerts of is over with the next look.
#[utoipa::path(
    delete,
    path = "/api/alert-rules/{id}",
    responses((status = 204, description = "Removed")),
)]
pub(super) async fn delete_alert_rule(
    app: App,
    id: Id<AlertRuleId>,
    _: Params<()>,
) -> Result<StatusCode, Problem> {
    asked(&id, app.engine.alerts().remove_rule(id.known()?)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What comes of asking for a rule; that there is none is said of the rule.
async fn asked<T>(
    id: &Id<AlertRuleId>,
    asking: impl Future<Output = Result<T, refire_engine::alert::AlertError>>,
) -> Result<T, Problem> {
    asking.await.map_err(|error| {
        let problem = Problem::from(error);
        match problem.code() == &codes::NO_ALERT {
            true => id.missing(),
            false => problem,
        }
    })
}

async fn tagged(app: &App, view: &RuleView) -> Result<Response, Problem> {
    let mut response = Json(shown(app, view).await?).into_response();
    etag::tag(response.headers_mut(), view.version);
    Ok(response)
}

async fn shown(app: &App, view: &RuleView) -> Result<AlertRule, Problem> {
    let rule = &view.rule;
    let firing = AlertFilter {
        phases: vec![Phase::Firing],
        rule: Some(view.id),
        subject: None,
    };
    let alerts = app.engine.alerts();
    let firing = alerts.list(&firing, None, LIMIT_MAX).await?;
    let (above, min_count, after) = match rule.condition {
        Condition::FailureRate {
            above, min_count, ..
        } => (Some(above), Some(min_count), None),
        Condition::DlqGrowth { above, .. } | Condition::MissedSlots { above, .. } => {
            (Some(above as f64), None, None)
        }
        Condition::LongProcessing { after } => (None, None, Some(duration::plain(after))),
        Condition::DeadWorkers
        | Condition::DeadMan
        | Condition::ScheduledTaskFailed { .. }
        | Condition::BreakerOpen => (None, None, None),
    };
    Ok(AlertRule {
        id: view.id.to_string(),
        name: rule.name.clone(),
        kind: AlertKind::from_name(rule.kind().name()),
        workflow: rule.workflow.as_ref().map(ToString::to_string),
        window: rule.condition.window().map(duration::plain),
        above,
        min_count,
        after,
        hold: duration::plain(rule.hold),
        channels: rule.channels.clone(),
        repeat: duration::plain(rule.repeat),
        enabled: rule.enabled,
        built_in: view.is_built_in,
        version: view.version,
        firing: firing.len() as u64,
        created_at: view.created_at.map(|at| at.to_string()),
        updated_at: view.updated_at.map(|at| at.to_string()),
        warnings: alerts.warnings(rule).await?,
    })
}
