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
/// How long all the rest may take: giving work back, emptying the queue, signing off. A database that says
/// nothing must not keep the process from ending in time.
const END_WITHIN: Duration = Duration::from_millis(3_500);
/// What of it is left for signing off: if that fails, the others wait for a whole lease.
const SIGN_OFF: Duration = Duration::from_secs(1);

impl Engine {
    /// Refuses new work from now on; what was accepted goes on.
    pub fn close(&self) {
        self.closing.cancel();
    }

    /// Stops within 22 seconds. A second call does nothing.
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
        let end = Instant::now() + END_WITHIN;
        // Half of the time, since the queue must be emptied after it.
        let _ = timeout(END_WITHIN / 2, self.dispatcher.abort_and_release_all()).await;
        self.drain(committer, end - SIGN_OFF).await;
        left.cancel();
        keeping.close();
        let _ = timeout_at(end - SIGN_OFF / 2, keeping.wait()).await;
        let _ = timeout_at(end, self.membership.leave()).await;
        if self.store.is_shared() {
            // What is not closed ends with the process.
            let _ = timeout_at(end, self.store.close()).await;
        } else {
            self.store.close().await;
        }
    }

    /// Everything in the queue is committed before its committer ends.
    async fn drain(&self, committer: RunningCommitter, end: Instant) {
        self.queue.close();
        let ended = async {
            match committer {
                RunningCommitter::Task(task) => drop(task.await),
                RunningCommitter::Thread(thread) => {
                    drop(tokio::task::spawn_blocking(move || thread.join()).await);
                }
            }
        };
        if timeout_at(end, ended).await.is_err() {
            tracing::error!("the committer did not end in time");
        }
    }
}
