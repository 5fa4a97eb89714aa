//! What happened to workflows, in numbers.

shapes! {
    /// What happened within a range, step by step.
    pub struct MinuteStats {
        /// Only of this workflow; null = all.
        pub workflow: Option<String>,
        /// When the first step begins.
        pub from: String,
        /// Where it ends.
        pub to: String,
        /// The length of a step.
        pub step: String,
        /// One for each step, the oldest first, also where nothing happened.
        pub points: Vec<StatsPoint>,
        /// All of it together.
        pub total: StatsNumbers,
    }

    /// A step of a chart.
    pub struct StatsPoint {
        /// When it begins.
        pub at: String,
        /// What happened.
        #[serde(flatten)]
        pub numbers: StatsNumbers,
    }

    /// Numbers of executions, counted when they happened. A server that crashes may lose ten seconds of them.
    pub struct StatsNumbers {
        /// Executions that were accepted.
        pub started: u64,
        /// Those that ended well.
        pub completed: u64,
        /// Those that ended badly, with or without a dead letter.
        pub failed: u64,
        /// Of these, those with one.
        pub dead_lettered: u64,
        /// Those that people ended.
        pub cancelled: u64,
        /// Retries that were planned.
        pub retries: u64,
        /// Executions that completed after a retry.
        pub recovered: u64,
        /// Executions that failed after a retry.
        pub given_up: u64,
        /// Planned times that started something.
        pub fired: u64,
        /// Planned times that were left out because no server looked.
        pub missed: u64,
        /// How long those took on average that ended, in milliseconds; null if none did.
        pub duration_avg_ms: Option<f64>,
        /// The longest of these.
        pub duration_max_ms: Option<u64>,
    }
}
