//! How an execution ends: completed, failed (mostly with a dead letter) or cancelled.

use super::draft::{Draft, Header};
use crate::dead_letter::{Letter, Reason, fingerprint};
use crate::definition::DeadLetterMode;
use crate::execution::effect::Effect;
use crate::execution::event::{
    CompensationCause, DeadLettered, EventKind, ExecutionCancelled, ExecutionCompleted,
    ExecutionFailed, StepFailed,
};
use crate::execution::state::Failing;
use crate::failure::{ErrorClass, Failure};

/// Every step is done: the output is what the definition says, else the last steps' outputs.
pub(super) fn complete(draft: &mut Draft<'_>) {
    let completed = match &draft.workflow.output {
        Some(tree) => match tree.render(&draft.scope()) {
            Ok(value) => ExecutionCompleted {
                output: Some(value),
                output_of: None,
                outputs_of: Vec::new(),
            },
            Err(error) => {
                let failure = Failure::new(ErrorClass::Template, format!("`output`: {error}"));
                draft.emit(
                    Header::default().because(&failure.message),
                    EventKind::StepFailed(StepFailed {
                        error: failure,
                        last: Some(Reason::NonRetryable),
                        duration_ms: None,
                    }),
                );
                return;
            }
        },
        None => {
            let mut last: Vec<_> = draft
                .workflow
                .last_steps()
                .into_iter()
                .map(|index| draft.workflow.steps[index].id.clone())
                .collect();
            let only = if last.len() == 1 { last.pop() } else { None };
            ExecutionCompleted {
                output: None,
                output_of: only,
                outputs_of: last,
            }
        }
    };
    draft.emit(Header::default(), EventKind::ExecutionCompleted(completed));
    settle_letter(draft, true);
}

/// The end after a failure or a cancellation, once there is nothing left to undo.
pub(super) fn end_badly(draft: &mut Draft<'_>, cause: CompensationCause, by: Option<String>) {
    let undo_failed = draft
        .state
        .compensating
        .as_ref()
        .is_some_and(|state| state.failed);
    match cause {
        CompensationCause::Cancel if !undo_failed => cancel(draft, by),
        CompensationCause::Cancel | CompensationCause::Failure => {
            let failing = cause_of_end(draft, undo_failed);
            fail(draft, failing);
        }
    }
}

/// Ends it as cancelled.
pub(super) fn cancel(draft: &mut Draft<'_>, by: Option<String>) {
    draft.emit(
        Header::default(),
        EventKind::ExecutionCancelled(ExecutionCancelled { by }),
    );
    settle_letter(draft, false);
}

/// The failure to report: the one that began it all; the reason says if undoing failed too.
fn cause_of_end(draft: &Draft<'_>, undo_failed: bool) -> Failing {
    let undo_failure = || {
        let mut undone = draft
            .state
            .steps
            .iter()
            .filter(|(_, step)| step.undoes.is_some());
        let (id, step) = undone.find(|(_, step)| step.failure.is_some())?;
        Some(Failing {
            step: Some(id.clone()),
            failure: step.failure.clone()?,
            reason: Reason::CompensationFailed,
        })
    };
    let mut failing = draft
        .state
        .failing
        .clone()
        .or_else(undo_failure)
        .unwrap_or_else(|| {
            let failure =
                Failure::new(ErrorClass::Internal, "the execution failed without a cause");
            Failing {
                step: None,
                failure,
                reason: Reason::NonRetryable,
            }
        });
    if undo_failed {
        failing.reason = Reason::CompensationFailed;
    }
    failing
}

/// Ends it as failed, with a dead letter unless the workflow or its origin says otherwise.
fn fail(draft: &mut Draft<'_>, failing: Failing) {
    let reason = failing.reason;
    let letter = if wants_letter(draft, reason) {
        letter(draft, &failing)
    } else {
        None
    };
    let failure = failing.failure;
    if let Some(letter) = letter {
        draft.emit(
            Header {
                step: letter.step.clone(),
                ..Header::default()
            }
            .because(&failure.message),
            EventKind::DeadLettered(DeadLettered {
                dlq_id: letter.id,
                reason,
            }),
        );
        draft.effect(Effect::DeadLetter(Box::new(letter)));
    }
    draft.emit(
        Header::default().because(&failure.message),
        EventKind::ExecutionFailed(ExecutionFailed { error: failure }),
    );
    settle_letter(draft, false);
}

fn wants_letter(draft: &Draft<'_>, reason: Reason) -> bool {
    let retries_a_letter = draft
        .state
        .origin
        .as_ref()
        .is_some_and(|origin| origin.lineage.letter.is_some());
    let left_out =
        draft.workflow.dead_letter == DeadLetterMode::Exhausted && reason == Reason::NonRetryable;
    // What the server runs for itself is nobody's to retry.
    !retries_a_letter && !left_out && !draft.workflow.id.is_system()
}

fn letter(draft: &Draft<'_>, failing: &Failing) -> Option<Letter> {
    let origin = draft.state.origin.as_ref()?;
    let Failing {
        step,
        failure,
        reason,
    } = failing.clone();
    let (retry_count, max_retries) = draft.retries_of(step.as_ref());
    Some(Letter {
        id: Letter::id_for(origin.id, draft.now),
        execution: origin.id,
        workflow: draft.workflow.id.clone(),
        workflow_name: draft.workflow.name.clone(),
        fingerprint: fingerprint(&draft.workflow.id, step.as_ref(), &failure),
        step,
        reason,
        failure: Failure {
            response: None,
            ..failure
        },
        retry_count,
        max_retries,
        failed_at: draft.now,
    })
}

/// An execution that retries a dead letter tells the letter how it went.
fn settle_letter(draft: &mut Draft<'_>, resolved: bool) {
    let letter = draft
        .state
        .origin
        .as_ref()
        .and_then(|origin| origin.lineage.letter);
    if let Some(letter) = letter {
        draft.effect(Effect::SettleLetter { letter, resolved });
    }
}
