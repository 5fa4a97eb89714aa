//! Definitions: checked, saved, deleted.

use std::sync::Arc;

use refire_core::definition::{
    Mark, ParseOptions, Problem, Problems, StepId, Workflow, WorkflowId, canonical, content_hash,
};
use refire_core::id::ScheduledTaskId;
use refire_core::time::Timestamp;
use refire_store::{News, Part, PartOutcome, PutWorkflow, ReadError, WorkflowRow};

use crate::catalog::Definition;
use crate::commit::CommitFailure;
use crate::context::Context;
use crate::search::Search;
use crate::secret::SECRET_BYTES_MIN;
use crate::step::{Clients, NO_MASTER_KEY};
use crate::vital::Vital;

/// The definitions of workflows.
pub struct Definitions(Arc<Context>);

/// Why a definition was not saved.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// It is not a valid definition.
    #[error("the definition has {} problem(s)", .0.len())]
    Invalid(Problems),
    /// The newest version is not the one that it was to take the place of.
    #[error("the workflow has another version than was expected")]
    Changed,
    /// It could not be committed.
    #[error(transparent)]
    Commit(#[from] CommitFailure),
}

/// A saved definition.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The definition and its version.
    pub definition: Definition,
    /// Whether the content is new.
    pub created: bool,
}

/// In which order workflows are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum WorkflowOrder {
    /// By name.
    #[default]
    Name,
    /// The last saved first.
    Change,
}

/// What became of a wish to delete a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// Done.
    Done,
    /// There is none.
    NotFound,
    /// So many executions are open.
    Open(u64),
}

impl Definitions {
    pub(crate) fn open(context: &Arc<Context>, _: &Vital) -> Arc<Self> {
        Arc::new(Self(Arc::clone(context)))
    }

    /// Reads, checks and saves a definition; equal content makes no new version.
    pub async fn apply(
        &self,
        source: &str,
        expected_id: Option<&str>,
        by: &str,
    ) -> Result<Applied, ApplyError> {
        self.apply_over(source, expected_id, by, None).await
    }

    /// The same, if this is the newest version; 0 = if there is none.
    pub async fn apply_over(
        &self,
        source: &str,
        expected_id: Option<&str>,
        by: &str,
        expected: Option<u32>,
    ) -> Result<Applied, ApplyError> {
        let workflow = self
            .check(source, expected_id)
            .map_err(ApplyError::Invalid)?;
        let content = canonical(source, Some(workflow.id.as_ref()))
            .map_err(|problem| ApplyError::Invalid(problem.into()))?;
        let put = PutWorkflow {
            id: workflow.id.clone(),
            name: workflow.name.clone(),
            content_hash: content_hash(&content),
            source: source.to_owned(),
            by: by.to_owned(),
            expected,
        };
        let changes = self.0.catalog.changes();
        match self.0.queue.part(Part::PutWorkflow(Box::new(put))).await? {
            PartOutcome::Saved { version, created } => {
                let definition = Definition {
                    version,
                    workflow: Arc::new(workflow),
                };
                self.0.catalog.saved(&definition, changes);
                self.0
                    .store
                    .tell(News::Definition(definition.workflow.id.clone()));
                Ok(Applied {
                    definition,
                    created,
                })
            }
            PartOutcome::NotNewest => Err(ApplyError::Changed),
            other => Err(CommitFailure::unexpected("outcome", &other).into()),
        }
    }

    /// Workflows in an order, behind one of them; with words in their id or name, if some are given.
    pub async fn list(
        &self,
        order: WorkflowOrder,
        words: Option<&str>,
        behind: Option<(Timestamp, WorkflowId)>,
        limit: u32,
    ) -> Result<Vec<WorkflowRow>, ReadError> {
        let (mut search, mut behind) = (Search::new(words, limit), behind);
        loop {
            let (store, asked) = (&self.0.store, search.asked());
            let page = match order {
                WorkflowOrder::Name => {
                    let after = behind.as_ref().map(|(_, id)| id);
                    store.workflows(after, asked).await?
                }
                WorkflowOrder::Change => store.workflows_by_change(behind.as_ref(), asked).await?,
            };
            behind = page.last().map(|row| (row.updated_at, row.id.clone()));
            let has = |row: &WorkflowRow, words: &str| {
                let texts = [row.id.as_str(), row.name.as_str()];
                texts.iter().any(|text| text.to_lowercase().contains(words))
            };
            if !search.goes_on(page, has) {
                return Ok(search.found());
            }
        }
    }

    /// Reads and checks a definition without saving it.
    pub fn check(&self, source: &str, expected_id: Option<&str>) -> Result<Workflow, Problems> {
        let is_registered = |name: &str| self.0.clients.local.contains(name);
        let options = ParseOptions {
            expected_id,
            local_tasks: Some(&is_registered),
            stored: false,
        };
        let workflow = Workflow::parse(source, &options)?;
        if is_of_task(&workflow.id) {
            let message = "such names belong to scheduled tasks";
            let problem = Problem::new("id", Mark::START, message);
            return Err(problem.with_hint("choose another name").into());
        }
        Ok(workflow)
    }

    /// What is allowed but probably not meant, one sentence each; also secrets that its steps need
    /// and this node does not have.
    #[must_use]
    pub fn notes(&self, workflow: &Workflow) -> Vec<String> {
        let mut notes = workflow.notes();
        for (step, note) in secret_notes(&self.0.clients, workflow) {
            notes.push(format!("step \"{step}\": {note}"));
        }
        let first = workflow.with_callbacks().next();
        if let Some(step) = first.filter(|_| !self.0.clients.issuer.has_key()) {
            notes.push(format!("step \"{}\": {NO_MASTER_KEY}", step.id));
        }
        notes
    }

    /// Deletes a workflow; its executions and dead letters stay.
    pub async fn delete(&self, id: &WorkflowId) -> Result<Deleted, CommitFailure> {
        if is_of_task(id) {
            return Ok(Deleted::NotFound);
        }
        match self
            .0
            .queue
            .part(Part::DeleteWorkflow { id: id.clone() })
            .await?
        {
            PartOutcome::Done => {
                self.0.catalog.forget(id);
                self.0.announce(News::Definition(id.clone()));
                Ok(Deleted::Done)
            }
            PartOutcome::OpenExecutions(open) => Ok(Deleted::Open(open)),
            _ => Ok(Deleted::NotFound),
        }
    }
}

/// Whether a workflow belongs to a scheduled task, which alone changes it.
pub(crate) fn is_of_task(id: &WorkflowId) -> bool {
    id.as_str().parse::<ScheduledTaskId>().is_ok()
}

/// The secrets that steps need and this node does not have, each with the step.
pub(crate) fn secret_notes(clients: &Clients, workflow: &Workflow) -> Vec<(StepId, String)> {
    let mut notes = Vec::new();
    for (step, name) in workflow.secrets() {
        let trouble = match clients.secrets.get(name) {
            None => "is not set",
            Some(value) if value.len() < SECRET_BYTES_MIN => "is too short to be used",
            Some(_) => continue,
        };
        let note = format!(
            "the secret `{name}` {trouble}; set REFIRE_SECRET_{name} in the server's environment"
        );
        notes.push((step.clone(), note));
    }
    notes
}
