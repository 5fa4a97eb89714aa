//! Compiled definitions at hand: the newest of each workflow, and the versions that open
//! executions keep.

use std::collections::HashMap;
use std::sync::Arc;

use refire_core::definition::{ParseOptions, Workflow, WorkflowId};
use refire_core::execution::state::Origin;
use refire_store::{ReadError, Store};

use crate::lock::Mutex;

/// Versions kept compiled; more are compiled again when they are needed.
const VERSIONS_MAX: usize = 2_000;

/// A compiled definition and its version.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The version.
    pub version: u32,
    /// The compiled workflow.
    pub workflow: Arc<Workflow>,
}

/// Compiled definitions.
pub struct Catalog {
    store: Arc<dyn Store>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// The newest version of workflows that exist.
    newest: HashMap<WorkflowId, Definition>,
    versions: HashMap<(WorkflowId, u32), Arc<Workflow>>,
    /// Grows with every change, so that what was read before one is not kept after it.
    changes: u64,
}

/// Why a definition could not be had.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The store did not answer.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// There is none.
    #[error("no version {version} of workflow {workflow} is stored")]
    Missing {
        /// The workflow.
        workflow: WorkflowId,
        /// The version.
        version: u32,
    },
    /// It was stored by a build with other rules and cannot be read by this one.
    #[error("version {version} of workflow {workflow} cannot be read: {problem}")]
    Unreadable {
        /// The workflow.
        workflow: WorkflowId,
        /// The version.
        version: u32,
        /// The first problem.
        problem: String,
    },
}

impl Catalog {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            known: Mutex::default(),
        }
    }

    /// The newest version of a workflow; none if it does not exist or was deleted.
    pub async fn newest(&self, id: &WorkflowId) -> Result<Option<Definition>, CatalogError> {
        let changes = {
            let known = self.known.lock();
            if let Some(known) = known.newest.get(id) {
                return Ok(Some(known.clone()));
            }
            known.changes
        };
        let Some(row) = self.store.workflow(id).await? else {
            return Ok(None);
        };
        if row.deleted_at.is_some() {
            return Ok(None);
        }
        let workflow = self.version(id, row.version).await?;
        let definition = Definition {
            version: row.version,
            workflow,
        };
        let mut known = self.known.lock();
        if known.changes == changes {
            known.newest.insert(id.clone(), definition.clone());
        }
        Ok(Some(definition))
    }

    /// One version of a workflow, also of a deleted one.
    pub async fn version(
        &self,
        id: &WorkflowId,
        version: u32,
    ) -> Result<Arc<Workflow>, CatalogError> {
        let key = (id.clone(), version);
        if let Some(known) = self.known.lock().versions.get(&key) {
            return Ok(Arc::clone(known));
        }
        let missing = || CatalogError::Missing {
            workflow: id.clone(),
            version,
        };
        let row = self.store.version(id, version).await?.ok_or_else(missing)?;
        let options = ParseOptions {
            expected_id: Some(id.as_ref()),
            local_tasks: None,
            stored: true,
        };
        let workflow = Workflow::parse(&row.source, &options).map_err(|problems| {
            let problem = problems
                .iter()
                .next()
                .map(ToString::to_string)
                .unwrap_or_default();
            CatalogError::Unreadable {
                workflow: id.clone(),
                version,
                problem,
            }
        })?;
        let workflow = Arc::new(workflow);
        let mut known = self.known.lock();
        if known.versions.len() >= VERSIONS_MAX {
            // Rare, and cheap to fill again.
            known.versions.clear();
        }
        known.versions.insert(key, Arc::clone(&workflow));
        Ok(workflow)
    }

    /// The definition that an execution began with.
    pub async fn of(&self, origin: &Origin) -> Result<Arc<Workflow>, CatalogError> {
        self.version(&origin.workflow, origin.workflow_version)
            .await
    }

    /// The number of changes so far, for [`Catalog::saved`].
    pub(crate) fn changes(&self) -> u64 {
        self.known.lock().changes
    }

    /// A definition was saved. It is the newest, unless another change came in between: then the
    /// store knows which is.
    pub(crate) fn saved(&self, definition: &Definition, changes: u64) {
        let mut known = self.known.lock();
        let id = &definition.workflow.id;
        if known.changes == changes {
            known.newest.insert(id.clone(), definition.clone());
        } else {
            known.newest.remove(id);
        }
        known.changes += 1;
    }

    /// It was deleted, or another node saved it: the store knows which is the newest, if any.
    pub(crate) fn forget(&self, id: &WorkflowId) {
        let mut known = self.known.lock();
        known.newest.remove(id);
        known.changes += 1;
    }

    /// Anything may have been saved or deleted by others.
    pub(crate) fn forget_all(&self) {
        let mut known = self.known.lock();
        known.newest.clear();
        known.changes += 1;
    }
}
