//! Tasks without which an engine is only half alive.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Starts them.
pub(crate) struct Vital {
    tracker: TaskTracker,
    broken: CancellationToken,
}

impl Vital {
    /// They are tracked by the one and break the other.
    pub(crate) fn new(tracker: TaskTracker, broken: CancellationToken) -> Self {
        Self { tracker, broken }
    }

    /// Runs a task. If it panics, work would stay in nobody's hands and nobody would notice: the
    /// process must say so and stop, and the next start finds everything in the store.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let broken = self.broken.clone();
        self.tracker.spawn(async move {
            if AssertUnwindSafe(work).catch_unwind().await.is_err() {
                tracing::error!("a part of the engine panicked; it must be started again");
                broken.cancel();
            }
        });
    }

    /// Runs a loop until the token is set. It is then dropped where it waits: it must hold nothing by
    /// then that would be missed.
    pub(crate) fn spawn_until(
        &self,
        end: &CancellationToken,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        let end = end.clone();
        self.spawn(async move {
            tokio::select! {
                biased;
                () = end.cancelled() => {}
                () = work => {}
            }
        });
    }
}
