//! Walks over dead letters that pass a filter, newest first.
//!
//! Workflow, error type and status choose a range of an index; times narrow it, because a
//! letter's id begins with the millisecond it failed in. What no index knows (the exact times, a
//! cause, a text) is looked at row by row, one statement after the other.

use refire_core::dead_letter::LetterStatus;
use refire_core::id::{DlqId, time_ordered};
use refire_core::time::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::{LAST_ID, ROWS_PER_READ, can_be_text, workflow_key};
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

/// A walk over the letters with one status, or with any.
pub(super) struct Scan<'a> {
    reader: &'a Reader,
    filter: &'a LetterFilter,
    /// In lower case.
    text: Option<String>,
    workflow: Option<i64>,
    status: Option<&'static str>,
    from: DlqId,
    before: DlqId,
}

impl<'a> Scan<'a> {
    /// The walks that a filter needs: one per status, so that each follows an index in the
    /// order of ids.
    pub(super) async fn of(
        reader: &'a Reader,
        filter: &'a LetterFilter,
        before: Option<DlqId>,
    ) -> Result<Vec<Self>, ReadError> {
        if !can_be_text(filter.error_type.as_deref()) {
            return Ok(Vec::new());
        }
        let workflow = match &filter.workflow {
            None => None,
            Some(id) => match workflow_key(reader, id).await? {
                None => return Ok(Vec::new()),
                key => key,
            },
        };
        let is_plain = workflow.is_none() && filter.error_type.is_none();
        let statuses: Vec<Option<LetterStatus>> = if !filter.statuses.is_empty() {
            let asked = |status: &LetterStatus| filter.statuses.contains(status);
            LetterStatus::ALL
                .into_iter()
                .filter(asked)
                .map(Some)
                .collect()
        } else if is_plain {
            vec![None]
        } else {
            LetterStatus::ALL.into_iter().map(Some).collect()
        };
        let scans = statuses.into_iter();
        Ok(scans
            .map(|status| Self::new(reader, filter, workflow, status, before))
            .collect())
    }

    fn new(
        reader: &'a Reader,
        filter: &'a LetterFilter,
        workflow: Option<i64>,
        status: Option<LetterStatus>,
        before: Option<DlqId>,
    ) -> Self {
        let from = filter
            .from
            .map_or([0; 16], |from| time_ordered(millis(from), [0; 10]));
        let last = filter
            .to
            .map_or(LAST_ID, |to| time_ordered(millis(to) + 1, [0; 10]));
        let last = DlqId::from_bytes(last);
        Self {
            reader,
            filter,
            text: filter.text.as_ref().map(|text| text.to_lowercase()),
            workflow,
            status: status.map(LetterStatus::name),
            from: DlqId::from_bytes(from),
            before: before.map_or(last, |before| before.min(last)),
        }
    }

    /// Shows every letter that passes, until `see` says that it has enough. `expected` is how many
    /// letters it will probably want.
    pub(super) async fn run(
        &self,
        expected: usize,
        mut see: impl FnMut(Found<'_>) -> bool,
    ) -> Result<(), ReadError> {
        let most = match self.text {
            Some(_) => WORDY_ROWS_PER_READ,
            None => ROWS_PER_READ,
        };
        let first = expected.saturating_mul(FIRST_READ).max(1);
        let mut size = i64::try_from(first).unwrap_or(i64::MAX).min(most);
        let mut before = self.before;
        loop {
            let rows = self.rows(self.from, before, "DESC", size).await?;
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
            let rows = self.rows(self.from, self.before, order, 1).await?;
            if let Some(row) = rows.first() {
                ends.extend(self.times_in(dlq_id(row, 0)?.unix_ms()).await?);
            }
        }
        Ok(ends)
    }

    /// When the letters of one millisecond failed. Their ids do not say which of them was first.
    async fn times_in(&self, unix_ms: u64) -> Result<Vec<Timestamp>, ReadError> {
        let [from, before] =
            [unix_ms, unix_ms + 1].map(|ms| DlqId::from_bytes(time_ordered(ms, [0; 10])));
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
            ("dlq.error_type", as_param(self.filter.error_type.as_ref())),
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
        let words = self.text.as_ref().map_or("", |_| WORDS);
        let sql = format!(
            "SELECT {COLUMNS}{words} FROM dead_letter_queue AS dlq
             WHERE ({key}) < ({chosen}$1) AND ({key}) >= ({chosen}$2)
             ORDER BY {} LIMIT $3",
            ordered.join(", ")
        );
        self.reader.rows(&sql, &params).await
    }

    fn passes(&self, row: &Row) -> Result<bool, ReadError> {
        let failed_at = time(row, 1)?;
        let in_time = self.filter.from.is_none_or(|from| failed_at >= from)
            && self.filter.to.is_none_or(|to| failed_at < to);
        let cause: i64 = get(row, 2)?;
        let has_cause = self
            .filter
            .fingerprint
            .is_none_or(|wanted| wanted.cast_signed() == cause);
        if !in_time || !has_cause {
            return Ok(false);
        }
        let Some(wanted) = &self.text else {
            return Ok(true);
        };
        let workflow: &str = get(row, 3)?;
        if workflow.to_lowercase().contains(wanted) {
            return Ok(true);
        }
        for column in [5, WORDS_AT, WORDS_AT + 1, WORDS_AT + 2] {
            if let Some(words) = maybe_foreign(row, column)?
                && words.to_lowercase().contains(wanted)
            {
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
        // As the counters say it: an empty code is none.
        error_code: maybe_foreign(row, 5)?.filter(|code| !code.is_empty()),
    })
}

fn millis(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(0)
}
