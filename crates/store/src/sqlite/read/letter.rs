//! Dead letters, with what the log of their failed execution says about them.

use refire_core::dead_letter::{
    LetterState, LetterStatus, Reason, RetryEntry, RetryFrom, RetryHistory, Tried,
};
use refire_core::execution::Status;
use refire_core::failure::Failure;
use refire_core::id::{DlqId, ExecutionId};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use rusqlite::{OptionalExtension, Row, params};

use super::execution;
use super::letter_scan::Scan;
use crate::sqlite::columns::{
    bytes, dlq_id, execution_id, maybe_count, maybe_execution_id, maybe_time, maybe_word, text,
    time, word, workflow_id,
};
use crate::sqlite::failure::corrupt;
use crate::sqlite::readers::Reader;
use crate::{LIMIT_MAX, LetterFilter, LetterRow, ReadError, RetryRow};

/// The event that keeps an execution's input.
const INPUT: u64 = 1;

/// The newest letters that pass the filter.
pub(in crate::sqlite) fn list(
    reader: &Reader,
    filter: &LetterFilter,
    before: Option<DlqId>,
    limit: u32,
) -> Result<Vec<LetterRow>, ReadError> {
    let limit = limit.min(LIMIT_MAX) as usize;
    let mut ids: Vec<DlqId> = Vec::new();
    for scan in Scan::of(reader, filter, before)? {
        let mut missing = limit;
        if missing > 0 {
            scan.run(|found| {
                ids.push(found.id);
                missing -= 1;
                missing > 0
            })?;
        }
    }
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids.truncate(limit);
    reader.transaction(|| {
        let rows = ids
            .iter()
            .map(|id| load(reader, *id))
            .collect::<Result<Vec<_>, _>>()?;
        // Between the walk and now a letter may have been settled or removed.
        let is_wanted =
            |row: &LetterRow| filter.statuses.is_empty() || filter.statuses.contains(&row.status);
        Ok(rows.into_iter().flatten().filter(is_wanted).collect())
    })
}

pub(in crate::sqlite) fn one(reader: &Reader, id: DlqId) -> Result<Option<LetterRow>, ReadError> {
    reader.transaction(|| load(reader, id))
}

fn load(reader: &Reader, id: DlqId) -> Result<Option<LetterRow>, ReadError> {
    let what = || format!("dead letter {id}");
    let found = reader
        .prepare(
            "SELECT dlq.id, dlq.execution, workflows.id, dlq.workflow_name, dlq.step, dlq.reason,
                 dlq.fingerprint, dlq.retry_count, dlq.max_retries,
                 dlq.failed_at, dlq.created_at, dlq.failure, workflows.deleted_at IS NOT NULL,
                 dlq.status, dlq.generation, dlq.retry_attempted_at, dlq.retry_attempted_by,
                 dlq.resolution_execution, dlq.resolved_at, dlq.resolved_by, dlq.deleted_at,
                 dlq.deleted_by
             FROM dead_letter_queue AS dlq JOIN workflows ON workflows.key = dlq.workflow
             WHERE dlq.id = ?1",
        )?
        .query_row([id.as_bytes()], |row| {
            Ok((letter_row(row)?, bytes(row, 11)?.to_vec()))
        })
        .optional()?;
    let Some((mut letter, failure)) = found else {
        return Ok(None);
    };
    letter.failure = serde_json::from_slice::<Failure>(&failure).map_err(corrupt(what))?;
    letter.input = execution::value(reader, letter.execution, INPUT)?
        .ok_or_else(|| corrupt(what)("its execution has no input"))?;
    if let Some(step) = &letter.step {
        letter.retry_history = retry_history(reader, letter.execution, step)?;
    }
    Ok(Some(letter))
}

/// All but the failure, the input and the history, which have their own places.
fn letter_row(row: &Row<'_>) -> rusqlite::Result<LetterRow> {
    let state = letter_state(row, 13)?;
    Ok(LetterRow {
        id: dlq_id(row, 0)?,
        execution: execution_id(row, 1)?,
        workflow: workflow_id(row, 2)?,
        workflow_name: row.get(3)?,
        workflow_deleted: row.get(12)?,
        step: row.get(4)?,
        input: Json::null(),
        reason: word(row, 5, Reason::from_name)?,
        failure: Failure::new(refire_core::failure::ErrorClass::Internal, ""),
        fingerprint: row.get::<_, i64>(6)?.cast_unsigned(),
        retry_count: row.get(7)?,
        max_retries: row.get(8)?,
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
pub(in crate::sqlite) fn letter_state(row: &Row<'_>, at: usize) -> rusqlite::Result<LetterState> {
    Ok(LetterState {
        status: word(row, at, LetterStatus::from_name)?,
        generation: row.get(at + 1)?,
        retry_attempted: when_and_who(row, at + 2)?,
        resolution_execution: maybe_execution_id(row, at + 4)?,
        resolved: when_and_who(row, at + 5)?,
        deleted: when_and_who(row, at + 7)?,
    })
}

/// The last retries by people, oldest first.
pub(in crate::sqlite) fn retries(
    reader: &Reader,
    id: DlqId,
    limit: u32,
) -> Result<Vec<RetryRow>, ReadError> {
    let mut select = reader.prepare(
        "SELECT execution, retried_at, retried_by, retried_from, edited, ended_as, ended_at
         FROM dead_letter_retries WHERE letter = ?1
         ORDER BY retried_at DESC, execution DESC LIMIT ?2",
    )?;
    let rows = select.query_map(params![id.as_bytes(), limit.min(LIMIT_MAX)], |row| {
        let ended_as = maybe_word(row, 5, Status::from_name)?;
        Ok(RetryRow {
            execution: execution_id(row, 0)?,
            at: time(row, 1)?,
            by: row.get(2)?,
            from: maybe_word(row, 3, RetryFrom::from_name)?,
            edited: row.get(4)?,
            ended: ended_as.zip(maybe_time(row, 6)?),
        })
    })?;
    let mut retries = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    retries.reverse();
    Ok(retries)
}

fn when_and_who(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<(Timestamp, String)>> {
    let who: Option<String> = row.get(at + 1)?;
    Ok(maybe_time(row, at)?.zip(who))
}

/// The last failed attempts of a step.
fn retry_history(
    reader: &Reader,
    execution: ExecutionId,
    step: &str,
) -> Result<Vec<RetryEntry>, ReadError> {
    let mut select = reader.prepare(
        "SELECT type, attempt, reason, backoff_ms, at FROM workflow_events
         WHERE execution = ?1 AND step = ?2 AND type IN (?3, ?4) AND attempt IS NOT NULL
         ORDER BY sequence DESC",
    )?;
    let [failed, waits] = RetryHistory::EVENTS;
    let mut rows = select.query(params![execution.as_bytes(), step, failed, waits])?;
    let mut history = RetryHistory::default();
    while !history.is_full()
        && let Some(row) = rows.next()?
    {
        history.add(Tried {
            is_failure: text(row, 0)? == RetryHistory::FAILED,
            attempt: row.get(1)?,
            reason: row.get(2)?,
            backoff_ms: maybe_count(row, 3)?,
            at: time(row, 4)?,
        });
    }
    Ok(history.oldest_first())
}
