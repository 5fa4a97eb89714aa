//! Lists of executions, newest first.
//!
//! Each status has its own source, because the most common statuses have no index: what is
//! pending is found by its work, what is running by its owner. The sources are disjoint, so the
//! newest of each, merged, are the newest of all.

use refire_core::execution::Status;
use refire_core::id::ExecutionId;

use super::{LAST_ID, ROWS_PER_READ, execution, workflow_key};
use crate::sqlite::columns::execution_id;
use crate::sqlite::readers::Reader;
use crate::{ExecutionFilter, LIMIT_MAX, ReadError, Summary};

/// Whether any of an execution's work has begun.
const HAS_BEGUN: &str =
    "EXISTS (SELECT 1 FROM work AS b WHERE b.execution = executions.id AND b.begun)";

pub(in crate::sqlite) fn list(
    reader: &Reader,
    filter: &ExecutionFilter,
    before: Option<ExecutionId>,
    limit: u32,
) -> Result<Vec<Summary>, ReadError> {
    let limit = limit.min(LIMIT_MAX) as usize;
    let before = before.unwrap_or(ExecutionId::from_bytes(LAST_ID));
    let mut walk = Walk {
        reader,
        workflow: None,
        retried: filter.retried,
        before,
        limit,
    };
    if let Some(workflow) = &filter.workflow {
        let Some(key) = workflow_key(reader, workflow)? else {
            return Ok(Vec::new());
        };
        walk.workflow = Some(key);
    }
    let mut ids = Vec::new();
    if filter.statuses.is_empty() {
        ids = walk.all(None)?;
    }
    for status in Status::ALL
        .into_iter()
        .filter(|status| filter.statuses.contains(status))
    {
        ids.extend(walk.with_status(status)?);
    }
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids.truncate(limit);
    let mut summaries = load(reader, &ids)?;
    // Between the walk and now an execution may have moved on.
    summaries.retain(|summary| {
        filter.statuses.is_empty() || filter.statuses.contains(&summary.status())
    });
    Ok(summaries)
}

fn load(reader: &Reader, ids: &[ExecutionId]) -> Result<Vec<Summary>, ReadError> {
    reader.transaction(|| {
        let mut summaries = Vec::with_capacity(ids.len());
        for id in ids {
            let Some(state) = execution::state(reader, *id)? else {
                continue;
            };
            let begun = reader
                .prepare("SELECT 1 FROM work WHERE execution = ?1 AND begun")?
                .exists([id.as_bytes()])?;
            summaries.push(Summary {
                id: *id,
                state,
                begun,
            });
        }
        Ok(summaries)
    })
}

/// A walk from an id to older ones.
struct Walk<'a> {
    reader: &'a Reader,
    workflow: Option<i64>,
    retried: bool,
    before: ExecutionId,
    limit: usize,
}

impl Walk<'_> {
    fn with_status(&self, status: Status) -> Result<Vec<ExecutionId>, ReadError> {
        match status {
            Status::Completed => self.all(Some("executions.status = 'completed'")),
            Status::Pending => self.pending(),
            Status::Running => self.running(),
            Status::Retrying | Status::Waiting => {
                self.by_status(status, &format!("NOT {HAS_BEGUN}"))
            }
            Status::Paused | Status::Failed | Status::Dlq | Status::Cancelled => {
                self.by_status(status, "true")
            }
        }
    }

    /// Along the key, or an index that begins with what is asked for.
    fn all(&self, condition: Option<&str>) -> Result<Vec<ExecutionId>, ReadError> {
        let (index, start) = match (self.retried, self.workflow) {
            (true, _) => ("executions_retried", "executions.retry_count > 0"),
            (false, Some(_)) => ("executions_by_workflow", "executions.workflow = ?1"),
            (false, None) => ("sqlite_autoindex_executions_1", "true"),
        };
        let sql = format!(
            "SELECT executions.id, {wanted} AND {condition}
             FROM executions INDEXED BY {index}
             WHERE {start} AND executions.id < ?2
             ORDER BY executions.id DESC LIMIT ?3",
            wanted = self.wanted(),
            condition = condition.unwrap_or("true"),
        );
        self.collect(&sql)
    }

    /// Along the index of those statuses that are not everybody's.
    fn by_status(&self, status: Status, condition: &str) -> Result<Vec<ExecutionId>, ReadError> {
        let sql = format!(
            "SELECT executions.id, {wanted} AND {condition}
             FROM executions INDEXED BY executions_by_status
             WHERE executions.status NOT IN ('pending', 'completed')
               AND executions.status = '{status}' AND executions.id < ?2
             ORDER BY executions.id DESC LIMIT ?3",
            wanted = self.wanted(),
        );
        self.collect(&sql)
    }

    /// What is pending has work, so this goes along the work.
    fn pending(&self) -> Result<Vec<ExecutionId>, ReadError> {
        let sql = format!(
            "SELECT executions.id, {wanted} AND executions.status = 'pending' AND NOT {HAS_BEGUN}
             FROM work CROSS JOIN executions ON executions.id = work.execution
             WHERE work.execution < ?2
             ORDER BY work.execution DESC LIMIT ?3",
            wanted = self.wanted(),
        );
        self.collect(&sql)
    }

    /// What has begun has an owner, and nodes own no more than they have slots. The log itself
    /// says `running` only where completed steps are being undone.
    fn running(&self) -> Result<Vec<ExecutionId>, ReadError> {
        let mut ids = self.by_status(Status::Running, "true")?;
        let sql = format!(
            "SELECT DISTINCT executions.id
             FROM work INDEXED BY work_owned
             CROSS JOIN executions ON executions.id = work.execution
             WHERE work.owner IS NOT NULL AND work.begun
               AND (?1 IS NULL OR work.workflow = ?1) AND work.execution < ?2
               AND executions.status IN ('pending', 'retrying', 'waiting') AND {wanted}
             ORDER BY executions.id DESC LIMIT ?3",
            wanted = self.wanted(),
        );
        self.reader.restart_clock();
        let mut owned = self.reader.prepare(&sql)?;
        let mut rows = owned.query((self.workflow, self.before.as_bytes(), self.limit as i64))?;
        while let Some(row) = rows.next()? {
            ids.push(execution_id(row, 0)?);
        }
        Ok(ids)
    }

    /// What every source asks of a row. Names `?1` so that each statement has three parameters.
    fn wanted(&self) -> &'static str {
        if self.retried {
            "(?1 IS NULL OR executions.workflow = ?1) AND executions.retry_count > 0"
        } else {
            "(?1 IS NULL OR executions.workflow = ?1)"
        }
    }

    /// Walks until there are enough rows whose second column is true, one short read after the
    /// other.
    fn collect(&self, sql: &str) -> Result<Vec<ExecutionId>, ReadError> {
        let mut ids: Vec<ExecutionId> = Vec::new();
        let mut before = self.before;
        while ids.len() < self.limit {
            self.reader.restart_clock();
            let mut select = self.reader.prepare(sql)?;
            let mut rows = select.query((self.workflow, before.as_bytes(), ROWS_PER_READ))?;
            let mut seen = 0;
            while ids.len() < self.limit
                && let Some(row) = rows.next()?
            {
                seen += 1;
                before = execution_id(row, 0)?;
                // An execution with several rows of work comes several times, one after the other.
                if row.get(1)? && ids.last() != Some(&before) {
                    ids.push(before);
                }
            }
            if seen < ROWS_PER_READ {
                break;
            }
        }
        Ok(ids)
    }
}
