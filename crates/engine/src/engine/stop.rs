//! Stopping in order: no new work, then what runs may finish, then what is left goes back to the
//! store, then the store is closed. Nothing that was answered is lost, and the next start waits
//! for nothing.

use std::time::Duration;

use super::Engine;
use super::build::{Committing, Threads};

/// How long attempts in flight may go on.
const FINISH_WITHIN: Duration = Duration::from_secs(20);
/// How long the queue may take to empty.
const DRAIN_WITHIN: Duration = Duration::from_secs(3);

impl Engine {
    /// Refuses new work from now on; what was accepted goes on.
    pub fn close(&self) {
        self.closing.cancel();
    }

    /// Stops within 25 seconds. A second call does nothing.
    pub async fn stop(&self) {
        self.stop_within(FINISH_WITHIN).await;
    }

    /// The same, with another patience for attempts in flight.
    pub async fn stop_within(&self, finish_within: Duration) {
        self.close();
        let threads = self
            .threads
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
        let Some(Threads {
            committer,
            services,
        }) = threads
        else {
            return;
        };
        self.dispatcher.stopping.cancel();
        services.close();
        self.dispatcher.tracker.close();
        let finished = tokio::time::timeout(finish_within, self.dispatcher.tracker.wait()).await;
        if finished.is_err() {
            tracing::warn!(
                running = self.dispatcher.running(),
                "aborting attempts in flight"
            );
        }
        self.dispatcher.abort_and_release_all().await;
        let _ = tokio::time::timeout(DRAIN_WITHIN, services.wait()).await;
        self.drain(committer).await;
        self.store.close().await;
    }

    /// Everything in the queue is committed before its thread ends.
    async fn drain(&self, committer: Committing) {
        // A part that changes nothing, behind all that waits.
        let last = refire_store::Part::Begin(Vec::new());
        let _ = tokio::time::timeout(DRAIN_WITHIN, self.part(last)).await;
        let Committing::Thread(thread) = committer;
        self.queue.close();
        let joined = tokio::task::spawn_blocking(move || thread.join());
        if tokio::time::timeout(DRAIN_WITHIN, joined).await.is_err() {
            tracing::error!("the committer did not end in time");
        }
    }
}
