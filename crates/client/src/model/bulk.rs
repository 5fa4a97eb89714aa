//! Bulk jobs: many dead letters or executions at once.

use std::collections::BTreeMap;

use super::{BulkAction, BulkOutcome, BulkState, ExecutionStatus, LetterStatus, Raw};

shapes! {
    /// Does something with many dead letters, as a job of the server. Either `ids` or `filter` says with which.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    pub struct BulkDeadLetters {
        /// `retry`, `delete` (they are not retried any more) or `purge` (they go for good, with their executions).
        #[cfg_attr(feature = "openapi", schema(pattern = "^(retry|delete|purge)$"))]
        pub action: String,
        /// These, at most 10,000, none twice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 10_000))]
        pub ids: Option<Vec<String>>,
        /// Those that pass this filter, which means the same as in the list. An empty one is refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<DeadLetterFilter>))]
        pub filter: Option<Raw>,
        /// Only say how many those are, and what would become of ten of them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub dry_run: bool,
        /// How many a second at most, 1 to 10,000; default 50.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 10_000))]
        pub rate: Option<u32>,
        /// For `retry`: how each input changes. `{"merge": …}` is laid over it (RFC 7396), `{"template": …}` takes
        /// its place. Strings may hold `${input.…}`, `${error.type}`, `${error.code}`, `${error.message}`,
        /// `${letter.id}`, `${letter.workflow_id}` and `${letter.failed_at}`, with a default after `??`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<BulkTransform>))]
        pub transform: Option<Raw>,
        /// For `retry`: `start` (default; newest definition) or `failed_step` (original definition).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(pattern = "^(start|failed_step)$"))]
        pub from: Option<String>,
        /// For `retry`: whether the workflow's automatic retries apply; without it each is made once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub retries: Option<bool>,
        /// For `purge`: those that are pending, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub include_pending: Option<bool>,
    }

    /// How the inputs of dead letters change; one of the two.
    #[serde(deny_unknown_fields)]
    pub struct BulkTransform {
        /// A JSON merge patch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
        pub merge: Option<Raw>,
        /// The whole input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
        pub template: Option<Raw>,
    }

    /// Which dead letters, as in the list. Lists may also be written as one text with commas.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    pub struct DeadLetterFilter {
        /// Of this workflow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(pattern = "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$"))]
        pub workflow_id: Option<String>,
        /// With one of these classes of error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub error_type: Option<Vec<String>>,
        /// With one of these statuses; default `pending` and `retrying`, for `purge` `resolved` and `deleted`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub status: Option<Vec<LetterStatus>>,
        /// That failed at or after this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(format = "date-time"))]
        pub from: Option<String>,
        /// That failed before this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(format = "date-time"))]
        pub to: Option<String>,
        /// Whose message, workflow, code or step contains this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub q: Option<String>,
        /// With this cause.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(pattern = "^[0-9a-fA-F]{16}$"))]
        pub fingerprint: Option<String>,
        /// `true`: only those that are archived, `all`: those, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(pattern = "^(true|false|all)$"))]
        pub archived: Option<String>,
    }

    /// Does something with many executions, as a job of the server. Either `ids` or `filter` says with which.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    pub struct BulkExecutions {
        /// `cancel`, `pause`, `resume` or `run_again`.
        #[cfg_attr(feature = "openapi", schema(pattern = "^(cancel|pause|resume|run_again)$"))]
        pub action: String,
        /// These, at most 10,000, none twice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 10_000))]
        pub ids: Option<Vec<String>>,
        /// Those that pass this filter, which means the same as in the list. An empty one is refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<ExecutionFilter>))]
        pub filter: Option<Raw>,
        /// Only say how many those are, and what would become of ten of them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub dry_run: bool,
        /// How many a second at most, 1 to 10,000; default 50.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 10_000))]
        pub rate: Option<u32>,
        /// For `cancel`: undo completed steps first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub compensate: Option<bool>,
    }

    /// Which executions, as in the list. Lists may also be written as one text with commas.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    pub struct ExecutionFilter {
        /// Of one of these workflows; a `*` at the end stands for any rest of a name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub workflow: Option<Vec<String>>,
        /// With one of these statuses. Default for `cancel` and `pause`: those that are open; for `resume`: `paused`;
        /// for `run_again`: `failed`, `dlq` and `cancelled`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub status: Option<Vec<ExecutionStatus>>,
        /// Started by this trigger.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub trigger: Option<String>,
        /// Started in one of these ways.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub trigger_type: Option<Vec<String>>,
        /// Created at or after this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(format = "date-time"))]
        pub from: Option<String>,
        /// Created before this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(format = "date-time"))]
        pub to: Option<String>,
        /// Started with this idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub key: Option<String>,
        /// Of this version of their workflow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(minimum = 1))]
        pub version: Option<u32>,
        /// That failed with one of these classes of error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub error_type: Option<Vec<String>>,
        /// Whose error's message or code, or workflow, contains this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub q: Option<String>,
    }

    /// A bulk job is saved and begins.
    pub struct BulkStarted {
        /// `bulk_…`
        pub id: String,
    }

    /// What a bulk job would do.
    pub struct BulkPreview {
        /// How many things it is about.
        pub count: u64,
        /// Whether there may be more than were counted.
        #[serde(default)]
        pub at_least: bool,
        /// What would become of some of them, the newest.
        pub sample: Vec<BulkSample>,
    }

    /// What would become of one thing.
    pub struct BulkSample {
        /// The dead letter or the execution.
        pub id: String,
        /// For `retry` the input as it is, else the status.
        #[cfg_attr(feature = "openapi", schema(value_type = Value))]
        pub before: Raw,
        /// For `retry` the input that it would be retried with, else the status afterwards; null if it would be gone.
        /// Absent if there is an error.
        #[serde(default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
        pub after: Option<Raw>,
        /// Why it would not be done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub error: Option<String>,
    }

    /// A bulk job.
    pub struct BulkJob {
        /// `bulk_…`
        pub id: String,
        /// What it does with each thing.
        pub action: BulkAction,
        /// Where it stands.
        pub state: BulkState,
        /// The filter that says with which, by name; null if they are named by their ids.
        pub filter: Option<BTreeMap<String, String>>,
        /// How many things are named by their ids.
        pub ids: Option<u64>,
        /// How many things it was about when it was made; null if that was not counted.
        pub total: Option<u64>,
        /// How many have their outcome.
        pub done: u64,
        /// How many were done.
        pub ok: u64,
        /// How many could not be done.
        pub failed: u64,
        /// For how many there was nothing to do.
        pub skipped: u64,
        /// How many a second at most.
        pub rate: u32,
        /// For `retry`: `start` or `failed_step`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub from: Option<String>,
        /// For `retry`: whether the workflow's automatic retries apply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub retries: Option<bool>,
        /// For `retry`: how the inputs change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<BulkTransform>))]
        pub transform: Option<Raw>,
        /// For `purge`: whether pending ones go, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub include_pending: Option<bool>,
        /// For `cancel`: whether completed steps are undone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub compensate: Option<bool>,
        /// Who made it.
        pub created_by: String,
        /// When it was made. What came later is none of its business.
        pub created_at: String,
        /// When it moved last.
        pub updated_at: String,
        /// When it ended.
        pub ended_at: Option<String>,
    }

    /// What became of one thing of a bulk job.
    pub struct BulkItem {
        /// The dead letter or the execution.
        pub id: String,
        /// What became of it.
        pub outcome: BulkOutcome,
        /// The execution that was started for it.
        pub execution_id: Option<String>,
        /// Why it was not done.
        pub detail: Option<String>,
        /// When.
        pub at: String,
    }

    /// An execution is run again.
    pub struct ExecutionRunAgain {
        /// The execution as it was.
        pub id: String,
        /// The new one.
        pub execution_id: String,
    }
}
