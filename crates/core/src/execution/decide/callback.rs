//! Callbacks: a target that has accepted a call says later how it went. Until then the step waits, and
//! no node has anything to do with it. If nobody calls back in time, the answer to the call is the
//! step's output.
//!
//! A target may call back before its answer is recorded. Its word wins over the answer.

use super::advance;
use super::draft::{Draft, Header};
use super::mapping::{map_output, mapping_bytes};
use super::report::{self, Done, Live};
use super::retry::classify;
use crate::callback::{CallbackPut, CallbackStatus, Heard, Noted, hear};
use crate::definition::{Step, StepId};
use crate::execution::command::{Callback, Outcome, Refusal, Said};
use crate::execution::effect::Effect;
use crate::execution::event::{CallAnswered, CallbackReceived, EventKind, StepStarted};
use crate::execution::state::{Awaited, StepState};
use crate::json::Json;
#[cfg(feature = "planted")]
use crate::planted::{self, Defect};
use crate::time::Timestamp;

/// A target called back.
pub(super) fn callback(draft: &mut Draft<'_>, callback: Callback) -> Result<(), Refusal> {
    if draft.state.status.is_terminal() {
        return Err(Refusal::Ended(draft.state.status));
    }
    let Callback {
        step: id,
        attempt,
        began,
        said,
        mapped,
        noted,
    } = callback;
    #[cfg(feature = "planted")]
    let attempt = match planted::is(Defect::LostTokenTaken) {
        true => draft.state.step(&id).map_or(attempt, |step| step.attempt),
        false => attempt,
    };
    let (index, step, state, window) = found(draft, &id, attempt)?;
    let status = said.status();
    match hear(state.stand(attempt), status) {
        Heard::Taken => {}
        #[cfg(feature = "planted")]
        Heard::Refused if planted::is(Defect::FinalTwice) => {}
        Heard::Repeated => return Err(Refusal::Repeated { step: id, attempt }),
        Heard::Refused => return Err(Refusal::NotLive { step: id, attempt }),
    }
    let (until, started_at) = match &state.awaited {
        Some(awaited) => (awaited.until, awaited.started_at),
        None => {
            let started_at = began.unwrap_or(draft.now).min(draft.now);
            // Whoever called may have had a clock that is ahead: it did not call before its time.
            let started_at = started_at.max(state.due_at.unwrap_or(started_at));
            let until = draft.now.plus(window);
            let started = StepStarted {
                waits_until: (!status.is_final()).then_some(until),
                ..StepStarted::at(started_at)
            };
            report::begin(draft, &id, &state, started);
            (until, started_at)
        }
    };
    draft.emit(
        Header::step(&id, attempt),
        EventKind::CallbackReceived(CallbackReceived {
            status,
            progress: noted.progress,
            progress_message: noted.message.clone(),
            early: state.awaited.is_none(),
        }),
    );
    put(draft, (&id, attempt), status, until, noted);
    let duration_ms = Some(ms_since(draft, started_at));
    let live = (index, step, &id, &state);
    match said {
        // What was running is the target's word now, and no node's work.
        Said::Processing if state.awaited.is_none() => draft.withdraw(&id),
        Said::Processing => {}
        Said::Success(output) => {
            let mapped = report::mapped(draft, live, &output, mapped);
            let done = Done {
                output: Some(output),
                answer: None,
                mapped,
                duration_ms,
            };
            report::complete(draft, live, done);
        }
        Said::Failed(failure) | Said::Unmapped(failure) => {
            let failure = classify(failure, &draft.rules(index));
            report::fail(draft, live, failure, duration_ms);
        }
    }
    advance::settle(draft);
    Ok(())
}

/// The step, if it may be called back for this attempt, and how long it waits.
fn found<'a>(
    draft: &Draft<'a>,
    id: &StepId,
    attempt: u32,
) -> Result<(usize, &'a Step, StepState, std::time::Duration), Refusal> {
    let live = draft.live(id, attempt);
    #[cfg(feature = "planted")]
    let live = live.or_else(|| {
        let (index, step) = draft.workflow.step(id.as_ref())?;
        let state = draft
            .state
            .step(id)
            .filter(|step| step.attempt == attempt)?;
        planted::is(Defect::FinalTwice).then(|| (index, step, state.clone()))
    });
    live.and_then(|(index, step, state)| Some((index, step, state, step.callback?.window)))
        .ok_or_else(|| Refusal::NotLive {
            step: id.clone(),
            attempt,
        })
}

/// The call of a step came back whose target calls back: with an answer, or after the target's first
/// word.
pub(super) fn answered(
    draft: &mut Draft<'_>,
    live: Live<'_>,
    (started_at, duration_ms): (Timestamp, u64),
    outcome: Outcome,
) -> Result<(), Refusal> {
    let (index, step, id, state) = live;
    let duration_ms = Some(duration_ms);
    let attempt = state.attempt;
    let (answer, query_config) = match outcome {
        Outcome::Succeeded(answer) => (Ok(answer), None),
        Outcome::Accepted(answer, query) => (Ok(answer), Some(query)),
        Outcome::Failed(failure) => (Err(classify(failure, &draft.rules(index))), None),
    };
    let noted = Noted {
        query_config,
        ..Noted::default()
    };
    match (&state.awaited, answer) {
        (None, Ok(answer)) => {
            let window = step.callback.map(|callback| callback.window);
            let until = draft.now.plus(window.unwrap_or_default());
            let started = StepStarted {
                started_at,
                answer: Some(answer),
                duration_ms,
                waits_until: Some(until),
            };
            report::begin(draft, id, state, started);
            draft.withdraw(id);
            put(draft, (id, attempt), CallbackStatus::Pending, until, noted);
        }
        (None, Err(failure)) => {
            report::begin(draft, id, state, StepStarted::at(started_at));
            report::fail(draft, live, failure, duration_ms);
        }
        (Some(awaited), _) if awaited.is_answered => {
            let step = id.clone();
            return Err(Refusal::NotLive { step, attempt });
        }
        // The target refused what it had begun to do: it will not do it.
        (Some(awaited), Err(failure)) if !failure.class.is_silence() => {
            put(
                draft,
                (id, attempt),
                CallbackStatus::Failed,
                awaited.until,
                noted,
            );
            report::fail(draft, live, failure, duration_ms);
        }
        (Some(awaited), answer) => {
            let has_query = noted.query_config.is_some();
            let (answer, error) = match answer {
                Ok(answer) => (Some(answer), None),
                Err(failure) => (None, Some(failure)),
            };
            draft.emit(
                Header::step(id, attempt),
                EventKind::CallAnswered(CallAnswered {
                    answer,
                    error,
                    duration_ms,
                }),
            );
            if has_query {
                put(draft, (id, attempt), awaited.status, awaited.until, noted);
            }
        }
    }
    Ok(())
}

/// Nobody called back in time: the answer to the call counts.
pub(super) fn window_over(draft: &mut Draft<'_>, id: StepId, attempt: u32) -> Result<(), Refusal> {
    if draft.state.status.is_terminal() {
        return Err(Refusal::Ended(draft.state.status));
    }
    let (index, step, state, _) = found(draft, &id, attempt)?;
    let awaited = state.awaited.clone();
    let Some(awaited) = awaited.filter(|awaited| awaited.until <= draft.now) else {
        return Err(Refusal::NotLive { step: id, attempt });
    };
    // Its row keeps the target's last word.
    draft.effect(Effect::Callback {
        step: id.clone(),
        attempt,
        put: CallbackPut {
            status: awaited.status,
            until: awaited.until,
            is_open: false,
            noted: Noted::default(),
        },
    });
    let live = (index, step, &id, &state);
    let done = Done {
        output: awaited.answer.is_none().then(Json::null),
        answer: awaited.answer.map(|answer| answer.sequence),
        mapped: mapped_answer(draft, live, &awaited),
        duration_ms: Some(ms_since(draft, awaited.started_at)),
    };
    report::complete(draft, live, done);
    advance::settle(draft);
    Ok(())
}

/// What the `outputMapping` gives for the answer. One that is not at hand, or too long to be searched
/// here, makes this draft no decision.
fn mapped_answer(
    draft: &Draft<'_>,
    live: Live<'_>,
    awaited: &Awaited,
) -> Result<super::Mapping, crate::failure::Failure> {
    let (_, step, _, state) = live;
    if step.output_mapping.is_empty() || state.undoes.is_some() {
        return Ok(Vec::new());
    }
    let rules = draft.rules_version();
    match awaited.answer {
        None => map_output(step, &Json::null(), rules),
        Some(answer) => {
            let scope = draft.scope();
            let value = scope.whole(answer.sequence, |value| mapping_bytes(step, value));
            value.map_or_else(|| Ok(Vec::new()), |value| map_output(step, value, rules))
        }
    }
}

/// Writes the row of an attempt's callback, which is open until the last word.
fn put(
    draft: &mut Draft<'_>,
    (id, attempt): (&StepId, u32),
    status: CallbackStatus,
    until: Timestamp,
    noted: Noted,
) {
    let step = id.clone();
    let put = CallbackPut {
        status,
        until,
        is_open: !status.is_final(),
        noted,
    };
    draft.effect(Effect::Callback { step, attempt, put });
}

fn ms_since(draft: &Draft<'_>, from: Timestamp) -> u64 {
    u64::try_from(draft.now.since(from).as_millis()).unwrap_or(u64::MAX)
}
