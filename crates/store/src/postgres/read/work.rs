//! Work: which workflows have some, what dead nodes left, what a node has, how much is open.

use refire_core::definition::WorkflowId;
use refire_core::id::NodeId;
use refire_core::limit::PRIORITY_LAST;
use refire_core::time::Timestamp;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::{LAST_ID, ROWS_PER_READ, workflow_key};
use crate::postgres::columns::{WORK, count, get, readable_work_at, uuid, workflow_id};
use crate::postgres::pool::Reader;
use crate::words::open_by_status;
use crate::{LIMIT_MAX, OpenCounts, ReadError, WorkKey, WorkRow};

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

pub(in crate::postgres) async fn ready_workflows(
    reader: &Reader,
    now: Timestamp,
) -> Result<Vec<WorkflowId>, ReadError> {
    let last = i32::from(PRIORITY_LAST);
    let rows = reader.rows(READY, &[&now.as_micros(), &last]).await?;
    rows.iter().map(|row| workflow_id(row, 0)).collect()
}

/// Work of nodes that are not among the living, in the order of its key.
pub(in crate::postgres) async fn orphans(
    reader: &Reader,
    after: Option<&WorkKey>,
    limit: u32,
) -> Result<Vec<WorkRow>, ReadError> {
    // First the dead, from owner to owner along the index of what is owned, then their rows. Asked for
    // in the order of the key at once, the server may go along the key, through all that waits.
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
         SELECT {WORK} FROM held AS work JOIN workflows ON workflows.key = work.workflow
         WHERE (work.execution, work.step) > ($1, $2)
         ORDER BY work.execution, work.step LIMIT $3"
    );
    whole_page(reader, &sql, &[], (after, limit)).await
}

/// Work of one node that is due, in the order of its key.
pub(in crate::postgres) async fn owned_due(
    reader: &Reader,
    node: NodeId,
    now: Timestamp,
    page: (Option<&WorkKey>, u32),
) -> Result<Vec<WorkRow>, ReadError> {
    // A node owns little, so all of it is read before it is put in order.
    let sql = format!(
        "WITH held AS MATERIALIZED (SELECT * FROM work WHERE owner = $4)
         SELECT {WORK} FROM held AS work JOIN workflows ON workflows.key = work.workflow
         WHERE work.due_at <= $5 AND (work.execution, work.step) > ($1, $2)
         ORDER BY work.execution, work.step LIMIT $3"
    );
    let (node, now) = (uuid(node.as_bytes()), now.as_micros());
    whole_page(reader, &sql, &[&node, &now], page).await
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

/// Counts along the work, and adds what is open without any.
pub(in crate::postgres) async fn open_counts(
    reader: &Reader,
    workflow: Option<&WorkflowId>,
) -> Result<OpenCounts, ReadError> {
    let mut counts = OpenCounts::default();
    let key = match workflow {
        None => None,
        Some(id) => match workflow_key(reader, id).await? {
            None => return Ok(counts),
            key => key,
        },
    };
    count_work(reader, key, &mut counts).await?;
    let workless = reader
        .row(
            &format!(
                "SELECT count(*) FROM executions
             WHERE listed IS NOT NULL AND listed {}
               AND ($1::bigint IS NULL OR workflow = $1)
               AND NOT EXISTS (SELECT 1 FROM work WHERE work.execution = executions.id)",
                open_by_status()
            ),
            &[&key],
        )
        .await?;
    if let Some(row) = workless {
        counts.executions += count(&row, 0)?;
    }
    Ok(counts)
}

/// One stretch of executions after the other.
async fn count_work(
    reader: &Reader,
    workflow: Option<i64>,
    counts: &mut OpenCounts,
) -> Result<(), ReadError> {
    let mut after = Uuid::nil();
    loop {
        let end = reader
            .row(
                "SELECT execution FROM work WHERE execution > $1 ORDER BY execution
                 OFFSET $2 LIMIT 1",
                &[&after, &ROWS_PER_READ],
            )
            .await?;
        let until: Option<Uuid> = end.as_ref().map(|row| get(row, 0)).transpose()?;
        let stretch = reader
            .row(
                "SELECT count(*) FILTER (WHERE begun), count(*) FILTER (WHERE NOT begun),
                        count(DISTINCT execution)
                 FROM work
                 WHERE execution > $1 AND execution <= $2
                   AND ($3::bigint IS NULL OR workflow = $3)",
                &[&after, &until.unwrap_or_else(|| uuid(&LAST_ID)), &workflow],
            )
            .await?;
        if let Some(row) = stretch {
            counts.running += count(&row, 0)?;
            counts.waiting += count(&row, 1)?;
            counts.executions += count(&row, 2)?;
        }
        match until {
            Some(until) => after = until,
            None => return Ok(()),
        }
    }
}
