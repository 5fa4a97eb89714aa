//! Tasks: what a decision changes in them, how workers get them and what they say of them. Rows are read,
//! changed by what all backends share, and written as a whole.

use refire_core::id::ExecutionId;
use refire_core::task::TaskStatus;

use super::link::{Link, Query, Value, values};
use super::{Failed, Order, stage};
use crate::column::{Named, read_at};
use crate::postgres::columns::uuid;
use crate::table::column::Id;
use crate::table::rows::Tasks;
use crate::table::statement::statements;
use crate::{
    Batch, LockTasks, Part, PartOutcome, SeenTask, TaskChange, TaskRow, TouchTask, WantedTasks,
};

/// A task's columns, in statements that have other tables, too.
const COLUMNS: &str = TaskRow::COLUMNS;

statements! {
    PUT: postgres(tasks: Tasks) =
        "INSERT INTO workflow_external_tasks ({tasks.names}) SELECT * FROM {tasks}
     ON CONFLICT (execution, step_no) DO UPDATE SET {tasks.replaced!execution,step_no}";

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
    let rows = link.ask(Query::new(sql, of)).await?;
    Ok(rows
        .iter()
        .map(|row| read_at(row, 0))
        .collect::<Result<_, _>>()?)
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
    let mut rows = tasks(link, &OF_EXECUTION, values![Id::from(id)]).await?;
    let mut changed = vec![false; rows.len()];
    for change in changes {
        if let TaskChange::Put { row, .. } = change
            && rows.iter().all(|known| known.step_no != row.step_no)
        {
            rows.push((**row).clone());
            changed.push(true);
            continue;
        }
        for (row, changed) in rows.iter_mut().zip(&mut changed) {
            *changed |= row.change(change, order.now);
        }
    }
    let mut changed = changed.into_iter();
    rows.retain(|_| changed.next().unwrap_or_default());
    put(link, &rows).await
}

pub(super) async fn lock(
    link: &mut Link,
    order: &Order,
    lock: &LockTasks,
) -> Result<PartOutcome, Failed> {
    let mut locked = Vec::new();
    for WantedTasks { types, holders } in &lock.wanted {
        let types: Vec<&str> = types.iter().map(String::as_str).collect();
        let count = i64::try_from(holders.len()).unwrap_or(i64::MAX);
        let of = values![types, order.now.as_micros(), count];
        for (mut task, holder) in tasks(link, &READY, of).await?.into_iter().zip(holders) {
            task.lock(holder, order.now);
            locked.push(task);
        }
    }
    put(link, &locked).await?;
    Ok(PartOutcome::Locked(locked))
}

pub(super) async fn touch(
    link: &mut Link,
    order: &Order,
    touch: &TouchTask,
) -> Result<PartOutcome, Failed> {
    let of = values![Id::from(touch.id.execution), i32::from(touch.id.step)];
    let mut found = tasks(link, &ONE, of).await?;
    found.retain(|task| task.is_known(touch.known));
    for task in &mut found {
        task.touch(&touch.touch, order.now);
    }
    put(link, &found).await?;
    Ok(PartOutcome::Touched(!found.is_empty()))
}
