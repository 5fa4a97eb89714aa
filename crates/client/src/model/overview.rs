//! The whole at a glance: how much happened, how much is open, and who is there.

use std::collections::BTreeMap;

shapes! {
    /// The whole at a glance.
    pub struct Overview {
        /// How far back it looks.
        pub range: String,
        /// The executions that began within the range.
        pub executions: ExecutionCounts,
        /// Of those that have completed, failed or become dead letters, the share that completed; null
        /// while there are none.
        pub success_rate: Option<f64>,
        /// The same of those that were retried.
        pub retry_recovery: Option<f64>,
        /// Dead letters.
        pub dead_letters: LetterCounts,
        /// What is open, whenever it began; each counted up to 10,000.
        pub open: OpenExecutions,
        /// Triggers.
        pub triggers: TriggerCounts,
        /// Workers that have said who they are.
        pub workers: WorkerCounts,
        /// Nodes.
        pub nodes: NodeCounts,
        /// Tasks for workers.
        pub tasks: TaskCounts,
        /// Alerts.
        #[serde(default)]
        pub alerts: AlertCounts,
        /// What is stored, and for how long.
        #[serde(default)]
        pub storage: Option<Storage>,
    }

    /// Alerts; each counted up to 1,000.
    #[derive(Default)]
    pub struct AlertCounts {
        /// Those that fire.
        pub firing: u64,
        /// Those that are bad, but not for long enough.
        pub pending: u64,
    }

    /// What is stored, and for how long.
    pub struct Storage {
        /// How large the database is, in bytes; null where that is not known.
        pub bytes: Option<u64>,
        /// How long completed executions are kept, in seconds; null = for ever.
        pub keep_completed_s: Option<u64>,
        /// The same for cancelled ones.
        pub keep_cancelled_s: Option<u64>,
        /// The same for failed ones; those with a dead letter that is pending stay.
        pub keep_failed_s: Option<u64>,
    }

    /// Executions by their status.
    pub struct ExecutionCounts {
        /// How many.
        pub total: u64,
        /// Whether these are all; of many the newest 10,000 are counted.
        pub exact: bool,
        /// By status.
        pub by_status: BTreeMap<String, u64>,
    }

    /// Dead letters.
    pub struct LetterCounts {
        /// Those that wait and are not archived.
        pub pending: u64,
        /// Those that wait and failed more than 30 days ago.
        #[serde(default)]
        pub archived: u64,
        /// When the oldest of them failed.
        pub oldest: Option<String>,
        /// When the newest of them failed.
        pub newest: Option<String>,
        /// Letters that came within the range, whatever became of them; counted up to 10,000.
        pub new_in_range: u64,
    }

    /// Open executions by their status.
    pub struct OpenExecutions {
        /// With an attempt under way.
        pub running: u64,
        /// Waiting for a retry.
        pub retrying: u64,
        /// Waiting for a worker or a callback.
        pub waiting: u64,
        /// Paused.
        pub paused: u64,
        /// Not begun.
        pub pending: u64,
    }

    /// Triggers.
    pub struct TriggerCounts {
        /// Those that start something.
        pub enabled: u64,
        /// Those that have missed an expected success.
        pub overdue: u64,
    }

    /// Workers.
    pub struct WorkerCounts {
        /// At work, or asking for it.
        pub active: u64,
        /// There a little while ago.
        pub idle: u64,
        /// Not heard of for longer.
        pub dead: u64,
    }

    /// Nodes.
    pub struct NodeCounts {
        /// Those whose lease holds.
        pub alive: u64,
    }

    /// Tasks for workers; of many the 10,000 whose clocks run out first are counted.
    pub struct TaskCounts {
        /// Those that workers may fetch.
        pub pending: u64,
        /// Those that workers have.
        pub locked: u64,
    }
}
