//! Executions: admission and every later move.

use refire_core::execution::EventRow;
use refire_core::id::ExecutionId;
use rusqlite::{OptionalExtension, Result, params};

use super::{Known, Pen};
use crate::checksum;
use crate::sqlite::columns::{execution_id, signed};
use crate::{Admit, Advance, ExecutionRow, IdempotencyClaim, PartOutcome, RowUpdate};

/// The phase of an execution whose completed steps are being undone.
const COMPENSATING: &str = "compensating";

impl Pen<'_> {
    pub(super) fn admit(&mut self, admit: &Admit) -> Result<PartOutcome> {
        let outcome = self.admit_rows(admit)?;
        if outcome == PartOutcome::Done {
            self.end_of(admit.end.as_ref())?;
        }
        Ok(outcome)
    }

    /// Everything but what the end of an execution that ended at once means for its trigger.
    pub(super) fn admit_rows(&mut self, admit: &Admit) -> Result<PartOutcome> {
        let known = self.workflow(&admit.row.workflow)?;
        let Some(known) = known.filter(|known| !known.is_deleted) else {
            return Ok(PartOutcome::NoSuchWorkflow);
        };
        let Known {
            key: workflow,
            version: newest,
            ..
        } = known;
        if let Some(trigger) = &admit.trigger
            && !self.is_current(trigger)?
        {
            return Ok(PartOutcome::TriggerMoved);
        }
        if let Some(claim) = &admit.claim
            && let Some(duplicate) = self.used_key(claim)?
        {
            return Ok(duplicate);
        }
        if admit.only_newest && admit.row.workflow_version != newest {
            return Ok(PartOutcome::NotNewest);
        }
        if let Some(retry) = &admit.letter
            && let Some(refusal) = self.refuse_retry(retry)?
        {
            return Ok(refusal);
        }
        if !self.insert_execution(&admit.row, workflow)? {
            return Ok(PartOutcome::Conflict);
        }
        self.insert_events(admit.row.id, &admit.events)?;
        self.change_work(admit.row.id, &admit.work)?;
        if let Some(claim) = &admit.claim {
            self.claim_key(claim, admit.row.id)?;
        }
        if let Some(retry) = &admit.letter {
            self.retry_letter(retry, admit.row.id)?;
        }
        if let Some(request) = &admit.request {
            self.put_request(request)?;
        }
        let (status, new) = (admit.row.update.status, admit.new_letter.as_deref());
        self.letters_of(status, new, admit.settle.as_ref())?;
        Ok(PartOutcome::Done)
    }

    pub(super) fn advance(&mut self, advance: &Advance) -> Result<PartOutcome> {
        if let Some(begun) = &advance.begun
            && *begun != self.begun_of(advance.id)?
        {
            return Ok(PartOutcome::Conflict);
        }
        if !self.update_execution(advance.id, advance.expected_version, &advance.update)? {
            return Ok(PartOutcome::Conflict);
        }
        self.insert_events(advance.id, &advance.events)?;
        self.change_work(advance.id, &advance.work)?;
        let (status, new) = (advance.update.status, advance.new_letter.as_deref());
        self.letters_of(status, new, advance.settle.as_ref())?;
        self.end_of(advance.end.as_ref())?;
        Ok(PartOutcome::Done)
    }

    /// The execution that has the key, unless its time is over or it may be taken from it.
    fn used_key(&self, claim: &IdempotencyClaim) -> Result<Option<PartOutcome>> {
        self.prepare(
            "SELECT execution, body_hash FROM idempotency
             WHERE ns = 1 AND scope = ?1 AND key_hash = ?2 AND expires_at > ?3
                 AND execution IS NOT ?4",
        )?
        .query_row(
            params![
                claim.scope,
                claim.key_hash,
                self.now.as_micros(),
                claim.over.as_ref().map(ExecutionId::as_bytes),
            ],
            |row| {
                let body_hash: [u8; 8] = row.get(1)?;
                Ok(PartOutcome::Duplicate {
                    execution: execution_id(row, 0)?,
                    body_differs: body_hash != claim.body_hash,
                })
            },
        )
        .optional()
    }

    /// Takes a key that is not used.
    fn claim_key(&self, claim: &IdempotencyClaim, execution: ExecutionId) -> Result<()> {
        self.prepare(
            "INSERT INTO idempotency (scope, key_hash, body_hash, execution, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (ns, scope, key_hash) DO UPDATE SET
                 body_hash = excluded.body_hash,
                 execution = excluded.execution,
                 expires_at = excluded.expires_at",
        )?
        .execute(params![
            claim.scope,
            claim.key_hash,
            claim.body_hash,
            execution.as_bytes(),
            claim.expires_at.as_micros(),
        ])
        .map(drop)
    }

    /// False when there is an execution of that id.
    fn insert_execution(&mut self, row: &ExecutionRow, workflow: i64) -> Result<bool> {
        let update = &row.update;
        let commit_id = self.commit_id;
        let rows = self
            .hold(
                "INSERT INTO executions (id, workflow, workflow_version, version, commit_id,
                     status, phase, trigger, priority, created_at, updated_at, retry_count,
                     next_retry_at, parent, root, snapshot_version, snapshot_crc, snapshot)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                     ?18)
                 ON CONFLICT (id) DO NOTHING",
            )?
            .execute(params![
                row.id.as_bytes(),
                workflow,
                row.workflow_version,
                signed(update.version),
                commit_id,
                update.status.name(),
                update.compensating.then_some(COMPENSATING),
                row.trigger,
                row.priority,
                row.created_at.as_micros(),
                update.updated_at.as_micros(),
                update.retry_count,
                update.next_retry_at.map(|at| at.as_micros()),
                row.parent.as_ref().map(ExecutionId::as_bytes),
                row.root.as_bytes(),
                if update.snapshot.is_some() {
                    signed(update.version)
                } else {
                    0
                },
                snapshot_crc(row.id, update),
                update.snapshot,
            ])?;
        Ok(rows == 1)
    }

    /// False when the execution is gone or has another version.
    fn update_execution(
        &mut self,
        id: ExecutionId,
        expected_version: u64,
        update: &RowUpdate,
    ) -> Result<bool> {
        // A commit without a snapshot leaves the older one: the events after it fill in.
        let sql = if update.snapshot.is_some() {
            "UPDATE executions SET version = ?3, commit_id = ?4, status = ?5, phase = ?6,
                 updated_at = ?7, retry_count = ?8, next_retry_at = ?9,
                 snapshot_version = ?3, snapshot = ?10, snapshot_crc = ?11
             WHERE id = ?1 AND version = ?2"
        } else {
            "UPDATE executions SET version = ?3, commit_id = ?4, status = ?5, phase = ?6,
                 updated_at = ?7, retry_count = ?8, next_retry_at = ?9,
                 snapshot = coalesce(?10, snapshot),
                 snapshot_crc = coalesce(?11, snapshot_crc)
             WHERE id = ?1 AND version = ?2"
        };
        let commit_id = self.commit_id;
        let rows = self.hold(sql)?.execute(params![
            id.as_bytes(),
            signed(expected_version),
            signed(update.version),
            commit_id,
            update.status.name(),
            update.compensating.then_some(COMPENSATING),
            update.updated_at.as_micros(),
            update.retry_count,
            update.next_retry_at.map(|at| at.as_micros()),
            update.snapshot,
            snapshot_crc(id, update),
        ])?;
        Ok(rows == 1)
    }

    fn insert_events(&mut self, id: ExecutionId, events: &[EventRow]) -> Result<()> {
        let insert = self.hold(
            "INSERT INTO workflow_events
                 (execution, sequence, type, v, at, step, attempt, backoff_ms, reason, crc, payload)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?;
        for event in events {
            insert.execute(params![
                id.as_bytes(),
                signed(event.sequence),
                event.name,
                event.v,
                event.at.as_micros(),
                event.step,
                event.attempt,
                event.backoff_ms.map(signed),
                event.reason,
                checksum::event(id, event),
                event.payload,
            ])?;
        }
        Ok(())
    }
}

/// The checksum of the snapshot that comes with an update, if one does.
fn snapshot_crc(id: ExecutionId, update: &RowUpdate) -> Option<u32> {
    let snapshot = update.snapshot.as_deref()?;
    Some(checksum::snapshot(id, update.version, snapshot))
}
