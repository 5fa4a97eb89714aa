//! Lists of executions, newest first.

use refire_core::execution::Status;
use refire_core::id::ExecutionId;

use super::{LAST_ID, ROWS_PER_READ, at_once, execution};
use crate::column::read_at;
use crate::execution::{Found, Source, merged};
use crate::sql::workflow_key;
use crate::sqlite::readers::Reader;
use crate::words::{COMMON, in_words, shown_as_running};
use crate::{ExecutionFilter, LIMIT_MAX, ReadError, Summary};

/// Whether any of an execution's work has begun.
const HAS_BEGUN: &str =
    "EXISTS (SELECT 1 FROM work AS b WHERE b.execution = executions.id AND b.begun)";

/// States that are loaded in one read.
const LOADED_PER_READ: usize = 250;

pub(super) fn list(
    reader: &Reader,
    filter: &ExecutionFilter,
    before: Option<ExecutionId>,
    limit: u32,
) -> Result<Vec<Summary>, ReadError> {
    let Some(workflow) = at_once(workflow_key(reader, filter.workflow.as_ref()))? else {
        return Ok(Vec::new());
    };
    let mut walk = Walk {
        reader,
        workflow,
        retried: filter.retried,
        before: before.unwrap_or(ExecutionId::from_bytes(LAST_ID)),
        limit: limit.min(LIMIT_MAX) as usize,
        rows: ROWS_PER_READ / u32::try_from(filter.statuses.len().max(1)).unwrap_or(u32::MAX),
    };
    let sources = Source::of(&filter.statuses);
    let mut summaries = Vec::new();
    loop {
        let (stretch, rest) = reader.transaction(|| walk.stretch(&sources))?;
        summaries.extend(stretch);
        match rest {
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
struct Walk<'a> {
    reader: &'a Reader,
    workflow: Option<i64>,
    retried: bool,
    before: ExecutionId,
    limit: usize,
    /// Rows that one source looks at in a stretch.
    rows: u32,
}

impl Walk<'_> {
    /// The executions of the next stretch, and where the one after it begins, if there is one.
    fn stretch(
        &self,
        sources: &[Source],
    ) -> Result<(Vec<Summary>, Option<ExecutionId>), ReadError> {
        let found = sources.iter().map(|source| self.find(*source));
        let Found { ids, reached } = merged(found.collect::<Result<_, _>>()?);
        let (summaries, loaded) = load(self.reader, &ids[..ids.len().min(LOADED_PER_READ)])?;
        match loaded < ids.len() {
            true => Ok((summaries, ids[..loaded].last().copied())),
            false => Ok((summaries, reached)),
        }
    }

    fn find(&self, source: Source) -> Result<Found, ReadError> {
        match source {
            Source::All(None) => self.all("true"),
            Source::All(Some(status)) => self.all(&format!("executions.status = '{status}'")),
            Source::Pending => self.pending(),
            Source::Begun => self.begun(),
            Source::Logged(status) => self.by_status(status, "true"),
            Source::Idle(status) => self.by_status(status, &format!("NOT {HAS_BEGUN}")),
        }
    }

    /// Along the key, or an index that begins with what is asked for.
    fn all(&self, condition: &str) -> Result<Found, ReadError> {
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
            let (id, is_wanted) = read_at(row, 0)?;
            reached = Some(id);
            // An execution with several rows of work comes several times, one after the other.
            if is_wanted && ids.last() != Some(&id) {
                ids.push(id);
                if ids.len() == self.limit {
                    break;
                }
            }
        }
        Ok(Found { ids, reached })
    }
}
