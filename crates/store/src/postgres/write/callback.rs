//! Callbacks: what a decision changes in their rows, and what targets say of how far they are.

use refire_core::id::ExecutionId;

use super::link::{Link, Query, values};
use super::task::rows_changed;
use super::{Failed, Order};
use crate::column::Named;
use crate::table::column::Id;
use crate::table::rows::CallbackRows;
use crate::table::statement::statements;
use crate::{CallbackChange, CallbackRow, PartOutcome, TouchCallback};

const COLUMNS: &str = CallbackRow::COLUMNS;

statements! {
    PUT: postgres(callbacks: CallbackRows) =
        "INSERT INTO task_callbacks ({callbacks.names}) SELECT * FROM {callbacks}
     ON CONFLICT (execution, step_no, attempt)
        DO UPDATE SET {callbacks.replaced!execution,step_no,attempt}";

    OF_EXECUTION: postgres(execution) = &format!("SELECT {COLUMNS} FROM task_callbacks
     WHERE execution = {{execution}} ORDER BY execution, step_no, attempt FOR UPDATE");

    ONE: postgres(execution, step, attempt) = &format!("SELECT {COLUMNS} FROM task_callbacks
     WHERE execution = {{execution}} AND step_no = {{step}} AND attempt = {{attempt}} FOR UPDATE");
}

async fn put(link: &mut Link, rows: &[CallbackRow]) -> Result<(), Failed> {
    let mut callbacks = CallbackRows::default();
    rows.iter().for_each(|row| callbacks.push(row));
    if !rows.is_empty() {
        link.ask(Query::new(&PUT, callbacks.values())).await?;
    }
    Ok(())
}

pub(super) async fn change(
    link: &mut Link,
    order: &Order,
    id: ExecutionId,
    changes: &[CallbackChange],
) -> Result<(), Failed> {
    if changes.is_empty() {
        return Ok(());
    }
    let of = Query::new(&OF_EXECUTION, values![Id::from(id)]);
    let rows = link.rows(of).await?;
    let new = |change: &CallbackChange, rows: &[CallbackRow]| match change {
        CallbackChange::Put(row) => {
            let is_there = rows.iter().any(|known| known.key() == row.key());
            (!is_there).then(|| (**row).clone())
        }
        CallbackChange::CloseAll => None,
    };
    let change = |row: &mut CallbackRow, change: &_| row.change(change, order.now);
    put(link, &rows_changed(rows, changes, new, change)).await
}

pub(super) async fn touch(
    link: &mut Link,
    order: &Order,
    touch: &TouchCallback,
) -> Result<PartOutcome, Failed> {
    let key = touch.key;
    let of = values![
        Id::from(key.execution),
        i32::from(key.step_no),
        i64::from(key.attempt)
    ];
    let mut found: Vec<CallbackRow> = link.rows(Query::new(&ONE, of)).await?;
    found.retain_mut(|row| row.touch(&touch.touch, order.now));
    put(link, &found).await?;
    Ok(PartOutcome::Touched(!found.is_empty()))
}
