//! How lists of executions are read from a file.

use refire_core::id::ExecutionId;

use super::{at_once, execution};
use crate::sql::Lists;
use crate::sqlite::readers::Reader;
use crate::{ReadError, Summary};

impl Lists for Reader {
    async fn together<T>(
        &self,
        read: impl Future<Output = Result<T, ReadError>>,
    ) -> Result<T, ReadError> {
        self.transaction(|| at_once(read))
    }

    fn is_late(&self) -> bool {
        self.is_half_over()
    }

    async fn loaded(&self, ids: &[ExecutionId]) -> Result<(Vec<Summary>, usize), ReadError> {
        load(self, ids)
    }
}

/// Loads as many of `ids` as one read has time for, and says how many those are.
pub(in crate::sqlite) fn load(
    reader: &Reader,
    ids: &[ExecutionId],
) -> Result<(Vec<Summary>, usize), ReadError> {
    let mut summaries = Vec::with_capacity(ids.len());
    for (index, id) in ids.iter().enumerate() {
        if let Some(state) = execution::state(reader, *id)? {
            summaries.push(execution::summed_up(reader, *id, state)?);
        }
        if reader.is_half_over() {
            return Ok((summaries, index + 1));
        }
    }
    Ok((summaries, ids.len()))
}
