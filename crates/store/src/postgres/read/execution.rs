//! Executions: their states, their values, their logs.

use std::collections::HashMap;

use async_trait::async_trait;
use refire_core::execution::{EventRow, Execution};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use tokio_postgres::Row;
use uuid::Uuid;

use super::list;
use super::state::{Gathered, stored_of};
use crate::column::read_at;
use crate::execution::{EVENT, EVENT_WIDTH, event_at, value_of};
use crate::postgres::Postgres;
use crate::postgres::columns::{signed, uuid};
use crate::postgres::pool::{Pool, Reader};
use crate::{
    Counted, EventFilter, ExecutionFilter, Executions, Listed, ReadError, Stored, Stretch, Summary,
    sql,
};

#[async_trait]
impl Executions for Postgres {
    async fn execution(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        stored(&self.readers, id).await
    }

    async fn values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        values(&self.readers, id, sequences).await
    }

    async fn states(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Execution>>, ReadError> {
        let reader = self.dispatch.reader().await?;
        reader.read(with_values(&reader, ids)).await
    }

    async fn load(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        stored(&self.loaders, id).await
    }

    async fn load_values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        values(&self.loaders, id, sequences).await
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
        let reader = self.readers.reader().await?;
        reader.read(sql::list(&reader, filter, stretch)).await
    }

    async fn count_executions(
        &self,
        filter: &ExecutionFilter,
        up_to: u32,
    ) -> Result<Counted, ReadError> {
        let reader = self.readers.reader().await?;
        reader.read(sql::count(&reader, filter, up_to)).await
    }

    async fn executions_by_key(&self, key_hash: [u8; 16]) -> Result<Vec<ExecutionId>, ReadError> {
        sql::executions_by_key(self, key_hash).await
    }

    async fn summaries(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Summary>>, ReadError> {
        let reader = self.readers.reader().await?;
        reader.read(list::summaries(&reader, ids)).await
    }
}

/// The execution with its work, as of one moment.
async fn stored(pool: &Pool, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
    let reader = pool.reader().await?;
    let stored = reader.read(stored_of(&reader, &[id])).await?;
    Ok(stored.into_iter().next().flatten())
}

/// The states with the values that their steps may yet read, if they are short. Almost always one
/// statement: values that are likely to be wanted come with the states.
pub(super) async fn with_values(
    reader: &Reader,
    ids: &[ExecutionId],
) -> Result<Vec<Option<Execution>>, ReadError> {
    let mut gathered = Gathered::with_values(reader, ids).await?;
    let mut states: HashMap<ExecutionId, Execution> = HashMap::with_capacity(ids.len());
    let mut missing: Vec<(ExecutionId, u64)> = Vec::new();
    let mut is_asked_twice = false;
    for id in ids {
        if states.contains_key(id) {
            is_asked_twice = true;
            continue;
        }
        let Some(parts) = gathered.take(*id) else {
            continue;
        };
        let (mut state, ahead) = parts.state_and_values(*id)?;
        for sequence in state.missing_short_values() {
            match ahead.iter().find(|event| event.sequence == sequence) {
                Some(event) => keep_value(&mut state, *id, event)?,
                None => missing.push((*id, sequence)),
            }
        }
        states.insert(*id, state);
    }
    for (id, event) in events(reader, &missing).await? {
        if let Some(state) = states.get_mut(&id) {
            keep_value(state, id, &event)?;
        }
    }
    let mut answer = |id| match is_asked_twice {
        true => states.get(id).cloned(),
        false => states.remove(id),
    };
    Ok(ids.iter().map(&mut answer).collect())
}

fn keep_value(state: &mut Execution, id: ExecutionId, event: &EventRow) -> Result<(), ReadError> {
    if let Some(value) = value_of(id, event)? {
        state.payloads.insert(event.sequence, value);
    }
    Ok(())
}

/// These events, in no order.
async fn events(
    reader: &Reader,
    wanted: &[(ExecutionId, u64)],
) -> Result<Vec<(ExecutionId, EventRow)>, ReadError> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let executions: Vec<Uuid> = wanted.iter().map(|(id, _)| uuid(id.as_bytes())).collect();
    let sequences: Vec<i64> = wanted
        .iter()
        .map(|(_, sequence)| signed(*sequence))
        .collect();
    let sql = format!(
        "SELECT {}, execution FROM unnest($1::uuid[], $2::bigint[]) AS wanted (id, number)
         JOIN workflow_events ON execution = wanted.id AND sequence = wanted.number",
        *EVENT
    );
    let rows = reader.rows(&sql, &[&executions, &sequences]).await?;
    rows.iter().map(event_and_id).collect()
}

/// A row of an event with its execution behind it.
pub(super) fn event_and_id(row: &Row) -> Result<(ExecutionId, EventRow), ReadError> {
    let id = read_at(row, EVENT_WIDTH)?;
    Ok((id, event_at(row, 0, id)?))
}

/// The values of those events that keep one.
async fn values(
    pool: &Pool,
    id: ExecutionId,
    sequences: &[u64],
) -> Result<Vec<(u64, Json)>, ReadError> {
    let wanted: Vec<(ExecutionId, u64)> = sequences.iter().map(|number| (id, *number)).collect();
    let reader = pool.reader().await?;
    let mut found: HashMap<u64, Json> = HashMap::new();
    for (_, event) in reader.read(events(&reader, &wanted)).await? {
        if let Some(value) = value_of(id, &event)? {
            found.insert(event.sequence, value);
        }
    }
    Ok(sequences
        .iter()
        .filter_map(|number| Some((*number, found.get(number)?.clone())))
        .collect())
}
