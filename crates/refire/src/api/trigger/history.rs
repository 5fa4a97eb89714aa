//! The last executions of a cron trigger, with what came of them.

use std::cmp::Reverse;

use axum::Json;
use refire_client::model::{CronHistory, CronRun, RunStatus, TriggerType};
use refire_client::query::HistoryQuery;
use refire_core::definition::WorkflowId;
use refire_core::execution::TriggerKind;
use refire_core::id::TriggerId;
use refire_core::trigger::upcoming;
use refire_engine::trigger::TriggerView;
use refire_store::{SlotRow, SlotStatus, Summary, TriggerFilter};

use super::find;
use crate::api::page::LIMIT_DEFAULT;
use crate::api::view::trigger::{Zone, zone};
use crate::api::{Answer, App, Id, Params, Problem, view, workflow};
use crate::codes;

/// Characters of an output that is no text that are shown.
const RESULT_CHARS_MAX: usize = 200;

/// The last executions of a workflow's cron trigger, newest planned time first, times in the trigger's zone.
///
/// Backfilled executions are listed at their planned time. If there are several cron triggers, the
/// oldest is used unless `trigger_id` names one.
#[utoipa::path(
    get,
    path = "/api/workflows/{id}/cron-history",
    params(HistoryQuery),
    responses(
        (status = 200, description = "The trigger and its executions", body = CronHistory),
        (status = 404, description = "There is no such workflow, or it has no cron trigger"),
    ),
)]
pub(crate) async fn get_cron_history(
    app: App,
    id: Id<WorkflowId>,
    Params(query): Params<HistoryQuery>,
) -> Answer<CronHistory> {
    let name = workflow::find(&app, &id).await?.id;
    let trigger = chosen(&app, &name, query.trigger_id.as_deref()).await?;
    let zone = zone(&trigger);
    let rows = started(&app, trigger.row.id, query.limit.unwrap_or(LIMIT_DEFAULT)).await?;
    let ids: Vec<_> = rows.iter().filter_map(|row| row.slot.execution).collect();
    let summaries = app.engine.store().summaries(&ids).await?;
    let mut history = Vec::with_capacity(ids.len());
    for (row, summary) in rows.iter().zip(&summaries) {
        history.push(run(&app, row, summary.as_ref(), &zone).await?);
    }
    let known = trigger.trigger.as_ref().ok();
    let timing = known.and_then(|known| known.settings.kind.timing());
    let now = app.engine.now();
    let next = known.filter(|known| known.enabled);
    let cursor = trigger.state.as_ref().map(|state| state.cursor);
    let next = next.and_then(|known| upcoming(known, cursor, now, 1).first().copied());
    Ok(Json(CronHistory {
        workflow_id: name.to_string(),
        trigger_id: trigger.row.id.to_string(),
        trigger_type: TriggerType::from_name(trigger.row.kind.name()),
        cron_expression: timing.and_then(|timing| timing.cron.clone()),
        timezone: zone.name().to_owned(),
        next_execution: next.map(|next| next.slot.to_string()),
        enabled: trigger.row.enabled,
        history,
    }))
}

/// What the ledger has of executions, the newest planned time first. It is written in the order in which
/// they were started, and what was backfilled is older than what stands before it: so all of it is read,
/// which is no more than the ledger keeps.
async fn started(app: &App, id: TriggerId, limit: u32) -> Result<Vec<SlotRow>, Problem> {
    let statuses = [SlotStatus::Fired, SlotStatus::Late];
    let mut rows = app.engine.triggers().ledger(id, &statuses).await?;
    rows.retain(|row| row.slot.execution.is_some());
    rows.sort_by_key(|row| Reverse((row.slot.nominal, row.seq)));
    rows.truncate(limit as usize);
    Ok(rows)
}

/// The trigger that was named, or the oldest cron trigger of the workflow.
async fn chosen(
    app: &App,
    workflow: &WorkflowId,
    wanted: Option<&str>,
) -> Result<TriggerView, Problem> {
    if let Some(id) = wanted {
        let id = Id::new(id);
        let trigger = find(app, &id).await?;
        let is_its = trigger.row.workflow == *workflow && trigger.row.kind != TriggerKind::Webhook;
        return is_its.then_some(trigger).ok_or_else(|| id.missing());
    }
    let filter = TriggerFilter {
        workflow: Some(workflow.clone()),
        kinds: vec![TriggerKind::Cron],
        ..TriggerFilter::default()
    };
    let oldest = app.engine.store().triggers(&filter, None, 1).await?;
    match oldest.into_iter().next() {
        Some(row) => Ok(app.engine.triggers().view(row).await?),
        None => {
            let detail = format!("workflow `{workflow}` has no cron trigger");
            Err(Problem::new(&codes::NO_TRIGGER, detail))
        }
    }
}

async fn run(
    app: &App,
    row: &SlotRow,
    summary: Option<&Summary>,
    zone: &Zone,
) -> Result<CronRun, Problem> {
    let state = summary.map(|summary| &summary.state);
    let running_since = summary.and_then(|summary| summary.running_since);
    let started = state.and_then(|state| state.started_at).or(running_since);
    let completed = state.and_then(|state| state.completed_at);
    let duration = completed
        .zip(started)
        .and_then(|(ended, began)| u64::try_from(ended.since(began).as_millis()).ok());
    let result = match summary {
        Some(summary) => match view::execution::output_of(&app.engine, summary).await? {
            Some(output) => Some(shortened(output.get())),
            None => view::execution::error_of(summary),
        },
        None => None,
    };
    let execution = row.slot.execution.map(|id| id.to_string());
    let status = summary.map(|summary| RunStatus::from_name(summary.status().name()));
    Ok(CronRun {
        execution_id: execution.unwrap_or_default(),
        scheduled_at: zone.local(row.slot.nominal),
        started_at: started.map(|at| zone.local(at)),
        completed_at: completed.map(|at| zone.local(at)),
        status: status.unwrap_or(RunStatus::Removed),
        duration_ms: duration,
        result,
    })
}

/// A text as it is, anything else as JSON of a bounded length.
fn shortened(output: &str) -> String {
    if let Ok(text) = serde_json::from_str(output) {
        return text;
    }
    let mut shown = output.to_owned();
    if let Some((end, _)) = shown.char_indices().nth(RESULT_CHARS_MAX) {
        shown.truncate(end);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shown_as_it_is_and_long_json_is_cut() {
        assert_eq!(shortened(r#""sent \"it\"""#), "sent \"it\"");
        assert_eq!(shortened(r#"{"n":1}"#), r#"{"n":1}"#);
        let json = format!("[{}]", "\"ü\",".repeat(100));
        assert_eq!(shortened(&json).chars().count(), RESULT_CHARS_MAX);
        let text = "ü".repeat(5 * RESULT_CHARS_MAX);
        assert_eq!(shortened(&format!("\"{text}\"")), text);
    }
}
