//! Workers that have said who they are, as people see them.

use std::convert::Infallible;
use std::str::FromStr;

use axum::Json;
use refire_client::model::{self, WorkerPage, WorkerRemoved};
use refire_client::query::{Paging, WorkerQuery};
use refire_core::task::WorkerStatus;
use refire_core::time::Timestamp;
use refire_engine::task::{Worker, WorkerFilter};

use super::id::Entity;
use super::{Answer, App, Id, List, Params, Problem, Window};
use crate::codes::{self, Code};

/// A worker's name: any text.
pub(super) struct Name(String);

impl FromStr for Name {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl Entity for Name {
    const MISSING: &'static Code = &codes::NO_WORKER;
    const NOUN: &'static str = "worker";
}

/// Workers that have said who they are, by name.
///
/// What is seen of them is written every ten seconds; a server that crashes may lose that much of the counts.
/// Of more than 10,000 workers those seen longest ago are forgotten.
#[utoipa::path(
    get,
    path = "/api/workers",
    params(WorkerQuery, Paging),
    responses(
        (status = 200, description = "A page of workers", body = WorkerPage),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
pub(super) async fn list_workers(
    app: App,
    Params((query, paging)): Params<(WorkerQuery, Paging)>,
) -> Answer<WorkerPage> {
    let filter = WorkerFilter {
        statuses: query.status.iter().filter_map(meant).collect(),
        worker_type: query.worker_type.clone(),
        text: query.q.clone(),
    };
    let window: Window<String> = Window::new(List::Workers, &filter, &paging)?;
    let (behind, rows) = (window.behind.as_deref(), window.rows);
    let rows = app.engine.tasks().workers(&filter, behind, rows).await?;
    let page = window.page(rows, |worker| worker.row.id.clone());
    Ok(Json(WorkerPage {
        items: page.items.into_iter().map(shown).collect(),
        next_cursor: page.next_cursor,
    }))
}

/// Forgets a worker. Others may fetch the tasks that it has; that is no attempt.
///
/// A worker that asks for tasks again is there again.
#[utoipa::path(
    delete,
    path = "/api/workers/{id}",
    responses((status = 200, description = "It is gone", body = WorkerRemoved)),
)]
pub(super) async fn remove_worker(
    app: App,
    id: Id<Name>,
    _: Params<()>,
) -> Result<Json<WorkerRemoved>, Problem> {
    let Name(worker_id) = id.known()?;
    let removing = app.engine.tasks().remove_worker(&worker_id);
    let released = id.outcome(removing).await?;
    Ok(Json(WorkerRemoved {
        worker_id,
        released,
    }))
}

/// The status that a word of the API means.
fn meant(word: &model::WorkerStatus) -> Option<WorkerStatus> {
    let all = [WorkerStatus::Active, WorkerStatus::Idle, WorkerStatus::Dead];
    all.into_iter().find(|status| status.shown() == word.name())
}

fn shown(worker: Worker) -> model::Worker {
    let Worker { row, status, held } = worker;
    let at = |time: Option<Timestamp>| time.map(|time| time.to_string());
    model::Worker {
        worker_id: row.id,
        worker_type: row.worker_type,
        task_types: row.task_types.0,
        status: model::WorkerStatus::from_name(status.shown()),
        held,
        last_poll_at: at(row.polled_at),
        last_heartbeat_at: at(row.heartbeat_at),
        tasks_completed: row.completed,
        tasks_failed: row.failed,
        created_at: row.created_at.to_string(),
        updated_at: row.updated_at.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_means_a_status() {
        let words = model::WorkerStatus::ALL;
        assert_eq!(words.iter().filter_map(meant).count(), words.len());
    }
}
