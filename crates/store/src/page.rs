//! Filters and bounds of lists.

use refire_core::definition::WorkflowId;
use refire_core::execution::Status;

/// Rows of one page, at most.
pub const LIMIT_MAX: u32 = 1_000;

/// Which executions to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecutionFilter {
    /// Of this workflow.
    pub workflow: Option<WorkflowId>,
    /// With one of these statuses, as shown (`running` = has begun work); empty = all.
    pub statuses: Vec<Status>,
    /// That were retried at least once.
    pub retried: bool,
}

/// Which events of an execution to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// About this attempt.
    pub attempt: Option<u32>,
    /// Of one of these types; empty = all.
    pub names: Vec<String>,
    /// About this step.
    pub step: Option<String>,
}
