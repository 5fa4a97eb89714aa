//! Work: how attempts begin and are given back, and changes that depend on the rows that are there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use refire_core::execution::Status;
use refire_core::id::{ExecutionId, NodeId};
use tokio_postgres::Row;
use uuid::Uuid;

use super::arrays::{Parameter, statement};
use super::link::{Link, Query, values};
use super::rows::Puts;
use super::{Failed, Order};
use crate::postgres::columns::{signed_small, small, uuid};
use crate::{Begin, PartOutcome, Release, WorkChange};

const BEGIN: &str = "UPDATE work SET begun = true, begun_at = coalesce(begun_at, $5)
      FROM unnest($1::uuid[], $2::text[], $3::integer[], $4::uuid[])
        AS given (execution, step, attempt, owner)
     WHERE work.execution = given.execution AND work.step = given.step
       AND work.execution = ANY($1)
       AND work.attempt = given.attempt AND work.owner = given.owner
    RETURNING work.execution, work.step, work.attempt, work.owner";

/// A pause on another node is waited for: what it holds must not be given to anybody.
const RELEASE: &str = "WITH held AS MATERIALIZED (
        SELECT id, status FROM executions WHERE id = ANY($5::uuid[]) ORDER BY id FOR SHARE
     ), dropped AS (
        DELETE FROM work USING unnest($1::uuid[], $2::text[], $3::uuid[])
            AS given (execution, step, owner)
         WHERE work.execution = given.execution AND work.step = given.step
           AND work.execution = ANY($5) AND work.owner = given.owner
           AND (given.execution IN (SELECT id FROM held WHERE status = $7)) IS TRUE
     )
     UPDATE work SET owner = NULL, begun = false, begun_at = NULL, claim = NULL,
            due_at = coalesce(given.due_at, nullif(work.due_at, -9223372036854775808), $6::bigint)
       FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::bigint[])
         AS given (execution, step, owner, due_at)
      WHERE work.execution = given.execution AND work.step = given.step
        AND work.execution = ANY($5) AND work.owner = given.owner
        AND (given.execution IN (SELECT id FROM held WHERE status = $7)) IS NOT TRUE";

fn put(unless: &str) -> String {
    let text = "INSERT INTO work ({work.names}) SELECT * FROM {work}
    ON CONFLICT (execution, step) DO UPDATE SET {work.replaced!execution,step}, claim = NULL";
    statement(text, &[Parameter::Arrays("work", Puts::COLUMNS)]) + unless
}

static PUT: LazyLock<String> = LazyLock::new(|| put(""));

/// A put that leaves the very attempt that is running as it is.
static RESTORE: LazyLock<String> =
    LazyLock::new(|| put(" WHERE NOT (work.begun AND work.attempt = excluded.attempt)"));

const LOCK_EXECUTION: &str = "SELECT 1 FROM executions WHERE id = $1 FOR NO KEY UPDATE";
const LOCK_WORK: &str =
    "SELECT step, attempt, begun FROM work WHERE execution = $1 ORDER BY step FOR UPDATE";

const REMOVE: &str = "DELETE FROM work WHERE execution = $1 AND step = $2";
const REMOVE_UNBEGUN: &str = "DELETE FROM work WHERE execution = $1 AND NOT begun";
const REMOVE_ALL: &str = "DELETE FROM work WHERE execution = $1";

/// An attempt that begins.
type Beginning<'a> = (Uuid, &'a str, i32, Uuid);

fn beginnings(begin: &Begin) -> impl Iterator<Item = Beginning<'_>> {
    let node = uuid(begin.node.as_bytes());
    begin.work.iter().map(move |(key, attempt)| {
        let execution = uuid(key.execution.as_bytes());
        (execution, key.step.as_str(), signed_small(*attempt), node)
    })
}

/// Attempts of several parts that begin: it does not matter in which order, nor how often it is said.
#[derive(Default)]
pub(super) struct Begins<'a> {
    parts: Vec<(usize, &'a Begin)>,
}

impl<'a> Begins<'a> {
    pub(super) fn push(&mut self, place: usize, begin: &'a Begin) {
        self.parts.push((place, begin));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn query(&self, order: &Order) -> Query<'a> {
        let all: BTreeSet<Beginning<'a>> = self
            .parts
            .iter()
            .flat_map(|(_, begin)| beginnings(begin))
            .collect();
        let (mut executions, mut steps) = (Vec::new(), Vec::new());
        let (mut attempts, mut owners) = (Vec::new(), Vec::new());
        for (execution, step, attempt, owner) in all {
            executions.push(execution);
            steps.push(step);
            attempts.push(attempt);
            owners.push(owner);
        }
        let now = order.now.as_micros();
        Query::new(BEGIN, values![executions, steps, attempts, owners, now])
    }

    pub(super) fn read(
        &self,
        rows: &[Row],
        outcomes: &mut [Option<PartOutcome>],
    ) -> Result<(), tokio_postgres::Error> {
        let mut begun: BTreeSet<Beginning<'_>> = BTreeSet::new();
        for row in rows {
            begun.insert((
                row.try_get(0)?,
                row.try_get(1)?,
                row.try_get(2)?,
                row.try_get(3)?,
            ));
        }
        for (place, begin) in &self.parts {
            let told = beginnings(begin).map(|one| begun.contains(&one)).collect();
            outcomes[*place] = Some(PartOutcome::Begun(told));
        }
        Ok(())
    }
}

/// Work of several parts that is given back. Whoever has a row gives it back once: what is said about
/// it later finds it unowned.
#[derive(Default)]
pub(super) struct Releases<'a> {
    places: Vec<usize>,
    work: BTreeMap<(ExecutionId, &'a str, NodeId), Option<i64>>,
}

impl<'a> Releases<'a> {
    pub(super) fn push(&mut self, place: usize, release: &'a Release) {
        self.places.push(place);
        for (key, due_at) in &release.work {
            let name = (key.execution, key.step.as_str(), release.node);
            let due_at = due_at.map(|at| at.as_micros());
            self.work.entry(name).or_insert(due_at);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(super) fn query(&self, order: &Order) -> Query<'a> {
        let (mut executions, mut steps) = (Vec::new(), Vec::new());
        let (mut owners, mut due_at) = (Vec::new(), Vec::new());
        for ((execution, step, owner), due) in &self.work {
            executions.push(uuid(execution.as_bytes()));
            steps.push(*step);
            owners.push(uuid(owner.as_bytes()));
            due_at.push(*due);
        }
        let mut ids = executions.clone();
        ids.dedup();
        let (now, paused) = (order.now.as_micros(), Status::Paused.name());
        Query::new(
            RELEASE,
            values![executions, steps, owners, due_at, ids, now, paused],
        )
    }

    pub(super) fn read(&self, outcomes: &mut [Option<PartOutcome>]) {
        for place in &self.places {
            outcomes[*place] = Some(PartOutcome::Done);
        }
    }
}

/// The work of an execution that has begun, in order of the steps. It stays like this until the commit:
/// who begins another one on another node waits, and then finds that it is gone.
pub(super) async fn begun_of(
    link: &mut Link,
    id: ExecutionId,
) -> Result<Vec<(String, u32)>, Failed> {
    let execution = uuid(id.as_bytes());
    // The execution first, as everybody does.
    link.ask(Query::new(LOCK_EXECUTION, values![execution]))
        .await?;
    let mut begun = Vec::new();
    for row in link.ask(Query::new(LOCK_WORK, values![execution])).await? {
        if row.try_get(2)? {
            begun.push((row.try_get(0)?, small(&row, 1)?));
        }
    }
    begun.sort_unstable();
    Ok(begun)
}

/// Changes the work of an execution one change after the other.
pub(super) async fn change(
    link: &mut Link,
    id: ExecutionId,
    changes: &[WorkChange],
) -> Result<(), Failed> {
    let execution = uuid(id.as_bytes());
    for change in changes {
        let query = match change {
            WorkChange::Put(row) | WorkChange::Restore(row) => {
                let mut puts = Puts::default();
                puts.push(link, row);
                let is_put = matches!(change, WorkChange::Put(_));
                Query::new(if is_put { &PUT } else { &RESTORE }, puts.values())
            }
            WorkChange::Remove { step } => Query::new(REMOVE, values![execution, step.as_str()]),
            WorkChange::RemoveUnbegun => Query::new(REMOVE_UNBEGUN, values![execution]),
            WorkChange::RemoveAll => Query::new(REMOVE_ALL, values![execution]),
        };
        link.ask(query).await?;
    }
    Ok(())
}
