//! After the commit: answers go out, the cache learns the new states, work begins.

use std::sync::Arc;

use refire_core::definition::Workflow;
use refire_core::execution::{Execution, StepState};
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use refire_store::PartOutcome;

use super::cache::Cache;
use super::request::{Admitted, CommandError, CommitFailure, Request, send};
use super::rows::TIMER_OWNED_WITHIN;
use super::unit::{CommandAnswer, FollowUp, Kind, Unit};

/// What happens outside the committer once something is durable.
pub(crate) trait AfterCommit: Send + Sync {
    /// An execution changed: this is to do for it, and those who wait for its end are told.
    fn written(&self, written: &Written, follow_ups: Vec<FollowUp>);
    /// An admission was refused.
    fn refused(&self, execution: ExecutionId);
    /// The store's state is not known: the process must stop.
    fn must_stop(&self);
}

/// An execution as it was written.
pub(crate) struct Written {
    pub(crate) id: ExecutionId,
    pub(crate) state: Arc<Execution>,
    pub(crate) workflow: Arc<Workflow>,
    /// When the batch was sent.
    pub(crate) at: Timestamp,
    /// Whether it was made by this.
    pub(crate) is_new: bool,
    /// Retries that were planned by this.
    pub(crate) retries: u32,
    /// Whether the commit's answer was so long on its way that others may have changed it since.
    pub(crate) is_old: bool,
}

/// What a batch's outcomes go to, and how fresh they are.
pub(super) struct Settling<'a> {
    pub(super) cache: &'a mut Cache,
    /// When the batch was sent.
    pub(super) now: Timestamp,
    /// See [`Written`].
    pub(super) is_old: bool,
    pub(super) after: &'a dyn AfterCommit,
}

pub(super) fn settle(
    unit: Unit,
    outcome: Option<PartOutcome>,
    settling: &mut Settling<'_>,
    again: &mut Vec<Request>,
) {
    let Settling {
        now, after, is_old, ..
    } = *settling;
    let Unit {
        id,
        kind,
        answers,
        state,
        workflow,
        follow_ups,
        retries,
        ..
    } = unit;
    match (kind, outcome) {
        (Kind::Plain { reply }, outcome) => {
            let missing = CommitFailure::Internal("the store gave no outcome".to_owned());
            send(reply, outcome.ok_or(missing));
        }
        (Kind::Refused(_), _) => answer_all(answers, None),
        (Kind::Admission(terms), outcome) if outcome != Some(PartOutcome::Done) => {
            id.iter().for_each(|id| after.refused(*id));
            send(terms.reply, refused_admission(outcome));
        }
        (Kind::Execution { .. }, Some(PartOutcome::Conflict)) => {
            let Some(id) = id else { return };
            // It had moved: decide again on what became of it.
            for CommandAnswer { asker, command, .. } in answers {
                match asker.seen() {
                    Some(_) => asker.answer(Err(CommandError::TaskMoved.into())),
                    None => again.push(asker.ask_again(id, command)),
                }
            }
        }
        (kind, _) => {
            let (Some(id), Some(state), Some(workflow)) = (id, state, workflow) else {
                return;
            };
            let is_new = matches!(kind, Kind::Admission(_));
            let written = Written {
                id,
                state,
                workflow,
                at: now,
                is_new,
                retries,
                is_old,
            };
            // A new one that waits for a claim is read again by whoever claims it.
            let is_kept = !is_new || follow_ups.iter().any(FollowUp::is_here);
            after.written(&written, follow_ups);
            let state = written.state;
            if let Kind::Admission(terms) = kind {
                send(terms.reply, Ok(Admitted::New(Arc::clone(&state))));
            }
            answer_all(answers, Some(&state));
            if is_kept {
                keep(settling.cache, id, state, now);
            }
        }
    }
}

/// Keeps the state at hand if a command for it is to be expected soon: an attempt is running, or
/// its timer is near. What sleeps for longer is read again when it is needed.
fn keep(cache: &mut Cache, id: ExecutionId, state: Arc<Execution>, now: Timestamp) {
    let soon = now.plus(TIMER_OWNED_WITHIN);
    let is_near = |step: &StepState| step.is_live() && step.due_at.is_none_or(|due| due <= soon);
    if !state.status.is_terminal() && state.steps.values().any(|step| is_near(step)) {
        cache.put(id, state);
    }
}

fn answer_all(answers: Vec<CommandAnswer>, state: Option<&Arc<Execution>>) {
    for CommandAnswer { asker, refusal, .. } in answers {
        let answer = match (refusal, state) {
            (None, Some(_)) if !asker.listens() => continue,
            (Some(refusal), _) => Err(refusal.into()),
            (None, Some(state)) => Ok(Arc::clone(state)),
            (None, None) => Err(CommandError::NotFound.into()),
        };
        asker.answer(answer);
    }
}

fn refused_admission(outcome: Option<PartOutcome>) -> Result<Admitted, CommitFailure> {
    match outcome {
        Some(PartOutcome::Duplicate {
            execution,
            body_differs,
        }) => Ok(Admitted::Duplicate {
            execution,
            body_differs,
        }),
        Some(PartOutcome::LetterNotPending(status)) => Ok(Admitted::LetterNotPending(status)),
        Some(PartOutcome::NoSuchWorkflow) => Ok(Admitted::NoSuchWorkflow),
        Some(PartOutcome::NotNewest) => Ok(Admitted::NotNewest),
        Some(PartOutcome::TriggerMoved) => Ok(Admitted::TriggerMoved),
        Some(PartOutcome::ItemDone) => Ok(Admitted::ItemDone),
        Some(PartOutcome::Conflict) => Ok(Admitted::GroupsMoved),
        other => Err(CommitFailure::unexpected("outcome", &other)),
    }
}
