//! Executions that move on, many in one statement.

use std::collections::HashSet;

use refire_core::dead_letter::Letter;
use tokio_postgres::{Error, Row};
use uuid::Uuid;

use super::Order;
use super::changes::Changes;
use super::letter::Letters;
use super::link::{Link, Query, values};
use super::rows::{Events, Puts, Updates};
use crate::postgres::columns::{signed, uuid};
use crate::{Advance, PartOutcome};

/// One statement with what follows it. Rows are changed in the order of the arrays, which is that of
/// the keys: commits that meet wait for each other, but never crosswise. What was refused is not in
/// `moved`; the subqueries are wrapped so that they are hashed instead of joined.
macro_rules! moves {
    ($($tail:literal)?) => {
        concat!(
            "WITH moved AS (
                UPDATE executions SET version = given.version, commit_id = $2,
                    status = given.status, phase = given.phase, updated_at = given.updated_at,
                    retry_count = given.retry_count, next_retry_at = given.next_retry_at,
                    snapshot_version = CASE WHEN given.snapshot IS NULL
                        THEN executions.snapshot_version ELSE given.version END,
                    snapshot_crc = coalesce(given.snapshot_crc, executions.snapshot_crc),
                    snapshot = coalesce(given.snapshot, executions.snapshot)
                  FROM unnest($1::uuid[], $3::bigint[], $4::bigint[], $5::text[], $6::text[],
                        $7::bigint[], $8::integer[], $9::bigint[], $10::bigint[], $11::bytea[],
                        $37::text[])
                    AS given (id, expected, version, status, phase, updated_at, retry_count,
                        next_retry_at, snapshot_crc, snapshot, begun)
                 WHERE executions.id = given.id AND executions.id = ANY($1)
                   AND executions.version = given.expected
                   AND (given.begun IS NULL OR given.begun = coalesce((
                       SELECT string_agg(work.step || '#' || work.attempt, ','
                              ORDER BY work.step COLLATE \"C\")
                         FROM work WHERE work.execution = given.id AND work.begun), ''))
                RETURNING executions.id
             ), events AS (
                INSERT INTO workflow_events (execution, sequence, type, v, at, step, attempt,
                    backoff_ms, reason, crc, payload)
                SELECT * FROM unnest($12::uuid[], $13::bigint[], $14::text[], $15::integer[],
                        $16::bigint[], $17::text[], $18::integer[], $19::bigint[], $20::bytea[],
                        $21::bigint[], $22::bytea[])
                    AS given (execution, sequence, type, v, at, step, attempt, backoff_ms, reason,
                        crc, payload)
                 WHERE (given.execution IN (SELECT id FROM moved)) IS TRUE
             ), removed AS (
                DELETE FROM work USING unnest($23::uuid[], $24::text[]) AS given (execution, step)
                 WHERE work.execution = given.execution AND work.step = given.step
                   AND work.execution = ANY($23)
                   AND (given.execution IN (SELECT id FROM moved)) IS TRUE
             ), cleared AS (
                DELETE FROM work WHERE work.execution = ANY($25::uuid[])
                   AND (work.execution IN (SELECT id FROM moved)) IS TRUE
             ), put AS (
                INSERT INTO work (execution, step, attempt, is_retry, workflow, priority, due_at,
                    limit_key, owner, begun, begun_at)
                SELECT * FROM unnest($26::uuid[], $27::text[], $28::integer[], $29::boolean[],
                        $30::bigint[], $31::smallint[], $32::bigint[], $33::bytea[], $34::uuid[],
                        $35::boolean[], $36::bigint[])
                    AS given (execution, step, attempt, is_retry, workflow, priority, due_at,
                        limit_key, owner, begun, begun_at)
                 WHERE (given.execution IN (SELECT id FROM moved)) IS TRUE
                ON CONFLICT (execution, step) DO UPDATE SET attempt = excluded.attempt,
                    is_retry = excluded.is_retry, workflow = excluded.workflow,
                    priority = excluded.priority, due_at = excluded.due_at,
                    limit_key = excluded.limit_key, owner = excluded.owner,
                    begun = excluded.begun, begun_at = excluded.begun_at, claim = NULL
             )",
            $($tail,)?
            "SELECT id FROM moved"
        )
    };
}

const PLAIN: &str = moves!();

/// The same with dead letters, each under the execution that made it.
const WITH_LETTERS: &str = moves!(
    ", letters AS (
        INSERT INTO dead_letter_queue (id, execution, workflow, workflow_name, step, reason,
            error_type, error_code, error_message, fingerprint, retry_count, max_retries, status,
            failed_at, created_at, failure)
        SELECT given.id, given.execution, given.workflow, given.workflow_name, given.step,
            given.reason, given.error_type, given.error_code, given.error_message,
            given.fingerprint, given.retry_count, given.max_retries, given.status, given.failed_at,
            given.created_at, given.failure
          FROM unnest($39::uuid[], $40::uuid[], $41::uuid[], $42::bigint[], $43::bytea[],
                $44::text[], $45::text[], $46::text[], $47::bytea[], $48::bytea[], $49::bigint[],
                $50::integer[], $51::integer[], $52::bigint[], $53::bigint[], $54::bytea[],
                $55::text[])
            AS given (of, id, execution, workflow, workflow_name, step, reason, error_type,
                error_code, error_message, fingerprint, retry_count, max_retries, failed_at,
                created_at, failure, status)
         WHERE (given.of IN (SELECT id FROM moved)) IS TRUE
        RETURNING workflow, error_type, coalesce(error_code, '') AS error_code, status
     ), counted AS (
        INSERT INTO dlq_counts (workflow, error_type, error_code, status, shard, n)
        SELECT workflow, error_type, error_code, status, $38::smallint, count(*) FROM letters
         GROUP BY workflow, error_type, error_code, status
         ORDER BY workflow, error_type, error_code
        ON CONFLICT (workflow, error_type, error_code, status, shard)
            DO UPDATE SET n = dlq_counts.n + excluded.n
     )"
);

struct Moving<'a> {
    place: usize,
    advance: &'a Advance,
    changes: Changes<'a>,
    letter: Option<&'a Letter>,
}

/// Advances of one statement. A join in it may cost the square of this.
const ADVANCES_MAX: usize = 128;

/// Advances that few statements write: of different executions, with work that has a whole.
#[derive(Default)]
pub(super) struct Advances<'a> {
    parts: Vec<Moving<'a>>,
}

impl<'a> Advances<'a> {
    /// The letter is written along with it.
    pub(super) fn push(
        &mut self,
        place: usize,
        advance: &'a Advance,
        changes: Changes<'a>,
        letter: Option<&'a Letter>,
    ) {
        self.parts.push(Moving {
            place,
            advance,
            changes,
            letter,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether any of them says what must have begun.
    pub(super) fn compare_begun(&self) -> bool {
        self.parts.iter().any(|part| part.advance.begun.is_some())
    }

    /// Their answers are for [`Self::read`].
    pub(super) fn queries(&mut self, link: &Link, order: &Order) -> Vec<Query<'a>> {
        self.parts.sort_unstable_by_key(|part| part.advance.id);
        let chunks = self.parts.chunks(ADVANCES_MAX);
        chunks.map(|parts| query(parts, link, order)).collect()
    }

    /// What became of the parts.
    pub(super) fn read(
        &self,
        answers: &mut impl Iterator<Item = Vec<Row>>,
        outcomes: &mut [Option<PartOutcome>],
    ) -> Result<(), Error> {
        for parts in self.parts.chunks(ADVANCES_MAX) {
            let moved = ids(&answers.next().unwrap_or_default())?;
            for part in parts {
                let is_moved = moved.contains(&uuid(part.advance.id.as_bytes()));
                outcomes[part.place] = Some(if is_moved {
                    PartOutcome::Done
                } else {
                    PartOutcome::Conflict
                });
            }
        }
        Ok(())
    }
}

fn query<'a>(parts: &[Moving<'a>], link: &Link, order: &Order) -> Query<'a> {
    let (mut ids, mut expected, mut begun) = (Vec::new(), Vec::new(), Vec::new());
    let (mut updates, mut events) = (Updates::default(), Events::default());
    let (mut removed, mut removed_steps): (Vec<Uuid>, Vec<&'a str>) = (Vec::new(), Vec::new());
    let (mut cleared, mut puts) = (Vec::new(), Puts::default());
    let mut letters = Letters::default();
    for part in parts {
        let (advance, changes) = (part.advance, &part.changes);
        let id = uuid(advance.id.as_bytes());
        ids.push(id);
        expected.push(signed(advance.expected_version));
        begun.push(advance.begun.as_deref().map(as_text));
        updates.push(advance.id, &advance.update);
        events.push(advance.id, &advance.events);
        for step in changes.removes() {
            removed.push(id);
            removed_steps.push(step);
        }
        if changes.removes_all {
            cleared.push(id);
        }
        for row in changes.puts() {
            puts.push(link, row);
        }
        if let Some(letter) = part.letter {
            letters.push(link, order, id, letter);
        }
    }
    let mut values = values![ids, order.commit, expected];
    values.extend(updates.values());
    values.extend(events.values());
    values.extend(values![removed, removed_steps, cleared]);
    values.extend(puts.values());
    values.extend(values![begun]);
    if letters.is_empty() {
        return Query::new(PLAIN, values);
    }
    values.extend(values![order.shard]);
    values.extend(letters.values());
    Query::new(WITH_LETTERS, values)
}

/// Attempts as the statement puts them: names of steps have neither of these signs.
fn as_text(begun: &[(String, u32)]) -> String {
    let attempts = begun
        .iter()
        .map(|(step, attempt)| format!("{step}#{attempt}"));
    attempts.collect::<Vec<_>>().join(",")
}

/// The first column as a set of ids.
pub(super) fn ids(rows: &[Row]) -> Result<HashSet<Uuid>, Error> {
    rows.iter().map(|row| row.try_get(0)).collect()
}
