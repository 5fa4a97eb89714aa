//! Tasks on their way to a worker. If they do not arrive, because it is gone or something else fails, they
//! go back: whoever holds them and lets them go need not think of it.

use refire_core::id::{LockToken, TaskId};
use refire_core::json::Json;
use refire_store::TaskRow;
use tokio::sync::mpsc;

/// A task that a worker has, and what it is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Fetched {
    /// Its row.
    pub row: TaskRow,
    /// What the worker is given.
    pub input: Json,
}

/// A task that did not arrive.
pub(super) struct Undelivered {
    pub(super) id: TaskId,
    pub(super) token: LockToken,
    pub(super) task_type: String,
}

/// See the module.
#[must_use]
pub struct Delivery {
    tasks: Vec<Fetched>,
    back: mpsc::UnboundedSender<Undelivered>,
}

impl Delivery {
    pub(super) fn new(tasks: Vec<Fetched>, back: mpsc::UnboundedSender<Undelivered>) -> Self {
        Self { tasks, back }
    }

    /// What is delivered.
    #[must_use]
    pub fn tasks(&self) -> &[Fetched] {
        &self.tasks
    }

    pub(super) fn tasks_mut(&mut self) -> &mut [Fetched] {
        &mut self.tasks
    }

    /// It has arrived: from now on the clocks of the tasks decide.
    pub fn arrived(mut self) {
        self.tasks.clear();
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        for task in self.tasks.drain(..) {
            let (id, task_type) = (task.row.id(), task.row.task_type);
            if let Some(token) = task.row.token {
                // When nobody listens any more, the node has stopped, and the clocks decide.
                let _ = self.back.send(Undelivered {
                    id,
                    token,
                    task_type,
                });
            }
        }
    }
}
