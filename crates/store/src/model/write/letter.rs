//! Dead letters: made by executions that failed, retried or given up by people.

use std::sync::Arc;

use refire_core::dead_letter::{Letter, LetterStatus};
use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId};

use super::{Failed, Pen};
use crate::model::change::Change;
use crate::model::image::Filed;
use crate::{LetterRetry, PartOutcome, RetryRow, SettleLetter};

impl Pen<'_> {
    /// The refusal of a retry: the letter is not pending, or was retried since the caller looked.
    pub(super) fn refuse_retry(&self, retry: &LetterRetry) -> Option<PartOutcome> {
        let filed = self.image.letters.get(&retry.id);
        let is_fine = filed.is_some_and(|filed| {
            filed.status == LetterStatus::Pending && filed.generation == retry.expected_generation
        });
        (!is_fine).then(|| PartOutcome::LetterNotPending(filed.map(|filed| filed.status)))
    }

    pub(super) fn retry_letter(&mut self, retry: &LetterRetry, by: ExecutionId) {
        let attempted = (self.now, retry.by.clone());
        let row = RetryRow {
            execution: by,
            at: self.now,
            by: retry.by.clone(),
            from: Some(retry.from),
            edited: Some(retry.edited),
            ended: None,
        };
        self.change_letter(retry.id, |filed| {
            filed.retries.push(row);
            filed.status = LetterStatus::Retrying;
            filed.retry_attempted = Some(attempted);
            filed.resolution_execution = Some(by);
            filed.generation = retry.generation;
        });
    }

    pub(super) fn delete_letter(&mut self, id: DlqId, by: &str) -> PartOutcome {
        let status = self.image.letters.get(&id).map(|filed| filed.status);
        if status != Some(LetterStatus::Pending) {
            return PartOutcome::LetterNotPending(status);
        }
        let deleted = (self.now, by.to_owned());
        self.change_letter(id, |filed| {
            filed.status = LetterStatus::Deleted;
            filed.deleted = Some(deleted);
        });
        PartOutcome::Done
    }

    /// What the end of an execution does to letters.
    pub(super) fn letters_of(
        &mut self,
        status: Status,
        new: Option<&Letter>,
        settle: Option<&SettleLetter>,
    ) -> Result<(), Failed> {
        if let Some(letter) = new {
            self.file(letter)?;
        }
        if let Some(settle) = settle {
            self.settle(status, settle);
        }
        Ok(())
    }

    fn file(&mut self, letter: &Letter) -> Result<(), Failed> {
        if !self.image.workflows.contains_key(&letter.workflow) {
            return Err(Failed("a dead letter of a workflow that was never saved"));
        }
        let is_taken = self.image.letters.contains_key(&letter.id)
            || self.image.letter_of(letter.execution).is_some();
        if is_taken {
            return Err(Failed(
                "an execution has one dead letter, and its id is its own",
            ));
        }
        let filed = Filed {
            letter: letter.clone(),
            created_at: self.now,
            status: LetterStatus::Pending,
            generation: 0,
            retry_attempted: None,
            resolution_execution: None,
            retries: Vec::new(),
            resolved: None,
            deleted: None,
        };
        self.change(Change::Letter(letter.id, Some(Arc::new(filed))));
        Ok(())
    }

    /// The letter is resolved or pending again, if it still is what this execution retries.
    fn settle(&mut self, status: Status, settle: &SettleLetter) {
        let is_retried_by_it = self.image.letters.get(&settle.id).is_some_and(|filed| {
            filed.status == LetterStatus::Retrying
                && filed.resolution_execution == Some(settle.execution)
        });
        if !is_retried_by_it {
            return;
        }
        let now = self.now;
        self.change_letter(settle.id, |filed| {
            let mut retries = filed.retries.iter_mut();
            if let Some(retry) = retries.find(|retry| retry.execution == settle.execution) {
                retry.ended = Some((status, now));
            }
            if settle.resolved {
                filed.status = LetterStatus::Resolved;
                let by = filed.retry_attempted.as_ref().map(|(_, by)| by.clone());
                filed.resolved = by.map(|by| (now, by));
            } else {
                filed.status = LetterStatus::Pending;
                filed.resolution_execution = None;
            }
        });
    }

    fn change_letter(&mut self, id: DlqId, how: impl FnOnce(&mut Filed)) {
        let Some(mut filed) = self.image.letters.get(&id).cloned() else {
            return;
        };
        how(Arc::make_mut(&mut filed));
        self.change(Change::Letter(id, Some(filed)));
    }
}
