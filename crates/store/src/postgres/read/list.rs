//! How lists of executions are read from a server.

use std::collections::HashMap;

use refire_core::execution::Execution;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use uuid::Uuid;

use super::execution;
use super::state::stored_of;
use crate::column::read_at;
use crate::postgres::columns::uuid;
use crate::postgres::pool::Reader;
use crate::sql::Lists;
use crate::{ReadError, Stored, Summary};

impl Lists for Reader {
    async fn together<T>(
        &self,
        read: impl Future<Output = Result<T, ReadError>>,
    ) -> Result<T, ReadError> {
        self.snapshot(read).await
    }

    /// The server's log does not wait for those who read.
    fn is_late(&self) -> bool {
        false
    }

    async fn loaded(&self, ids: &[ExecutionId]) -> Result<(Vec<Summary>, usize), ReadError> {
        let stored = stored_of(self, ids).await?;
        let summary = |stored: Stored| Summary {
            id: stored.id,
            begun: stored.work.iter().any(|work| work.begun),
            running_since: stored.running_since(),
            state: stored.state,
        };
        let summaries = stored.into_iter().flatten().map(summary).collect();
        Ok((summaries, ids.len()))
    }
}

/// These executions with the values that their steps may yet read, if they are short.
pub(super) async fn summaries(
    reader: &Reader,
    ids: &[ExecutionId],
) -> Result<Vec<Option<Summary>>, ReadError> {
    let wanted: Vec<Uuid> = ids.iter().map(|id| uuid(id.as_bytes())).collect();
    let (states, begun) = reader
        .snapshot(async {
            let states = execution::with_values(reader, ids).await?;
            let sql = "SELECT execution, min(greatest(begun_at, due_at))
                     FILTER (WHERE begun_at IS NOT NULL) FROM work
                 WHERE execution = ANY($1::uuid[]) AND begun GROUP BY execution";
            Ok((states, reader.rows(sql, &[&wanted]).await?))
        })
        .await?;
    let begun = begun.iter().map(|row| read_at(row, 0));
    let begun: HashMap<ExecutionId, Option<Timestamp>> = begun.collect::<Result<_, ReadError>>()?;
    let summary = |(id, state): (&ExecutionId, Option<Execution>)| {
        state.map(|state| Summary {
            id: *id,
            state,
            begun: begun.contains_key(id),
            running_since: begun.get(id).copied().flatten(),
        })
    };
    Ok(ids.iter().zip(states).map(summary).collect())
}
