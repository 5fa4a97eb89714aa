//! Those who wait for an execution's end: an HTTP caller with `?wait=`, a test, an embedder.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use refire_core::execution::Execution;
use refire_core::id::ExecutionId;
use tokio::sync::watch;

/// Waiting ends, by execution.
#[derive(Default)]
pub(crate) struct Waiters {
    waiting: Mutex<HashMap<ExecutionId, watch::Sender<bool>>>,
}

impl Waiters {
    /// Becomes true when the execution ends. Register first and look at the store afterwards:
    /// then an end cannot be missed.
    pub(crate) fn register(&self, id: ExecutionId) -> watch::Receiver<bool> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match waiting.get(&id) {
            Some(sender) => sender.subscribe(),
            None => {
                let (sender, receiver) = watch::channel(false);
                waiting.insert(id, sender);
                receiver
            }
        }
    }

    /// An execution changed.
    pub(crate) fn changed(&self, id: ExecutionId, state: &Execution) {
        if !state.status.is_terminal() {
            return;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = waiting.remove(&id) {
            sender.send_replace(true);
        }
    }

    /// Forgets the execution when dropped, if nobody else waits for it.
    pub(crate) fn tidy_later(&self, id: ExecutionId) -> Tidy<'_> {
        Tidy { waiters: self, id }
    }

    fn tidy(&self, id: ExecutionId) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting
            .get(&id)
            .is_some_and(|sender| sender.receiver_count() == 0)
        {
            waiting.remove(&id);
        }
    }
}

/// See [`Waiters::tidy_later`].
pub(crate) struct Tidy<'a> {
    waiters: &'a Waiters,
    id: ExecutionId,
}

impl Drop for Tidy<'_> {
    fn drop(&mut self) {
        self.waiters.tidy(self.id);
    }
}
