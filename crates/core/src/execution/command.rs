//! What may be asked of an execution that exists.

use super::decide::Mapping;
use crate::callback::{CallbackStatus, Noted};
use crate::definition::StepId;
use crate::failure::Failure;
use crate::id::NodeId;
use crate::json::Json;
use crate::time::Timestamp;

/// What may be asked. Starting one is not here: there is no earlier state to ask.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// An attempt ended.
    Report(Report),
    /// An attempt's node died.
    Lost(Lost),
    /// Nobody had the task of a failing execution, and nobody can fetch it any more.
    Retired {
        /// The step.
        step: StepId,
        /// The attempt.
        attempt: u32,
    },
    /// A target called back.
    Callback(Callback),
    /// Nobody called back in time.
    WindowOver {
        /// The step.
        step: StepId,
        /// The attempt.
        attempt: u32,
    },
    /// Nothing new shall start.
    Pause {
        /// The actor.
        by: Option<String>,
    },
    /// Go on.
    Resume {
        /// The actor.
        by: Option<String>,
    },
    /// Make retries that wait now.
    RetryNow(RetryNow),
    /// End it.
    Cancel(Cancel),
}

/// A wish not to wait for retries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetryNow {
    /// Of this step; absent = all that wait.
    pub step: Option<StepId>,
    /// The actor.
    pub by: Option<String>,
}

/// A wish to end an execution.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cancel {
    /// The actor.
    pub by: Option<String>,
    /// Undo completed steps first.
    pub compensate: bool,
    /// The attempts that are in flight and will be aborted, as the rows of work and tasks say.
    pub begun: Vec<Begun>,
}

impl Cancel {
    /// Wished for by this actor, with nothing in flight as far as is known.
    #[must_use]
    pub fn by(by: Option<String>) -> Self {
        Self {
            by,
            ..Self::default()
        }
    }
}

/// An attempt in flight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// The step.
    pub step: StepId,
    /// The attempt.
    pub attempt: u32,
    /// When it began, and who began it.
    pub began: Began,
}

/// The end of one attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The step.
    pub step: StepId,
    /// The attempt; a result for any other than the live one is refused.
    pub attempt: u32,
    /// When it began, and who began it.
    pub began: Began,
    /// How long it took.
    pub duration_ms: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// What the step's `outputMapping` gives for the output, where the sender has worked it out
    /// ([`super::map_output`]); else the decision does.
    pub mapped: Option<Mapping>,
}

/// How an attempt began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Began {
    /// A node called its target.
    Called(Timestamp),
    /// A worker fetched its task.
    Fetched {
        /// Who, if it has said so.
        worker: Option<String>,
        /// When.
        at: Timestamp,
    },
    /// No worker fetched its task in time.
    Never,
}

impl Began {
    /// When it began, if it did.
    #[must_use]
    pub fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Called(at) | Self::Fetched { at, .. } => Some(*at),
            Self::Never => None,
        }
    }
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// With this raw output.
    Succeeded(Json),
    /// With this answer, which says how its target can be asked (sealed). As `Succeeded` otherwise.
    Accepted(Json, Vec<u8>),
    /// With this failure, not yet classified by the policy.
    Failed(Failure),
}

/// What a target says about the attempt that called it.
#[derive(Debug, Clone, PartialEq)]
pub struct Callback {
    /// The step.
    pub step: StepId,
    /// The attempt.
    pub attempt: u32,
    /// When that began, as far as is known; counts only before its answer is recorded.
    pub began: Option<Timestamp>,
    /// What it says.
    pub said: Said,
    /// What the step's `outputMapping` gives for the output; see [`Report::mapped`].
    pub mapped: Option<Mapping>,
    /// What its row keeps; the progress is also in the log.
    pub noted: Noted,
}

/// What a target says.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// It is at it.
    Processing,
    /// It is done; this is the step's output.
    Success(Json),
    /// It has failed.
    Failed(Failure),
    /// It is done, but the step's `outputMapping` cannot be worked out for its output.
    Unmapped(Failure),
}

impl Said {
    /// The word for it.
    #[must_use]
    pub fn status(&self) -> CallbackStatus {
        match self {
            Self::Processing => CallbackStatus::Processing,
            Self::Success(_) | Self::Unmapped(_) => CallbackStatus::Success,
            Self::Failed(_) => CallbackStatus::Failed,
        }
    }
}

/// An attempt that died with its node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The step.
    pub step: StepId,
    /// The attempt.
    pub attempt: u32,
    /// The node that died.
    pub node: Option<NodeId>,
    /// Whether the attempt had begun.
    pub begun: bool,
}

/// Why a command was not carried out. Nothing changes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The execution has ended.
    #[error("the execution has ended ({0})")]
    Ended(super::state::Status),
    /// The attempt is not the live one: late, doubled, or its execution moved on.
    #[error("attempt {attempt} of step {step} is not live")]
    NotLive {
        /// The step.
        step: StepId,
        /// The attempt.
        attempt: u32,
    },
    /// What a target says is known already; only its progress may be new.
    #[error("the target of attempt {attempt} of step {step} has said so already")]
    Repeated {
        /// The step.
        step: StepId,
        /// The attempt.
        attempt: u32,
    },
    /// Asked to resume what is not paused.
    #[error("the execution is not paused")]
    NotPaused,
    /// Asked for a retry where none waits.
    #[error("no retry is waiting")]
    NotRetrying,
    /// Asked for a retry of what is paused.
    #[error("the execution is paused; resume it first")]
    Paused,
    /// Pausing an execution whose completed steps are being undone would leave them half undone.
    #[error("the execution is undoing its completed steps")]
    Compensating,
    /// The log was made by rules this build does not have.
    #[error("the execution was started under rules {0}, which this build does not have")]
    UnknownRules(u16),
    /// A value that the decision needs was not brought along.
    #[error("the value of event {0} is not at hand")]
    MissingPayload(u64),
    /// The decision would search more of the payloads than its caller allows.
    #[error("the decision needs to search more of the payloads than is allowed here")]
    TooHeavy,
}
