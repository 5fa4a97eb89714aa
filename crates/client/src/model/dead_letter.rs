//! Dead letters.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::{
    ErrorInfo, Event, ExecutionStatus, LetterReason, LetterStatus, Raw, StartedBy, StepStatus,
};

shapes! {
    /// A dead letter.
    pub struct DeadLetter {
        /// `dlq_…`
        pub id: String,
        /// The failed execution.
        pub execution_id: String,
        /// Its workflow.
        pub workflow_id: String,
        /// The workflow's name at the time.
        pub workflow_name: String,
        /// Whether the workflow was deleted since: nothing of it can run until it is saved again.
        #[serde(default)]
        pub workflow_deleted: bool,
        /// The step that failed.
        pub step_id: Option<String>,
        /// The failed execution's input.
        #[cfg_attr(feature = "openapi", schema(value_type = Value))]
        pub input_data: Raw,
        /// The failure's class.
        pub error_type: String,
        /// One sentence.
        pub error_message: String,
        /// The HTTP status or the task's own code.
        pub error_code: Option<String>,
        /// Who was called last: the host, with the port unless that is the scheme's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub target: Option<String>,
        /// The causes, one a line.
        pub error_stacktrace: Option<String>,
        /// Why it became one.
        pub reason: LetterReason,
        /// Retries that were made.
        pub retry_count: u32,
        /// Retries that the policy allowed.
        pub max_retries: u32,
        /// The failed attempts, oldest first.
        pub retry_history: Vec<RetryHistoryEntry>,
        /// Where it stands.
        pub status: LetterStatus,
        /// The last retry by a person.
        pub retry_attempted_at: Option<String>,
        /// Who made it.
        pub retry_attempted_by: Option<String>,
        /// The execution that resolved it; null until one has.
        pub resolution_execution_id: Option<String>,
        /// When it was resolved.
        pub resolved_at: Option<String>,
        /// Who had retried it.
        pub resolved_by: Option<String>,
        /// When it was deleted.
        pub deleted_at: Option<String>,
        /// By whom.
        pub deleted_by: Option<String>,
        /// When the execution failed.
        pub failed_at: String,
        /// When the dead letter was created.
        pub created_at: String,
        /// Equal for failures with the same cause.
        pub fingerprint: String,
        /// What to try, most likely first.
        pub suggestions: Vec<SuggestedFix>,
        /// The same in 繁體中文, in the same order.
        #[serde(default)]
        pub suggestions_zh: Vec<SuggestedFix>,
    }

    /// A failed attempt.
    pub struct RetryHistoryEntry {
        /// The attempt.
        pub attempt: u32,
        /// Its error.
        pub error: String,
        /// Seconds until the next attempt; null after the last.
        pub delay: Option<f64>,
        /// When it failed.
        pub at: String,
    }

    /// Something to try.
    pub struct SuggestedFix {
        /// In a few words.
        pub title: String,
        /// Why it may help.
        pub detail: String,
    }
}

/// A dead letter with everything about it: what a list has of it, and more.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeadLetterDetail {
    /// As in a list.
    #[serde(flatten)]
    pub entry: DeadLetter,
    /// What only one letter has.
    #[serde(flatten)]
    pub more: DeadLetterMore,
}

impl<'de> Deserialize<'de> for DeadLetterDetail {
    /// Raw text does not pass through `flatten`, so the document is read twice.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        Ok(Self {
            entry: serde_json::from_str(raw.get()).map_err(D::Error::custom)?,
            more: serde_json::from_str(raw.get()).map_err(D::Error::custom)?,
        })
    }
}

shapes! {
    /// What is told of a dead letter that is asked for by its id.
    pub struct DeadLetterMore {
        /// What started its execution: `manual, manual_dlq_retry, cron, schedule, webhook, amqp`; null if the
        /// execution is gone.
        pub trigger_type: Option<StartedBy>,
        /// The trigger object, if there is one.
        pub trigger_id: Option<String>,
        /// The planned time that it was started for, if it was one.
        pub scheduled_at: Option<String>,
        /// Who started it.
        pub triggered_by: Option<String>,
        /// Whether a retry from the start can work now; false unless it is pending.
        #[serde(default)]
        pub can_retry_from_start: bool,
        /// Whether a retry can go on from the failed step now: not after completed steps were undone, not
        /// when no step failed, and not unless it is pending.
        #[serde(default)]
        pub can_retry_from_failed_step: bool,
        /// Why a retry cannot work, and what helps; null when one from the start can.
        pub retry_obstacle: Option<String>,
        /// What the target answered last, if it answered.
        pub response: Option<TargetResponse>,
        /// The steps that undid completed ones, or should have, in the order they were begun.
        #[serde(default)]
        pub compensations: Vec<Compensation>,
        /// Those of them that failed: the completed steps whose effect is still there, and why.
        #[serde(default)]
        pub compensation_failures: Vec<CompensationFailure>,
        /// The failed execution's log.
        pub events: Vec<Event>,
        /// Retries by people, oldest first, the last 50.
        #[serde(default)]
        pub retries: Vec<DeadLetterRetry>,
        /// What the last retry by a person changed in the input; empty = nothing or no retry.
        pub input_changes: Vec<super::Change>,
        /// Other pending letters with the same cause.
        pub same_cause: u64,
    }

    /// What a target answered to the last failed attempt.
    pub struct TargetResponse {
        /// The HTTP status.
        pub status: Option<String>,
        /// The first part of the body, up to 64 KiB; null if it had none.
        pub body: Option<String>,
    }

    /// A retry of a dead letter by a person.
    pub struct DeadLetterRetry {
        /// The execution that it is.
        pub execution_id: String,
        /// When it was asked for.
        pub retried_at: String,
        /// By whom.
        pub retried_by: String,
        /// `start` or `failed_step`; null where that was not kept.
        pub from: Option<String>,
        /// Whether its input was edited; null where that was not kept.
        pub edited: Option<bool>,
        /// The edited input. Absent if it was not edited, if its execution is gone, or if the inputs of
        /// later retries take more than 4 MiB: then the execution shows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
        pub input: Option<Raw>,
        /// What was edited.
        #[serde(default)]
        pub input_changes: Vec<super::Change>,
        /// How it ended: `completed`, which resolves the letter, `failed` or `cancelled`; null while it is
        /// open.
        pub outcome: Option<ExecutionStatus>,
        /// When it ended.
        pub ended_at: Option<String>,
        /// Why it failed.
        pub error: Option<ErrorInfo>,
        /// What it completed and could not undo.
        #[serde(default)]
        pub compensation_failures: Vec<CompensationFailure>,
    }

    /// A step that undid a completed one, or should have.
    pub struct Compensation {
        /// The step.
        pub step_id: String,
        /// The completed step that it undoes.
        pub undoes: String,
        /// `completed` = undone; `failed` = not; other statuses of a step while it is under way.
        pub status: StepStatus,
        /// When it ended.
        pub completed_at: Option<String>,
        /// Why it failed.
        pub error: Option<ErrorInfo>,
    }

    /// A completed step that could not be undone.
    pub struct CompensationFailure {
        /// The step that should have undone it.
        pub step_id: String,
        /// The step whose effect is still there.
        pub undoes: String,
        /// Why.
        pub error: ErrorInfo,
    }

    /// Retries a dead letter.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    pub struct RetryLetter {
        /// An edited input; absent = the original one. `{}` counts as edited.
        #[serde(
            default,
            deserialize_with = "super::present",
            skip_serializing_if = "Option::is_none"
        )]
        #[cfg_attr(feature = "openapi", schema(value_type = super::Input, required = false))]
        pub input: Option<Raw>,
        /// `start` (default; newest definition) or `failed_step` (original definition).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(pattern = "^(start|failed_step)$"))]
        pub from: Option<String>,
        /// Another version of the definition.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(
            feature = "openapi",
            schema(format = "uint32", maximum = 4_294_967_295_u32)
        )]
        pub version: Option<u32>,
        /// Whether the workflow's automatic retries apply; without it the retry is made once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub retries: Option<bool>,
    }

    /// A dead letter is being retried.
    pub struct DeadLetterRetried {
        /// The letter.
        pub id: String,
        /// `retrying`
        pub status: LetterStatus,
        /// The new execution.
        pub execution_id: String,
    }

    /// An overview of dead letters.
    pub struct DeadLetterSummary {
        /// How many.
        pub count: u64,
        /// When the oldest failed.
        pub oldest: Option<String>,
        /// When the newest failed.
        pub newest: Option<String>,
        /// By workflow and error, most first.
        pub groups: Vec<DeadLetterGroup>,
    }

    /// Letters of one workflow with one error.
    pub struct DeadLetterGroup {
        /// The workflow.
        pub workflow_id: String,
        /// The failure's class.
        pub error_type: String,
        /// Its code.
        pub error_code: Option<String>,
        /// How many.
        pub count: u64,
    }
}
