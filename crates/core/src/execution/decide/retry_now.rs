//! Retry now: somebody does not want to wait for a retry. Its timer fires as if it were due, and the attempt
//! is the one that was planned, so the policy counts it like any other.

use super::draft::{Draft, Header};
use crate::definition::StepId;
use crate::execution::command::{Refusal, RetryNow};
use crate::execution::effect::Effect;
use crate::execution::event::{EventKind, TimerFired};
use crate::execution::state::{Status, StepState, StepStatus};
use crate::time::Timestamp;

pub(super) fn retry_now(draft: &mut Draft<'_>, wish: &RetryNow) -> Result<(), Refusal> {
    match draft.state.status {
        status @ (Status::Completed | Status::Failed | Status::Dlq | Status::Cancelled) => {
            return Err(Refusal::Ended(status));
        }
        // Nothing new starts before it is resumed.
        Status::Paused => return Err(Refusal::Paused),
        // Beside a retry that waits, other steps may be due or under way, and completed ones undone.
        Status::Pending | Status::Running | Status::Retrying | Status::Waiting => {}
    }
    let waiting = waiting(draft, wish.step.as_ref());
    if waiting.is_empty() {
        return Err(Refusal::NotRetrying);
    }
    for (id, attempt, due_at) in waiting {
        draft.emit(
            Header::step(&id, attempt),
            EventKind::TimerFired(TimerFired {
                due_at,
                fired_at: draft.now,
                early: true,
                by: wish.by.clone(),
            }),
        );
        if let Some(offer) = draft.offer(&id) {
            draft.effect(Effect::OfferNow(offer));
        } else if let Some(work) = draft.work(&id) {
            draft.effect(Effect::Hasten(work));
        }
    }
    Ok(())
}

/// The steps whose retries wait, with the attempt and its time. One that is due is on its way, and may have
/// begun.
fn waiting(draft: &Draft<'_>, only: Option<&StepId>) -> Vec<(StepId, u32, Timestamp)> {
    let due = |step: &StepState| match step.status {
        StepStatus::Retrying => step.due_at.filter(|due| *due > draft.now),
        _ => None,
    };
    // Nothing is tried again of an execution that is about to fail.
    let is_failing = draft.state.failing.is_some() && draft.state.compensating.is_none();
    let steps = draft.state.steps.iter().filter(|_| !is_failing);
    steps
        .filter(|(id, _)| only.is_none_or(|only| only == *id))
        .filter_map(|(id, step)| Some((id.clone(), step.attempt, due(step)?)))
        .collect()
}
