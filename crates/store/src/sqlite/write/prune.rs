//! Retention: small chunks along the time-ordered keys, so that commits never wait for long.

use refire_core::alert::Phase;
use refire_core::dead_letter::LetterStatus;
use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId, TriggerId};
use refire_core::time::Timestamp;
use rusqlite::{OptionalExtension, Params, Result, Row, params};

use super::Pen;
use crate::batch::Candidate;
use crate::request::first_id_at;
use crate::sqlite::columns::{count, dlq_id, execution_id, maybe_execution_id, signed, time, word};
use crate::words::accepted;
use crate::{OldExecutions, PartOutcome, Prune};

const REMOVE_KEYS: &str = "DELETE FROM idempotency WHERE (ns, scope, key_hash) IN
     (SELECT ns, scope, key_hash FROM idempotency
       WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)";

const REMOVE_REQUESTS: &str = "DELETE FROM webhook_requests WHERE id IN
     (SELECT id FROM webhook_requests WHERE id < ?1 ORDER BY id LIMIT ?2)";

const REMOVE_OLDEST_REQUESTS_OF: &str = concat!(
    "DELETE FROM webhook_requests WHERE id IN
         (SELECT id FROM webhook_requests INDEXED BY requests_by_trigger
           WHERE trigger = ?1 AND id <= ?2 AND ",
    accepted!(),
    " ORDER BY id LIMIT ?3)"
);

const REMOVE_SLOTS: &str = "DELETE FROM trigger_slots WHERE trigger = ?1 AND seq IN
     (SELECT seq FROM trigger_slots WHERE trigger = ?1 ORDER BY seq LIMIT ?2)";

const REMOVE_REQUESTS_OF: &str = "DELETE FROM webhook_requests WHERE id IN
     (SELECT id FROM webhook_requests WHERE trigger = ?1 ORDER BY id LIMIT ?2)";

const CANDIDATES: &str =
    "SELECT id, status, created_at, updated_at, version, parent FROM executions
     WHERE id > ?1 ORDER BY id LIMIT ?2";

const CANDIDATES_OF: &str = "SELECT id, status, created_at, updated_at, version, parent
      FROM executions INDEXED BY executions_by_workflow
     WHERE workflow = ?3 AND id > ?1 ORDER BY id LIMIT ?2";

const REMOVE_MINUTES: &str = "DELETE FROM workflow_minutes WHERE (workflow, minute) IN
     (SELECT workflow, minute FROM workflow_minutes WHERE minute < ?1
       ORDER BY minute, workflow LIMIT ?2)";

const REMOVE_ALERTS: &str = "DELETE FROM alert_state WHERE (rule, subject) IN
     (SELECT rule, subject FROM alert_state WHERE phase = ?1 AND since < ?2
       ORDER BY since, rule, subject LIMIT ?3)";

impl Pen<'_> {
    pub(super) fn prune(&mut self, prune: &Prune) -> Result<PartOutcome> {
        let removed = match prune {
            Prune::Executions(old) => return self.prune_executions(old),
            Prune::IdempotencyKeys { limit } => {
                self.remove(REMOVE_KEYS, params![self.now.as_micros(), limit])
            }
            Prune::Requests { before, limit } => {
                let before = first_id_at(*before);
                self.remove(REMOVE_REQUESTS, params![before.as_bytes(), limit])
            }
            Prune::RequestsOf {
                trigger,
                up_to,
                limit,
            } => self.remove(
                REMOVE_OLDEST_REQUESTS_OF,
                params![trigger.as_bytes(), up_to.as_bytes(), limit],
            ),
            Prune::Minutes { before, limit } => {
                self.remove(REMOVE_MINUTES, params![before.as_micros(), limit])
            }
            Prune::Alerts { before, limit } => {
                let over = Phase::Resolved as u8;
                self.remove(REMOVE_ALERTS, params![over, before.as_micros(), limit])
            }
            Prune::BulkItems { before, limit } => self.prune_bulk_items(*before, *limit as usize),
            Prune::BulkJobs { before, limit } => self.prune_bulk_jobs(*before, *limit),
            Prune::Triggers { before, limit } => self.prune_triggers(*before, *limit as usize),
        };
        removed.map(PartOutcome::pruned)
    }

    /// How many rows a statement removes.
    fn remove(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.prepare(sql)?.execute(params)
    }

    fn prune_executions(&mut self, old: &OldExecutions) -> Result<PartOutcome> {
        let after = old.after.unwrap_or(ExecutionId::from_bytes([0; 16]));
        let candidate = |row: &Row<'_>| {
            Ok(Candidate {
                id: execution_id(row, 0)?,
                status: word(row, 1, Status::from_name)?,
                created_at: time(row, 2)?,
                updated_at: time(row, 3)?,
                version: count(row, 4)?,
                parent: maybe_execution_id(row, 5)?,
            })
        };
        let looked_at: Vec<Candidate> = match &old.workflow {
            None => self
                .prepare(CANDIDATES)?
                .query_map(params![after.as_bytes(), old.limit], candidate)?
                .collect::<Result<_>>()?,
            Some(workflow) => {
                let key = self.workflow_key(workflow)?;
                self.prepare(CANDIDATES_OF)?
                    .query_map(params![after.as_bytes(), old.limit, key], candidate)?
                    .collect::<Result<_>>()?
            }
        };
        let gone = old.gone(&looked_at, |id| self.letter_of(id))?;
        for letter in &gone.letters {
            self.remove_letter(*letter)?;
        }
        for id in &gone.executions {
            self.remove_execution(*id)?;
        }
        Ok(gone.outcome(gone.executions.len()))
    }

    fn remove_letter(&self, letter: DlqId) -> Result<()> {
        self.uncount(letter)?;
        let letter = letter.as_bytes();
        self.remove(
            "DELETE FROM dead_letter_retries WHERE letter = ?1",
            [letter],
        )?;
        self.remove("DELETE FROM dead_letter_queue WHERE id = ?1", [letter])?;
        Ok(())
    }

    fn remove_execution(&self, id: ExecutionId) -> Result<()> {
        self.remove_work(id)?;
        self.remove_tasks(id)?;
        self.remove_callbacks(id)?;
        let id = id.as_bytes();
        self.remove("DELETE FROM workflow_events WHERE execution = ?1", [id])?;
        self.remove("DELETE FROM executions WHERE id = ?1", [id])?;
        Ok(())
    }

    /// A letter goes for good, with its execution.
    pub(super) fn purge_letter(&self, letter: DlqId) -> Result<()> {
        let execution = self
            .prepare("SELECT execution FROM dead_letter_queue WHERE id = ?1")?
            .query_row([letter.as_bytes()], |row| execution_id(row, 0))
            .optional()?;
        self.remove_letter(letter)?;
        execution.map_or(Ok(()), |execution| self.remove_execution(execution))
    }

    fn letter_of(&self, id: ExecutionId) -> Result<Option<(DlqId, LetterStatus)>> {
        self.prepare("SELECT id, status FROM dead_letter_queue WHERE execution = ?1")?
            .query_row([id.as_bytes()], |row| {
                Ok((dlq_id(row, 0)?, word(row, 1, LetterStatus::from_name)?))
            })
            .optional()
    }

    /// One trigger after the other: what it left behind, then itself.
    fn prune_triggers(&self, before: Timestamp, limit: usize) -> Result<usize> {
        let mut removed = 0;
        while removed < limit
            && let Some(trigger) = self.deleted_trigger(before)?
        {
            let trigger = trigger.as_bytes();
            for sql in [REMOVE_SLOTS, REMOVE_REQUESTS_OF] {
                let left = signed((limit - removed) as u64);
                removed += self.remove(sql, params![trigger, left])?;
            }
            if removed < limit {
                self.remove("DELETE FROM request_rings WHERE trigger = ?1", [trigger])?;
                removed += self.remove("DELETE FROM workflow_triggers WHERE id = ?1", [trigger])?;
            }
        }
        Ok(removed)
    }

    /// The one that was deleted first.
    fn deleted_trigger(&self, before: Timestamp) -> Result<Option<TriggerId>> {
        self.prepare(
            "SELECT id FROM workflow_triggers WHERE deleted_at < ?1
             ORDER BY deleted_at, id LIMIT 1",
        )?
        .query_row([before.as_micros()], |row| {
            row.get(0).map(TriggerId::from_bytes)
        })
        .optional()
    }
}
