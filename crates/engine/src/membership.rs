//! This process among the nodes that share the store: its id, its lease, and what is to be done
//! when the lease is lost.
//!
//! The lease is a row in the store. While it is there, what this node commits counts. A node that
//! was paused for too long, or cut off, finds its row gone: whatever it believed to own is for the
//! others, so it stops its calls, forgets its work and joins again under a new id. Expiry is judged
//! by the store's clock alone; here only the time since the last renewal counts.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use refire_core::id::NodeId;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_store::{Joining, Lease, NodeRow, ReadError, Store};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::dispatch::Dispatcher;
use crate::entropy::{self, Entropy};
use crate::lock::Mutex;
use crate::target::Tether;

/// How long a node may be silent before others take its work.
pub const LEASE: Duration = Duration::from_secs(15);
/// A lease is renewed so many times while it lasts.
const RENEWALS_PER_LEASE: u32 = 3;
/// Others are looked after so many times while a lease lasts.
const LOOKS_PER_LEASE: u32 = 15;
/// But at the latest after this: what a dead node had must not wait for long.
const LOOK_EVERY_MAX: Duration = Duration::from_secs(1);
/// An answer that takes longer says little about what time it is.
const TIME_TOLD_WITHIN: Duration = Duration::from_millis(250);
/// Times that a node which joins asks for the time until it is told quickly enough.
const TIME_ASKED_MAX: u32 = 3;
/// The longest wait between two tries to join again.
const JOIN_WAIT_MAX: Duration = Duration::from_secs(2);
/// The first.
const JOIN_WAIT_MIN: Duration = Duration::from_millis(50);

/// What others see of a node.
#[derive(Debug, Clone)]
pub struct NodeSettings {
    /// Its name for people: the machine's.
    pub name: String,
    /// Where it listens, as people write it; empty = nowhere.
    pub address: String,
    /// How long it may be silent before others take its work.
    pub lease: Duration,
}

impl Default for NodeSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            address: String::new(),
            lease: LEASE,
        }
    }
}

/// See the module.
pub(crate) struct Membership {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    settings: NodeSettings,
    /// What the connections to targets hang on.
    tether: Tether,
    standing: Mutex<Standing>,
    /// Rings when the lease is lost.
    lost: Notify,
    /// Rings when a node is gone and may have left work behind.
    orphaned: Notify,
}

struct Standing {
    id: NodeId,
    is_member: bool,
    /// When the last renewal that succeeded was sent: the store cannot have counted from earlier.
    renewed: Instant,
    /// Since when the store has answered without trouble. Others may have been kept from renewing by
    /// the same trouble: they get a while.
    steady_since: Instant,
}

/// Whether a target may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MayCall {
    /// It may.
    Yes,
    /// The lease may end before long, and nobody could take over in time: not before it is renewed.
    NotNow,
    /// The work belonged to this node under an id that it has lost.
    Never,
}

impl Membership {
    /// Joins. The clock follows the store's from then on.
    pub(crate) async fn join(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        settings: NodeSettings,
        tether: Tether,
    ) -> Result<Arc<Self>, ReadError> {
        let standing = Standing {
            id: entropy::node_id(entropy.as_ref(), clock.now()),
            is_member: false,
            renewed: Instant::now(),
            steady_since: Instant::now(),
        };
        let membership = Self {
            store,
            clock,
            entropy,
            settings,
            tether,
            standing: Mutex::new(standing),
            lost: Notify::new(),
            orphaned: Notify::new(),
        };
        let id = membership.id();
        membership.enter(id).await?;
        Ok(Arc::new(membership))
    }

    /// The id under which this process commits and owns.
    pub(crate) fn id(&self) -> NodeId {
        self.standing.lock().id
    }

    /// Whether it has a lease, as far as it knows.
    pub(crate) fn is_member(&self) -> bool {
        self.standing.lock().is_member
    }

    /// Whether a row is this node's under its present id.
    pub(crate) fn owns(&self, row: &refire_store::WorkRow) -> bool {
        let standing = self.standing.lock();
        standing.is_member && row.owner == Some(standing.id)
    }

    /// Whether work of this owner may be begun. Calls that begin later than this before the end of
    /// the lease would overlap with those of whoever takes over.
    pub(crate) fn may_call(&self, owner: Option<NodeId>) -> MayCall {
        let standing = self.standing.lock();
        if !standing.is_member || owner != Some(standing.id) {
            return MayCall::Never;
        }
        #[cfg(feature = "planted")]
        if planted::is(Defect::CalledWithoutLease) {
            return MayCall::Yes;
        }
        let safe = self.settings.lease - self.renew_every();
        if self.store.is_shared() && standing.renewed.elapsed() >= safe {
            MayCall::NotNow
        } else {
            MayCall::Yes
        }
    }

    /// The lease of that id is gone, or what was committed under it is not known.
    pub(crate) fn lost(&self, id: NodeId) {
        let mut standing = self.standing.lock();
        if standing.id == id && standing.is_member {
            standing.is_member = false;
            self.lost.notify_one();
        }
    }

    /// Returns when a node went and may have left work behind, or after so long.
    pub(crate) async fn orphaned(&self, at_the_latest: Duration) {
        tokio::select! {
            biased;
            () = self.orphaned.notified() => {}
            () = tokio::time::sleep(at_the_latest) => {}
        }
    }

    /// All nodes.
    pub(crate) async fn nodes(&self) -> Result<Vec<NodeRow>, ReadError> {
        let mut nodes = self.store.nodes().await?;
        if !self.store.is_shared() {
            // The only one, and whoever asks hears it.
            let now = self.clock.now();
            for node in &mut nodes {
                node.renewed_at = now;
                node.expires_at = now.plus(self.settings.lease);
            }
        }
        Ok(nodes)
    }

    /// Keeps the lease, and joins again when it is lost.
    pub(crate) async fn keep(self: Arc<Self>, dispatcher: Arc<Dispatcher>) {
        let mut next_renewal = Instant::now() + self.renew_every();
        loop {
            tokio::select! {
                biased;
                () = self.lost.notified() => {}
                () = tokio::time::sleep(self.look_every()) => {}
            }
            if !self.is_member() {
                dispatcher.abandon();
                self.tether.cut();
                self.rejoin().await;
                next_renewal = Instant::now() + self.renew_every();
            } else if Instant::now() >= next_renewal && self.is_renewed().await {
                next_renewal = Instant::now() + self.renew_every();
            }
        }
    }

    /// One try to renew; false if it is not known that the lease was renewed.
    async fn is_renewed(&self) -> bool {
        let renewed = tokio::select! {
            biased;
            // A renewal that hangs must not hide that the lease is gone. Who waits next hears it again,
            // and acts upon it.
            () = self.lost.notified() => {
                self.lost.notify_one();
                return false;
            }
            // A connection that says nothing must not cost the lease: the next try has another.
            renewed = tokio::time::timeout(self.renew_every(), self.renew()) => renewed,
        };
        match renewed {
            Ok(Ok(_)) => true,
            Ok(Err(error)) => {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "the lease could not be renewed"
                );
                self.standing.lock().steady_since = Instant::now();
                false
            }
            Err(_) => {
                tracing::warn!("the lease could not be renewed: no answer");
                self.standing.lock().steady_since = Instant::now();
                false
            }
        }
    }

    /// Removes nodes whose lease is over. Apart from [`Membership::keep`], since it may wait for the
    /// commits of a dead node, and nobody's lease is to wait with it.
    pub(crate) async fn watch(self: Arc<Self>) {
        loop {
            tokio::time::sleep(self.look_every()).await;
            let is_steady = {
                let standing = self.standing.lock();
                standing.is_member && standing.steady_since.elapsed() >= self.renew_every()
            };
            if is_steady && !self.reap().await {
                self.standing.lock().steady_since = Instant::now();
                // Whoever it was about may be gone all the same.
                self.orphaned.notify_one();
            }
        }
    }

    fn renew_every(&self) -> Duration {
        self.settings.lease / RENEWALS_PER_LEASE
    }

    fn look_every(&self) -> Duration {
        (self.settings.lease / LOOKS_PER_LEASE).min(LOOK_EVERY_MAX)
    }

    /// Leaves in order: what is still owned is for the others at once.
    pub(crate) async fn leave(&self) {
        let id = {
            let mut standing = self.standing.lock();
            standing.is_member = false;
            standing.id
        };
        if let Err(error) = self.store.leave(id).await {
            tracing::warn!(
                error = &error as &dyn Error,
                "the node could not sign off; the others notice when its lease is over"
            );
        }
    }

    /// Renews; false if the lease is gone.
    async fn renew(&self) -> Result<bool, ReadError> {
        let (id, sent) = (self.id(), Instant::now());
        let lease = self.settings.lease;
        match self.store.renew(id, lease, self.clock.now()).await? {
            Lease::Held { now } => {
                self.follow(now, sent);
                self.standing.lock().renewed = sent;
                self.hold_from(sent);
                Ok(true)
            }
            Lease::Lost => {
                self.lost(id);
                Ok(false)
            }
        }
    }

    /// Removes nodes whose lease is over; false if that could not be done.
    async fn reap(&self) -> bool {
        #[cfg(feature = "planted")]
        if planted::is(Defect::ReapedLate) {
            let now = self.clock.now();
            let is_late = |node: &NodeRow| node.expires_at.plus(self.settings.lease) <= now;
            let nodes = self.store.nodes().await;
            if !nodes.iter().flatten().any(is_late) {
                return true;
            }
        }
        #[cfg(feature = "planted")]
        if planted::is(Defect::LivingReaped) {
            for node in self.store.nodes().await.iter().flatten() {
                if node.id != self.id() {
                    let _ = self.store.leave(node.id).await;
                }
            }
        }
        match self.store.reap(self.id(), self.clock.now()).await {
            Ok(gone) => {
                for node in &gone {
                    tracing::warn!(%node, "a node was silent for too long; its work is taken over");
                }
                if !gone.is_empty() {
                    self.orphaned.notify_one();
                }
                true
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "nodes that are gone could not be looked for"
                );
                false
            }
        }
    }

    /// Joins under a new id, however long it takes.
    async fn rejoin(&self) {
        let old = self.id();
        tracing::warn!(node = %old, "this node lost its lease: its calls are stopped, and it joins again");
        let (mut last, mut wait) = (old, JOIN_WAIT_MIN);
        let new = loop {
            // If the row is there still, this makes its work free at once.
            let _ = self.store.leave(last).await;
            // Each try has its own id: one whose answer was lost may have been there, and be gone since.
            let new = entropy::node_id(self.entropy.as_ref(), self.clock.now());
            #[cfg(feature = "planted")]
            let new = if planted::is(Defect::IdUsedAgain) {
                old
            } else {
                new
            };
            let Err(error) = self.enter(new).await else {
                break new;
            };
            tracing::warn!(error = &error as &dyn Error, "joining again failed");
            // Nodes that were cut off together do not come back in step.
            tokio::time::sleep(entropy::jittered(self.entropy.as_ref(), wait)).await;
            wait = (wait * 2).min(JOIN_WAIT_MAX);
            last = new;
        };
        tracing::info!(node = %new, was = %old, "joined again");
        self.orphaned.notify_one();
    }

    async fn enter(&self, id: NodeId) -> Result<(), ReadError> {
        let sent = Instant::now();
        let joining = Joining {
            id,
            name: self.settings.name.clone(),
            address: self.settings.address.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            lease: self.settings.lease,
        };
        let joined = self.store.join(&joining, self.clock.now()).await?;
        let mut took = sent.elapsed();
        let mut renewed = sent;
        if let Lease::Held { now } = joined {
            // Nothing is known of the clock yet, and a slow answer says little about it.
            if took <= TIME_TOLD_WITHIN {
                self.follow(now, sent);
            }
        }
        for _ in 0..TIME_ASKED_MAX {
            if took <= TIME_TOLD_WITHIN || !self.store.is_shared() {
                break;
            }
            renewed = Instant::now();
            let told = self.store.renew(id, self.settings.lease, self.clock.now());
            let Lease::Held { now } = told.await? else {
                break;
            };
            took = renewed.elapsed();
            self.follow(now, renewed);
        }
        *self.standing.lock() = Standing {
            id,
            is_member: true,
            renewed,
            steady_since: Instant::now(),
        };
        self.hold_from(renewed);
        Ok(())
    }

    /// The lease was renewed by a question sent then.
    fn hold_from(&self, sent: Instant) {
        if self.store.is_shared() {
            self.tether.holds_until(sent + self.settings.lease);
        }
    }

    /// The store said what time it is, at some moment since the question was sent.
    fn follow(&self, now: Option<refire_core::time::Timestamp>, sent: Instant) {
        #[cfg(feature = "planted")]
        let now = now.filter(|_| !planted::is(Defect::ClockOffsetIgnored));
        if let Some(now) = now {
            let half = sent.elapsed() / 2;
            self.clock.follow(now.plus(half), half);
        }
    }
}
