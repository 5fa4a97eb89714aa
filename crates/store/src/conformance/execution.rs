//! One execution of a case: its decisions as parts of a batch, and what should come of them.

use std::collections::BTreeMap;

use refire_core::definition::Workflow;
use refire_core::execution::{Decision, Effect, Event, Execution, StepStatus, Work};
use refire_core::id::ExecutionId;

use crate::{Advance, CallbackChange, RowUpdate, SettleLetter, TaskChange, WorkChange, WorkRow};

/// One execution and what the store should say about it.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) id: ExecutionId,
    pub(super) workflow: Workflow,
    pub(super) state: Execution,
    pub(super) log: Vec<Event>,
    pub(super) work: BTreeMap<String, WorkRow>,
    commits: u64,
}

impl Run {
    pub(super) fn new(id: ExecutionId, workflow: &Workflow) -> Self {
        Self {
            id,
            workflow: workflow.clone(),
            state: Execution::empty(),
            log: Vec::new(),
            work: BTreeMap::new(),
            commits: 0,
        }
    }

    /// A decision about it, as it is committed. Every so many commits have a snapshot.
    pub(super) fn take(&mut self, decision: Decision, snapshot_every: u64) -> Advance {
        let expected_version = self.state.version;
        self.state = decision.state;
        self.commits += 1;
        let has_snapshot = snapshot_every > 0 && self.commits.is_multiple_of(snapshot_every);
        let mut advance = Advance {
            id: self.id,
            expected_version,
            begun: None,
            seen: None,
            update: row_update(&self.state, has_snapshot),
            events: decision.events.iter().map(Event::encode).collect(),
            work: Vec::new(),
            tasks: Vec::new(),
            callbacks: Vec::new(),
            new_letter: None,
            settle: None,
            end: None,
            notices: Vec::new(),
        };
        self.log.extend(decision.events);
        for effect in decision.effects {
            self.carry_out(effect, &mut advance);
        }
        advance
    }

    fn carry_out(&mut self, effect: Effect, advance: &mut Advance) {
        let change = TaskChange::of(&effect, &self.workflow, &self.state, self.state.updated_at);
        advance.tasks.extend(change);
        let change =
            CallbackChange::of(&effect, &self.workflow, &self.state, self.state.updated_at);
        advance.callbacks.extend(change);
        match effect {
            Effect::Schedule(work) => {
                let row = self.work_row(&work);
                self.change(WorkChange::Put(row), advance);
            }
            Effect::Restore(work) | Effect::Hasten(work) => {
                let row = self.work_row(&work);
                self.change(WorkChange::Restore(row), advance);
            }
            Effect::Withdraw { step } => {
                self.change(
                    WorkChange::Remove {
                        step: step.to_string(),
                    },
                    advance,
                );
            }
            Effect::Offer(_)
            | Effect::OfferNow(_)
            | Effect::OfferAgain { .. }
            | Effect::Retire { .. }
            | Effect::Close { .. }
            | Effect::Callback { .. } => {}
            Effect::Hold => self.change(WorkChange::RemoveUnbegun, advance),
            Effect::Abort => self.change(WorkChange::RemoveAll, advance),
            Effect::DeadLetter(letter) => advance.new_letter = Some(letter),
            Effect::SettleLetter { letter, resolved } => {
                advance.settle = Some(SettleLetter {
                    id: letter,
                    resolved,
                    execution: self.id,
                });
            }
        }
    }

    fn work_row(&self, work: &Work) -> WorkRow {
        let origin = self.state.origin.as_ref().unwrap();
        WorkRow {
            execution: self.id,
            step: work.step.to_string(),
            attempt: work.attempt,
            is_retry: work.is_retry,
            workflow: origin.workflow.clone(),
            priority: origin.priority,
            due_at: work.due_at,
            limit_key: origin.limit_key.clone(),
            owner: None,
            begun: false,
            begun_at: None,
        }
    }

    fn change(&mut self, change: WorkChange, advance: &mut Advance) {
        self.expect_change(&change);
        advance.work.push(change);
    }

    /// What a change of the work should do.
    pub(super) fn expect_change(&mut self, change: &WorkChange) {
        match change {
            WorkChange::Put(row) => {
                self.work.insert(row.step.clone(), row.clone());
            }
            WorkChange::Restore(row) => {
                let is_running = |known: &WorkRow| known.begun && known.attempt == row.attempt;
                if !self.work.get(&row.step).is_some_and(is_running) {
                    self.work.insert(row.step.clone(), row.clone());
                }
            }
            WorkChange::Remove { step } => {
                self.work.remove(step);
            }
            WorkChange::RemoveUnbegun => self.work.retain(|_, row| row.begun),
            WorkChange::RemoveAll => self.work.clear(),
        }
    }
}

fn row_update(state: &Execution, has_snapshot: bool) -> RowUpdate {
    let failed_last = state.failed_last.as_ref().and_then(|step| state.step(step));
    RowUpdate {
        version: state.version,
        status: state.status,
        compensating: state.compensating.is_some(),
        updated_at: state.updated_at,
        retry_count: failed_last.map_or(0, |step| step.attempt - 1),
        next_retry_at: failed_last
            .filter(|step| step.status == StepStatus::Retrying)
            .and_then(|step| step.due_at),
        snapshot: has_snapshot.then(|| serde_json::to_vec(state).unwrap()),
    }
}
