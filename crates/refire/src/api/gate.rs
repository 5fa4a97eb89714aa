//! Counts requests in flight and knows whether the server is stopping.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The door through which every request passes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gate(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    stopping: CancellationToken,
    in_flight: AtomicUsize,
    left: Notify,
}

impl Gate {
    /// One more request, until the guard is dropped.
    pub(super) fn enter(&self) -> InFlight {
        self.0.in_flight.fetch_add(1, Ordering::AcqRel);
        InFlight(self.clone())
    }

    /// From now on the server is not ready, and new calls are refused.
    pub(crate) fn close(&self) {
        self.0.stopping.cancel();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.0.stopping.is_cancelled()
    }

    /// Ends when the server begins to stop; long waits end with it.
    pub(super) async fn stopping(&self) {
        self.0.stopping.cancelled().await;
    }

    /// Ends when no request is in flight.
    pub(crate) async fn empty(&self) {
        loop {
            let left = self.0.left.notified();
            if self.0.in_flight.load(Ordering::Acquire) == 0 {
                return;
            }
            left.await;
        }
    }
}

/// A request in flight.
pub(super) struct InFlight(Gate);

impl Drop for InFlight {
    fn drop(&mut self) {
        if self.0.0.in_flight.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.0.left.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_empty_when_the_last_request_has_left() {
        let gate = Gate::default();
        gate.empty().await;
        let (first, second) = (gate.enter(), gate.enter());
        let waiting = tokio::spawn({
            let gate = gate.clone();
            async move { gate.empty().await }
        });
        drop(first);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(second);
        waiting.await.unwrap();
        assert!(!gate.is_stopping());
        gate.close();
        gate.stopping().await;
    }
}
