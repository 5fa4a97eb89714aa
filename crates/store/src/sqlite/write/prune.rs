//! Retention: small chunks along the time-ordered keys, so that commits never wait for long.

use refire_core::dead_letter::LetterStatus;
use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId, RequestId, TriggerId};
use refire_core::time::Timestamp;
use rusqlite::{OptionalExtension, Result, params};

use super::Pen;
use crate::request::first_id_at;
use crate::sqlite::columns::{count, dlq_id, execution_id, maybe_execution_id, signed, time, word};
use crate::words::accepted;
use crate::{PartOutcome, Prune};

/// Rows that one chunk removes, at most, unless a single execution has more: commits wait for a
/// chunk, and an execution may have thousands of events.
const ROWS_REMOVED_MAX: u64 = 500;

/// What the walk looks at.
struct Candidate {
    id: ExecutionId,
    status: Status,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// How many events it has.
    version: u64,
    /// The execution that it repeats.
    parent: Option<ExecutionId>,
}

/// What becomes of an execution that is old enough.
enum Fate {
    /// A person may still need it.
    Stays,
    /// It goes, with its letter if it has one.
    Goes(Option<DlqId>),
}

impl Pen<'_> {
    pub(super) fn prune(&mut self, prune: &Prune) -> Result<PartOutcome> {
        match prune {
            Prune::Executions {
                statuses,
                before,
                after,
                limit,
            } => self.prune_executions(statuses, *before, *after, *limit),
            Prune::IdempotencyKeys { limit } => self.prune_keys(*limit),
            Prune::Requests { before, limit } => self.prune_requests(*before, *limit),
            Prune::RequestsOf {
                trigger,
                up_to,
                limit,
            } => self.prune_requests_of(*trigger, *up_to, *limit),
            Prune::Triggers { before, limit } => self.prune_triggers(*before, *limit),
        }
    }

    fn prune_executions(
        &self,
        statuses: &[Status],
        before: Timestamp,
        after: Option<ExecutionId>,
        limit: u32,
    ) -> Result<PartOutcome> {
        let after = after.unwrap_or(ExecutionId::from_bytes([0; 16]));
        let looked_at = self
            .prepare(
                "SELECT id, status, created_at, updated_at, version, parent FROM executions
                 WHERE id > ?1 ORDER BY id LIMIT ?2",
            )?
            .query_map(params![after.as_bytes(), limit], |row| {
                Ok(Candidate {
                    id: execution_id(row, 0)?,
                    status: word(row, 1, Status::from_name)?,
                    created_at: time(row, 2)?,
                    updated_at: time(row, 3)?,
                    version: count(row, 4)?,
                    parent: maybe_execution_id(row, 5)?,
                })
            })?
            .collect::<Result<Vec<_>>>()?;
        // Whatever comes later was made later, so none of it can have ended early enough.
        let is_end = looked_at.len() < limit as usize
            || looked_at
                .last()
                .is_some_and(|last| last.created_at >= before);
        let (mut removed, mut rows, mut last) = (0, 0, None);
        for candidate in looked_at {
            let is_old = candidate.status.is_terminal()
                && statuses.contains(&candidate.status)
                && candidate.updated_at < before;
            if is_old && let Fate::Goes(letter) = self.fate(&candidate)? {
                rows += candidate.version + 1 + u64::from(letter.is_some());
                if removed > 0 && rows > ROWS_REMOVED_MAX {
                    // The next chunk begins with this one.
                    return Ok(PartOutcome::Pruned {
                        removed,
                        next: last,
                    });
                }
                self.remove_execution(candidate.id, letter)?;
                removed += 1;
            }
            last = Some(candidate.id);
        }
        let next = last.filter(|_| !is_end);
        Ok(PartOutcome::Pruned { removed, next })
    }

    fn fate(&self, candidate: &Candidate) -> Result<Fate> {
        let letter = self.letter_of(candidate.id)?;
        let of_parent = match candidate.parent {
            Some(parent) => self.letter_of(parent)?,
            None => None,
        };
        let mut both = letter.iter().chain(&of_parent);
        Ok(match both.any(|(_, status)| status.is_open()) {
            true => Fate::Stays,
            false => Fate::Goes(letter.map(|(id, _)| id)),
        })
    }

    fn letter_of(&self, id: ExecutionId) -> Result<Option<(DlqId, LetterStatus)>> {
        self.prepare("SELECT id, status FROM dead_letter_queue WHERE execution = ?1")?
            .query_row([id.as_bytes()], |row| {
                Ok((dlq_id(row, 0)?, word(row, 1, LetterStatus::from_name)?))
            })
            .optional()
    }

    /// Removes an execution and all that belongs to it.
    fn remove_execution(&self, id: ExecutionId, letter: Option<DlqId>) -> Result<()> {
        if let Some(letter) = letter {
            self.uncount(letter)?;
            self.prepare("DELETE FROM dead_letter_retries WHERE letter = ?1")?
                .execute([letter.as_bytes()])?;
            self.prepare("DELETE FROM dead_letter_queue WHERE id = ?1")?
                .execute([letter.as_bytes()])?;
        }
        self.prepare("DELETE FROM workflow_events WHERE execution = ?1")?
            .execute([id.as_bytes()])?;
        self.remove_work(id)?;
        self.prepare("DELETE FROM executions WHERE id = ?1")?
            .execute([id.as_bytes()])
            .map(drop)
    }

    fn prune_keys(&self, limit: u32) -> Result<PartOutcome> {
        let removed = self
            .prepare(
                "DELETE FROM idempotency WHERE (ns, scope, key_hash) IN
                     (SELECT ns, scope, key_hash FROM idempotency
                       WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)",
            )?
            .execute(params![self.now.as_micros(), limit])?;
        Ok(pruned(removed))
    }

    fn prune_requests(&self, before: Timestamp, limit: u32) -> Result<PartOutcome> {
        let removed = self
            .prepare(
                "DELETE FROM webhook_requests WHERE id IN
                     (SELECT id FROM webhook_requests WHERE id < ?1 ORDER BY id LIMIT ?2)",
            )?
            .execute(params![first_id_at(before).as_bytes(), limit])?;
        Ok(pruned(removed))
    }

    fn prune_requests_of(
        &self,
        trigger: TriggerId,
        up_to: RequestId,
        limit: u32,
    ) -> Result<PartOutcome> {
        let removed = self
            .prepare(concat!(
                "DELETE FROM webhook_requests WHERE id IN
                     (SELECT id FROM webhook_requests INDEXED BY requests_by_trigger
                       WHERE trigger = ?1 AND id <= ?2 AND ",
                accepted!(),
                " ORDER BY id LIMIT ?3)"
            ))?
            .execute(params![trigger.as_bytes(), up_to.as_bytes(), limit])?;
        Ok(pruned(removed))
    }

    /// One trigger after the other: what it left behind, then itself.
    fn prune_triggers(&self, before: Timestamp, limit: u32) -> Result<PartOutcome> {
        let (limit, mut removed) = (limit as usize, 0);
        let left = |removed: usize| signed((limit - removed) as u64);
        while removed < limit
            && let Some(trigger) = self.deleted_trigger(before)?
        {
            removed += self
                .prepare(
                    "DELETE FROM trigger_slots WHERE trigger = ?1 AND seq IN
                         (SELECT seq FROM trigger_slots WHERE trigger = ?1 ORDER BY seq LIMIT ?2)",
                )?
                .execute(params![trigger.as_bytes(), left(removed)])?;
            removed += self
                .prepare(
                    "DELETE FROM webhook_requests WHERE id IN
                         (SELECT id FROM webhook_requests WHERE trigger = ?1
                           ORDER BY id LIMIT ?2)",
                )?
                .execute(params![trigger.as_bytes(), left(removed)])?;
            if removed < limit {
                self.prepare("DELETE FROM request_rings WHERE trigger = ?1")?
                    .execute([trigger.as_bytes()])?;
                removed += self
                    .prepare("DELETE FROM workflow_triggers WHERE id = ?1")?
                    .execute([trigger.as_bytes()])?;
            }
        }
        Ok(pruned(removed))
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

/// A chunk of rows that have no walk.
fn pruned(removed: usize) -> PartOutcome {
    PartOutcome::Pruned {
        removed: removed as u64,
        next: None,
    }
}
