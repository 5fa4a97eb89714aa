//! Executions: their states, their values, their logs, and lists of them.

use async_trait::async_trait;
use refire_core::execution::{EventRow, Execution};
use refire_core::id::ExecutionId;
use refire_core::json::Json;

use super::page;
use crate::error::corrupt;
use crate::execution::{fold, running_since, shown_status, value_of};
use crate::model::Model;
use crate::model::image::Image;
use crate::{EventFilter, ExecutionFilter, Executions, ReadError, Stored, Summary};

#[async_trait]
impl Executions for Model {
    async fn execution(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        self.read("execution", |image| image.stored(id)).await
    }

    async fn values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        self.read("values", |image| image.values(id, sequences))
            .await
    }

    async fn states(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Execution>>, ReadError> {
        self.read("states", |image| {
            ids.iter().map(|id| image.with_values(*id)).collect()
        })
        .await
    }

    async fn load(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        self.read("load", |image| image.stored(id)).await
    }

    async fn load_values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        self.read("load_values", |image| image.values(id, sequences))
            .await
    }

    async fn history(
        &self,
        id: ExecutionId,
        filter: &EventFilter,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRow>, ReadError> {
        self.read("history", |image| {
            let later = image.log(id).filter(|row| row.sequence > after);
            let rows = later.filter(|row| filter.passes(row));
            Ok(rows.take(page(limit)).cloned().collect())
        })
        .await
    }

    async fn executions(
        &self,
        filter: &ExecutionFilter,
        before: Option<ExecutionId>,
        limit: u32,
    ) -> Result<Vec<Summary>, ReadError> {
        self.read("executions", |image| {
            let older = image.executions.iter().rev();
            let older = older.filter(|(id, _)| before.is_none_or(|before| **id < before));
            let asked = older.filter(|(id, record)| {
                let begun = image.work_of(**id).any(|row| row.begun);
                let status = shown_status(record.row.update.status, begun);
                let workflow = filter.workflow.as_ref();
                workflow.is_none_or(|workflow| *workflow == record.row.workflow)
                    && (filter.statuses.is_empty() || filter.statuses.contains(&status))
                    && (!filter.retried || record.row.update.retry_count > 0)
            });
            let states = asked.map(|(id, _)| Ok((*id, image.state(*id)?)));
            let summaries = states.take(page(limit)).map(|found: Result<_, ReadError>| {
                found.map(|(id, state)| state.map(|state| image.summed_up(id, state)))
            });
            summaries.filter_map(Result::transpose).collect()
        })
        .await
    }

    async fn summaries(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Summary>>, ReadError> {
        self.read("summaries", |image| {
            let summary = |id: &ExecutionId| {
                let state = image.with_values(*id)?;
                Ok(state.map(|state| image.summed_up(*id, state)))
            };
            ids.iter().map(summary).collect()
        })
        .await
    }
}

impl Image {
    /// An execution's state: its snapshot, brought up to date by the events after it.
    ///
    /// # Errors
    /// When the log has a gap or ends at another version than the row says.
    pub fn state(&self, id: ExecutionId) -> Result<Option<Execution>, ReadError> {
        let Some(record) = self.executions.get(&id) else {
            return Ok(None);
        };
        let state = match &record.snapshot {
            None => Execution::empty(),
            Some(snapshot) => serde_json::from_slice::<Execution>(&snapshot.bytes)
                .map_err(corrupt(|| format!("the state of {id}")))?,
        };
        let known = state.version;
        let later = self.log(id).filter(|row| row.sequence > known);
        fold(id, state, record.row.update.version, later).map(Some)
    }

    fn stored(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        let state = self.state(id)?;
        Ok(state.map(|state| Stored {
            id,
            state,
            work: self.work_of(id).cloned().collect(),
        }))
    }

    /// The state with the values that its steps may yet read, if they are short.
    fn with_values(&self, id: ExecutionId) -> Result<Option<Execution>, ReadError> {
        let Some(mut state) = self.state(id)? else {
            return Ok(None);
        };
        for (sequence, value) in self.values(id, &state.missing_short_values())? {
            state.payloads.insert(sequence, value);
        }
        Ok(Some(state))
    }

    fn summed_up(&self, id: ExecutionId, state: Execution) -> Summary {
        Summary {
            id,
            state,
            begun: self.work_of(id).any(|row| row.begun),
            running_since: running_since(self.work_of(id)),
        }
    }

    /// The values of those events that keep one.
    fn values(&self, id: ExecutionId, sequences: &[u64]) -> Result<Vec<(u64, Json)>, ReadError> {
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
        let row = self.events.get(&(id, sequence));
        row.map_or(Ok(None), |row| value_of(id, row))
    }
}
