//! Executions: their states, their values, their logs, and lists of them.

use std::collections::BTreeSet;

use async_trait::async_trait;
use refire_core::execution::{EventRow, Execution, TriggerKind};
use refire_core::id::ExecutionId;
use refire_core::json::Json;

use super::page;
use crate::error::corrupt;
use crate::execution::{Candidate, Verdict, fold, running_since, shown_status, value_of};
use crate::model::Model;
use crate::model::image::Image;
use crate::{
    Counted, EventFilter, ExecutionFilter, ExecutionRow, Executions, Listed, ReadError, Stored,
    Stretch, Summary,
};

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
        stretch: &Stretch,
    ) -> Result<Listed, ReadError> {
        self.read("executions", |image| image.listed(filter, stretch))
            .await
    }

    async fn count_executions(
        &self,
        filter: &ExecutionFilter,
        up_to: u32,
    ) -> Result<Counted, ReadError> {
        self.read("count_executions", |image| image.counted(filter, up_to))
            .await
    }

    async fn executions_by_key(&self, key_hash: [u8; 16]) -> Result<Vec<ExecutionId>, ReadError> {
        self.read("executions_by_key", |image| {
            let keys = image.keys.iter().filter(|((_, hash), _)| *hash == key_hash);
            let found: BTreeSet<ExecutionId> = keys.map(|(_, used)| used.execution).collect();
            Ok(found.into_iter().collect())
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

    /// Executions of the right workflows before an id, newest first, and whether a filter lets them pass.
    fn passing<'a>(
        &'a self,
        filter: &'a ExecutionFilter,
        before: Option<ExecutionId>,
    ) -> impl Iterator<Item = Result<(Candidate, bool), ReadError>> + 'a {
        let (from, end) = filter.range();
        let end = before.map_or(end, |before| before.min(end));
        let older = self.executions.iter().rev();
        let older = older.filter(move |(id, record)| {
            (from..end).contains(*id) && filter.is_of(record.row.workflow.as_str())
        });
        older.map(move |(id, record)| {
            let row = self.candidate(*id, &record.row);
            let passes = match filter.judge(&row) {
                Verdict::Open => {
                    let state = self.state(*id)?;
                    state.is_some_and(|state| filter.passes(&state))
                }
                verdict => verdict == Verdict::Passes,
            };
            Ok((row, passes))
        })
    }

    fn listed(&self, filter: &ExecutionFilter, stretch: &Stretch) -> Result<Listed, ReadError> {
        let mut listed = Listed::default();
        for (looked, found) in (1..).zip(self.passing(filter, stretch.before)) {
            let (row, passes) = found?;
            if listed.rows.len() >= page(stretch.limit) {
                break;
            }
            if passes && let Some(state) = self.state(row.id)? {
                listed.rows.push(self.summed_up(row.id, state));
            }
            if looked >= stretch.looks && listed.rows.len() < page(stretch.limit) {
                listed.searched_to = Some(row.id);
                break;
            }
        }
        Ok(listed)
    }

    fn counted(&self, filter: &ExecutionFilter, up_to: u32) -> Result<Counted, ReadError> {
        let mut counted = Counted::default();
        for (looked, found) in (0..).zip(self.passing(filter, None)) {
            let (row, passes) = found?;
            if passes && counted.total() >= u64::from(up_to) {
                return Ok(counted);
            }
            if passes {
                counted.add(row.status);
            }
            if looked >= up_to {
                counted.searched_to = Some(row.id);
                return Ok(counted);
            }
        }
        counted.is_exact = true;
        Ok(counted)
    }

    /// What a row says of its execution.
    fn candidate(&self, id: ExecutionId, row: &ExecutionRow) -> Candidate {
        let begun = self.work_of(id).any(|row| row.begun);
        Candidate {
            id,
            workflow: row.workflow.to_string(),
            version: row.workflow_version,
            kind: TriggerKind::from_name(row.trigger),
            trigger: row.trigger_id,
            is_retried: row.update.retry_count > 0,
            status: shown_status(row.update.status, begun),
        }
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
