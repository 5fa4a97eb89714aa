//! Dead letters, with what the log of their failed execution says about them.

use std::collections::HashMap;

use refire_core::dead_letter::{
    LetterState, LetterStatus, Reason, RetryEntry, RetryFrom, RetryHistory, Tried,
};
use refire_core::execution::Status;
use refire_core::failure::Failure;
use refire_core::id::{DlqId, ExecutionId};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use super::execution::value_of;
use super::letter_scan::Scan;
use super::state::{EVENT, event_row};
use crate::postgres::columns::{
    count, dlq_id, execution_id, foreign, get, maybe_count, maybe_execution_id, maybe_foreign,
    maybe_time, maybe_word, small, time, uuid, word, workflow_id,
};
use crate::postgres::failure::corrupt;
use crate::postgres::pool::Reader;
use crate::{LIMIT_MAX, LetterFilter, LetterRow, ReadError, RetryRow};

/// Letters that are loaded in one read.
const LOADED_PER_READ: usize = 250;

const LETTERS: &str = "SELECT dlq.id, dlq.execution, workflows.id, dlq.workflow_name, dlq.step,
        dlq.reason, dlq.fingerprint, dlq.retry_count, dlq.max_retries,
        dlq.failed_at, dlq.created_at, dlq.failure, workflows.deleted_at IS NOT NULL,
        dlq.status, dlq.generation, dlq.retry_attempted_at, dlq.retry_attempted_by,
        dlq.resolution_execution, dlq.resolved_at, dlq.resolved_by, dlq.deleted_at,
        dlq.deleted_by
   FROM dead_letter_queue AS dlq JOIN workflows ON workflows.key = dlq.workflow
  WHERE dlq.id = ANY($1)";

/// The last failed attempts of the failed steps and the waits after them, from narrow columns of
/// their events: payloads stay unread.
const HISTORIES: &str = "SELECT dlq.execution, tries.*
   FROM dead_letter_queue AS dlq CROSS JOIN LATERAL (
        SELECT sequence, type, attempt, reason, backoff_ms, at FROM workflow_events
         WHERE execution = dlq.execution AND step = dlq.step
           AND type = ANY($3) AND attempt IS NOT NULL
           AND sequence >= coalesce((
               SELECT failed.sequence FROM workflow_events AS failed
                WHERE failed.execution = dlq.execution AND failed.step = dlq.step
                  AND failed.type = $4 AND failed.attempt IS NOT NULL
                ORDER BY failed.sequence DESC OFFSET $2 LIMIT 1), 0)
         ORDER BY sequence DESC) AS tries
  WHERE dlq.id = ANY($1)";

const RETRIES: &str = "SELECT execution, retried_at, retried_by, retried_from, edited, ended_as,
        ended_at
   FROM dead_letter_retries WHERE letter = $1
  ORDER BY retried_at DESC, execution DESC LIMIT $2";

/// The newest letters that pass the filter.
pub(in crate::postgres) async fn list(
    reader: &Reader,
    filter: &LetterFilter,
    before: Option<DlqId>,
    limit: u32,
) -> Result<Vec<LetterRow>, ReadError> {
    let limit = limit.min(LIMIT_MAX) as usize;
    let mut ids: Vec<DlqId> = Vec::new();
    for scan in Scan::of(reader, filter, before).await? {
        let mut missing = limit;
        if missing > 0 {
            scan.run(limit, |found| {
                ids.push(found.id);
                missing -= 1;
                missing > 0
            })
            .await?;
        }
    }
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids.truncate(limit);
    let rows = reader
        .snapshot(async {
            let mut rows = Vec::with_capacity(ids.len());
            for some in ids.chunks(LOADED_PER_READ) {
                rows.extend(load(reader, some).await?);
            }
            Ok(rows)
        })
        .await?;
    // Between the walk and now a letter may have been settled or removed.
    let is_wanted =
        |row: &LetterRow| filter.statuses.is_empty() || filter.statuses.contains(&row.status);
    Ok(rows.into_iter().filter(is_wanted).collect())
}

pub(in crate::postgres) async fn one(
    reader: &Reader,
    id: DlqId,
) -> Result<Option<LetterRow>, ReadError> {
    reader
        .snapshot(async { Ok(load(reader, &[id]).await?.pop()) })
        .await
}

/// Those of the letters that are there, in this order.
async fn load(reader: &Reader, ids: &[DlqId]) -> Result<Vec<LetterRow>, ReadError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let keys: Vec<Uuid> = ids.iter().map(|id| uuid(id.as_bytes())).collect();
    let rows = reader.rows(LETTERS, &[&keys]).await?;
    let mut inputs = inputs(reader, &keys).await?;
    let mut histories = histories(reader, &keys).await?;
    let mut letters: HashMap<DlqId, LetterRow> = HashMap::with_capacity(rows.len());
    for row in &rows {
        let mut letter = letter_row(row)?;
        let what = || format!("dead letter {}", letter.id);
        letter.failure = serde_json::from_slice::<Failure>(get(row, 11)?).map_err(corrupt(what))?;
        letter.input = inputs
            .remove(&letter.execution)
            .ok_or_else(|| corrupt(what)("its execution has no input"))?;
        if let Some(history) = histories.remove(&letter.execution) {
            letter.retry_history = history;
        }
        letters.insert(letter.id, letter);
    }
    Ok(ids.iter().filter_map(|id| letters.remove(id)).collect())
}

/// All but the failure, the input and the history, which have their own places.
fn letter_row(row: &Row) -> Result<LetterRow, ReadError> {
    let state = letter_state(row, 13)?;
    Ok(LetterRow {
        id: dlq_id(row, 0)?,
        execution: execution_id(row, 1)?,
        workflow: workflow_id(row, 2)?,
        workflow_name: foreign(row, 3)?,
        workflow_deleted: get(row, 12)?,
        step: get(row, 4)?,
        input: Json::null(),
        reason: word(row, 5, Reason::from_name)?,
        failure: Failure::new(refire_core::failure::ErrorClass::Internal, ""),
        fingerprint: get::<i64>(row, 6)?.cast_unsigned(),
        retry_count: small(row, 7)?,
        max_retries: small(row, 8)?,
        retry_history: Vec::new(),
        generation: state.generation,
        status: state.status,
        resolution_execution: state.resolved_by(),
        retry_attempted: state.retry_attempted,
        resolved: state.resolved,
        deleted: state.deleted,
        failed_at: time(row, 9)?,
        created_at: time(row, 10)?,
    })
}

/// A row that holds where a letter stands from this column on.
pub(in crate::postgres) fn letter_state(row: &Row, at: usize) -> Result<LetterState, ReadError> {
    Ok(LetterState {
        status: word(row, at, LetterStatus::from_name)?,
        generation: small(row, at + 1)?,
        retry_attempted: when_and_who(row, at + 2)?,
        resolution_execution: maybe_execution_id(row, at + 4)?,
        resolved: when_and_who(row, at + 5)?,
        deleted: when_and_who(row, at + 7)?,
    })
}

/// The last retries by people, oldest first.
pub(in crate::postgres) async fn retries(
    reader: &Reader,
    id: DlqId,
    limit: u32,
) -> Result<Vec<RetryRow>, ReadError> {
    let (id, limit) = (uuid(id.as_bytes()), i64::from(limit.min(LIMIT_MAX)));
    let rows = reader.rows(RETRIES, &[&id, &limit]).await?;
    let row = |row: &Row| {
        let ended_as = maybe_word(row, 5, Status::from_name)?;
        Ok(RetryRow {
            execution: execution_id(row, 0)?,
            at: time(row, 1)?,
            by: foreign(row, 2)?,
            from: maybe_word(row, 3, RetryFrom::from_name)?,
            edited: get(row, 4)?,
            ended: ended_as.zip(maybe_time(row, 6)?),
        })
    };
    rows.iter().rev().map(row).collect()
}

fn when_and_who(row: &Row, at: usize) -> Result<Option<(Timestamp, String)>, ReadError> {
    let who = maybe_foreign(row, at + 1)?;
    Ok(maybe_time(row, at)?.zip(who))
}

/// The first event of an execution keeps its input.
async fn inputs(reader: &Reader, ids: &[Uuid]) -> Result<HashMap<ExecutionId, Json>, ReadError> {
    let sql = format!(
        "SELECT {EVENT}, execution FROM workflow_events
         WHERE sequence = 1
           AND execution = ANY(ARRAY(SELECT execution FROM dead_letter_queue WHERE id = ANY($1)))"
    );
    let rows = reader.rows(&sql, &[&ids]).await?;
    let mut inputs = HashMap::with_capacity(rows.len());
    for row in &rows {
        let execution = execution_id(row, 10)?;
        let event = event_row(row, execution, 0)?;
        if let Some(input) = value_of(execution, &event)? {
            inputs.insert(execution, input);
        }
    }
    Ok(inputs)
}

/// Oldest first.
async fn histories(
    reader: &Reader,
    ids: &[Uuid],
) -> Result<HashMap<ExecutionId, Vec<RetryEntry>>, ReadError> {
    let (before, all) = (RetryHistory::MAX as i64 - 1, &RetryHistory::EVENTS[..]);
    let rows = reader
        .rows(HISTORIES, &[&ids, &before, &all, &RetryHistory::FAILED])
        .await?;
    let mut tries: Vec<(ExecutionId, u64, &Row)> = Vec::with_capacity(rows.len());
    for row in &rows {
        tries.push((execution_id(row, 0)?, count(row, 1)?, row));
    }
    tries.sort_unstable_by_key(|(execution, sequence, _)| (*execution, *sequence));
    let mut histories: HashMap<ExecutionId, RetryHistory> = HashMap::new();
    for (execution, _, row) in tries.into_iter().rev() {
        histories.entry(execution).or_default().add(Tried {
            is_failure: get::<&str>(row, 2)? == RetryHistory::FAILED,
            attempt: small(row, 3)?,
            reason: maybe_foreign(row, 4)?,
            backoff_ms: maybe_count(row, 5)?,
            at: time(row, 6)?,
        });
    }
    let histories = histories.into_iter();
    Ok(histories
        .map(|(id, history)| (id, history.oldest_first()))
        .collect())
}
