//! Stopping in order: no new work, then what runs may finish, then what is left goes back to the
//! store, then the store is closed. Nothing that was answered is lost, and the next start waits
//! for nothing.

use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};

use super::Engine;
use super::build::{RunningCommitter, Threads};

/// How long attempts in flight may go on.
const FINISH_WITHIN: Duration = Duration::from_secs(18);
/// How long loops may take to notice.
const NOTICE_WITHIN: Duration = Duration::from_secs(1);
/// How long the queue may take to empty, and its thread to end.
const DRAIN_WITHIN: Duration = Duration::from_secs(2);

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
            keeping,
            left,
        }) = threads
        else {
            return;
        };
        let deadline = Instant::now() + finish_within;
        self.dispatcher.stopping.cancel();
        services.close();
        self.dispatcher.tracker.close();
        // The loops first: what they have claimed must be known before it is given back.
        let _ = timeout(NOTICE_WITHIN, services.wait()).await;
        if timeout_at(deadline, self.dispatcher.tracker.wait())
            .await
            .is_err()
        {
            tracing::warn!(
                running = self.dispatcher.running(),
                "aborting attempts in flight"
            );
        }
        let _ = timeout(DRAIN_WITHIN, self.dispatcher.abort_and_release_all()).await;
        self.drain(committer).await;
        left.cancel();
        keeping.close();
        let _ = timeout(NOTICE_WITHIN, keeping.wait()).await;
        let _ = timeout(DRAIN_WITHIN, self.membership.leave()).await;
        self.store.close().await;
    }

    /// Everything in the queue is committed before its committer ends.
    async fn drain(&self, committer: RunningCommitter) {
        self.queue.close();
        let ended = async {
            match committer {
                RunningCommitter::Task(task) => drop(task.await),
                RunningCommitter::Thread(thread) => {
                    drop(tokio::task::spawn_blocking(move || thread.join()).await);
                }
            }
        };
        if timeout(DRAIN_WITHIN, ended).await.is_err() {
            tracing::error!("the committer did not end in time");
        }
    }
}
