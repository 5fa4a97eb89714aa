//! Lists of executions, newest first.

use std::collections::HashMap;

use refire_core::execution::{Execution, Status};
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use uuid::Uuid;

use super::state::stored_of;
use super::{LAST_ID, ROWS_PER_READ, execution};
use crate::column::read_at;
use crate::execution::{Found, Source, merged};
use crate::postgres::columns::uuid;
use crate::postgres::pool::Reader;
use crate::sql::workflow_key;
use crate::words::shown_as_running;
use crate::{ExecutionFilter, LIMIT_MAX, ReadError, Summary};

/// Whether any of an execution's work has begun. Not as a join, which might read all work there is.
const HAS_BEGUN: &str = "coalesce((SELECT true FROM work AS b
    WHERE b.execution = executions.id AND b.begun LIMIT 1), false)";

/// States that are loaded in one read.
const LOADED_PER_READ: usize = 250;

pub(super) async fn list(
    reader: &Reader,
    filter: &ExecutionFilter,
    before: Option<ExecutionId>,
    limit: u32,
) -> Result<Vec<Summary>, ReadError> {
    let Some(workflow) = workflow_key(reader, filter.workflow.as_ref()).await? else {
        return Ok(Vec::new());
    };
    let mut walk = Walk {
        reader,
        workflow,
        retried: filter.retried,
        before: before.unwrap_or(ExecutionId::from_bytes(LAST_ID)),
        limit: limit.min(LIMIT_MAX) as usize,
    };
    let sources = Source::of(&filter.statuses);
    let mut summaries = Vec::new();
    while summaries.len() < walk.limit {
        let (stretch, rest) = reader.snapshot(walk.stretch(&sources)).await?;
        summaries.extend(stretch);
        match rest {
            Some(before) => walk.before = before,
            None => break,
        }
    }
    summaries.truncate(walk.limit);
    Ok(summaries)
}

/// These executions with the values that their steps may yet read, if they are short.
pub(super) async fn summaries(
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
    let begun = begun.iter().map(|row| read_at(row, 0));
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
struct Walk<'a> {
    reader: &'a Reader,
    workflow: Option<i64>,
    retried: bool,
    before: ExecutionId,
    limit: usize,
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
    /// The executions of the next stretch, and where the one after it begins, if there is one.
    async fn stretch(
        &self,
        sources: &[Source],
    ) -> Result<(Vec<Summary>, Option<ExecutionId>), ReadError> {
        let mut found = Vec::with_capacity(sources.len());
        for source in sources {
            found.push(self.find(*source).await?);
        }
        let Found { ids, reached } = merged(found);
        let loaded = &ids[..ids.len().min(LOADED_PER_READ)];
        let summaries = load(self.reader, loaded).await?;
        match loaded.len() < ids.len() {
            true => Ok((summaries, loaded.last().copied())),
            false => Ok((summaries, reached)),
        }
    }

    async fn find(&self, source: Source) -> Result<Found, ReadError> {
        match source {
            Source::All(None) => self.all("true").await,
            Source::All(Some(status)) => {
                let has_it = format!("executions.status = '{status}'");
                self.all(&has_it).await
            }
            Source::Pending => self.pending().await,
            Source::Begun => self.begun().await,
            Source::Logged(status) => self.by_status(status, "true").await,
            Source::Idle(status) => {
                let idle = format!("NOT {HAS_BEGUN}");
                self.by_status(status, &idle).await
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
        rows.iter().map(|row| read_at(row, 0)).collect()
    }
}
