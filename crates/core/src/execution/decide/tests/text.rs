//! Events, work and refusals as short lines, so that a test reads like a specification.

use super::work::{Row, WorkRows};
use crate::execution::event::{Event, EventKind, SkipReason};
use crate::execution::{Effect, Execution};
use crate::time::Timestamp;

/// `4 RETRY_SCHEDULED a#2 +2000ms`
pub(in crate::execution) fn event(event: &Event) -> String {
    let mut line = format!("{} {}", event.sequence, event.kind.name());
    match (&event.step, event.attempt) {
        (Some(step), Some(attempt)) => line += &format!(" {step}#{attempt}"),
        (Some(step), None) => line += &format!(" {step}"),
        (None, _) => {}
    }
    if let Some(ms) = event.backoff_ms {
        line += &format!(" +{ms}ms");
    }
    line + &detail(&event.kind)
}

/// The part of a payload that tells one event of a type from another.
fn detail(kind: &EventKind) -> String {
    match kind {
        EventKind::StepFailed(failed) => failed
            .last
            .map(|reason| format!(" {}", reason.name()))
            .unwrap_or_default(),
        EventKind::StepLost(lost) if !lost.begun => " unbegun".to_owned(),
        EventKind::ExternalTaskCreated(created) => match &created.input {
            Some(input) => format!(" {} {input}", created.task_type),
            None => format!(" {}", created.task_type),
        },
        EventKind::ExternalTaskReleased(released) => format!(" {}", released.because),
        EventKind::StepStarted(started) if started.waits_until.is_some() => " waits".to_owned(),
        EventKind::CallbackReceived(received) => {
            let early = if received.early { " early" } else { "" };
            let progress = received.progress.map(|progress| format!(" {progress}%"));
            let progress = progress.unwrap_or_default();
            format!(" {}{progress}{early}", received.status.name())
        }
        EventKind::CallAnswered(answered) => match &answered.error {
            Some(error) => format!(" {}", error.class),
            None => String::new(),
        },
        EventKind::StepCompleted(done) if done.answer.is_some() => " with the answer".to_owned(),
        EventKind::CompensationCompleted(done) if done.answer.is_some() => {
            " with the answer".to_owned()
        }
        EventKind::StepSkipped(skipped) => match skipped.because {
            SkipReason::When => " when".to_owned(),
            SkipReason::Failing => " failing".to_owned(),
        },
        EventKind::StepCompleted(done) if done.carried_from.is_some() => " carried".to_owned(),
        EventKind::CompensationStarted(started) => format!(" undoes {}", started.undoes),
        EventKind::DeadLettered(letter) => format!(" {}", letter.reason.name()),
        EventKind::ExecutionCompleted(done) => match (&done.output, &done.output_of) {
            (Some(value), _) => format!(" {value}"),
            (None, Some(step)) => format!(" output of {step}"),
            (None, None) => format!(
                " outputs of {}",
                done.outputs_of
                    .iter()
                    .map(AsRef::as_ref)
                    .collect::<Vec<_>>()
                    .join(" ")
            ),
        },
        _ => String::new(),
    }
}

/// `a#2@+2000 running`: the attempt, when it is due, whether a node runs it.
pub(in crate::execution) fn work(rows: &WorkRows, since: Timestamp) -> String {
    rows.rows()
        .map(|row| row_text(row, since))
        .collect::<Vec<_>>()
        .join(", ")
}

fn row_text(row: &Row, since: Timestamp) -> String {
    let mut text = format!("{}#{}", row.work.step, row.work.attempt);
    if let Some(due) = row.work.due_at {
        text += &format!("@+{}", due.since(since).as_millis());
    }
    if row.begun.is_some() {
        text += " running";
    }
    if let Some(task) = &row.task {
        text += &format!(" {:?}", task.state).to_lowercase();
    }
    text
}

/// `hold, restore a#1`
pub(in crate::execution) fn effects(effects: &[Effect]) -> String {
    let name = |effect: &Effect| match effect {
        Effect::Schedule(work) => format!("schedule {}#{}", work.step, work.attempt),
        Effect::Hasten(work) => format!("hasten {}#{}", work.step, work.attempt),
        Effect::Restore(work) => format!("restore {}#{}", work.step, work.attempt),
        Effect::Withdraw { step } => format!("withdraw {step}"),
        Effect::Offer(offer) => format!("offer {}#{}", offer.step, offer.attempt),
        Effect::OfferNow(offer) => format!("offer {}#{} now", offer.step, offer.attempt),
        Effect::OfferAgain { step, later } => {
            format!("offer {step} again, {} ms later", later.as_millis())
        }
        Effect::Retire { step } => format!("retire {step}"),
        Effect::Close { step, end } => format!("close {step} {end:?}").to_lowercase(),
        Effect::Callback { step, attempt, put } => {
            let open = if put.is_open { "open" } else { "closed" };
            format!("callback {step}#{attempt} {} {open}", put.status.name())
        }
        Effect::Hold => "hold".to_owned(),
        Effect::Abort => "abort".to_owned(),
        Effect::DeadLetter(letter) => format!("letter {}", letter.reason.name()),
        Effect::SettleLetter { resolved: true, .. } => "settle resolved".to_owned(),
        Effect::SettleLetter {
            resolved: false, ..
        } => "settle pending".to_owned(),
    };
    effects.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// `a completed, b retrying`: steps in the order of their names.
pub(in crate::execution) fn steps(state: &Execution) -> String {
    let name = |status| serde_json::to_string(&status).unwrap().replace('"', "");
    let all = state
        .steps
        .iter()
        .map(|(id, step)| format!("{id} {}", name(step.status)));
    all.collect::<Vec<_>>().join(", ")
}
