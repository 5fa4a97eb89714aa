//! Executions: admission and every later move.

use refire_core::execution::EventRow;
use refire_core::id::ExecutionId;
use rusqlite::{OptionalExtension, Result, params};

use super::{Known, Pen};
use crate::sqlite::columns::{execution_id, signed};
use crate::table::rows::{Events, KeyClaims, Starts, Updates};
use crate::table::statement::statements;
use crate::{Admit, Advance, ExecutionRow, IdempotencyClaim, PartOutcome, RowUpdate};

statements! {
    CLAIM_KEY: sqlite(key: KeyClaims) =
        "INSERT INTO idempotency ({key.names}) VALUES ({key.values})
     ON CONFLICT (ns, scope, key_hash) DO UPDATE SET {key.replaced!scope,key_hash}";

    INSERT: sqlite(start: Starts, update: Updates, commit) =
        "INSERT INTO executions ({start.names}, {update.names}, commit_id, snapshot_version)
     VALUES ({start.values}, {update.values}, {commit},
         CASE WHEN {update.snapshot} IS NULL THEN 0 ELSE {update.version} END)
     ON CONFLICT (id) DO NOTHING";

    UPDATE: sqlite(update: Updates, commit, id, expected) =
        "UPDATE executions SET {update.set}, commit_id = {commit}, snapshot_version = {update.version}
     WHERE id = {id} AND version = {expected}";

    UPDATE_WITHOUT_SNAPSHOT: sqlite(update: Updates, commit, id, expected) =
        "UPDATE executions SET {update.set!snapshot,snapshot_crc}, commit_id = {commit}
     WHERE id = {id} AND version = {expected}";

    INSERT_EVENT: sqlite(event: Events) =
        "INSERT INTO workflow_events ({event.names}) VALUES ({event.values})";
}

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
        if let Some(item) = admit.bulk
            && self.has_item(item)?
        {
            return Ok(PartOutcome::ItemDone);
        }
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
        self.change_tasks(admit.row.id, &admit.tasks)?;
        if let Some(claim) = &admit.claim {
            self.claim_key(claim, admit.row.id)?;
        }
        if let Some(retry) = &admit.letter {
            self.retry_letter(retry, admit.row.id)?;
        }
        if let Some(request) = &admit.request {
            self.put_request(request)?;
        }
        if let Some(item) = admit.bulk {
            self.item_done(item, admit.row.id)?;
        }
        let (status, new) = (admit.row.update.status, admit.new_letter.as_deref());
        self.letters_of(status, new, admit.settle.as_ref())?;
        self.append_notices(&admit.notices)?;
        Ok(PartOutcome::Done)
    }

    pub(super) fn advance(&mut self, advance: &Advance) -> Result<PartOutcome> {
        if let Some(begun) = &advance.begun
            && *begun != self.begun_of(advance.id)?
        {
            return Ok(PartOutcome::Conflict);
        }
        if let Some(seen) = advance.seen
            && !self.is_seen(advance.id, seen)?
        {
            return Ok(PartOutcome::Conflict);
        }
        if !self.update_execution(advance.id, advance.expected_version, &advance.update)? {
            return Ok(PartOutcome::Conflict);
        }
        self.insert_events(advance.id, &advance.events)?;
        self.change_work(advance.id, &advance.work)?;
        self.change_tasks(advance.id, &advance.tasks)?;
        self.change_callbacks(advance.id, &advance.callbacks)?;
        let (status, new) = (advance.update.status, advance.new_letter.as_deref());
        self.letters_of(status, new, advance.settle.as_ref())?;
        self.append_notices(&advance.notices)?;
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
    fn claim_key(&mut self, claim: &IdempotencyClaim, execution: ExecutionId) -> Result<()> {
        self.write(&CLAIM_KEY, |to| KeyClaims::bind(to, 1, claim, execution))
            .map(drop)
    }

    /// False when there is an execution of that id.
    fn insert_execution(&mut self, row: &ExecutionRow, workflow: i64) -> Result<bool> {
        let commit_id = self.commit_id;
        let rows = self.write(&INSERT, |to| {
            let next = Starts::bind(to, 1, Some(workflow), row)?;
            let next = Updates::bind(to, next, row.id, &row.update)?;
            to.raw_bind_parameter(next, commit_id)?;
            Ok(next)
        })?;
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
        let sql = match update.snapshot {
            Some(_) => &UPDATE,
            None => &UPDATE_WITHOUT_SNAPSHOT,
        };
        let commit_id = self.commit_id;
        let rows = self.write(sql, |to| {
            let next = Updates::bind(to, 1, id, update)?;
            to.raw_bind_parameter(next, commit_id)?;
            to.raw_bind_parameter(next + 1, id.as_bytes())?;
            to.raw_bind_parameter(next + 2, signed(expected_version))?;
            Ok(next)
        })?;
        Ok(rows == 1)
    }

    fn insert_events(&mut self, id: ExecutionId, events: &[EventRow]) -> Result<()> {
        let insert = self.hold(&INSERT_EVENT)?;
        for event in events {
            Events::bind(insert, 1, id, event)?;
            insert.raw_execute()?;
        }
        Ok(())
    }
}
