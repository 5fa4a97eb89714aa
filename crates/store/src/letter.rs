//! Dead letters as they are read back.

mod search;
mod tally;

use refire_core::dead_letter::{LetterStatus, Reason, RetryEntry, RetryFrom};
use refire_core::definition::WorkflowId;
use refire_core::execution::Status;
use refire_core::failure::Failure;
use refire_core::id::{DlqId, ExecutionId};
use refire_core::json::Json;
use refire_core::time::Timestamp;

pub(crate) use search::{Search, ids_in};
pub(crate) use tally::Tally;

/// A dead letter, with what belongs to its failed execution.
#[derive(Debug, Clone, PartialEq)]
pub struct LetterRow {
    /// Its id.
    pub id: DlqId,
    /// The failed execution.
    pub execution: ExecutionId,
    /// Its workflow.
    pub workflow: WorkflowId,
    /// The workflow's name at the time.
    pub workflow_name: String,
    /// Whether that was deleted since.
    pub workflow_deleted: bool,
    /// The step that failed.
    pub step: Option<String>,
    /// The failed execution's input (from its first event).
    pub input: Json,
    /// Why it is here.
    pub reason: Reason,
    /// What went wrong.
    pub failure: Failure,
    /// Equal for failures with the same cause.
    pub fingerprint: u64,
    /// Retries that were made.
    pub retry_count: u32,
    /// Retries that the policy allowed.
    pub max_retries: u32,
    /// The failed attempts of the failed step, oldest first (from the log), the last 50 at most.
    pub retry_history: Vec<RetryEntry>,
    /// The highest generation that its retries have used.
    pub generation: u32,
    /// Where it stands.
    pub status: LetterStatus,
    /// The last retry by a person: when and who.
    pub retry_attempted: Option<(Timestamp, String)>,
    /// The execution that resolved it.
    pub resolution_execution: Option<ExecutionId>,
    /// When it was resolved, and who had retried it.
    pub resolved: Option<(Timestamp, String)>,
    /// When it was given up, and by whom.
    pub deleted: Option<(Timestamp, String)>,
    /// When the execution failed.
    pub failed_at: Timestamp,
    /// When the letter was made.
    pub created_at: Timestamp,
}

/// A retry of a dead letter by a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryRow {
    /// The execution that it is.
    pub execution: ExecutionId,
    /// When it was asked for.
    pub at: Timestamp,
    /// By whom.
    pub by: String,
    /// Where it began; absent where that was not kept.
    pub from: Option<RetryFrom>,
    /// Whether its input was another than the original's; absent where that was not kept.
    pub edited: Option<bool>,
    /// How its execution ended, and when; absent while it is open.
    pub ended: Option<(Status, Timestamp)>,
}

/// Which dead letters to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LetterFilter {
    /// Of this workflow.
    pub workflow: Option<WorkflowId>,
    /// With one of these error types; empty = all. One that no letter can have finds nothing.
    pub error_types: Vec<String>,
    /// With one of these statuses; empty = all.
    pub statuses: Vec<LetterStatus>,
    /// That failed at or after.
    pub from: Option<Timestamp>,
    /// That failed before.
    pub to: Option<Timestamp>,
    /// Whose message, workflow, error code or step contains this text, whatever its case.
    pub text: Option<String>,
    /// With this cause.
    pub fingerprint: Option<u64>,
}

impl LetterFilter {
    /// Whether a letter passes.
    #[must_use]
    pub fn passes(&self, letter: &LetterRow) -> bool {
        let class = letter.failure.class.name();
        let mut words = vec![
            letter.failure.message.as_str(),
            letter.workflow.as_str(),
            &letter.workflow_name,
        ];
        words.extend(letter.failure.code.as_deref());
        words.extend(letter.step.as_deref());
        let contain = |text: &String| {
            let text = text.to_lowercase();
            words.iter().any(|it| it.to_lowercase().contains(&text))
        };
        let is_of = |id: &WorkflowId| *id == letter.workflow;
        self.workflow.as_ref().is_none_or(is_of)
            && (self.error_types.is_empty() || self.error_types.iter().any(|name| name == class))
            && (self.statuses.is_empty() || self.statuses.contains(&letter.status))
            && self.from.is_none_or(|from| letter.failed_at >= from)
            && self.to.is_none_or(|to| letter.failed_at < to)
            && self.fingerprint.is_none_or(|it| it == letter.fingerprint)
            && self.text.as_ref().is_none_or(contain)
    }

    /// Whether letters must be looked at one by one to count them: counters know nothing of times,
    /// causes and texts.
    pub(crate) fn needs_walk(&self) -> bool {
        self.from.is_some()
            || self.to.is_some()
            || self.text.is_some()
            || self.fingerprint.is_some()
    }
}

/// An overview of dead letters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LetterSummary {
    /// How many.
    pub count: u64,
    /// When the oldest of them failed.
    pub oldest: Option<Timestamp>,
    /// When the newest of them failed.
    pub newest: Option<Timestamp>,
    /// By workflow and error type, most first.
    pub groups: Vec<LetterGroup>,
}

/// Letters of one workflow with one error type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LetterGroup {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The error type.
    pub error_type: String,
    /// The error code (an HTTP status), if they have one; an empty one is none.
    pub error_code: Option<String>,
    /// How many.
    pub count: u64,
}
