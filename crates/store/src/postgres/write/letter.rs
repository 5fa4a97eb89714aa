//! Dead letters: made by executions that failed, retried or given up by people.
//!
//! Every change of a letter's status moves one count of `dlq_counts` along with it, in this
//! connection's own shard: one of them may be below zero, the sum never is.

use std::sync::LazyLock;

use refire_core::dead_letter::{Letter, LetterState, LetterStatus};
use refire_core::definition::StepId;
use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId};
use refire_core::time::Timestamp;
use uuid::Uuid;

use super::arrays::{Parameter, columns, statement};
use super::ledger::id_of;
use super::link::{Link, Query, values};
use super::{Failed, Order};
use crate::column::read_at;
use crate::postgres::columns::{signed_small, uuid};
use crate::{LetterRetry, PartOutcome, SettleLetter};

/// Where a letter stands, kept so until the commit ends.
const STATE: &str = "SELECT status, generation, retry_attempted_at, retry_attempted_by,
        resolution_execution, resolved_at, resolved_by, deleted_at, deleted_by
      FROM dead_letter_queue WHERE id = $1 FOR NO KEY UPDATE";

const PUT_STATE: &str = "UPDATE dead_letter_queue SET status = $2, generation = $3,
        retry_attempted_at = $4, retry_attempted_by = $5, resolution_execution = $6,
        resolved_at = $7, resolved_by = $8, deleted_at = $9, deleted_by = $10
     WHERE id = $1";

/// Counts a letter under the status it is about to get, and no more under the one it has. In the
/// order of the statuses, as all others do it.
const MOVE_COUNT: &str = "INSERT INTO dlq_counts (workflow, error_type, error_code, status, shard, n)
    SELECT letter.workflow, letter.error_type, coalesce(letter.error_code, ''), moved.status, $3, moved.n
      FROM dead_letter_queue AS letter, LATERAL (VALUES (letter.status, -1), ($2::text, 1))
        AS moved (status, n)
     WHERE letter.id = $1 ORDER BY moved.status COLLATE \"C\"
    ON CONFLICT (workflow, error_type, error_code, status, shard)
        DO UPDATE SET n = dlq_counts.n + excluded.n";

const KEEP_RETRY: &str = "INSERT INTO dead_letter_retries
        (letter, execution, retried_at, retried_by, retried_from, edited)
     VALUES ($1, $2, $3, $4, $5, $6)";

const END_RETRY: &str = "UPDATE dead_letter_retries SET ended_as = $3, ended_at = $4
     WHERE letter = $1 AND execution = $2";

static INSERT: LazyLock<String> = LazyLock::new(|| {
    let text = "WITH letters AS (
        INSERT INTO dead_letter_queue ({letters.names!of}) SELECT {letters.given!of} FROM {letters}
        RETURNING workflow, error_type, coalesce(error_code, '') AS error_code, status
     )
     INSERT INTO dlq_counts (workflow, error_type, error_code, status, shard, n)
     SELECT workflow, error_type, error_code, status, {shard}::smallint, 1 FROM letters
     ON CONFLICT (workflow, error_type, error_code, status, shard)
        DO UPDATE SET n = dlq_counts.n + excluded.n";
    let letters = Parameter::Arrays("letters", Letters::COLUMNS);
    statement(text, &[Parameter::One("shard"), letters])
});

columns! {
    /// New letters, each under the execution that made it.
    pub(super) struct Letters(link: &Link, order: &Order, of: Uuid, letter: &'a Letter) {
        of: Uuid = of,
        id: Uuid = uuid(letter.id.as_bytes()),
        execution: Uuid = uuid(letter.execution.as_bytes()),
        workflow: Option<i64> = link.key(&letter.workflow),
        workflow_name: &'a [u8] = letter.workflow_name.as_bytes(),
        step: Option<&'a str> = letter.step.as_ref().map(StepId::as_str),
        reason: &'static str = letter.reason.name(),
        error_type: &'static str = letter.failure.class.name(),
        error_code: Option<&'a [u8]> = letter.failure.code.as_deref().map(str::as_bytes),
        error_message: &'a [u8] = letter.failure.message.as_bytes(),
        fingerprint: i64 = letter.fingerprint.cast_signed(),
        retry_count: i32 = signed_small(letter.retry_count),
        max_retries: i32 = signed_small(letter.max_retries),
        failed_at: i64 = letter.failed_at.as_micros(),
        created_at: i64 = order.now.as_micros(),
        // A plain struct of texts and numbers: writing it as JSON cannot fail.
        failure: Vec<u8> = serde_json::to_vec(&letter.failure).unwrap_or_default(),
        status: &'static str = LetterStatus::default().name(),
    }
}

impl Letters<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.id.is_empty()
    }
}

/// The refusal of a retry: the letter is not pending, or it was retried since the caller looked.
pub(super) async fn refuse_retry(
    link: &mut Link,
    retry: &LetterRetry,
) -> Result<Option<PartOutcome>, Failed> {
    Ok(match state(link, retry.id).await? {
        Some(state) if state.may_be_retried(retry.expected_generation) => None,
        other => Some(PartOutcome::LetterNotPending(other.map(|it| it.status))),
    })
}

pub(super) async fn state(link: &mut Link, id: DlqId) -> Result<Option<LetterState>, Failed> {
    let query = Query::new(STATE, values![uuid(id.as_bytes())]);
    let rows = link.ask(query).await?;
    Ok(rows.first().map(|row| read_at(row, 0)).transpose()?)
}

async fn put_state(
    link: &mut Link,
    order: &Order,
    id: DlqId,
    state: &LetterState,
) -> Result<(), Failed> {
    let key = uuid(id.as_bytes());
    let count = values![key, state.status.name(), order.shard];
    link.ask(Query::new(MOVE_COUNT, count)).await?;
    let at = |when: &Option<(Timestamp, String)>| when.as_ref().map(|(at, _)| at.as_micros());
    let by =
        |who: &Option<(Timestamp, String)>| who.as_ref().map(|(_, by)| by.clone().into_bytes());
    let values = values![
        key,
        state.status.name(),
        signed_small(state.generation),
        at(&state.retry_attempted),
        by(&state.retry_attempted),
        state.resolution_execution.as_ref().map(id_of),
        at(&state.resolved),
        by(&state.resolved),
        at(&state.deleted),
        by(&state.deleted),
    ];
    link.ask(Query::new(PUT_STATE, values)).await?;
    Ok(())
}

/// The letter, which is pending, is being retried by this execution.
pub(super) async fn retry(
    link: &mut Link,
    order: &Order,
    retry: &LetterRetry,
    by: ExecutionId,
) -> Result<(), Failed> {
    if let Some(state) = state(link, retry.id).await? {
        let state = state.retried(retry.by.clone(), by, retry.generation, order.now);
        put_state(link, order, retry.id, &state).await?;
    }
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
    let state = state(link, id).await?;
    let status = state.as_ref().map(|state| state.status);
    let Some(gone) = state.and_then(|state| state.given_up(by.to_owned(), order.now)) else {
        return Ok(PartOutcome::LetterNotPending(status));
    };
    put_state(link, order, id, &gone).await?;
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
        link.ask(Query::new(&INSERT, values)).await?;
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
    let state = state(link, settle.id).await?;
    let settled =
        state.and_then(|state| state.settled(settle.execution, settle.resolved, order.now));
    let Some(settled) = settled else {
        return Ok(());
    };
    let end = values![
        uuid(settle.id.as_bytes()),
        uuid(settle.execution.as_bytes()),
        status.name(),
        order.now.as_micros()
    ];
    link.ask(Query::new(END_RETRY, end)).await?;
    put_state(link, order, settle.id, &settled).await
}
