//! Deciding: what a batch's requests mean for the executions they are about.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use refire_core::execution::{Command, Decision, Execution, Refusal, decide_within};
use refire_core::id::{ExecutionId, NodeId};
use refire_core::task::TaskStatus;
use refire_core::time::Timestamp;
use refire_store::{LIMIT_MAX, Part, TaskFilter, TaskRow, WorkRow};

use super::AfterCommit;
use super::request::{Asker, CommandError, CommitFailure, Decided, Request};
use super::unit::Unit;
use crate::context::Context;

/// What a committer works with.
pub(crate) struct Tools {
    pub(crate) context: Arc<Context>,
    pub(crate) after: Arc<dyn AfterCommit>,
    /// With a batch on its way, the next sets out when so many requests can be in it.
    pub(crate) overlap_from: usize,
}

impl Deref for Tools {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

impl Tools {
    /// Turns requests into units: one per execution, in order of arrival, on the states at hand or
    /// else the store's. What cannot be decided before the others are written goes to `again`.
    pub(super) async fn decide_all(
        &self,
        mut at_hand: HashMap<ExecutionId, Arc<Execution>>,
        requests: Vec<Request>,
        node: NodeId,
        now: Timestamp,
        again: &mut Vec<Request>,
    ) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::with_capacity(requests.len());
        let mut of_execution: HashMap<ExecutionId, usize> = HashMap::new();
        for request in requests {
            match request {
                Request::Command {
                    id,
                    command,
                    known,
                    decided,
                    reply,
                    permit,
                    seen,
                } => {
                    let index = match of_execution.get(&id) {
                        Some(index) => *index,
                        None => {
                            units.push(self.open_unit(at_hand.remove(&id).or(known), id).await);
                            of_execution.insert(id, units.len() - 1);
                            units.len() - 1
                        }
                    };
                    let asker = Asker::new(reply, permit, seen);
                    let unit = &mut units[index];
                    let asked = (*command, decided);
                    again.extend(self.decide_one(unit, asked, asker, now).await);
                }
                Request::Admit(all) => units.extend(all.into_iter().map(Unit::admission)),
                Request::Part { part, reply } => units.push(Unit::plain(by(node, part), reply)),
            }
        }
        units.sort_by_key(Unit::turn);
        for unit in &mut units {
            unit.build(node, &self.context, now);
        }
        units
    }

    /// The unit of an execution, from what is at hand or from the store.
    async fn open_unit(&self, known: Option<Arc<Execution>>, id: ExecutionId) -> Unit {
        match known {
            Some(state) => self.unit_of(id, state, None).await,
            None => self.read_unit(id).await,
        }
    }

    /// The unit of an execution as the store has it now.
    async fn read_unit(&self, id: ExecutionId) -> Unit {
        match self.store.load(id).await {
            Ok(Some(stored)) => {
                let state = Arc::new(stored.state);
                self.unit_of(id, state, Some(stored.work)).await
            }
            Ok(None) => Unit::refused(id, CommandError::NotFound),
            Err(error) => Unit::refused(id, CommitFailure::read(&error)),
        }
    }

    async fn unit_of(
        &self,
        id: ExecutionId,
        state: Arc<Execution>,
        read: Option<Vec<WorkRow>>,
    ) -> Unit {
        let Some(origin) = &state.origin else {
            return Unit::refused(id, CommandError::NotFound);
        };
        match self.catalog.of(origin).await {
            Ok(workflow) => Unit::execution(id, state, workflow, read),
            Err(error) => Unit::refused(id, CommitFailure::catalog(error)),
        }
    }

    /// Decides a command on the unit's state; the same command again if that cannot be done yet.
    ///
    /// What is decided on a state of the past is refused by its version when it is written. What
    /// writes nothing, as a refusal, must come from the store's own state.
    async fn decide_one(
        &self,
        unit: &mut Unit,
        (mut command, elsewhere): (Command, Option<Box<Decided>>),
        asker: Asker,
        now: Timestamp,
    ) -> Option<Request> {
        if let Some(id) = unit
            .id
            .filter(|_| asker.seen().is_some() && unit.has_seen())
        {
            // One compare for each commit of an execution.
            return Some(asker.ask_again(id, command));
        }
        let mut is_told = true;
        if let (Command::Cancel(cancel), Some(id)) = (&mut command, unit.id) {
            if unit.is_answered() {
                // What was decided before it in this batch changes what runs.
                return Some(asker.ask_again(id, command));
            }
            if !unit.is_untouched() {
                *unit = self.read_unit(id).await;
            }
            let held = match self.held_tasks(unit, id).await {
                Ok(held) => held,
                Err(failure) => {
                    asker.answer(Err(CommandError::Failed(failure).into()));
                    return None;
                }
            };
            let before = std::mem::take(&mut cancel.begun);
            unit.tell_what_runs(cancel, &held, now);
            is_told = before == cancel.begun;
        }
        // What was decided elsewhere counts if nothing has changed that it was decided on.
        let elsewhere = elsewhere.filter(|it| is_told && unit.has_version(it.version));
        let mut decided = match elsewhere {
            Some(decided) => Ok(decided.decision),
            None => self.decide_on(unit, &command, now).await,
        };
        if let Err(CommandError::Refused(Refusal::TooHeavy)) = &decided {
            return unit.too_heavy(command, asker);
        }
        let writes = match &decided {
            Ok(decision) => !decision.events.is_empty(),
            Err(error) => !matches!(error, CommandError::Refused(_)),
        };
        if let Some(id) = unit.unconfirmed().filter(|_| !writes) {
            if unit.is_answered() {
                return Some(asker.ask_again(id, command));
            }
            *unit = self.read_unit(id).await;
            decided = self.decide_on(unit, &command, now).await;
            if let Err(CommandError::Refused(Refusal::TooHeavy)) = &decided {
                return unit.too_heavy(command, asker);
            }
        }
        unit.add(decided, command, asker);
        None
    }

    /// The tasks of an execution that workers have.
    async fn held_tasks(
        &self,
        unit: &Unit,
        id: ExecutionId,
    ) -> Result<Vec<TaskRow>, CommitFailure> {
        if !unit.waits_for_workers() {
            return Ok(Vec::new());
        }
        let held = TaskFilter {
            statuses: vec![TaskStatus::Locked],
            execution: Some(id),
            ..TaskFilter::default()
        };
        let rows = self.store.tasks(&held, None, LIMIT_MAX).await;
        rows.map_err(|error| CommitFailure::read(&error))
    }

    /// What core says, as long as it need not search much: others wait meanwhile.
    async fn decide_on(
        &self,
        unit: &mut Unit,
        command: &Command,
        now: Timestamp,
    ) -> Result<Decision, CommandError> {
        let reason = unit.reason();
        let (id, state, workflow) = unit.open().ok_or(reason)?;
        let most = self.aside.at_once_bytes_max();
        let mut decision = decide_within(&workflow, state, command.clone(), now, most);
        if let Err(Refusal::MissingPayload(_)) = decision {
            if state.missing_bytes() > most as u64 {
                return Err(Refusal::TooHeavy.into());
            }
            let values = self.store.load_values(id, &state.missing_values()).await;
            let values = values.map_err(|error| CommitFailure::read(&error))?;
            let payloads = &mut Arc::make_mut(state).payloads;
            for (sequence, value) in values {
                payloads.insert(sequence, value);
            }
            decision = decide_within(&workflow, state, command.clone(), now, most);
        }
        decision.map_err(CommandError::Refused)
    }
}

/// What a node takes it takes under the id by which the batch is committed.
fn by(node: NodeId, mut part: Part) -> Part {
    match &mut part {
        Part::Claim(claim) => claim.node = node,
        Part::ClaimTimers(claim) => claim.node = node,
        _ => {}
    }
    part
}
