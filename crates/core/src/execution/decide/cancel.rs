//! Cancel: the end at once; running calls are aborted and their results dropped. Completed steps
//! are undone only if that is asked for, and then the end comes after the undoing.

use super::advance;
use super::draft::{Draft, Header};
use super::finish;
use crate::execution::command::Refusal;
use crate::execution::effect::Effect;
use crate::execution::event::{CompensationCause, EventKind, ExecutionResumed};
use crate::execution::state::Status;

pub(super) fn cancel(
    draft: &mut Draft<'_>,
    by: Option<String>,
    compensate: bool,
) -> Result<(), Refusal> {
    match draft.state.status {
        // Asked for what is so already.
        Status::Cancelled => return Ok(()),
        status @ (Status::Completed | Status::Failed | Status::Dlq) => {
            return Err(Refusal::Ended(status));
        }
        Status::Pending | Status::Running | Status::Retrying | Status::Waiting | Status::Paused => {
        }
    }
    if compensate && draft.state.compensating.is_some() {
        // The undoing is under way and ends the execution by itself.
        return Ok(());
    }
    draft.effect(Effect::Abort);
    if !compensate {
        finish::cancel(draft, by);
        return Ok(());
    }
    if draft.state.paused_at.is_some() {
        // Undoing is new work, so the pause ends here.
        let event = EventKind::ExecutionResumed(ExecutionResumed { by: by.clone() });
        draft.emit(Header::default(), event);
    }
    advance::undo_next_for(draft, CompensationCause::Cancel, by);
    Ok(())
}
