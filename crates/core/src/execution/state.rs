//! The state of an execution: what the fold of its log says, and nothing else.
//!
//! Foreign values are not here: the state holds references to the events that keep them.
//! The values that a decision needs travel beside it in [`Payloads`], which is neither compared
//! nor stored.

mod payloads;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::event::{CompensationCause, Lineage, Mapped, Trigger};
use super::pauses::PauseEnd;
use crate::callback::{CallbackStatus, Stand};
use crate::dead_letter::Reason;
use crate::definition::{RetrySettings, StepId, WorkflowId};
use crate::failure::Failure;
use crate::id::{DlqId, ExecutionId};
use crate::json::Json;
use crate::limit;
use crate::time::Timestamp;
use crate::trace::Trace;

pub use payloads::Payloads;

/// The execution's status, as far as its log knows.
///
/// Whether due work has been claimed is not in the log: a reader who finds a claimed work row
/// shows `running` instead of `pending` or `retrying`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Work is due or delayed, and as far as the log knows nobody has begun it.
    Pending,
    /// An attempt is in flight.
    Running,
    /// Only retry timers.
    Retrying,
    /// Only external tasks or callbacks.
    Waiting,
    /// Nothing new starts until it is resumed.
    Paused,
    /// Ended well.
    Completed,
    /// Ended badly, without a dead letter.
    Failed,
    /// Ended badly, with a dead letter.
    Dlq,
    /// Ended by a person.
    Cancelled,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 9] = [
        Self::Pending,
        Self::Running,
        Self::Retrying,
        Self::Waiting,
        Self::Paused,
        Self::Completed,
        Self::Failed,
        Self::Dlq,
        Self::Cancelled,
    ];

    /// Whether nothing can happen any more.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Dlq | Self::Cancelled
        )
    }

    /// The word used everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Retrying => "retrying",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Dlq => "dlq",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A step's status, as far as the log knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// An attempt may run or is running.
    Scheduled,
    /// The next attempt waits for its time.
    Retrying,
    /// A worker outside may fetch its task, or has it; or its target may call back.
    Waiting,
    /// Done.
    Completed,
    /// Failed for good.
    Failed,
    /// Its `when` was false.
    Skipped,
    /// Done, and undone again.
    Compensated,
    /// The execution ended before it could finish.
    Cancelled,
}

/// Where a foreign value is kept: in the event of that number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayloadRef {
    /// The event's number.
    pub sequence: u64,
    /// The value's length in bytes.
    pub len: u64,
    /// The first eight bytes of the value's SHA-256: tells a damaged value from a right one.
    pub hash: u64,
}

impl PayloadRef {
    /// The reference to a value kept by event `sequence`.
    #[must_use]
    pub fn to(sequence: u64, value: &Json) -> Self {
        use sha2::Digest;
        let digest = sha2::Sha256::digest(value.as_str().as_bytes());
        let mut hash = [0u8; 8];
        hash.copy_from_slice(&digest[..8]);
        Self {
            sequence,
            len: value.as_str().len() as u64,
            hash: u64::from_be_bytes(hash),
        }
    }
}

/// A context value: a part of a step's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextRef {
    /// The event that keeps the output.
    pub sequence: u64,
    /// Which part of it.
    pub part: Mapped,
}

/// A callback that an attempt waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awaited {
    /// Until when.
    pub until: Timestamp,
    /// When the attempt began.
    pub started_at: Timestamp,
    /// What the target has said last.
    pub status: CallbackStatus,
    /// Whether its call has come back.
    pub is_answered: bool,
    /// What it came back with: the step's output if nobody calls back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<PayloadRef>,
}

/// One step, as far as the log knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepState {
    /// Where it stands.
    pub status: StepStatus,
    /// The live attempt, or the last one. 0 when none was ever scheduled.
    pub attempt: u32,
    /// Attempts that failed; what the policy counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// Attempts that died with their node after they had begun.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub losses: u32,
    /// The live attempt must not begin before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// The wait before the live attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backoff_ms: Option<u64>,
    /// When the first attempt was scheduled.
    pub scheduled_at: Timestamp,
    /// Paused time of the execution before the step's time began to count.
    #[serde(default, skip_serializing_if = "is_zero_ms")]
    pub paused_ms_before: u64,
    /// When the first attempt began; total time limits count from here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// Whether the attempt that was made last has begun and not ended. In a whole log only one that was
    /// aborted has; under rules 1 none.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_begun: bool,
    /// When it ended for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// Its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<PayloadRef>,
    /// The last failure, without the response's excerpt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// What the workers of its task are given, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_input: Option<PayloadRef>,
    /// What is known of the callback that the live attempt waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited: Option<Awaited>,
    /// For a compensation step: the step it undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<StepId>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero_ms(n: &u64) -> bool {
    *n == 0
}

impl StepState {
    /// Whether an attempt may be running or will run.
    #[must_use]
    pub fn is_live(&self) -> bool {
        matches!(
            self.status,
            StepStatus::Scheduled | StepStatus::Retrying | StepStatus::Waiting
        )
    }

    /// Whether workers outside do its work.
    #[must_use]
    pub fn is_task(&self) -> bool {
        self.task_input.is_some()
    }

    /// What a callback for its attempt of that number finds.
    #[must_use]
    pub fn stand(&self, attempt: u32) -> Stand {
        match &self.awaited {
            _ if !self.is_live() || self.attempt != attempt => Stand::Over,
            Some(awaited) => Stand::Waits(awaited.status),
            None => Stand::InFlight,
        }
    }

    /// Retries so far, the one that is waiting or running included. Attempts that died with
    /// their node are not among them.
    #[must_use]
    pub fn retries(&self) -> u32 {
        self.failures
            .saturating_sub(u32::from(self.status == StepStatus::Failed))
    }

    /// Whether steps that need this one may go on.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.status, StepStatus::Completed | StepStatus::Skipped)
    }
}

/// Why the execution is on its way to a bad end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failing {
    /// The step that failed for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// Its failure.
    pub failure: Failure,
    /// What a dead letter would say.
    pub reason: Reason,
}

/// The undoing of completed steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compensating {
    /// What set it off.
    pub cause: CompensationCause,
    /// Who cancelled, if that was the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Whether any of them failed.
    #[serde(default)]
    pub failed: bool,
}

/// What the output of a completed execution is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputRef {
    /// The value in the terminal event.
    Value(PayloadRef),
    /// That step's output.
    Step(StepId),
    /// An object of these steps' outputs.
    Steps(Vec<StepId>),
}

/// The state of one execution: the fold of its events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// The number of the last event; 0 before the first.
    pub version: u64,
    /// What the rest of this is about; absent only before the first event.
    #[serde(default)]
    pub origin: Option<Origin>,
    /// As far as the log knows.
    pub status: Status,
    /// The last event's time.
    pub updated_at: Timestamp,
    /// Bytes of foreign values so far.
    #[serde(default)]
    pub history_bytes: u64,
    /// When the first attempt of any step began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// Every step that has had an event. Boxed, since a map of large values has room for eleven
    /// of them from the first one on, and most executions have one or two.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub steps: BTreeMap<StepId, Box<StepState>>,
    /// The order in which steps completed; compensation goes through it backwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub completed_order: Vec<StepId>,
    /// Context values made by output mapping, over the input's top-level fields.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub context: BTreeMap<String, ContextRef>,
    /// Since when it is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<Timestamp>,
    /// How long it has been paused in all, pauses that are over.
    #[serde(default, skip_serializing_if = "is_zero_ms")]
    pub paused_ms: u64,
    /// When the last pause ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed_at: Option<Timestamp>,
    /// The ends of the pauses before the last one, as long as a step may have begun between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_pauses: Vec<PauseEnd>,
    /// The failure that will end it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<Failing>,
    /// Set while and after completed steps are undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensating: Option<Compensating>,
    /// The step that failed last; the execution's retry fields are this step's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_last: Option<StepId>,
    /// The dead letter made for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dlq_id: Option<DlqId>,
    /// The reason that dead letter gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dlq_reason: Option<Reason>,
    /// The output of a completed execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputRef>,
    /// The error of a failed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// Foreign values at hand; never stored, never compared.
    #[serde(skip)]
    pub payloads: Payloads,
}

/// What the first event fixed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The execution's own id.
    pub id: ExecutionId,
    /// The workflow.
    pub workflow: WorkflowId,
    /// The version of its definition.
    pub workflow_version: u32,
    /// The version of `decide`.
    pub rules: u16,
    /// The seed of all jitter.
    pub seed: u64,
    /// What started it.
    pub trigger: Trigger,
    /// 1 (first) to 10 (last).
    pub priority: u8,
    /// Where it comes from.
    pub lineage: Lineage,
    /// Whether failures are retried.
    pub automatic_retries: bool,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// The input.
    pub input: PayloadRef,
    /// The trigger's own retry settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetrySettings>,
    /// Do not begin before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_until: Option<Timestamp>,
    /// The caller's idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The value of the concurrency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_key: Option<String>,
    /// The value of the rate limit's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_key: Option<String>,
    /// The caller's trace, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

impl Origin {
    /// The trace that its calls belong to, as 32 hex digits: the caller's, else one for the whole line
    /// of executions.
    #[must_use]
    pub fn trace_id(&self) -> String {
        match &self.trace {
            Some(trace) => trace.id().to_owned(),
            None => {
                let bytes = self.lineage.root.as_bytes().iter();
                bytes.map(|byte| format!("{byte:02x}")).collect()
            }
        }
    }
}

impl Execution {
    /// The state before the first event.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            version: 0,
            origin: None,
            status: Status::Pending,
            updated_at: Timestamp::default(),
            history_bytes: 0,
            started_at: None,
            completed_at: None,
            steps: BTreeMap::new(),
            completed_order: Vec::new(),
            context: BTreeMap::new(),
            paused_at: None,
            paused_ms: 0,
            resumed_at: None,
            earlier_pauses: Vec::new(),
            failing: None,
            compensating: None,
            failed_last: None,
            dlq_id: None,
            dlq_reason: None,
            output: None,
            error: None,
            payloads: Payloads::default(),
        }
    }

    /// The step of that name, if it has had an event.
    #[must_use]
    pub fn step(&self, id: &StepId) -> Option<&StepState> {
        self.steps.get(id).map(Box::as_ref)
    }

    /// The step that failed last; the execution's retry fields are this step's.
    #[must_use]
    pub fn last_failed_step(&self) -> Option<(&StepId, &StepState)> {
        let id = self.failed_last.as_ref()?;
        Some((id, self.step(id)?))
    }

    /// What went wrong, unless it has come right since. Whoever has completed has nothing here.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        if self.status == Status::Completed {
            return None;
        }
        let failing = || self.failing.as_ref().map(|failing| &failing.failure);
        let last = || {
            let (_, step) = self.last_failed_step()?;
            step.failure.as_ref().filter(|_| !step.is_done())
        };
        self.error.as_ref().or_else(failing).or_else(last)
    }

    /// The events whose values decisions of this execution may read.
    #[must_use]
    pub fn referenced(&self) -> Vec<u64> {
        self.references().map(|value| value.sequence).collect()
    }

    /// Those of [`Execution::referenced`] whose values are not at hand.
    #[must_use]
    pub fn missing_values(&self) -> Vec<u64> {
        self.missing().map(|value| value.sequence).collect()
    }

    /// How long the values of [`Execution::missing_values`] are together.
    #[must_use]
    pub fn missing_bytes(&self) -> u64 {
        self.missing().map(|value| value.len).sum()
    }

    /// As [`Execution::missing_values`], if the values are short enough to be read before anybody
    /// needs them; else none.
    #[must_use]
    pub fn missing_short_values(&self) -> Vec<u64> {
        match self.missing_bytes() <= limit::VALUES_BYTES_READ_AHEAD {
            true => self.missing_values(),
            false => Vec::new(),
        }
    }

    /// The events that keep most [missing values](Self::missing_values): the input, and outputs of steps.
    /// An answer that became an output, because nobody called back, is read when it is needed.
    pub const VALUE_EVENTS: [&str; 2] = ["EXECUTION_STARTED", "STEP_COMPLETED"];

    fn references(&self) -> impl Iterator<Item = &PayloadRef> {
        let input = self.origin.iter().map(|origin| &origin.input);
        let outputs = self.steps.values().filter_map(|step| step.output.as_ref());
        let awaited = self.steps.values().filter_map(|step| step.awaited.as_ref());
        let answers = awaited.filter_map(|awaited| awaited.answer.as_ref());
        input.chain(outputs).chain(answers)
    }

    fn missing(&self) -> impl Iterator<Item = &PayloadRef> {
        let is_missing = |value: &&PayloadRef| self.payloads.get(value.sequence).is_none();
        self.references().filter(is_missing)
    }

    /// The status that the steps and flags give; the first that holds wins.
    #[must_use]
    pub fn derive_status(&self) -> Status {
        if self.paused_at.is_some() {
            return Status::Paused;
        }
        if self.compensating.is_some() {
            return Status::Running;
        }
        let is_any = |status| self.steps.values().any(|step| step.status == status);
        if is_any(StepStatus::Scheduled) {
            Status::Pending
        } else if is_any(StepStatus::Retrying) {
            Status::Retrying
        } else if is_any(StepStatus::Waiting) {
            Status::Waiting
        } else {
            Status::Pending
        }
    }

    /// The id of the execution this one's targets see in their idempotency keys.
    #[must_use]
    pub fn root(&self) -> Option<ExecutionId> {
        Some(self.origin.as_ref()?.lineage.root)
    }
}
