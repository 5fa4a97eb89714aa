//! Dead letters, with what the log of their failed execution says about them.

use async_trait::async_trait;
use refire_core::dead_letter::{RetryEntry, RetryHistory, Tried};
use refire_core::id::{DlqId, ExecutionId};
use refire_core::time::Timestamp;
use rusqlite::params;

use super::{at_once, execution};
use crate::column::read_at;
use crate::letter::{LETTERS, LetterParts};
use crate::sqlite::Sqlite;
use crate::sqlite::columns::text;
use crate::sqlite::readers::Reader;
use crate::{LetterFilter, LetterRow, LetterSummary, Letters, ReadError, RetryRow, sql};

/// The event that keeps an execution's input.
const INPUT: u64 = 1;

#[async_trait]
impl Letters for Sqlite {
    async fn letters(
        &self,
        filter: &LetterFilter,
        before: Option<DlqId>,
        limit: u32,
    ) -> Result<Vec<LetterRow>, ReadError> {
        let filter = filter.clone();
        self.readers
            .read(move |reader| {
                let ids = at_once(sql::find_letters(reader, &filter, before, limit))?;
                let rows = reader.transaction(|| {
                    let rows = ids.iter().map(|id| load(reader, *id));
                    rows.collect::<Result<Vec<_>, _>>()
                })?;
                Ok(filter.still(rows.into_iter().flatten()))
            })
            .await
    }

    async fn letter(&self, id: DlqId) -> Result<Option<LetterRow>, ReadError> {
        self.readers
            .read(move |reader| reader.transaction(|| load(reader, id)))
            .await
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
        let filter = filter.clone();
        self.readers
            .read(move |reader| {
                let tally = match filter.needs_walk() {
                    true => at_once(sql::tally_letters(reader, &filter)),
                    false => reader.transaction(|| at_once(sql::count_letters(reader, &filter))),
                };
                tally?.summary()
            })
            .await
    }
}

fn load(reader: &Reader, id: DlqId) -> Result<Option<LetterRow>, ReadError> {
    let sql = format!("{} WHERE dlq.id = ?1", *LETTERS);
    let Some(parts) = reader.row::<LetterParts>(&sql, [id.as_bytes()])? else {
        return Ok(None);
    };
    let input = execution::value(reader, parts.0.execution, INPUT)?;
    let history = match &parts.0.step {
        Some(step) => retry_history(reader, parts.0.execution, step)?,
        None => Vec::new(),
    };
    LetterRow::whole(parts, input, history).map(Some)
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
            attempt: read_at(row, 1)?,
            reason: read_at(row, 2)?,
            backoff_ms: read_at(row, 3)?,
            at: read_at(row, 4)?,
        });
    }
    Ok(history.oldest_first())
}
