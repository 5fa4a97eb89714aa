//! Dead letters: made by executions that failed, retried or given up by people.
//!
//! Every change of a letter's status moves one count of `dlq_counts` along with it, in this
//! connection's own shard: one of them may be below zero, the sum never is.

use refire_core::dead_letter::{Letter, LetterState};
use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId};

use super::link::{Link, Query, values};
use super::{Failed, Order};
use crate::column::read_at;
use crate::table::column::Id;
use crate::table::rows::{LetterStates, Letters, Retries, RetryEnds};
use crate::table::statement::statements;
use crate::{LetterRetry, PartOutcome, SettleLetter};

/// Where a letter stands, kept so until the commit ends.
const STATE: &str = "SELECT status, generation, retry_attempted_at, retry_attempted_by,
        resolution_execution, resolved_at, resolved_by, deleted_at, deleted_by
      FROM dead_letter_queue WHERE id = $1 FOR NO KEY UPDATE";

/// Counts a letter under the status it is about to get, and no more under the one it has. In the
/// order of the statuses, as all others do it.
const MOVE_COUNT: &str = "INSERT INTO dlq_counts (workflow, error_type, error_code, status, shard, n)
    SELECT letter.workflow, letter.error_type, coalesce(letter.error_code, ''), moved.status, $3, moved.n
      FROM dead_letter_queue AS letter, LATERAL (VALUES (letter.status, -1), ($2::text, 1))
        AS moved (status, n)
     WHERE letter.id = $1 ORDER BY moved.status COLLATE \"C\"
    ON CONFLICT (workflow, error_type, error_code, status, shard)
        DO UPDATE SET n = dlq_counts.n + excluded.n";

statements! {
    PUT_STATE: postgres(state: LetterStates) =
        "UPDATE dead_letter_queue SET {state.set!id} FROM {state}
     WHERE dead_letter_queue.id = given.id AND dead_letter_queue.id = ANY({state.id})";

    KEEP_RETRY: postgres(retry: Retries) =
        "INSERT INTO dead_letter_retries ({retry.names}) SELECT * FROM {retry}";

    END_RETRY: postgres(end: RetryEnds) =
        "UPDATE dead_letter_retries SET {end.set!letter,execution} FROM {end}
     WHERE dead_letter_retries.letter = given.letter
       AND dead_letter_retries.execution = given.execution
       AND dead_letter_retries.letter = ANY({end.letter})";

    INSERT: postgres(shard, letters: Letters) =
        "WITH letters AS (
        INSERT INTO dead_letter_queue ({letters.names}) SELECT * FROM {letters}
        RETURNING workflow, error_type, coalesce(error_code, '') AS error_code, status
     )
     INSERT INTO dlq_counts (workflow, error_type, error_code, status, shard, n)
     SELECT workflow, error_type, error_code, status, {shard}::smallint, 1 FROM letters
     ON CONFLICT (workflow, error_type, error_code, status, shard)
        DO UPDATE SET n = dlq_counts.n + excluded.n";
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
    let query = Query::new(STATE, values![Id::from(id)]);
    let rows = link.ask(query).await?;
    Ok(rows.first().map(|row| read_at(row, 0)).transpose()?)
}

pub(super) async fn put_state(
    link: &mut Link,
    order: &Order,
    id: DlqId,
    state: &LetterState,
) -> Result<(), Failed> {
    let count = values![Id::from(id), state.status.name(), order.shard];
    link.ask(Query::new(MOVE_COUNT, count)).await?;
    let mut states = LetterStates::default();
    states.push(id, state);
    link.ask(Query::new(&PUT_STATE, states.values())).await?;
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
    let mut retries = Retries::default();
    retries.push(retry, by, order.now);
    link.ask(Query::new(&KEEP_RETRY, retries.values())).await?;
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

pub(super) async fn insert(link: &mut Link, order: &Order, letter: &Letter) -> Result<(), Failed> {
    let mut letters = Letters::default();
    letters.push(link.key(&letter.workflow), letter, order.now);
    let insert = Query::of(&INSERT, [values![order.shard], letters.values()]);
    link.ask(insert).await?;
    Ok(())
}

/// The letter is resolved or pending again, if it still is what this execution retries.
pub(super) async fn settle(
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
    let mut end = RetryEnds::default();
    end.push(settle, status, order.now);
    link.ask(Query::new(&END_RETRY, end.values())).await?;
    put_state(link, order, settle.id, &settled).await
}
