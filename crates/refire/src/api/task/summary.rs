//! Tasks for workers by their type: what waits, what is being done, and who asks for it.

use axum::Json;
use refire_client::model::{TaskSummary, TaskTypeSummary};
use refire_engine::task::TaskTypeTally;

use crate::api::{Answer, App, Params};

/// Tasks by their type: how many wait, how many workers have, and who asks for them.
#[utoipa::path(
    get,
    path = "/api/external-tasks/summary",
    responses((status = 200, description = "All types that have open tasks", body = TaskSummary)),
)]
pub(crate) async fn summarize_tasks(app: App, _: Params<()>) -> Answer<TaskSummary> {
    let tally = app.engine.tasks().tally().await?;
    Ok(Json(TaskSummary {
        items: tally.types.into_iter().map(shown).collect(),
        exact: tally.is_exact,
    }))
}

fn shown(tally: TaskTypeTally) -> TaskTypeSummary {
    TaskTypeSummary {
        task_type: tally.task_type,
        pending: tally.pending,
        locked: tally.locked,
        oldest_pending_at: tally.oldest.map(|at| at.to_string()),
        workers: tally.workers,
    }
}
