//! Those who wait for an execution's end: an HTTP caller with `?wait=`, a test, an embedder.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use refire_core::execution::Execution;
use refire_core::id::ExecutionId;
use tokio_util::sync::CancellationToken;

use crate::lock::Mutex;

/// Ends that somebody waits for, by execution. Whoever waits holds them.
#[derive(Default)]
pub(crate) struct Waiters(Mutex<HashMap<ExecutionId, Weak<CancellationToken>>>);

impl Waiters {
    /// Waits for the execution's end. Register first and look at the store afterwards: then an end
    /// cannot be missed.
    pub(crate) fn register(&self, id: ExecutionId) -> Waiting<'_> {
        let mut ends = self.0.lock();
        let known = ends.get(&id).and_then(Weak::upgrade);
        let ended = known.unwrap_or_else(|| {
            let ended = Arc::new(CancellationToken::new());
            ends.insert(id, Arc::downgrade(&ended));
            ended
        });
        Waiting {
            waiters: self,
            id,
            ended: Some(ended),
        }
    }

    /// An execution changed.
    pub(crate) fn changed(&self, id: ExecutionId, state: &Execution) {
        if !state.status.is_terminal() {
            return;
        }
        let ended = self.0.lock().remove(&id);
        if let Some(ended) = ended.and_then(|ended| ended.upgrade()) {
            ended.cancel();
        }
    }
}

/// Somebody who waits. When the last one goes away, also in the middle, nothing is left of it.
pub(crate) struct Waiting<'a> {
    waiters: &'a Waiters,
    id: ExecutionId,
    ended: Option<Arc<CancellationToken>>,
}

impl Waiting<'_> {
    /// Returns when the execution has ended.
    pub(crate) async fn ended(&self) {
        if let Some(ended) = &self.ended {
            ended.cancelled().await;
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut ends = self.waiters.0.lock();
        self.ended = None;
        if ends
            .get(&self.id)
            .is_some_and(|ended| ended.strong_count() == 0)
        {
            ends.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use refire_core::execution::Status;

    use super::*;

    #[tokio::test]
    async fn an_end_reaches_everybody_and_nothing_is_left() {
        let waiters = Waiters::default();
        let id = ExecutionId::from_bytes([7; 16]);
        let (one, other) = (waiters.register(id), waiters.register(id));
        let mut state = Execution::empty();
        waiters.changed(id, &state);
        assert_eq!(waiters.0.lock().len(), 1, "it has not ended");
        state.status = Status::Completed;
        waiters.changed(id, &state);
        one.ended().await;
        other.ended().await;
        assert!(waiters.0.lock().is_empty());
    }

    #[test]
    fn who_goes_away_is_forgotten_with_the_last() {
        let waiters = Waiters::default();
        let id = ExecutionId::from_bytes([7; 16]);
        let (one, other) = (waiters.register(id), waiters.register(id));
        drop(one);
        assert_eq!(waiters.0.lock().len(), 1);
        drop(other);
        assert!(waiters.0.lock().is_empty());
    }
}
