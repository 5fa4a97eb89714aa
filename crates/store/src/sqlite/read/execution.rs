//! Executions: their states, their values, their logs.

use async_trait::async_trait;
use refire_core::execution::{EventRow, Execution};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use rusqlite::params;

use super::at_once;
use crate::column::{Columns, Named, read_at};
use crate::execution::{EVENT, event_at, fold, snapshot, value_of};
use crate::sqlite::Sqlite;
use crate::sqlite::columns::signed;
use crate::sqlite::failure::corrupt;
use crate::sqlite::readers::Reader;
use crate::{
    Counted, EventFilter, ExecutionFilter, Executions, Listed, ReadError, Stored, Stretch, Summary,
    WorkRow, sql,
};

#[async_trait]
impl Executions for Sqlite {
    async fn execution(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        self.readers.read(move |reader| stored(reader, id)).await
    }

    async fn values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        let sequences = sequences.to_vec();
        self.readers
            .read(move |reader| values(reader, id, &sequences))
            .await
    }

    async fn states(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Execution>>, ReadError> {
        let ids = ids.to_vec();
        self.readers
            .read(move |reader| {
                let state = |id: &ExecutionId| reader.transaction(|| with_values(reader, *id));
                ids.iter().map(state).collect()
            })
            .await
    }

    /// Reads on the calling thread, as [`crate::Store::commit`] writes on it.
    async fn load(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        self.loader.read(|reader| stored(reader, id))
    }

    /// See [`Executions::load`].
    async fn load_values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        self.loader.read(|reader| values(reader, id, sequences))
    }

    async fn history(
        &self,
        id: ExecutionId,
        filter: &EventFilter,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRow>, ReadError> {
        sql::history(self, id, filter, after, limit).await
    }

    async fn executions(
        &self,
        filter: &ExecutionFilter,
        stretch: &Stretch,
    ) -> Result<Listed, ReadError> {
        let (filter, stretch) = (filter.clone(), *stretch);
        self.readers
            .read(move |reader| at_once(sql::list(reader, &filter, &stretch)))
            .await
    }

    async fn count_executions(
        &self,
        filter: &ExecutionFilter,
        up_to: u32,
    ) -> Result<Counted, ReadError> {
        let filter = filter.clone();
        self.readers
            .read(move |reader| at_once(sql::count(reader, &filter, up_to)))
            .await
    }

    async fn executions_by_key(&self, key_hash: [u8; 16]) -> Result<Vec<ExecutionId>, ReadError> {
        sql::executions_by_key(self, key_hash).await
    }

    async fn summaries(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Summary>>, ReadError> {
        let ids = ids.to_vec();
        self.readers
            .read(move |reader| {
                let summary = |id: &ExecutionId| {
                    reader.transaction(|| match with_values(reader, *id)? {
                        Some(state) => summed_up(reader, *id, state).map(Some),
                        None => Ok(None),
                    })
                };
                ids.iter().map(summary).collect()
            })
            .await
    }
}

/// The execution with its work, as of one moment.
fn stored(reader: &Reader, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
    reader.transaction(|| {
        let Some(state) = state(reader, id)? else {
            return Ok(None);
        };
        let work = work_of(reader, id)?;
        Ok(Some(Stored { id, state, work }))
    })
}

/// The state with the values that its steps may yet read, if they are short.
fn with_values(reader: &Reader, id: ExecutionId) -> Result<Option<Execution>, ReadError> {
    let Some(mut state) = state(reader, id)? else {
        return Ok(None);
    };
    for sequence in state.missing_short_values() {
        if let Some(value) = value(reader, id, sequence)? {
            state.payloads.insert(sequence, value);
        }
    }
    Ok(Some(state))
}

/// A state with what the execution's work says about it.
pub(super) fn summed_up(
    reader: &Reader,
    id: ExecutionId,
    state: Execution,
) -> Result<Summary, ReadError> {
    let sql = "SELECT count(*) > 0, min(max(begun_at, coalesce(due_at, begun_at))) FROM work
         WHERE execution = ?1 AND begun";
    let work = reader.row(sql, [id.as_bytes()])?;
    let (begun, running_since) = work.unwrap_or_default();
    Ok(Summary {
        id,
        state,
        begun,
        running_since,
    })
}

/// The snapshot, brought up to date by the events after it.
pub(super) fn state(reader: &Reader, id: ExecutionId) -> Result<Option<Execution>, ReadError> {
    let mut select = reader.prepare(
        "SELECT version, snapshot_version, snapshot_crc, snapshot FROM executions
             WHERE id = ?1",
    )?;
    let mut rows = select.query([id.as_bytes()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let (version, known, crc) = read_at(row, 0)?;
    let state = snapshot(id, known, row.bytes(3)?, crc)?;
    let later = match known < version {
        true => events_after(reader, id, known)?,
        false => Vec::new(),
    };
    fold(id, state, version, later).map(Some)
}

fn events_after(reader: &Reader, id: ExecutionId, after: u64) -> Result<Vec<EventRow>, ReadError> {
    reader
        .prepare(&format!(
            "SELECT {} FROM workflow_events WHERE execution = ?1 AND sequence > ?2
             ORDER BY sequence",
            *EVENT
        ))?
        .query_and_then(params![id.as_bytes(), signed(after)], |row| {
            event_at(row, 0, id)
        })?
        .collect()
}

fn work_of(reader: &Reader, id: ExecutionId) -> Result<Vec<WorkRow>, ReadError> {
    let sql = format!(
        "SELECT {} FROM work JOIN workflows ON workflows.key = work.workflow
         WHERE work.execution = ?1 ORDER BY work.step",
        WorkRow::COLUMNS
    );
    let work = reader.rows(&sql, [id.as_bytes()]);
    work.map_err(corrupt(|| format!("the work of {id}")))
}

/// The values of those events that keep one.
fn values(
    reader: &Reader,
    id: ExecutionId,
    sequences: &[u64],
) -> Result<Vec<(u64, Json)>, ReadError> {
    reader.transaction(|| {
        let mut values = Vec::with_capacity(sequences.len());
        for sequence in sequences {
            if let Some(value) = value(reader, id, *sequence)? {
                values.push((*sequence, value));
            }
        }
        Ok(values)
    })
}

/// The value that an event keeps.
pub(super) fn value(
    reader: &Reader,
    id: ExecutionId,
    sequence: u64,
) -> Result<Option<Json>, ReadError> {
    let mut select = reader.prepare(&format!(
        "SELECT {} FROM workflow_events WHERE execution = ?1 AND sequence = ?2",
        *EVENT
    ))?;
    let mut rows = select.query(params![id.as_bytes(), signed(sequence)])?;
    match rows.next()? {
        Some(row) => value_of(id, &event_at(row, 0, id)?),
        None => Ok(None),
    }
}
