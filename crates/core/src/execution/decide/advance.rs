//! What comes next: steps whose needs are done, the undoing of completed ones, or the end.

use super::draft::{Draft, HISTORY_IS_FULL, Header};
use super::{finish, report, task};
use crate::dead_letter::Reason;
use crate::definition::{Step, StepId};
use crate::execution::effect::TaskEnd;
use crate::execution::event::{
    CompensationCause, CompensationStarted, EventKind, SkipReason, StepFailed, StepScheduled,
    StepSkipped,
};
use crate::failure::{ErrorClass, Failure};
use crate::json::Kind;

/// Carries the execution on as far as it can go without waiting for anything.
pub(super) fn settle(draft: &mut Draft<'_>) {
    if draft.state.status.is_terminal() || draft.state.paused_at.is_some() {
        // While paused, results are recorded and nothing else happens.
        return;
    }
    if draft.state.compensating.is_some() {
        return undo_next(draft);
    }
    if draft.state.failing.is_none() {
        schedule_ready(draft);
    }
    if draft.state.failing.is_some() {
        fail_when_quiet(draft);
    } else if all_done(draft) {
        finish::complete(draft);
        // An output template that cannot be filled in is a failure like any other.
        if draft.state.failing.is_some() {
            fail_when_quiet(draft);
        }
    }
}

fn all_done(draft: &Draft<'_>) -> bool {
    normal(draft).all(|step| {
        draft
            .state
            .step(&step.id)
            .is_some_and(|state| state.is_done())
    })
}

fn normal<'a>(draft: &Draft<'a>) -> impl Iterator<Item = &'a Step> + use<'a> {
    draft
        .workflow
        .steps
        .iter()
        .filter(|step| !step.is_compensation)
}

/// Schedules every step whose needs are done. A skipped step makes others ready, so this goes
/// round until nothing changes; each round touches at least one step, which bounds it.
fn schedule_ready(draft: &mut Draft<'_>) {
    loop {
        let ready: Vec<&Step> = normal(draft)
            .filter(|step| draft.state.step(&step.id).is_none())
            .filter(|step| {
                step.needs.iter().all(|need| {
                    let id = &draft.workflow.steps[*need].id;
                    draft.state.step(id).is_some_and(|state| state.is_done())
                })
            })
            .collect();
        let mut skipped = false;
        for step in ready {
            skipped |= schedule_one(draft, step);
            if draft.state.failing.is_some() {
                return;
            }
        }
        if !skipped {
            return;
        }
    }
}

/// Schedules or skips one ready step; true if it was skipped.
fn schedule_one(draft: &mut Draft<'_>, step: &Step) -> bool {
    if draft.history_is_full() {
        give_up(
            draft,
            &step.id,
            Failure::new(ErrorClass::HistoryLimit, HISTORY_IS_FULL),
        );
        return false;
    }
    let runs = runs(draft, step).and_then(|runs| match runs {
        true => task::created(draft, step).map(Some),
        false => Ok(None),
    });
    match runs {
        Ok(Some(task)) => {
            let due_at = draft
                .state
                .origin
                .as_ref()
                .and_then(|origin| origin.delay_until);
            let due_at = due_at.filter(|due| *due > draft.now);
            draft.emit(
                Header::step(&step.id, 1),
                EventKind::StepScheduled(StepScheduled { due_at }),
            );
            task::create(draft, &step.id, task);
            draft.schedule(&step.id);
            false
        }
        Ok(None) => {
            draft.emit(
                Header {
                    step: Some(step.id.clone()),
                    ..Header::default()
                },
                EventKind::StepSkipped(StepSkipped {
                    because: SkipReason::When,
                }),
            );
            true
        }
        Err(failure) => {
            give_up(draft, &step.id, failure);
            false
        }
    }
}

/// What the step's `when` says.
fn runs(draft: &Draft<'_>, step: &Step) -> Result<bool, Failure> {
    let Some(when) = &step.when else {
        return Ok(true);
    };
    let value = when
        .render(&draft.scope())
        .map_err(|error| Failure::new(ErrorClass::Template, format!("`when`: {error}")))?;
    match (value.kind(), value.as_str().trim()) {
        (Kind::Bool, text) => Ok(text == "true"),
        (Kind::String, "\"true\"") => Ok(true),
        (Kind::String, "\"false\"") => Ok(false),
        (_, text) => Err(Failure::new(
            ErrorClass::Template,
            format!("`when` must give true or false, it gave {}", excerpt(text)),
        )),
    }
}

fn excerpt(text: &str) -> String {
    const SHOWN_CHARS: usize = 60;
    if text.chars().count() <= SHOWN_CHARS {
        return text.to_owned();
    }
    text.chars().take(SHOWN_CHARS).chain("…".chars()).collect()
}

/// A step that fails before it could be attempted.
fn give_up(draft: &mut Draft<'_>, step: &StepId, mut failure: Failure) {
    failure.retryable = false;
    let reason = match failure.class {
        ErrorClass::HistoryLimit => Reason::HistoryLimit,
        _ => Reason::NonRetryable,
    };
    draft.emit(
        Header {
            step: Some(step.clone()),
            ..Header::default()
        }
        .because(&failure.message),
        EventKind::StepFailed(StepFailed {
            error: failure,
            last: Some(reason),
            duration_ms: None,
        }),
    );
}

/// A step failed for good: no new ones start, timers are dropped, running attempts finish and
/// are recorded; then completed steps are undone, then the execution ends.
fn fail_when_quiet(draft: &mut Draft<'_>) {
    let waiting: Vec<StepId> = draft
        .state
        .steps
        .iter()
        .filter(|(_, step)| {
            // An attempt whose time has come may be running already; it is let finish.
            step.is_live() && step.due_at.is_some_and(|due| due > draft.now)
        })
        .map(|(id, _)| id.clone())
        .collect();
    for id in waiting {
        drop_attempt(draft, &id);
    }
    task::retire(draft);
    if draft.state.steps.values().any(|step| step.is_live()) {
        return;
    }
    undo_next(draft);
}

/// Drops a step's next attempt because the execution is failing.
pub(super) fn drop_attempt(draft: &mut Draft<'_>, step: &StepId) {
    let was = draft.state.step(step).cloned();
    draft.emit(
        Header {
            step: Some(step.clone()),
            ..Header::default()
        },
        EventKind::StepSkipped(StepSkipped {
            because: SkipReason::Failing,
        }),
    );
    if let Some(was) = was {
        draft.end_work(step, &was, TaskEnd::Cancelled);
    }
}

/// Starts the next compensation, one at a time, latest completed step first; ends the execution
/// when there is none left.
pub(super) fn undo_next(draft: &mut Draft<'_>) {
    undo_next_for(draft, CompensationCause::Failure, None);
}

/// The same, for whoever sets it off.
pub(super) fn undo_next_for(draft: &mut Draft<'_>, cause: CompensationCause, by: Option<String>) {
    let (cause, by) = match &draft.state.compensating {
        Some(running) => (running.cause, running.by.clone()),
        None => (cause, by),
    };
    for undoes in draft.state.completed_order.clone().into_iter().rev() {
        let Some((_, step)) = draft.workflow.step(undoes.as_ref()) else {
            continue;
        };
        let Some(undo) = step.compensate.map(|index| &draft.workflow.steps[index]) else {
            continue;
        };
        if let Some(state) = draft.state.step(&undo.id) {
            match state.is_live() {
                true => return,
                false => continue,
            }
        }
        let by = by.clone();
        draft.emit(
            Header::step(&undo.id, 1),
            EventKind::CompensationStarted(CompensationStarted { undoes, cause, by }),
        );
        match task::created(draft, undo) {
            Ok(task) => {
                task::create(draft, &undo.id, task);
                return draft.schedule(&undo.id);
            }
            Err(mut failure) => {
                failure.retryable = false;
                if let Some((_, _, state)) = draft.live(&undo.id, 1) {
                    let end = (failure, Reason::NonRetryable, None);
                    report::give_up(draft, &undo.id, &state, end);
                }
            }
        }
    }
    finish::end_badly(draft, cause, by);
}
