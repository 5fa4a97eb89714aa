//! Work: which workflows have some, what dead nodes left, what a node has, how much is open.

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::id::NodeId;
use refire_core::time::Timestamp;
use rusqlite::Params;

use crate::column::Named;
use crate::sqlite::Sqlite;
use crate::sqlite::columns::{hex, readable_work};
use crate::sqlite::readers::Reader;
use crate::sqlite::write::NEXT_PRIORITY;
use crate::{LIMIT_MAX, OpenCounts, ReadError, Work, WorkKey, WorkRow, sql};

/// The next workflow that has unowned work.
pub(in crate::sqlite) const NEXT_WORKFLOW: &str = "SELECT workflow FROM work \
     WHERE owner IS NULL AND workflow > ?1 ORDER BY workflow LIMIT 1";

#[async_trait]
impl Work for Sqlite {
    async fn ready_workflows(&self, now: Timestamp) -> Result<Vec<WorkflowId>, ReadError> {
        self.readers
            .read(move |reader| reader.transaction(|| ready_workflows(reader, now)))
            .await
    }

    async fn orphans(
        &self,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError> {
        let living: Vec<String> = self
            .nodes
            .ids()
            .iter()
            .map(|id| hex(id.as_bytes()))
            .collect();
        let living = serde_json::json!(living).to_string();
        let after = start(after);
        // Nodes own no more than they have slots, so reading all that is owned reads little.
        let owner = "work.owner NOT IN (SELECT unhex(value) FROM json_each(?3))";
        self.readers
            .read(move |reader| owned_work(reader, owner, (after.0, after.1, living), limit))
            .await
    }

    async fn owned_due(
        &self,
        node: NodeId,
        now: Timestamp,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError> {
        let (execution, step) = start(after);
        let owner = "work.owner = ?3 AND (work.due_at IS NULL OR work.due_at <= ?4)";
        let asked = (execution, step, *node.as_bytes(), now.as_micros());
        self.readers
            .read(move |reader| owned_work(reader, owner, asked, limit))
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

/// Jumps from workflow to workflow along the index of ready work, instead of reading it.
fn ready_workflows(reader: &Reader, now: Timestamp) -> Result<Vec<WorkflowId>, ReadError> {
    let mut ready = Vec::new();
    let mut after = i64::MIN;
    while let Some(key) = reader.row(NEXT_WORKFLOW, [after])? {
        after = key;
        if has_ready(reader, key, now)? {
            // Work of no workflow is damage, and nobody could run it.
            let id: Option<_> = reader.row("SELECT id FROM workflows WHERE key = ?1", [key])?;
            ready.extend(id);
        }
    }
    Ok(ready)
}

fn has_ready(reader: &Reader, workflow: i64, now: Timestamp) -> Result<bool, ReadError> {
    let mut after = -1_i64;
    loop {
        let next = reader.row(NEXT_PRIORITY, [workflow, after])?;
        let Some((priority, earliest)): Option<(i64, Option<Timestamp>)> = next else {
            return Ok(false);
        };
        if earliest.is_none_or(|earliest| earliest <= now) {
            return Ok(true);
        }
        after = priority;
    }
}

/// How much each node owns: (begun, not begun).
pub(in crate::sqlite) fn owned(reader: &Reader) -> Result<Vec<(NodeId, u64, u64)>, ReadError> {
    reader.rows(
        "SELECT owner, sum(begun), sum(NOT begun) FROM work INDEXED BY work_owned
         WHERE owner IS NOT NULL GROUP BY owner",
        [],
    )
}

/// Before the first key after this one.
fn start(after: Option<&WorkKey>) -> ([u8; 16], String) {
    after.map_or(([0; 16], String::new()), |key| {
        (*key.execution.as_bytes(), key.step.clone())
    })
}

/// Work of these owners after a key, in the order of its key.
fn owned_work(
    reader: &Reader,
    owner: &str,
    asked: impl Params,
    limit: u32,
) -> Result<Vec<WorkRow>, ReadError> {
    let mut select = reader.prepare(&format!(
        "SELECT {} FROM work INDEXED BY work_owned
         JOIN workflows ON workflows.key = work.workflow
         WHERE work.owner IS NOT NULL AND {owner} AND (work.execution, work.step) > (?1, ?2)
         ORDER BY work.execution, work.step",
        WorkRow::COLUMNS
    ))?;
    let mut rows = select.query(asked)?;
    let mut found = Vec::new();
    while found.len() < limit.min(LIMIT_MAX) as usize {
        let Some(row) = rows.next()? else { break };
        found.extend(readable_work(row));
    }
    Ok(found)
}
