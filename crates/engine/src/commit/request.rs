//! What is put into the commit queue, and what comes back.

use std::error::Error;
use std::sync::Arc;

use refire_core::definition::Workflow;
use refire_core::execution::{Command, Decision, Execution, Outcome, Refusal, Report};
use refire_core::id::ExecutionId;
use refire_store::{
    BulkItem, Fire, IdempotencyClaim, LetterRetry, MoveGroups, NotWritten, Part, PartOutcome,
    PutScheduled, ReadError, RequestRow, SeenTask, TriggerVersion,
};
use tokio::sync::oneshot;

use crate::catalog::CatalogError;
use crate::limit::Permit;

/// Where an answer goes; dropped when nobody waits for it.
pub(crate) type Reply<T> = Option<oneshot::Sender<T>>;

pub(crate) fn send<T>(reply: Reply<T>, answer: T) {
    if let Some(reply) = reply {
        // Whoever asked may have gone; the commit stands all the same.
        let _ = reply.send(answer);
    }
}

/// Whoever waits for a command's answer: where it goes, and the slot of the attempt whose result
/// the command is.
pub(crate) struct Asker {
    reply: Reply<Result<Arc<Execution>, Unsettled>>,
    permit: Option<Arc<Permit>>,
    /// The task that the command ends an attempt of, as the sender has seen it.
    seen: Option<SeenTask>,
}

/// Why a command changed nothing, or not yet.
#[derive(Debug)]
pub(crate) enum Unsettled {
    /// It does not.
    Not(CommandError),
    /// Deciding it means searching large payloads, which the committer does not do. The state that it
    /// would be decided on, and the command with all that it would be decided by.
    TooHeavy(Arc<Execution>, Box<Command>),
}

impl From<CommandError> for Unsettled {
    fn from(error: CommandError) -> Self {
        Self::Not(error)
    }
}

/// A decision that was worked out elsewhere. It counts if the execution still has that version.
pub(crate) struct Decided {
    pub(crate) version: u64,
    pub(crate) decision: Decision,
}

impl Asker {
    /// Frees the slot while the result is being committed, for what follows from it.
    pub(super) fn new(
        reply: Reply<Result<Arc<Execution>, Unsettled>>,
        permit: Option<Arc<Permit>>,
        seen: Option<SeenTask>,
    ) -> Self {
        permit.iter().for_each(|permit| permit.suspend());
        Self {
            reply,
            permit,
            seen,
        }
    }

    /// See [`Request::Command`].
    pub(super) fn seen(&self) -> Option<SeenTask> {
        self.seen
    }

    /// Answers, after the commit. A result that could not be committed, or not decided yet, waits,
    /// and what waits keeps its slot busy.
    pub(super) fn answer(self, answer: Result<Arc<Execution>, Unsettled>) {
        if let Err(Unsettled::Not(CommandError::Failed(_)) | Unsettled::TooHeavy(..)) = answer {
            self.permit.iter().for_each(|permit| permit.resume());
        }
        send(self.reply, answer);
    }

    /// Whether anybody listens.
    pub(super) fn listens(&self) -> bool {
        self.reply.is_some()
    }

    /// The same command again, for the next batch.
    pub(super) fn ask_again(self, id: ExecutionId, command: Command) -> Request {
        Request::Command {
            id,
            command: Box::new(command),
            known: None,
            decided: None,
            reply: self.reply,
            permit: self.permit,
            seen: self.seen,
        }
    }
}

/// Something to commit.
pub(crate) enum Request {
    /// Move an execution.
    Command {
        id: ExecutionId,
        command: Box<Command>,
        /// The state as the sender knows it, which saves reading it. It may be of the past: the
        /// version says so when it is written.
        known: Option<Arc<Execution>>,
        /// What it leads to, where the sender has worked that out.
        decided: Option<Box<Decided>>,
        reply: Reply<Result<Arc<Execution>, Unsettled>>,
        /// The slot of the attempt that this command ends.
        permit: Option<Arc<Permit>>,
        /// The task whose attempt it ends, as the sender has seen it: if it is not so any more, nothing is
        /// written.
        seen: Option<SeenTask>,
    },
    /// New executions, decided already (there is no earlier state to agree with) and committed
    /// together.
    Admit(Vec<AdmitRequest>),
    /// Anything else the store can write.
    Part {
        part: Part,
        reply: Reply<Result<PartOutcome, CommitFailure>>,
    },
}

/// A new execution.
pub(crate) struct AdmitRequest {
    pub(crate) id: ExecutionId,
    pub(crate) workflow: Arc<Workflow>,
    /// Boxed: a state is large, and a request is handed on often.
    pub(crate) decision: Box<Decision>,
    pub(crate) terms: AdmitTerms,
}

/// What is asked of the commit that makes a new execution durable.
#[derive(Default)]
pub(crate) struct AdmitTerms {
    pub(crate) claim: Option<IdempotencyClaim>,
    pub(crate) letter: Option<LetterRetry>,
    /// What of a bulk job it is for.
    pub(crate) bulk: Option<BulkItem>,
    /// Only if the definition is the workflow's newest still.
    pub(crate) only_newest: bool,
    pub(crate) cause: Option<Cause>,
    pub(crate) reply: Reply<Result<Admitted, CommitFailure>>,
}

/// What of a trigger starts an execution; it is committed with it.
#[derive(Debug, Clone)]
pub(crate) enum Cause {
    /// The trigger by which it was decided, and the request that is to be logged.
    Request {
        trigger: TriggerVersion,
        row: Option<Box<RequestRow>>,
    },
    /// A step of its plan, still without the execution.
    Fire(Box<Fire>),
    /// The scheduled task that begins with it, still without the execution.
    Scheduled(Box<PutScheduled>),
    /// Groups of notices that it is the message of, still without it.
    Told(Box<MoveGroups>),
}

/// What became of a new execution.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Admitted {
    /// It is durable.
    New(Arc<Execution>),
    /// Its idempotency key belongs to another one, which stands in its place.
    Duplicate {
        /// The execution that has the key.
        execution: ExecutionId,
        /// Whether it was started with another body.
        body_differs: bool,
    },
    /// The dead letter it would retry is not pending.
    LetterNotPending(Option<refire_core::dead_letter::LetterStatus>),
    /// Its workflow was deleted.
    NoSuchWorkflow,
    /// Its workflow has a newer version: it is to be decided again by that.
    NotNewest,
    /// Its trigger is not what it was decided by any more.
    TriggerMoved,
    /// The bulk job that it is for has done this already.
    ItemDone,
    /// The groups that it is the message of are not as they were seen.
    GroupsMoved,
}

/// Why a command changed nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CommandError {
    /// There is no such execution.
    #[error("there is no such execution")]
    NotFound,
    /// The execution's state does not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The task has changed since it was seen.
    #[error("the task has changed")]
    TaskMoved,
    /// It could not be committed.
    #[error(transparent)]
    Failed(#[from] CommitFailure),
}

/// Why something could not be committed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitFailure {
    /// Certainly nothing was written; try again later.
    #[error("the store is not available; nothing was written")]
    Unavailable,
    /// Certainly nothing was written: the disk is full.
    #[error("the disk is full; nothing was written")]
    DiskFull,
    /// The queue is full; nothing was written.
    #[error("too much is waiting to be committed; nothing was written")]
    Overloaded,
    /// The server is stopping; nothing was written.
    #[error("the server is stopping; nothing was written")]
    Stopping,
    /// Other nodes kept changing the execution.
    #[error("the execution is being changed by others; nothing was written")]
    Contended,
    /// It may or may not be durable: repeat it with the same idempotency key.
    #[error("the outcome is not known: it may have been accepted")]
    Unknown,
    /// The workflow was deleted meanwhile. Nothing was written.
    #[error("the workflow was deleted; nothing was written")]
    Gone,
    /// What it builds on is damaged in the store. Nothing was written.
    #[error("{0}; nothing was written")]
    Damaged(String),
    /// The database refuses this content. Nothing was written.
    #[error("internal error: the content cannot be stored: {0}")]
    Unstorable(String),
    /// A defect. Nothing was written.
    #[error("internal error: {0}")]
    Internal(String),
}

impl CommitFailure {
    pub(crate) fn read(error: &ReadError) -> Self {
        tracing::error!(error = error as &dyn Error, "a read failed");
        match error {
            ReadError::Unavailable(_) => Self::Unavailable,
            ReadError::Corrupt { .. } => Self::Damaged(error.to_string()),
            ReadError::File { .. } => Self::Internal(error.to_string()),
        }
    }

    pub(crate) fn catalog(error: CatalogError) -> Self {
        match error {
            CatalogError::Read(error) => Self::read(&error),
            CatalogError::Missing { .. } | CatalogError::Unreadable { .. } => {
                Self::Internal(error.to_string())
            }
        }
    }

    /// A defect: what the store, or the committer, says cannot be.
    pub(crate) fn unexpected(what: &str, said: &dyn std::fmt::Debug) -> Self {
        Self::Internal(format!("unexpected {what} {said:?}"))
    }

    pub(crate) fn not_written(reason: NotWritten, source: &dyn Error) -> Self {
        match reason {
            NotWritten::Unavailable | NotWritten::LeaseLost => Self::Unavailable,
            NotWritten::Full => Self::DiskFull,
            NotWritten::Statement => Self::Unstorable(in_words(source)),
        }
    }
}

/// An error with its causes.
#[must_use]
pub fn in_words(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        said = format!("{said}: {error}");
        cause = error.source();
    }
    said
}

impl Request {
    /// Answers without having committed anything.
    pub(crate) fn refuse(self, failure: &CommitFailure) {
        match self {
            Self::Command { reply, permit, .. } => {
                let error = CommandError::Failed(failure.clone());
                Asker {
                    reply,
                    permit,
                    seen: None,
                }
                .answer(Err(error.into()));
            }
            Self::Admit(all) => {
                for admit in all {
                    send(admit.terms.reply, Err(failure.clone()));
                }
            }
            Self::Part { reply, .. } => send(reply, Err(failure.clone())),
        }
    }

    /// The execution that it moves.
    pub(super) fn execution(&self) -> Option<ExecutionId> {
        match self {
            Self::Command { id, .. } => Some(*id),
            Self::Admit(_) | Self::Part { .. } => None,
        }
    }

    /// How many parts of a transaction it becomes.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Admit(all) => all.len(),
            Self::Command { .. } | Self::Part { .. } => 1,
        }
    }

    /// Roughly how many bytes it holds, for the queue's bound.
    pub(crate) fn bytes(&self) -> usize {
        /// A request without a payload.
        const SMALL: usize = 512;
        match self {
            Self::Admit(all) => all
                .iter()
                .map(|admit| SMALL + admit.decision.state.payloads.bytes())
                .sum(),
            Self::Command { command, .. } => match command.as_ref() {
                Command::Report(Report {
                    outcome: Outcome::Succeeded(output),
                    ..
                }) => SMALL + output.as_str().len(),
                _ => SMALL,
            },
            Self::Part { .. } => SMALL,
        }
    }
}
