//! Workers.

use async_trait::async_trait;

use super::{Database, Query};
use crate::column::Named;
use crate::{ReadError, TaskRow, WorkerRow, Workers};

/// Tasks that a worker has, as the index of them says it.
const HELD: &str = "status = 1 AND worker IS NOT NULL";

#[async_trait]
impl<D: Database> Workers for D {
    async fn workers(&self, after: Option<&str>, limit: u32) -> Result<Vec<WorkerRow>, ReadError> {
        let columns = WorkerRow::COLUMNS;
        let query = Query::new(format!(
            "SELECT {columns} FROM workflow_external_workers WHERE true"
        ));
        let query = query.and("worker_id > ?", after);
        self.rows(query.page("worker_id", limit)).await
    }

    async fn held_counts(&self) -> Result<Vec<(String, u64)>, ReadError> {
        let along = D::along("tasks_held");
        let query = Query::new(format!(
            "SELECT worker, count(*) FROM workflow_external_tasks {along} WHERE {HELD}
             GROUP BY worker ORDER BY worker"
        ));
        self.rows(query).await
    }

    async fn held_tasks(&self, worker: &str) -> Result<Vec<TaskRow>, ReadError> {
        let (columns, along) = (TaskRow::COLUMNS, D::along("tasks_held"));
        let query = Query::new(format!(
            "SELECT {columns} FROM workflow_external_tasks {along} WHERE {HELD}"
        ));
        let query = query.with("AND worker = ?", worker);
        self.rows(query.end("ORDER BY execution, step_no")).await
    }
}
