//! Executions: their state, their values, their log, and lists of them.

use refire_core::execution::{Event, EventRow, Execution, apply_to};
use refire_core::id::ExecutionId;
use refire_core::json::Json;

use super::{corrupt, page};
use crate::model::image::Image;
use crate::row::{running_since, shown_status};
use crate::{EventFilter, ExecutionFilter, ReadError, Stored, Summary};

impl Image {
    /// An execution's state: its snapshot, brought up to date by the events after it.
    ///
    /// # Errors
    /// When the log has a gap or ends at another version than the row says.
    pub fn state(&self, id: ExecutionId) -> Result<Option<Execution>, ReadError> {
        let what = || format!("the state of {id}");
        let Some(record) = self.executions.get(&id) else {
            return Ok(None);
        };
        let mut state = match &record.snapshot {
            None => Execution::empty(),
            Some(snapshot) => {
                serde_json::from_slice::<Execution>(&snapshot.bytes).map_err(corrupt(what))?
            }
        };
        let known = state.version;
        for row in self.log(id).filter(|row| row.sequence > known) {
            let event = Event::decode(row).map_err(corrupt(what))?;
            if event.sequence != state.version + 1 {
                let gap = format!("event {} follows {}", event.sequence, state.version);
                return Err(corrupt(what)(gap));
            }
            apply_to(&mut state, &event);
        }
        let version = record.row.update.version;
        if state.version != version {
            let differ = format!("its row says version {version}, its log {}", state.version);
            return Err(corrupt(what)(differ));
        }
        Ok(Some(state))
    }

    pub(in crate::model) fn stored(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        let state = self.state(id)?;
        Ok(state.map(|state| Stored {
            id,
            state,
            work: self.work_of(id).cloned().collect(),
        }))
    }

    /// The state with the values that its steps may yet read, if they are short.
    pub(in crate::model) fn with_values(
        &self,
        id: ExecutionId,
    ) -> Result<Option<Execution>, ReadError> {
        let Some(mut state) = self.state(id)? else {
            return Ok(None);
        };
        for sequence in state.missing_short_values() {
            if let Some(value) = self.value(id, sequence)? {
                state.payloads.insert(sequence, value);
            }
        }
        Ok(Some(state))
    }

    /// The same with whether any of its work has begun.
    pub(in crate::model) fn summary(&self, id: ExecutionId) -> Result<Option<Summary>, ReadError> {
        let state = self.with_values(id)?;
        let begun = self.work_of(id).any(|row| row.begun);
        let running_since = running_since(self.work_of(id));
        Ok(state.map(|state| Summary {
            id,
            state,
            begun,
            running_since,
        }))
    }

    /// The values of those events that keep one.
    pub(in crate::model) fn values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        let mut values = Vec::new();
        for sequence in sequences {
            if let Some(value) = self.value(id, *sequence)? {
                values.push((*sequence, value));
            }
        }
        Ok(values)
    }

    /// The value that an event keeps.
    pub(super) fn value(&self, id: ExecutionId, sequence: u64) -> Result<Option<Json>, ReadError> {
        let Some(row) = self.events.get(&(id, sequence)) else {
            return Ok(None);
        };
        let event = Event::decode(row).map_err(corrupt(|| format!("event {sequence} of {id}")))?;
        Ok(event.value().cloned())
    }

    /// Events after `after` that pass the filter, oldest first.
    pub(in crate::model) fn history(
        &self,
        id: ExecutionId,
        filter: &EventFilter,
        after: u64,
        limit: u32,
    ) -> Vec<EventRow> {
        let passes = |row: &&EventRow| {
            row.sequence > after
                && (filter.attempt.is_none() || filter.attempt == row.attempt)
                && (filter.names.is_empty() || filter.names.iter().any(|name| *name == row.name))
                && (filter.step.is_none() || filter.step == row.step)
        };
        let rows = self.log(id).filter(passes);
        rows.take(page(limit)).cloned().collect()
    }

    /// Executions that pass the filter, by what a person sees, newest first.
    pub(in crate::model) fn list(
        &self,
        filter: &ExecutionFilter,
        before: Option<ExecutionId>,
        limit: u32,
    ) -> Result<Vec<Summary>, ReadError> {
        let workflow = filter.workflow.as_ref();
        let mut found = Vec::new();
        for (id, record) in self.executions.iter().rev() {
            if found.len() == page(limit) {
                break;
            }
            let begun = self.work_of(*id).any(|row| row.begun);
            let status = shown_status(record.row.update.status, begun);
            let is_asked = before.is_none_or(|before| *id < before)
                && workflow.is_none_or(|workflow| *workflow == record.row.workflow)
                && (filter.statuses.is_empty() || filter.statuses.contains(&status))
                && (!filter.retried || record.row.update.retry_count > 0);
            if is_asked && let Some(state) = self.state(*id)? {
                found.push(Summary {
                    id: *id,
                    state,
                    begun,
                    running_since: running_since(self.work_of(*id)),
                });
            }
        }
        Ok(found)
    }
}
