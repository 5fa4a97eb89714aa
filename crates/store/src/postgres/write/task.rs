//! Tasks: what a decision changes in them, how workers get them and what they say of them. Rows are read,
//! changed by what all backends share, and written as a whole.

use std::collections::HashMap;
use std::sync::OnceLock;

use refire_core::id::{ExecutionId, TaskId};
use refire_core::task::TaskStatus;
use tokio_postgres::Row;

use super::link::{Link, Query, Value, values};
use super::{Failed, Order, stage};
use crate::column::{Named, read_at};
use crate::postgres::columns::{execution_id, get, signed, uuid};
use crate::table::column::{Id, columns};
use crate::table::rows::Tasks;
use crate::table::statement::statements;
use crate::{
    Admit, Advance, Batch, LockTasks, Part, PartOutcome, SeenTask, TaskChange, TaskHolder, TaskRow,
    TouchTask,
};

/// A task's columns, in statements that have other tables, too.
const COLUMNS: &str = TaskRow::COLUMNS;

statements! {
    PUT: postgres(tasks: Tasks) =
        "INSERT INTO workflow_external_tasks ({tasks.names}) SELECT * FROM {tasks}
     ON CONFLICT (execution, step_no) DO UPDATE SET {tasks.replaced!execution,step_no}";

    /// Rows that are there, and locked.
    REPLACE: postgres(tasks: Tasks) =
        "UPDATE workflow_external_tasks SET {tasks.set!execution,step_no} FROM {tasks}
     WHERE workflow_external_tasks.execution = given.execution
       AND workflow_external_tasks.step_no = given.step_no
       AND workflow_external_tasks.execution = ANY({tasks.execution})";

    /// The tasks of new executions, if those came to be in this commit.
    PUT_NEW: postgres(versions: Versions, tasks: Tasks, commit) =
        "INSERT INTO workflow_external_tasks ({tasks.names}) SELECT {tasks.given}
      FROM {versions+tasks}
     WHERE (SELECT executions.commit_id = {commit} AND executions.version = given.version
              FROM executions WHERE executions.id = given.execution)
     ON CONFLICT (execution, step_no) DO NOTHING";

    /// The tasks of executions that moved on, if they did so in this commit.
    PUT_MOVED: postgres(versions: Versions, tasks: Tasks, commit) =
        "INSERT INTO workflow_external_tasks ({tasks.names}) SELECT {tasks.given}
      FROM {versions+tasks}
     WHERE (SELECT executions.commit_id = {commit} AND executions.version = given.version
              FROM executions WHERE executions.id = given.execution)
     ON CONFLICT (execution, step_no) DO UPDATE SET {tasks.replaced!execution,step_no}";

    /// Rows of executions that are locked already, in one order.
    OF_EXECUTIONS: postgres(executions) = &format!("SELECT {COLUMNS} FROM workflow_external_tasks
     WHERE execution = ANY({{executions}}::uuid[]) ORDER BY execution, step_no FOR UPDATE");

    /// Rows by their names, in one order.
    NAMED: postgres(names: Names) = &format!("SELECT {COLUMNS} FROM {{names}}
      JOIN workflow_external_tasks
        ON execution = given.of AND step_no = given.no AND execution = ANY({{names.of}})
     ORDER BY execution, step_no FOR UPDATE OF workflow_external_tasks");

    OF_EXECUTION: postgres(execution) = &format!("SELECT {COLUMNS} FROM workflow_external_tasks
     WHERE execution = {{execution}} ORDER BY execution, step_no FOR UPDATE");

    ONE: postgres(execution, step) = &format!("SELECT {COLUMNS} FROM workflow_external_tasks
     WHERE execution = {{execution}} AND step_no = {{step}} FOR UPDATE");

    /// Of each type and priority the oldest, then the first of all of them that nobody else is about to
    /// take.
    READY: postgres(types, now, count) = &format!("WITH candidate AS MATERIALIZED (
        SELECT found.execution AS of, found.step_no AS no
          FROM unnest({{types}}::text[]) AS wanted (name)
         CROSS JOIN generate_series(1, 10) AS level
         CROSS JOIN LATERAL (
            SELECT o.execution, o.step_no, o.priority, o.available_at
              FROM workflow_external_tasks AS o
             WHERE o.status = 0 AND o.task_type = wanted.name AND o.priority = level
               AND o.available_at <= {{now}}
             ORDER BY o.available_at, o.execution, o.step_no LIMIT 2 * {{count}}::bigint) AS found
         ORDER BY found.priority, found.available_at, found.execution, found.step_no
         LIMIT 2 * {{count}}::bigint
     )
     SELECT {COLUMNS} FROM candidate
       JOIN workflow_external_tasks ON execution = candidate.of AND step_no = candidate.no
      WHERE status = 0 AND available_at <= {{now}}
      ORDER BY priority, available_at, execution, step_no LIMIT {{count}}::bigint
      FOR UPDATE OF workflow_external_tasks SKIP LOCKED");
}

const LOCK: &str = "SELECT 1 FROM workflow_external_tasks WHERE execution = ANY($1::uuid[])
     ORDER BY execution, step_no FOR UPDATE";

/// What a batch that changes tasks locks before all else: executions, then tasks, each in the order of
/// their keys. Its parts are written one after the other, in any order, and some look at a task before
/// they change its execution; others do it the other way round, and would wait for them crosswise.
/// Workers that fetch pass over what is locked, so they need none of this.
pub(super) fn locks(batch: &Batch) -> Vec<Query<'_>> {
    let (mut moved, mut held) = (Vec::new(), Vec::new());
    for part in &batch.parts {
        match part {
            Part::Advance(advance) => {
                moved.push(uuid(advance.id.as_bytes()));
                if advance.seen.is_some() || !advance.tasks.is_empty() {
                    held.push(uuid(advance.id.as_bytes()));
                }
            }
            Part::TouchTask(touch) => held.push(uuid(touch.id.execution.as_bytes())),
            _ => {}
        }
    }
    // One touch locks one row.
    if held.is_empty() || held.len() == 1 && moved.is_empty() {
        return Vec::new();
    }
    let mut queries = Vec::new();
    for (how, mut ids) in [(stage::LOCK, moved), (LOCK, held)] {
        ids.sort_unstable();
        ids.dedup();
        if !ids.is_empty() {
            queries.push(Query::new(how, values![ids]));
        }
    }
    queries
}

async fn tasks(
    link: &mut Link,
    sql: &'static str,
    of: Vec<Value<'_>>,
) -> Result<Vec<TaskRow>, Failed> {
    link.rows(Query::new(sql, of)).await
}

async fn put(link: &mut Link, rows: &[TaskRow]) -> Result<(), Failed> {
    let mut tasks = Tasks::default();
    rows.iter().for_each(|row| tasks.push(row));
    if !rows.is_empty() {
        link.ask(Query::new(&PUT, tasks.values())).await?;
    }
    Ok(())
}

/// Whether the task is as it was seen; it stays so until the commit.
pub(super) async fn is_seen(
    link: &mut Link,
    id: ExecutionId,
    seen: SeenTask,
) -> Result<bool, Failed> {
    let found = tasks(link, &ONE, values![Id::from(id), i32::from(seen.step)]).await?;
    Ok(found.first().is_some_and(|task| task.rev == seen.rev))
}

/// The tasks of an execution that workers have, by step and attempt. They stay so until the commit.
pub(super) async fn held_of(
    link: &mut Link,
    id: ExecutionId,
) -> Result<impl Iterator<Item = (String, u32)>, Failed> {
    let rows = tasks(link, &OF_EXECUTION, values![Id::from(id)]).await?;
    let held = rows.into_iter();
    let held = held.filter(|task| task.status == TaskStatus::Locked);
    Ok(held.map(|task| (task.step, task.attempt)))
}

pub(super) async fn change(
    link: &mut Link,
    order: &Order,
    id: ExecutionId,
    changes: &[TaskChange],
) -> Result<(), Failed> {
    if changes.is_empty() {
        return Ok(());
    }
    let rows = tasks(link, &OF_EXECUTION, values![Id::from(id)]).await?;
    put(link, &changed(rows, changes, order)).await
}

/// What changes make of an execution's tasks; only those that are not as they were.
fn changed(rows: Vec<TaskRow>, changes: &[TaskChange], order: &Order) -> Vec<TaskRow> {
    let new = |change: &TaskChange, rows: &[TaskRow]| match change {
        TaskChange::Put { row, .. } => {
            let is_there = rows.iter().any(|known| known.step_no == row.step_no);
            (!is_there).then(|| (**row).clone())
        }
        _ => None,
    };
    rows_changed(rows, changes, new, |row, change| {
        row.change(change, order.now)
    })
}

/// What changes make of rows, and the new rows that they bring; only those that are not as they were.
pub(super) fn rows_changed<R, C>(
    mut rows: Vec<R>,
    changes: &[C],
    new: impl Fn(&C, &[R]) -> Option<R>,
    change_row: impl Fn(&mut R, &C) -> bool,
) -> Vec<R> {
    let mut changed = vec![false; rows.len()];
    for change in changes {
        if let Some(row) = new(change, &rows) {
            rows.push(row);
            changed.push(true);
            continue;
        }
        for (row, changed) in rows.iter_mut().zip(&mut changed) {
            *changed |= change_row(row, change);
        }
    }
    let mut changed = changed.into_iter();
    rows.retain(|_| changed.next().unwrap_or_default());
    rows
}

columns! {
    /// The versions that executions have if their tasks are to be written.
    struct Versions(version: u64) {
        version: i64 = signed(version),
    }
}

columns! {
    /// Tasks by their names.
    struct Names(id: TaskId) {
        of: Id = id.execution.into(),
        no: i32 = id.step.into(),
    }
}

/// Rows that are worked out while a stage is written: they are kept until it is.
#[derive(Default)]
pub(super) struct Room {
    new: OnceLock<Vec<(u64, TaskRow)>>,
    moved: OnceLock<Vec<(u64, TaskRow)>>,
    touched: OnceLock<Vec<TaskRow>>,
    locked: Vec<OnceLock<Vec<TaskRow>>>,
}

impl Room {
    /// With room for so many looks for workers.
    pub(super) fn new(looks: usize) -> Self {
        let locked = (0..looks).map(|_| OnceLock::new()).collect();
        Self {
            locked,
            ..Self::default()
        }
    }
}

fn put_all<'a>(sql: &'static str, rows: &'a [(u64, TaskRow)], order: &Order) -> Option<Query<'a>> {
    let (mut versions, mut tasks) = (Versions::default(), Tasks::default());
    for (version, row) in rows {
        versions.push(*version);
        tasks.push(row);
    }
    let all = [versions.values(), tasks.values(), values![order.commit]];
    (!rows.is_empty()).then(|| Query::of(sql, all))
}

fn replace(rows: &[TaskRow]) -> Option<Query<'_>> {
    let mut tasks = Tasks::default();
    rows.iter().for_each(|row| tasks.push(row));
    (!rows.is_empty()).then(|| Query::new(&REPLACE, tasks.values()))
}

/// Writes the tasks of new executions.
pub(super) fn put_new<'a>(
    admits: impl Iterator<Item = &'a Admit>,
    order: &Order,
    room: &'a Room,
) -> Option<Query<'a>> {
    let rows = admits.flat_map(|admit| {
        let rows = changed(Vec::new(), &admit.tasks, order).into_iter();
        rows.map(|row| (admit.row.update.version, row))
    });
    let rows: Vec<_> = rows.collect();
    put_all(&PUT_NEW, room.new.get_or_init(|| rows), order)
}

/// Moves that change tasks, or say how one was seen.
#[derive(Default)]
pub(super) struct Moves<'a> {
    parts: Vec<(usize, &'a Advance)>,
}

impl<'a> Moves<'a> {
    pub(super) fn push(&mut self, place: usize, advance: &'a Advance) {
        if advance.seen.is_some() || !advance.tasks.is_empty() {
            self.parts.push((place, advance));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The rows as they are; they stay so until the commit.
    pub(super) fn look(&self) -> Query<'a> {
        let mut ids: Vec<Id> = Vec::with_capacity(self.parts.len());
        ids.extend(self.parts.iter().map(|(_, advance)| Id::from(advance.id)));
        Query::new(&OF_EXECUTIONS, values![ids])
    }

    /// What becomes of them, from the versions of executions and the rows that were found; the places of
    /// those that are refused.
    pub(super) fn decide(
        &self,
        versions: &[Row],
        rows: &[Row],
        order: &Order,
        room: &Room,
    ) -> Result<Vec<usize>, Failed> {
        let mut version_of: HashMap<ExecutionId, i64> = HashMap::new();
        for row in versions {
            version_of.insert(execution_id(row, 0)?, get(row, 1)?);
        }
        let mut rows_of: HashMap<ExecutionId, Vec<TaskRow>> = HashMap::new();
        for row in rows {
            let row: TaskRow = read_at(row, 0)?;
            rows_of.entry(row.execution).or_default().push(row);
        }
        let (mut moved, mut refused) = (Vec::new(), Vec::new());
        for (place, advance) in &self.parts {
            let rows = rows_of.remove(&advance.id).unwrap_or_default();
            let is_seen = advance.seen.is_none_or(|seen| {
                rows.iter()
                    .any(|row| (row.step_no, row.rev) == (seen.step, seen.rev))
            });
            let expected = signed(advance.expected_version);
            if !is_seen || version_of.get(&advance.id) != Some(&expected) {
                refused.push(*place);
                continue;
            }
            let rows = changed(rows, &advance.tasks, order).into_iter();
            moved.extend(rows.map(|row| (advance.update.version, row)));
        }
        // It is looked once.
        let _ = room.moved.set(moved);
        Ok(refused)
    }

    /// Whether there is something to write.
    pub(super) fn has_put(room: &Room) -> bool {
        room.moved.get().is_some_and(|rows| !rows.is_empty())
    }

    /// Writes what became of them.
    pub(super) fn put(order: &Order, room: &'a Room) -> Option<Query<'a>> {
        let rows = room.moved.get().map(Vec::as_slice).unwrap_or_default();
        put_all(&PUT_MOVED, rows, order)
    }
}

/// Words of workers about their tasks, and looks at clocks.
#[derive(Default)]
pub(super) struct Touches<'a> {
    parts: Vec<(usize, &'a TouchTask)>,
}

impl<'a> Touches<'a> {
    pub(super) fn push(&mut self, place: usize, touch: &'a TouchTask) {
        self.parts.push((place, touch));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn look(&self) -> Query<'a> {
        let mut ids: Vec<TaskId> = self.parts.iter().map(|(_, touch)| touch.id).collect();
        ids.sort_unstable_by_key(|id| (id.execution, id.step));
        ids.dedup();
        let mut names = Names::default();
        ids.into_iter().for_each(|id| names.push(id));
        Query::new(&NAMED, names.values())
    }

    /// What becomes of them, one word after the other.
    pub(super) fn put<'r>(
        &self,
        rows: &[Row],
        order: &Order,
        room: &'r Room,
        outcomes: &mut [Option<PartOutcome>],
    ) -> Result<Option<Query<'r>>, Failed> {
        let mut found: HashMap<TaskId, (TaskRow, bool)> = HashMap::new();
        for row in rows {
            let row: TaskRow = read_at(row, 0)?;
            found.insert(row.id(), (row, false));
        }
        for (place, touch) in &self.parts {
            let known = found.get_mut(&touch.id);
            let known = known.filter(|(row, _)| row.is_known(touch.known));
            outcomes[*place] = Some(PartOutcome::Touched(known.is_some()));
            if let Some((row, is_changed)) = known {
                row.touch(&touch.touch, order.now);
                *is_changed = true;
            }
        }
        let touched = found.into_values().filter(|(_, is_changed)| *is_changed);
        let touched = touched.map(|(row, _)| row).collect();
        Ok(replace(room.touched.get_or_init(|| touched)))
    }
}

/// Looks for workers that wait. Those for the same types, one behind the other, are one look.
#[derive(Default)]
pub(super) struct Locks<'a> {
    looks: Vec<Look<'a>>,
    places: Vec<usize>,
}

struct Look<'a> {
    types: &'a [String],
    holders: Vec<(usize, &'a TaskHolder)>,
}

impl<'a> Locks<'a> {
    pub(super) fn push(&mut self, place: usize, lock: &'a LockTasks) {
        self.places.push(place);
        for wanted in &lock.wanted {
            let holders = wanted.holders.iter().map(|holder| (place, holder));
            match self.looks.last_mut() {
                Some(last) if last.types == wanted.types => last.holders.extend(holders),
                _ => self.looks.push(Look {
                    types: &wanted.types,
                    holders: holders.collect(),
                }),
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(super) fn looks(&self) -> usize {
        self.looks.len()
    }

    /// Nobody has anything yet.
    pub(super) fn begin(&self, outcomes: &mut [Option<PartOutcome>]) {
        for place in &self.places {
            outcomes[*place] = Some(PartOutcome::Locked(Vec::new()));
        }
    }

    pub(super) fn look(&self, number: usize, order: &Order) -> Query<'a> {
        let look = &self.looks[number];
        let types: Vec<&str> = look.types.iter().map(String::as_str).collect();
        let count = i64::try_from(look.holders.len()).unwrap_or(i64::MAX);
        Query::new(&READY, values![types, order.now.as_micros(), count])
    }

    /// Gives what one look has found.
    pub(super) fn put<'r>(
        &self,
        number: usize,
        rows: &[Row],
        order: &Order,
        room: &'r Room,
        outcomes: &mut [Option<PartOutcome>],
    ) -> Result<Option<Query<'r>>, Failed> {
        let mut locked = Vec::with_capacity(rows.len());
        for (row, (place, holder)) in rows.iter().zip(&self.looks[number].holders) {
            let mut row: TaskRow = read_at(row, 0)?;
            row.lock(holder, order.now);
            if let Some(PartOutcome::Locked(rows)) = &mut outcomes[*place] {
                rows.push(row.clone());
            }
            locked.push(row);
        }
        Ok(replace(room.locked[number].get_or_init(|| locked)))
    }
}
