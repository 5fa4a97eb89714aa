//! Cancel: the end at once; running calls are aborted and their results dropped, but that they began
//! is recorded: their targets were called, or workers had fetched them. Completed steps are undone only if that is asked for, and
//! then the end comes after the undoing.

use super::advance;
use super::draft::{Draft, Header};
use super::{finish, report};
use crate::execution::command::{Cancel, Refusal};
use crate::execution::effect::Effect;
use crate::execution::event::{CompensationCause, EventKind, ExecutionResumed};
use crate::execution::state::Status;

/// The rules from which on an aborted attempt leaves its trace in the log.
const RECORDS_ABORTED: u16 = 2;

pub(super) fn cancel(draft: &mut Draft<'_>, cancel: Cancel) -> Result<(), Refusal> {
    let Cancel {
        by,
        compensate,
        begun,
    } = cancel;
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
    if draft.rules_version() >= RECORDS_ABORTED {
        for attempt in begun {
            if let Some((_, _, state)) = draft.live(&attempt.step, attempt.attempt) {
                report::began(draft, &attempt.step, &state, &attempt.began);
            }
        }
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
