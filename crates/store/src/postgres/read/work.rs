//! Work: which workflows have some, what dead nodes left, what a node has, how much is open.

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::id::NodeId;
use refire_core::limit::PRIORITY_LAST;
use refire_core::time::Timestamp;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::column::{Named, read_at};
use crate::postgres::Postgres;
use crate::postgres::columns::{get, readable_work_at, uuid};
use crate::postgres::pool::Reader;
use crate::{LIMIT_MAX, OpenCounts, ReadError, Work, WorkKey, WorkRow, sql};

/// Jumps from workflow to workflow along the index of ready work, instead of reading it, and looks
/// at the first row of each priority.
const READY: &str = "WITH RECURSIVE hop AS (
        (SELECT workflow FROM work WHERE owner IS NULL ORDER BY workflow LIMIT 1)
        UNION ALL
        SELECT (SELECT work.workflow FROM work
                 WHERE work.owner IS NULL AND work.workflow > hop.workflow
                 ORDER BY work.workflow LIMIT 1)
          FROM hop WHERE hop.workflow IS NOT NULL)
    SELECT workflows.id FROM hop JOIN workflows ON workflows.key = hop.workflow
     WHERE EXISTS (
        SELECT 1 FROM generate_series(0, $2::integer) AS level (priority)
         WHERE (SELECT work.due_at FROM work
                 WHERE work.owner IS NULL AND work.workflow = hop.workflow
                   AND work.priority = level.priority
                 ORDER BY work.due_at LIMIT 1) <= $1)
     ORDER BY hop.workflow";

#[async_trait]
impl Work for Postgres {
    async fn ready_workflows(&self, now: Timestamp) -> Result<Vec<WorkflowId>, ReadError> {
        let last = i32::from(PRIORITY_LAST);
        let rows = self
            .dispatch
            .rows(READY, &[&now.as_micros(), &last])
            .await?;
        rows.iter().map(|row| read_at(row, 0)).collect()
    }

    async fn orphans(
        &self,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError> {
        // First the dead, from owner to owner along the index of what is owned, then their rows. Asked
        // for in the order of the key at once, the server may go along the key, through all that waits.
        let sql = format!(
            "WITH RECURSIVE hop AS (
                (SELECT owner FROM work WHERE owner IS NOT NULL ORDER BY owner LIMIT 1)
                UNION ALL
                SELECT (SELECT work.owner FROM work
                         WHERE work.owner IS NOT NULL AND work.owner > hop.owner
                         ORDER BY work.owner LIMIT 1)
                  FROM hop WHERE hop.owner IS NOT NULL),
             dead AS MATERIALIZED (
                SELECT hop.owner FROM hop
                 WHERE hop.owner IS NOT NULL
                   AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.node_id = hop.owner)),
             held AS MATERIALIZED (
                SELECT owned.* FROM dead CROSS JOIN LATERAL (
                    SELECT * FROM work WHERE work.owner = dead.owner OFFSET 0) AS owned)
             SELECT {} FROM held AS work JOIN workflows ON workflows.key = work.workflow
             WHERE (work.execution, work.step) > ($1, $2)
             ORDER BY work.execution, work.step LIMIT $3",
            WorkRow::COLUMNS
        );
        let reader = self.dispatch.reader().await?;
        reader
            .read(whole_page(&reader, &sql, &[], (after, limit)))
            .await
    }

    async fn owned_due(
        &self,
        node: NodeId,
        now: Timestamp,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError> {
        // A node owns little, so all of it is read before it is put in order.
        let sql = format!(
            "WITH held AS MATERIALIZED (SELECT * FROM work WHERE owner = $4)
             SELECT {} FROM held AS work JOIN workflows ON workflows.key = work.workflow
             WHERE work.due_at <= $5 AND (work.execution, work.step) > ($1, $2)
             ORDER BY work.execution, work.step LIMIT $3",
            WorkRow::COLUMNS
        );
        let (node, now) = (uuid(node.as_bytes()), now.as_micros());
        let reader = self.dispatch.reader().await?;
        reader
            .read(whole_page(&reader, &sql, &[&node, &now], (after, limit)))
            .await
    }

    async fn open_executions(&self, workflow: &WorkflowId, max: u32) -> Result<u64, ReadError> {
        sql::open_executions(self, workflow, max).await
    }

    async fn waiting_work(
        &self,
        workflow: &WorkflowId,
        steps: &[&str],
        now: Timestamp,
        max: u32,
    ) -> Result<u64, ReadError> {
        sql::waiting_work(self, workflow, steps, now, max).await
    }

    async fn open_counts(&self, workflow: Option<&WorkflowId>) -> Result<OpenCounts, ReadError> {
        sql::open_counts(self, workflow).await
    }
}

/// A page of work after a key. It is short only at the end, whatever is left out of it.
async fn whole_page(
    reader: &Reader,
    sql: &str,
    more: &[&(dyn ToSql + Sync)],
    (after, limit): (Option<&WorkKey>, u32),
) -> Result<Vec<WorkRow>, ReadError> {
    let (mut execution, mut step) = after.map_or((Uuid::nil(), String::new()), |key| {
        (uuid(key.execution.as_bytes()), key.step.clone())
    });
    let limit = limit.min(LIMIT_MAX) as usize;
    let mut page = Vec::new();
    while page.len() < limit {
        let missing = limit - page.len();
        let asked = i64::try_from(missing).unwrap_or(i64::MAX);
        let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&execution, &step, &asked];
        parameters.extend(more);
        let rows = reader.rows(sql, &parameters).await?;
        for row in &rows {
            (execution, step) = (get(row, 0)?, get(row, 1)?);
            page.extend(readable_work_at(row, 0));
        }
        if rows.len() < missing {
            break;
        }
    }
    Ok(page)
}
