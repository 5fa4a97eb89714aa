//! Tasks: what a decision changes in them, how workers get them and what they say of them. A row is read,
//! changed by what all backends share, and written as a whole.

use refire_core::id::ExecutionId;
use refire_core::limit::PRIORITY_LAST;
use rusqlite::{OptionalExtension, Params, Result, params};

use super::Pen;
use crate::column::Named;
use crate::sqlite::columns::{signed, taken};
use crate::table::rows::Tasks;
use crate::table::statement::statements;
use crate::{LockTasks, PartOutcome, SeenTask, TaskChange, TaskRow, TouchTask};

statements! {
    PUT: sqlite(task: Tasks) =
        "INSERT INTO workflow_external_tasks ({task.names}) VALUES ({task.values})
     ON CONFLICT (execution, step_no) DO UPDATE SET {task.replaced!execution,step_no}";
}

const ONE: &str = "WHERE execution = ?1 AND step_no = ?2";
const OF_EXECUTION: &str = "WHERE execution = ?1";
/// Those of one type and priority that workers may fetch, the oldest first: one stretch of the index.
const READY: &str = "INDEXED BY tasks_ready WHERE status = 0 AND task_type = ?1 AND priority = ?2
     AND available_at <= ?3 ORDER BY available_at, execution, step_no LIMIT ?4";

impl Pen<'_> {
    /// Whether the task is as it was seen.
    pub(super) fn is_seen(&self, id: ExecutionId, seen: SeenTask) -> Result<bool> {
        let rev = self
            .prepare(
                "SELECT rev FROM workflow_external_tasks WHERE execution = ?1 AND step_no = ?2",
            )?
            .query_row(params![id.as_bytes(), seen.step], |row| row.get(0))
            .optional()?;
        Ok(rev == Some(signed(seen.rev)))
    }

    pub(super) fn change_tasks(&mut self, id: ExecutionId, changes: &[TaskChange]) -> Result<()> {
        for change in changes {
            let tasks = match change.step() {
                Some(step) => self.tasks(ONE, params![id.as_bytes(), step])?,
                None => self.tasks(OF_EXECUTION, [id.as_bytes()])?,
            };
            if let TaskChange::Put { row, .. } = change
                && tasks.is_empty()
            {
                self.put_task(row)?;
            }
            for mut task in tasks {
                if task.change(change, self.now) {
                    self.put_task(&task)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn remove_tasks(&self, id: ExecutionId) -> Result<()> {
        self.prepare("DELETE FROM workflow_external_tasks WHERE execution = ?1")?
            .execute([id.as_bytes()])
            .map(drop)
    }

    pub(super) fn lock_tasks(&mut self, lock: &LockTasks) -> Result<PartOutcome> {
        let mut locked = Vec::new();
        for wanted in &lock.wanted {
            let mut left = wanted.holders.iter();
            for priority in 1..=PRIORITY_LAST {
                let mut found = Vec::new();
                let (now, count) = (self.now.as_micros(), signed(left.len() as u64));
                for task_type in wanted.types.iter().filter(|_| count > 0) {
                    found.extend(self.tasks(READY, params![task_type, priority, now, count])?);
                }
                found.sort_by_key(TaskRow::turn);
                for (mut task, holder) in found.into_iter().zip(&mut left) {
                    task.lock(holder, self.now);
                    self.put_task(&task)?;
                    locked.push(task);
                }
            }
        }
        Ok(PartOutcome::Locked(locked))
    }

    pub(super) fn touch_task(&mut self, touch: &TouchTask) -> Result<PartOutcome> {
        let of = params![touch.id.execution.as_bytes(), touch.id.step];
        let found = self.tasks(ONE, of)?.into_iter().next();
        let Some(mut task) = found.filter(|task| task.is_known(touch.known)) else {
            return Ok(PartOutcome::Touched(false));
        };
        task.touch(&touch.touch, self.now);
        self.put_task(&task)?;
        Ok(PartOutcome::Touched(true))
    }

    fn tasks(&self, which: &str, of: impl Params) -> Result<Vec<TaskRow>> {
        let columns = TaskRow::COLUMNS;
        let sql = format!("SELECT {columns} FROM workflow_external_tasks {which}");
        let mut select = self.prepare(&sql)?;
        select.query_map(of, |row| taken(row, 0))?.collect()
    }

    fn put_task(&mut self, task: &TaskRow) -> Result<()> {
        self.write(&PUT, |to| Tasks::bind(to, 1, task)).map(drop)
    }
}
