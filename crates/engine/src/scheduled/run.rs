//! Running a scheduled task now.

use refire_core::id::{ExecutionId, ScheduledTaskId};
use refire_core::trigger::run_now;

use super::{AGAIN_MAX, ScheduledError, ScheduledTasks};
use crate::commit::{Admitted, Cause, CommitFailure};
use crate::trigger::rows;

/// A cycle that somebody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunNow {
    /// Its execution.
    pub execution: ExecutionId,
    /// The how-manieth it is.
    pub cycle: u64,
}

impl ScheduledTasks {
    /// Begins a cycle now, also while the task is paused. Planned times stay as they are.
    pub async fn run(&self, id: ScheduledTaskId, by: &str) -> Result<RunNow, ScheduledError> {
        let context = &self.context;
        context.is_open()?;
        for _ in 0..AGAIN_MAX {
            let found = self.changeable(id).await?;
            let trigger = rows::trigger(&found.trigger)
                .map_err(|problems| ScheduledError::Damaged(id, problems.to_string()))?;
            let plan = run_now(&found.state);
            let cycle = plan.state.cycles;
            let submission = rows::submission(&trigger, None, Some(cycle), Some(by.to_owned()));
            let draft = context.draft(submission).await?;
            let execution = draft.id;
            let mut fire = rows::fire(&trigger, found.state.rev, &plan);
            fire.by_hand = true;
            let draft = draft.caused_by(Cause::Fire(fire));
            match context.commit_draft(draft).await? {
                Admitted::New(_) => return Ok(RunNow { execution, cycle }),
                Admitted::TriggerMoved => {}
                Admitted::NoSuchWorkflow => return Err(CommitFailure::Gone.into()),
                other => return Err(CommitFailure::unexpected("answer", &other).into()),
            }
        }
        Err(ScheduledError::Contended)
    }
}
