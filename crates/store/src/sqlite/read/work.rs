//! Work: which workflows have some, what dead nodes left, what a node has, how much is open.

use refire_core::definition::WorkflowId;
use refire_core::id::{ExecutionId, NodeId};
use refire_core::time::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::{ROWS_PER_READ, workflow_key};
use crate::sqlite::columns::{WORK, count, execution_id, hex, readable_work, workflow_id};
use crate::sqlite::readers::Reader;
use crate::sqlite::write::NEXT_PRIORITY;
use crate::words::{COMMON, in_words, open_by_status};
use crate::{LIMIT_MAX, OpenCounts, ReadError, WorkKey, WorkRow};

/// The next workflow that has unowned work.
pub(in crate::sqlite) const NEXT_WORKFLOW: &str = "SELECT workflow FROM work \
     WHERE owner IS NULL AND workflow > ?1 ORDER BY workflow LIMIT 1";

/// Jumps from workflow to workflow along the index of ready work, instead of reading it.
pub(in crate::sqlite) fn ready_workflows(
    reader: &Reader,
    now: Timestamp,
) -> Result<Vec<WorkflowId>, ReadError> {
    reader.transaction(|| {
        let mut ready = Vec::new();
        let mut after = i64::MIN;
        while let Some(key) = reader
            .prepare(NEXT_WORKFLOW)?
            .query_row([after], |row| row.get(0))
            .optional()?
        {
            after = key;
            if has_ready(reader, key, now)? {
                // Work of no workflow is damage, and nobody could run it.
                let id = reader
                    .prepare("SELECT id FROM workflows WHERE key = ?1")?
                    .query_row([key], |row| workflow_id(row, 0))
                    .optional()?;
                ready.extend(id);
            }
        }
        Ok(ready)
    })
}

fn has_ready(reader: &Reader, workflow: i64, now: Timestamp) -> Result<bool, ReadError> {
    let mut after = -1_i64;
    loop {
        let next: Option<(i64, Option<i64>)> = reader
            .prepare(NEXT_PRIORITY)?
            .query_row([workflow, after], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((priority, earliest)) = next else {
            return Ok(false);
        };
        if earliest.is_none_or(|earliest| earliest <= now.as_micros()) {
            return Ok(true);
        }
        after = priority;
    }
}

/// How much each node owns: (begun, not begun).
pub(in crate::sqlite) fn owned(reader: &Reader) -> Result<Vec<(NodeId, u64, u64)>, ReadError> {
    reader
        .prepare(
            "SELECT owner, sum(begun), sum(NOT begun) FROM work INDEXED BY work_owned
             WHERE owner IS NOT NULL GROUP BY owner",
        )?
        .query_map([], |row| {
            let id = NodeId::from_bytes(row.get(0)?);
            Ok((id, count(row, 1)?, count(row, 2)?))
        })?
        .map(|row| row.map_err(ReadError::from))
        .collect()
}

/// Work of nodes that are not among the living, in the order of its key.
pub(in crate::sqlite) fn orphans(
    reader: &Reader,
    living: &[NodeId],
    after: Option<&WorkKey>,
    limit: u32,
) -> Result<Vec<WorkRow>, ReadError> {
    let living = serde_json::to_string(
        &living
            .iter()
            .map(|id| hex(id.as_bytes()))
            .collect::<Vec<_>>(),
    )
    .map_err(|error| ReadError::Unavailable(error.into()))?;
    // Nodes own no more than they have slots, so reading all that is owned reads little.
    let (execution, step) = after.map_or(([0; 16], ""), |key| {
        (*key.execution.as_bytes(), key.step.as_str())
    });
    let mut select = reader.prepare(&format!(
        "SELECT {WORK} FROM work INDEXED BY work_owned
         JOIN workflows ON workflows.key = work.workflow
         WHERE work.owner IS NOT NULL
           AND work.owner NOT IN (SELECT unhex(value) FROM json_each(?1))
           AND (work.execution, work.step) > (?2, ?3)
         ORDER BY work.execution, work.step"
    ))?;
    let mut rows = select.query(params![living, execution, step])?;
    let mut orphans = Vec::new();
    while orphans.len() < limit.min(LIMIT_MAX) as usize {
        let Some(row) = rows.next()? else { break };
        orphans.extend(readable_work(row));
    }
    Ok(orphans)
}

/// Work of one node that is due, in the order of its key.
pub(in crate::sqlite) fn owned_due(
    reader: &Reader,
    node: NodeId,
    now: Timestamp,
    (after, limit): (Option<&WorkKey>, u32),
) -> Result<Vec<WorkRow>, ReadError> {
    let (execution, step) = after.map_or(([0; 16], ""), |key| {
        (*key.execution.as_bytes(), key.step.as_str())
    });
    let mut select = reader.prepare(&format!(
        "SELECT {WORK} FROM work INDEXED BY work_owned
         JOIN workflows ON workflows.key = work.workflow
         WHERE work.owner IS NOT NULL AND work.owner = ?1
           AND (work.due_at IS NULL OR work.due_at <= ?2)
           AND (work.execution, work.step) > (?3, ?4)
         ORDER BY work.execution, work.step"
    ))?;
    let mut rows = select.query(params![node.as_bytes(), now.as_micros(), execution, step])?;
    let mut owned = Vec::new();
    while owned.len() < limit.min(LIMIT_MAX) as usize {
        let Some(row) = rows.next()? else { break };
        owned.extend(readable_work(row));
    }
    Ok(owned)
}

/// Counts along the work, and adds what is open without any.
pub(in crate::sqlite) fn open_counts(
    reader: &Reader,
    workflow: Option<&WorkflowId>,
) -> Result<OpenCounts, ReadError> {
    let mut counts = OpenCounts::default();
    let key = match workflow {
        None => None,
        Some(id) => match workflow_key(reader, id)? {
            None => return Ok(counts),
            key => key,
        },
    };
    count_work(reader, key, &mut counts)?;
    reader.restart_clock();
    let workless: i64 = reader
        .prepare(&format!(
            "SELECT count(*) FROM executions INDEXED BY executions_by_status
             WHERE status NOT {common} AND status {open}
               AND (?1 IS NULL OR workflow = ?1)
               AND NOT EXISTS (SELECT 1 FROM work WHERE work.execution = executions.id)",
            common = in_words(COMMON),
            open = open_by_status(),
        ))?
        .query_row([key], |row| row.get(0))?;
    counts.executions += u64::try_from(workless).unwrap_or(0);
    Ok(counts)
}

fn count_work(
    reader: &Reader,
    workflow: Option<i64>,
    counts: &mut OpenCounts,
) -> Result<(), ReadError> {
    let mut last = WorkKey {
        execution: ExecutionId::from_bytes([0; 16]),
        step: String::new(),
    };
    let mut counted: Option<ExecutionId> = None;
    loop {
        reader.restart_clock();
        let mut select = reader.prepare(
            "SELECT execution, begun, ?1 IS NULL OR workflow = ?1, step FROM work
             WHERE (execution, step) > (?2, ?3) ORDER BY execution, step LIMIT ?4",
        )?;
        let mut rows = select.query(params![
            workflow,
            last.execution.as_bytes(),
            last.step,
            ROWS_PER_READ
        ])?;
        let mut seen = 0;
        while let Some(row) = rows.next()? {
            seen += 1;
            let execution = execution_id(row, 0)?;
            if row.get(2)? {
                let is_running: bool = row.get(1)?;
                counts.running += u64::from(is_running);
                counts.waiting += u64::from(!is_running);
                counts.executions += u64::from(counted != Some(execution));
                counted = Some(execution);
            }
            if seen == ROWS_PER_READ {
                last = WorkKey {
                    execution,
                    step: row.get(3)?,
                };
            }
        }
        if seen < ROWS_PER_READ {
            return Ok(());
        }
    }
}
