//! What all parts of the engine share. The builder makes it and passes it down; there are no
//! globals, so two engines can live in one process.

use std::sync::{Arc, Weak};
use std::time::Duration;

use refire_core::time::Timestamp;
use refire_store::{News, Part, PartOutcome, Store};
use tokio_util::sync::CancellationToken;

use crate::aside::Aside;
use crate::breaker::Desk;
use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::commit::{CommitFailure, CommitTimes, Queue};
use crate::entropy::Entropy;
use crate::limit::Slots;
use crate::lock::Mutex;
use crate::maintenance::Retention;
use crate::membership::Membership;
use crate::notify::Wanted;
use crate::step::Clients;
use crate::tally::Tally;
use crate::task::Board;
use crate::vault::Vault;
use crate::waiter::Waiters;

/// See the module.
pub(crate) struct Context {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) membership: Arc<Membership>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) slots: Arc<Slots>,
    pub(crate) queue: Queue,
    pub(crate) aside: Aside,
    pub(crate) waiters: Waiters,
    pub(crate) commit_times: CommitTimes,
    pub(crate) tasks: Board,
    pub(crate) breakers: Desk,
    pub(crate) clients: Clients,
    pub(crate) vault: Option<Vault>,
    pub(crate) retention: Retention,
    pub(crate) notices: Wanted,
    pub(crate) tally: Tally,
    /// How often rules are looked at, and what was counted is written.
    pub(crate) alerts_every: Duration,
    /// Where people find this server; empty if nobody said.
    pub(crate) address: String,
    /// Set first when the node stops: nothing new is admitted.
    pub(crate) closing: CancellationToken,
    /// Set when the node stops: nothing new begins.
    pub(crate) stopping: CancellationToken,
    /// Set when the store's state is not known.
    pub(crate) broken: CancellationToken,
    pub(crate) listeners: Mutex<Vec<Weak<dyn Listener>>>,
}

/// Who acts on what changed, on this node or on another.
pub(crate) trait Listener: Send + Sync {
    fn hear(&self, news: &News);
}

impl Context {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn vault(&self) -> Option<&Vault> {
        self.vault.as_ref()
    }

    /// Commits a part of the node's own work; none if it was not written.
    pub(crate) async fn write(&self, part: Part) -> Option<PartOutcome> {
        let outcome = self.queue.part(part).await;
        if let Err(failure) = &outcome
            && *failure != CommitFailure::Stopping
        {
            tracing::warn!(%failure, "a change of work was not committed");
        }
        outcome.ok()
    }

    pub(crate) fn is_open(&self) -> Result<(), CommitFailure> {
        if self.broken.is_cancelled() {
            Err(CommitFailure::Unavailable)
        } else if self.closing.is_cancelled() {
            Err(CommitFailure::Stopping)
        } else {
            Ok(())
        }
    }

    /// Waits so long, for a loop that must not be dropped in the middle; false if the node stops meanwhile.
    pub(crate) async fn goes_on_after(&self, wait: Duration) -> bool {
        tokio::select! {
            biased;
            () = self.stopping.cancelled() => false,
            () = tokio::time::sleep(wait) => true,
        }
    }

    /// The listener hears from now on what changes, for as long as somebody else holds it.
    pub(crate) fn listen<L: Listener + 'static>(&self, listener: &Arc<L>) {
        let listener: Weak<L> = Arc::downgrade(listener);
        self.listeners.lock().push(listener);
    }

    /// Tells this node's listeners.
    pub(crate) fn hear(&self, news: &News) {
        let listeners: Vec<_> = self
            .listeners
            .lock()
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        listeners.iter().for_each(|listener| listener.hear(news));
    }

    /// A notice was written: whoever collects looks soon, here or elsewhere.
    pub(crate) fn notice_raised(&self) {
        self.notices.ring();
        self.store.tell(News::Notice);
    }

    /// Tells this node's listeners and the other nodes.
    pub(crate) fn announce(&self, news: News) {
        self.hear(&news);
        self.store.tell(news);
    }
}
