//! The parts of a batch, written inside one transaction that the caller begins and ends.
//!
//! What a part may be refused for is read before its first write: a refused part leaves nothing
//! behind, and no statement fails because of what the data says.

mod alert;
mod breaker;
mod bulk;
mod callback;
mod catalog;
mod claim;
mod execution;
mod fire;
mod letter;
mod minute;
mod notice;
mod prune;
mod request;
mod scheduled;
mod session;
mod task;
mod trigger;
mod work;
mod worker;

use std::collections::HashMap;

use refire_core::definition::WorkflowId;
use refire_core::id::TriggerId;
use refire_core::time::Timestamp;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Result, Statement};

use crate::{Batch, Part, PartOutcome};

#[cfg(test)]
pub(super) use catalog::OPEN_EXECUTIONS;
pub(super) use claim::NEXT_PRIORITY;
#[cfg(test)]
pub(super) use claim::{OF_EXECUTIONS, TIMERS, at_once, due};
#[cfg(test)]
pub(super) use request::RING;

/// Triggers that are remembered; with more, all are asked for again.
const TRIGGERS_KNOWN_MAX: usize = 10_000;

/// What the writer remembers between commits. Forgotten when a transaction is rolled back.
#[derive(Default)]
pub(super) struct Memory {
    workflows: HashMap<WorkflowId, Known>,
    /// The versions of triggers that are enabled and started something by a request.
    triggers: HashMap<TriggerId, u32>,
}

/// A workflow as far as parts ask for it.
#[derive(Clone, Copy)]
struct Known {
    /// Its short key.
    key: i64,
    /// Its newest version.
    version: u32,
    is_deleted: bool,
}

/// Writes a batch; the outcomes stand in the order of its parts.
pub(super) fn parts(
    connection: &Connection,
    memory: &mut Memory,
    batch: &Batch,
) -> Result<Vec<PartOutcome>> {
    let mut pen = Pen {
        connection,
        memory,
        commit_id: &batch.commit_id,
        now: batch.now,
        held: Vec::new(),
    };
    batch.parts.iter().map(|part| pen.part(part)).collect()
}

/// Writes the parts of one batch.
struct Pen<'a> {
    connection: &'a Connection,
    memory: &'a mut Memory,
    commit_id: &'a [u8; 16],
    now: Timestamp,
    /// Statements that most parts use, kept from one to the next.
    held: Vec<(&'static str, CachedStatement<'a>)>,
}

impl<'a> Pen<'a> {
    fn part(&mut self, part: &Part) -> Result<PartOutcome> {
        match part {
            Part::Admit(admit) => self.admit(admit),
            Part::Advance(advance) => self.advance(advance),
            Part::Claim(claim) => self.claim(claim),
            Part::ClaimTimers(claim) => self.claim_timers(claim),
            Part::Begin(begin) => self.begin(begin),
            Part::Release(release) => self.release(release),
            Part::LockTasks(lock) => self.lock_tasks(lock),
            Part::TouchTask(touch) => self.touch_task(touch),
            Part::TouchCallback(touch) => self.touch_callback(touch),
            Part::SeeWorkers(seen) => self.see_workers(seen),
            Part::ForgetWorker { id } => self.forget_worker(id),
            Part::ChangeSession(change) => self.change_session(change),
            Part::ChangeBreaker(change) => self.change_breaker(change),
            Part::AddMinutes(minutes) => self.add_minutes(minutes),
            Part::ChangeAlerts(changes) => self.change_alerts(changes),
            Part::ChangeAlertRule(change) => self.change_alert_rule(change),
            Part::PutSilence(row) => self.put_silence(row),
            Part::RemoveSilence { id } => self.remove_silence(*id),
            Part::DeleteLetter { id, by } => self.delete_letter(*id, by),
            Part::PutWorkflow(put) => self.put_workflow(put),
            Part::DeleteWorkflow { id } => self.delete_workflow(id),
            Part::CreateTrigger(create) => self.create_trigger(create),
            Part::ChangeTrigger(change) => self.change_trigger(change),
            Part::DeleteTrigger { id, .. } => self.delete_trigger(*id),
            Part::Fire(fire) => self.fire(fire),
            Part::PutScheduled(put) => self.put_scheduled(put),
            Part::MoveGroups(moved) => self.move_groups(moved),
            Part::ChangeChannel(change) => self.change_channel(change),
            Part::LogRequests(requests) => self.log_requests(requests),
            Part::Bulk(part) => self.bulk(part),
            Part::Prune(prune) => self.prune(prune),
        }
    }

    fn prepare(&self, sql: &str) -> Result<CachedStatement<'a>> {
        self.connection.prepare_cached(sql)
    }

    /// The same for what every execution is written by: finding a statement costs as much as a small
    /// row.
    fn hold(&mut self, sql: &'static str) -> Result<&mut CachedStatement<'a>> {
        let found = self
            .held
            .iter()
            .position(|(held, _)| std::ptr::eq(*held, sql));
        let index = match found {
            Some(index) => index,
            None => {
                self.held.push((sql, self.prepare(sql)?));
                self.held.len() - 1
            }
        };
        Ok(&mut self.held[index].1)
    }

    /// Writes by a statement whose parameters `bind` gives it, and says how many rows that changed.
    fn write(
        &mut self,
        sql: &'static str,
        bind: impl FnOnce(&mut Statement<'_>) -> Result<usize>,
    ) -> Result<usize> {
        let statement = self.hold(sql)?;
        bind(statement)?;
        statement.raw_execute()
    }

    /// A workflow, if it was ever saved.
    fn workflow(&mut self, id: &WorkflowId) -> Result<Option<Known>> {
        if let Some(known) = self.memory.workflows.get(id) {
            return Ok(Some(*known));
        }
        let known = self
            .prepare("SELECT key, deleted_at IS NOT NULL, version FROM workflows WHERE ns = 1 AND id = ?1")?
            .query_row([id.as_str()], |row| {
                Ok(Known {
                    key: row.get(0)?,
                    is_deleted: row.get(1)?,
                    version: row.get(2)?,
                })
            })
            .optional()?;
        if let Some(known) = known {
            self.memory.workflows.insert(id.clone(), known);
        }
        Ok(known)
    }

    /// The short key of a workflow, if it was ever saved.
    fn workflow_key(&mut self, id: &WorkflowId) -> Result<Option<i64>> {
        Ok(self.workflow(id)?.map(|known| known.key))
    }

    /// Must come with every change of a trigger's row.
    fn forget_trigger(&mut self, id: TriggerId) {
        self.memory.triggers.remove(&id);
    }

    /// Must come with every change of a workflow's row.
    fn forget_workflow(&mut self, id: &WorkflowId) {
        self.memory.workflows.remove(id);
    }
}
