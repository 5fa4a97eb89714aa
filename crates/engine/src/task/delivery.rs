//! Tasks on their way to a worker. If they do not arrive, because it is gone or something else fails, they
//! go back: whoever holds them and lets them go need not think of it.

use refire_core::id::{LockToken, TaskId};
use refire_core::json::Json;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::time::Timestamp;
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

/// What did not arrive.
pub(super) enum Undelivered {
    /// This task.
    Task {
        id: TaskId,
        token: LockToken,
        task_type: String,
        /// Its own clocks bring it back then.
        until: Timestamp,
    },
    /// Whatever a lock was given: nobody knows what that is.
    Lock(LockToken),
}

/// The way back for what does not arrive. As long as somebody has one, something may come.
#[derive(Clone)]
pub(crate) struct WayBack(mpsc::UnboundedSender<Undelivered>);

impl WayBack {
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Undelivered>) {
        let (back, undelivered) = mpsc::unbounded_channel();
        (Self(back), undelivered)
    }

    /// A task does not arrive.
    pub(super) fn send(&self, row: TaskRow) {
        if let Some(token) = row.token {
            let (id, until) = (row.id(), row.clocks().next());
            // When nobody listens any more, the node has stopped, and the clocks decide.
            let _ = self.0.send(Undelivered::Task {
                id,
                token,
                task_type: row.task_type,
                until,
            });
        }
    }

    /// What this lock was given, if anything, does not arrive.
    pub(super) fn send_all(&self, token: LockToken) {
        let _ = self.0.send(Undelivered::Lock(token));
    }
}

/// See the module.
#[must_use]
pub struct Delivery {
    tasks: Vec<Fetched>,
    back: WayBack,
}

impl Delivery {
    pub(super) fn new(tasks: Vec<Fetched>, back: WayBack) -> Self {
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
        #[cfg(feature = "planted")]
        if planted::is(Defect::GoneClientKeepsLock) {
            return;
        }
        for task in self.tasks.drain(..) {
            self.back.send(task.row);
        }
    }
}
