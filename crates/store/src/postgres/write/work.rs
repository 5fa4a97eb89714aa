//! Work: how attempts begin and are given back, and changes that depend on the rows that are there.

use std::collections::{BTreeMap, BTreeSet};

use refire_core::execution::Status;
use refire_core::id::{ExecutionId, NodeId};
use refire_core::time::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use super::link::{Link, Query, values};
use super::{Failed, Order, task};
use crate::column::read_at;
use crate::postgres::columns::{execution_id, get, small, uuid};
use crate::table::rows::{Beginnings, GivenBack, Work};
use crate::table::statement::statements;
use crate::{Begin, PartOutcome, Release, WorkChange};

macro_rules! put {
    ($unless:literal) => {
        concat!(
            "INSERT INTO work ({work.names}) SELECT * FROM {work}
    ON CONFLICT (execution, step) DO UPDATE SET {work.replaced!execution,step}, claim = NULL",
            $unless
        )
    };
}

statements! {
    BEGIN: postgres(work: Beginnings, now) =
        "UPDATE work SET begun = true, begun_at = coalesce(begun_at, {now}) FROM {work}
     WHERE work.execution = given.execution AND work.step = given.step
       AND work.execution = ANY({work.execution})
       AND work.attempt = given.attempt AND work.owner = given.owner
    RETURNING work.execution, work.step, work.attempt, work.owner";

    /// A pause on another node is waited for: what it holds must not be given to anybody.
    RELEASE: postgres(work: GivenBack, executions, now, paused) =
        "WITH held AS MATERIALIZED (
        SELECT id, status FROM executions WHERE id = ANY({executions}::uuid[])
         ORDER BY id FOR SHARE
     ), dropped AS (
        DELETE FROM work USING {work}
         WHERE work.execution = given.execution AND work.step = given.step
           AND work.execution = ANY({executions}) AND work.owner = given.owner
           AND (given.execution IN (SELECT id FROM held WHERE status = {paused})) IS TRUE
     )
     UPDATE work SET owner = NULL, begun = false, begun_at = NULL, claim = NULL,
            due_at = coalesce(given.due_at, nullif(work.due_at, -9223372036854775808),
                {now}::bigint)
       FROM {work}
      WHERE work.execution = given.execution AND work.step = given.step
        AND work.execution = ANY({executions}) AND work.owner = given.owner
        AND (given.execution IN (SELECT id FROM held WHERE status = {paused})) IS NOT TRUE";

    PUT: postgres(work: Work) = put!("");

    /// A put that leaves the very attempt that is running as it is.
    RESTORE: postgres(work: Work) =
        put!(" WHERE NOT (work.begun AND work.attempt = excluded.attempt)");
}

const LOCK_EXECUTION: &str = "SELECT 1 FROM executions WHERE id = $1 FOR NO KEY UPDATE";
const LOCK_WORK: &str =
    "SELECT step, attempt, begun FROM work WHERE execution = $1 ORDER BY step FOR UPDATE";

const REMOVE: &str = "DELETE FROM work WHERE execution = $1 AND step = $2";
const REMOVE_UNBEGUN: &str = "DELETE FROM work WHERE execution = $1 AND NOT begun";
const REMOVE_ALL: &str = "DELETE FROM work WHERE execution = $1";

/// An attempt that begins.
type Beginning<'a> = (ExecutionId, &'a str, u32, NodeId);

fn beginnings(begin: &Begin) -> impl Iterator<Item = Beginning<'_>> {
    let work = begin.work.iter();
    work.map(|(key, attempt)| (key.execution, key.step.as_str(), *attempt, begin.node))
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
        let mut rows = Beginnings::default();
        for (execution, step, attempt, node) in all {
            rows.push(execution, step, attempt, node);
        }
        Query::of(&BEGIN, [rows.values(), values![order.now.as_micros()]])
    }

    pub(super) fn read(
        &self,
        rows: &[Row],
        outcomes: &mut [Option<PartOutcome>],
    ) -> Result<(), Failed> {
        let mut begun: BTreeSet<Beginning<'_>> = BTreeSet::new();
        for row in rows {
            let (execution, node) = (execution_id(row, 0)?, read_at(row, 3)?);
            begun.insert((execution, get(row, 1)?, small(row, 2)?, node));
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
    work: BTreeMap<(ExecutionId, &'a str, NodeId), Option<Timestamp>>,
}

impl<'a> Releases<'a> {
    pub(super) fn push(&mut self, place: usize, release: &'a Release) {
        self.places.push(place);
        for (key, due_at) in &release.work {
            let name = (key.execution, key.step.as_str(), release.node);
            self.work.entry(name).or_insert(*due_at);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(super) fn query(&self, order: &Order) -> Query<'a> {
        let mut rows = GivenBack::default();
        for ((execution, step, node), due_at) in &self.work {
            rows.push(*execution, step, *node, *due_at);
        }
        let executions = self.work.keys().map(|(id, ..)| uuid(id.as_bytes()));
        let mut executions: Vec<Uuid> = executions.collect();
        executions.dedup();
        let own = values![executions, order.now.as_micros(), Status::Paused.name()];
        Query::of(&RELEASE, [rows.values(), own])
    }

    pub(super) fn read(&self, outcomes: &mut [Option<PartOutcome>]) {
        for place in &self.places {
            outcomes[*place] = Some(PartOutcome::Done);
        }
    }
}

/// The work of an execution that has begun and its tasks that workers have, in order of the steps. It stays like this until the commit:
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
    begun.extend(task::held_of(link, id).await?);
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
                let mut work = Work::default();
                work.push(link.key(&row.workflow), row);
                let is_put = matches!(change, WorkChange::Put(_));
                Query::new(if is_put { &PUT } else { &RESTORE }, work.values())
            }
            WorkChange::Remove { step } => Query::new(REMOVE, values![execution, step.as_str()]),
            WorkChange::RemoveUnbegun => Query::new(REMOVE_UNBEGUN, values![execution]),
            WorkChange::RemoveAll => Query::new(REMOVE_ALL, values![execution]),
        };
        link.ask(query).await?;
    }
    Ok(())
}
