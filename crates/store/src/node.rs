//! Nodes: the processes that share a store, and what they tell each other.
//!
//! A node's row is its lease. While the row is there, what the node commits counts and what it owns
//! is its own; when the row is gone, nothing it sends is written any more, and what it owned is for
//! the others to take. Its expiry only allows others to remove the row: no commit compares clocks.

use std::collections::BTreeMap;
use std::time::Duration;

use refire_core::definition::WorkflowId;
use refire_core::id::{ExecutionId, NodeId, TriggerId};
use refire_core::time::Timestamp;

use crate::layer::store_trait;

store_trait! {
    /// Nodes and their leases.
    pub trait Nodes {
        /// A process becomes a node. `now` is the caller's clock, for a store without one.
        async fn join(&self, node: &Joining, now: Timestamp) -> Result<Lease, ReadError>;

        /// A node says that it is alive.
        async fn renew(
            &self,
            node: NodeId,
            lease: Duration,
            now: Timestamp,
        ) -> Result<Lease, ReadError>;

        /// Removes the nodes other than `by` whose lease is over. When this returns, none of their
        /// commits is in flight, and none can succeed any more.
        async fn reap(&self, by: NodeId, now: Timestamp) -> Result<Vec<NodeId>, ReadError>;

        /// A node leaves in order: what it still owns is for the others.
        async fn leave(&self, node: NodeId) -> Result<(), ReadError>;

        /// All nodes, the oldest first.
        async fn nodes(&self) -> Result<Vec<NodeRow>, ReadError>;

        /// Whether a node has its lease: a small question, for whoever asks often whether the store
        /// answers.
        async fn has_lease(&self, node: NodeId) -> Result<bool, ReadError>;
    }
}

/// A process that becomes a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joining {
    /// Its id, never used before.
    pub id: NodeId,
    /// Its name for people: the machine's.
    pub name: String,
    /// Where it listens, as people write it; empty = nowhere.
    pub address: String,
    /// The program's version.
    pub version: String,
    /// How long it may be silent before others may remove it.
    pub lease: Duration,
}

/// A node as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRow {
    /// Its id.
    pub id: NodeId,
    /// Its name for people.
    pub name: String,
    /// Where it listens.
    pub address: String,
    /// The program's version.
    pub version: String,
    /// When it joined, by the store's clock.
    pub started_at: Timestamp,
    /// When it was heard of last.
    pub renewed_at: Timestamp,
    /// From when on others may remove it.
    pub expires_at: Timestamp,
    /// Attempts that it has begun.
    pub running: u64,
    /// Work that it owns without having begun it: timers that are due soon, and what it is about
    /// to begin.
    pub holding: u64,
}

impl NodeRow {
    /// One that has just joined.
    pub(crate) fn joined(node: &Joining, now: Timestamp) -> Self {
        Self {
            id: node.id,
            name: node.name.clone(),
            address: node.address.clone(),
            version: node.version.clone(),
            started_at: now,
            renewed_at: now,
            expires_at: now.plus(node.lease),
            running: 0,
            holding: 0,
        }
    }

    pub(crate) fn renew(&mut self, lease: Duration, now: Timestamp) {
        self.renewed_at = now;
        self.expires_at = now.plus(lease);
    }
}

/// Removes those other than `by` whose lease is over, and says which they were.
pub(crate) fn reap(
    nodes: &mut BTreeMap<NodeId, NodeRow>,
    by: NodeId,
    now: Timestamp,
) -> Vec<NodeId> {
    let is_over = |row: &NodeRow| row.id != by && row.expires_at <= now;
    let over = nodes.extract_if(.., |_, row| is_over(row));
    over.map(|(id, _)| id).collect()
}

/// What joining or renewing says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lease {
    /// The node has it.
    Held {
        /// What time it is by the store's own clock; absent = the store has none but the caller's.
        now: Option<Timestamp>,
    },
    /// It is gone: others may have taken over. The node must join under a new id.
    Lost,
}

/// What nodes tell each other. Hints only: whoever misses one finds out by looking.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum News {
    /// There is unowned work that is due.
    Work,
    /// Somebody held or ended this execution: what runs of it elsewhere is void.
    Withdrawn(ExecutionId),
    /// A definition was saved or deleted; with a workflow its triggers change, too.
    Definition(WorkflowId),
    /// A trigger was made, changed or deleted.
    Trigger(TriggerId),
    /// Workers may fetch a task of this type.
    Task(String),
    /// The circuit breaker of this target has moved.
    Breaker(String),
    /// A trigger may be due earlier than anybody knows.
    Due,
    /// A channel was made, changed or removed.
    Channel,
    /// A notice waits.
    Notice,
    /// Something may have been missed: look at everything.
    Missed,
}
