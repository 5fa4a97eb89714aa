//! The rows of work that a store would hold: a step that may run but that nobody will ever pick
//! up is the worst defect there can be.

use std::collections::BTreeMap;

use refire_core::definition::StepId;
use refire_core::execution::{Effect, Execution, Work};
use refire_core::time::Timestamp;

pub(crate) struct Row {
    pub(crate) work: Work,
    /// Since when a node runs it.
    pub(crate) begun: Option<Timestamp>,
}

#[derive(Default)]
pub(crate) struct Rows(pub(crate) BTreeMap<StepId, Row>);

impl Rows {
    pub(crate) fn apply(&mut self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::Schedule(work) => {
                    assert!(!self.runs(work), "{} would run twice", work.step);
                    self.put(work);
                }
                Effect::Restore(work) | Effect::Hasten(work) if !self.runs(work) => self.put(work),
                Effect::Withdraw { step } => drop(self.0.remove(step)),
                Effect::Hold => self.0.retain(|_, row| row.begun.is_some()),
                Effect::Abort => self.0.clear(),
                // Tasks and callbacks are played in the core's own properties.
                Effect::Offer(_)
                | Effect::OfferNow(_)
                | Effect::OfferAgain { .. }
                | Effect::Retire { .. }
                | Effect::Close { .. }
                | Effect::Callback { .. }
                | Effect::Restore(_)
                | Effect::Hasten(_)
                | Effect::DeadLetter(_)
                | Effect::SettleLetter { .. } => {}
            }
        }
    }

    fn runs(&self, work: &Work) -> bool {
        let row = self.0.get(&work.step);
        row.is_some_and(|row| row.begun.is_some() && row.work.attempt == work.attempt)
    }

    fn put(&mut self, work: &Work) {
        let row = Row {
            work: work.clone(),
            begun: None,
        };
        self.0.insert(work.step.clone(), row);
    }

    /// Every live step has its row, and there is no other.
    pub(crate) fn check(&self, state: &Execution) {
        for (id, row) in &self.0 {
            let step = state.step(id).filter(|step| step.is_live());
            let step = step.unwrap_or_else(|| panic!("{id}: work of a step that is not live"));
            assert_eq!(
                step.attempt, row.work.attempt,
                "{id}: work of another attempt"
            );
            assert_eq!(step.due_at, row.work.due_at, "{id}: due at another time");
        }
        if state.paused_at.is_some() {
            assert!(
                self.0.values().all(|row| row.begun.is_some()),
                "starts while paused"
            );
            return;
        }
        for (id, _) in state.steps.iter().filter(|(_, step)| step.is_live()) {
            assert!(self.0.contains_key(id), "{id}: nobody will ever run it");
        }
        assert!(
            state.status.is_terminal() || !self.0.is_empty(),
            "stuck: {}",
            state.status
        );
    }
}
