//! The part of a commit that makes or changes a scheduled task.

use super::{About, Admit, ChangeTrigger, CreateTrigger, PutWorkflow};
use crate::ScheduledRow;

/// A scheduled task as it is to be from now on, with all that belongs to it. Refused whole if the task has
/// another version than the one before `row.version` (a new one has none), if another task has its key,
/// or if the change of its trigger is refused.
#[derive(Debug, Clone)]
pub struct PutScheduled {
    /// The task's row. Times of its making and its change are those of the commit.
    pub row: ScheduledRow,
    /// Its definition, if that is new.
    pub definition: Option<PutWorkflow>,
    /// Its trigger.
    pub trigger: ScheduledTrigger,
    /// The execution that begins with it.
    pub admission: Option<Box<Admit>>,
}

/// What becomes of the trigger of a scheduled task.
#[derive(Debug, Clone)]
pub enum ScheduledTrigger {
    /// It is made.
    Create(CreateTrigger),
    /// It is told otherwise.
    Change(ChangeTrigger),
    /// It goes.
    Delete,
}

impl PutScheduled {
    pub(super) fn about(&self) -> About<'_> {
        let admission = self.admission.as_deref();
        About {
            asks_first: true,
            lock: Some((&self.row.workflow, true)),
            trigger: Some(self.row.trigger()),
            ..admission.map(|admit| admit.about(true)).unwrap_or_default()
        }
    }
}
