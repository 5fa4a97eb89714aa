//! Which executions wait for a target that is left alone: worked out when it is asked for, and written nowhere.

use refire_core::breaker::Standing;
use refire_core::definition::Workflow;
use refire_core::execution::{Execution, StepStatus};
use refire_core::time::Timestamp;

use super::Targets;
use crate::step;

/// What an execution waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    /// The target.
    pub host: String,
    /// It is not tried before; absent = until a person says so.
    pub until: Option<Timestamp>,
}

impl Targets {
    /// What an execution waits for that is due and does not run, if that is a target which is left alone. A host
    /// that comes from a template is found if `render` can say it.
    #[must_use]
    pub fn parked(
        &self,
        state: &Execution,
        workflow: &Workflow,
        is_running: impl Fn(&str) -> bool,
    ) -> Option<Parked> {
        if state.status.is_terminal() || state.paused_at.is_some() {
            return None;
        }
        let context = self.context();
        let standing = context.slots.standing();
        if standing.is_empty() {
            return None;
        }
        let now = context.now();
        let waits = state.steps.iter().filter(|(id, step)| {
            matches!(step.status, StepStatus::Scheduled | StepStatus::Retrying)
                && step.due_at.is_none_or(|due| due <= now)
                && !is_running(id.as_str())
        });
        let mut hosts = waits.filter_map(|(id, _)| {
            let (_, step) = workflow.step(id.as_str())?;
            step::of(&step.kind)?.host()
        });
        hosts.find_map(|host| {
            let breaker = context.slots.breaker(host)?;
            let until = match breaker.standing(now) {
                Standing::Free | Standing::Closing => return None,
                Standing::Parked(until) => until,
                Standing::ProbeDue => Some(now),
            };
            let host = host.to_owned();
            Some(Parked { host, until })
        })
    }
}
