//! Tasks: what a decision changes in them, how workers get them and what they say of them.

use std::sync::Arc;

use refire_core::id::{ExecutionId, TaskId};
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::task::TaskStatus;

use super::Pen;
use crate::model::change::Change;
use crate::{LockTasks, PartOutcome, SeenTask, TaskChange, TaskRow, TouchTask};

/// Whether workers may fetch what stands there.
fn is_ready(status: TaskStatus) -> bool {
    #[cfg(feature = "planted")]
    if planted::is(Defect::HeldHandedOut) && status == TaskStatus::Held {
        return true;
    }
    status == TaskStatus::Pending
}

impl Pen<'_> {
    /// Whether the task is as it was seen.
    pub(super) fn is_seen(&self, execution: ExecutionId, seen: SeenTask) -> bool {
        let step = seen.step;
        let task = self.image.tasks.get(&TaskId { execution, step });
        task.is_some_and(|task| task.rev == seen.rev)
    }

    pub(super) fn change_tasks(&mut self, id: ExecutionId, changes: &[TaskChange]) {
        for change in changes {
            let tasks: Vec<TaskRow> = self.image.tasks_of(id).cloned().collect();
            if let TaskChange::Put { row, .. } = change
                && tasks.iter().all(|task| task.step_no != row.step_no)
            {
                self.put_task((**row).clone());
            }
            for mut task in tasks {
                if task.change(change, self.now) {
                    self.put_task(task);
                }
            }
        }
    }

    pub(super) fn remove_tasks(&mut self, id: ExecutionId) {
        let ids: Vec<TaskId> = self.image.tasks_of(id).map(TaskRow::id).collect();
        for id in ids {
            self.change(Change::Task(id, None));
        }
    }

    fn put_task(&mut self, row: TaskRow) {
        self.change(Change::Task(row.id(), Some(Arc::new(row))));
    }

    pub(super) fn lock_tasks(&mut self, lock: &LockTasks) -> PartOutcome {
        let mut locked = Vec::new();
        for wanted in &lock.wanted {
            let mut found: Vec<TaskRow> = self
                .image
                .tasks
                .values()
                .filter(|task| is_ready(task.status))
                .filter(|task| task.available_at <= self.now)
                .filter(|task| wanted.types.contains(&task.task_type))
                .map(|task| (**task).clone())
                .collect();
            found.sort_by_key(TaskRow::turn);
            for (mut task, holder) in found.into_iter().zip(&wanted.holders) {
                task.lock(holder, self.now);
                self.put_task(task.clone());
                locked.push(task);
            }
        }
        PartOutcome::Locked(locked)
    }

    pub(super) fn touch_task(&mut self, touch: &TouchTask) -> PartOutcome {
        let task = self.image.tasks.get(&touch.id);
        let known = task.filter(|task| task.is_known(touch.known));
        let Some(mut task) = known.map(|task| (**task).clone()) else {
            return PartOutcome::Touched(false);
        };
        task.touch(&touch.touch, self.now);
        self.put_task(task);
        PartOutcome::Touched(true)
    }
}
