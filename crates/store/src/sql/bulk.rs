//! Bulk jobs, and what became of what they are about.

use async_trait::async_trait;
use refire_core::bulk::{ItemOutcome, JobState};
use refire_core::id::{BulkId, DlqId, ExecutionId, ItemId};

use super::{Database, Query};
use crate::column::{Field, Named};
use crate::table::Value;
use crate::{BulkItemRow, BulkJobs, BulkRow, BulkWish, ReadError};

/// Ids that are asked for in one statement.
const IDS_TOGETHER: usize = 1_000;

/// Which of these ids a table has.
async fn known<D: Database, I: Copy + Into<Value> + Field + Send + 'static>(
    database: &D,
    table: &str,
    ids: &[I],
) -> Result<Vec<I>, ReadError> {
    let mut found = Vec::with_capacity(ids.len());
    for some in ids.chunks(IDS_TOGETHER) {
        let query = Query::new(format!("SELECT id FROM {table} WHERE true"));
        let query = query.and_one_of("id", some.iter().copied());
        found.extend(database.rows::<I>(query).await?);
    }
    Ok(found)
}

#[async_trait]
impl<D: Database> BulkJobs for D {
    async fn bulk_job(&self, id: BulkId) -> Result<Option<BulkRow>, ReadError> {
        let columns = BulkRow::COLUMNS;
        let query = Query::new(format!("SELECT {columns} FROM bulk_jobs AS job"));
        self.row(query.with("WHERE job.id = ?", id)).await
    }

    async fn bulk_wish(&self, id: BulkId) -> Result<Option<BulkWish>, ReadError> {
        let query = Query::new("SELECT wish FROM bulk_jobs");
        self.row(query.with("WHERE id = ?", id)).await
    }

    async fn bulk_jobs(
        &self,
        states: &[JobState],
        before: Option<BulkId>,
        limit: u32,
    ) -> Result<Vec<BulkRow>, ReadError> {
        let columns = BulkRow::COLUMNS;
        // Named so that the index of those that are open serves.
        let is_open = !states.is_empty() && states.iter().all(|state| !state.is_over());
        let open = match is_open {
            true => "job.ended_at IS NULL",
            false => "true",
        };
        let query = Query::new(format!(
            "SELECT {columns} FROM bulk_jobs AS job WHERE {open}"
        ))
        .and_one_of("job.state", states.iter().map(|state| *state as u32))
        .and("job.id < ?", before);
        self.rows(query.page("job.id DESC", limit)).await
    }

    async fn bulk_items(
        &self,
        job: BulkId,
        outcomes: &[ItemOutcome],
        before: Option<ItemId>,
        limit: u32,
    ) -> Result<Vec<BulkItemRow>, ReadError> {
        let columns = BulkItemRow::COLUMNS;
        let query = Query::new(format!("SELECT {columns} FROM bulk_items AS item"))
            .with("WHERE item.job = ?", job)
            .and_one_of("item.outcome", outcomes.iter().map(|it| *it as u32))
            .and("item.item < ?", before);
        self.rows(query.page("item.item DESC", limit)).await
    }

    async fn known_letters(&self, ids: &[DlqId]) -> Result<Vec<DlqId>, ReadError> {
        known(self, "dead_letter_queue", ids).await
    }

    async fn known_executions(&self, ids: &[ExecutionId]) -> Result<Vec<ExecutionId>, ReadError> {
        known(self, "executions", ids).await
    }
}
