//! Questions to the engine that need both the store and the definitions.

use refire_core::definition::{ParseOptions, Problems, Workflow};
use refire_core::execution::Event;
use refire_core::execution::replay::{Replay, replay};
use refire_core::id::ExecutionId;
use refire_store::{EventFilter, LIMIT_MAX, ReadError};

use super::Engine;
use crate::catalog::CatalogError;

/// Why an execution could not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// There is no such execution.
    #[error("there is no such execution")]
    NotFound,
    /// The definition to replay against is not valid.
    #[error("the definition has {} problem(s)", .0.len())]
    Invalid(Problems),
    /// The definition could not be had.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An event cannot be read.
    #[error(transparent)]
    Codec(#[from] refire_core::execution::CodecError),
}

impl Engine {
    /// An execution's whole log.
    pub async fn log(&self, id: ExecutionId) -> Result<Vec<Event>, ReplayError> {
        let mut log = Vec::new();
        loop {
            let after = log.len() as u64;
            let rows = self
                .store()
                .history(id, &EventFilter::default(), after, LIMIT_MAX)
                .await?;
            if rows.is_empty() {
                return if log.is_empty() {
                    Err(ReplayError::NotFound)
                } else {
                    Ok(log)
                };
            }
            for row in &rows {
                log.push(Event::decode(row)?);
            }
        }
    }

    /// Derives every decision of an execution again, under its own definition or (the replay
    /// lab) under another. Starts nothing.
    pub async fn replay(
        &self,
        id: ExecutionId,
        definition: Option<&str>,
    ) -> Result<Replay, ReplayError> {
        let log = self.log(id).await?;
        let stored = self
            .store()
            .execution(id)
            .await?
            .ok_or(ReplayError::NotFound)?;
        let origin = stored.state.origin.as_ref().ok_or(ReplayError::NotFound)?;
        let workflow = match definition {
            Some(source) => {
                let options = ParseOptions {
                    expected_id: Some(origin.workflow.as_ref()),
                    local_tasks: None,
                    // It may be an older version of the same workflow, and nothing is called.
                    stored: true,
                };
                std::sync::Arc::new(
                    Workflow::parse(source, &options).map_err(ReplayError::Invalid)?,
                )
            }
            None => {
                self.catalog()
                    .version(&origin.workflow, origin.workflow_version)
                    .await?
            }
        };
        let aside = &self.dispatcher.commands.aside;
        Ok(aside.run(usize::MAX, move || replay(&workflow, &log)).await)
    }
}
