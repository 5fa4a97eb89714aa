//! Executions that move on, many in one statement.

use std::collections::HashSet;

use refire_core::id::ExecutionId;
use tokio_postgres::{Error, Row};
use uuid::Uuid;

use super::Order;
use super::admit::Of;
use super::changes::Changes;
use super::link::{Link, Query, values};
use crate::postgres::columns::{signed, uuid};
use crate::table::column::{Id, columns};
use crate::table::rows::{Events, Letters, Notices, Updates, Work};
use crate::table::statement::statements;
use crate::{Advance, PartOutcome};

/// One statement with what follows it. Rows are changed in the order of the arrays, which is that of
/// the keys: commits that meet wait for each other, but never crosswise. What was refused is not in
/// `moved`; the subqueries are wrapped so that they are hashed instead of joined.
macro_rules! moves {
    ($tail:literal) => {
        concat!(
            "WITH moved AS (
                UPDATE executions SET {updates.set!snapshot_crc,snapshot}, commit_id = {commit},
                    snapshot_version = CASE WHEN given.snapshot IS NULL
                        THEN executions.snapshot_version ELSE given.version END,
                    snapshot_crc = coalesce(given.snapshot_crc, executions.snapshot_crc),
                    snapshot = coalesce(given.snapshot, executions.snapshot)
                  FROM {moves+updates}
                 WHERE executions.id = given.id AND executions.id = ANY({moves.id})
                   AND executions.version = given.expected
                   AND (given.begun IS NULL OR given.begun = coalesce((
                       SELECT string_agg(held.step || '#' || held.attempt, ','
                              ORDER BY held.step COLLATE \"C\")
                         FROM (SELECT step, attempt FROM work
                                WHERE work.execution = given.id AND work.begun
                               UNION ALL
                               SELECT step, attempt FROM workflow_external_tasks AS task
                                WHERE task.execution = given.id AND task.status = 1) AS held), ''))
                RETURNING executions.id
             ), events AS (
                INSERT INTO workflow_events ({events.names}) SELECT * FROM {events}
                 WHERE (given.execution IN (SELECT id FROM moved)) IS TRUE
             ), removed AS (
                DELETE FROM work USING {removed}
                 WHERE work.execution = given.execution AND work.step = given.step
                   AND work.execution = ANY({removed.execution})
                   AND (given.execution IN (SELECT id FROM moved)) IS TRUE
             ), cleared AS (
                DELETE FROM work WHERE work.execution = ANY({cleared}::uuid[])
                   AND (work.execution IN (SELECT id FROM moved)) IS TRUE
             ), put AS (
                INSERT INTO work ({work.names}) SELECT * FROM {work}
                 WHERE (given.execution IN (SELECT id FROM moved)) IS TRUE
                ON CONFLICT (execution, step) DO UPDATE SET {work.replaced!execution,step},
                    claim = NULL
             )",
            $tail,
            "SELECT id FROM moved"
        )
    };
}

statements! {
    PLAIN: postgres(moves: Moves, commit, updates: Updates, events: Events, removed: Removed,
        cleared, work: Work) = moves!("");

    /// The same with dead letters and notices, each under the execution that made it.
    WITH_LETTERS: postgres(moves: Moves, commit, updates: Updates, events: Events, removed: Removed,
        cleared, work: Work, shard, of: Of, letters: Letters, told: Of, notices: Notices) = moves!(
        ", letters AS (
        INSERT INTO dead_letter_queue ({letters.names}) SELECT {letters.given}
          FROM {of+letters} WHERE (given.of IN (SELECT id FROM moved)) IS TRUE
        RETURNING workflow, error_type, coalesce(error_code, '') AS error_code, status
     ), counted AS (
        INSERT INTO dlq_counts (workflow, error_type, error_code, status, shard, n)
        SELECT workflow, error_type, error_code, status, {shard}::smallint, count(*) FROM letters
         GROUP BY workflow, error_type, error_code, status
         ORDER BY workflow, error_type, error_code
        ON CONFLICT (workflow, error_type, error_code, status, shard)
            DO UPDATE SET n = dlq_counts.n + excluded.n
     ), notices AS (
        INSERT INTO notify_queue ({notices.names}) SELECT {notices.given}
          FROM {told+notices} WHERE (given.of IN (SELECT id FROM moved)) IS TRUE
     )"
    );
}

columns! {
    /// Executions, as they are expected.
    struct Moves(advance: &'a Advance) {
        id: Id = advance.id.into(),
        expected: i64 = signed(advance.expected_version),
        begun: Option<String> = advance.begun.as_deref().map(as_text),
    }
}

columns! {
    /// Work that goes.
    struct Removed(execution: ExecutionId, step: &'a str) {
        execution: Id = execution.into(),
        step: &'a str = step,
    }
}

/// Advances of one statement. A join in it may cost the square of this.
const ADVANCES_MAX: usize = 128;

/// Advances that few statements write: of different executions, with work that has a whole.
#[derive(Default)]
pub(super) struct Advances<'a> {
    parts: Vec<(usize, &'a Advance, Changes<'a>)>,
}

impl<'a> Advances<'a> {
    pub(super) fn push(&mut self, place: usize, advance: &'a Advance, changes: Changes<'a>) {
        self.parts.push((place, advance, changes));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The part of this place is refused already.
    pub(super) fn leave_out(&mut self, place: usize) {
        self.parts.retain(|(of, ..)| *of != place);
    }

    /// Whether any of them says what must have begun.
    pub(super) fn compare_begun(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|(_, advance, _)| advance.begun.is_some())
    }

    /// Their answers are for [`Self::read`].
    pub(super) fn queries(&mut self, link: &Link, order: &Order) -> Vec<Query<'a>> {
        self.parts
            .sort_unstable_by_key(|(_, advance, _)| advance.id);
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
            for (place, advance, _) in parts {
                let is_moved = moved.contains(&uuid(advance.id.as_bytes()));
                outcomes[*place] = Some(if is_moved {
                    PartOutcome::Done
                } else {
                    PartOutcome::Conflict
                });
            }
        }
        Ok(())
    }
}

fn query<'a>(parts: &[(usize, &'a Advance, Changes<'a>)], link: &Link, order: &Order) -> Query<'a> {
    let (mut moves, mut updates) = (Moves::default(), Updates::default());
    let (mut events, mut removed) = (Events::default(), Removed::default());
    let (mut cleared, mut work) = (Vec::new(), Work::default());
    let (mut of, mut letters) = (Of::default(), Letters::default());
    let (mut told, mut notices) = (Of::default(), Notices::default());
    for (_, advance, changes) in parts {
        moves.push(advance);
        updates.push(advance.id, &advance.update);
        for event in &advance.events {
            events.push(advance.id, event);
        }
        for step in changes.removes() {
            removed.push(advance.id, step);
        }
        if changes.removes_all {
            cleared.push(Id::from(advance.id));
        }
        for row in changes.puts() {
            work.push(link.key(&row.workflow), row);
        }
        if let Some(letter) = &advance.new_letter {
            of.push(advance.id);
            letters.push(link.key(&letter.workflow), letter, order.now);
        }
        for notice in &advance.notices {
            told.push(advance.id);
            notices.push(notice);
        }
    }
    let mut values = moves.values();
    values.extend(values![order.commit]);
    values.extend(updates.values());
    values.extend(events.values());
    values.extend(removed.values());
    values.extend(values![cleared]);
    values.extend(work.values());
    if of.is_empty() && told.is_empty() {
        return Query::new(&PLAIN, values);
    }
    values.extend(values![order.shard]);
    values.extend(of.values());
    values.extend(letters.values());
    values.extend(told.values());
    values.extend(notices.values());
    Query::new(&WITH_LETTERS, values)
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
