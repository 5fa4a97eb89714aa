//! What happened to workflows, in numbers.

use std::sync::Arc;

use refire_core::minute::OfWorkflow;

use super::Pen;
use crate::PartOutcome;
use crate::model::change::Change;

impl Pen<'_> {
    pub(super) fn add_minutes(&mut self, minutes: &[OfWorkflow]) -> PartOutcome {
        for one in minutes {
            if !self.image.workflows.contains_key(&one.workflow) {
                continue;
            }
            let key = (one.at, one.workflow.clone());
            let mut row = one.clone();
            if let Some(known) = self.image.minutes.get(&key) {
                row.minute.add(&known.minute);
            }
            self.change(Change::Minute(key, Some(Arc::new(row))));
        }
        PartOutcome::Done
    }
}
