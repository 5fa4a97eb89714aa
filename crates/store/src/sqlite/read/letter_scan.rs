//! Walks over dead letters that pass a filter, newest first.
//!
//! Workflow, error type and status choose a range of an index. What no index knows is looked at row
//! by row, one short read after the other.

use refire_core::dead_letter::LetterStatus;
use refire_core::id::DlqId;
use refire_core::time::Timestamp;
use rusqlite::Row;
use rusqlite::types::Value;

use super::{ROWS_PER_READ, workflow_key};
use crate::letter::{Search, ids_in};
use crate::sqlite::columns::{dlq_id, text, time};
use crate::sqlite::readers::Reader;
use crate::{LetterFilter, ReadError};

/// What a row offers to the filter and to whoever counts.
const COLUMNS: &str = "dlq.id, dlq.failed_at, dlq.fingerprint, workflows.id, dlq.error_type, \
     dlq.error_code, dlq.workflow_name, dlq.error_message, dlq.step";

/// A letter that passed.
pub(super) struct Found<'a> {
    pub(super) id: DlqId,
    pub(super) failed_at: Timestamp,
    pub(super) workflow: &'a str,
    pub(super) error_type: &'a str,
    pub(super) error_code: Option<&'a str>,
}

/// A walk over the letters with one error type and one status, or with any.
pub(super) struct Scan<'a> {
    reader: &'a Reader,
    search: Search<'a>,
    /// The statement up to the direction of its order.
    select: String,
    /// Everything that stands before the ids among the parameters.
    chosen: Vec<Value>,
}

impl<'a> Scan<'a> {
    /// The walks that a filter needs.
    pub(super) fn of(
        reader: &'a Reader,
        filter: &'a LetterFilter,
        before: Option<DlqId>,
    ) -> Result<Vec<Self>, ReadError> {
        let workflow = match &filter.workflow {
            None => None,
            Some(id) => match workflow_key(reader, id)? {
                None => return Ok(Vec::new()),
                key => key,
            },
        };
        let walks = Search::walks(filter).into_iter();
        Ok(walks
            .map(|walk| Self::new(reader, Search::new(filter, before), workflow, walk))
            .collect())
    }

    fn new(
        reader: &'a Reader,
        search: Search<'a>,
        workflow: Option<i64>,
        (error_type, status): (Option<&'static str>, Option<LetterStatus>),
    ) -> Self {
        let mut chosen = Vec::new();
        let mut conditions = String::new();
        let index = match (workflow, error_type, status) {
            (Some(_), Some(_), _) => "dlq_by_workflow_error",
            (Some(_), None, _) => "dlq_by_workflow",
            (None, Some(_), _) => "dlq_by_error",
            (None, None, Some(_)) => "dlq_by_status",
            (None, None, None) => "sqlite_autoindex_dead_letter_queue_1",
        };
        let mut choose = |column: &str, value: Option<Value>| {
            if let Some(value) = value {
                chosen.push(value);
                conditions.push_str(&format!("dlq.{column} = ?{} AND ", chosen.len()));
            }
        };
        choose("workflow", workflow.map(Value::Integer));
        let word = |word: &str| Value::Text(word.to_owned());
        choose("error_type", error_type.map(word));
        choose("status", status.map(|status| word(status.name())));
        let n = chosen.len();
        let select = format!(
            "SELECT {COLUMNS} FROM dead_letter_queue AS dlq INDEXED BY {index}
             CROSS JOIN workflows ON workflows.key = dlq.workflow
             WHERE {conditions} dlq.id < ?{} AND dlq.id >= ?{} ORDER BY dlq.id",
            n + 1,
            n + 2
        );
        Self {
            reader,
            search,
            select,
            chosen,
        }
    }

    /// Shows every letter that passes, until `see` says that it has enough.
    pub(super) fn run(&self, mut see: impl FnMut(Found<'_>) -> bool) -> Result<(), ReadError> {
        let sql = format!("{} DESC LIMIT {ROWS_PER_READ}", self.select);
        let mut before = self.search.before;
        loop {
            self.reader.restart_clock();
            let mut select = self.reader.prepare(&sql)?;
            let mut rows = select.query(self.parameters(self.search.from, before))?;
            let mut seen = 0;
            while let Some(row) = rows.next()? {
                seen += 1;
                before = dlq_id(row, 0)?;
                if self.passes(row)? && !see(found(row)?) {
                    return Ok(());
                }
            }
            if seen < ROWS_PER_READ {
                return Ok(());
            }
        }
    }

    /// Times among which are those when the oldest and the newest of the walk failed, from the
    /// ends of its range. Only for filters that an index answers: nothing else is looked at.
    pub(super) fn ends(&self) -> Result<Vec<Timestamp>, ReadError> {
        let mut ends = Vec::new();
        for order in ["ASC", "DESC"] {
            let mut select = self
                .reader
                .prepare(&format!("{} {order} LIMIT 1", self.select))?;
            let mut rows = select.query(self.parameters(self.search.from, self.search.before))?;
            if let Some(row) = rows.next()? {
                ends.extend(self.times_in(dlq_id(row, 0)?.unix_ms())?);
            }
        }
        Ok(ends)
    }

    /// When the letters of one millisecond failed. Their ids do not say which of them was first.
    fn times_in(&self, unix_ms: u64) -> Result<Vec<Timestamp>, ReadError> {
        let (from, before) = ids_in(unix_ms);
        self.reader
            .prepare(&self.select)?
            .query_map(self.parameters(from, before), |row| time(row, 1))?
            .map(|time| time.map_err(ReadError::from))
            .collect()
    }

    fn parameters(&self, from: DlqId, before: DlqId) -> impl rusqlite::Params {
        let mut parameters = self.chosen.clone();
        parameters.push(Value::Blob(before.as_bytes().to_vec()));
        parameters.push(Value::Blob(from.as_bytes().to_vec()));
        rusqlite::params_from_iter(parameters)
    }

    fn passes(&self, row: &Row<'_>) -> rusqlite::Result<bool> {
        if !self.search.admits(time(row, 1)?, row.get(2)?) {
            return Ok(false);
        }
        if !self.search.has_text() {
            return Ok(true);
        }
        for column in [3, 5, 6, 7, 8] {
            let words = maybe_text(row, column)?;
            if words.is_some_and(|words| self.search.is_in(words)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn found<'a>(row: &'a Row<'_>) -> rusqlite::Result<Found<'a>> {
    Ok(Found {
        id: dlq_id(row, 0)?,
        failed_at: time(row, 1)?,
        workflow: text(row, 3)?,
        error_type: text(row, 4)?,
        error_code: maybe_text(row, 5)?,
    })
}

fn maybe_text<'a>(row: &'a Row<'_>, at: usize) -> rusqlite::Result<Option<&'a str>> {
    match row.get_ref(at)? {
        rusqlite::types::ValueRef::Null => Ok(None),
        _ => text(row, at).map(Some),
    }
}
