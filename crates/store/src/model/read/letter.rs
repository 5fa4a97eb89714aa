//! Dead letters: one, lists of them, and their overview.

use std::sync::Arc;

use async_trait::async_trait;
use refire_core::dead_letter::{LetterStatus, RetryEntry, RetryHistory, Tried};
use refire_core::execution::EventRow;
use refire_core::id::{DlqId, ExecutionId};
use refire_core::time::Timestamp;

use super::page;
use crate::error::corrupt;
use crate::letter::{Tally, first_id_at};
use crate::model::Model;
use crate::model::image::{Filed, Image};
use crate::{LetterFilter, LetterRow, LetterSummary, Letters, ReadError, RetryRow};

/// The event that keeps an execution's input.
const INPUT: u64 = 1;

#[async_trait]
impl Letters for Model {
    async fn letters(
        &self,
        filter: &LetterFilter,
        before: Option<DlqId>,
        limit: u32,
    ) -> Result<Vec<LetterRow>, ReadError> {
        self.read("letters", |image| {
            let older = image.letters.iter().rev();
            let older = older.filter(|(id, _)| before.is_none_or(|before| **id < before));
            let asked = older.filter(|(_, filed)| filed.passes(filter));
            let asked = asked.take(page(limit));
            asked.map(|(_, filed)| image.letter_row(filed)).collect()
        })
        .await
    }

    async fn letter(&self, id: DlqId) -> Result<Option<LetterRow>, ReadError> {
        self.read("letter", |image| {
            let filed = image.letters.get(&id);
            filed.map(|filed| image.letter_row(filed)).transpose()
        })
        .await
    }

    async fn letter_retries(&self, id: DlqId, limit: u32) -> Result<Vec<RetryRow>, ReadError> {
        self.read("letter_retries", |image| {
            let filed = image.letters.get(&id);
            let mut retries = filed.map(|filed| filed.retries.clone()).unwrap_or_default();
            // Of the same moment the ids decide, as in a database.
            retries.sort_by_key(|retry| (retry.at, retry.execution));
            Ok(retries.split_off(retries.len().saturating_sub(page(limit))))
        })
        .await
    }

    async fn letters_of_target(
        &self,
        target: &str,
        from: Option<Timestamp>,
        max: u32,
    ) -> Result<u64, ReadError> {
        self.read("letters_of_target", |image| {
            let from = from.map(first_id_at);
            let is_it = |(id, filed): &(&DlqId, &Arc<Filed>)| {
                filed.letter.failure.target.as_deref() == Some(target)
                    && filed.state.status == LetterStatus::Pending
                    && from.is_none_or(|from| **id >= from)
            };
            let found = image.letters.iter().filter(is_it).count() as u64;
            Ok(found.min(max.into()))
        })
        .await
    }

    async fn letters_since(&self, from: Timestamp, max: u32) -> Result<u64, ReadError> {
        self.read("letters_since", |image| {
            let count = image.letters.range(first_id_at(from)..).count();
            Ok((count as u64).min(max.into()))
        })
        .await
    }

    async fn letter_summary(&self, filter: &LetterFilter) -> Result<LetterSummary, ReadError> {
        self.read("letter_summary", |image| {
            let mut tally = Tally::default();
            for filed in image.letters.values().filter(|filed| filed.passes(filter)) {
                let (letter, failure) = (&filed.letter, &filed.letter.failure);
                let (class, code) = (failure.class.name(), failure.code.as_deref());
                tally.widen(letter.failed_at);
                tally.add(letter.workflow.as_str(), class, code, 1);
            }
            tally.summary()
        })
        .await
    }
}

impl Filed {
    fn passes(&self, filter: &LetterFilter) -> bool {
        let letter = &self.letter;
        filter.passes_by(
            (&letter.workflow, &letter.workflow_name),
            letter.step.as_ref().map(|step| step.as_str()),
            (&letter.failure, letter.fingerprint),
            (self.state.status, letter.failed_at),
        )
    }
}

impl Image {
    fn letter_row(&self, filed: &Filed) -> Result<LetterRow, ReadError> {
        let letter = &filed.letter;
        let input = self.value(letter.execution, INPUT)?;
        let what = || format!("dead letter {}", letter.id);
        let input = input.ok_or_else(|| corrupt(what)("its execution has no input"))?;
        let step = letter.step.as_ref().map(ToString::to_string);
        let retry_history = step
            .as_ref()
            .map(|step| self.retry_history(letter.execution, step));
        Ok(LetterRow {
            id: letter.id,
            execution: letter.execution,
            workflow: letter.workflow.clone(),
            workflow_name: letter.workflow_name.clone(),
            workflow_deleted: self
                .workflows
                .get(&letter.workflow)
                .is_some_and(|workflow| workflow.deleted_at.is_some()),
            step,
            input,
            reason: letter.reason,
            failure: letter.failure.clone(),
            fingerprint: letter.fingerprint,
            retry_count: letter.retry_count,
            max_retries: letter.max_retries,
            retry_history: retry_history.unwrap_or_default(),
            state: filed.state.clone(),
            failed_at: letter.failed_at,
            created_at: filed.created_at,
        })
    }

    /// The last failed attempts of a step, oldest first, each with the wait that followed it.
    fn retry_history(&self, id: ExecutionId, step: &str) -> Vec<RetryEntry> {
        let mut history = RetryHistory::default();
        let of_step = |row: &&EventRow| row.step.as_deref() == Some(step);
        for row in self.log(id).rev().filter(of_step) {
            if let Some(attempt) = row.attempt
                && RetryHistory::EVENTS.contains(&&*row.name)
            {
                history.add(Tried {
                    is_failure: row.name == RetryHistory::FAILED,
                    attempt,
                    reason: row.reason.clone(),
                    backoff_ms: row.backoff_ms,
                    at: row.at,
                });
            }
        }
        history.oldest_first()
    }
}
