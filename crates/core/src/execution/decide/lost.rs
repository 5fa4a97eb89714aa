//! Lost: the node died during an attempt. The attempt is counted apart from the policy's
//! retries, and run again; after too many losses the step is given up, since it may be what
//! kills the nodes.

use super::draft::{Draft, HISTORY_IS_FULL, Header};
use super::retry::Verdict;
use super::{advance, report};
use crate::dead_letter::Reason;
use crate::definition::StepId;
use crate::execution::command::{Lost, Refusal};
use crate::execution::event::{EventKind, RetryScheduled, StepLost, StepScheduled};
use crate::execution::state::{Status, StepState, StepStatus};
use crate::failure::{ErrorClass, Failure};
use crate::limit;
use crate::time::Timestamp;

pub(super) fn lost(draft: &mut Draft<'_>, lost: Lost) -> Result<(), Refusal> {
    match draft.state.status {
        status @ (Status::Completed | Status::Failed | Status::Dlq | Status::Cancelled) => {
            return Err(Refusal::Ended(status));
        }
        // Paused too: the loss is recorded now, the next attempt waits for the resume.
        Status::Pending | Status::Running | Status::Retrying | Status::Waiting | Status::Paused => {
        }
    }
    let Lost {
        step: id,
        attempt,
        node,
        begun,
    } = lost;
    // A worker that is lost is found by the task's clocks; a target that has called back has the work.
    let is_here = |state: &StepState| !state.is_task() && state.awaited.is_none();
    let live = draft.live(&id, attempt);
    let (index, _, state) =
        (live.filter(|(_, _, state)| is_here(state))).ok_or_else(|| Refusal::NotLive {
            step: id.clone(),
            attempt,
        })?;
    let when = if begun { "during" } else { "before" };
    draft.emit(
        Header::step(&id, attempt).because(format!("the node died {when} the attempt")),
        EventKind::StepLost(StepLost { node, begun }),
    );
    let losses = state.losses.saturating_add(u32::from(begun));
    if draft.state.failing.is_some() && state.undoes.is_none() {
        advance::drop_attempt(draft, &id);
    } else if losses >= limit::LOSSES_MAX {
        let message = format!("the node died {losses} times while this step was running");
        let failure = Failure::new(ErrorClass::NodeLost, message);
        report::give_up(draft, &id, &state, (failure, Reason::NodeLost, None));
    } else if draft.history_is_full() {
        // Losses of attempts that had not begun are not counted, so only this bounds them.
        let failure = Failure::new(ErrorClass::HistoryLimit, HISTORY_IS_FULL);
        report::give_up(draft, &id, &state, (failure, Reason::HistoryLimit, None));
    } else if begun {
        again(draft, index, (&id, &state), losses);
    } else {
        as_it_was(draft, &id, &state);
    }
    advance::settle(draft);
    Ok(())
}

/// The first loss is run again at once; from the second on the policy's delays apply, so that a
/// step that kills its node does not do it in a tight loop.
fn again(draft: &mut Draft<'_>, index: usize, (id, state): (&StepId, &StepState), losses: u32) {
    let next = Header::step(id, state.attempt.saturating_add(1));
    if losses <= 1 {
        // Begun ahead of its time, it is not called ahead of it because its node died. Histories from
        // before anything was begun ahead have no such time: what had begun was due.
        let due_at = still_to_come(draft, state);
        draft.emit(next, EventKind::StepScheduled(StepScheduled { due_at }));
    } else {
        let wait = draft.backoff(&draft.rules(index), id, state, losses - 1);
        if let Verdict::Again { backoff_ms, due_at } = draft.after(wait) {
            let due_at = due_at.max(still_to_come(draft, state).unwrap_or(due_at));
            draft.emit(
                Header {
                    backoff_ms: Some(backoff_ms),
                    ..next.because("the node died during the attempt")
                },
                EventKind::RetryScheduled(RetryScheduled { due_at }),
            );
        }
    }
    draft.schedule(id);
}

/// An attempt that had not begun is replaced by one that is due when it was: a node that dies
/// holding a timer must not cut the wait short.
fn as_it_was(draft: &mut Draft<'_>, id: &StepId, state: &StepState) {
    let next = Header::step(id, state.attempt.saturating_add(1));
    let due_at = still_to_come(draft, state);
    match (state.status, due_at) {
        (StepStatus::Retrying, Some(due_at)) => draft.emit(
            Header {
                backoff_ms: state.backoff_ms,
                ..next.because("the node died before the attempt")
            },
            EventKind::RetryScheduled(RetryScheduled { due_at }),
        ),
        _ => draft.emit(next, EventKind::StepScheduled(StepScheduled { due_at })),
    }
    draft.schedule(id);
}

/// When the attempt was due, if that is not over.
fn still_to_come(draft: &Draft<'_>, state: &StepState) -> Option<Timestamp> {
    state.due_at.filter(|due| *due > draft.now)
}
