//! The event log's vocabulary: what can happen to an execution.
//!
//! An event is a fact. It is written once, in the commit that made it true, and never changed.
//! Each kind's comment says what it does to the state; `apply.rs` is where that happens.

mod callback;

use serde::{Deserialize, Deserializer, Serialize};

use crate::dead_letter::Reason;
use crate::definition::{RetrySettings, StepId, WorkflowId};
use crate::failure::{ErrorClass, Failure};
use crate::id::{DlqId, ExecutionId, NodeId, TriggerId};
use crate::json::Json;
use crate::time::Timestamp;
use crate::trace::Trace;

pub use callback::{CallAnswered, CallbackReceived};

/// One entry of an execution's log.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Counted from 1 without gaps.
    pub sequence: u64,
    /// When it was recorded; never earlier than the event before it.
    pub at: Timestamp,
    /// The step it is about, if one.
    pub step: Option<StepId>,
    /// The attempt it is about. On RETRY_SCHEDULED: the attempt to come.
    pub attempt: Option<u32>,
    /// The recorded wait before the attempt to come. Replay uses it, it is never computed again.
    pub backoff_ms: Option<u64>,
    /// Why, in one sentence, where something failed.
    pub reason: Option<String>,
    /// What happened.
    pub kind: EventKind,
}

/// What happened. Each variant holds its payload.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// The first event of every log: fixes workflow, version, input, seed and rules.
    ExecutionStarted(Box<ExecutionStarted>),
    /// The step's next attempt may run (at once, or at `due_at`).
    StepScheduled(StepScheduled),
    /// The attempt began; written in the commit that ends it. If the step waits for a callback, its
    /// answer is kept here and nowhere else.
    StepStarted(StepStarted),
    /// The step is done. Its output is kept here and nowhere else.
    StepCompleted(StepCompleted),
    /// The attempt failed; `final` says that no retry follows.
    StepFailed(StepFailed),
    /// The node died during the attempt. Costs no retry of the policy.
    StepLost(StepLost),
    /// `when` was false, or the execution ended before the step's turn.
    StepSkipped(StepSkipped),
    /// The next attempt waits until `due_at`.
    RetryScheduled(RetryScheduled),
    /// A wait is over and its attempt began.
    TimerFired(TimerFired),
    /// Workers may fetch the step's task. Its input is kept here, for all attempts.
    ExternalTaskCreated(ExternalTaskCreated),
    /// A worker had fetched the task; written in the commit that ends the attempt.
    ExternalTaskLocked(ExternalTaskLocked),
    /// The task was taken from its worker, which was not heard of in time.
    ExternalTaskReleased(ExternalTaskReleased),
    /// The target called back for the first time, or for the last.
    CallbackReceived(CallbackReceived),
    /// The call came back after its target had called back. Its answer is kept here and nowhere else.
    CallAnswered(CallAnswered),
    /// The step's compensation may run.
    CompensationStarted(CompensationStarted),
    /// The step's effect is undone.
    CompensationCompleted(CompensationCompleted),
    /// The step's effect could not be undone; the other compensations still run.
    CompensationFailed(CompensationFailed),
    /// Nothing new starts until EXECUTION_RESUMED.
    ExecutionPaused(ExecutionPaused),
    /// The execution goes on where it stood.
    ExecutionResumed(ExecutionResumed),
    /// A dead letter was made in the same commit.
    DeadLettered(DeadLettered),
    /// Terminal: every step is done or skipped.
    ExecutionCompleted(ExecutionCompleted),
    /// Terminal: a step failed for good.
    ExecutionFailed(ExecutionFailed),
    /// Terminal: a person ended it.
    ExecutionCancelled(ExecutionCancelled),
    /// A type this build does not know; kept as it is and folded over without effect.
    Unknown(Unknown),
}

/// What made the execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriggerKind {
    /// An API call or the CLI.
    Manual,
    /// A person retried a dead letter.
    ManualDlqRetry,
    /// A cron trigger.
    Cron,
    /// A schedule trigger.
    Schedule,
    /// A webhook.
    Webhook,
    /// A message.
    Amqp,
}

impl TriggerKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Manual,
        Self::ManualDlqRetry,
        Self::Cron,
        Self::Schedule,
        Self::Webhook,
        Self::Amqp,
    ];

    /// The word used in the API and in `${trigger.type}`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::ManualDlqRetry => "manual_dlq_retry",
            Self::Cron => "cron",
            Self::Schedule => "schedule",
            Self::Webhook => "webhook",
            Self::Amqp => "amqp",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Who or what started the execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// The kind of trigger.
    pub kind: TriggerKind,
    /// The trigger object, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The actor: the name of the API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The planned time of a cron or schedule slot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled_at: Option<Timestamp>,
    /// Which execution of the trigger it is, counted from 1; a retry of its dead letter is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<u64>,
    /// Whether the trigger is told how the execution ends.
    #[serde(default, skip_serializing_if = "is_false")]
    pub awaits_end: bool,
}

/// Whether a flag need not be written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks in this way")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Trigger {
    /// Started by hand, by this actor.
    #[must_use]
    pub fn manual(by: Option<String>) -> Self {
        Self {
            kind: TriggerKind::Manual,
            id: None,
            by,
            scheduled_at: None,
            cycle: None,
            awaits_end: false,
        }
    }

    /// The trigger object, if there is one and it is called as triggers are.
    #[must_use]
    pub fn object(&self) -> Option<TriggerId> {
        self.id.as_deref()?.parse().ok()
    }
}

/// Where an execution comes from when it repeats an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lineage {
    /// The execution whose dead letter was retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ExecutionId>,
    /// The first execution of the line; itself when it has no parent.
    pub root: ExecutionId,
    /// The dead letter that was retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letter: Option<DlqId>,
    /// Part of the key that targets see; grows when a repeat is new work rather than the same.
    #[serde(default)]
    pub generation: u32,
}

impl Lineage {
    /// An execution that repeats nothing.
    #[must_use]
    pub fn first(id: ExecutionId) -> Self {
        Self {
            parent: None,
            root: id,
            letter: None,
            generation: 0,
        }
    }
}

/// Payload of EXECUTION_STARTED.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutionStarted {
    /// The execution's own id, so that a log stands by itself.
    pub id: ExecutionId,
    /// The workflow.
    pub workflow: WorkflowId,
    /// The version of its definition; the execution keeps it.
    pub workflow_version: u32,
    /// The version of `decide` that makes this history.
    pub rules: u16,
    /// The seed of all jitter.
    pub seed: u64,
    /// The input, byte for byte.
    pub input: Json,
    /// What started it.
    pub trigger: Trigger,
    /// 1 (first) to 10 (last).
    pub priority: u8,
    /// Where it comes from.
    pub lineage: Lineage,
    /// False for a dead letter's retry: a person watches, so the first failure is the answer.
    pub automatic_retries: bool,
    /// The trigger's own retry settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetrySettings>,
    /// Do not begin before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_until: Option<Timestamp>,
    /// The caller's idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The value that the workflow's concurrency key gave for this input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_key: Option<String>,
    /// The value that the rate limit's key gave for this input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_key: Option<String>,
    /// The caller's trace, which the calls of its steps continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// Payload of STEP_SCHEDULED.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepScheduled {
    /// Not before; absent = at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
}

/// Payload of STEP_STARTED.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepStarted {
    /// When the attempt really began (the event's own time never goes back).
    pub started_at: Timestamp,
    /// What its target answered, if the step waits for a callback.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub answer: Option<Json>,
    /// How long that took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Until when it waits for a callback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_until: Option<Timestamp>,
}

impl StepStarted {
    /// Of an attempt that waits for nothing.
    #[must_use]
    pub fn at(started_at: Timestamp) -> Self {
        Self {
            started_at,
            answer: None,
            duration_ms: None,
            waits_until: None,
        }
    }
}

/// A part of a step's output that was mapped into the context: byte ranges, not a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mapped {
    /// The path matched nothing: the value is null.
    Nothing,
    /// One match: start and length in the output's text.
    One(u32, u32),
    /// Several matches: an array of these.
    Many(Vec<(u32, u32)>),
}

/// Payload of STEP_COMPLETED.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepCompleted {
    /// The raw output, byte for byte; absent if it is the answer below.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub output: Option<Json>,
    /// The event that keeps the answer which is the output: nobody called back in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<u64>,
    /// Context keys and where their values stand in the output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mapped: Vec<(String, Mapped)>,
    /// How long the attempt took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The execution this result was taken over from (dead-letter retry from the failed step).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried_from: Option<ExecutionId>,
}

/// Payload of STEP_FAILED.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepFailed {
    /// What went wrong.
    pub error: Failure,
    /// Set when no retry follows: why not.
    #[serde(rename = "final", default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Reason>,
    /// How long the attempt took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// Payload of STEP_LOST.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLost {
    /// The node that died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Whether the attempt had begun; only those count towards the limit.
    pub begun: bool,
}

/// Why a step did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Its `when` was false.
    When,
    /// Another step failed for good, so its next attempt is dropped.
    Failing,
}

/// Payload of STEP_SKIPPED.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepSkipped {
    /// Why.
    pub because: SkipReason,
}

/// Payload of RETRY_SCHEDULED.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryScheduled {
    /// When the attempt to come is due.
    pub due_at: Timestamp,
}

/// Payload of TIMER_FIRED.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerFired {
    /// When it was due.
    pub due_at: Timestamp,
    /// When the attempt really began; of an early one, from when on it may.
    pub fired_at: Timestamp,
    /// Whether somebody did not want to wait for it. Others are recorded with the beginning of their
    /// attempt.
    #[serde(default, skip_serializing_if = "is_false")]
    pub early: bool,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Payload of EXTERNAL_TASK_CREATED.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExternalTaskCreated {
    /// What workers ask for.
    pub task_type: String,
    /// 1 (first) to 10 (last).
    pub priority: u8,
    /// What the worker is given; absent = the execution's input.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub input: Option<Json>,
}

/// Payload of EXTERNAL_TASK_LOCKED.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalTaskLocked {
    /// The worker, if it has said who it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<String>,
    /// Since when it held the task.
    pub locked_at: Timestamp,
}

/// Payload of EXTERNAL_TASK_RELEASED.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalTaskReleased {
    /// Which of its clocks ran out.
    pub because: ErrorClass,
}

/// What set off the compensation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompensationCause {
    /// A step failed for good.
    Failure,
    /// A person cancelled and asked for it.
    Cancel,
}

/// Payload of COMPENSATION_STARTED.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompensationStarted {
    /// The completed step that is being undone.
    pub undoes: StepId,
    /// What set it off.
    pub cause: CompensationCause,
    /// Who cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Payload of COMPENSATION_COMPLETED.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompensationCompleted {
    /// The step that is undone.
    pub undoes: StepId,
    /// The compensation step's raw output; absent if it is the answer below.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub output: Option<Json>,
    /// The event that keeps the answer which is the output: nobody called back in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<u64>,
}

/// Payload of COMPENSATION_FAILED.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompensationFailed {
    /// The step that is not undone.
    pub undoes: StepId,
    /// What went wrong in the last attempt.
    pub error: Failure,
}

/// Payload of EXECUTION_PAUSED.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionPaused {
    /// The actor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Payload of EXECUTION_RESUMED.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionResumed {
    /// The actor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Payload of DEAD_LETTERED.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLettered {
    /// The dead letter.
    pub dlq_id: DlqId,
    /// Why the execution ended there.
    pub reason: Reason,
}

/// Payload of EXECUTION_COMPLETED: exactly one of the three says what the output is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutionCompleted {
    /// What the definition's `output` gave; `null` is a value too.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub output: Option<Json>,
    /// The output is this step's output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_of: Option<StepId>,
    /// The output is an object of these steps' outputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs_of: Vec<StepId>,
}

/// A field that is there, even if it says `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// Payload of EXECUTION_FAILED.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutionFailed {
    /// What went wrong.
    pub error: Failure,
}

/// Payload of EXECUTION_CANCELLED.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionCancelled {
    /// The actor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// An event of a type this build does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Its name as stored.
    pub name: String,
    /// Its version as stored.
    pub v: u16,
    /// Its payload as stored.
    pub payload: Vec<u8>,
}

impl Event {
    /// The foreign value this event keeps, if it keeps one.
    #[must_use]
    pub fn value(&self) -> Option<&Json> {
        match &self.kind {
            EventKind::ExecutionStarted(started) => Some(&started.input),
            EventKind::StepStarted(started) => started.answer.as_ref(),
            EventKind::CallAnswered(answered) => answered.answer.as_ref(),
            EventKind::StepCompleted(completed) => completed.output.as_ref(),
            EventKind::CompensationCompleted(completed) => completed.output.as_ref(),
            EventKind::ExternalTaskCreated(created) => created.input.as_ref(),
            EventKind::ExecutionCompleted(completed) => completed.output.as_ref(),
            _ => None,
        }
    }

    /// Whether nothing may follow.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(
            self.kind,
            EventKind::ExecutionCompleted(_)
                | EventKind::ExecutionFailed(_)
                | EventKind::ExecutionCancelled(_)
        )
    }
}
