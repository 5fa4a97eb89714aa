//! Retrying a dead letter: a new execution, linked to the old one, in one commit with the
//! letter's change of status.

use std::sync::Arc;

use refire_core::dead_letter::{Case, LetterStatus, Obstacle, RetryFrom};
use refire_core::definition::StepId;
use refire_core::execution::event::TriggerKind;
use refire_core::execution::{Carried, Execution, Lineage, Start, StepStatus, Trigger};
use refire_core::id::{DlqId, ExecutionId};
use refire_core::json::Json;
use refire_core::limit;
use refire_store::{LetterRetry, LetterRow, Part, PartOutcome, ReadError};

use crate::catalog::{CatalogError, Definition};
use crate::commit::{Admitted, CommitFailure};
use crate::context::Context;
use crate::entropy;
use crate::intake::{Drafted, NEWER_MAX};
use crate::vital::Vital;

/// A person's wish to retry a dead letter.
#[derive(Debug, Clone)]
pub struct LetterRetryRequest {
    /// The letter.
    pub letter: DlqId,
    /// An edited input; absent = the original one.
    pub input: Option<Json>,
    /// Where to begin.
    pub from: RetryFrom,
    /// The definition's version, if not the one that `from` says.
    pub version: Option<u32>,
    /// Whether the workflow's automatic retries apply.
    pub retries: bool,
    /// Who.
    pub by: String,
}

/// Why a dead letter was not retried.
#[derive(Debug, thiserror::Error)]
pub enum LetterRetryError {
    /// There is no such letter.
    #[error("there is no such dead letter")]
    NotFound,
    /// It is not pending.
    #[error("the dead letter is {}, not pending", .0.name())]
    NotPending(LetterStatus),
    /// It could not work.
    #[error("{0}")]
    CannotWork(Obstacle),
    /// An output that the retry would go on from is not in the store.
    #[error(
        "the database holds something unreadable: the output of step {step} of {execution} is \
         missing; a retry from the start does not need it"
    )]
    MissingOutput {
        /// The completed step.
        step: StepId,
        /// The execution that made it.
        execution: ExecutionId,
    },
    /// The definition could not be had.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It could not be committed.
    #[error(transparent)]
    Commit(#[from] CommitFailure),
}

/// Dead letters.
pub struct Letters(Arc<Context>);

impl Letters {
    pub(crate) fn open(context: &Arc<Context>, _: &Vital) -> Arc<Self> {
        Arc::new(Self(Arc::clone(context)))
    }

    /// Gives a dead letter up.
    pub async fn delete(&self, id: DlqId, by: &str) -> Result<PartOutcome, CommitFailure> {
        let by = by.to_owned();
        self.0.queue.part(Part::DeleteLetter { id, by }).await
    }

    /// Retries a dead letter; the new execution is durable when this returns.
    pub async fn retry(
        &self,
        request: LetterRetryRequest,
    ) -> Result<ExecutionId, LetterRetryError> {
        let letter = self
            .0
            .store
            .letter(request.letter)
            .await?
            .ok_or(LetterRetryError::NotFound)?;
        if letter.state.status != LetterStatus::Pending {
            return Err(LetterRetryError::NotPending(letter.state.status));
        }
        for _ in 0..NEWER_MAX {
            if let Some(id) = self.try_retry(&request, &letter).await? {
                return Ok(id);
            }
        }
        Err(CommitFailure::Contended.into())
    }

    /// Commits a retry; none if another node has saved a newer definition meanwhile.
    async fn try_retry(
        &self,
        request: &LetterRetryRequest,
        letter: &LetterRow,
    ) -> Result<Option<ExecutionId>, LetterRetryError> {
        let (definition, draft) = self.draft(request, letter).await?;
        let id = draft.id;
        match self.0.commit_draft(draft).await? {
            Admitted::New(_) => Ok(Some(id)),
            Admitted::NotNewest | Admitted::TriggerMoved | Admitted::GroupsMoved => {
                self.0.catalog.forget(&definition.workflow.id);
                Ok(None)
            }
            // Somebody was faster, or it is a defect of ours; either way nothing was started.
            Admitted::LetterNotPending(Some(status)) => Err(LetterRetryError::NotPending(status)),
            Admitted::NoSuchWorkflow => {
                Err(LetterRetryError::CannotWork(Obstacle::WorkflowDeleted))
            }
            Admitted::LetterNotPending(None) | Admitted::Duplicate { .. } | Admitted::ItemDone => {
                Err(LetterRetryError::NotFound)
            }
        }
    }

    /// Decides a retry of a letter that is pending, and the definition by which it does.
    pub(crate) async fn draft(
        &self,
        request: &LetterRetryRequest,
        letter: &LetterRow,
    ) -> Result<(Definition, Drafted), LetterRetryError> {
        let (definition, begin) = self.prepare_retry(request, letter).await?;
        let claim = LetterRetry {
            id: letter.id,
            by: request.by.clone(),
            expected_generation: letter.state.generation,
            generation: letter.state.generation.max(begin.lineage.generation),
            from: request.from,
            edited: begin.input != letter.input,
        };
        // People fix the workflow, then retry: what they fixed must run, whichever node they ask.
        let is_newest = request.version.is_none() && request.from == RetryFrom::Start;
        let (context, retry) = (&self.0, Some(claim));
        let draft = context.decide_admission(&definition, begin, None, retry);
        let draft = draft
            .await
            .only_newest(is_newest && context.store.is_shared());
        Ok((definition, draft))
    }

    /// What stands in the way of a retry from there. `failed` is the letter's execution.
    pub async fn obstacle(
        &self,
        letter: &LetterRow,
        failed: &Execution,
        from: RetryFrom,
    ) -> Result<Option<Obstacle>, ReadError> {
        let workflow = self.0.store.workflow(&letter.workflow).await?;
        let live = workflow.filter(|workflow| workflow.deleted_at.is_none());
        let case = Case {
            reason: letter.reason,
            has_failed_step: letter.step.is_some(),
            failed,
            newest: live.map(|workflow| workflow.version),
        };
        Ok(case.obstacle(from))
    }

    async fn prepare_retry(
        &self,
        request: &LetterRetryRequest,
        letter: &LetterRow,
    ) -> Result<(Definition, Start), LetterRetryError> {
        let original = self
            .0
            .store
            .execution(letter.execution)
            .await?
            .ok_or(LetterRetryError::NotFound)?;
        let origin = original
            .state
            .origin
            .as_ref()
            .ok_or(LetterRetryError::NotFound)?;
        let obstacle = self.obstacle(letter, &original.state, request.from).await?;
        if let Some(obstacle) = obstacle.filter(|obstacle| obstacle.is_certain()) {
            return Err(LetterRetryError::CannotWork(obstacle));
        }
        let version = match (request.version, request.from) {
            (Some(version), _) => Some(version),
            (None, RetryFrom::FailedStep) => Some(origin.workflow_version),
            (None, RetryFrom::Start) => None,
        };
        let definition = match version {
            Some(version) => Definition {
                version,
                workflow: self.0.catalog.version(&origin.workflow, version).await?,
            },
            None => self
                .0
                .catalog
                .newest(&origin.workflow)
                .await?
                .ok_or(LetterRetryError::CannotWork(Obstacle::WorkflowDeleted))?,
        };
        let carried = match request.from {
            RetryFrom::Start => Vec::new(),
            RetryFrom::FailedStep => self.carried(letter, &original.state).await?,
        };
        let edited = request
            .input
            .as_ref()
            .is_some_and(|input| *input != letter.input);
        let is_new_work = edited || request.from == RetryFrom::Start;
        // The same work repeated keeps its key at the targets; new work gets one that neither the
        // original nor an earlier retry of this letter has used.
        let generation = if is_new_work {
            letter
                .state
                .generation
                .max(origin.lineage.generation)
                .saturating_add(1)
        } else {
            origin.lineage.generation
        };
        let now = self.0.now();
        let id = entropy::execution_id(&*self.0.entropy, now);
        let seed = entropy::seed(&*self.0.entropy);
        let input = request.input.as_ref().unwrap_or(&letter.input).clone();
        let begin = Start {
            workflow_version: definition.version,
            trigger: Trigger {
                kind: TriggerKind::ManualDlqRetry,
                id: origin.trigger.id.clone(),
                by: Some(request.by.clone()),
                scheduled_at: origin.trigger.scheduled_at,
                cycle: origin.trigger.cycle,
                // A slot that a person brings to a good end has one.
                awaits_end: origin.trigger.awaits_end,
            },
            priority: origin.priority.min(limit::PRIORITY_LAST),
            lineage: Lineage {
                parent: Some(letter.execution),
                root: origin.lineage.root,
                letter: Some(letter.id),
                generation,
            },
            automatic_retries: request.retries,
            retry: origin.retry.clone(),
            trace: origin.trace.clone(),
            carried,
            ..Start::plain(id, seed, input)
        };
        Ok((definition, begin))
    }

    async fn carried(
        &self,
        letter: &LetterRow,
        original: &Execution,
    ) -> Result<Vec<Carried>, LetterRetryError> {
        let done = original.completed_order.iter().filter_map(|id| {
            let step = original.step(id)?;
            let sequence = step.output.map(|output| output.sequence);
            (step.status == StepStatus::Completed).then_some((id, sequence))
        });
        let done: Vec<(&StepId, Option<u64>)> = done.collect();
        let sequences: Vec<u64> = done.iter().filter_map(|(_, sequence)| *sequence).collect();
        let values = self.0.store.values(letter.execution, &sequences).await?;
        done.into_iter()
            .map(|(step, sequence)| {
                let value = values.iter().find(|(found, _)| Some(*found) == sequence);
                // A step that is left out would run again, as if it had never been done.
                let (_, output) = value.ok_or_else(|| LetterRetryError::MissingOutput {
                    step: step.clone(),
                    execution: letter.execution,
                })?;
                Ok(Carried {
                    step: step.clone(),
                    output: output.clone(),
                    from: letter.execution,
                })
            })
            .collect()
    }
}
