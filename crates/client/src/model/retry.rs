//! The retry simulator and the list of recent retries.

use super::ExecutionStatus;

shapes! {
    /// When retries would happen.
    pub struct RetryTimeline {
        /// The retries in order.
        pub retries: Vec<PlannedRetry>,
        /// The sum of all waits without jitter.
        pub total_ms: u64,
        /// The least it can be.
        pub total_min_ms: u64,
        /// The most it can be.
        pub total_max_ms: u64,
    }

    /// One retry to come.
    pub struct PlannedRetry {
        /// 1 is the first retry (the second attempt).
        pub retry: u32,
        /// The wait before it, without jitter.
        pub delay_ms: u64,
        /// The shortest wait.
        pub min_ms: u64,
        /// The longest wait.
        pub max_ms: u64,
        /// Since the first failure, without jitter.
        pub at_ms: u64,
    }

    /// An execution that was retried.
    pub struct RetriedExecution {
        /// The execution.
        pub execution_id: String,
        /// Its workflow.
        pub workflow_id: String,
        /// The step that failed last.
        pub step_id: Option<String>,
        /// Retries so far.
        pub retry_count: u32,
        /// Retries it may have.
        pub max_retries: u32,
        /// Its status now.
        pub status: ExecutionStatus,
        /// The last failure's class.
        pub error_type: Option<String>,
        /// Its code.
        pub error_code: Option<String>,
        /// Its message.
        pub error_message: Option<String>,
        /// When the next attempt is due.
        pub next_retry_at: Option<String>,
        /// From its start until its end, or until now.
        pub total_ms: u64,
        /// When it was accepted.
        pub created_at: String,
    }
}
