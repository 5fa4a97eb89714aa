//! Replay: derives every decision of a log again and compares. It starts nothing.
//!
//! The log holds what came from outside (starts, results, losses, people's words); everything
//! else must follow from it. With another definition this is the replay lab: the first event
//! that would have been different.

use std::fmt;

use super::apply::apply_to;
use super::command::{
    Began, Begun, Callback, Cancel, Command, Lost, Outcome, Refusal, Report, RetryNow, Said,
};
use super::decide::{Carried, Start, decide, has_rules, start};
use super::event::{CompensationCause, Event, EventKind};
use super::state::Execution;
use crate::callback::{CallbackStatus, Noted};
use crate::definition::Workflow;

/// What a replay found.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// Events compared.
    pub events: u64,
    /// The first difference; none = identical.
    pub first_difference: Option<Difference>,
    /// The state of the recorded log, up to the first difference.
    pub state: Execution,
}

impl Replay {
    /// Whether every decision was derived again exactly.
    #[must_use]
    pub fn is_identical(&self) -> bool {
        self.first_difference.is_none()
    }
}

/// The first place where the log and the derivation part.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The number of the event.
    pub sequence: u64,
    /// What the log says; none = the log ends here.
    pub recorded: Option<Event>,
    /// What follows from the definition; none = nothing follows.
    pub derived: Option<Event>,
    /// Why nothing follows, where that is known.
    pub note: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |event: &Option<Event>| {
            event
                .as_ref()
                .map_or_else(|| "nothing".into(), |event| event.kind.name())
        };
        write!(
            f,
            "event {}: recorded {}, derived {}",
            self.sequence,
            name(&self.recorded),
            name(&self.derived)
        )?;
        self.note.iter().try_for_each(|note| write!(f, " ({note})"))
    }
}

/// Derives `log` again from what came from outside, under `workflow`.
#[must_use]
pub fn replay(workflow: &Workflow, log: &[Event]) -> Replay {
    let mut state = Execution::empty();
    let mut position = 0;
    while position < log.len() {
        match derive(workflow, &state, &log[position..]) {
            Ok(events) => {
                for event in &log[position..position + events] {
                    apply_to(&mut state, event);
                }
                position += events;
            }
            Err(difference) => {
                let events = difference.sequence.saturating_sub(1);
                return Replay {
                    events,
                    first_difference: Some(*difference),
                    state,
                };
            }
        }
    }
    Replay {
        events: position as u64,
        first_difference: None,
        state,
    }
}

/// Derives what the next thing from outside led to: how many events of `rest` it explains.
fn derive(
    workflow: &Workflow,
    state: &Execution,
    rest: &[Event],
) -> Result<usize, Box<Difference>> {
    let mut first_failure = None;
    for cause in causes(state, rest) {
        match cause
            .derive(workflow, state)
            .map(|derived| compare(&derived, rest))
        {
            Ok(Ok(events)) => return Ok(events),
            Ok(Err(difference)) => first_failure = first_failure.or(Some(difference)),
            Err(note) => first_failure = first_failure.or_else(|| Some(unexplained(rest, note))),
        }
    }
    let nothing = || unexplained(rest, "nothing from outside leads to it".to_owned());
    Err(first_failure.unwrap_or_else(nothing))
}

fn unexplained(rest: &[Event], note: String) -> Box<Difference> {
    Box::new(Difference {
        sequence: rest.first().map_or(0, |event| event.sequence),
        recorded: rest.first().cloned(),
        derived: None,
        note: Some(note),
    })
}

fn compare(derived: &[Event], rest: &[Event]) -> Result<usize, Box<Difference>> {
    if derived.is_empty() {
        return Err(unexplained(
            rest,
            "the command would have changed nothing".to_owned(),
        ));
    }
    for (index, event) in derived.iter().enumerate() {
        let recorded = rest.get(index);
        if recorded != Some(event) {
            return Err(Box::new(Difference {
                sequence: event.sequence,
                recorded: recorded.cloned(),
                derived: Some(event.clone()),
                note: None,
            }));
        }
    }
    Ok(derived.len())
}

/// Something that came from outside, as the log shows it.
enum Cause {
    Start(Box<(Start, crate::time::Timestamp)>),
    Command(Box<(Command, crate::time::Timestamp)>),
}

impl Cause {
    fn derive(self, workflow: &Workflow, state: &Execution) -> Result<Vec<Event>, String> {
        match self {
            Self::Start(cause) => match cause.0.rules {
                rules if has_rules(rules) => Ok(start(workflow, cause.0, cause.1).events),
                rules => Err(Refusal::UnknownRules(rules).to_string()),
            },
            Self::Command(cause) => decide(workflow, state, cause.0, cause.1)
                .map(|decision| decision.events)
                .map_err(|refusal| refusal.to_string()),
        }
    }
}

/// What may have led to the first event of `rest`; mostly one thing.
fn causes(state: &Execution, rest: &[Event]) -> Vec<Cause> {
    let Some(first) = rest.first() else {
        return Vec::new();
    };
    let command = |command| vec![Cause::Command(Box::new((command, first.at)))];
    match &first.kind {
        EventKind::ExecutionStarted(_) if state.origin.is_none() => started(rest),
        EventKind::TimerFired(fired) if fired.early => command(Command::RetryNow(RetryNow {
            step: first.step.clone(),
            by: fired.by.clone(),
        })),
        EventKind::TimerFired(_) | EventKind::StepStarted(_) | EventKind::ExternalTaskLocked(_) => {
            reported(state, rest)
                .or_else(|| called_back(rest))
                .or_else(|| cancelled(rest))
                .into_iter()
                .collect()
        }
        EventKind::CallAnswered(_) => reported(state, rest).into_iter().collect(),
        EventKind::CallbackReceived(_) => called_back(rest).into_iter().collect(),
        EventKind::StepFailed(_) => {
            let over = window_over(state, first).into_iter();
            reported(state, rest).into_iter().chain(over).collect()
        }
        EventKind::StepCompleted(_) | EventKind::CompensationCompleted(_) => {
            window_over(state, first).into_iter().collect()
        }
        EventKind::StepSkipped(_) => {
            let step = first.step.as_ref();
            let live = step.and_then(|step| Some((step, state.step(step)?)));
            live.map_or_else(Vec::new, |(step, live)| {
                let (step, attempt) = (step.clone(), live.attempt);
                command(Command::Retired { step, attempt })
            })
        }
        EventKind::StepLost(lost) => match (&first.step, first.attempt) {
            (Some(step), Some(attempt)) => command(Command::Lost(Lost {
                step: step.clone(),
                attempt,
                node: lost.node,
                begun: lost.begun,
            })),
            _ => Vec::new(),
        },
        EventKind::ExecutionPaused(paused) => command(Command::Pause {
            by: paused.by.clone(),
        }),
        EventKind::ExecutionResumed(resumed) => {
            let by = resumed.by.clone();
            let cancel = cancelled(rest).into_iter();
            cancel.chain(command(Command::Resume { by })).collect()
        }
        EventKind::CompensationStarted(_) | EventKind::ExecutionCancelled(_) => {
            cancelled(rest).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The cancel that `rest` begins with: the attempts that it aborted, then what became of the
/// execution. Cancelling a paused execution with undoing resumes it first.
fn cancelled(rest: &[Event]) -> Option<Cause> {
    let mut begun: Vec<Begun> = Vec::new();
    let mut rest = rest.iter();
    let first = loop {
        let event = rest.next()?;
        let began = match &event.kind {
            EventKind::TimerFired(_) => continue,
            // It is there already: a worker fetched it.
            EventKind::StepStarted(_)
                if begun.last().map(|last| &last.step) == event.step.as_ref() =>
            {
                continue;
            }
            EventKind::StepStarted(started) => Began::Called(started.started_at),
            EventKind::ExternalTaskLocked(locked) => Began::Fetched {
                worker: locked.worker_id.clone(),
                at: locked.locked_at,
            },
            _ => break event,
        };
        begun.push(Begun {
            step: event.step.clone()?,
            attempt: event.attempt?,
            began,
        });
    };
    let (by, compensate) = match &first.kind {
        EventKind::ExecutionCancelled(cancelled) => (&cancelled.by, false),
        EventKind::CompensationStarted(started) if started.cause == CompensationCause::Cancel => {
            (&started.by, true)
        }
        EventKind::ExecutionResumed(resumed) if rest.next().is_some_and(is_cancelling) => {
            (&resumed.by, true)
        }
        _ => return None,
    };
    let cancel = Cancel {
        by: by.clone(),
        compensate,
        begun,
    };
    Some(Cause::Command(Box::new((
        Command::Cancel(cancel),
        first.at,
    ))))
}

fn is_cancelling(event: &Event) -> bool {
    match &event.kind {
        EventKind::CompensationStarted(started) => started.cause == CompensationCause::Cancel,
        EventKind::ExecutionCancelled(_) => true,
        _ => false,
    }
}

fn started(rest: &[Event]) -> Vec<Cause> {
    let Some((first, following)) = rest.split_first() else {
        return Vec::new();
    };
    let EventKind::ExecutionStarted(recorded) = &first.kind else {
        return Vec::new();
    };
    let carried = following
        .iter()
        .map_while(|event| match (&event.kind, &event.step) {
            (EventKind::StepCompleted(done), Some(step)) => {
                let from = done.carried_from?;
                Some(Carried {
                    step: step.clone(),
                    output: done.output.clone()?,
                    from,
                })
            }
            _ => None,
        })
        .collect();
    let start = Start {
        id: recorded.id,
        rules: recorded.rules,
        workflow_version: recorded.workflow_version,
        seed: recorded.seed,
        input: recorded.input.clone(),
        trigger: recorded.trigger.clone(),
        priority: recorded.priority,
        lineage: recorded.lineage.clone(),
        automatic_retries: recorded.automatic_retries,
        retry: recorded.retry.clone(),
        delay_until: recorded.delay_until,
        idempotency_key: recorded.idempotency_key.clone(),
        trace: recorded.trace.clone(),
        carried,
    };
    vec![Cause::Start(Box::new((start, first.at)))]
}

/// What a target said, if `rest` begins with it: after the beginning of its attempt, if it was early.
fn called_back(rest: &[Event]) -> Option<Cause> {
    let first = rest.first()?;
    let mut began = None;
    let mut rest = rest.iter().take_while(|event| event.step == first.step);
    let (event, received) = loop {
        let event = rest.next()?;
        match &event.kind {
            EventKind::TimerFired(_) => {}
            EventKind::StepStarted(started) => began = Some(started.started_at),
            EventKind::CallbackReceived(received) => break (event, received),
            _ => return None,
        }
    };
    let ended = rest.next().map(|event| &event.kind);
    let said = match (received.status, ended) {
        (CallbackStatus::Processing, _) => Said::Processing,
        (CallbackStatus::Success, Some(EventKind::StepFailed(failed))) => {
            Said::Unmapped(failed.error.clone())
        }
        (_, Some(EventKind::StepFailed(failed))) => Said::Failed(failed.error.clone()),
        (_, Some(EventKind::StepCompleted(done))) => Said::Success(done.output.clone()?),
        (_, Some(EventKind::CompensationCompleted(done))) => Said::Success(done.output.clone()?),
        _ => return None,
    };
    let callback = Callback {
        step: event.step.clone()?,
        attempt: event.attempt?,
        began,
        said,
        mapped: None,
        noted: Noted {
            progress: received.progress,
            message: received.progress_message.clone(),
            ..Noted::default()
        },
    };
    let command = Command::Callback(callback);
    Some(Cause::Command(Box::new((command, event.at))))
}

/// The end of a window, if the event's attempt waits for a callback.
fn window_over(state: &Execution, first: &Event) -> Option<Cause> {
    let (step, attempt) = (first.step.clone()?, first.attempt?);
    state.step(&step)?.awaited.as_ref()?;
    let command = Command::WindowOver { step, attempt };
    Some(Cause::Command(Box::new((command, first.at))))
}

/// The report that an attempt's first event belongs to: its result follows at once, or is in it.
fn reported(state: &Execution, rest: &[Event]) -> Option<Cause> {
    let first = rest.first()?;
    let step = first.step.as_ref().and_then(|step| state.step(step));
    let awaited = step.and_then(|step| step.awaited.as_ref());
    // That one which has called back has begun is recorded before.
    let mut began = awaited.map_or(Began::Never, |awaited| Began::Called(awaited.started_at));
    for event in rest {
        if event.step != first.step {
            break;
        }
        let outcome = match &event.kind {
            EventKind::StepStarted(started) => {
                if began == Began::Never {
                    began = Began::Called(started.started_at);
                }
                let Some(answer) = &started.answer else {
                    continue;
                };
                (Outcome::Succeeded(answer.clone()), started.duration_ms)
            }
            EventKind::ExternalTaskLocked(locked) => {
                began = Began::Fetched {
                    worker: locked.worker_id.clone(),
                    at: locked.locked_at,
                };
                continue;
            }
            EventKind::TimerFired(_) | EventKind::ExternalTaskReleased(_) => continue,
            EventKind::CallAnswered(answered) => (
                match (&answered.answer, &answered.error) {
                    (Some(answer), _) => Outcome::Succeeded(answer.clone()),
                    (None, Some(error)) => Outcome::Failed(error.clone()),
                    (None, None) => break,
                },
                answered.duration_ms,
            ),
            EventKind::StepCompleted(done) => {
                (Outcome::Succeeded(done.output.clone()?), done.duration_ms)
            }
            EventKind::CompensationCompleted(done) => {
                (Outcome::Succeeded(done.output.clone()?), None)
            }
            EventKind::StepFailed(failed) => {
                (Outcome::Failed(failed.error.clone()), failed.duration_ms)
            }
            _ => break,
        };
        let (Some(step), Some(attempt)) = (&event.step, event.attempt) else {
            break;
        };
        let report = Report {
            step: step.clone(),
            attempt,
            began,
            duration_ms: outcome.1.unwrap_or(0),
            outcome: outcome.0,
            mapped: None,
        };
        let command = Command::Report(report);
        return Some(Cause::Command(Box::new((command, event.at))));
    }
    None
}

#[cfg(test)]
mod tests;
