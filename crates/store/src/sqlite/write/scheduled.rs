//! Scheduled tasks: their row, definition, trigger and first execution, all of it or nothing.

use rusqlite::{OptionalExtension, Result, params};

use super::Pen;
use crate::table::rows::ScheduledTasks;
use crate::table::statement::statements;
use crate::{PartOutcome, PutScheduled, ScheduledTrigger};

statements! {
    PUT: sqlite(task: ScheduledTasks) =
        "INSERT INTO scheduled_tasks ({task.names}) VALUES ({task.values})
     ON CONFLICT (id) DO UPDATE SET {task.replaced!id,workflow,created_at}";
}

impl Pen<'_> {
    pub(super) fn put_scheduled(&mut self, put: &PutScheduled) -> Result<PartOutcome> {
        if self.is_scheduled_otherwise(put)? {
            return Ok(PartOutcome::TriggerMoved);
        }
        let triggered = match &put.trigger {
            ScheduledTrigger::Create(create) => {
                if let Some(definition) = &put.definition {
                    self.put_workflow(definition)?;
                }
                match self.create_trigger(create)? {
                    PartOutcome::Done => PartOutcome::Done,
                    // What is written already goes with the batch.
                    _ => return Err(rusqlite::Error::StatementChangedRows(0)),
                }
            }
            ScheduledTrigger::Change(change) => self.change_trigger(change)?,
            ScheduledTrigger::Delete => self.delete_trigger(put.row.trigger())?,
        };
        if triggered != PartOutcome::Done {
            return Ok(triggered);
        }
        if let (ScheduledTrigger::Change(_), Some(definition)) = (&put.trigger, &put.definition) {
            self.put_workflow(definition)?;
        }
        let key = self.workflow_key(&put.row.workflow)?;
        let now = self.now;
        self.write(&PUT, |to| ScheduledTasks::bind(to, 1, key, &put.row, now))?;
        match &put.admission {
            None => Ok(PartOutcome::Done),
            Some(admit) => match self.admit(admit)? {
                PartOutcome::Done => Ok(PartOutcome::Done),
                _ => Err(rusqlite::Error::StatementChangedRows(0)),
            },
        }
    }

    /// Whether it is not what was seen, or what is to be made is there.
    fn is_scheduled_otherwise(&self, put: &PutScheduled) -> Result<bool> {
        let row = &put.row;
        let version: Option<u32> = self
            .prepare("SELECT version FROM scheduled_tasks WHERE id = ?1")?
            .query_row([row.id.as_bytes()], |row| row.get(0))
            .optional()?;
        if version.unwrap_or(0) + 1 != row.version {
            return Ok(true);
        }
        let is_made = matches!(put.trigger, ScheduledTrigger::Create(_));
        self.prepare(
            "SELECT EXISTS (SELECT 1 FROM scheduled_tasks WHERE key_hash = ?1 AND id <> ?2)
                 OR (?3 AND EXISTS (SELECT 1 FROM workflow_triggers WHERE id = ?2))",
        )?
        .query_row(params![row.key_hash, row.id.as_bytes(), is_made], |row| {
            row.get(0)
        })
    }
}
