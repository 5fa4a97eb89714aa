//! Tasks for workers, and the workers.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::{Raw, TaskStatus, WorkerStatus};

/// The longest wait that a worker may ask for, in seconds: a year.
const RETRY_AFTER_SECONDS_MAX: u64 = 365 * 24 * 60 * 60;
/// The longest extension of a lock, in seconds: thirty days.
const EXTEND_SECONDS_MAX: u64 = 30 * 24 * 60 * 60;

/// A whole number in a range, also if it is written as 30.0, as some programs write all of theirs.
fn whole<'de, D, N, const MIN: u64, const MAX: u64>(deserializer: D) -> Result<Option<N>, D::Error>
where
    D: Deserializer<'de>,
    N: TryFrom<u64>,
{
    let Some(number) = Option::<f64>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let whole = Some(number).filter(|number| number.fract() == 0.0);
    let whole = whole.and_then(|number| format!("{number:.0}").parse::<u64>().ok());
    let whole = whole.filter(|number| (MIN..=MAX).contains(number));
    let whole = whole.and_then(|number| N::try_from(number).ok());
    let wrong = || {
        let range = format!("between {MIN} and {MAX}");
        D::Error::custom(format!("{number} is not a whole number {range}"))
    };
    whole.ok_or_else(wrong).map(Some)
}

/// The same where there must be one.
fn one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let seconds = whole::<_, _, 1, EXTEND_SECONDS_MAX>(deserializer)?;
    seconds.ok_or_else(|| D::Error::custom("a whole number is missing"))
}

shapes! {
    /// A task that a worker fetches, does and reports.
    #[serde(rename_all = "camelCase")]
    pub struct Task {
        /// Its id, `xt_…`.
        pub id: String,
        /// The execution that it belongs to.
        pub execution_id: String,
        /// The same, as other systems call it.
        pub workflow_instance_id: String,
        /// The workflow.
        pub workflow_id: String,
        /// The step that it is.
        pub step_id: String,
        /// What workers ask for.
        pub task_type: String,
        /// 1 (first) to 10 (last).
        pub priority: u8,
        /// What the worker is given; absent in lists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
        pub input: Option<Raw>,
        /// What the worker reported; only when one task is asked for, and done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
        pub output: Option<Raw>,
        /// The worker that has it, or had it last.
        pub worker_id: Option<String>,
        /// Since when.
        pub locked_at: Option<String>,
        /// How long a worker has it without a word.
        pub lock_duration_seconds: u64,
        /// Until when the worker has it.
        pub lock_expires_at: Option<String>,
        /// When its worker was heard of last.
        pub last_heartbeat_at: Option<String>,
        /// How often its worker must send a heartbeat.
        pub heartbeat_interval_seconds: Option<u64>,
        /// After so many missed ones it is taken from the worker.
        pub heartbeat_max_missed: Option<u64>,
        /// From when on it can be fetched.
        pub available_at: String,
        /// When the attempt is over, whether a worker has it or not.
        pub timeout_at: String,
        /// When the task was over.
        pub completed_at: Option<String>,
        /// Where it stands.
        pub status: TaskStatus,
        /// Attempts that failed.
        pub retry_count: u32,
        /// Attempts in all.
        pub max_retries: u32,
        /// What the last attempt failed with.
        pub error_message: Option<String>,
        /// How far the worker is, in percent.
        pub progress: Option<u8>,
        /// How far it is, in words.
        pub progress_message: Option<String>,
        /// When it was made.
        pub created_at: String,
        /// When it changed last.
        pub updated_at: String,
        /// Counts its changes.
        pub version: u64,
        /// The worker's hold on it; only in the answer of `poll`. Send it with every call about the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub lock_token: Option<String>,
    }

    /// A page of tasks.
    #[serde(rename_all = "camelCase")]
    pub struct TaskPage {
        /// The tasks, newest first.
        pub items: Vec<Task>,
        /// Pass it as `cursor` to get the next page; null on the last.
        pub next_cursor: Option<String>,
    }

    /// Tasks by their type.
    #[serde(rename_all = "camelCase")]
    pub struct TaskSummary {
        /// The types that have open tasks, by name.
        pub items: Vec<TaskTypeSummary>,
        /// Whether all were counted; of many the 10,000 whose clocks run out first are.
        pub exact: bool,
    }

    /// Tasks of one type.
    #[serde(rename_all = "camelCase")]
    pub struct TaskTypeSummary {
        /// The type.
        pub task_type: String,
        /// Tasks that workers may fetch, now or later.
        pub pending: u64,
        /// Tasks that workers have.
        pub locked: u64,
        /// From when on the first pending one can be fetched.
        pub oldest_pending_at: Option<String>,
        /// Workers that ask for this type and are not dead; those without a name are not known.
        pub workers: u64,
    }

    /// A worker's word that its task failed.
    #[derive(Default)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    pub struct FailTask {
        /// What went wrong, for people.
        #[serde(default)]
        pub message: String,
        /// Where, line by line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub stack_trace: Option<String>,
        /// Whether another attempt may help. Default: true.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub retryable: Option<bool>,
        /// The next attempt shall wait so long at least; of more than an hour, an hour counts.
        #[serde(
            default,
            deserialize_with = "whole::<_, _, 0, RETRY_AFTER_SECONDS_MAX>",
            skip_serializing_if = "Option::is_none"
        )]
        #[cfg_attr(feature = "openapi", schema(maximum = 31_536_000))]
        pub retry_after_seconds: Option<u64>,
    }

    /// A worker's word that it is still at it.
    #[derive(Default)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    pub struct Heartbeat {
        /// How far it is, in percent.
        #[serde(
            default,
            deserialize_with = "whole::<_, _, 0, 100>",
            skip_serializing_if = "Option::is_none"
        )]
        #[cfg_attr(feature = "openapi", schema(maximum = 100))]
        pub progress: Option<u8>,
        /// How far it is, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub progress_message: Option<String>,
    }

    /// A worker's wish to have its task for longer.
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    pub struct ExtendTask {
        /// So long from now, but not beyond the attempt's time.
        #[serde(deserialize_with = "one")]
        #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 2_592_000))]
        pub seconds: u64,
    }

    /// A worker that has asked for tasks and said who it is.
    #[serde(rename_all = "camelCase")]
    pub struct Worker {
        /// Its name.
        pub worker_id: String,
        /// What kind of worker it says it is.
        pub worker_type: Option<String>,
        /// What it asks for.
        pub task_types: Vec<String>,
        /// `ACTIVE` if it has a task or asked for one in the last minute, `IDLE` for five minutes.
        pub status: WorkerStatus,
        /// Tasks that it has.
        pub held: u64,
        /// When it last asked for tasks.
        pub last_poll_at: Option<String>,
        /// When it last sent a heartbeat.
        pub last_heartbeat_at: Option<String>,
        /// Tasks that it has done.
        pub tasks_completed: u64,
        /// Tasks that it has reported as failed.
        pub tasks_failed: u64,
        /// When it was first seen.
        pub created_at: String,
        /// When it was last seen.
        pub updated_at: String,
    }

    /// A page of workers.
    #[serde(rename_all = "camelCase")]
    pub struct WorkerPage {
        /// The workers, by name.
        pub items: Vec<Worker>,
        /// Pass it as `cursor` to get the next page; null on the last.
        pub next_cursor: Option<String>,
    }

    /// A worker was removed.
    #[serde(rename_all = "camelCase")]
    pub struct WorkerRemoved {
        /// Its name.
        pub worker_id: String,
        /// Tasks that it had, which others may fetch now.
        pub released: u64,
    }
}
