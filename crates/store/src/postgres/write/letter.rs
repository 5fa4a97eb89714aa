//! Dead letters: made by executions that failed, retried or given up by people.
//!
//! Every change of a letter's status moves one count of `dlq_counts` along with it, in this
//! connection's own shard: one of them may be below zero, the sum never is.

use refire_core::dead_letter::{Letter, LetterStatus};
use refire_core::definition::StepId;
use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId};
use uuid::Uuid;

use super::link::{Link, Query, Value, values};
use super::{Failed, Order};
use crate::postgres::columns::{signed_small, small, uuid, word};
use crate::{LetterRetry, PartOutcome, SettleLetter};

/// Where a letter stands, kept so until the commit ends.
const STANDING: &str =
    "SELECT status, generation FROM dead_letter_queue WHERE id = $1 FOR NO KEY UPDATE";

/// Counts a letter under the status it is about to get, and no more under the one it has. In the
/// order of the statuses, as all others do it.
const MOVE_COUNT: &str = "INSERT INTO dlq_counts (workflow, error_type, error_code, status, shard, n)
    SELECT letter.workflow, letter.error_type, coalesce(letter.error_code, ''), moved.status, $3, moved.n
      FROM dead_letter_queue AS letter, LATERAL (VALUES (letter.status, -1), ($2::text, 1))
        AS moved (status, n)
     WHERE letter.id = $1 ORDER BY moved.status COLLATE \"C\"
    ON CONFLICT (workflow, error_type, error_code, status, shard)
        DO UPDATE SET n = dlq_counts.n + excluded.n";

const RETRY: &str = "UPDATE dead_letter_queue SET status = 'retrying', retry_attempted_at = $2,
        retry_attempted_by = $3, resolution_execution = $4, generation = $5
     WHERE id = $1";

const DELETE: &str = "UPDATE dead_letter_queue SET status = 'deleted', deleted_at = $2,
        deleted_by = $3
     WHERE id = $1";

const RESOLVE: &str = "UPDATE dead_letter_queue SET status = 'resolved', resolved_at = $2,
        resolved_by = retry_attempted_by
     WHERE id = $1";

const PENDING_AGAIN: &str = "UPDATE dead_letter_queue SET status = 'pending',
        resolution_execution = NULL
     WHERE id = $1";

const KEEP_RETRY: &str = "INSERT INTO dead_letter_retries
        (letter, execution, retried_at, retried_by, retried_from, edited)
     VALUES ($1, $2, $3, $4, $5, $6)";

const END_RETRY: &str = "UPDATE dead_letter_retries SET ended_as = $3, ended_at = $4
     WHERE letter = $1 AND execution = $2";

const IS_RETRIED_BY: &str = "SELECT 1 FROM dead_letter_queue
     WHERE id = $1 AND status = 'retrying' AND resolution_execution = $2 FOR NO KEY UPDATE";

const INSERT: &str = "WITH letters AS (
        INSERT INTO dead_letter_queue (id, execution, workflow, workflow_name, step, reason,
            error_type, error_code, error_message, fingerprint, retry_count, max_retries, status,
            failed_at, created_at, failure)
        SELECT given.id, given.execution, given.workflow, given.workflow_name, given.step,
            given.reason, given.error_type, given.error_code, given.error_message,
            given.fingerprint, given.retry_count, given.max_retries, 'pending', given.failed_at,
            given.created_at, given.failure
          FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[], $6::bytea[], $7::text[],
                $8::text[], $9::text[], $10::bytea[], $11::bytea[], $12::bigint[], $13::integer[],
                $14::integer[], $15::bigint[], $16::bigint[], $17::bytea[])
            AS given (of, id, execution, workflow, workflow_name, step, reason, error_type,
                error_code, error_message, fingerprint, retry_count, max_retries, failed_at,
                created_at, failure)
        RETURNING workflow, error_type, coalesce(error_code, '') AS error_code
     )
     INSERT INTO dlq_counts (workflow, error_type, error_code, status, shard, n)
     SELECT workflow, error_type, error_code, 'pending', $1::smallint, 1 FROM letters
     ON CONFLICT (workflow, error_type, error_code, status, shard)
        DO UPDATE SET n = dlq_counts.n + excluded.n";

/// New letters as columns, each under the execution that made it.
#[derive(Default)]
pub(super) struct Letters<'a> {
    of: Vec<Uuid>,
    id: Vec<Uuid>,
    execution: Vec<Uuid>,
    workflow: Vec<Option<i64>>,
    workflow_name: Vec<&'a [u8]>,
    step: Vec<Option<&'a str>>,
    reason: Vec<&'static str>,
    error_type: Vec<&'static str>,
    error_code: Vec<Option<&'a [u8]>>,
    error_message: Vec<&'a [u8]>,
    fingerprint: Vec<i64>,
    retry_count: Vec<i32>,
    max_retries: Vec<i32>,
    failed_at: Vec<i64>,
    created_at: Vec<i64>,
    failure: Vec<Vec<u8>>,
}

impl<'a> Letters<'a> {
    pub(super) fn push(&mut self, link: &Link, order: &Order, of: Uuid, letter: &'a Letter) {
        self.of.push(of);
        self.id.push(uuid(letter.id.as_bytes()));
        self.execution.push(uuid(letter.execution.as_bytes()));
        self.workflow.push(link.key(&letter.workflow));
        self.workflow_name.push(letter.workflow_name.as_bytes());
        self.step.push(letter.step.as_ref().map(StepId::as_str));
        self.reason.push(letter.reason.name());
        self.error_type.push(letter.failure.class.name());
        self.error_code
            .push(letter.failure.code.as_deref().map(str::as_bytes));
        self.error_message.push(letter.failure.message.as_bytes());
        self.fingerprint.push(letter.fingerprint.cast_signed());
        self.retry_count.push(signed_small(letter.retry_count));
        self.max_retries.push(signed_small(letter.max_retries));
        self.failed_at.push(letter.failed_at.as_micros());
        self.created_at.push(order.now.as_micros());
        // A plain struct of texts and numbers: writing it as JSON cannot fail.
        self.failure
            .push(serde_json::to_vec(&letter.failure).unwrap_or_default());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// Sixteen columns.
    pub(super) fn values(self) -> Vec<Value<'a>> {
        values![
            self.of,
            self.id,
            self.execution,
            self.workflow,
            self.workflow_name,
            self.step,
            self.reason,
            self.error_type,
            self.error_code,
            self.error_message,
            self.fingerprint,
            self.retry_count,
            self.max_retries,
            self.failed_at,
            self.created_at,
            self.failure,
        ]
    }
}

/// The refusal of a retry: the letter is not pending, or it was retried since the caller looked, and
/// another retry may have used the same generation.
pub(super) async fn refuse_retry(
    link: &mut Link,
    retry: &LetterRetry,
) -> Result<Option<PartOutcome>, Failed> {
    Ok(match standing(link, retry.id).await? {
        Some((LetterStatus::Pending, generation)) if generation == retry.expected_generation => {
            None
        }
        other => Some(not_pending(other)),
    })
}

pub(super) fn not_pending(standing: Option<(LetterStatus, u32)>) -> PartOutcome {
    PartOutcome::LetterNotPending(standing.map(|(status, _)| status))
}

/// Where a letter stands, and the highest generation that its retries have used.
pub(super) async fn standing(
    link: &mut Link,
    id: DlqId,
) -> Result<Option<(LetterStatus, u32)>, Failed> {
    let rows = link
        .ask(Query::new(STANDING, values![uuid(id.as_bytes())]))
        .await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    Ok(Some((
        word(row, 0, LetterStatus::from_name)?,
        small(row, 1)?,
    )))
}

/// The letter, which is pending, is being retried by this execution.
pub(super) async fn retry(
    link: &mut Link,
    order: &Order,
    retry: &LetterRetry,
    by: ExecutionId,
) -> Result<(), Failed> {
    move_count(link, order, retry.id, LetterStatus::Retrying).await?;
    let values = values![
        uuid(retry.id.as_bytes()),
        order.now.as_micros(),
        retry.by.as_bytes(),
        uuid(by.as_bytes()),
        signed_small(retry.generation),
    ];
    link.ask(Query::new(RETRY, values)).await?;
    let values = values![
        uuid(retry.id.as_bytes()),
        uuid(by.as_bytes()),
        order.now.as_micros(),
        retry.by.as_bytes(),
        retry.from.name(),
        retry.edited,
    ];
    link.ask(Query::new(KEEP_RETRY, values)).await?;
    Ok(())
}

/// A person gives a letter up.
pub(super) async fn delete(
    link: &mut Link,
    order: &Order,
    id: DlqId,
    by: &str,
) -> Result<PartOutcome, Failed> {
    match standing(link, id).await? {
        Some((LetterStatus::Pending, _)) => {}
        other => return Ok(not_pending(other)),
    }
    move_count(link, order, id, LetterStatus::Deleted).await?;
    let values = values![uuid(id.as_bytes()), order.now.as_micros(), by.as_bytes()];
    link.ask(Query::new(DELETE, values)).await?;
    Ok(PartOutcome::Done)
}

/// What the end of an execution does to letters.
pub(super) async fn of_end(
    link: &mut Link,
    order: &Order,
    status: Status,
    new: Option<&Letter>,
    settle: Option<&SettleLetter>,
) -> Result<(), Failed> {
    if let Some(letter) = new {
        let mut letters = Letters::default();
        letters.push(link, order, uuid(letter.execution.as_bytes()), letter);
        let mut values = values![order.shard];
        values.extend(letters.values());
        link.ask(Query::new(INSERT, values)).await?;
    }
    if let Some(settlement) = settle {
        settle_letter(link, order, status, settlement).await?;
    }
    Ok(())
}

/// The letter is resolved or pending again, if it still is what this execution retries.
async fn settle_letter(
    link: &mut Link,
    order: &Order,
    status: Status,
    settle: &SettleLetter,
) -> Result<(), Failed> {
    let id = uuid(settle.id.as_bytes());
    let by = uuid(settle.execution.as_bytes());
    let retried = link.ask(Query::new(IS_RETRIED_BY, values![id, by])).await?;
    if retried.is_empty() {
        return Ok(());
    }
    let end = values![id, by, status.name(), order.now.as_micros()];
    link.ask(Query::new(END_RETRY, end)).await?;
    let change = if settle.resolved {
        move_count(link, order, settle.id, LetterStatus::Resolved).await?;
        Query::new(RESOLVE, values![id, order.now.as_micros()])
    } else {
        move_count(link, order, settle.id, LetterStatus::Pending).await?;
        Query::new(PENDING_AGAIN, values![id])
    };
    link.ask(change).await?;
    Ok(())
}

/// Must come before the change itself.
async fn move_count(
    link: &mut Link,
    order: &Order,
    id: DlqId,
    to: LetterStatus,
) -> Result<(), Failed> {
    let values = values![uuid(id.as_bytes()), to.name(), order.shard];
    link.ask(Query::new(MOVE_COUNT, values)).await?;
    Ok(())
}
