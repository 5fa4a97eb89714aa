//! Scheduled tasks, and the history of their attempts. Names are those of the document that they come
//! from, in camelCase.

use super::{Raw, ScheduleType, TaskExecutionStatus, TaskTriggerStatus};

shapes! {
    /// A scheduled task that was made.
    #[serde(rename_all = "camelCase")]
    pub struct ScheduledTaskCreated {
        /// Its id, `task-…`.
        pub task_id: String,
        /// What people call it.
        pub task_name: Option<String>,
        /// What kind of schedule it has.
        pub schedule_type: ScheduleType,
        /// When the next cycle begins; null if none will.
        pub next_execution_time: Option<String>,
        /// Whether it is neither paused nor cancelled.
        pub is_active: bool,
        /// Whether no cycle of it will begin by itself any more.
        pub is_finished: bool,
        /// When it was made.
        pub created_at: String,
        /// What is allowed but probably not meant, such as a secret that is not set.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub warnings: Vec<String>,
    }

    /// A scheduled task.
    #[serde(rename_all = "camelCase")]
    pub struct ScheduledTask {
        /// Its id, `task-…`. Its workflow has the same name.
        pub task_id: String,
        /// What people call it.
        pub task_name: Option<String>,
        /// What it is for.
        pub task_description: Option<String>,
        /// Whether it comes again and again.
        pub is_recurring: bool,
        /// What kind of schedule it has.
        pub schedule_type: ScheduleType,
        /// The schedule, as it was written.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
        pub schedule_config: Option<Raw>,
        /// No cycle begins before.
        pub start_time: Option<String>,
        /// No cycle begins after.
        pub end_time: Option<String>,
        /// What is called, with what, and how often it is tried, as it was written.
        #[cfg_attr(feature = "openapi", schema(value_type = serde_json::Value))]
        pub task_config: Raw,
        /// When the next cycle begins; null if none will, or while it is paused.
        pub next_execution_time: Option<String>,
        /// Whether it is neither paused nor cancelled.
        pub is_active: bool,
        /// Whether no cycle of it will begin by itself any more.
        pub is_finished: bool,
        /// When it was cancelled.
        pub cancelled_at: Option<String>,
        /// What the newest attempt came to.
        pub last_execution_status: Option<TaskExecutionStatus>,
        /// Cycles that have begun.
        pub cycles: u64,
        /// Counts its changes; send it as `If-Match` to change only what you have seen.
        pub version: u32,
        /// When it was made.
        pub created_at: String,
        /// When it changed last.
        pub updated_at: String,
    }

    /// A page of scheduled tasks.
    #[serde(rename_all = "camelCase")]
    pub struct ScheduledTaskPage {
        /// The tasks, newest first.
        pub items: Vec<ScheduledTask>,
        /// Pass it as `cursor` to get the next page; null on the last.
        pub next_cursor: Option<String>,
    }

    /// One attempt of a scheduled task.
    #[serde(rename_all = "camelCase")]
    pub struct TaskRecord {
        /// Its id: `exec_…-` and the attempt.
        pub id: String,
        /// The same.
        pub execution_id: String,
        /// The task.
        pub scheduled_task_id: String,
        /// The cycle that it belongs to, counted from 1.
        pub cycle_number: Option<u64>,
        /// Whether the cycle was tried before.
        pub is_retry: bool,
        /// When it began.
        pub execution_started_at: String,
        /// When it was over.
        pub execution_completed_at: Option<String>,
        /// How the call went; null while it is under way.
        pub trigger_status: Option<TaskTriggerStatus>,
        /// What the call came back with: `status` and `body`, or `error`.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
        pub trigger_result: Option<Raw>,
        /// How the task went, as far as anybody knows.
        pub execution_status: TaskExecutionStatus,
        /// How to ask the target about it; values of headers are not shown.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
        pub query_config: Option<Raw>,
        /// How far the target is, in percent.
        pub progress: Option<u8>,
        /// How far it is, in words.
        pub progress_message: Option<String>,
        /// What the target said of it at last.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
        pub result: Option<Raw>,
        /// When the record was made.
        pub created_at: String,
        /// When something was last heard of it.
        pub updated_at: String,
    }

    /// A page of the history of a scheduled task.
    #[serde(rename_all = "camelCase")]
    pub struct TaskHistory {
        /// The task.
        pub task_id: String,
        /// Its attempts, newest first.
        pub items: Vec<TaskRecord>,
        /// Pass it as `cursor` to get the next page; null on the last.
        pub next_cursor: Option<String>,
    }

    /// A cycle that somebody asked for.
    #[serde(rename_all = "camelCase")]
    pub struct TaskRun {
        /// The id of its first attempt: `exec_…-1`.
        pub execution_id: String,
        /// The how-manieth it is.
        pub cycle_number: u64,
    }

    /// What a target answered when it was asked about a task.
    #[serde(rename_all = "camelCase")]
    pub struct TaskStatusAnswer {
        /// When it was asked.
        pub queried_at: String,
        /// The status of its answer.
        pub http_status: u16,
        /// What it answered.
        #[cfg_attr(feature = "openapi", schema(value_type = serde_json::Value))]
        pub response: Raw,
    }
}
