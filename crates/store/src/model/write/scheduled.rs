//! Scheduled tasks: their row, definition, trigger and first execution, all of it or nothing.

use std::sync::Arc;

use super::{Failed, Pen};
use crate::model::change::Change;
use crate::{PartOutcome, PutScheduled, ScheduledRow, ScheduledTrigger};

impl Pen<'_> {
    pub(super) fn put_scheduled(&mut self, put: &PutScheduled) -> Result<PartOutcome, Failed> {
        if self.is_scheduled_otherwise(put) {
            return Ok(PartOutcome::TriggerMoved);
        }
        let triggered = match &put.trigger {
            ScheduledTrigger::Create(create) => {
                if let Some(definition) = &put.definition {
                    self.put_workflow(definition);
                }
                match self.create_trigger(create) {
                    PartOutcome::Done => PartOutcome::Done,
                    _ => return Err(Failed("the trigger of a scheduled task cannot be made")),
                }
            }
            ScheduledTrigger::Change(change) => self.change_trigger(change),
            ScheduledTrigger::Delete => self.delete_trigger(put.row.trigger()),
        };
        if triggered != PartOutcome::Done {
            return Ok(triggered);
        }
        if let (ScheduledTrigger::Change(_), Some(definition)) = (&put.trigger, &put.definition) {
            self.put_workflow(definition);
        }
        if !self.image.workflows.contains_key(&put.row.workflow) {
            return Err(Failed("a scheduled task without a workflow"));
        }
        let before = self.image.scheduled.get(&put.row.id);
        let row = ScheduledRow {
            created_at: before.map_or(self.now, |before| before.created_at),
            updated_at: self.now,
            ..put.row.clone()
        };
        self.change(Change::Scheduled(row.id, Some(Arc::new(row))));
        match &put.admission {
            None => Ok(PartOutcome::Done),
            Some(admit) => match self.admit(admit)? {
                PartOutcome::Done => Ok(PartOutcome::Done),
                _ => Err(Failed("the first execution of a scheduled task is refused")),
            },
        }
    }

    /// Whether it is not what was seen, or what is to be made is there.
    fn is_scheduled_otherwise(&self, put: &PutScheduled) -> bool {
        let row = &put.row;
        let known = self.image.scheduled.get(&row.id);
        let has_key = |other: &Arc<ScheduledRow>| {
            other.id != row.id && row.key_hash.is_some() && other.key_hash == row.key_hash
        };
        known.map_or(0, |known| known.version) + 1 != row.version
            || self.image.scheduled.values().any(has_key)
            || (matches!(put.trigger, ScheduledTrigger::Create(_))
                && self.image.triggers.contains_key(&row.trigger()))
    }
}
