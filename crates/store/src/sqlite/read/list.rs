//! Lists of executions, newest first.
//!
//! Each status has its own source, because the most common statuses have no index: what is
//! pending is found by its work, what has begun by its owner. The sources are disjoint, so the
//! newest of each, merged, are the newest of all.

use refire_core::execution::Status;
use refire_core::id::ExecutionId;

use super::{LAST_ID, ROWS_PER_READ, execution, workflow_key};
use crate::sqlite::columns::execution_id;
use crate::sqlite::readers::Reader;
use crate::words::{COMMON, in_words, shown_as_running};
use crate::{ExecutionFilter, LIMIT_MAX, ReadError, Summary};

/// Whether any of an execution's work has begun.
const HAS_BEGUN: &str =
    "EXISTS (SELECT 1 FROM work AS b WHERE b.execution = executions.id AND b.begun)";

/// States that are loaded in one read.
const LOADED_PER_READ: usize = 250;

pub(in crate::sqlite) fn list(
    reader: &Reader,
    filter: &ExecutionFilter,
    before: Option<ExecutionId>,
    limit: u32,
) -> Result<Vec<Summary>, ReadError> {
    let mut walk = Walk {
        reader,
        workflow: None,
        retried: filter.retried,
        before: before.unwrap_or(ExecutionId::from_bytes(LAST_ID)),
        limit: limit.min(LIMIT_MAX) as usize,
        rows: ROWS_PER_READ / u32::try_from(filter.statuses.len().max(1)).unwrap_or(u32::MAX),
    };
    if let Some(workflow) = &filter.workflow {
        let Some(key) = workflow_key(reader, workflow)? else {
            return Ok(Vec::new());
        };
        walk.workflow = Some(key);
    }
    let mut summaries = Vec::new();
    loop {
        let stretch = reader.transaction(|| walk.stretch(&filter.statuses))?;
        summaries.extend(stretch.summaries);
        match stretch.rest {
            Some(before) if summaries.len() < walk.limit => walk.before = before,
            _ => break,
        }
    }
    summaries.truncate(walk.limit);
    Ok(summaries)
}

/// Loads as many of `ids` as one read has time for, and says how many those are.
pub(in crate::sqlite) fn load(
    reader: &Reader,
    ids: &[ExecutionId],
) -> Result<(Vec<Summary>, usize), ReadError> {
    let mut summaries = Vec::with_capacity(ids.len());
    for (index, id) in ids.iter().enumerate() {
        if let Some(state) = execution::state(reader, *id)? {
            summaries.push(execution::summed_up(reader, *id, state)?);
        }
        if reader.is_half_over() {
            return Ok((summaries, index + 1));
        }
    }
    Ok((summaries, ids.len()))
}

/// A walk from an id to older ones, one stretch after the other.
///
/// An execution changes its status and so its source while the walk goes on, but never its id.
/// Each stretch of ids is read from all sources as of one moment, so none is missed in between.
struct Walk<'a> {
    reader: &'a Reader,
    workflow: Option<i64>,
    retried: bool,
    before: ExecutionId,
    limit: usize,
    /// Rows that one source looks at in a stretch.
    rows: u32,
}

/// The executions between two ids, and where the next stretch begins, if there is one.
struct Stretch {
    summaries: Vec<Summary>,
    rest: Option<ExecutionId>,
}

/// What one source gave, newest first.
struct Found {
    ids: Vec<ExecutionId>,
    /// The last id it came to, unless it came to its end.
    reached: Option<ExecutionId>,
}

impl Walk<'_> {
    /// The next stretch. All sources know it down to where the shortest of them came to.
    fn stretch(&self, statuses: &[Status]) -> Result<Stretch, ReadError> {
        let mut sources = Vec::new();
        if statuses.is_empty() {
            sources.push(self.all(None)?);
        }
        for status in Status::ALL
            .into_iter()
            .filter(|status| statuses.contains(status))
        {
            sources.push(self.with_status(status)?);
            if status == Status::Running {
                // What the log itself calls so: completed steps are being undone.
                sources.push(self.by_status(status, "true")?);
            }
        }
        let mut rest = sources.iter().filter_map(|source| source.reached).max();
        let mut ids: Vec<ExecutionId> = sources.into_iter().flat_map(|source| source.ids).collect();
        ids.retain(|id| rest.is_none_or(|rest| *id >= rest));
        ids.sort_unstable_by(|a, b| b.cmp(a));
        let (summaries, loaded) = load(self.reader, &ids[..ids.len().min(LOADED_PER_READ)])?;
        if loaded < ids.len() {
            rest = ids[..loaded].last().copied();
        }
        Ok(Stretch { summaries, rest })
    }

    fn with_status(&self, status: Status) -> Result<Found, ReadError> {
        match status {
            Status::Completed => self.all(Some(&format!("executions.status = '{status}'"))),
            Status::Pending => self.pending(),
            Status::Running => self.begun(),
            Status::Retrying | Status::Waiting => {
                self.by_status(status, &format!("NOT {HAS_BEGUN}"))
            }
            Status::Paused | Status::Failed | Status::Dlq | Status::Cancelled => {
                self.by_status(status, "true")
            }
        }
    }

    /// Along the key, or an index that begins with what is asked for.
    fn all(&self, condition: Option<&str>) -> Result<Found, ReadError> {
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
    fn by_status(&self, status: Status, condition: &str) -> Result<Found, ReadError> {
        let sql = format!(
            "SELECT executions.id, {wanted} AND {condition}
             FROM executions INDEXED BY executions_by_status
             WHERE executions.status NOT {common}
               AND executions.status = '{status}' AND executions.id < ?2
             ORDER BY executions.id DESC LIMIT ?3",
            wanted = self.wanted(),
            common = in_words(COMMON),
        );
        self.collect(&sql)
    }

    /// What is pending has work, so this goes along the work.
    fn pending(&self) -> Result<Found, ReadError> {
        let sql = format!(
            "SELECT executions.id, {wanted} AND executions.status = '{pending}' AND NOT {HAS_BEGUN}
             FROM work CROSS JOIN executions ON executions.id = work.execution
             WHERE work.execution < ?2
             ORDER BY work.execution DESC LIMIT ?3",
            wanted = self.wanted(),
            pending = Status::Pending,
        );
        self.collect(&sql)
    }

    /// What has begun has an owner, and nodes own no more than they have slots.
    fn begun(&self) -> Result<Found, ReadError> {
        let sql = format!(
            "SELECT DISTINCT executions.id, true
             FROM work INDEXED BY work_owned
             CROSS JOIN executions ON executions.id = work.execution
             WHERE work.owner IS NOT NULL AND work.begun
               AND (?1 IS NULL OR work.workflow = ?1) AND work.execution < ?2
               AND executions.status {shown_as_running} AND {wanted}
             ORDER BY executions.id DESC LIMIT ?3",
            wanted = self.wanted(),
            shown_as_running = shown_as_running(),
        );
        self.collect(&sql)
    }

    /// What every source asks of a row. Names `?1` so that each statement has three parameters.
    fn wanted(&self) -> &'static str {
        if self.retried {
            "(?1 IS NULL OR executions.workflow = ?1) AND executions.retry_count > 0"
        } else {
            "(?1 IS NULL OR executions.workflow = ?1)"
        }
    }

    /// The ids of the rows whose second column is true, until there are enough.
    fn collect(&self, sql: &str) -> Result<Found, ReadError> {
        let mut ids: Vec<ExecutionId> = Vec::new();
        let mut select = self.reader.prepare(sql)?;
        let mut rows = select.query((self.workflow, self.before.as_bytes(), self.rows))?;
        let mut reached = None;
        for _ in 0..self.rows {
            let Some(row) = rows.next()? else {
                reached = None;
                break;
            };
            let id = execution_id(row, 0)?;
            reached = Some(id);
            // An execution with several rows of work comes several times, one after the other.
            if row.get(1)? && ids.last() != Some(&id) {
                ids.push(id);
                if ids.len() == self.limit {
                    break;
                }
            }
        }
        Ok(Found { ids, reached })
    }
}
