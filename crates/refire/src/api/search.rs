//! One field that finds anything: by an id, an idempotency key or a trace, exactly; else by a part of a name.

mod named;

use axum::Json;
use refire_client::model::{Found, Hit, SearchResult};
use refire_client::query::SearchQuery;
use refire_core::id::{DlqId, ExecutionId, NodeId, ScheduledTaskId, TaskId, TriggerId, WebhookId};
use refire_store::{ExecutionFilter, LetterRow, NodeRow, Stretch, Summary, TaskRow, TriggerRow};

use super::execution::list::started_with;
use super::{Answer, App, Params, Problem};

/// What one answer has at most.
const HITS_MAX: usize = 20;
/// Hex digits of a trace.
const TRACE_LEN: usize = 32;

/// What has this id, idempotency key or trace id; else what has the text in its name.
///
/// Names are looked for among the first 2,000 workflows, triggers and scheduled tasks, and among all workers and
/// nodes.
#[utoipa::path(
    get,
    path = "/api/search",
    params(SearchQuery),
    responses((status = 200, description = "What was found", body = SearchResult)),
)]
pub(super) async fn search(app: App, Params(query): Params<SearchQuery>) -> Answer<SearchResult> {
    let text = query.q.as_deref().unwrap_or_default().trim();
    let mut items = match text {
        "" => Vec::new(),
        text => by_id(&app, text).await?,
    };
    if items.is_empty() && !text.is_empty() {
        items = executions(&app, &started_with(&app, text).await?).await?;
        items.extend(named::find(&app, text, HITS_MAX).await?);
    }
    items.truncate(HITS_MAX);
    Ok(Json(SearchResult { items }))
}

/// What has this id, or belongs to this trace.
async fn by_id(app: &App, text: &str) -> Result<Vec<Hit>, Problem> {
    let store = app.engine.store();
    let mut hits = Vec::new();
    if let Ok(id) = text.parse::<ExecutionId>() {
        hits = executions(app, &[id]).await?;
    } else if let Ok(id) = text.parse::<DlqId>() {
        hits.extend(store.letter(id).await?.as_ref().map(letter));
    } else if let Ok(id) = text.parse::<TriggerId>() {
        hits.extend(store.trigger(id).await?.map(|row| trigger(&row)));
    } else if let Ok(id) = text.parse::<WebhookId>() {
        hits.extend(store.webhook(id).await?.map(|row| trigger(&row)));
    } else if let Ok(id) = text.parse::<TaskId>() {
        hits.extend(store.task(id).await?.map(|row| task(&row)));
    } else if let Ok(id) = text.parse::<ScheduledTaskId>() {
        let found = store.scheduled_task(id).await?;
        let found = found.filter(|task| task.row.deleted_at.is_none());
        hits.extend(found.map(|task| named::scheduled(&task.row, task.trigger.enabled)));
    } else if let Ok(id) = text.parse::<NodeId>() {
        let nodes = app.engine.nodes().await?.into_iter();
        hits.extend(nodes.filter(|row| row.id == id).map(|row| node(&row)));
    } else if text.len() == TRACE_LEN && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        hits = of_trace(app, &text.to_ascii_lowercase()).await?;
    }
    Ok(hits)
}

/// The executions of a trace. One that began here is called as the first of them; any other is looked for
/// among the newest ones.
async fn of_trace(app: &App, trace: &str) -> Result<Vec<Hit>, Problem> {
    let bytes = u128::from_str_radix(trace, 16).unwrap_or_default();
    let first = ExecutionId::from_bytes(bytes.to_be_bytes());
    let found = executions(app, &[first]).await?;
    if !found.is_empty() {
        return Ok(found);
    }
    let filter = ExecutionFilter {
        trace: Some(trace.to_owned()),
        ..ExecutionFilter::default()
    };
    let limit = u32::try_from(HITS_MAX).unwrap_or(u32::MAX);
    let stretch = Stretch::new(None, limit);
    let found = app.engine.store().executions(&filter, &stretch).await?;
    Ok(found.rows.iter().map(execution).collect())
}

async fn executions(app: &App, ids: &[ExecutionId]) -> Result<Vec<Hit>, Problem> {
    let found = app.engine.store().summaries(ids).await?;
    Ok(found.iter().flatten().map(execution).collect())
}

fn execution(summary: &Summary) -> Hit {
    let origin = summary.state.origin.as_ref();
    hit(
        (Found::Execution, "/executions"),
        summary.id.to_string(),
        origin.map_or_else(String::new, |origin| origin.workflow.to_string()),
        Some(summary.status().name()),
    )
}

fn letter(row: &LetterRow) -> Hit {
    let title = format!("{}: {}", row.workflow, row.failure.message);
    let status = row.state.status.name();
    hit(
        (Found::DeadLetter, "/dlq"),
        row.id.to_string(),
        title,
        Some(status),
    )
}

fn trigger(row: &TriggerRow) -> Hit {
    let title = named::of_trigger(row)
        .unwrap_or_else(|| format!("{} of {}", row.kind.name(), row.workflow));
    let status = if row.enabled { "enabled" } else { "disabled" };
    hit(
        (Found::Trigger, "/triggers"),
        row.id.to_string(),
        title,
        Some(status),
    )
}

fn task(row: &TaskRow) -> Hit {
    let title = format!("{} of {}", row.task_type, row.workflow);
    let status = row.status.shown();
    let hit = hit(
        (Found::ExternalTask, "/tasks"),
        row.id().to_string(),
        title,
        Some(status),
    );
    // A task is a step, and is shown as one.
    let path = format!("/executions/{}?step={}", row.execution, row.step);
    Hit { path, ..hit }
}

fn node(row: &NodeRow) -> Hit {
    let hit = hit(
        (Found::Node, "/nodes"),
        row.id.to_string(),
        row.name.clone(),
        None,
    );
    // They have one page together.
    let path = "/nodes".to_owned();
    Hit { path, ..hit }
}

/// `at` is what it is, and where the console shows those.
fn hit(at: (Found, &str), id: String, title: String, status: Option<&str>) -> Hit {
    let (kind, path) = at;
    Hit {
        kind,
        path: format!("{path}/{id}"),
        id,
        title,
        status: status.map(str::to_owned),
    }
}
