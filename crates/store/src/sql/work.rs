//! How much is open.

use refire_core::definition::WorkflowId;
use refire_core::id::ExecutionId;

use super::{Database, OF_WORKFLOW, Query};
use crate::words::open_by_status;
use crate::{OpenCounts, ReadError};

/// Rows of work that one statement counts before another goes on: a few tens of milliseconds.
const ROWS_PER_READ: u32 = 20_000;

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
    let workless: Option<u64> = database.row(workless.and(OF_WORKFLOW, workflow)).await?;
    counts.executions += workless.unwrap_or(0);
    Ok(counts)
}
