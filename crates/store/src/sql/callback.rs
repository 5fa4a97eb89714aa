//! Callbacks of targets.

use async_trait::async_trait;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;

use super::{Database, Query};
use crate::column::Named;
use crate::{CallbackKey, CallbackRow, Callbacks, ReadError};

fn select(rest: &str) -> Query {
    let columns = CallbackRow::COLUMNS;
    Query::new(format!("SELECT {columns} FROM task_callbacks WHERE {rest}"))
}

#[async_trait]
impl<D: Database> Callbacks for D {
    async fn callback(&self, key: CallbackKey) -> Result<Option<CallbackRow>, ReadError> {
        let query = select("true").with("AND execution = ?", key.execution);
        let query = query.with("AND step_no = ?", u32::from(key.step_no));
        self.row(query.with("AND attempt = ?", key.attempt).urgent())
            .await
    }

    async fn callbacks(&self, of: ExecutionId) -> Result<Vec<CallbackRow>, ReadError> {
        let query = select("true").with("AND execution = ?", of);
        self.rows(query.end("ORDER BY step_no, attempt")).await
    }

    async fn due_callbacks(
        &self,
        by: Timestamp,
        limit: u32,
    ) -> Result<Vec<CallbackRow>, ReadError> {
        let query = select("wake_at IS NOT NULL").with("AND wake_at <= ?", by);
        self.rows(
            query
                .page("wake_at, execution, step_no, attempt", limit)
                .urgent(),
        )
        .await
    }

    async fn sealed_callbacks(
        &self,
        after: Option<CallbackKey>,
        limit: u32,
    ) -> Result<Vec<CallbackRow>, ReadError> {
        let mut query = select("query_config IS NOT NULL");
        if let Some(after) = after {
            query = query
                .with("AND (execution, step_no, attempt) > (?,", after.execution)
                .with("?,", u32::from(after.step_no))
                .with("?)", after.attempt);
        }
        self.rows(query.page("execution, step_no, attempt", limit))
            .await
    }

    async fn next_callback_due(&self) -> Result<Option<Timestamp>, ReadError> {
        let query = Query::new(
            "SELECT wake_at FROM task_callbacks WHERE wake_at IS NOT NULL
             ORDER BY wake_at LIMIT 1",
        );
        self.row(query.urgent()).await
    }
}
