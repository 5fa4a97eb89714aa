//! Executions as they are read back: their states, their logs, and lists of them.

mod filter;
mod listed;

use std::borrow::Borrow;
use std::sync::LazyLock;

use refire_core::execution::{Event, EventRow, Execution, Status, apply_to};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_core::time::Timestamp;

pub(crate) use filter::{Candidate, Verdict};
pub use filter::{ExecutionFilter, OfWorkflow};
pub use listed::{COUNTED_MAX, Counted, LOOKED_AT_MAX, Listed, Stretch};

use crate::column::{Columns, Cursor, Named, read_from};
use crate::error::corrupt;
use crate::layer::store_trait;
use crate::{ReadError, WorkRow, checksum};

store_trait! {
    /// Executions: their states, their values, their logs, and lists of them.
    pub trait Executions {
        /// An execution's state (snapshot plus the events after it) and its work rows.
        async fn execution(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError>; about &[id];

        /// The foreign values kept by these events of an execution.
        async fn values(
            &self,
            id: ExecutionId,
            sequences: &[u64],
        ) -> Result<Vec<(u64, Json)>, ReadError>;

        /// The states of these executions, in the order of the ids, each with the values that its steps
        /// may yet read if these are short ([`Execution::missing_short_values`]). For attempts that
        /// begin together.
        async fn states(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Execution>>, ReadError>; about ids;

        /// As [`Executions::execution`], for the committer: never waits behind other readers.
        async fn load(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError>; about &[id];

        /// As [`Executions::values`], for the committer: never waits behind other readers.
        async fn load_values(
            &self,
            id: ExecutionId,
            sequences: &[u64],
        ) -> Result<Vec<(u64, Json)>, ReadError>;

        /// Events after `after`, oldest first, at most `limit`.
        async fn history(
            &self,
            id: ExecutionId,
            filter: &EventFilter,
            after: u64,
            limit: u32,
        ) -> Result<Vec<EventRow>, ReadError>;

        /// A stretch of the executions that pass, newest first.
        async fn executions(
            &self,
            filter: &ExecutionFilter,
            stretch: &Stretch,
        ) -> Result<Listed, ReadError>;

        /// How many executions pass, as far as that can be said by looking at so many of them and one more.
        async fn count_executions(
            &self,
            filter: &ExecutionFilter,
            up_to: u32,
        ) -> Result<Counted, ReadError>;

        /// The executions that were started with a key, whatever it was unique in, by the key's hash. As
        /// long as keys are remembered.
        async fn executions_by_key(&self, key_hash: [u8; 16]) -> Result<Vec<ExecutionId>, ReadError>;

        /// These executions as a list shows them, in the order of the ids, each with the values that
        /// [`Executions::states`] gives.
        async fn summaries(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Summary>>, ReadError>;
    }
}

/// An execution as stored: the fold of its log, and what its work rows say.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Its id.
    pub id: ExecutionId,
    /// Its state; foreign values are not at hand.
    pub state: Execution,
    /// Its work.
    pub work: Vec<WorkRow>,
}

impl Stored {
    /// The status a person sees: claimed work means `running`, whatever the log knows.
    #[must_use]
    pub fn status(&self) -> Status {
        shown_status(self.state.status, self.work.iter().any(|work| work.begun))
    }

    /// Since when any of its work runs.
    #[must_use]
    pub fn running_since(&self) -> Option<Timestamp> {
        running_since(&self.work)
    }
}

/// An execution in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Its id.
    pub id: ExecutionId,
    /// Its state; foreign values are not at hand.
    pub state: Execution,
    /// Whether any of its work has begun.
    pub begun: bool,
    /// Since when, of what runs longest; absent where that is not known.
    pub running_since: Option<Timestamp>,
}

impl Summary {
    /// The status a person sees.
    #[must_use]
    pub fn status(&self) -> Status {
        shown_status(self.state.status, self.begun)
    }
}

/// The earliest of those that run.
pub(crate) fn running_since<'a>(work: impl IntoIterator<Item = &'a WorkRow>) -> Option<Timestamp> {
    work.into_iter().filter_map(WorkRow::running_since).min()
}

pub(crate) fn shown_status(status: Status, begun: bool) -> Status {
    match status {
        Status::Pending | Status::Retrying | Status::Waiting if begun => Status::Running,
        other => other,
    }
}

/// Which events of an execution to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// About this attempt.
    pub attempt: Option<u32>,
    /// Of one of these types; empty = all.
    pub names: Vec<String>,
    /// About this step.
    pub step: Option<String>,
}

impl EventFilter {
    /// Whether an event passes.
    #[must_use]
    pub fn passes(&self, row: &EventRow) -> bool {
        (self.attempt.is_none() || self.attempt == row.attempt)
            && (self.names.is_empty() || self.names.iter().any(|name| *name == row.name))
            && (self.step.is_none() || self.step == row.step)
    }
}

read_from! {
    EventRow {
        sequence: "sequence",
        name: "type",
        v: "v",
        at: "at",
        step: "step",
        attempt: "attempt",
        backoff_ms: "backoff_ms",
        reason: "reason",
        payload: "payload"
    }
}

/// What [`event_at`] reads.
pub(crate) static EVENT: LazyLock<String> = LazyLock::new(|| format!("{}, crc", EventRow::COLUMNS));

/// How many columns that are.
pub(crate) const EVENT_WIDTH: usize = 10;

/// An event of an execution from this column on, if its checksum fits.
pub(crate) fn event_at(
    row: &impl Columns,
    at: usize,
    id: ExecutionId,
) -> Result<EventRow, ReadError> {
    let (event, crc) = Cursor { row, at }.next()?;
    event_of(id, event, crc)
}

/// An event of an execution, if its checksum fits.
pub(crate) fn event_of(id: ExecutionId, event: EventRow, crc: u32) -> Result<EventRow, ReadError> {
    checksum::verify(crc, checksum::event(id, &event))
        .map_err(corrupt(|| format!("event {} of {id}", event.sequence)))?;
    Ok(event)
}

/// The value that an event keeps.
pub(crate) fn value_of(id: ExecutionId, row: &EventRow) -> Result<Option<Json>, ReadError> {
    let event =
        Event::decode(row).map_err(corrupt(|| format!("event {} of {id}", row.sequence)))?;
    Ok(event.value().cloned())
}

/// The state that a snapshot keeps, if its checksum fits; the beginning, where there is none yet.
pub(crate) fn snapshot(
    id: ExecutionId,
    version: u64,
    bytes: Option<&[u8]>,
    crc: Option<u32>,
) -> Result<Execution, ReadError> {
    if version == 0 {
        return Ok(Execution::empty());
    }
    let what = || format!("the state of {id}");
    let bytes = bytes.unwrap_or_default();
    let crc = crc.ok_or_else(|| corrupt(what)("its snapshot has no checksum"))?;
    checksum::verify(crc, checksum::snapshot(id, version, bytes)).map_err(corrupt(what))?;
    serde_json::from_slice(bytes).map_err(corrupt(what))
}

/// A state, brought up to the version that its row says by the events after it, oldest first.
pub(crate) fn fold(
    id: ExecutionId,
    mut state: Execution,
    version: u64,
    events: impl IntoIterator<Item = impl Borrow<EventRow>>,
) -> Result<Execution, ReadError> {
    let what = || format!("the state of {id}");
    for event in events {
        let event = Event::decode(event.borrow()).map_err(corrupt(what))?;
        if event.sequence != state.version + 1 {
            let gap = format!("event {} follows {}", event.sequence, state.version);
            return Err(corrupt(what)(gap));
        }
        apply_to(&mut state, &event);
    }
    if state.version != version {
        let differ = format!("its row says version {version}, its log {}", state.version);
        return Err(corrupt(what)(differ));
    }
    Ok(state)
}

/// A log that lacks an event, in the middle or at its end, is not shown as if it were whole. `ends_at`
/// is the version of its execution, where the rows should come to the end.
pub(crate) fn refuse_gaps(
    id: ExecutionId,
    after: u64,
    rows: &[EventRow],
    ends_at: Option<u64>,
) -> Result<(), ReadError> {
    let missing = |sequence: u64| {
        let what = || format!("the log of {id}");
        corrupt(what)(format!("event {sequence} is missing"))
    };
    for (row, expected) in rows.iter().zip(after + 1..) {
        if row.sequence != expected {
            return Err(missing(expected));
        }
    }
    let last = after + rows.len() as u64;
    match ends_at {
        Some(version) if version > last => Err(missing(last + 1)),
        _ => Ok(()),
    }
}
