//! Lists of executions, newest first.
//!
//! Each status has its own source, because the most common statuses have no index: what is
//! pending is found by its work, what has begun by its owner. The sources are disjoint, so the
//! newest of each, merged, are the newest of all.

use std::collections::HashMap;

use refire_core::execution::{Execution, Status};
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use uuid::Uuid;

use super::state::stored_of;
use super::{LAST_ID, ROWS_PER_READ, execution, workflow_key};
use crate::postgres::columns::{execution_id, maybe_time, uuid};
use crate::postgres::pool::Reader;
use crate::words::shown_as_running;
use crate::{ExecutionFilter, LIMIT_MAX, ReadError, Summary};

/// Whether any of an execution's work has begun. Not as a join, which might read all work there is.
const HAS_BEGUN: &str = "coalesce((SELECT true FROM work AS b
    WHERE b.execution = executions.id AND b.begun LIMIT 1), false)";

/// States that are loaded in one read.
const LOADED_PER_READ: usize = 250;

pub(in crate::postgres) async fn list(
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
    };
    if let Some(workflow) = &filter.workflow {
        let Some(key) = workflow_key(reader, workflow).await? else {
            return Ok(Vec::new());
        };
        walk.workflow = Some(key);
    }
    let mut summaries = Vec::new();
    while summaries.len() < walk.limit {
        let stretch = reader.snapshot(walk.stretch(&filter.statuses)).await?;
        summaries.extend(stretch.summaries);
        match stretch.rest {
            Some(before) => walk.before = before,
            None => break,
        }
    }
    summaries.truncate(walk.limit);
    Ok(summaries)
}

/// These executions with the values that their steps may yet read, if they are short.
pub(in crate::postgres) async fn summaries(
    reader: &Reader,
    ids: &[ExecutionId],
) -> Result<Vec<Option<Summary>>, ReadError> {
    let wanted: Vec<Uuid> = ids.iter().map(|id| uuid(id.as_bytes())).collect();
    let (states, begun) = reader
        .snapshot(async {
            let states = execution::with_values(reader, ids).await?;
            let sql = "SELECT execution, min(greatest(begun_at, due_at))
                     FILTER (WHERE begun_at IS NOT NULL) FROM work
                 WHERE execution = ANY($1::uuid[]) AND begun GROUP BY execution";
            Ok((states, reader.rows(sql, &[&wanted]).await?))
        })
        .await?;
    let begun = begun
        .iter()
        .map(|row| Ok((execution_id(row, 0)?, maybe_time(row, 1)?)));
    let begun: HashMap<ExecutionId, Option<Timestamp>> = begun.collect::<Result<_, ReadError>>()?;
    let summary = |(id, state): (&ExecutionId, Option<Execution>)| {
        state.map(|state| Summary {
            id: *id,
            state,
            begun: begun.contains_key(id),
            running_since: begun.get(id).copied().flatten(),
        })
    };
    Ok(ids.iter().zip(states).map(summary).collect())
}

async fn load(reader: &Reader, ids: &[ExecutionId]) -> Result<Vec<Summary>, ReadError> {
    let stored = stored_of(reader, ids).await?;
    let summary = |stored: crate::Stored| Summary {
        id: stored.id,
        begun: stored.work.iter().any(|work| work.begun),
        running_since: stored.running_since(),
        state: stored.state,
    };
    Ok(stored.into_iter().flatten().map(summary).collect())
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

/// A way through the executions, newest first. Conditions and order name all columns of one index,
/// even those that are the same in every row: the server then has no other way to go.
struct Path {
    start: String,
    order: &'static str,
}

impl Path {
    fn along_ids(start: &str) -> Self {
        Self {
            start: start.to_owned(),
            order: "id DESC",
        }
    }
}

impl Walk<'_> {
    /// The next stretch. All sources know it down to where the shortest of them came to.
    async fn stretch(&self, statuses: &[Status]) -> Result<Stretch, ReadError> {
        let mut sources = Vec::new();
        if statuses.is_empty() {
            sources.push(self.all("true").await?);
        }
        for status in Status::ALL
            .into_iter()
            .filter(|status| statuses.contains(status))
        {
            sources.push(self.with_status(status).await?);
            if status == Status::Running {
                // What the log itself calls so: completed steps are being undone.
                sources.push(self.by_status(status, "true").await?);
            }
        }
        let mut rest = sources.iter().filter_map(|source| source.reached).max();
        let mut ids: Vec<ExecutionId> = sources.into_iter().flat_map(|source| source.ids).collect();
        ids.retain(|id| rest.is_none_or(|rest| *id >= rest));
        ids.sort_unstable_by(|a, b| b.cmp(a));
        if ids.len() > LOADED_PER_READ {
            ids.truncate(LOADED_PER_READ);
            rest = ids.last().copied();
        }
        Ok(Stretch {
            summaries: load(self.reader, &ids).await?,
            rest,
        })
    }

    async fn with_status(&self, status: Status) -> Result<Found, ReadError> {
        match status {
            Status::Completed => {
                let is_completed = format!("executions.status = '{status}'");
                self.all(&is_completed).await
            }
            Status::Pending => self.pending().await,
            Status::Running => self.begun().await,
            Status::Retrying | Status::Waiting => {
                let idle = format!("NOT {HAS_BEGUN}");
                self.by_status(status, &idle).await
            }
            Status::Paused | Status::Failed | Status::Dlq | Status::Cancelled => {
                self.by_status(status, "true").await
            }
        }
    }

    /// Along the key, or an index that begins with what is asked for.
    async fn all(&self, condition: &str) -> Result<Found, ReadError> {
        let path = match (self.retried, self.workflow) {
            (true, _) => Path::along_ids("retry_count > 0 AND id < $2"),
            (false, Some(_)) => Path {
                start: "(workflow, id) < ($1, $2) AND workflow >= $1".to_owned(),
                order: "workflow DESC, id DESC",
            },
            (false, None) => Path::along_ids("id < $2"),
        };
        self.along(&path, condition).await
    }

    /// Along the index of those statuses that are not everybody's.
    async fn by_status(&self, status: Status, condition: &str) -> Result<Found, ReadError> {
        let path = Path {
            start: format!(
                "listed IS NOT NULL
                 AND (listed, id) < ('{status}', $2) AND listed >= '{status}'"
            ),
            order: "listed DESC, id DESC",
        };
        self.along(&path, condition).await
    }

    async fn along(&self, path: &Path, condition: &str) -> Result<Found, ReadError> {
        let Path { start, order } = path;
        let looked = format!(
            "SELECT id, workflow, status, listed, retry_count FROM executions
             WHERE ($1::bigint IS NULL OR true) AND {start} ORDER BY {order}"
        );
        let condition = format!("{} AND {condition}", self.wanted());
        self.window(&looked, &condition, order).await
    }

    /// What is pending has work, so this goes along the work.
    async fn pending(&self) -> Result<Found, ReadError> {
        let looked = "SELECT pending.execution AS id, e.workflow, e.status, e.retry_count
             FROM (SELECT DISTINCT execution FROM work
                    WHERE ($1::bigint IS NULL OR true) AND execution < $2
                    ORDER BY execution DESC) AS pending
             CROSS JOIN LATERAL (SELECT workflow, status, retry_count FROM executions
                                  WHERE executions.id = pending.execution OFFSET 0) AS e
             ORDER BY pending.execution DESC";
        let condition = format!(
            "{} AND executions.status = '{}' AND NOT {HAS_BEGUN}",
            self.wanted(),
            Status::Pending
        );
        self.window(looked, &condition, "id DESC").await
    }

    /// What has begun has an owner, and nodes own no more than they have slots.
    async fn begun(&self) -> Result<Found, ReadError> {
        let sql = format!(
            "SELECT executions.id FROM executions
             WHERE executions.id IN (SELECT execution FROM work
                                      WHERE owner IS NOT NULL AND begun AND execution < $2)
               AND executions.status {} AND {}
             ORDER BY executions.id DESC LIMIT $3",
            shown_as_running(),
            self.wanted()
        );
        let ids = self.ids(&sql, self.limit()).await?;
        Ok(self.found(ids, None))
    }

    /// What every source asks of a row.
    fn wanted(&self) -> &'static str {
        if self.retried {
            "($1::bigint IS NULL OR executions.workflow = $1) AND executions.retry_count > 0"
        } else {
            "($1::bigint IS NULL OR executions.workflow = $1)"
        }
    }

    fn limit(&self) -> i64 {
        i64::try_from(self.limit).unwrap_or(i64::MAX)
    }

    /// The first of the rows that pass, out of so many that one statement may look at. If there are
    /// too few, it matters whether that was the end or only the end of what was looked at.
    async fn window(&self, looked: &str, condition: &str, order: &str) -> Result<Found, ReadError> {
        let sql = format!(
            "SELECT executions.id FROM ({looked} LIMIT {ROWS_PER_READ}) AS executions
             WHERE {condition} ORDER BY {order} LIMIT $3"
        );
        let ids = self.ids(&sql, self.limit()).await?;
        if ids.len() >= self.limit {
            return Ok(self.found(ids, None));
        }
        let last = format!("SELECT looked.id FROM ({looked} OFFSET $3 LIMIT 1) AS looked");
        let end = self.ids(&last, ROWS_PER_READ - 1).await?;
        Ok(self.found(ids, end.first().copied()))
    }

    /// `end` is the last row that was looked at, if others may follow.
    fn found(&self, ids: Vec<ExecutionId>, end: Option<ExecutionId>) -> Found {
        let reached = match ids.len() >= self.limit {
            true => ids.last().copied(),
            false => end,
        };
        Found { ids, reached }
    }

    async fn ids(&self, sql: &str, limit: i64) -> Result<Vec<ExecutionId>, ReadError> {
        let before: Uuid = uuid(self.before.as_bytes());
        let rows = self
            .reader
            .rows(sql, &[&self.workflow, &before, &limit])
            .await?;
        rows.iter().map(|row| execution_id(row, 0)).collect()
    }
}
