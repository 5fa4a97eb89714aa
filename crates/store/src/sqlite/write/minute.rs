//! What happened to workflows, in numbers.

use refire_core::minute::OfWorkflow;
use rusqlite::Result;

use super::Pen;
use crate::PartOutcome;
use crate::minute::added;
use crate::table::rows::MinuteRows;
use crate::table::statement::statements;

statements! {
    ADD: sqlite(minute: MinuteRows) = &format!(
        "INSERT INTO workflow_minutes ({{minute.names}}) VALUES ({{minute.values}})
     ON CONFLICT (workflow, minute) DO UPDATE SET {}", added("max"));
}

impl Pen<'_> {
    pub(super) fn add_minutes(&mut self, minutes: &[OfWorkflow]) -> Result<PartOutcome> {
        for one in minutes {
            if let Some(key) = self.workflow_key(&one.workflow)? {
                self.write(&ADD, |to| MinuteRows::bind(to, 1, key, one))?;
            }
        }
        Ok(PartOutcome::Done)
    }
}
