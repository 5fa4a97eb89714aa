//! Report: an attempt ended. It is recorded, and either retried, or the execution goes on, or
//! it begins to fail.

use super::draft::{Draft, Header};
use super::mapping::{Mapping, map_output};
use super::retry::{Verdict, classify};
use super::{advance, callback, task};
use crate::dead_letter::Reason;
use crate::definition::{Step, StepId};
use crate::execution::command::{Began, Outcome, Refusal, Report};
use crate::execution::effect::TaskEnd;
use crate::execution::event::{
    CompensationCompleted, CompensationFailed, EventKind, RetryScheduled, StepCompleted,
    StepFailed, StepStarted, TimerFired,
};
use crate::execution::state::{Status, StepState};
use crate::failure::Failure;
use crate::json::Json;

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
    let live = (index, step, &id, &state);
    let has_failed = matches!(report.outcome, Outcome::Failed(_));
    if step.callback.is_some() && !(has_failed && state.awaited.is_none()) {
        let Began::Called(at) = report.began else {
            let step = id.clone();
            return Err(Refusal::NotLive { step, attempt });
        };
        // A target that will call back has only accepted the call so far.
        callback::answered(draft, live, (at, report.duration_ms), report.outcome)?;
        advance::settle(draft);
        return Ok(());
    }
    let duration_ms = began(draft, &id, &state, &report.began).then_some(report.duration_ms);
    match report.outcome {
        Outcome::Succeeded(output) | Outcome::Accepted(output, _) => {
            let mapped = mapped(draft, live, &output, report.mapped);
            let done = Done {
                output: Some(output),
                answer: None,
                mapped,
                duration_ms,
            };
            complete(draft, live, done);
        }
        Outcome::Failed(failure) => {
            let failure = classify(failure, &draft.rules(index));
            task::released(draft, &id, &state, (&report.began, failure.class));
            fail(draft, live, failure, duration_ms);
        }
    }
    advance::settle(draft);
    Ok(())
}

/// The definition of a step and its state before the attempt's end, with its index and name.
pub(super) type Live<'a> = (usize, &'a Step, &'a StepId, &'a StepState);

/// An attempt that succeeded.
pub(super) struct Done {
    /// The output; none if it is the answer.
    pub(super) output: Option<Json>,
    /// The event that keeps the answer which is the output.
    pub(super) answer: Option<u64>,
    /// What the step's `outputMapping` gives for it.
    pub(super) mapped: Result<Mapping, Failure>,
    pub(super) duration_ms: Option<u64>,
}

/// What the step's `outputMapping` gives: what the sender has worked out, else worked out here. What
/// undoes a step gives nothing to the context.
pub(super) fn mapped(
    draft: &Draft<'_>,
    (_, step, _, state): Live<'_>,
    output: &Json,
    mapped: Option<Mapping>,
) -> Result<Mapping, Failure> {
    match mapped {
        _ if state.undoes.is_some() => Ok(Vec::new()),
        Some(mapped) => Ok(mapped),
        None => map_output(step, output, draft.rules_version()),
    }
}

/// Records that an attempt succeeded, unless its output cannot be used.
pub(super) fn complete(draft: &mut Draft<'_>, live: Live<'_>, done: Done) {
    let (index, _, id, state) = live;
    let Done {
        output,
        answer,
        mapped,
        duration_ms,
    } = done;
    let event = match (mapped, &state.undoes) {
        (Err(failure), _) => {
            let failure = classify(failure, &draft.rules(index));
            return fail(draft, live, failure, duration_ms);
        }
        (Ok(mapped), None) => EventKind::StepCompleted(StepCompleted {
            output,
            answer,
            mapped,
            duration_ms,
            carried_from: None,
        }),
        (Ok(_), Some(undoes)) => EventKind::CompensationCompleted(CompensationCompleted {
            undoes: undoes.clone(),
            output,
            answer,
        }),
    };
    draft.emit(Header::step(id, state.attempt), event);
    draft.end_work(id, state, TaskEnd::Completed);
}

/// Records how the attempt began; whether it did.
pub(super) fn began(draft: &mut Draft<'_>, id: &StepId, state: &StepState, began: &Began) -> bool {
    match began {
        Began::Called(at) => begin(draft, id, state, StepStarted::at(*at)),
        Began::Fetched { worker, at } => task::fetched(draft, id, state, (worker.clone(), *at)),
        Began::Never => return false,
    }
    true
}

/// Records that the attempt began: only now, so that starting costs no commit of its own.
pub(super) fn begin(draft: &mut Draft<'_>, id: &StepId, state: &StepState, started: StepStarted) {
    let started_at = started.started_at;
    if let Some(due_at) = state.due_at {
        draft.emit_at(
            started_at.min(draft.now),
            Header::step(id, state.attempt),
            EventKind::TimerFired(TimerFired {
                due_at,
                fired_at: started_at,
                early: false,
                by: None,
            }),
        );
    }
    // An answer comes later than the beginning.
    let at = match started.answer {
        Some(_) => draft.now,
        None => started_at.min(draft.now),
    };
    let header = Header::step(id, state.attempt);
    draft.emit_at(at, header, EventKind::StepStarted(started));
}

/// Records that an attempt failed, and what follows.
pub(super) fn fail(
    draft: &mut Draft<'_>,
    (index, _, id, state): Live<'_>,
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
    draft.end_work(id, state, TaskEnd::Failed);
}
