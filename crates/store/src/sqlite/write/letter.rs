//! Dead letters: made by executions that failed, retried or given up by people.
//!
//! Every change of a letter's status moves one count of `dlq_counts` along with it.

use refire_core::dead_letter::{Letter, LetterStatus};
use refire_core::definition::StepId;
use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId};
use rusqlite::{OptionalExtension, Result, params};

use super::Pen;
use crate::sqlite::columns::word;
use crate::{LetterRetry, PartOutcome, SettleLetter};

impl Pen<'_> {
    /// The refusal of a change that only a pending letter allows.
    fn refuse_unless_pending(&self, id: DlqId) -> Result<Option<PartOutcome>> {
        Ok(match self.letter_standing(id)? {
            Some((LetterStatus::Pending, _)) => None,
            other => Some(PartOutcome::LetterNotPending(
                other.map(|(status, _)| status),
            )),
        })
    }

    /// The refusal of a retry: the letter is not pending, or it was retried since the caller
    /// looked, and another retry may have used the same generation.
    pub(super) fn refuse_retry(&self, retry: &LetterRetry) -> Result<Option<PartOutcome>> {
        Ok(match self.letter_standing(retry.id)? {
            Some((LetterStatus::Pending, generation))
                if generation == retry.expected_generation =>
            {
                None
            }
            other => Some(PartOutcome::LetterNotPending(
                other.map(|(status, _)| status),
            )),
        })
    }

    /// Where a letter stands, and the highest generation that its retries have used.
    fn letter_standing(&self, id: DlqId) -> Result<Option<(LetterStatus, u32)>> {
        self.prepare("SELECT status, generation FROM dead_letter_queue WHERE id = ?1")?
            .query_row([id.as_bytes()], |row| {
                Ok((word(row, 0, LetterStatus::from_name)?, row.get(1)?))
            })
            .optional()
    }

    pub(super) fn retry_letter(&self, retry: &LetterRetry, by: ExecutionId) -> Result<()> {
        self.move_count(retry.id, LetterStatus::Retrying)?;
        self.prepare(
            "UPDATE dead_letter_queue SET status = 'retrying', retry_attempted_at = ?2,
                 retry_attempted_by = ?3, resolution_execution = ?4, generation = ?5
             WHERE id = ?1",
        )?
        .execute(params![
            retry.id.as_bytes(),
            self.now.as_micros(),
            retry.by,
            by.as_bytes(),
            retry.generation,
        ])?;
        self.prepare(
            "INSERT INTO dead_letter_retries
                 (letter, execution, retried_at, retried_by, retried_from, edited)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            retry.id.as_bytes(),
            by.as_bytes(),
            self.now.as_micros(),
            retry.by,
            retry.from.name(),
            retry.edited,
        ])
        .map(drop)
    }

    pub(super) fn delete_letter(&self, id: DlqId, by: &str) -> Result<PartOutcome> {
        if let Some(refusal) = self.refuse_unless_pending(id)? {
            return Ok(refusal);
        }
        self.move_count(id, LetterStatus::Deleted)?;
        self.prepare(
            "UPDATE dead_letter_queue SET status = 'deleted', deleted_at = ?2, deleted_by = ?3
             WHERE id = ?1",
        )?
        .execute(params![id.as_bytes(), self.now.as_micros(), by])?;
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
        let failure = serde_json::to_vec(&letter.failure)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        self.prepare(
            "INSERT INTO dead_letter_queue (id, execution, workflow, workflow_name, step, reason,
                 error_type, error_code, error_message, fingerprint, retry_count, max_retries,
                 status, failed_at, created_at, failure)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 'pending', ?13, ?14, ?15)",
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
            letter.failed_at.as_micros(),
            self.now.as_micros(),
            failure,
        ])?;
        self.prepare(
            "INSERT INTO dlq_counts (workflow, error_type, error_code, status, n)
             VALUES (?1, ?2, coalesce(?3, ''), 'pending', 1)
             ON CONFLICT DO UPDATE SET n = n + 1",
        )?
        .execute(params![
            workflow,
            letter.failure.class.name(),
            letter.failure.code
        ])
        .map(drop)
    }

    /// The letter is resolved or pending again, if it still is what this execution retries.
    fn settle_letter(&self, status: Status, settle: &SettleLetter) -> Result<()> {
        let is_retried_by_it = self
            .prepare(
                "SELECT 1 FROM dead_letter_queue
                 WHERE id = ?1 AND status = 'retrying' AND resolution_execution = ?2",
            )?
            .exists(params![settle.id.as_bytes(), settle.execution.as_bytes()])?;
        if !is_retried_by_it {
            return Ok(());
        }
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
        if settle.resolved {
            self.move_count(settle.id, LetterStatus::Resolved)?;
            self.prepare(
                "UPDATE dead_letter_queue SET status = 'resolved', resolved_at = ?2,
                     resolved_by = retry_attempted_by
                 WHERE id = ?1",
            )?
            .execute(params![settle.id.as_bytes(), self.now.as_micros()])
            .map(drop)
        } else {
            self.move_count(settle.id, LetterStatus::Pending)?;
            self.prepare(
                "UPDATE dead_letter_queue SET status = 'pending', resolution_execution = NULL
                 WHERE id = ?1",
            )?
            .execute([settle.id.as_bytes()])
            .map(drop)
        }
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
