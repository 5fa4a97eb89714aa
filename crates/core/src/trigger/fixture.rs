//! Triggers, moments, and a small world to try them in: a node that looks when it is due, a ledger,
//! and executions that end when somebody says so.

use super::change::{CatchUp, created, disabled, enabled};
use super::{End, Entry, Plan, State, Trigger, plan};
use crate::definition::WorkflowId;
use crate::id::{ExecutionId, TriggerId};
use crate::time::Timestamp;

/// More steps than this at one moment are a defect.
const STEPS_MAX: usize = 5_000;

pub(super) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(super) fn trigger(settings: &str) -> Trigger {
    let id = TriggerId::from_bytes([7; 16]);
    let workflow = WorkflowId::new("w").unwrap();
    Trigger::new(id, workflow, 1, true, settings)
        .unwrap_or_else(|problems| panic!("{settings}: {problems}"))
}

pub(super) fn execution(number: u64) -> ExecutionId {
    ExecutionId::from_bytes(u128::from(number).to_be_bytes())
}

/// A trigger with all that is kept of it.
pub(super) struct World {
    pub(super) trigger: Trigger,
    pub(super) state: State,
    pub(super) ledger: Vec<Entry>,
    /// The number of the last execution.
    pub(super) started: u64,
    /// What was started and cancelled, in order.
    pub(super) cancelled: Vec<ExecutionId>,
}

impl World {
    pub(super) fn new(trigger: Trigger, now: Timestamp) -> Self {
        let state = created(&trigger, now);
        Self {
            trigger,
            state,
            ledger: Vec::new(),
            started: 0,
            cancelled: Vec::new(),
        }
    }

    /// One step, written. Gives what was started.
    pub(super) fn step(&mut self, now: Timestamp) -> Option<ExecutionId> {
        let plan = plan(&self.trigger, &self.state, now);
        self.cancelled.extend(plan.cancel);
        let execution = plan.fire.map(|_| {
            self.started += 1;
            execution(self.started)
        });
        let plan = match execution {
            Some(execution) => plan.started_as(execution),
            None => plan,
        };
        self.write(plan);
        execution
    }

    /// Steps until nothing is due any more.
    pub(super) fn look(&mut self, now: Timestamp) -> Vec<ExecutionId> {
        let mut started = Vec::new();
        for _ in 0..STEPS_MAX {
            started.extend(self.step(now));
            if self.state.due_at.is_none_or(|due| due > now) {
                return started;
            }
        }
        panic!("there is no end of steps at {now}: {:?}", self.state);
    }

    pub(super) fn end(&mut self, number: u64, success: bool, now: Timestamp) {
        let execution = execution(number);
        let slot = self
            .ledger
            .iter()
            .find(|entry| entry.execution == Some(execution))
            .map(|entry| entry.nominal);
        let end = End {
            execution,
            success,
            slot,
            at: now,
        };
        self.state = self.state.ended(end, self.trigger.enabled, now);
    }

    pub(super) fn disable(&mut self, now: Timestamp) {
        let plan = disabled(&self.trigger, &self.state, now);
        self.trigger.enabled = false;
        self.write(plan);
    }

    pub(super) fn enable(&mut self, now: Timestamp, catch_up: CatchUp) {
        let plan = enabled(&self.trigger, &self.state, now, catch_up);
        self.trigger.enabled = true;
        self.write(plan);
    }

    pub(super) fn write(&mut self, plan: Plan) {
        assert!(
            plan.state.cursor >= self.state.cursor,
            "the cursor went back"
        );
        let changed = plan.state != self.state || !plan.entries.is_empty();
        assert_eq!(changed, !plan.is_empty(&self.state));
        self.state = plan.state;
        let goes_on = plan.extends();
        for (place, entry) in plan.entries.into_iter().enumerate() {
            if place > 0 || goes_on {
                entry.append(&mut self.ledger);
            } else {
                self.ledger.push(entry);
            }
        }
    }
}
