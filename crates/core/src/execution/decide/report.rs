//! Report: an attempt ended. It is recorded, and either retried, or the execution goes on, or
//! it begins to fail.

use super::draft::{Draft, Header};
use super::mapping::map_output;
use super::retry::{Verdict, classify};
use super::{advance, task};
use crate::dead_letter::Reason;
use crate::definition::StepId;
use crate::execution::command::{Began, Outcome, Refusal, Report};
use crate::execution::effect::TaskEnd;
use crate::execution::event::{
    CompensationCompleted, CompensationFailed, EventKind, RetryScheduled, StepCompleted,
    StepFailed, StepStarted, TimerFired,
};
use crate::execution::state::{Status, StepState};
use crate::failure::Failure;

pub(super) fn report(draft: &mut Draft<'_>, report: Report) -> Result<(), Refusal> {
    match draft.state.status {
        // Ended: whatever an attempt in flight brings is too late.
        status @ (Status::Completed | Status::Failed | Status::Dlq | Status::Cancelled) => {
            return Err(Refusal::Ended(status));
        }
        // Paused too: attempts in flight finish and are recorded.
        Status::Pending | Status::Running | Status::Retrying | Status::Waiting | Status::Paused => {
        }
    }
    let not_live = || Refusal::NotLive {
        step: report.step.clone(),
        attempt: report.attempt,
    };
    let attempt = report.attempt;
    #[cfg(feature = "planted")]
    let attempt = match crate::planted::is(crate::planted::Defect::LostResultTaken) {
        true => (draft.state.step(&report.step)).map_or(attempt, |step| step.attempt),
        false => attempt,
    };
    let (index, step, state) = draft.live(&report.step, attempt).ok_or_else(not_live)?;
    if state.is_task() == matches!(report.began, Began::Called(_)) {
        return Err(not_live());
    }
    let id = report.step;
    let duration_ms = began(draft, &id, &state, &report.began).then_some(report.duration_ms);
    match (report.outcome, &state.undoes) {
        (Outcome::Succeeded(output), None) => {
            let mapped = match report.mapped {
                Some(mapped) => Ok(mapped),
                None => map_output(step, &output, draft.rules_version()),
            };
            let mapped = match mapped {
                Ok(mapped) => mapped,
                Err(failure) => {
                    let failure = classify(failure, &draft.rules(index));
                    fail(draft, (index, &id, &state), failure, duration_ms);
                    advance::settle(draft);
                    return Ok(());
                }
            };
            draft.emit(
                Header::step(&id, state.attempt),
                EventKind::StepCompleted(StepCompleted {
                    output,
                    mapped,
                    duration_ms,
                    carried_from: None,
                }),
            );
            draft.end_work(&id, TaskEnd::Completed);
        }
        (Outcome::Succeeded(output), Some(undoes)) => {
            draft.emit(
                Header::step(&id, state.attempt),
                EventKind::CompensationCompleted(CompensationCompleted {
                    undoes: undoes.clone(),
                    output,
                }),
            );
            draft.end_work(&id, TaskEnd::Completed);
        }
        (Outcome::Failed(failure), _) => {
            let failure = classify(failure, &draft.rules(index));
            task::released(draft, &id, &state, (&report.began, failure.class));
            fail(draft, (index, &id, &state), failure, duration_ms);
        }
    }
    advance::settle(draft);
    Ok(())
}

/// Records how the attempt began; whether it did.
pub(super) fn began(draft: &mut Draft<'_>, id: &StepId, state: &StepState, began: &Began) -> bool {
    match began {
        Began::Called(at) => begin(draft, id, state, *at),
        Began::Fetched { worker, at } => task::fetched(draft, id, state, (worker.clone(), *at)),
        Began::Never => return false,
    }
    true
}

/// Records that the attempt began: only now, so that starting costs no commit of its own.
fn begin(
    draft: &mut Draft<'_>,
    id: &StepId,
    state: &StepState,
    started_at: crate::time::Timestamp,
) {
    if let Some(due_at) = state.due_at {
        draft.emit_at(
            started_at.min(draft.now),
            Header::step(id, state.attempt),
            EventKind::TimerFired(TimerFired {
                due_at,
                fired_at: started_at,
            }),
        );
    }
    draft.emit_at(
        started_at.min(draft.now),
        Header::step(id, state.attempt),
        EventKind::StepStarted(StepStarted { started_at }),
    );
}

fn fail(
    draft: &mut Draft<'_>,
    (index, id, state): (usize, &StepId, &StepState),
    failure: Failure,
    duration_ms: Option<u64>,
) {
    let message = failure.message.clone();
    match draft.judge((index, id, state), &failure) {
        Verdict::Again { backoff_ms, due_at } => {
            draft.emit(
                Header::step(id, state.attempt).because(&message),
                EventKind::StepFailed(StepFailed {
                    error: failure,
                    last: None,
                    duration_ms,
                }),
            );
            draft.emit(
                Header {
                    backoff_ms: Some(backoff_ms),
                    ..Header::step(id, state.attempt.saturating_add(1)).because(message)
                },
                EventKind::RetryScheduled(RetryScheduled { due_at }),
            );
            draft.schedule(id);
        }
        Verdict::Final(reason) => {
            give_up(draft, id, state, (failure, reason, duration_ms));
        }
    }
}

/// Records that a step's last attempt failed.
pub(super) fn give_up(
    draft: &mut Draft<'_>,
    id: &StepId,
    state: &StepState,
    (failure, reason, duration_ms): (Failure, Reason, Option<u64>),
) {
    let message = failure.message.clone();
    let undo_error = state.undoes.clone().map(|undoes| (undoes, failure.clone()));
    draft.emit(
        Header::step(id, state.attempt).because(&message),
        EventKind::StepFailed(StepFailed {
            error: failure,
            last: Some(reason),
            duration_ms,
        }),
    );
    if let Some((undoes, error)) = undo_error {
        draft.emit(
            Header::step(id, state.attempt).because(message),
            EventKind::CompensationFailed(CompensationFailed {
                undoes,
                error: Failure {
                    response: None,
                    ..error
                },
            }),
        );
    }
    draft.end_work(id, TaskEnd::Failed);
}
