//! Work as it is read back.

use refire_core::definition::WorkflowId;
use refire_core::id::{ExecutionId, NodeId};
use refire_core::time::Timestamp;

use crate::WorkKey;
use crate::column::read_from;
use crate::layer::store_trait;

store_trait! {
    /// Work: which workflows have some, what dead nodes left, what a node has, how much is open.
    pub trait Work {
        /// Workflows that have unowned work due by `now`, for the claims to go round.
        async fn ready_workflows(&self, now: Timestamp) -> Result<Vec<WorkflowId>, ReadError>;

        /// Work whose owner is not among the nodes, after the given key: what a dead one left behind.
        async fn orphans(&self, after: Option<&WorkKey>, limit: u32) -> Result<Vec<WorkRow>, ReadError>;

        /// Work of this node that is due by `now`, after the given key: what it is at, and what it may
        /// have forgotten.
        async fn owned_due(
            &self,
            node: NodeId,
            now: Timestamp,
            after: Option<&WorkKey>,
            limit: u32,
        ) -> Result<Vec<WorkRow>, ReadError>;

        /// How many executions of a workflow are open, counted up to so many: a backlog of a million need
        /// not be walked for a number in a list.
        async fn open_executions(&self, workflow: &WorkflowId, max: u32) -> Result<u64, ReadError>;

        /// How much unowned work of these steps is due by `now`, counted up to so many.
        async fn waiting_work(
            &self,
            workflow: &WorkflowId,
            steps: &[&str],
            now: Timestamp,
            max: u32,
        ) -> Result<u64, ReadError>;

        /// How many executions of a workflow (or of all) are open, by what their work rows say.
        async fn open_counts(&self, workflow: Option<&WorkflowId>) -> Result<OpenCounts, ReadError>;
    }
}

/// Work: an attempt that may run, waits for its time, or is running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkRow {
    /// The execution.
    pub execution: ExecutionId,
    /// The step.
    pub step: String,
    /// The attempt to make.
    pub attempt: u32,
    /// Whether it is a retry.
    pub is_retry: bool,
    /// The workflow, for claims by workflow.
    pub workflow: WorkflowId,
    /// 1 (first) to 10 (last).
    pub priority: u8,
    /// Not before; absent = at once.
    pub due_at: Option<Timestamp>,
    /// The value of the workflow's concurrency key.
    pub limit_key: Option<String>,
    /// The node that holds it.
    pub owner: Option<NodeId>,
    /// Whether the attempt has begun.
    pub begun: bool,
    /// When the commit that began it was made; absent if it has not begun, or began before this was
    /// kept.
    pub begun_at: Option<Timestamp>,
}

read_from! {
    WorkRow {
        execution: "work.execution",
        step: "work.step",
        attempt: "work.attempt",
        is_retry: "work.is_retry",
        workflow: "workflows.id",
        priority: "work.priority",
        due_at: "work.due_at",
        limit_key: "work.limit_key",
        owner: "work.owner",
        begun: "work.begun",
        begun_at: "work.begun_at"
    }
}

impl WorkRow {
    /// Since when the attempt runs: what is begun ahead of its time is called when it is due.
    #[must_use]
    pub fn running_since(&self) -> Option<Timestamp> {
        let begun_at = self.begun_at.filter(|_| self.begun)?;
        Some(begun_at.max(self.due_at.unwrap_or(begun_at)))
    }

    /// Its name.
    #[must_use]
    pub fn key(&self) -> WorkKey {
        WorkKey {
            execution: self.execution,
            step: self.step.clone(),
        }
    }
}

/// Open executions by what their work rows say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenCounts {
    /// Executions that have not ended.
    pub executions: u64,
    /// Work rows that have begun.
    pub running: u64,
    /// Work rows that wait for a node or for their time.
    pub waiting: u64,
}
