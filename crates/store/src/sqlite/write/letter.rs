//! Dead letters: made by executions that failed, retried or given up by people.
//!
//! Every change of a letter's status moves one count of `dlq_counts` along with it.

use refire_core::dead_letter::{Letter, LetterState, LetterStatus};
use refire_core::definition::StepId;
use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId};
use refire_core::time::Timestamp;
use rusqlite::{OptionalExtension, Result, params};

use super::Pen;
use crate::sqlite::columns::taken;
use crate::{LetterRetry, PartOutcome, SettleLetter};

impl Pen<'_> {
    /// The refusal of a retry: the letter is not pending, or it was retried since the caller
    /// looked.
    pub(super) fn refuse_retry(&self, retry: &LetterRetry) -> Result<Option<PartOutcome>> {
        Ok(match self.letter_state(retry.id)? {
            Some(state) if state.may_be_retried(retry.expected_generation) => None,
            other => Some(PartOutcome::LetterNotPending(other.map(|it| it.status))),
        })
    }

    fn letter_state(&self, id: DlqId) -> Result<Option<LetterState>> {
        self.prepare(
            "SELECT status, generation, retry_attempted_at, retry_attempted_by,
                 resolution_execution, resolved_at, resolved_by, deleted_at, deleted_by
             FROM dead_letter_queue WHERE id = ?1",
        )?
        .query_row([id.as_bytes()], |row| taken(row, 0))
        .optional()
    }

    fn put_letter_state(&self, id: DlqId, state: &LetterState) -> Result<()> {
        self.move_count(id, state.status)?;
        let at = |when: &Option<(Timestamp, String)>| when.as_ref().map(|(at, _)| at.as_micros());
        let by = |who: &Option<(Timestamp, String)>| who.as_ref().map(|(_, by)| by.clone());
        self.prepare(
            "UPDATE dead_letter_queue SET status = ?2, generation = ?3, retry_attempted_at = ?4,
                 retry_attempted_by = ?5, resolution_execution = ?6, resolved_at = ?7,
                 resolved_by = ?8, deleted_at = ?9, deleted_by = ?10
             WHERE id = ?1",
        )?
        .execute(params![
            id.as_bytes(),
            state.status.name(),
            state.generation,
            at(&state.retry_attempted),
            by(&state.retry_attempted),
            state
                .resolution_execution
                .as_ref()
                .map(ExecutionId::as_bytes),
            at(&state.resolved),
            by(&state.resolved),
            at(&state.deleted),
            by(&state.deleted),
        ])
        .map(drop)
    }

    pub(super) fn retry_letter(&self, retry: &LetterRetry, execution: ExecutionId) -> Result<()> {
        if let Some(state) = self.letter_state(retry.id)? {
            let by = retry.by.clone();
            let state = state.retried(by, execution, retry.generation, self.now);
            self.put_letter_state(retry.id, &state)?;
        }
        self.prepare(
            "INSERT INTO dead_letter_retries
                 (letter, execution, retried_at, retried_by, retried_from, edited)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            retry.id.as_bytes(),
            execution.as_bytes(),
            self.now.as_micros(),
            retry.by,
            retry.from.name(),
            retry.edited,
        ])
        .map(drop)
    }

    pub(super) fn delete_letter(&self, id: DlqId, by: &str) -> Result<PartOutcome> {
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
        let status = LetterStatus::default().name();
        let failure = serde_json::to_vec(&letter.failure)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        self.prepare(
            "INSERT INTO dead_letter_queue (id, execution, workflow, workflow_name, step, reason,
                 error_type, error_code, error_message, fingerprint, retry_count, max_retries,
                 status, failed_at, created_at, failure)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        )?
        .execute(params![
            letter.id.as_bytes(),
            letter.execution.as_bytes(),
            workflow,
            letter.workflow_name,
            letter.step.as_ref().map(StepId::as_str),
            letter.reason.name(),
            letter.failure.class.name(),
            letter.failure.code,
            letter.failure.message,
            letter.fingerprint.cast_signed(),
            letter.retry_count,
            letter.max_retries,
            status,
            letter.failed_at.as_micros(),
            self.now.as_micros(),
            failure,
        ])?;
        self.prepare(
            "INSERT INTO dlq_counts (workflow, error_type, error_code, status, n)
             VALUES (?1, ?2, coalesce(?3, ''), ?4, 1)
             ON CONFLICT DO UPDATE SET n = n + 1",
        )?
        .execute(params![
            workflow,
            letter.failure.class.name(),
            letter.failure.code,
            status,
        ])
        .map(drop)
    }

    /// The letter is resolved or pending again, if it still is what this execution retries.
    fn settle_letter(&self, status: Status, settle: &SettleLetter) -> Result<()> {
        let state = self.letter_state(settle.id)?;
        let settled =
            state.and_then(|state| state.settled(settle.execution, settle.resolved, self.now));
        let Some(settled) = settled else {
            return Ok(());
        };
        self.prepare(
            "UPDATE dead_letter_retries SET ended_as = ?3, ended_at = ?4
             WHERE letter = ?1 AND execution = ?2",
        )?
        .execute(params![
            settle.id.as_bytes(),
            settle.execution.as_bytes(),
            status.name(),
            self.now.as_micros(),
        ])?;
        self.put_letter_state(settle.id, &settled)
    }

    /// Counts a letter under the status it is about to get. Must come before the change itself.
    fn move_count(&self, id: DlqId, to: LetterStatus) -> Result<()> {
        self.prepare(
            "INSERT INTO dlq_counts (workflow, error_type, error_code, status, n)
             SELECT workflow, error_type, coalesce(error_code, ''), ?2, 1
               FROM dead_letter_queue WHERE id = ?1
             ON CONFLICT DO UPDATE SET n = n + 1",
        )?
        .execute(params![id.as_bytes(), to.name()])?;
        self.uncount(id)
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
