//! Tasks for workers.

use async_trait::async_trait;
use refire_core::id::{LockToken, TaskId};
use refire_core::limit::PRIORITY_LAST;
use refire_core::task::TaskStatus;
use refire_core::time::Timestamp;

use super::{Database, Query};
use crate::column::Named;
use crate::table::Value;
use crate::{ReadError, TaskFilter, TaskRow, Tasks};

fn select(rest: &str) -> Query {
    let columns = TaskRow::COLUMNS;
    Query::new(format!(
        "SELECT {columns} FROM workflow_external_tasks WHERE {rest}"
    ))
}

#[async_trait]
impl<D: Database> Tasks for D {
    async fn task(&self, id: TaskId) -> Result<Option<TaskRow>, ReadError> {
        let query = select("true").with("AND execution = ?", id.execution);
        self.row(query.with("AND step_no = ?", u32::from(id.step)).urgent())
            .await
    }

    async fn tasks(
        &self,
        filter: &TaskFilter,
        before: Option<TaskId>,
        limit: u32,
    ) -> Result<Vec<TaskRow>, ReadError> {
        let mut query = select("true")
            .and("execution = ?", filter.execution)
            .and("task_type = ?", filter.task_type.as_deref())
            .and("worker = ?", filter.worker.as_deref());
        if let Some(before) = before {
            query = query
                .with("AND (execution, step_no) < (?,", before.execution)
                .with("?)", u32::from(before.step));
        }
        let statuses = filter.statuses.iter();
        let statuses: Vec<String> = statuses.map(|it| (*it as u8).to_string()).collect();
        if !statuses.is_empty() {
            query = query.end(&format!("AND status IN ({})", statuses.join(", ")));
        }
        self.rows(query.page("execution DESC, step_no DESC", limit))
            .await
    }

    async fn due_tasks(&self, by: Timestamp, limit: u32) -> Result<Vec<TaskRow>, ReadError> {
        let query = select("wake_at IS NOT NULL").with("AND wake_at <= ?", by);
        self.rows(query.page("wake_at, execution, step_no", limit).urgent())
            .await
    }

    async fn next_task_due(&self) -> Result<Option<Timestamp>, ReadError> {
        let query = Query::new(
            "SELECT wake_at FROM workflow_external_tasks WHERE wake_at IS NOT NULL
             ORDER BY wake_at LIMIT 1",
        );
        self.row(query.urgent()).await
    }

    async fn open_task_types(&self) -> Result<Vec<(String, Timestamp)>, ReadError> {
        // From type to type along the index of those that workers may fetch.
        let along = D::along("tasks_ready");
        let open = format!(
            "FROM workflow_external_tasks {along} WHERE status = {}",
            TaskStatus::Pending as u8
        );
        let (mut types, mut after) = (Vec::new(), String::new());
        loop {
            let query = Query::new(format!("SELECT task_type {open}"));
            let query = query.with("AND task_type > ?", after.as_str());
            let query = query.end("ORDER BY task_type LIMIT 1").urgent();
            let Some(task_type) = self.row::<String>(query).await? else {
                return Ok(types);
            };
            let mut first: Option<Timestamp> = None;
            for priority in 1..=PRIORITY_LAST {
                let query = Query::new(format!("SELECT available_at {open}"));
                let query = query.with("AND task_type = ?", task_type.as_str());
                let query = query.with("AND priority = ?", u32::from(priority));
                let query = query.end("ORDER BY available_at LIMIT 1").urgent();
                let at: Option<Timestamp> = self.row(query).await?;
                first = first.into_iter().chain(at).min();
            }
            after.clone_from(&task_type);
            types.extend(first.map(|first| (task_type, first)));
        }
    }

    async fn task_tally(&self, max: u32) -> Result<Vec<(String, TaskStatus, u64)>, ReadError> {
        let query = Query::new(
            "SELECT task_type, status, count(*) FROM (
                SELECT task_type, status FROM workflow_external_tasks WHERE wake_at IS NOT NULL",
        )
        .with(
            "ORDER BY wake_at, execution, step_no LIMIT ?) AS clocks",
            max,
        );
        self.rows(query.end("GROUP BY task_type, status ORDER BY task_type, status"))
            .await
    }

    async fn locked_tasks(&self, token: LockToken) -> Result<Vec<TaskRow>, ReadError> {
        let query = select("wake_at IS NOT NULL");
        let token = Value::Bytes(token.as_bytes().to_vec());
        self.rows(query.with("AND token = ?", token).urgent()).await
    }
}
