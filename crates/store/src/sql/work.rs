//! How much is open.

use refire_core::definition::WorkflowId;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;

use super::{AFTER_SYSTEM, Database, OF_WORKFLOW, Query};
use crate::words::{is_paused, open_by_status};
use crate::{OpenCounts, ReadError};

/// Rows of work that one statement counts before another goes on: a few tens of milliseconds.
const ROWS_PER_READ: u32 = 20_000;

/// Counts along indexes that begin with the workflow. Whatever is open and not paused has work, a task or a
/// callback, so these answer for all statuses but one; paused ones may have none.
pub(crate) async fn open_executions<D: Database>(
    database: &D,
    workflow: &WorkflowId,
    max: u32,
) -> Result<u64, ReadError> {
    let (along, (status, _)) = (D::along("executions_paused"), D::listed_by());
    let id = workflow.as_str();
    let paused = format!(
        "SELECT id FROM executions {along} WHERE {status}{}",
        is_paused!()
    );
    let of_key = [
        (
            "waiting",
            "SELECT DISTINCT execution FROM work WHERE owner IS NULL",
        ),
        (
            "owned",
            "SELECT DISTINCT execution FROM work WHERE owner IS NOT NULL",
        ),
        ("paused", &paused),
    ];
    let of_id = [
        (
            "tasks",
            "SELECT DISTINCT execution FROM workflow_external_tasks WHERE status < 4",
        ),
        (
            "callbacks",
            "SELECT DISTINCT execution FROM task_callbacks WHERE wake_at IS NOT NULL",
        ),
    ];
    let of_key = of_key.into_iter().map(|part| (part, OF_WORKFLOW));
    let of_id = of_id.into_iter().map(|part| (part, "workflow = ?"));
    let mut query = Query::new("SELECT count(*) FROM (");
    for (place, ((name, select), of)) in of_key.chain(of_id).enumerate() {
        let union = if place == 0 { "" } else { "UNION " };
        query = query
            .with(&format!("{union}SELECT * FROM ({select} AND {of}"), id)
            .with(&format!("LIMIT ?) AS {name}"), max);
    }
    let count: Option<u64> = database.row(query.end(") AS open")).await?;
    Ok(count.unwrap_or(0).min(max.into()))
}

/// Counts along the index of ready work.
pub(crate) async fn waiting_work(
    database: &impl Database,
    workflow: &WorkflowId,
    steps: &[&str],
    now: Timestamp,
    max: u32,
) -> Result<u64, ReadError> {
    if steps.is_empty() {
        return Ok(0);
    }
    let query = Query::new("SELECT count(*) FROM (SELECT 1 FROM work WHERE owner IS NULL")
        .with(&format!("AND {OF_WORKFLOW}"), workflow.as_str())
        .with("AND (due_at IS NULL OR due_at <= ?)", now)
        .and_in("step", steps.iter().copied())
        .with("LIMIT ?) AS waiting", max);
    Ok(database.row(query).await?.unwrap_or(0))
}

/// The condition that a row is not of what the server runs for itself.
fn not_system() -> String {
    format!(
        "AND workflow NOT IN (SELECT key FROM workflows WHERE ns = 1 AND workflows.id < '{AFTER_SYSTEM}')"
    )
}

/// Counts along the work, one stretch of executions after the other, and adds what is open without any.
pub(crate) async fn open_counts<D: Database>(
    database: &D,
    workflow: Option<&WorkflowId>,
) -> Result<OpenCounts, ReadError> {
    let workflow = workflow.map(WorkflowId::as_str);
    let mut counts = OpenCounts::default();
    let mut after: Option<ExecutionId> = None;
    loop {
        let end = Query::new("SELECT execution FROM work WHERE true")
            .and("execution > ?", after)
            .with("ORDER BY execution LIMIT 1 OFFSET ?", ROWS_PER_READ);
        let until: Option<ExecutionId> = database.row(end).await?;
        let stretch = Query::new(
            "SELECT count(*) FILTER (WHERE begun), count(*) FILTER (WHERE NOT begun),
                    count(DISTINCT execution) FROM work WHERE true",
        )
        .and("execution > ?", after)
        .and("execution <= ?", until)
        .end(&not_system())
        .and(OF_WORKFLOW, workflow);
        let counted = database.row(stretch).await?;
        let (running, waiting, executions): (u64, u64, u64) = counted.unwrap_or_default();
        counts.running += running;
        counts.waiting += waiting;
        counts.executions += executions;
        if until.is_none() {
            break;
        }
        after = until;
    }
    let (listed, open) = (D::listed(), open_by_status());
    let workless = Query::new(format!(
        "SELECT count(*) FROM executions {listed} {open}
         AND NOT EXISTS (SELECT 1 FROM work WHERE work.execution = executions.id)"
    ));
    let workless = workless.end(&not_system()).and(OF_WORKFLOW, workflow);
    let workless: Option<u64> = database.row(workless).await?;
    counts.executions += workless.unwrap_or(0);
    Ok(counts)
}
