//! The defects of the committer that a simulation can switch on.

use std::borrow::Cow;

use refire_core::execution::Execution;
use refire_core::id::ExecutionId;
use refire_core::planted::{Defect, is};
use refire_store::{Advance, Batch, CommitError, NotWritten, Part, PartOutcome, RowUpdate, Store};

use super::request::{Admitted, send};
use super::unit::{FollowUp, Kind, Unit};

/// Commits a batch, with the defect that was chosen.
pub(super) async fn commit(
    store: &dyn Store,
    batch: &Batch,
    units: &mut [Unit],
) -> Result<Vec<PartOutcome>, CommitError> {
    if is(Defect::AnswerBeforeCommit) {
        units.iter_mut().for_each(answer);
    }
    if is(Defect::LockAnsweredEarly) {
        units.iter_mut().for_each(Unit::give_early);
    }
    if is(Defect::FenceDropped) {
        let unfenced = Batch {
            lease: None,
            ..batch.clone()
        };
        return store.commit(&unfenced).await;
    }
    if is(Defect::UnknownSaysRefused) {
        return store.commit(batch).await.map_err(|error| match error {
            CommitError::Unknown(source) => CommitError::NotWritten {
                reason: NotWritten::Unavailable,
                source,
            },
            written => written,
        });
    }
    if forgets() {
        let mut less = batch.clone();
        less.parts.iter_mut().for_each(forget);
        return store.commit(&less).await;
    }
    let take = match () {
        () if is(Defect::LetterInSecondCommit) => take_letter,
        () if is(Defect::TaskInSecondCommit) => take_tasks,
        () => return store.commit(batch).await,
    };
    let mut first = batch.clone();
    let parts: Vec<Part> = first.parts.iter_mut().filter_map(take).collect();
    let outcomes = store.commit(&first).await?;
    if !parts.is_empty() {
        let second = Batch {
            parts,
            ..batch.clone()
        };
        store.commit(&second).await?;
    }
    Ok(outcomes)
}

impl Unit {
    /// Gives out tasks before they are written.
    fn give_early(&mut self) {
        for follow_up in std::mem::take(&mut self.follow_ups) {
            match follow_up {
                FollowUp::Fetched(taken, task) => taken.give(*task),
                other => self.follow_ups.push(other),
            }
        }
    }
}

/// Whether something is left out of what is committed.
fn forgets() -> bool {
    let defects = [
        Defect::SlotForgotten,
        Defect::TriggerEndForgotten,
        Defect::RequestKeyDropped,
    ];
    defects.into_iter().any(is)
}

fn forget(part: &mut Part) {
    match part {
        Part::Fire(fire) if is(Defect::SlotForgotten) && fire.admission.is_some() => {
            fire.slots.clear();
        }
        Part::Advance(advance) if is(Defect::TriggerEndForgotten) => advance.end = None,
        Part::Admit(admit) if is(Defect::RequestKeyDropped) && admit.request.is_some() => {
            admit.claim = None;
        }
        _ => {}
    }
}

fn answer(unit: &mut Unit) {
    if let (Kind::Admission(terms), Some(state)) = (&mut unit.kind, &unit.state) {
        send(terms.reply.take(), Ok(Admitted::New(state.clone())));
    }
}

/// The part that writes the letter alone.
fn take_letter(part: &mut Part) -> Option<Part> {
    let (id, update, letter) = match part {
        Part::Advance(advance) => (advance.id, &advance.update, advance.new_letter.take()?),
        Part::Admit(admit) => (admit.row.id, &admit.row.update, admit.new_letter.take()?),
        _ => return None,
    };
    let mut second = nothing(id, update);
    second.new_letter = Some(letter);
    Some(Part::Advance(second))
}

/// The part that writes the tasks alone.
fn take_tasks(part: &mut Part) -> Option<Part> {
    let (id, update, tasks) = match part {
        Part::Advance(advance) => (advance.id, &advance.update, &mut advance.tasks),
        Part::Admit(admit) => (admit.row.id, &admit.row.update, &mut admit.tasks),
        _ => return None,
    };
    if tasks.is_empty() {
        return None;
    }
    let mut second = nothing(id, update);
    second.tasks = std::mem::take(tasks);
    Some(Part::Advance(second))
}

/// A move that changes nothing.
fn nothing(id: ExecutionId, update: &RowUpdate) -> Box<Advance> {
    Box::new(Advance {
        id,
        expected_version: update.version,
        begun: None,
        seen: None,
        update: update.clone(),
        events: Vec::new(),
        work: Vec::new(),
        tasks: Vec::new(),
        callbacks: Vec::new(),
        new_letter: None,
        settle: None,
        end: None,
        notices: Vec::new(),
    })
}

/// Whether a node goes on as if it knew what it committed.
pub(super) fn forgets_unknown() -> bool {
    is(Defect::UnknownForgotten)
}

/// The state that is written as the snapshot.
pub(super) fn snapshot_of(state: &Execution) -> Cow<'_, Execution> {
    let mut state = Cow::Borrowed(state);
    if is(Defect::SnapshotBesideLog) {
        let steps = state.to_mut().steps.values_mut();
        steps.for_each(|step| step.failures = 0);
    }
    state
}
