//! Walks over dead letters that pass a filter, newest first.
//!
//! Workflow, error type and status choose a range of an index. What no index knows is looked at row
//! by row, one statement after the other.

use refire_core::dead_letter::LetterStatus;
use refire_core::id::DlqId;
use refire_core::time::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::{ROWS_PER_READ, workflow_key};
use crate::letter::{Search, ids_in};
use crate::postgres::columns::{dlq_id, get, maybe_foreign, time, uuid};
use crate::postgres::pool::Reader;
use crate::{LetterFilter, ReadError};

/// What a row offers to the filter and to whoever counts.
const COLUMNS: &str = "dlq.id, dlq.failed_at, dlq.fingerprint, \
     (SELECT workflows.id FROM workflows WHERE workflows.key = dlq.workflow), dlq.error_type, \
     dlq.error_code";
/// What it offers to a search for a text beside that; the long ones.
const WORDS: &str = ", dlq.workflow_name, dlq.error_message, convert_to(dlq.step, 'UTF8')";
/// Where the words begin.
const WORDS_AT: usize = 6;
/// Rows of the first statement, as a multiple of the letters that are wanted: most filters let
/// most rows pass.
const FIRST_READ: usize = 2;
/// Each statement after the first reads so many times as much, up to the bound.
const NEXT_READ: i64 = 4;
/// Rows with words that one statement reads at most: a few megabytes.
const WORDY_ROWS_PER_READ: i64 = 2_000;

/// A letter that passed.
pub(super) struct Found<'a> {
    pub(super) id: DlqId,
    pub(super) failed_at: Timestamp,
    pub(super) workflow: &'a str,
    pub(super) error_type: &'a str,
    pub(super) error_code: Option<String>,
}

/// A walk over the letters with one error type and one status, or with any.
pub(super) struct Scan<'a> {
    reader: &'a Reader,
    search: Search<'a>,
    workflow: Option<i64>,
    error_type: Option<&'static str>,
    status: Option<&'static str>,
}

impl<'a> Scan<'a> {
    /// The walks that a filter needs.
    pub(super) async fn of(
        reader: &'a Reader,
        filter: &'a LetterFilter,
        before: Option<DlqId>,
    ) -> Result<Vec<Self>, ReadError> {
        let workflow = match &filter.workflow {
            None => None,
            Some(id) => match workflow_key(reader, id).await? {
                None => return Ok(Vec::new()),
                key => key,
            },
        };
        let scan = |(error_type, status): (_, Option<LetterStatus>)| Self {
            reader,
            search: Search::new(filter, before),
            workflow,
            error_type,
            status: status.map(LetterStatus::name),
        };
        Ok(Search::walks(filter).into_iter().map(scan).collect())
    }

    /// Shows every letter that passes, until `see` says that it has enough. `expected` is how many
    /// letters it will probably want.
    pub(super) async fn run(
        &self,
        expected: usize,
        mut see: impl FnMut(Found<'_>) -> bool,
    ) -> Result<(), ReadError> {
        let most = match self.search.has_text() {
            true => WORDY_ROWS_PER_READ,
            false => ROWS_PER_READ,
        };
        let first = expected.saturating_mul(FIRST_READ).max(1);
        let mut size = i64::try_from(first).unwrap_or(i64::MAX).min(most);
        let mut before = self.search.before;
        loop {
            let rows = self.rows(self.search.from, before, "DESC", size).await?;
            for row in &rows {
                before = dlq_id(row, 0)?;
                if self.passes(row)? && !see(found(row)?) {
                    return Ok(());
                }
            }
            if i64::try_from(rows.len()).is_ok_and(|seen| seen < size) {
                return Ok(());
            }
            size = size.saturating_mul(NEXT_READ).min(most);
        }
    }

    /// Times among which are those when the oldest and the newest of the walk failed, from the
    /// ends of its range. Only for filters that an index answers: nothing else is looked at.
    pub(super) async fn ends(&self) -> Result<Vec<Timestamp>, ReadError> {
        let mut ends = Vec::new();
        for order in ["ASC", "DESC"] {
            let range = (self.search.from, self.search.before);
            let rows = self.rows(range.0, range.1, order, 1).await?;
            if let Some(row) = rows.first() {
                ends.extend(self.times_in(dlq_id(row, 0)?.unix_ms()).await?);
            }
        }
        Ok(ends)
    }

    /// When the letters of one millisecond failed. Their ids do not say which of them was first.
    async fn times_in(&self, unix_ms: u64) -> Result<Vec<Timestamp>, ReadError> {
        let (from, before) = ids_in(unix_ms);
        let rows = self.rows(from, before, "ASC", i64::MAX).await?;
        rows.iter().map(|row| time(row, 1)).collect()
    }

    /// Rows of the range, whatever else the filter says.
    async fn rows(
        &self,
        from: DlqId,
        before: DlqId,
        order: &str,
        limit: i64,
    ) -> Result<Vec<Row>, ReadError> {
        let (from, before) = (uuid(from.as_bytes()), uuid(before.as_bytes()));
        let mut params: Vec<&(dyn ToSql + Sync)> = vec![&before, &from, &limit];
        // Range and order name all columns of one index, even those that are the same in every row:
        // the server then has no other way to go.
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for (column, value) in [
            ("dlq.workflow", as_param(self.workflow.as_ref())),
            ("dlq.error_type", as_param(self.error_type.as_ref())),
            ("dlq.status", as_param(self.status.as_ref())),
        ] {
            if let Some(value) = value {
                params.push(value);
                columns.push(column);
                values.push(format!("${}, ", params.len()));
            }
        }
        columns.push("dlq.id");
        let (key, chosen) = (columns.join(", "), values.concat());
        let ordered: Vec<String> = columns
            .iter()
            .map(|name| format!("{name} {order}"))
            .collect();
        let words = if self.search.has_text() { WORDS } else { "" };
        let sql = format!(
            "SELECT {COLUMNS}{words} FROM dead_letter_queue AS dlq
             WHERE ({key}) < ({chosen}$1) AND ({key}) >= ({chosen}$2)
             ORDER BY {} LIMIT $3",
            ordered.join(", ")
        );
        self.reader.rows(&sql, &params).await
    }

    fn passes(&self, row: &Row) -> Result<bool, ReadError> {
        if !self.search.admits(time(row, 1)?, get(row, 2)?) {
            return Ok(false);
        }
        if !self.search.has_text() || self.search.is_in(get(row, 3)?) {
            return Ok(true);
        }
        for column in [5, WORDS_AT, WORDS_AT + 1, WORDS_AT + 2] {
            let words = maybe_foreign(row, column)?;
            if words.is_some_and(|words| self.search.is_in(&words)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn as_param<T: ToSql + Sync>(value: Option<&T>) -> Option<&(dyn ToSql + Sync)> {
    value.map(|value| value as _)
}

fn found(row: &Row) -> Result<Found<'_>, ReadError> {
    Ok(Found {
        id: dlq_id(row, 0)?,
        failed_at: time(row, 1)?,
        workflow: get(row, 3)?,
        error_type: get(row, 4)?,
        error_code: maybe_foreign(row, 5)?,
    })
}
