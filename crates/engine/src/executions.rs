//! Executions: started, waited for, steered, replayed.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use refire_core::definition::{ParseOptions, Problems, Workflow, WorkflowId};
use refire_core::execution::replay::{Replay, replay};
use refire_core::execution::{Command, Event, EventRow, Execution, Lineage, Start, Trigger};
use refire_core::id::ExecutionId;
use refire_core::limit;
use refire_store::{EventFilter, LIMIT_MAX, ReadError, Stored};

use crate::catalog::CatalogError;
use crate::commit::{Admitted, CommandError, CommitFailure};
use crate::context::Context;
use crate::entropy;
use crate::intake::{Drafted, IntakeError, NEWER_MAX, Submission};
use crate::vital::Vital;

/// Whoever waits for an end looks for itself where another node may bring it, first after this.
const ENDED_LOOK_MIN: Duration = Duration::from_millis(20);
/// And at the latest after this.
const ENDED_LOOK_MAX: Duration = Duration::from_secs(1);

/// The executions of workflows.
pub struct Executions(Arc<Context>);

/// What became of a submission.
#[derive(Debug, Clone, PartialEq)]
pub enum Accepted {
    /// A new execution, durable.
    New {
        /// Its id.
        id: ExecutionId,
        /// Its state.
        state: Arc<Execution>,
    },
    /// The idempotency key has an execution already.
    Duplicate {
        /// That execution.
        id: ExecutionId,
        /// Whether it was started with another input.
        body_differs: bool,
    },
}

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

/// Why an execution was not run again.
#[derive(Debug, thiserror::Error)]
pub enum RunAgainError {
    /// There is no such execution.
    #[error("there is no such execution")]
    NotFound,
    /// Its workflow was deleted.
    #[error("its workflow `{0}` was deleted")]
    NoSuchWorkflow(WorkflowId),
    /// Its input is not in the store.
    #[error("the database holds something unreadable: its input is missing")]
    NoInput,
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

impl Executions {
    pub(crate) fn open(context: &Arc<Context>, _: &Vital) -> Arc<Self> {
        Arc::new(Self(Arc::clone(context)))
    }

    /// Starts an execution. When this returns, it is durable.
    pub async fn submit(&self, submission: Submission) -> Result<Accepted, IntakeError> {
        let draft = self.0.draft(submission).await?;
        let id = draft.id;
        Ok(accepted(id, self.0.commit_draft(draft).await?)?)
    }

    /// Starts an execution and waits for its end, at most so long. The second part is what it
    /// ended as, if it did in time and could be read.
    pub async fn submit_and_wait(
        &self,
        submission: Submission,
        wait: Duration,
    ) -> Result<(Accepted, Option<Stored>), IntakeError> {
        let accepted = self.submit(submission).await?;
        let (Accepted::New { id, .. } | Accepted::Duplicate { id, .. }) = &accepted;
        // It is accepted, whatever comes of looking for its end: an error here would say that
        // nothing was written.
        let stored = self.wait(*id, wait).await.unwrap_or_else(|error| {
            tracing::error!(error = &error as &dyn Error, "waiting for an end");
            None
        });
        Ok((
            accepted,
            stored.filter(|stored| stored.state.status.is_terminal()),
        ))
    }

    /// Starts many executions in one commit; a result for each, in order.
    pub async fn submit_all(
        &self,
        submissions: Vec<Submission>,
    ) -> Vec<Result<Accepted, IntakeError>> {
        let mut ids = Vec::with_capacity(submissions.len());
        let mut drafts = Vec::with_capacity(submissions.len());
        for submission in submissions {
            let draft = self.0.draft(submission).await;
            ids.push(draft.map(|draft| {
                drafts.push(draft);
                drafts[drafts.len() - 1].id
            }));
        }
        let answers = self.0.commit_drafts(drafts).await;
        let mut answers = answers.map(Vec::into_iter);
        let result = |id: Result<ExecutionId, IntakeError>| {
            let id = id?;
            let answer = match &mut answers {
                Ok(answers) => answers.next().unwrap_or(Err(CommitFailure::Stopping)),
                Err(failure) => Err(failure.clone()),
            };
            Ok(accepted(id, answer?)?)
        };
        ids.into_iter().map(result).collect()
    }

    /// Waits for an execution's end, at most so long; what it is then. None: there is none.
    pub async fn wait(&self, id: ExecutionId, wait: Duration) -> Result<Option<Stored>, ReadError> {
        // Registered before the look, so that an end in between is not missed.
        let waiting = self.0.waiters.register(id);
        let stored = self.0.store.execution(id).await?;
        if stored
            .as_ref()
            .is_some_and(|stored| !stored.state.status.is_terminal())
        {
            tokio::select! {
                biased;
                () = waiting.ended() => {}
                () = self.ended_elsewhere(id) => {}
                // Nothing ends any more.
                () = self.0.broken.cancelled() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
        self.0.store.execution(id).await
    }

    /// Returns when another node has brought an execution to its end.
    async fn ended_elsewhere(&self, id: ExecutionId) {
        if !self.0.store.is_shared() {
            std::future::pending::<()>().await;
        }
        let mut pause = ENDED_LOOK_MIN;
        loop {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(ENDED_LOOK_MAX);
            if let Ok(Some(stored)) = self.0.store.execution(id).await
                && stored.state.status.is_terminal()
            {
                return;
            }
        }
    }

    /// Pauses, resumes or cancels an execution.
    pub async fn command(
        &self,
        id: ExecutionId,
        command: Command,
    ) -> Result<Arc<Execution>, CommandError> {
        let asked = self.0.command(id, command, None, None).await;
        asked.map_err(CommitFailure::from)?.answer().await
    }

    /// Runs an execution again: a new one with the same input, by the newest definition. When this returns,
    /// it is durable.
    pub async fn run_again(&self, id: ExecutionId, by: &str) -> Result<ExecutionId, RunAgainError> {
        self.0.is_open()?;
        for _ in 0..NEWER_MAX {
            let draft = self.draft_again(id, by).await?;
            let (new, workflow) = (draft.id, draft.workflow().clone());
            match self.0.commit_draft(draft).await? {
                Admitted::NotNewest => self.0.catalog.forget(&workflow),
                Admitted::NoSuchWorkflow => return Err(RunAgainError::NoSuchWorkflow(workflow)),
                admitted => return accepted(new, admitted).map(|_| new).map_err(Into::into),
            }
        }
        Err(CommitFailure::Contended.into())
    }

    /// Decides the same.
    pub(crate) async fn draft_again(
        &self,
        id: ExecutionId,
        by: &str,
    ) -> Result<Drafted, RunAgainError> {
        let context = &self.0;
        let stored = context.store.execution(id).await?;
        let stored = stored.ok_or(RunAgainError::NotFound)?;
        let origin = stored.state.origin.as_ref();
        let origin = origin.ok_or(RunAgainError::NotFound)?;
        let mut input = context.store.values(id, &[origin.input.sequence]).await?;
        let (_, input) = input.pop().ok_or(RunAgainError::NoInput)?;
        let definition = context.catalog.newest(&origin.workflow).await?;
        let missing = || RunAgainError::NoSuchWorkflow(origin.workflow.clone());
        let definition = definition.ok_or_else(missing)?;
        let now = context.now();
        let new = entropy::execution_id(&*context.entropy, now);
        let seed = entropy::seed(&*context.entropy);
        let plain = Start::plain(new, seed, input);
        let begin = Start {
            workflow_version: definition.version,
            trigger: Trigger::manual(Some(by.to_owned())),
            priority: origin.priority.min(limit::PRIORITY_LAST),
            // New work, with keys of its own at the targets.
            lineage: Lineage {
                parent: Some(id),
                ..plain.lineage.clone()
            },
            retry: origin.retry.clone(),
            ..plain
        };
        let draft = context.decide_admission(&definition, begin, None, None);
        Ok(draft.await.only_newest(context.store.is_shared()))
    }

    /// An execution's whole log.
    pub async fn log(&self, id: ExecutionId) -> Result<Vec<Event>, ReplayError> {
        let rows = self.history(id).await?;
        if rows.is_empty() {
            return Err(ReplayError::NotFound);
        }
        Ok(rows.iter().map(Event::decode).collect::<Result<_, _>>()?)
    }

    /// The same as it is stored; empty if there is no such execution.
    pub async fn history(&self, id: ExecutionId) -> Result<Vec<EventRow>, ReadError> {
        let (store, all, mut rows) = (&self.0.store, EventFilter::default(), Vec::new());
        loop {
            let after = rows.last().map_or(0, |row: &EventRow| row.sequence);
            let page = store.history(id, &all, after, LIMIT_MAX).await?;
            let is_last = page.len() < LIMIT_MAX as usize;
            rows.extend(page);
            if is_last {
                return Ok(rows);
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
            .0
            .store
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
                Arc::new(Workflow::parse(source, &options).map_err(ReplayError::Invalid)?)
            }
            None => self.0.catalog.of(origin).await?,
        };
        let aside = &self.0.aside;
        Ok(aside.run(usize::MAX, move || replay(&workflow, &log)).await)
    }
}

pub(crate) fn accepted(id: ExecutionId, admitted: Admitted) -> Result<Accepted, CommitFailure> {
    match admitted {
        Admitted::New(state) => Ok(Accepted::New { id, state }),
        Admitted::Duplicate {
            execution,
            body_differs,
        } => Ok(Accepted::Duplicate {
            id: execution,
            body_differs,
        }),
        Admitted::NoSuchWorkflow => Err(CommitFailure::Gone),
        Admitted::NotNewest | Admitted::TriggerMoved | Admitted::GroupsMoved => {
            Err(CommitFailure::Contended)
        }
        Admitted::LetterNotPending(_) | Admitted::ItemDone => Err(CommitFailure::Internal(
            "an admission without a letter spoke of one".to_owned(),
        )),
    }
}
