//! Callbacks: what a decision changes in their rows, and what targets say of how far they are.

use refire_core::id::ExecutionId;
use rusqlite::{Params, Result, params};

use super::Pen;
use crate::column::Named;
use crate::sqlite::columns::taken;
use crate::table::rows::CallbackRows;
use crate::table::statement::statements;
use crate::{CallbackChange, CallbackKey, CallbackRow, PartOutcome, TouchCallback};

statements! {
    PUT: sqlite(callback: CallbackRows) =
        "INSERT INTO task_callbacks ({callback.names}) VALUES ({callback.values})
     ON CONFLICT (execution, step_no, attempt)
        DO UPDATE SET {callback.replaced!execution,step_no,attempt}";
}

const ONE: &str = "WHERE execution = ?1 AND step_no = ?2 AND attempt = ?3";
const OPEN: &str = "WHERE execution = ?1 AND wake_at IS NOT NULL";

impl Pen<'_> {
    pub(super) fn change_callbacks(
        &mut self,
        id: ExecutionId,
        changes: &[CallbackChange],
    ) -> Result<()> {
        for change in changes {
            let rows = match change {
                CallbackChange::Put(row) => self.callback(row.key())?,
                CallbackChange::CloseAll => self.callbacks(OPEN, [id.as_bytes()])?,
            };
            if let CallbackChange::Put(row) = change
                && rows.is_empty()
            {
                self.put_callback(row)?;
            }
            for mut row in rows {
                if row.change(change, self.now) {
                    self.put_callback(&row)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn remove_callbacks(&self, id: ExecutionId) -> Result<()> {
        self.prepare("DELETE FROM task_callbacks WHERE execution = ?1")?
            .execute([id.as_bytes()])
            .map(drop)
    }

    pub(super) fn touch_callback(&mut self, touch: &TouchCallback) -> Result<PartOutcome> {
        let mut is_touched = false;
        for mut row in self.callback(touch.key)? {
            if row.touch(&touch.touch, self.now) {
                self.put_callback(&row)?;
                is_touched = true;
            }
        }
        Ok(PartOutcome::Touched(is_touched))
    }

    fn callback(&self, key: CallbackKey) -> Result<Vec<CallbackRow>> {
        let of = params![key.execution.as_bytes(), key.step_no, key.attempt];
        self.callbacks(ONE, of)
    }

    fn callbacks(&self, which: &str, of: impl Params) -> Result<Vec<CallbackRow>> {
        let columns = CallbackRow::COLUMNS;
        let sql = format!("SELECT {columns} FROM task_callbacks {which}");
        let mut select = self.prepare(&sql)?;
        select.query_map(of, |row| taken(row, 0))?.collect()
    }

    fn put_callback(&mut self, row: &CallbackRow) -> Result<()> {
        self.write(&PUT, |to| CallbackRows::bind(to, 1, row))
            .map(drop)
    }
}
