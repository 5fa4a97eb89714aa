//! Retention: small chunks along the time-ordered keys, so that nobody waits for long.

use std::collections::HashMap;

use refire_core::alert::Phase;
use refire_core::dead_letter::LetterStatus;
use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId};
use refire_core::time::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use super::link::{Link, Query, Value, values};
use super::{Failed, Order, bulk};
use crate::batch::Candidate;
use crate::column::read_at;
use crate::postgres::columns::{
    count, execution_id, get, maybe_execution_id, signed, time, uuid, word,
};
use crate::request::first_id_at;
use crate::table::column::Id;
use crate::words::accepted;
use crate::{OldExecutions, PartOutcome, Prune};

const CANDIDATES: &str =
    "SELECT id, status, created_at, updated_at, version, parent FROM executions
     WHERE id > $1 ORDER BY id LIMIT $2";

const CANDIDATES_OF: &str =
    "SELECT id, status, created_at, updated_at, version, parent FROM executions
     WHERE (workflow, id) > ($3, $1) AND workflow = $3 ORDER BY workflow, id LIMIT $2";

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

const EXECUTIONS_OF: &str =
    "SELECT execution FROM dead_letter_queue WHERE id = ANY($1::uuid[]) ORDER BY id";

const REMOVE_EXECUTIONS: &str = "WITH events AS (
        DELETE FROM workflow_events WHERE execution = ANY($1::uuid[])
     ), left_over AS (
        DELETE FROM workflow_external_tasks WHERE execution = ANY($1::uuid[])
     ), called_back AS (
        DELETE FROM task_callbacks WHERE execution = ANY($1::uuid[])
     ), work AS (
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

/// Removes those requests that are found.
macro_rules! remove_requests {
    ($($which:expr),*) => {
        concat!(
            "WITH old AS MATERIALIZED (SELECT id FROM webhook_requests WHERE ",
            $($which,)*
            ") DELETE FROM webhook_requests USING old WHERE webhook_requests.id = old.id RETURNING 1"
        )
    };
}

const REMOVE_REQUESTS: &str =
    remove_requests!("id < $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED");

const REMOVE_OLDEST_REQUESTS_OF: &str = remove_requests!(
    "trigger = $1 AND id <= $2 AND ",
    accepted!(),
    " ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED"
);

const REMOVE_REQUESTS_OF: &str = remove_requests!("trigger = $1 ORDER BY id LIMIT $2");

const DELETED_TRIGGER: &str = "SELECT id FROM workflow_triggers WHERE deleted_at < $1
     ORDER BY deleted_at, id LIMIT 1 FOR UPDATE";

const REMOVE_SLOTS: &str = "WITH old AS MATERIALIZED (
        SELECT seq FROM trigger_slots WHERE trigger = $1 ORDER BY seq LIMIT $2
     )
     DELETE FROM trigger_slots USING old
      WHERE trigger_slots.trigger = $1 AND trigger_slots.seq = old.seq
     RETURNING 1";

const REMOVE_TRIGGER: &str = "WITH ring AS (
        DELETE FROM request_rings WHERE trigger = $1
     )
     DELETE FROM workflow_triggers WHERE id = $1 RETURNING 1";

const REMOVE_MINUTES: &str = "WITH old AS MATERIALIZED (
        SELECT workflow, minute FROM workflow_minutes WHERE minute < $1
         ORDER BY minute, workflow LIMIT $2 FOR UPDATE SKIP LOCKED
     )
     DELETE FROM workflow_minutes USING old
      WHERE workflow_minutes.workflow = old.workflow AND workflow_minutes.minute = old.minute
     RETURNING 1";

const REMOVE_ALERTS: &str = "WITH old AS MATERIALIZED (
        SELECT rule, subject FROM alert_state WHERE phase = $1 AND since < $2
         ORDER BY since, rule, subject LIMIT $3 FOR UPDATE SKIP LOCKED
     )
     DELETE FROM alert_state USING old
      WHERE alert_state.rule = old.rule AND alert_state.subject = old.subject
     RETURNING 1";

pub(super) async fn prune(
    link: &mut Link,
    order: &Order,
    prune: &Prune,
) -> Result<PartOutcome, Failed> {
    let removed = match prune {
        Prune::Executions(old) => return executions(link, order, old).await,
        Prune::IdempotencyKeys { limit } => {
            let values = values![order.now.as_micros(), i64::from(*limit)];
            rows(link, REMOVE_KEYS, values).await
        }
        Prune::Requests { before, limit } => {
            let before = uuid(first_id_at(*before).as_bytes());
            let values = values![before, i64::from(*limit)];
            rows(link, REMOVE_REQUESTS, values).await
        }
        Prune::RequestsOf {
            trigger,
            up_to,
            limit,
        } => {
            let (trigger, up_to) = (uuid(trigger.as_bytes()), uuid(up_to.as_bytes()));
            let values = values![trigger, up_to, i64::from(*limit)];
            rows(link, REMOVE_OLDEST_REQUESTS_OF, values).await
        }
        Prune::Minutes { before, limit } => {
            let values = values![before.as_micros(), i64::from(*limit)];
            rows(link, REMOVE_MINUTES, values).await
        }
        Prune::Alerts { before, limit } => {
            let over = Phase::Resolved as i16;
            let values = values![over, before.as_micros(), i64::from(*limit)];
            rows(link, REMOVE_ALERTS, values).await
        }
        Prune::BulkItems { before, limit } => {
            bulk::prune_items(link, order, *before, *limit as usize).await
        }
        Prune::BulkJobs { before, limit } => bulk::prune_jobs(link, *before, *limit).await,
        Prune::Triggers { before, limit } => triggers(link, *before, *limit as usize).await,
    };
    removed.map(PartOutcome::pruned)
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

async fn executions(
    link: &mut Link,
    order: &Order,
    old: &OldExecutions,
) -> Result<PartOutcome, Failed> {
    let looked_at = look(link, old).await?;
    let letters = letters(link, looked_at.iter().filter(|one| old.include(one))).await?;
    let gone = old.gone(&looked_at, |id| Ok::<_, Failed>(letters.get(&id).copied()))?;
    if !gone.letters.is_empty() {
        let letters: Vec<Id> = gone.letters.iter().copied().map(Id::from).collect();
        let values = values![letters, order.shard];
        link.ask(Query::new(REMOVE_LETTERS, values)).await?;
    }
    let mut removed = 0;
    if !gone.executions.is_empty() {
        let executions: Vec<Id> = gone.executions.iter().copied().map(Id::from).collect();
        removed = rows(link, REMOVE_EXECUTIONS, values![executions]).await?;
    }
    Ok(gone.outcome(removed))
}

/// Letters go for good, with their executions.
pub(super) async fn purge(link: &mut Link, order: &Order, letters: &[DlqId]) -> Result<(), Failed> {
    if letters.is_empty() {
        return Ok(());
    }
    let letters: Vec<Id> = letters.iter().copied().map(Id::from).collect();
    let found = link
        .ask(Query::new(EXECUTIONS_OF, values![letters.clone()]))
        .await?;
    let executions: Vec<Uuid> = found
        .iter()
        .map(|row| get(row, 0))
        .collect::<Result<_, _>>()?;
    let values = values![letters, order.shard];
    link.ask(Query::new(REMOVE_LETTERS, values)).await?;
    rows(link, REMOVE_EXECUTIONS, values![executions]).await?;
    Ok(())
}

async fn look(link: &mut Link, old: &OldExecutions) -> Result<Vec<Candidate>, Failed> {
    let after = old.after.map_or(Uuid::nil(), |id| uuid(id.as_bytes()));
    let limit = i64::from(old.limit);
    let query = match &old.workflow {
        None => Query::new(CANDIDATES, values![after, limit]),
        Some(workflow) => {
            link.learn(std::iter::once(workflow)).await?;
            // None was ever saved: there is nothing of it.
            let Some(key) = link.key(workflow) else {
                return Ok(Vec::new());
            };
            Query::new(CANDIDATES_OF, values![after, limit, key])
        }
    };
    let rows = link.ask(query).await?;
    let candidate = |row: &Row| {
        Ok(Candidate {
            id: execution_id(row, 0)?,
            status: word(row, 1, Status::from_name)?,
            created_at: time(row, 2)?,
            updated_at: time(row, 3)?,
            version: count(row, 4)?,
            parent: maybe_execution_id(row, 5)?,
        })
    };
    rows.iter().map(candidate).collect()
}

/// The letters of executions and of those that they repeat, and where they stand.
async fn letters<'a>(
    link: &mut Link,
    of: impl Iterator<Item = &'a Candidate>,
) -> Result<HashMap<ExecutionId, (DlqId, LetterStatus)>, Failed> {
    let both = of.flat_map(|one| [Some(one.id), one.parent]);
    let of: Vec<Id> = both.flatten().map(Id::from).collect();
    if of.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = link.ask(Query::new(LETTERS, values![of])).await?;
    let letter = |row: &Row| {
        let status = word(row, 2, LetterStatus::from_name)?;
        Ok((execution_id(row, 0)?, (read_at(row, 1)?, status)))
    };
    rows.iter().map(letter).collect()
}
