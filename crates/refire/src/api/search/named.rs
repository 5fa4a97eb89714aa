//! What has a text in its name, whatever its case.

use refire_client::model::{Found, Hit};
use refire_engine::task::WorkerFilter;
use refire_store::{LIMIT_MAX, ScheduledFilter, ScheduledRow, TriggerFilter, TriggerRow};
use serde::Deserialize;

use super::{hit, node, trigger};
use crate::api::{App, Problem};

/// Workflows and triggers that are looked at.
const LOOKED_AT_MAX: usize = 2_000;

/// Of each kind so many at most.
pub(super) async fn find(app: &App, text: &str, most: usize) -> Result<Vec<Hit>, Problem> {
    let wanted = text.to_lowercase();
    let has = |name: &str| name.to_lowercase().contains(&wanted);
    let mut hits = workflows(app, has, most).await?;
    hits.extend(triggers(app, has, most).await?);
    let limit = u32::try_from(most).unwrap_or(u32::MAX);
    let (tasks, any) = (app.engine.scheduled(), ScheduledFilter::default());
    let tasks = tasks.list(&any, Some(text), None, limit);
    hits.extend((tasks.await?.iter()).map(|view| scheduled(&view.row, view.is_active)));
    let filter = WorkerFilter {
        text: Some(text.to_owned()),
        ..WorkerFilter::default()
    };
    for worker in app.engine.tasks().workers(&filter, None, limit).await? {
        let (id, status) = (worker.row.id, worker.status.shown());
        let hit = hit((Found::Worker, "/workers"), id.clone(), id, Some(status));
        // They have one page together.
        let path = "/workers".to_owned();
        hits.push(Hit { path, ..hit });
    }
    let nodes = app.engine.nodes().await?;
    hits.extend(nodes.iter().filter(|row| has(&row.name)).map(node));
    Ok(hits)
}

async fn workflows(
    app: &App,
    has: impl Fn(&str) -> bool,
    most: usize,
) -> Result<Vec<Hit>, Problem> {
    let (mut hits, mut looked_at, mut after) = (Vec::new(), 0, None);
    while looked_at < LOOKED_AT_MAX && hits.len() < most {
        let rows = app
            .engine
            .store()
            .workflows(after.as_ref(), LIMIT_MAX)
            .await?;
        let is_last = rows.len() < LIMIT_MAX as usize;
        looked_at += rows.len();
        after = rows.last().map(|row| row.id.clone());
        for row in rows
            .iter()
            .filter(|row| has(row.id.as_str()) || has(&row.name))
        {
            let at = (Found::Workflow, "/workflows");
            hits.push(hit(at, row.id.to_string(), row.name.clone(), None));
        }
        if is_last {
            break;
        }
    }
    hits.truncate(most);
    Ok(hits)
}

/// By their own name, their workflow's, or their address.
async fn triggers(app: &App, has: impl Fn(&str) -> bool, most: usize) -> Result<Vec<Hit>, Problem> {
    let filter = TriggerFilter::default();
    let (mut hits, mut looked_at, mut after) = (Vec::new(), 0, None);
    while looked_at < LOOKED_AT_MAX && hits.len() < most {
        let rows = app
            .engine
            .store()
            .triggers(&filter, after, LIMIT_MAX)
            .await?;
        let is_last = rows.len() < LIMIT_MAX as usize;
        looked_at += rows.len();
        after = rows.last().map(|row| row.id);
        let is_found = |row: &&TriggerRow| {
            has(row.workflow.as_str())
                || row.webhook.is_some_and(|address| has(&address.to_string()))
                || of_trigger(row).is_some_and(|name| has(&name))
        };
        hits.extend(rows.iter().filter(is_found).map(trigger));
        if is_last {
            break;
        }
    }
    hits.truncate(most);
    Ok(hits)
}

/// What people call a trigger.
pub(super) fn of_trigger(row: &TriggerRow) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: Option<String>,
    }
    serde_json::from_slice::<Named>(&row.settings).ok()?.name
}

pub(super) fn scheduled(row: &ScheduledRow, is_active: bool) -> Hit {
    let title = row.name.clone().unwrap_or_else(|| row.task_type.clone());
    let status = match (row.cancelled_at, is_active) {
        (Some(_), _) => "cancelled",
        (None, true) => "active",
        (None, false) => "paused",
    };
    hit(
        (Found::ScheduledTask, "/scheduled"),
        row.id.to_string(),
        title,
        Some(status),
    )
}
