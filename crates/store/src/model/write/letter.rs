//! Dead letters: made by executions that failed, retried or given up by people.

use std::sync::Arc;

use refire_core::dead_letter::{Letter, LetterState};
use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId};

use super::{Failed, Pen};
use crate::model::change::Change;
use crate::model::image::Filed;
use crate::{LetterRetry, PartOutcome, RetryRow, SettleLetter};

impl Pen<'_> {
    /// The refusal of a retry: the letter is not pending, or was retried since the caller looked.
    pub(super) fn refuse_retry(&self, retry: &LetterRetry) -> Option<PartOutcome> {
        let state = self.image.letters.get(&retry.id).map(|filed| &filed.state);
        let may_be = |state: &&LetterState| state.may_be_retried(retry.expected_generation);
        match state.filter(may_be) {
            Some(_) => None,
            None => Some(PartOutcome::LetterNotPending(state.map(|it| it.status))),
        }
    }

    pub(super) fn retry_letter(&mut self, retry: &LetterRetry, execution: ExecutionId) {
        let (now, by) = (self.now, retry.by.clone());
        let row = RetryRow {
            execution,
            at: now,
            by: by.clone(),
            from: Some(retry.from),
            edited: Some(retry.edited),
            ended: None,
        };
        self.change_letter(retry.id, |filed| {
            filed.retries.push(row);
            let state = std::mem::take(&mut filed.state);
            filed.state = state.retried(by, execution, retry.generation, now);
        });
    }

    pub(super) fn delete_letter(&mut self, id: DlqId, by: &str) -> PartOutcome {
        let state = self.image.letters.get(&id).map(|filed| filed.state.clone());
        let status = state.as_ref().map(|state| state.status);
        let Some(gone) = state.and_then(|state| state.given_up(by.to_owned(), self.now)) else {
            return PartOutcome::LetterNotPending(status);
        };
        self.change_letter(id, |filed| filed.state = gone);
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
            state: LetterState::default(),
            retries: Vec::new(),
        };
        self.change(Change::Letter(letter.id, Some(Arc::new(filed))));
        Ok(())
    }

    /// The letter is resolved or pending again, if it still is what this execution retries.
    fn settle(&mut self, status: Status, settle: &SettleLetter) {
        let (now, execution) = (self.now, settle.execution);
        let state = self.image.letters.get(&settle.id);
        let state = state.map(|filed| filed.state.clone());
        let settled = state.and_then(|state| state.settled(execution, settle.resolved, now));
        let Some(settled) = settled else { return };
        self.change_letter(settle.id, |filed| {
            filed.state = settled;
            let mut retries = filed.retries.iter_mut();
            if let Some(retry) = retries.find(|retry| retry.execution == execution) {
                retry.ended = Some((status, now));
            }
        });
    }

    pub(super) fn change_letter(&mut self, id: DlqId, how: impl FnOnce(&mut Filed)) {
        let Some(mut filed) = self.image.letters.get(&id).cloned() else {
            return;
        };
        how(Arc::make_mut(&mut filed));
        self.change(Change::Letter(id, Some(filed)));
    }
}
