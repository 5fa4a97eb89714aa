//! Resume: the execution goes on where it stood. Waits that ended during the pause are over;
//! attempts that were running when it was paused may still be running and are left alone.

use super::draft::{Draft, Header};
use super::{advance, task};
use crate::definition::StepId;
use crate::execution::command::Refusal;
use crate::execution::effect::Effect;
use crate::execution::event::{EventKind, ExecutionResumed};
use crate::execution::state::Status;

pub(super) fn resume(draft: &mut Draft<'_>, by: Option<String>) -> Result<(), Refusal> {
    match draft.state.status {
        Status::Paused => {}
        status @ (Status::Completed | Status::Failed | Status::Dlq | Status::Cancelled) => {
            return Err(Refusal::Ended(status));
        }
        Status::Pending | Status::Running | Status::Retrying | Status::Waiting => {
            return Err(Refusal::NotPaused);
        }
    }
    let paused_at = draft.state.paused_at;
    draft.emit(
        Header::default(),
        EventKind::ExecutionResumed(ExecutionResumed { by }),
    );
    let live: Vec<StepId> = draft
        .state
        .steps
        .iter()
        .filter(|(_, step)| step.is_live())
        .map(|(id, _)| id.clone())
        .collect();
    for id in live {
        if (draft.state.step(&id)).is_some_and(|step| step.awaited.is_some()) {
            // Its target has it, and its time went on.
        } else if let Some(again) = task::offered_again(draft, &id, paused_at) {
            draft.effect(again);
        } else if let Some(work) = draft.work(&id) {
            draft.effect(Effect::Restore(work));
        }
    }
    advance::settle(draft);
    Ok(())
}
