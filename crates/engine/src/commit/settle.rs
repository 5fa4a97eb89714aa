//! After the commit: answers go out, the cache learns the new states, work begins.

use std::sync::Arc;

use refire_core::definition::Workflow;
use refire_core::execution::{Execution, StepState};
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use refire_store::{PartOutcome, WorkRow};

use super::cache::Cache;
use super::letter_log::LetterLog;
use super::request::{Admitted, CommandError, CommitFailure, Request, send};
use super::rows::TIMER_OWNED_WITHIN;
use super::unit::{CommandAnswer, FollowUp, Kind, Unit};
use crate::limit::Permit;

/// What happens outside the committer once something is durable.
pub(crate) trait AfterCommit: Send + Sync {
    /// An attempt may run; its slot is held.
    fn run(&self, work: WorkRow, permit: Permit, state: Arc<Execution>, workflow: Arc<Workflow>);
    /// The same, but the commit's answer was long on its way, and the world may have moved on.
    fn confirm(&self, work: WorkRow);
    /// A timer of this node.
    fn wait(&self, work: WorkRow);
    /// Unowned due work was written.
    fn backlog(&self, workflow: &refire_core::definition::WorkflowId);
    /// Unowned work that comes due then was written.
    fn look_again(&self, at: Timestamp);
    /// An admission was refused.
    fn refused(&self, execution: ExecutionId);
    /// The step's timer is void.
    fn withdraw(&self, execution: ExecutionId, step: &str);
    /// The execution's timers are void.
    fn hold(&self, execution: ExecutionId);
    /// The execution's timers are void and its attempts are to be aborted.
    fn abort(&self, execution: ExecutionId);
    /// A trigger may be due now: an execution that it was told of has ended.
    fn trigger_due(&self);
    /// An execution changed; tells those who wait for its end.
    fn changed(&self, execution: ExecutionId, state: &Execution);
    /// The store's state is not known: the process must stop.
    fn must_stop(&self);
}

/// Whom the outcomes of a batch are told, and how fresh they are.
pub(super) struct Told<'a> {
    pub(super) cache: &'a mut Cache,
    /// When the batch was sent.
    pub(super) now: Timestamp,
    /// Whether its answer was so long on its way that others may have changed what it wrote.
    pub(super) is_old: bool,
    pub(super) after: &'a dyn AfterCommit,
    pub(super) letters: &'a mut LetterLog,
}

pub(super) fn settle(
    unit: Unit,
    outcome: Option<PartOutcome>,
    told: &mut Told<'_>,
    again: &mut Vec<Request>,
) {
    let Told { now, after, .. } = *told;
    let Unit {
        id,
        kind,
        state,
        workflow,
        follow_ups,
        ..
    } = unit;
    match (kind, outcome) {
        (Kind::Plain { reply }, outcome) => {
            let missing = CommitFailure::Internal("the store gave no outcome".to_owned());
            send(reply, outcome.ok_or(missing));
        }
        (Kind::Refused { answers, .. }, _) => answer_all(answers, None),
        (Kind::Admission { reply, .. }, Some(PartOutcome::Done)) => {
            let (Some(id), Some(state), Some(workflow)) = (id, state, workflow) else {
                return;
            };
            // What waits for a claim is read again by whoever claims it.
            let is_here = follow_ups.iter().any(FollowUp::is_here);
            follow_up(id, follow_ups, &state, &workflow, told);
            after.changed(id, &state);
            send(reply, Ok(Admitted::New(Arc::clone(&state))));
            if is_here {
                keep(told.cache, id, state, now);
            }
        }
        (Kind::Admission { reply, .. }, outcome) => {
            id.iter().for_each(|id| after.refused(*id));
            send(reply, refused_admission(outcome));
        }
        (Kind::Execution { answers, .. }, Some(PartOutcome::Conflict)) => {
            let Some(id) = id else { return };
            // It had moved: decide again on what became of it.
            let asked = answers.into_iter();
            again.extend(asked.map(|answer| answer.asker.ask_again(id, answer.command)));
        }
        (Kind::Execution { answers, .. }, _) => {
            let (Some(id), Some(state), Some(workflow)) = (id, state, workflow) else {
                return;
            };
            follow_up(id, follow_ups, &state, &workflow, told);
            after.changed(id, &state);
            answer_all(answers, Some(&state));
            keep(told.cache, id, state, now);
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
        other => Err(CommitFailure::Internal(format!(
            "unexpected outcome {other:?}"
        ))),
    }
}

fn follow_up(
    id: ExecutionId,
    follow_ups: Vec<FollowUp>,
    state: &Arc<Execution>,
    workflow: &Arc<Workflow>,
    told: &mut Told<'_>,
) {
    let after = told.after;
    for follow_up in follow_ups {
        match follow_up {
            FollowUp::Run(work, _) if told.is_old => after.confirm(work),
            FollowUp::Run(work, permit) => {
                after.run(work, permit, Arc::clone(state), Arc::clone(workflow));
            }
            FollowUp::Wait(work) => after.wait(work),
            FollowUp::Backlog => after.backlog(&workflow.id),
            FollowUp::LookAgain(at) => after.look_again(at),
            FollowUp::Withdraw(step) => after.withdraw(id, &step),
            FollowUp::Hold => after.hold(id),
            FollowUp::Abort => after.abort(id),
            FollowUp::TriggerDue => after.trigger_due(),
            FollowUp::Letter(letter, reason) => {
                told.letters.note(&workflow.id, id, letter, reason);
            }
        }
    }
}
