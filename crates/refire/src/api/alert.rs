//! Alerts: what fires, what did, and that somebody is at it.

use axum::Json;
use refire_client::model::{self, AlertKind, AlertPhase, AlertUnit, Page};
use refire_client::query::{AlertQuery, Paging};
use refire_core::alert::Phase;
use refire_core::id::AlertId;
use refire_store::{AlertFilter, AlertRow};

use super::query::{meant, parsed};
use super::{Actor, Answer, App, Id, List, Params, Window};

/// A value of so many thousandths.
pub(super) fn value(thousandths: i64) -> f64 {
    thousandths as f64 / 1_000.0
}

/// Alerts, the newest first.
///
/// An alert is one from when its rule finds something until it is over; then the next one is another. Those that
/// are over are kept for 30 days, one for each rule and subject.
#[utoipa::path(
    get,
    path = "/api/alerts",
    params(AlertQuery, Paging),
    responses(
        (status = 200, description = "A page of alerts", body = Page<model::Alert>),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
pub(super) async fn list_alerts(
    app: App,
    Params((query, paging)): Params<(AlertQuery, Paging)>,
) -> Answer<Page<model::Alert>> {
    let filter = AlertFilter {
        phases: meant(&query.phase, Phase::from_name),
        rule: parsed(query.rule_id.as_deref())?,
        subject: query.subject.clone(),
    };
    let window: Window<AlertId> = Window::new(List::Alerts, &filter, &paging)?;
    let alerts = app.engine.alerts();
    let rows = alerts.list(&filter, window.behind, window.rows).await?;
    let page = window.page(rows, |row| row.alert.id);
    let items = page.items.iter().map(shown).collect();
    Ok(Json(Page {
        items,
        next_cursor: page.next_cursor,
    }))
}

/// One alert.
#[utoipa::path(
    get,
    path = "/api/alerts/{id}",
    responses((status = 200, description = "The alert", body = model::Alert)),
)]
pub(super) async fn get_alert(app: App, id: Id<AlertId>, _: Params<()>) -> Answer<model::Alert> {
    let row = id.outcome(app.engine.alerts().get(id.known()?)).await?;
    Ok(Json(shown(&row)))
}

/// Says that somebody is at it: nobody is reminded any more. That it is over is told all the same.
#[utoipa::path(
    post,
    path = "/api/alerts/{id}/ack",
    responses(
        (status = 200, description = "The alert", body = model::Alert),
        (status = 409, description = "It is over"),
    ),
)]
pub(super) async fn acknowledge_alert(
    app: App,
    actor: Actor,
    id: Id<AlertId>,
    _: Params<()>,
) -> Answer<model::Alert> {
    let (alerts, by) = (app.engine.alerts(), actor.name());
    let row = id.outcome(alerts.acknowledge(id.known()?, &by)).await?;
    Ok(Json(shown(&row)))
}

fn shown(row: &AlertRow) -> model::Alert {
    let (alert, unit) = (&row.alert, row.kind.unit());
    let (acked_at, acked_by) = alert.acked.clone().unzip();
    model::Alert {
        id: alert.id.to_string(),
        rule_id: row.rule.to_string(),
        rule: row.name.clone(),
        kind: AlertKind::from_name(row.kind.name()),
        subject: row.subject.clone(),
        workflow_id: row.workflow.as_ref().map(ToString::to_string),
        phase: AlertPhase::from_name(alert.phase.name()),
        value: value(alert.value),
        unit: AlertUnit::from_name(unit.name()),
        value_text: unit.shown(alert.value),
        threshold: row.threshold.map(value),
        began_at: alert.began_at.to_string(),
        since: alert.since.to_string(),
        told_at: alert.told_at.map(|at| at.to_string()),
        muted: alert.is_muted,
        acked_at: acked_at.map(|at| at.to_string()),
        acked_by,
        path: format!("/alerts/{}", alert.id),
    }
}

#[cfg(test)]
mod tests {
    use refire_core::alert::{RuleKind, Unit};

    use super::*;

    #[test]
    fn every_word_of_core_is_one_of_the_api() {
        for kind in RuleKind::ALL {
            assert_ne!(AlertKind::from_name(kind.name()), AlertKind::Unknown);
        }
        for phase in Phase::ALL {
            assert_ne!(AlertPhase::from_name(phase.name()), AlertPhase::Unknown);
        }
        for unit in [Unit::Percent, Unit::Count, Unit::Seconds] {
            assert_ne!(AlertUnit::from_name(unit.name()), AlertUnit::Unknown);
        }
    }
}
