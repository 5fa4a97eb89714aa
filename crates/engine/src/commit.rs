//! The committer: the only writer of executions.
//!
//! What is queued is a command, not a decision. For each batch the committer takes the state of
//! every execution concerned, lets core decide command by command, and writes everything in one
//! transaction. Answers go out after that transaction is durable, never before. A reader who
//! knows this file knows where every change of state happens.

mod cache;
mod lane;
#[cfg(feature = "planted")]
mod planted;
mod request;
mod settle;
#[cfg(test)]
mod tests;
mod trouble;
mod unit;

use std::collections::HashMap;
use std::sync::Arc;

use refire_core::definition::Workflow;
use refire_core::execution::{Command, Decision, Execution, Refusal, decide};
use refire_core::id::{ExecutionId, NodeId};
use refire_core::time::Timestamp;
use refire_store::{Batch, CommitError, NotWritten, Part, PartOutcome, Store};

use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::entropy::{self, Entropy};
use crate::limit::Slots;
use crate::membership::Membership;

pub(crate) use cache::Cache;
pub(crate) use lane::Queue;
pub(crate) use lane::{Lanes, lanes};
use request::Asker;
pub(crate) use request::{AdmitRequest, Admitted, Request};
pub use request::{CommandError, CommitFailure};
pub(crate) use settle::AfterCommit;
pub(crate) use trouble::Trouble;
pub(crate) use unit::TIMER_OWNED_WITHIN;
use unit::Unit;

/// Times a command is decided again because its execution had moved: by another node, or between
/// an attempt's beginning and its result.
const CONFLICTS_MAX: u32 = 5;

/// What a committer works with.
pub(crate) struct Committer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) slots: Arc<Slots>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) membership: Arc<Membership>,
    pub(crate) cache: Cache,
    pub(crate) after: Arc<dyn AfterCommit>,
    pub(crate) trouble: Trouble,
}

/// How a batch ended, as far as the loop needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BatchEnd {
    /// The store answered for every part.
    Settled,
    /// It is not known what is durable: this process must stop and start again from the disk.
    MustStop,
}

impl Committer {
    /// Works until the lanes are closed and empty, or until the store's state is not known.
    pub(crate) async fn run(mut self, mut lanes: Lanes) -> BatchEnd {
        loop {
            if lanes.is_empty() {
                self.store.idle();
            }
            let Some(requests) = lanes.next().await else {
                break;
            };
            if self.batch(requests).await == BatchEnd::MustStop {
                tracing::error!("a commit's outcome is unknown; stopping so that the disk decides");
                self.after.must_stop();
                lanes.refuse_all(|| CommitFailure::Unavailable);
                return BatchEnd::MustStop;
            }
        }
        lanes.refuse_all(|| CommitFailure::Stopping);
        BatchEnd::Settled
    }

    /// Decides, writes and answers one batch.
    pub(crate) async fn batch(&mut self, requests: Vec<Request>) -> BatchEnd {
        let now = self.clock.now();
        let mut requests = requests;
        for _ in 0..=CONFLICTS_MAX {
            if !self.membership.is_member() {
                // It joins again soon, under another id.
                refuse_all(requests, &CommitFailure::Unavailable);
                return BatchEnd::Settled;
            }
            let mut again = Vec::new();
            let node = self.membership.id();
            let units = self.decide_all(requests, node, now, &mut again).await;
            let end = self.write(units, node, now, &mut again).await;
            if end == BatchEnd::MustStop {
                refuse_all(again, &CommitFailure::Unavailable);
                return end;
            }
            if again.is_empty() {
                return end;
            }
            requests = again;
        }
        refuse_all(requests, &CommitFailure::Contended);
        BatchEnd::Settled
    }

    /// Turns requests into units: one per execution, in order of arrival. What cannot be decided
    /// before the others are written goes to `again`.
    async fn decide_all(
        &mut self,
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
                    reply,
                    permit,
                } => {
                    let index = match of_execution.get(&id) {
                        Some(index) => *index,
                        None => {
                            units.push(self.open_unit(id, known).await);
                            of_execution.insert(id, units.len() - 1);
                            units.len() - 1
                        }
                    };
                    let asker = Asker::new(reply, permit);
                    let unit = &mut units[index];
                    again.extend(self.decide_one(unit, *command, asker, now).await);
                }
                Request::Admit(all) => units.extend(all.into_iter().map(Unit::admission)),
                Request::Part { part, reply } => units.push(Unit::plain(by(node, part), reply)),
            }
        }
        for unit in &mut units {
            unit.build(node, &self.slots, now);
        }
        units
    }

    /// The unit of an execution, from what is at hand or from the store.
    async fn open_unit(&mut self, id: ExecutionId, known: Option<Arc<Execution>>) -> Unit {
        match self.cache.take(&id).or(known) {
            Some(state) => match self.workflow_of(&state).await {
                Ok(Some(workflow)) => Unit::execution(id, state, workflow),
                Ok(None) => Unit::refused(id, CommandError::NotFound),
                Err(failure) => Unit::refused(id, CommandError::Failed(failure)),
            },
            None => self.read_unit(id).await,
        }
    }

    /// The unit of an execution as the store has it now.
    async fn read_unit(&self, id: ExecutionId) -> Unit {
        let loaded = self.store.load(id).await;
        let state = match loaded.map_err(|error| CommitFailure::read(&error)) {
            Ok(Some(stored)) => Arc::new(stored.state),
            Ok(None) => return Unit::refused(id, CommandError::NotFound),
            Err(failure) => return Unit::refused(id, CommandError::Failed(failure)),
        };
        match self.workflow_of(&state).await {
            Ok(Some(workflow)) => Unit::execution(id, state, workflow).just_read(),
            Ok(None) => Unit::refused(id, CommandError::NotFound),
            Err(failure) => Unit::refused(id, CommandError::Failed(failure)),
        }
    }

    async fn workflow_of(&self, state: &Execution) -> Result<Option<Arc<Workflow>>, CommitFailure> {
        let Some(origin) = &state.origin else {
            return Ok(None);
        };
        let version = self
            .catalog
            .version(&origin.workflow, origin.workflow_version);
        version.await.map(Some).map_err(CommitFailure::catalog)
    }

    /// Decides a command on the unit's state; gives it back if that cannot be done yet.
    ///
    /// What is decided on a state of the past is refused by its version when it is written. What
    /// writes nothing, as a refusal, must come from the store's own state.
    async fn decide_one(
        &self,
        unit: &mut Unit,
        command: Command,
        asker: Asker,
        now: Timestamp,
    ) -> Option<Request> {
        let mut decided = self.decide_on(unit, &command, now).await;
        let writes = match &decided {
            Ok(decision) => !decision.events.is_empty(),
            Err(error) => !matches!(error, CommandError::Refused(_)),
        };
        if let Some(id) = unit.hearsay().filter(|_| !writes) {
            if unit.is_answered() {
                return Some(asker.ask_again(id, command));
            }
            *unit = self.read_unit(id).await;
            decided = self.decide_on(unit, &command, now).await;
        }
        match decided {
            Ok(decision) => unit.add_decision(decision, command, asker),
            Err(error) => unit.add_refusal(error, command, asker),
        }
        None
    }

    /// What core says.
    async fn decide_on(
        &self,
        unit: &mut Unit,
        command: &Command,
        now: Timestamp,
    ) -> Result<Decision, CommandError> {
        let reason = unit.reason();
        let (id, state, workflow) = unit.open().ok_or(reason)?;
        let mut decision = decide(&workflow, state, command.clone(), now);
        if let Err(Refusal::MissingPayload(_)) = decision {
            let values = self.store.load_values(id, &state.referenced()).await;
            let values = values.map_err(|error| CommitFailure::read(&error))?;
            let payloads = &mut Arc::make_mut(state).payloads;
            for (sequence, value) in values {
                payloads.insert(sequence, value);
            }
            decision = decide(&workflow, state, command.clone(), now);
        }
        decision.map_err(CommandError::Refused)
    }

    /// Writes units in one transaction. A transaction that fails because of its data is split
    /// until the culprit stands alone; its neighbours commit.
    async fn write(
        &mut self,
        units: Vec<Unit>,
        node: NodeId,
        now: Timestamp,
        again: &mut Vec<Request>,
    ) -> BatchEnd {
        let mut stack = vec![units];
        while let Some(mut units) = stack.pop() {
            let parts: Vec<Part> = units.iter_mut().flat_map(Unit::take_parts).collect();
            if parts.is_empty() {
                self.answer(units, Vec::new(), now, again);
                continue;
            }
            let commit_id = entropy::fresh(self.entropy.as_ref(), now);
            let batch = Batch {
                commit_id,
                lease: Some(node),
                now,
                parts,
            };
            #[cfg(feature = "planted")]
            let written = planted::commit(self.store.as_ref(), &batch, &mut units).await;
            #[cfg(not(feature = "planted"))]
            let written = self.store.commit(&batch).await;
            match written {
                Ok(outcomes) => {
                    self.trouble.written();
                    self.answer(units, outcomes, now, again);
                }
                Err(CommitError::NotWritten {
                    reason: NotWritten::Statement,
                    source,
                }) if batch.parts.len() > 1 => {
                    let error: &(dyn std::error::Error + 'static) = source.as_ref();
                    tracing::warn!(error, parts = batch.parts.len(), "splitting a failed batch");
                    Unit::give_parts_back(&mut units, batch.parts);
                    let second = units.split_off(units.len() / 2);
                    stack.push(second);
                    stack.push(units);
                }
                Err(CommitError::NotWritten {
                    reason: NotWritten::LeaseLost,
                    ..
                }) => {
                    self.membership.lost(node);
                    self.fail(units, &CommitFailure::Unavailable);
                }
                Err(CommitError::NotWritten { reason, source }) => {
                    self.trouble.not_written(reason, source.as_ref());
                    self.fail(units, &CommitFailure::not_written(reason, source.as_ref()));
                }
                Err(CommitError::Unknown(source)) => {
                    let error: &(dyn std::error::Error + 'static) = source.as_ref();
                    tracing::error!(error, "it is not known whether a commit was written");
                    self.fail(units, &CommitFailure::Unknown);
                    for rest in stack {
                        self.fail(rest, &CommitFailure::Unavailable);
                    }
                    if !self.store.is_shared() {
                        return BatchEnd::MustStop;
                    }
                    #[cfg(feature = "planted")]
                    if planted::forgets_unknown() {
                        return BatchEnd::Settled;
                    }
                    // Whatever it made this node own is not known here. Under a new id the store
                    // tells it like any other work of a node that is gone.
                    self.membership.lost(node);
                    return BatchEnd::Settled;
                }
            }
        }
        BatchEnd::Settled
    }

    fn fail(&mut self, units: Vec<Unit>, failure: &CommitFailure) {
        // The states they were decided on were taken out of the cache and stay out.
        for unit in units {
            unit.fail(failure);
        }
    }

    /// Hands each unit its outcome: replies, cache, dispatch.
    fn answer(
        &mut self,
        units: Vec<Unit>,
        outcomes: Vec<PartOutcome>,
        now: Timestamp,
        again: &mut Vec<Request>,
    ) {
        let mut outcomes = outcomes.into_iter();
        for unit in units {
            let outcome = if unit.has_part() {
                outcomes.next()
            } else {
                None
            };
            settle::settle(
                unit,
                outcome,
                &mut self.cache,
                now,
                self.after.as_ref(),
                again,
            );
        }
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

fn refuse_all(requests: Vec<Request>, failure: &CommitFailure) {
    for request in requests {
        request.refuse(failure);
    }
}
