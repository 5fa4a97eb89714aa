//! The engine: everything wired together, with a start and a stop.
//!
//! A program that embeds it opens a store, registers its tasks, starts the engine and runs
//! workflows; the server does nothing else. What it can do is in its services.

mod build;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use refire_core::id::NodeId;
use refire_core::time::Timestamp;
use refire_store::{NodeRow, ReadError, Store};
use tokio::time::{Instant, timeout, timeout_at};

use crate::catalog::Catalog;
use crate::context::Context;
use crate::dispatch::Dispatcher;
use crate::lock::Mutex;
use crate::maintenance::Retention;
use crate::services::Services;
use build::{RunningCommitter, Threads};

pub use build::{Builder, StartError};
pub use watch::Watched;

/// How long attempts in flight may go on.
const FINISH_WITHIN: Duration = Duration::from_secs(18);
/// How long loops may take to notice.
const NOTICE_WITHIN: Duration = Duration::from_secs(1);
/// How long all the rest may take: giving work back, emptying the queue, signing off. A database that says
/// nothing must not keep the process from ending in time.
const END_WITHIN: Duration = Duration::from_millis(3_500);
/// What of it is left for signing off: if that fails, the others wait for a whole lease.
const SIGN_OFF: Duration = Duration::from_secs(1);

/// A running engine. Cheap to share behind an `Arc`.
pub struct Engine {
    context: Arc<Context>,
    dispatcher: Arc<Dispatcher>,
    pub(crate) services: Services,
    threads: Mutex<Option<Threads>>,
    /// Since when nothing is wrong, as far as anybody asked.
    quiet_since: Mutex<Option<Timestamp>>,
}

impl Engine {
    /// An engine on this store.
    #[must_use]
    pub fn builder(store: Arc<dyn Store>) -> Builder {
        Builder::new(store)
    }

    /// Whether new work is taken.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.context.is_open().is_ok() && self.context.membership.is_member()
    }

    /// Ends when the store's state is not known any more and the process must stop.
    pub async fn broken(&self) {
        self.context.broken.cancelled().await;
    }

    /// The store, for reading.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        self.context.store.as_ref()
    }

    /// Compiled definitions.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.context.catalog
    }

    /// The nodes that share the store, the oldest first.
    pub async fn nodes(&self) -> Result<Vec<NodeRow>, ReadError> {
        self.context.membership.nodes().await
    }

    /// This node's id; another one after it lost its lease.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.context.membership.id()
    }

    /// Now, by the engine's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.context.now()
    }

    /// How long ended executions are kept.
    #[must_use]
    pub fn retention(&self) -> &Retention {
        &self.context.retention
    }

    /// How long all but one of a hundred of this node's newest commits took at most.
    #[must_use]
    pub fn commit_p99(&self) -> Option<Duration> {
        self.context.commit_times.p99()
    }

    /// Attempts in flight on this node.
    #[must_use]
    pub fn running(&self) -> usize {
        self.dispatcher.running()
    }

    /// Work that this node had forgotten, by a defect of it, and found again. It should stay zero.
    #[must_use]
    pub fn found_again(&self) -> u64 {
        self.dispatcher.found_again()
    }

    /// Free dispatch slots of this node.
    #[must_use]
    pub fn free_slots(&self) -> u32 {
        self.context.slots.free()
    }

    /// Refuses new work from now on; what was accepted goes on.
    pub fn close(&self) {
        self.context.closing.cancel();
    }

    /// Stops within 22 seconds. A second call does nothing.
    pub async fn stop(&self) {
        self.stop_within(FINISH_WITHIN).await;
    }

    /// The same, with another patience for attempts in flight.
    pub async fn stop_within(&self, finish_within: Duration) {
        self.close();
        let threads = self.threads.lock().take();
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
        self.context.stopping.cancel();
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
        let _ = timeout_at(end, self.context.membership.leave()).await;
        if self.context.store.is_shared() {
            // What is not closed ends with the process.
            let _ = timeout_at(end, self.context.store.close()).await;
        } else {
            self.context.store.close().await;
        }
    }

    /// Everything in the queue is committed before its committer ends.
    async fn drain(&self, committer: RunningCommitter, end: Instant) {
        self.context.queue.close();
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
