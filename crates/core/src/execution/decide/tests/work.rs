//! A model of the work table: what a store would hold after the effects of every commit.
//!
//! It exists to find the worst defect there can be: a step that may run but that nobody will ever
//! pick up.

use std::collections::BTreeMap;

use crate::definition::StepId;
use crate::execution::{Begun, Effect, Execution, Work};
use crate::time::Timestamp;

/// The rows of one execution.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::execution) struct WorkRows(BTreeMap<StepId, Row>);

/// One row: work that is ready, timed or running.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::execution) struct Row {
    pub(in crate::execution) work: Work,
    /// Since when a node runs it.
    pub(in crate::execution) begun: Option<Timestamp>,
}

impl WorkRows {
    pub(in crate::execution) fn get(&self, step: &str) -> Option<&Row> {
        self.0.get(step)
    }

    pub(in crate::execution) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.0.values()
    }

    /// The attempts in flight.
    pub(in crate::execution) fn begun(&self) -> Vec<Begun> {
        let begun = |row: &Row| {
            Some(Begun {
                step: row.work.step.clone(),
                attempt: row.work.attempt,
                at: row.begun?,
            })
        };
        self.rows().filter_map(begun).collect()
    }

    /// A node begins the step's work, when it is due.
    pub(in crate::execution) fn begin(&mut self, step: &str, now: Timestamp) {
        let row = self
            .0
            .get_mut(step)
            .unwrap_or_else(|| panic!("{step} has no work to begin"));
        row.begun.get_or_insert(now);
    }

    pub(in crate::execution) fn apply(&mut self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::Schedule(work) => {
                    assert!(
                        !self.runs(work),
                        "{}#{} would run twice",
                        work.step,
                        work.attempt
                    );
                    self.put(work);
                }
                Effect::Restore(work) => {
                    if !self.runs(work) {
                        self.put(work);
                    }
                }
                Effect::Withdraw { step } => {
                    self.0.remove(step);
                }
                Effect::Hold => self.0.retain(|_, row| row.begun.is_some()),
                Effect::Abort => self.0.clear(),
                Effect::DeadLetter(_) | Effect::SettleLetter { .. } => {}
            }
        }
    }

    /// Whether a node runs that very attempt.
    fn runs(&self, work: &Work) -> bool {
        let row = self.0.get(&work.step);
        row.is_some_and(|row| row.begun.is_some() && row.work.attempt == work.attempt)
    }

    fn put(&mut self, work: &Work) {
        self.0.insert(
            work.step.clone(),
            Row {
                work: work.clone(),
                begun: None,
            },
        );
    }

    /// What is wrong with the rows of an execution in this state; empty = nothing.
    pub(in crate::execution) fn problems(&self, state: &Execution) -> Vec<String> {
        let mut problems = Vec::new();
        for (id, row) in &self.0 {
            match state.step(id).filter(|step| step.is_live()) {
                Some(step) if step.attempt == row.work.attempt => {
                    if step.due_at != row.work.due_at {
                        problems.push(format!("{id}: its work is due at another time"));
                    }
                }
                Some(step) => problems.push(format!(
                    "{id}: work of attempt {} is left, attempt {} is live",
                    row.work.attempt, step.attempt
                )),
                None => problems.push(format!("{id}: work is left of a step that is not live")),
            }
        }
        if state.paused_at.is_some() {
            let idle = self.0.values().filter(|row| row.begun.is_none());
            problems.extend(idle.map(|row| format!("{}: may start while paused", row.work.step)));
            return problems;
        }
        for (id, _) in state.steps.iter().filter(|(_, step)| step.is_live()) {
            if !self.0.contains_key(id) {
                problems.push(format!("{id}: live, but nobody will ever run it"));
            }
        }
        if !state.status.is_terminal() && self.0.is_empty() {
            problems.push(format!(
                "stuck: {} and nothing will ever happen",
                state.status
            ));
        }
        problems
    }
}
