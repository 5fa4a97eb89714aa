//! What a filter means to whoever walks over dead letters, newest first.
//!
//! Times narrow the range of ids, because a letter's id begins with the millisecond it failed in. What
//! no index knows (the exact times, a cause, a text, a target among other things) is looked at letter by letter.

use refire_core::dead_letter::LetterStatus;
use refire_core::failure::ErrorClass;
use refire_core::id::{DlqId, time_ordered};
use refire_core::time::Timestamp;

use super::LetterFilter;
use crate::ReadError;
use crate::column::{Columns, Cursor, damaged};

/// After every id.
const LAST_ID: [u8; 16] = [0xff; 16];

/// See the module.
pub(crate) struct Search<'a> {
    pub(crate) filter: &'a LetterFilter,
    /// In lower case.
    text: Option<String>,
    /// The first id of the range.
    pub(crate) from: DlqId,
    /// The first id after the range.
    pub(crate) before: DlqId,
}

/// A letter that passed.
pub(crate) struct Found<'a> {
    pub(crate) id: DlqId,
    pub(crate) failed_at: Timestamp,
    pub(crate) workflow: &'a str,
    pub(crate) error_type: &'a str,
    pub(crate) error_code: Option<&'a str>,
}

impl<'a> Search<'a> {
    /// For the letters before an id, if one is given.
    pub(crate) fn new(filter: &'a LetterFilter, before: Option<DlqId>) -> Self {
        let [from, last] = [
            filter.from.map_or([0; 16], |from| first_of(millis(from))),
            filter.to.map_or(LAST_ID, |to| first_of(millis(to) + 1)),
        ]
        .map(DlqId::from_bytes);
        Self {
            filter,
            text: filter.text.as_ref().map(|text| text.to_lowercase()),
            from,
            before: before.map_or(last, |before| before.min(last)),
        }
    }

    /// The error types and statuses to walk along, one after the other, so that each walk follows an
    /// index in the order of ids. None = all of them at once.
    pub(crate) fn walks(
        filter: &LetterFilter,
    ) -> Vec<(Option<&'static str>, Option<LetterStatus>)> {
        let is_plain =
            filter.workflow.is_none() && filter.error_types.is_empty() && filter.target.is_none();
        if filter.statuses.is_empty() && is_plain {
            return vec![(None, None)];
        }
        let is_asked =
            |status: &LetterStatus| filter.statuses.is_empty() || filter.statuses.contains(status);
        let statuses = LetterStatus::ALL.into_iter().filter(is_asked);
        let of = |class| statuses.clone().map(move |status| (class, Some(status)));
        match filter.error_types.is_empty() {
            true => of(None).collect(),
            false => (Self::error_types(filter).into_iter().map(Some).flat_map(of)).collect(),
        }
    }

    /// The error types of a filter that letters can have.
    pub(crate) fn error_types(filter: &LetterFilter) -> Vec<&'static str> {
        let names = ErrorClass::ALL.into_iter().map(ErrorClass::name);
        let is_asked = |name: &&'static str| filter.error_types.iter().any(|asked| asked == name);
        names.filter(is_asked).collect()
    }

    /// Whether the words of a letter matter.
    pub(crate) fn has_text(&self) -> bool {
        self.text.is_some()
    }

    /// What a row must offer: the long words only where they matter.
    pub(crate) fn columns(&self) -> String {
        let words = match self.has_text() {
            true => ", dlq.workflow_name, dlq.error_message, dlq.step",
            false => "",
        };
        format!(
            "dlq.id, dlq.failed_at, dlq.fingerprint,
             (SELECT workflows.id FROM workflows WHERE workflows.key = dlq.workflow),
             dlq.error_type, dlq.error_code, dlq.target{words}"
        )
    }

    /// The letter of a row of [`Search::columns`], if it passes.
    pub(crate) fn found<'r, R: Columns>(&self, row: &'r R) -> Result<Option<Found<'r>>, ReadError> {
        let (id, failed_at, cause): (_, Timestamp, i64) = Cursor { row, at: 0 }.next()?;
        let LetterFilter { from, to, .. } = self.filter;
        let wanted = self.filter.fingerprint;
        let is_admitted = from.is_none_or(|from| failed_at >= from)
            && to.is_none_or(|to| failed_at < to)
            && wanted.is_none_or(|wanted| wanted.cast_signed() == cause);
        let is_called = match self.filter.target.as_deref() {
            Some(target) => row.text(6)? == Some(target),
            None => true,
        };
        if !is_admitted || !is_called || !self.is_in_words(row)? {
            return Ok(None);
        }
        let text = |at| {
            row.text(at)?
                .ok_or_else(|| damaged("a letter lacks a word"))
        };
        Ok(Some(Found {
            id,
            failed_at,
            workflow: text(3)?,
            error_type: text(4)?,
            error_code: row.text(5)?,
        }))
    }

    /// Whether the text that is searched for is in the words of a row.
    fn is_in_words(&self, row: &impl Columns) -> Result<bool, ReadError> {
        let Some(text) = &self.text else {
            return Ok(true);
        };
        for at in [3, 5, 7, 8, 9] {
            let words = row.text(at)?;
            if words.is_some_and(|words| words.to_lowercase().contains(text)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The first id of letters that failed in this millisecond.
pub(crate) fn first_id_at(at: Timestamp) -> DlqId {
    DlqId::from_bytes(first_of(millis(at)))
}

/// The range of ids of letters that failed in one millisecond: the first, and the first after it.
pub(crate) fn ids_in(unix_ms: u64) -> (DlqId, DlqId) {
    let id = |unix_ms| DlqId::from_bytes(first_of(unix_ms));
    (id(unix_ms), id(unix_ms + 1))
}

fn first_of(unix_ms: u64) -> [u8; 16] {
    time_ordered(unix_ms, [0; 10])
}

fn millis(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(0)
}
