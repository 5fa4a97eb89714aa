//! Executions, their steps and events.

use std::collections::BTreeMap;

use super::{AttemptStatus, ExecutionStatus, Raw, StartedBy, StepCallback, StepStatus};

shapes! {
    /// An execution.
    pub struct Execution {
        /// `exec_…`
        pub execution_id: String,
        /// The workflow.
        pub workflow_id: String,
        /// The version of its definition that this execution keeps.
        pub workflow_version: u32,
        /// Where it stands.
        pub status: ExecutionStatus,
        /// `compensating` while completed steps are being undone.
        pub phase: Option<String>,
        /// The input; absent in lists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
        pub input: Option<Raw>,
        /// The output of a completed execution; absent in lists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
        pub output: Option<Raw>,
        /// What went wrong.
        pub error: Option<ErrorInfo>,
        /// Retries so far of the step that failed last.
        pub retry_count: u32,
        /// Retries that step may have.
        pub max_retries: u32,
        /// When its next attempt is due.
        pub next_retry_at: Option<String>,
        /// The step's attempt and last wait.
        pub retry_context: Option<RetryContext>,
        /// What started it.
        pub trigger_type: StartedBy,
        /// The trigger object, if there is one.
        pub trigger_id: Option<String>,
        /// The planned time that it was started for, if it was one.
        pub scheduled_at: Option<String>,
        /// Who started it.
        pub triggered_by: Option<String>,
        /// The caller's idempotency key.
        pub idempotency_key: Option<String>,
        /// The trace that the calls of its steps belong to: the caller's, if it sent a `traceparent`.
        pub trace_id: Option<String>,
        /// 1 (first) to 10 (last).
        pub priority: u8,
        /// Did not begin before.
        pub delay_until: Option<String>,
        /// The dead letter made of it.
        pub dlq_entry_id: Option<String>,
        /// The dead letter it retries.
        pub parent_dlq_entry_id: Option<String>,
        /// The execution that it repeats: a retry of its dead letter, or run again.
        #[serde(default)]
        pub parent_execution_id: Option<String>,
        /// When it was accepted.
        pub created_at: String,
        /// When its first attempt began.
        pub started_at: Option<String>,
        /// When it ended.
        pub completed_at: Option<String>,
        /// From start to end.
        pub duration_ms: Option<u64>,
        /// What it waits for, if a step is due and its target is left alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub parked: Option<Parked>,
        /// Its steps in the definition's order; empty in lists.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub steps: Vec<Step>,
    }

    /// What a step waits for whose target is left alone by its circuit breaker.
    pub struct Parked {
        /// The target.
        pub host: String,
        /// No call tries it before; null = until a person says so.
        pub until: Option<String>,
    }

    /// A page of executions.
    pub struct ExecutionPage {
        /// The executions, newest first.
        pub items: Vec<Execution>,
        /// Pass it as `cursor` to get the next page; null on the last.
        pub next_cursor: Option<String>,
        /// Present if 10,000 executions were looked at before the page was full: it has what was created since
        /// this time, and `next_cursor` searches on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub searched_to: Option<String>,
    }

    /// How many executions there are.
    pub struct ExecutionCount {
        /// How many were counted; 10,000 at most.
        pub total: u64,
        /// Whether those are all.
        pub exact: bool,
        /// The same by status; a status that no execution has is absent.
        pub by_status: BTreeMap<String, u64>,
        /// Present if 10,000 executions were looked at and there may be more of them: those were counted that
        /// were created since this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub searched_to: Option<String>,
    }

    /// Where the retries of a step stand.
    pub struct RetryContext {
        /// The live attempt, or the last one.
        pub current_attempt: u32,
        /// The wait before it.
        pub last_backoff_ms: Option<u64>,
    }

    /// A step of an execution.
    pub struct Step {
        /// Its name in the definition.
        pub step_id: String,
        /// `http` or `local`
        #[serde(rename = "type")]
        pub step_type: String,
        /// Where it stands.
        pub status: StepStatus,
        /// Attempts so far, one that runs included. One whose result was not awaited, because the
        /// execution was cancelled, is not among them.
        pub attempts: u32,
        /// Retries so far.
        pub retry_count: u32,
        /// When the next attempt is due.
        pub next_retry_at: Option<String>,
        /// When the first attempt began.
        pub started_at: Option<String>,
        /// When it ended.
        pub completed_at: Option<String>,
        /// Its raw output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
        pub output: Option<Raw>,
        /// Its last failure.
        pub error: Option<ErrorInfo>,
        /// What it waits for, if its target calls back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub callback: Option<StepCallback>,
        /// The completed step that it undoes, if it was begun for that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub undoes: Option<String>,
    }

    /// A failure.
    pub struct ErrorInfo {
        /// The class, such as `http_status` or `read_timeout`.
        #[serde(rename = "type")]
        pub error_type: String,
        /// The HTTP status or the task's own code.
        pub code: Option<String>,
        /// One sentence for a person.
        pub message: String,
        /// Whether the policy retries this kind.
        pub retryable: bool,
        /// The causes below it, outermost first.
        #[serde(default)]
        pub causes: Vec<String>,
        /// Who was called: the host, with the port unless that is the scheme's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub target: Option<String>,
    }

    /// One attempt of a step.
    pub struct Attempt {
        /// The step.
        pub step_id: String,
        /// Its number, from 1.
        pub attempt: u32,
        /// Where it stands.
        pub status: AttemptStatus,
        /// Whether it undoes another step.
        pub compensation: bool,
        /// When it was planned.
        pub scheduled_at: String,
        /// When it was to begin; null = at once.
        pub due_at: Option<String>,
        /// When it began.
        pub started_at: Option<String>,
        /// When it ended.
        pub ended_at: Option<String>,
        /// How long it took.
        pub duration_ms: Option<u64>,
        /// The policy's wait before it.
        pub backoff_ms: Option<u64>,
        /// Whether its failure may be retried; null where it did not fail.
        pub retryable: Option<bool>,
        /// Whether somebody did not want to wait for it.
        pub early: bool,
        /// What it failed with.
        pub error: Option<ErrorInfo>,
        /// The beginning of what the target answered to an attempt that failed, at most 64 KiB.
        pub response: Option<String>,
        /// The node that makes it, or died during it.
        pub node_id: Option<String>,
        /// The worker that has or had its task.
        pub worker_id: Option<String>,
        /// Its task for workers, if it is one.
        pub task_id: Option<String>,
    }

    /// One entry of an execution's log.
    pub struct Event {
        /// Counted from 1 without gaps.
        pub sequence: u64,
        /// Such as `STEP_COMPLETED`.
        pub event_type: String,
        /// When it was recorded.
        pub timestamp: String,
        /// The step it is about.
        pub step_id: Option<String>,
        /// What belongs to it.
        #[cfg_attr(feature = "openapi", schema(value_type = Value))]
        pub payload: Raw,
        /// The attempt it is about; on RETRY_SCHEDULED the attempt to come.
        pub attempt_number: Option<u32>,
        /// The wait before the attempt to come.
        pub backoff_delay_ms: Option<u64>,
        /// Why, in one sentence.
        pub failure_reason: Option<String>,
    }

    /// An accepted execution.
    pub struct Accepted {
        /// `exec_…`
        pub execution_id: String,
        /// Its status now.
        pub status: ExecutionStatus,
        /// True if the idempotency key was used before for this execution.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub duplicate: bool,
    }

    /// One item of a batch.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    pub struct BatchItem {
        /// The input; absent = `{}`.
        #[serde(
            default,
            deserialize_with = "super::present",
            skip_serializing_if = "Option::is_none"
        )]
        #[cfg_attr(feature = "openapi", schema(value_type = super::Input, required = false))]
        pub input: Option<Raw>,
        /// Its own idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 255))]
        pub idempotency_key: Option<String>,
        /// 1 (first) to 10 (last).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 10))]
        pub priority: Option<u8>,
        /// Such as `30s`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub delay: Option<String>,
    }

    /// The result of one item of a batch; exactly one of the two is present.
    pub struct BatchResult {
        /// It was accepted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub accepted: Option<Accepted>,
        /// It was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub problem: Option<super::Problem>,
    }

    /// Replays an execution; with a definition, against that one (the replay lab).
    #[derive(Default)]
    pub struct ReplayRequest {
        /// YAML or JSON text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub definition: Option<String>,
    }

    /// What a replay found.
    pub struct ReplayResult {
        /// Whether every decision came out the same. Requests to targets are not compared.
        pub identical: bool,
        /// Events compared.
        pub events: u64,
        /// The first difference.
        pub first_difference: Option<ReplayDifference>,
    }

    /// Where the log and the derivation part.
    pub struct ReplayDifference {
        /// The number of the event.
        pub sequence: u64,
        /// What the log says; null = it ends there.
        pub recorded: Option<Event>,
        /// What follows from the definition; null = nothing does.
        pub derived: Option<Event>,
        /// Why nothing follows, where that is known.
        pub note: Option<String>,
    }
}
