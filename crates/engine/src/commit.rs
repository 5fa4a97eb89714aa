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
mod unit;

use std::collections::HashMap;
use std::sync::Arc;

use refire_core::definition::Workflow;
use refire_core::execution::{Command, Execution, Refusal, decide};
use refire_core::id::{ExecutionId, NodeId};
use refire_core::time::Timestamp;
use refire_store::{Batch, CommitError, NotWritten, Part, PartOutcome, Store};

use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::entropy::{self, Entropy};
use crate::limit::Slots;

pub(crate) use cache::Cache;
pub(crate) use lane::Queue;
pub(crate) use lane::{Lanes, lanes};
use request::Asker;
pub(crate) use request::{AdmitRequest, Admitted, Request};
pub use request::{CommandError, CommitFailure};
pub(crate) use settle::AfterCommit;
pub(crate) use unit::TIMER_OWNED_WITHIN;
use unit::Unit;

/// Times a command is decided again because another node moved the execution first.
const CONFLICTS_MAX: u32 = 5;

/// What a committer works with.
pub(crate) struct Committer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) slots: Arc<Slots>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) node: NodeId,
    pub(crate) cache: Cache,
    pub(crate) after: Arc<dyn AfterCommit>,
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
        let mut units = self.decide_all(requests, now).await;
        let mut conflicts = 0;
        loop {
            let mut conflicted = Vec::new();
            let end = self.write(units, now, &mut conflicted).await;
            if end == BatchEnd::MustStop || conflicted.is_empty() {
                return end;
            }
            conflicts += 1;
            if conflicts > CONFLICTS_MAX {
                for request in conflicted {
                    request.refuse(&CommitFailure::Contended);
                }
                return end;
            }
            units = self.decide_all(conflicted, now).await;
        }
    }

    /// Turns requests into units: one per execution, in order of arrival.
    async fn decide_all(&mut self, requests: Vec<Request>, now: Timestamp) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::with_capacity(requests.len());
        let mut of_execution: HashMap<ExecutionId, usize> = HashMap::new();
        for request in requests {
            match request {
                Request::Command {
                    id,
                    command,
                    reply,
                    permit,
                } => {
                    let index = match of_execution.get(&id) {
                        Some(index) => *index,
                        None => {
                            units.push(self.open_unit(id).await);
                            of_execution.insert(id, units.len() - 1);
                            units.len() - 1
                        }
                    };
                    let asker = Asker::new(reply, permit);
                    self.decide_one(&mut units[index], *command, asker, now)
                        .await;
                }
                Request::Admit(all) => units.extend(all.into_iter().map(Unit::admission)),
                Request::Part { part, reply } => units.push(Unit::plain(part, reply)),
            }
        }
        for unit in &mut units {
            unit.build(self.node, &self.slots, now);
        }
        units
    }

    async fn open_unit(&mut self, id: ExecutionId) -> Unit {
        match self.load(id).await {
            Ok(Some((state, workflow))) => Unit::execution(id, state, workflow),
            Ok(None) => Unit::refused(id, CommandError::NotFound),
            Err(failure) => Unit::refused(id, CommandError::Failed(failure)),
        }
    }

    /// An execution's state, from the cache of open ones or from the store.
    async fn load(
        &mut self,
        id: ExecutionId,
    ) -> Result<Option<(Arc<Execution>, Arc<Workflow>)>, CommitFailure> {
        let state = match self.cache.take(&id) {
            Some(state) => state,
            None => match self
                .store
                .load(id)
                .await
                .map_err(|error| CommitFailure::read(&error))?
            {
                Some(stored) => Arc::new(stored.state),
                None => return Ok(None),
            },
        };
        let Some(origin) = &state.origin else {
            return Ok(None);
        };
        let workflow = self
            .catalog
            .version(&origin.workflow, origin.workflow_version)
            .await
            .map_err(CommitFailure::catalog)?;
        Ok(Some((state, workflow)))
    }

    async fn decide_one(&self, unit: &mut Unit, command: Command, asker: Asker, now: Timestamp) {
        let Some((id, state, workflow)) = unit.open() else {
            unit.refuse_one(asker);
            return;
        };
        let mut decision = decide(&workflow, state, command.clone(), now);
        if let Err(Refusal::MissingPayload(_)) = decision {
            match self.store.load_values(id, &state.referenced()).await {
                Ok(values) => {
                    let payloads = &mut Arc::make_mut(state).payloads;
                    for (sequence, value) in values {
                        payloads.insert(sequence, value);
                    }
                    decision = decide(&workflow, state, command.clone(), now);
                }
                Err(error) => {
                    let failure = CommitFailure::read(&error);
                    unit.add_refusal(asker, CommandError::Failed(failure));
                    return;
                }
            }
        }
        match decision {
            Ok(decision) => unit.add_decision(decision, command, asker),
            Err(refusal) => unit.add_refusal(asker, CommandError::Refused(refusal)),
        }
    }

    /// Writes units in one transaction. A transaction that fails because of its data is split
    /// until the culprit stands alone; its neighbours commit.
    async fn write(
        &mut self,
        units: Vec<Unit>,
        now: Timestamp,
        conflicted: &mut Vec<Request>,
    ) -> BatchEnd {
        let mut stack = vec![units];
        while let Some(mut units) = stack.pop() {
            let parts: Vec<Part> = units.iter_mut().flat_map(Unit::take_parts).collect();
            if parts.is_empty() {
                self.answer(units, Vec::new(), now, conflicted);
                continue;
            }
            let commit_id = entropy::fresh(self.entropy.as_ref(), now);
            let batch = Batch {
                commit_id,
                now,
                parts,
            };
            #[cfg(feature = "planted")]
            let written = planted::commit(self.store.as_ref(), &batch, &mut units).await;
            #[cfg(not(feature = "planted"))]
            let written = self.store.commit(&batch).await;
            match written {
                Ok(outcomes) => self.answer(units, outcomes, now, conflicted),
                Err(CommitError::NotWritten {
                    reason: NotWritten::Statement,
                    source,
                }) if batch.parts.len() > 1 => {
                    tracing::warn!(%source, parts = batch.parts.len(), "splitting a failed batch");
                    Unit::give_parts_back(&mut units, batch.parts);
                    let second = units.split_off(units.len() / 2);
                    stack.push(second);
                    stack.push(units);
                }
                Err(CommitError::NotWritten { reason, source }) => {
                    tracing::error!(%source, %reason, "a commit was not written");
                    self.fail(units, &CommitFailure::not_written(reason, source.as_ref()));
                }
                Err(CommitError::Unknown(source)) => {
                    tracing::error!(%source, "it is not known whether a commit was written");
                    self.fail(units, &CommitFailure::Unknown);
                    for rest in stack {
                        self.fail(rest, &CommitFailure::Unavailable);
                    }
                    return BatchEnd::MustStop;
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
        conflicted: &mut Vec<Request>,
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
                conflicted,
            );
        }
    }
}
