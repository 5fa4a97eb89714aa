//! Dead letters: made by executions that failed, retried or given up by people.
//!
//! Every change of a letter's status moves one count of `dlq_counts` along with it.

use refire_core::dead_letter::{Letter, LetterState, LetterStatus};
use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId};
use rusqlite::{OptionalExtension, Result, params};

use super::Pen;
use crate::sqlite::columns::taken;
use crate::table::rows::{LetterStates, Letters, Retries, RetryEnds};
use crate::table::statement::statements;
use crate::{LetterRetry, PartOutcome, SettleLetter};

statements! {
    INSERT: sqlite(letter: Letters) =
        "INSERT INTO dead_letter_queue ({letter.names}) VALUES ({letter.values})";

    PUT_STATE: sqlite(state: LetterStates) =
        "UPDATE dead_letter_queue SET {state.set!id} WHERE id = {state.id}";

    KEEP_RETRY: sqlite(retry: Retries) =
        "INSERT INTO dead_letter_retries ({retry.names}) VALUES ({retry.values})";

    END_RETRY: sqlite(end: RetryEnds) =
        "UPDATE dead_letter_retries SET {end.set!letter,execution}
     WHERE letter = {end.letter} AND execution = {end.execution}";
}

impl Pen<'_> {
    /// The refusal of a retry: the letter is not pending, or it was retried since the caller
    /// looked.
    pub(super) fn refuse_retry(&self, retry: &LetterRetry) -> Result<Option<PartOutcome>> {
        Ok(match self.letter_state(retry.id)? {
            Some(state) if state.may_be_retried(retry.expected_generation) => None,
            other => Some(PartOutcome::LetterNotPending(other.map(|it| it.status))),
        })
    }

    pub(super) fn letter_state(&self, id: DlqId) -> Result<Option<LetterState>> {
        self.prepare(
            "SELECT status, generation, retry_attempted_at, retry_attempted_by,
                 resolution_execution, resolved_at, resolved_by, deleted_at, deleted_by
             FROM dead_letter_queue WHERE id = ?1",
        )?
        .query_row([id.as_bytes()], |row| taken(row, 0))
        .optional()
    }

    pub(super) fn put_letter_state(&mut self, id: DlqId, state: &LetterState) -> Result<()> {
        // Before the change itself: the row knows the status that it has been counted under.
        self.count(id, state.status)?;
        self.uncount(id)?;
        self.write(&PUT_STATE, |to| LetterStates::bind(to, 1, id, state))
            .map(drop)
    }

    pub(super) fn retry_letter(
        &mut self,
        retry: &LetterRetry,
        execution: ExecutionId,
    ) -> Result<()> {
        let now = self.now;
        if let Some(state) = self.letter_state(retry.id)? {
            let state = state.retried(retry.by.clone(), execution, retry.generation, now);
            self.put_letter_state(retry.id, &state)?;
        }
        self.write(&KEEP_RETRY, |to| {
            Retries::bind(to, 1, retry, execution, now)
        })
        .map(drop)
    }

    pub(super) fn delete_letter(&mut self, id: DlqId, by: &str) -> Result<PartOutcome> {
        let state = self.letter_state(id)?;
        let status = state.as_ref().map(|state| state.status);
        let gone = state.and_then(|state| state.given_up(by.to_owned(), self.now));
        let Some(gone) = gone else {
            return Ok(PartOutcome::LetterNotPending(status));
        };
        self.put_letter_state(id, &gone)?;
        Ok(PartOutcome::Done)
    }

    /// What the end of an execution does to letters.
    pub(super) fn letters_of(
        &mut self,
        status: Status,
        new: Option<&Letter>,
        settle: Option<&SettleLetter>,
    ) -> Result<()> {
        if let Some(letter) = new {
            self.insert_letter(letter)?;
        }
        if let Some(settle) = settle {
            self.settle_letter(status, settle)?;
        }
        Ok(())
    }

    fn insert_letter(&mut self, letter: &Letter) -> Result<()> {
        let workflow = self.workflow_key(&letter.workflow)?;
        let now = self.now;
        self.write(&INSERT, |to| Letters::bind(to, 1, workflow, letter, now))?;
        self.count(letter.id, LetterStatus::default())
    }

    /// The letter is resolved or pending again, if it still is what this execution retries.
    fn settle_letter(&mut self, status: Status, settle: &SettleLetter) -> Result<()> {
        let state = self.letter_state(settle.id)?;
        let settled =
            state.and_then(|state| state.settled(settle.execution, settle.resolved, self.now));
        let Some(settled) = settled else {
            return Ok(());
        };
        let now = self.now;
        self.write(&END_RETRY, |to| RetryEnds::bind(to, 1, settle, status, now))?;
        self.put_letter_state(settle.id, &settled)
    }

    /// Counts a letter under a status.
    fn count(&self, id: DlqId, status: LetterStatus) -> Result<()> {
        self.prepare(
            "INSERT INTO dlq_counts (workflow, error_type, error_code, status, n)
             SELECT workflow, error_type, coalesce(error_code, ''), ?2, 1
               FROM dead_letter_queue WHERE id = ?1
             ON CONFLICT DO UPDATE SET n = n + 1",
        )?
        .execute(params![id.as_bytes(), status.name()])
        .map(drop)
    }

    /// Takes a letter out of the counts.
    pub(super) fn uncount(&self, id: DlqId) -> Result<()> {
        self.prepare(
            "UPDATE dlq_counts SET n = n - 1
             WHERE (workflow, error_type, error_code, status) =
                 (SELECT workflow, error_type, coalesce(error_code, ''), status
                    FROM dead_letter_queue WHERE id = ?1)",
        )?
        .execute([id.as_bytes()])
        .map(drop)
    }
}
