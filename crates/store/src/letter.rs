//! Dead letters as they are read back.

mod search;
mod tally;

use std::sync::LazyLock;

use refire_core::dead_letter::{LetterState, LetterStatus, Reason, RetryEntry, RetryFrom};
use refire_core::definition::WorkflowId;
use refire_core::execution::Status;
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{DlqId, ExecutionId};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ReadError;
use crate::column::{Named, read_from};
use crate::error::corrupt;
use crate::layer::store_trait;

pub(crate) use search::{Found, Search, first_id_at, ids_in};
pub(crate) use tally::Tally;

store_trait! {
    /// Dead letters.
    pub trait Letters {
        /// Dead letters older than `before`, newest first.
        async fn letters(
            &self,
            filter: &LetterFilter,
            before: Option<DlqId>,
            limit: u32,
        ) -> Result<Vec<LetterRow>, ReadError>;

        /// One dead letter.
        async fn letter(&self, id: DlqId) -> Result<Option<LetterRow>, ReadError>;

        /// The last retries of a letter by people, oldest first.
        async fn letter_retries(&self, id: DlqId, limit: u32) -> Result<Vec<RetryRow>, ReadError>;

        /// How many letters failed in this millisecond or later, counted up to so many, whatever became of
        /// them.
        async fn letters_since(&self, from: Timestamp, max: u32) -> Result<u64, ReadError>;

        /// How many pending letters of calls to a target there are, of those that failed in this millisecond or
        /// later if one is given, counted up to so many.
        async fn letters_of_target(
            &self,
            target: &str,
            from: Option<Timestamp>,
            max: u32,
        ) -> Result<u64, ReadError>;

        /// Counts by workflow, error type and cause; from counters, not by walking the letters,
        /// wherever the filter allows it.
        async fn letter_summary(&self, filter: &LetterFilter) -> Result<LetterSummary, ReadError>;
    }
}

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
    /// Where it stands.
    pub state: LetterState,
    /// When the execution failed.
    pub failed_at: Timestamp,
    /// When the letter was made.
    pub created_at: Timestamp,
}

read_from! {
    LetterRow {
        id: "dlq.id",
        execution: "dlq.execution",
        workflow: "workflows.id",
        workflow_name: "dlq.workflow_name",
        workflow_deleted: "workflows.deleted_at IS NOT NULL",
        step: "dlq.step",
        reason: "dlq.reason",
        fingerprint: "dlq.fingerprint" as_bits,
        retry_count: "dlq.retry_count",
        max_retries: "dlq.max_retries",
        failed_at: "dlq.failed_at",
        created_at: "dlq.created_at";
        input = Json::null();
        failure = Failure::new(ErrorClass::Internal, "");
        retry_history = Vec::new();
        state = LetterState::default()
    }
}

read_from! {
    LetterState {
        status: "dlq.status",
        generation: "dlq.generation",
        retry_attempted: "dlq.retry_attempted_at, dlq.retry_attempted_by",
        resolution_execution: "dlq.resolution_execution",
        resolved: "dlq.resolved_at, dlq.resolved_by",
        deleted: "dlq.deleted_at, dlq.deleted_by"
    }
}

/// The rows of letters by themselves: where each stands and its failure come behind it.
pub(crate) type LetterParts = (LetterRow, LetterState, Vec<u8>);

/// What [`LetterParts`] are read from, and where that is.
pub(crate) static LETTERS: LazyLock<String> = LazyLock::new(|| {
    let (row, state) = (LetterRow::COLUMNS, LetterState::COLUMNS);
    format!(
        "SELECT {row}, {state}, dlq.failure
         FROM dead_letter_queue AS dlq JOIN workflows ON workflows.key = dlq.workflow"
    )
});

impl LetterRow {
    /// A letter with what the log of its execution says.
    pub(crate) fn whole(
        (row, state, failure): LetterParts,
        input: Option<Json>,
        retry_history: Vec<RetryEntry>,
    ) -> Result<Self, ReadError> {
        let what = || format!("dead letter {}", row.id);
        Ok(Self {
            failure: serde_json::from_slice(&failure).map_err(corrupt(what))?,
            input: input.ok_or_else(|| corrupt(what)("its execution has no input"))?,
            retry_history,
            state,
            ..row
        })
    }
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

read_from! {
    RetryRow {
        execution: "execution",
        at: "retried_at",
        by: "retried_by",
        from: "retried_from",
        edited: "edited",
        ended: "ended_as, ended_at"
    }
}

/// Which dead letters to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
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
    /// Of calls to this target.
    pub target: Option<String>,
}

impl LetterFilter {
    /// Whether a letter passes.
    #[must_use]
    pub fn passes(&self, letter: &LetterRow) -> bool {
        self.passes_by(
            (&letter.workflow, &letter.workflow_name),
            letter.step.as_deref(),
            (&letter.failure, letter.fingerprint),
            (letter.state.status, letter.failed_at),
        )
    }

    /// Whether a letter passes of this workflow, step and failure with its cause, that stands so and
    /// failed then.
    pub(crate) fn passes_by(
        &self,
        (workflow, workflow_name): (&WorkflowId, &str),
        step: Option<&str>,
        (failure, fingerprint): (&Failure, u64),
        (status, failed_at): (LetterStatus, Timestamp),
    ) -> bool {
        let class = failure.class.name();
        let mut words = vec![failure.message.as_str(), workflow.as_str(), workflow_name];
        words.extend(failure.code.as_deref());
        words.extend(step);
        let contain = |text: &String| {
            let text = text.to_lowercase();
            words.iter().any(|it| it.to_lowercase().contains(&text))
        };
        self.workflow.as_ref().is_none_or(|id| id == workflow)
            && (self.error_types.is_empty() || self.error_types.iter().any(|name| name == class))
            && self.has_status(status)
            && self.from.is_none_or(|from| failed_at >= from)
            && self.to.is_none_or(|to| failed_at < to)
            && self.fingerprint.is_none_or(|it| it == fingerprint)
            && (self.target.is_none() || self.target == failure.target)
            && self.text.as_ref().is_none_or(contain)
    }

    /// Whether letters with this status are asked for.
    pub(crate) fn has_status(&self, status: LetterStatus) -> bool {
        self.statuses.is_empty() || self.statuses.contains(&status)
    }

    /// Letters that were found and then read: in between one may have been settled.
    pub(crate) fn still(&self, rows: impl IntoIterator<Item = LetterRow>) -> Vec<LetterRow> {
        let is_wanted = |row: &LetterRow| self.has_status(row.state.status);
        rows.into_iter().filter(is_wanted).collect()
    }

    /// Whether letters must be looked at one by one to count them: counters know nothing of times,
    /// causes, targets and texts.
    pub(crate) fn needs_walk(&self) -> bool {
        // A millisecond is what the ids of letters tell.
        let is_between = |from: Timestamp| from.as_micros().rem_euclid(1_000) != 0;
        self.from.is_some_and(is_between)
            || self.to.is_some()
            || self.text.is_some()
            || self.fingerprint.is_some()
            || self.target.is_some()
    }

    /// Those that pass but for their age: counters count them, so they are looked at and taken off. There are
    /// few of them: what is old was mostly seen to, or is archived.
    pub(crate) fn too_old(&self) -> Option<Self> {
        self.from.map(|from| Self {
            from: None,
            to: Some(from),
            ..self.clone()
        })
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
