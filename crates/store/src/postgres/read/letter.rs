//! Dead letters, with what the log of their failed execution says about them.

use std::collections::HashMap;

use async_trait::async_trait;
use refire_core::dead_letter::{RetryEntry, RetryHistory, Tried};
use refire_core::id::{DlqId, ExecutionId};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use super::execution::event_and_id;
use crate::column::read_at;
use crate::execution::{EVENT, value_of};
use crate::letter::{LETTERS, LetterParts};
use crate::postgres::Postgres;
use crate::postgres::columns::{get, uuid};
use crate::postgres::pool::Reader;
use crate::{LetterFilter, LetterRow, LetterSummary, Letters, ReadError, RetryRow, sql};

/// Letters that are loaded in one read.
const LOADED_PER_READ: usize = 250;

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

#[async_trait]
impl Letters for Postgres {
    async fn letters(
        &self,
        filter: &LetterFilter,
        before: Option<DlqId>,
        limit: u32,
    ) -> Result<Vec<LetterRow>, ReadError> {
        let reader = self.readers.reader().await?;
        let ids = sql::find_letters(&reader, filter, before, limit);
        let ids = reader.read(ids).await?;
        let load = async {
            let mut rows = Vec::with_capacity(ids.len());
            for some in ids.chunks(LOADED_PER_READ) {
                rows.extend(load(&reader, some).await?);
            }
            Ok(rows)
        };
        Ok(filter.still(reader.snapshot(load).await?))
    }

    async fn letter(&self, id: DlqId) -> Result<Option<LetterRow>, ReadError> {
        let reader = self.readers.reader().await?;
        let mut letter = reader.snapshot(load(&reader, &[id])).await?;
        Ok(letter.pop())
    }

    async fn letter_retries(&self, id: DlqId, limit: u32) -> Result<Vec<RetryRow>, ReadError> {
        sql::letter_retries(self, id, limit).await
    }

    async fn letters_of_target(
        &self,
        target: &str,
        from: Option<Timestamp>,
        max: u32,
    ) -> Result<u64, ReadError> {
        sql::letters_of_target(self, target, from, max).await
    }

    async fn letters_since(&self, from: Timestamp, max: u32) -> Result<u64, ReadError> {
        sql::letters_since(self, from, max).await
    }

    async fn letter_summary(&self, filter: &LetterFilter) -> Result<LetterSummary, ReadError> {
        let reader = self.readers.reader().await?;
        let tally = match filter.needs_walk() {
            true => reader.read(sql::tally_letters(&reader, filter)).await,
            false => reader.snapshot(sql::count_letters(&reader, filter)).await,
        };
        tally?.summary()
    }
}

/// Those of the letters that are there, in this order.
async fn load(reader: &Reader, ids: &[DlqId]) -> Result<Vec<LetterRow>, ReadError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let keys: Vec<Uuid> = ids.iter().map(|id| uuid(id.as_bytes())).collect();
    let sql = format!("{} WHERE dlq.id = ANY($1)", *LETTERS);
    let rows = reader.rows(&sql, &[&keys]).await?;
    let mut inputs = inputs(reader, &keys).await?;
    let mut histories = histories(reader, &keys).await?;
    let mut letters: HashMap<DlqId, LetterRow> = HashMap::with_capacity(rows.len());
    for row in &rows {
        let parts: LetterParts = read_at(row, 0)?;
        let execution = parts.0.execution;
        let history = histories.remove(&execution).unwrap_or_default();
        let letter = LetterRow::whole(parts, inputs.remove(&execution), history)?;
        letters.insert(letter.id, letter);
    }
    Ok(ids.iter().filter_map(|id| letters.remove(id)).collect())
}

/// The first event of an execution keeps its input.
async fn inputs(reader: &Reader, ids: &[Uuid]) -> Result<HashMap<ExecutionId, Json>, ReadError> {
    let sql = format!(
        "SELECT {}, execution FROM workflow_events
         WHERE sequence = 1
           AND execution = ANY(ARRAY(SELECT execution FROM dead_letter_queue WHERE id = ANY($1)))",
        *EVENT
    );
    let rows = reader.rows(&sql, &[&ids]).await?;
    let mut inputs = HashMap::with_capacity(rows.len());
    for row in &rows {
        let (execution, event) = event_and_id(row)?;
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
        tries.push((read_at(row, 0)?, read_at(row, 1)?, row));
    }
    tries.sort_unstable_by_key(|(execution, sequence, _)| (*execution, *sequence));
    let mut histories: HashMap<ExecutionId, RetryHistory> = HashMap::new();
    for (execution, _, row) in tries.into_iter().rev() {
        histories.entry(execution).or_default().add(Tried {
            is_failure: get::<&str>(row, 2)? == RetryHistory::FAILED,
            attempt: read_at(row, 3)?,
            reason: read_at(row, 4)?,
            backoff_ms: read_at(row, 5)?,
            at: read_at(row, 6)?,
        });
    }
    let histories = histories.into_iter();
    Ok(histories
        .map(|(id, history)| (id, history.oldest_first()))
        .collect())
}
