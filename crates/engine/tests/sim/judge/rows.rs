//! The promises about rows beside a log: work that is due has a row, a row stands for a live
//! attempt, and a dead letter is there exactly when its execution says so.

use std::collections::BTreeMap;

use refire_core::dead_letter::LetterStatus;
use refire_core::execution::{Execution, Status, StepState};
use refire_core::id::ExecutionId;
use refire_store::WorkRow;
use refire_store::model::{Filed, Image};

use super::Known;
use crate::world::Violation;

/// What is live has a row, and what has a row is live.
pub(super) fn work(image: &Image, id: ExecutionId, known: &Known) -> Result<(), Violation> {
    let state = &known.state;
    let rows: Vec<&WorkRow> = image.work_of(id).collect();
    let fail = |what: String| Err(Violation::new("live steps have their work rows", what));
    if state.paused_at.is_none() {
        let is_ours =
            |step: &StepState| step.is_live() && !step.is_task() && step.awaited.is_none();
        for (step, live) in state.steps.iter().filter(|(_, step)| is_ours(step)) {
            if !rows.iter().any(|row| row.step == step.as_str()) {
                return fail(format!("{step}#{} has none", live.attempt));
            }
        }
    }
    for row in rows {
        let name = format!("{}#{}", row.step, row.attempt);
        let step = state
            .steps
            .iter()
            .find(|(step, _)| step.as_str() == row.step);
        let Some((_, step)) = step.filter(|(_, step)| {
            let is_live = step.is_live() && !step.is_task() && step.awaited.is_none();
            !state.status.is_terminal() && is_live && step.attempt == row.attempt
        }) else {
            return fail(format!("{name} is not live: {row:?}"));
        };
        if state.paused_at.is_some() && !row.begun {
            return fail(format!("{name} waits although the execution is paused"));
        }
        if row.owner.is_none() && (row.begun || row.due_at.is_none()) {
            return fail(format!(
                "{name} is nobody's and could not be claimed: {row:?}"
            ));
        }
        // Owned and due at once means that its attempt began with the commit that wrote it.
        if row.owner.is_some() && row.due_at.is_none() && !row.begun {
            return fail(format!("{name} runs, but its beginning is not recorded"));
        }
        if step
            .due_at
            .is_some_and(|due| row.due_at.is_none_or(|row| row < due))
        {
            return fail(format!(
                "{name} is due at {:?}, its row at {:?}",
                step.due_at, row.due_at
            ));
        }
    }
    Ok(())
}

/// An execution and the letters it has to do with.
pub(super) fn letter(image: &Image, id: ExecutionId, known: &Known) -> Result<(), Violation> {
    let state = &known.state;
    let fail = |what: &str| {
        Err(Violation::new(
            "a letter and its execution agree",
            format!("{what} ({id})"),
        ))
    };
    match (state.status == Status::Dlq, state.dlq_id) {
        (true, Some(letter)) => match image.letters.get(&letter) {
            Some(filed) if filed.letter.execution == id => {}
            _ => return fail("it is dead-lettered, but there is no letter"),
        },
        (true, None) => return fail("it is dead-lettered without naming a letter"),
        (false, Some(_)) => return fail("it names a letter but is not dead-lettered"),
        (false, None) => {}
    }
    let retried = state
        .origin
        .as_ref()
        .and_then(|origin| origin.lineage.letter);
    let Some(letter) = retried else {
        return Ok(());
    };
    let Some(filed) = image.letters.get(&letter) else {
        return fail("it retries a letter that is not there");
    };
    let kept = filed.retries.iter().find(|retry| retry.execution == id);
    let ended = state.status.is_terminal().then_some(state.status);
    if kept.is_none_or(|kept| kept.ended.map(|(status, _)| status) != ended) {
        return fail("it retries a letter that does not know it, or not how it ended");
    }
    let is_last = filed
        .retries
        .last()
        .is_some_and(|retry| retry.execution == id);
    match state.status {
        Status::Completed if is_last && filed.state.status != LetterStatus::Resolved => {
            fail("it resolved its letter, which does not know")
        }
        status if status.is_terminal() => {
            match is_last && filed.state.status == LetterStatus::Retrying {
                true => fail("it ended, but its letter is still being retried"),
                false => Ok(()),
            }
        }
        _ if !is_last || filed.state.status != LetterStatus::Retrying => {
            fail("it retries a letter that is not being retried by it")
        }
        _ => Ok(()),
    }
}

/// Every letter belongs to one execution, and is being retried exactly while a retry is open.
pub(super) fn letters(
    image: &Image,
    known: &BTreeMap<ExecutionId, Known>,
) -> Result<(), Violation> {
    let fail = |filed: &Filed, what: &str| {
        let what = format!("{} of {}: {what}", filed.letter.id, filed.letter.execution);
        Err(Violation::new("a letter and its execution agree", what))
    };
    let state = |id: &ExecutionId| -> Option<&Execution> { Some(&known.get(id)?.state) };
    for (id, filed) in &image.letters {
        let owner = state(&filed.letter.execution);
        if owner.is_none_or(|state| state.dlq_id != Some(*id)) {
            return fail(filed, "its execution does not know it");
        }
        let last = filed.retries.last().map(|retry| &retry.execution);
        let retry = last.and_then(state);
        let is_open = retry.is_some_and(|state| !state.status.is_terminal());
        if (filed.state.status == LetterStatus::Retrying) != is_open {
            return fail(
                filed,
                &format!("it is {:?}, its retry open: {is_open}", filed.state.status),
            );
        }
    }
    Ok(())
}
