//! Retention: small chunks along the time-ordered keys, so that nobody waits for long.

use std::collections::HashMap;

use refire_core::dead_letter::LetterStatus;
use refire_core::execution::Status;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use uuid::Uuid;

use super::link::{Link, Query, Value, values};
use super::{Failed, Order};
use crate::postgres::columns::{
    count, execution_id, get, maybe_execution_id, signed, time, uuid, word,
};
use crate::request::first_id_at;
use crate::words::accepted;
use crate::{PartOutcome, Prune};

/// Rows that one chunk removes, at most, unless a single execution has more.
const ROWS_REMOVED_MAX: u64 = 500;

const CANDIDATES: &str =
    "SELECT id, status, created_at, updated_at, version, parent FROM executions
     WHERE id > $1 ORDER BY id LIMIT $2";

/// Letters that are being changed are waited for.
const LETTERS: &str = "SELECT execution, id, status FROM dead_letter_queue
     WHERE execution = ANY($1::uuid[]) ORDER BY id FOR UPDATE";

/// Letters go together with their counts: whoever removes the row counts it out.
const REMOVE_LETTERS: &str = "WITH retries AS (
        DELETE FROM dead_letter_retries WHERE letter = ANY($1::uuid[])
     ), gone AS (
        DELETE FROM dead_letter_queue WHERE id = ANY($1::uuid[])
        RETURNING workflow, error_type, coalesce(error_code, '') AS error_code, status
     )
     INSERT INTO dlq_counts (workflow, error_type, error_code, status, shard, n)
     SELECT workflow, error_type, error_code, status, $2::smallint, -count(*) FROM gone
      GROUP BY workflow, error_type, error_code, status
      ORDER BY workflow, error_type, error_code, status
     ON CONFLICT (workflow, error_type, error_code, status, shard)
        DO UPDATE SET n = dlq_counts.n + excluded.n";

const REMOVE_EXECUTIONS: &str = "WITH events AS (
        DELETE FROM workflow_events WHERE execution = ANY($1::uuid[])
     ), left_over AS (
        DELETE FROM work WHERE execution = ANY($1::uuid[])
     )
     DELETE FROM executions WHERE id = ANY($1::uuid[]) RETURNING id";

const REMOVE_KEYS: &str = "WITH old AS MATERIALIZED (
        SELECT ns, scope, key_hash FROM idempotency
         WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
     )
     DELETE FROM idempotency USING old
      WHERE idempotency.ns = old.ns AND idempotency.scope = old.scope
        AND idempotency.key_hash = old.key_hash
     RETURNING 1";

const REMOVE_REQUESTS: &str = "WITH old AS MATERIALIZED (
        SELECT id FROM webhook_requests WHERE id < $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
     )
     DELETE FROM webhook_requests USING old WHERE webhook_requests.id = old.id RETURNING 1";

const REMOVE_OLDEST_REQUESTS_OF: &str = concat!(
    "WITH old AS MATERIALIZED (
        SELECT id FROM webhook_requests WHERE trigger = $1 AND id <= $2 AND ",
    accepted!(),
    " ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED
     )
     DELETE FROM webhook_requests USING old WHERE webhook_requests.id = old.id RETURNING 1"
);

const DELETED_TRIGGER: &str = "SELECT id FROM workflow_triggers WHERE deleted_at < $1
     ORDER BY deleted_at, id LIMIT 1 FOR UPDATE";

const REMOVE_SLOTS: &str = "WITH old AS MATERIALIZED (
        SELECT seq FROM trigger_slots WHERE trigger = $1 ORDER BY seq LIMIT $2
     )
     DELETE FROM trigger_slots USING old
      WHERE trigger_slots.trigger = $1 AND trigger_slots.seq = old.seq
     RETURNING 1";

const REMOVE_REQUESTS_OF: &str = "WITH old AS MATERIALIZED (
        SELECT id FROM webhook_requests WHERE trigger = $1 ORDER BY id LIMIT $2
     )
     DELETE FROM webhook_requests USING old WHERE webhook_requests.id = old.id RETURNING 1";

const REMOVE_TRIGGER: &str = "WITH ring AS (
        DELETE FROM request_rings WHERE trigger = $1
     )
     DELETE FROM workflow_triggers WHERE id = $1 RETURNING 1";

pub(super) async fn prune(
    link: &mut Link,
    order: &Order,
    prune: &Prune,
) -> Result<PartOutcome, Failed> {
    match prune {
        Prune::Executions {
            statuses,
            before,
            after,
            limit,
        } => {
            let chunk = Chunk {
                statuses,
                before: *before,
                limit: *limit,
            };
            chunk.remove(link, order, *after).await
        }
        Prune::IdempotencyKeys { limit } => {
            let values = values![order.now.as_micros(), i64::from(*limit)];
            rows(link, REMOVE_KEYS, values).await.map(pruned)
        }
        Prune::Requests { before, limit } => {
            let before = uuid(first_id_at(*before).as_bytes());
            let values = values![before, i64::from(*limit)];
            rows(link, REMOVE_REQUESTS, values).await.map(pruned)
        }
        Prune::RequestsOf {
            trigger,
            up_to,
            limit,
        } => {
            let (trigger, up_to) = (uuid(trigger.as_bytes()), uuid(up_to.as_bytes()));
            let values = values![trigger, up_to, i64::from(*limit)];
            rows(link, REMOVE_OLDEST_REQUESTS_OF, values)
                .await
                .map(pruned)
        }
        Prune::Triggers { before, limit } => {
            let removed = triggers(link, *before, *limit as usize).await?;
            Ok(pruned(removed))
        }
    }
}

/// A chunk of rows that have no walk.
fn pruned(removed: usize) -> PartOutcome {
    PartOutcome::Pruned {
        removed: removed as u64,
        next: None,
    }
}

/// How many rows a statement removes.
async fn rows(link: &mut Link, sql: &'static str, values: Vec<Value<'_>>) -> Result<usize, Failed> {
    Ok(link.ask(Query::new(sql, values)).await?.len())
}

/// One trigger after the other: what it left behind, then itself.
async fn triggers(link: &mut Link, before: Timestamp, limit: usize) -> Result<usize, Failed> {
    let mut removed = 0;
    while removed < limit {
        let deleted = Query::new(DELETED_TRIGGER, values![before.as_micros()]);
        let Some(row) = link.ask(deleted).await?.pop() else {
            break;
        };
        let id: Uuid = get(&row, 0)?;
        for sql in [REMOVE_SLOTS, REMOVE_REQUESTS_OF] {
            let left = signed((limit - removed) as u64);
            removed += rows(link, sql, values![id, left]).await?;
        }
        if removed < limit {
            removed += rows(link, REMOVE_TRIGGER, values![id]).await?;
        }
    }
    Ok(removed)
}

/// What the walk looks at.
struct Candidate {
    id: ExecutionId,
    status: Status,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// How many events it has.
    version: u64,
    /// The execution that it repeats.
    parent: Option<ExecutionId>,
}

/// One chunk of the walk.
struct Chunk<'a> {
    statuses: &'a [Status],
    before: Timestamp,
    limit: u32,
}

/// The letter of an execution, and where it stands.
type Standing = HashMap<ExecutionId, (Uuid, LetterStatus)>;

impl Chunk<'_> {
    async fn remove(
        &self,
        link: &mut Link,
        order: &Order,
        after: Option<ExecutionId>,
    ) -> Result<PartOutcome, Failed> {
        let looked_at = self.look(link, after).await?;
        let letters = letters(link, looked_at.iter().filter(|one| self.is_old(one))).await?;
        // Whatever comes later was made later, so none of it can have ended early enough.
        let is_end = looked_at.len() < self.limit as usize
            || looked_at
                .last()
                .is_some_and(|last| last.created_at >= self.before);
        let (mut gone, mut gone_letters) = (Vec::new(), Vec::new());
        let (mut rows, mut last, mut is_cut) = (0, None, false);
        for candidate in &looked_at {
            let letter = letters.get(&candidate.id);
            let of_parent = candidate.parent.and_then(|parent| letters.get(&parent));
            let mut both = letter.into_iter().chain(of_parent);
            let stays = both.any(|(_, status)| status.is_open());
            if self.is_old(candidate) && !stays {
                rows += candidate.version + 1 + u64::from(letter.is_some());
                if !gone.is_empty() && rows > ROWS_REMOVED_MAX {
                    // The next chunk begins with this one.
                    is_cut = true;
                    break;
                }
                gone.push(uuid(candidate.id.as_bytes()));
                gone_letters.extend(letter.map(|(id, _)| *id));
            }
            last = Some(candidate.id);
        }
        let mut removed = 0;
        if !gone_letters.is_empty() {
            let values = values![gone_letters, order.shard];
            link.ask(Query::new(REMOVE_LETTERS, values)).await?;
        }
        if !gone.is_empty() {
            let rows = link
                .ask(Query::new(REMOVE_EXECUTIONS, values![gone]))
                .await?;
            removed = rows.len() as u64;
        }
        let next = last.filter(|_| is_cut || !is_end);
        Ok(PartOutcome::Pruned { removed, next })
    }

    fn is_old(&self, candidate: &Candidate) -> bool {
        candidate.status.is_terminal()
            && self.statuses.contains(&candidate.status)
            && candidate.updated_at < self.before
    }

    async fn look(
        &self,
        link: &mut Link,
        after: Option<ExecutionId>,
    ) -> Result<Vec<Candidate>, Failed> {
        let after = after.map_or(Uuid::nil(), |id| uuid(id.as_bytes()));
        let values = values![after, i64::from(self.limit)];
        let rows = link.ask(Query::new(CANDIDATES, values)).await?;
        rows.iter()
            .map(|row| {
                Ok(Candidate {
                    id: execution_id(row, 0)?,
                    status: word(row, 1, Status::from_name)?,
                    created_at: time(row, 2)?,
                    updated_at: time(row, 3)?,
                    version: count(row, 4)?,
                    parent: maybe_execution_id(row, 5)?,
                })
            })
            .collect()
    }
}

async fn letters<'a>(
    link: &mut Link,
    of: impl Iterator<Item = &'a Candidate>,
) -> Result<Standing, Failed> {
    let both = of.flat_map(|one| [Some(one.id), one.parent]);
    let of: Vec<Uuid> = both.flatten().map(|id| uuid(id.as_bytes())).collect();
    if of.is_empty() {
        return Ok(Standing::new());
    }
    let rows = link.ask(Query::new(LETTERS, values![of])).await?;
    rows.iter()
        .map(|row| {
            let status = word(row, 2, LetterStatus::from_name)?;
            Ok((execution_id(row, 0)?, (get(row, 1)?, status)))
        })
        .collect()
}
