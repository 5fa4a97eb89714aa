//! After the commit: answers go out, the cache learns the new states, work begins.

use std::sync::Arc;

use refire_core::definition::Workflow;
use refire_core::execution::Execution;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use refire_store::{PartOutcome, WorkRow};

use super::cache::Cache;
use super::request::{Admitted, CommandError, CommitFailure, Request, send};
use super::unit::{CommandAnswer, FollowUp, Kind, Unit};
use crate::limit::Permit;

/// What happens outside the committer once something is durable.
pub(crate) trait AfterCommit: Send + Sync {
    /// An attempt may run; its slot is held.
    fn run(&self, work: WorkRow, permit: Permit, state: Arc<Execution>, workflow: Arc<Workflow>);
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
    /// An execution changed; tells those who wait for its end.
    fn changed(&self, execution: ExecutionId, state: &Execution);
    /// The store's state is not known: the process must stop.
    fn must_stop(&self);
}

pub(super) fn settle(
    unit: Unit,
    outcome: Option<PartOutcome>,
    cache: &mut Cache,
    after: &dyn AfterCommit,
    conflicted: &mut Vec<Request>,
) {
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
            follow_up(id, follow_ups, &state, &workflow, after);
            after.changed(id, &state);
            send(reply, Ok(Admitted::New(Box::new(state.clone()))));
            keep(cache, id, state);
        }
        (Kind::Admission { reply, .. }, outcome) => {
            id.iter().for_each(|id| after.refused(*id));
            send(reply, refused_admission(outcome));
        }
        (Kind::Execution { answers, .. }, Some(PartOutcome::Conflict)) => {
            let Some(id) = id else { return };
            // Another node moved it: decide again on what it made of it.
            for CommandAnswer {
                reply,
                refusal,
                command,
            } in answers
            {
                match (command, refusal) {
                    (Some(command), _) => {
                        conflicted.push(Request::Command {
                            id,
                            command: Box::new(command),
                            reply,
                            permit: None,
                        });
                    }
                    (None, Some(refusal)) => send(reply, Err(refusal)),
                    (None, None) => send(reply, Err(CommandError::NotFound)),
                }
            }
        }
        (Kind::Execution { answers, .. }, _) => {
            let (Some(id), Some(state), Some(workflow)) = (id, state, workflow) else {
                return;
            };
            follow_up(id, follow_ups, &state, &workflow, after);
            after.changed(id, &state);
            answer_all(answers, Some(&state));
            keep(cache, id, state);
        }
    }
}

fn keep(cache: &mut Cache, id: ExecutionId, state: Execution) {
    if !state.status.is_terminal() {
        cache.put(id, state);
    }
}

fn answer_all(answers: Vec<CommandAnswer>, state: Option<&Execution>) {
    for CommandAnswer { reply, refusal, .. } in answers {
        if reply.is_none() {
            continue;
        }
        let answer = match (refusal, state) {
            (Some(refusal), _) => Err(refusal),
            (None, Some(state)) => Ok(state.clone()),
            (None, None) => Err(CommandError::NotFound),
        };
        send(reply, answer);
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
        other => Err(CommitFailure::Internal(format!(
            "unexpected outcome {other:?}"
        ))),
    }
}

fn follow_up(
    id: ExecutionId,
    follow_ups: Vec<FollowUp>,
    state: &Execution,
    workflow: &Arc<Workflow>,
    after: &dyn AfterCommit,
) {
    let mut shared: Option<Arc<Execution>> = None;
    for follow_up in follow_ups {
        match follow_up {
            FollowUp::Run(work, permit) => {
                let state = shared.get_or_insert_with(|| Arc::new(state.clone()));
                after.run(work, permit, Arc::clone(state), Arc::clone(workflow));
            }
            FollowUp::Wait(work) => after.wait(work),
            FollowUp::Backlog => after.backlog(&workflow.id),
            FollowUp::LookAgain(at) => after.look_again(at),
            FollowUp::Withdraw(step) => after.withdraw(id, &step),
            FollowUp::Hold => after.hold(id),
            FollowUp::Abort => after.abort(id),
        }
    }
}
