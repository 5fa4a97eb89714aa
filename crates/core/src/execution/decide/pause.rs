//! Pause: attempts in flight finish and are recorded, nothing new starts. A timer that comes due
//! meanwhile acts on resume; total time limits stand still.

use super::draft::{Draft, Header};
use crate::execution::command::Refusal;
use crate::execution::effect::Effect;
use crate::execution::event::{EventKind, ExecutionPaused};
use crate::execution::state::Status;

pub(super) fn pause(draft: &mut Draft<'_>, by: Option<String>) -> Result<(), Refusal> {
    match draft.state.status {
        status @ (Status::Completed | Status::Failed | Status::Dlq | Status::Cancelled) => {
            return Err(Refusal::Ended(status));
        }
        // Asked for what is so already.
        Status::Paused => return Ok(()),
        // Undoing half of it and then waiting for a person would leave the outside world in a
        // state nobody meant.
        Status::Running if draft.state.compensating.is_some() => return Err(Refusal::Compensating),
        Status::Pending | Status::Running | Status::Retrying | Status::Waiting => {}
    }
    draft.emit(
        Header::default(),
        EventKind::ExecutionPaused(ExecutionPaused { by }),
    );
    draft.effect(Effect::Hold);
    Ok(())
}
