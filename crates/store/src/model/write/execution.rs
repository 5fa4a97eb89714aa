//! Executions: admission and every later move.

use std::sync::Arc;

use refire_core::execution::EventRow;
use refire_core::id::ExecutionId;
use refire_core::task::TaskStatus;

use super::{Failed, Pen};
use crate::model::change::Change;
use crate::model::image::{Record, Snapshot, UsedKey};
use crate::{Admit, Advance, ExecutionRow, IdempotencyClaim, PartOutcome, RowUpdate};

impl Pen<'_> {
    pub(super) fn admit(&mut self, admit: &Admit) -> Result<PartOutcome, Failed> {
        let outcome = self.admit_rows(admit)?;
        if outcome == PartOutcome::Done {
            self.end_of(admit.end);
        }
        Ok(outcome)
    }

    /// Everything but what the end of an execution that ended at once means for its trigger.
    pub(super) fn admit_rows(&mut self, admit: &Admit) -> Result<PartOutcome, Failed> {
        if admit.bulk.is_some_and(|item| self.has_item(item)) {
            return Ok(PartOutcome::ItemDone);
        }
        let workflow = self.image.workflows.get(&admit.row.workflow);
        if workflow.is_none_or(|workflow| workflow.deleted_at.is_some()) {
            return Ok(PartOutcome::NoSuchWorkflow);
        }
        if admit
            .trigger
            .is_some_and(|trigger| !self.is_current(trigger))
        {
            return Ok(PartOutcome::TriggerMoved);
        }
        if let Some(duplicate) = admit.claim.as_ref().and_then(|claim| self.used_key(claim)) {
            return Ok(duplicate);
        }
        let newest = self.image.workflows.get(&admit.row.workflow);
        if admit.only_newest
            && newest.is_some_and(|newest| newest.version != admit.row.workflow_version)
        {
            return Ok(PartOutcome::NotNewest);
        }
        if let Some(refusal) = admit.letter.as_ref().and_then(|it| self.refuse_retry(it)) {
            return Ok(refusal);
        }
        let id = admit.row.id;
        if self.image.executions.contains_key(&id) {
            return Ok(PartOutcome::Conflict);
        }
        self.put_execution(admit.row.clone(), None);
        self.append(id, &admit.events)?;
        self.change_work(id, &admit.work)?;
        self.change_tasks(id, &admit.tasks);
        if let Some(claim) = &admit.claim {
            self.take_key(claim, id);
        }
        if let Some(retry) = &admit.letter {
            self.retry_letter(retry, id);
        }
        if let Some(item) = admit.bulk {
            let row = item.done(id, self.now);
            self.keep_item(item.job, row);
        }
        if let Some(request) = &admit.request {
            self.put_request(request);
        }
        let (status, new) = (admit.row.update.status, admit.new_letter.as_deref());
        self.letters_of(status, new, admit.settle.as_ref())?;
        self.append_notices(&admit.notices)?;
        Ok(PartOutcome::Done)
    }

    pub(super) fn advance(&mut self, advance: &Advance) -> Result<PartOutcome, Failed> {
        let known = self.image.executions.get(&advance.id);
        let expected = advance.expected_version;
        let Some(known) = known.filter(|known| known.row.update.version == expected) else {
            return Ok(PartOutcome::Conflict);
        };
        if let Some(begun) = &advance.begun {
            let work = self.image.work_of(advance.id).filter(|row| row.begun);
            let work = work.map(|row| (row.step.clone(), row.attempt));
            let tasks = self.image.tasks_of(advance.id);
            let tasks = tasks.filter(|task| task.status == TaskStatus::Locked);
            let tasks = tasks.map(|task| (task.step.clone(), task.attempt));
            let mut found: Vec<(String, u32)> = work.chain(tasks).collect();
            found.sort_unstable();
            if found != *begun {
                return Ok(PartOutcome::Conflict);
            }
        }
        if advance
            .seen
            .is_some_and(|seen| !self.is_seen(advance.id, seen))
        {
            return Ok(PartOutcome::Conflict);
        }
        let snapshot = known.snapshot.clone();
        let row = ExecutionRow {
            update: advance.update.clone(),
            ..known.row.clone()
        };
        self.put_execution(row, snapshot);
        self.append(advance.id, &advance.events)?;
        self.change_work(advance.id, &advance.work)?;
        self.change_tasks(advance.id, &advance.tasks);
        self.change_callbacks(advance.id, &advance.callbacks);
        let (status, new) = (advance.update.status, advance.new_letter.as_deref());
        self.letters_of(status, new, advance.settle.as_ref())?;
        self.append_notices(&advance.notices)?;
        self.end_of(advance.end);
        Ok(PartOutcome::Done)
    }

    /// Writes a row. Without a new snapshot the older one stays.
    fn put_execution(&mut self, mut row: ExecutionRow, older: Option<Snapshot>) {
        let RowUpdate {
            version, snapshot, ..
        } = &mut row.update;
        let newer = snapshot.take().map(|bytes| Snapshot {
            version: *version,
            bytes: Arc::new(bytes),
        });
        let record = Record {
            commit_id: self.commit_id,
            snapshot: newer.or(older),
            row,
        };
        self.change(Change::Execution(record.row.id, Some(Arc::new(record))));
    }

    fn append(&mut self, id: ExecutionId, events: &[EventRow]) -> Result<(), Failed> {
        for event in events {
            let key = (id, event.sequence);
            if self.image.events.contains_key(&key) {
                return Err(Failed("an event of that number is there already"));
            }
            self.change(Change::Event(key, Some(Arc::new(event.clone()))));
        }
        Ok(())
    }

    /// The execution that has the key, unless its time is over or it may be taken from it.
    fn used_key(&self, claim: &IdempotencyClaim) -> Option<PartOutcome> {
        let used = self
            .image
            .keys
            .get(&(claim.scope.clone(), claim.key_hash))?;
        let is_used = used.expires_at > self.now && claim.over != Some(used.execution);
        is_used.then(|| PartOutcome::Duplicate {
            execution: used.execution,
            body_differs: used.body_hash != claim.body_hash,
        })
    }

    fn take_key(&mut self, claim: &IdempotencyClaim, execution: ExecutionId) {
        let used = UsedKey {
            body_hash: claim.body_hash,
            execution,
            expires_at: claim.expires_at,
        };
        let name = (claim.scope.clone(), claim.key_hash);
        self.change(Change::Key(name, Some(Arc::new(used))));
    }
}
