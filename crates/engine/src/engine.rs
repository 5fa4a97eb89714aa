//! The engine: everything wired together, with a start and a stop.
//!
//! A program that embeds it opens a store, registers its tasks, starts the engine and runs
//! workflows; the server does nothing else.

mod build;
mod query;
mod stop;

use std::sync::Arc;
use std::time::Duration;

use refire_core::definition::{
    ParseOptions, Problems, Workflow, WorkflowId, canonical, content_hash,
};
use refire_core::execution::{Command, Execution};
use refire_core::id::{DlqId, ExecutionId, NodeId};
use refire_core::time::Timestamp;
use refire_store::{News, NodeRow, Part, PartOutcome, PutWorkflow, ReadError, Store, Stored};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::catalog::{Catalog, Definition};
use crate::clock::Clock;
use crate::commit::{Admitted, CommandError, CommitFailure, Queue, Request};
use crate::dispatch::Dispatcher;
use crate::entropy::Entropy;
use crate::intake::{Drafted, Intake, IntakeError, Submission};
use crate::limit::Slots;
use crate::membership::Membership;
use crate::secret::SECRET_BYTES_MIN;
use crate::trigger::{RequestLog, Webhooks};
use crate::vault::Vault;
use crate::waiter::Waiters;

pub use build::{Builder, StartError};
pub use query::ReplayError;

/// Whoever waits for an end looks for itself where another node may bring it, first after this.
const ENDED_LOOK_MIN: Duration = Duration::from_millis(20);
/// And at the latest after this.
const ENDED_LOOK_MAX: Duration = Duration::from_secs(1);

/// A running engine. Cheap to share behind an `Arc`.
pub struct Engine {
    membership: Arc<Membership>,
    store: Arc<dyn Store>,
    catalog: Arc<Catalog>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    queue: Queue,
    slots: Arc<Slots>,
    intake: Intake,
    waiters: Arc<Waiters>,
    dispatcher: Arc<Dispatcher>,
    vault: Option<Arc<Vault>>,
    request_log: RequestLog,
    /// How long the log has refused requests; none = for ever.
    requests_kept_for: Option<Duration>,
    /// Set first when the node stops: nothing new is admitted.
    closing: CancellationToken,
    broken: CancellationToken,
    threads: std::sync::Mutex<Option<build::Threads>>,
}

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

/// Why a definition was not saved.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// It is not a valid definition.
    #[error("the definition has {} problem(s)", .0.len())]
    Invalid(Problems),
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

impl Engine {
    /// An engine on this store.
    #[must_use]
    pub fn builder(store: Arc<dyn Store>) -> Builder {
        Builder::new(store)
    }

    /// Reads, checks and saves a definition; equal content makes no new version.
    pub async fn apply(
        &self,
        source: &str,
        expected_id: Option<&str>,
        by: &str,
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
        };
        let changes = self.catalog.changes();
        match self.part(Part::PutWorkflow(Box::new(put))).await? {
            PartOutcome::Saved { version, created } => {
                let definition = Definition {
                    version,
                    workflow: Arc::new(workflow),
                };
                self.catalog.saved(&definition, changes);
                self.store
                    .tell(News::Definition(definition.workflow.id.clone()));
                Ok(Applied {
                    definition,
                    created,
                })
            }
            other => Err(CommitFailure::Internal(format!("unexpected outcome {other:?}")).into()),
        }
    }

    /// Reads and checks a definition without saving it.
    pub fn check(&self, source: &str, expected_id: Option<&str>) -> Result<Workflow, Problems> {
        let is_registered = |name: &str| self.dispatcher.clients.local.contains(name);
        let options = ParseOptions {
            expected_id,
            local_tasks: Some(&is_registered),
            stored: false,
        };
        Workflow::parse(source, &options)
    }

    /// What is allowed but probably not meant, one sentence each; also secrets that its steps need
    /// and this node does not have.
    #[must_use]
    pub fn notes(&self, workflow: &Workflow) -> Vec<String> {
        let mut notes = workflow.notes();
        for (step, name) in workflow.secrets() {
            let trouble = match self.dispatcher.clients.secrets.get(name) {
                None => "is not set",
                Some(value) if value.len() < SECRET_BYTES_MIN => "is too short to be used",
                Some(_) => continue,
            };
            notes.push(format!(
                "step \"{step}\": the secret `{name}` {trouble}; set REFIRE_SECRET_{name} in the \
                 server's environment"
            ));
        }
        notes
    }

    /// Deletes a workflow; its executions and dead letters stay.
    pub async fn delete_workflow(&self, id: &WorkflowId) -> Result<Deleted, CommitFailure> {
        match self.part(Part::DeleteWorkflow { id: id.clone() }).await? {
            PartOutcome::Done => {
                self.catalog.deleted(id);
                self.webhooks().forget_all();
                self.store.tell(News::Definition(id.clone()));
                Ok(Deleted::Done)
            }
            PartOutcome::OpenExecutions(open) => Ok(Deleted::Open(open)),
            _ => Ok(Deleted::NotFound),
        }
    }

    /// Starts an execution. When this returns, it is durable.
    pub async fn submit(&self, submission: Submission) -> Result<Accepted, IntakeError> {
        let draft = self.draft(submission).await?;
        let id = draft.id;
        Ok(accepted(id, self.intake.commit(draft).await?)?)
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
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "waiting for an end"
            );
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
        let mut results = Vec::with_capacity(submissions.len());
        let mut drafts = Vec::with_capacity(submissions.len());
        for submission in submissions {
            // A place for each, filled in below for those that get as far as the commit.
            results.push(match self.draft(submission).await {
                Ok(draft) => {
                    drafts.push((results.len(), draft));
                    Err(CommitFailure::Stopping.into())
                }
                Err(error) => Err(error),
            });
        }
        let (places, drafts): (Vec<_>, Vec<_>) = drafts
            .into_iter()
            .map(|(place, draft)| ((place, draft.id), draft))
            .unzip();
        match self.intake.commit_all(drafts).await {
            Ok(answers) => {
                for ((place, id), answer) in places.into_iter().zip(answers) {
                    let answer = answer.and_then(|admitted| accepted(id, admitted));
                    results[place] = answer.map_err(IntakeError::from);
                }
            }
            Err(failure) => {
                for (place, _) in places {
                    results[place] = Err(failure.clone().into());
                }
            }
        }
        results
    }

    pub(crate) async fn draft(&self, submission: Submission) -> Result<Drafted, IntakeError> {
        self.is_open()?;
        self.intake.draft(submission).await
    }

    /// Waits for an execution's end, at most so long; what it is then. None: there is none.
    pub async fn wait(&self, id: ExecutionId, wait: Duration) -> Result<Option<Stored>, ReadError> {
        // Registered before the look, so that an end in between is not missed.
        let waiting = self.waiters.register(id);
        let stored = self.store.execution(id).await?;
        if stored
            .as_ref()
            .is_some_and(|stored| !stored.state.status.is_terminal())
        {
            tokio::select! {
                biased;
                () = waiting.ended() => {}
                () = self.ended_elsewhere(id) => {}
                // Nothing ends any more.
                () = self.broken.cancelled() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
        self.store.execution(id).await
    }

    /// Returns when another node has brought an execution to its end.
    async fn ended_elsewhere(&self, id: ExecutionId) {
        if !self.store.is_shared() {
            std::future::pending::<()>().await;
        }
        let mut pause = ENDED_LOOK_MIN;
        loop {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(ENDED_LOOK_MAX);
            if let Ok(Some(stored)) = self.store.execution(id).await
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
        let commands = &self.dispatcher.commands;
        let asked = commands.send(id, command, None, None).await;
        asked.map_err(CommitFailure::from)?.answer().await
    }

    /// Gives a dead letter up.
    pub async fn delete_letter(&self, id: DlqId, by: &str) -> Result<PartOutcome, CommitFailure> {
        self.part(Part::DeleteLetter {
            id,
            by: by.to_owned(),
        })
        .await
    }

    pub(crate) async fn part(&self, part: Part) -> Result<PartOutcome, CommitFailure> {
        let (reply, answer) = oneshot::channel();
        self.queue
            .result(Request::Part {
                part,
                reply: Some(reply),
            })
            .await?;
        answer.await.unwrap_or(Err(CommitFailure::Unknown))
    }

    pub(crate) fn is_open(&self) -> Result<(), CommitFailure> {
        if self.broken.is_cancelled() {
            Err(CommitFailure::Unavailable)
        } else if self.closing.is_cancelled() {
            Err(CommitFailure::Stopping)
        } else {
            Ok(())
        }
    }

    /// Whether new work is taken.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.is_open().is_ok() && self.membership.is_member()
    }

    /// Ends when the store's state is not known any more and the process must stop.
    pub async fn broken(&self) {
        self.broken.cancelled().await;
    }

    /// The store, for reading.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }

    /// Compiled definitions.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The nodes that share the store, the oldest first.
    pub async fn nodes(&self) -> Result<Vec<NodeRow>, ReadError> {
        self.membership.nodes().await
    }

    /// This node's id; another one after it lost its lease.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.membership.id()
    }

    /// Now, by the engine's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn vault(&self) -> Option<&Vault> {
        self.vault.as_deref()
    }

    pub(crate) fn webhooks(&self) -> &Webhooks {
        &self.dispatcher.webhooks
    }

    pub(crate) fn requests_kept_for(&self) -> Option<Duration> {
        self.requests_kept_for
    }

    pub(crate) fn request_log(&self) -> &RequestLog {
        &self.request_log
    }

    /// A trigger may be due earlier than was known.
    pub(crate) fn ring_triggers(&self) {
        self.dispatcher.trigger_bell.notify_one();
    }

    /// Attempts in flight on this node.
    #[must_use]
    pub fn running(&self) -> usize {
        self.dispatcher.running()
    }

    /// Work that this node had forgotten, by a defect of it, and found again. It should stay zero.
    #[must_use]
    pub fn found_again(&self) -> u64 {
        self.dispatcher.found_again()
    }

    /// Free dispatch slots of this node.
    #[must_use]
    pub fn free_slots(&self) -> u32 {
        self.slots.free()
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    pub(crate) fn entropy(&self) -> &dyn Entropy {
        self.entropy.as_ref()
    }

    pub(crate) fn intake(&self) -> &Intake {
        &self.intake
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
        Admitted::NotNewest | Admitted::TriggerMoved => Err(CommitFailure::Contended),
        Admitted::LetterNotPending(_) => Err(CommitFailure::Internal(
            "an admission without a letter spoke of one".to_owned(),
        )),
    }
}
