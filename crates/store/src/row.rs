//! Rows as they are read back.

use refire_core::definition::WorkflowId;
use refire_core::execution::{Execution, Status};
use refire_core::id::{ExecutionId, NodeId};
use refire_core::time::Timestamp;

/// An execution as stored: the fold of its log, and what its work rows say.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Its id.
    pub id: ExecutionId,
    /// Its state; foreign values are not at hand.
    pub state: Execution,
    /// Its work.
    pub work: Vec<WorkRow>,
}

impl Stored {
    /// The status a person sees: claimed work means `running`, whatever the log knows.
    #[must_use]
    pub fn status(&self) -> Status {
        shown_status(self.state.status, self.work.iter().any(|work| work.begun))
    }

    /// Since when any of its work runs.
    #[must_use]
    pub fn running_since(&self) -> Option<Timestamp> {
        running_since(&self.work)
    }
}

/// An execution in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Its id.
    pub id: ExecutionId,
    /// Its state; foreign values are not at hand.
    pub state: Execution,
    /// Whether any of its work has begun.
    pub begun: bool,
    /// Since when, of what runs longest; absent where that is not known.
    pub running_since: Option<Timestamp>,
}

impl Summary {
    /// The status a person sees.
    #[must_use]
    pub fn status(&self) -> Status {
        shown_status(self.state.status, self.begun)
    }
}

/// The earliest of those that run.
pub(crate) fn running_since<'a>(work: impl IntoIterator<Item = &'a WorkRow>) -> Option<Timestamp> {
    work.into_iter().filter_map(WorkRow::running_since).min()
}

pub(crate) fn shown_status(status: Status, begun: bool) -> Status {
    match status {
        Status::Pending | Status::Retrying | Status::Waiting if begun => Status::Running,
        other => other,
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

impl WorkRow {
    /// Since when the attempt runs: what is begun ahead of its time is called when it is due.
    #[must_use]
    pub fn running_since(&self) -> Option<Timestamp> {
        let begun_at = self.begun_at.filter(|_| self.begun)?;
        Some(begun_at.max(self.due_at.unwrap_or(begun_at)))
    }

    /// Its name.
    #[must_use]
    pub fn key(&self) -> crate::WorkKey {
        crate::WorkKey {
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
