//! Nodes of a store that only one process has open: they are known to that process, and nowhere
//! else. Whatever an earlier process owned has no living owner from the start.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use refire_core::id::NodeId;
use refire_core::time::Timestamp;

use crate::{CommitError, Joining, Lease, NodeRow, NotWritten};

/// See the module.
#[derive(Default)]
pub(super) struct Nodes(Mutex<BTreeMap<NodeId, NodeRow>>);

impl Nodes {
    fn rows(&self) -> MutexGuard<'_, BTreeMap<NodeId, NodeRow>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn join(&self, node: &Joining, now: Timestamp) -> Lease {
        let row = NodeRow {
            id: node.id,
            name: node.name.clone(),
            address: node.address.clone(),
            version: node.version.clone(),
            started_at: now,
            renewed_at: now,
            expires_at: now.plus(node.lease),
            running: 0,
            holding: 0,
        };
        self.rows().insert(node.id, row);
        Lease::Held { now: None }
    }

    pub(super) fn renew(&self, node: NodeId, lease: Duration, now: Timestamp) -> Lease {
        let mut rows = self.rows();
        let Some(row) = rows.get_mut(&node) else {
            return Lease::Lost;
        };
        row.renewed_at = now;
        row.expires_at = now.plus(lease);
        Lease::Held { now: None }
    }

    pub(super) fn reap(&self, by: NodeId, now: Timestamp) -> Vec<NodeId> {
        let mut rows = self.rows();
        let is_over = |row: &NodeRow| row.id != by && row.expires_at <= now;
        let over: Vec<NodeId> = rows
            .values()
            .filter(|row| is_over(row))
            .map(|row| row.id)
            .collect();
        rows.retain(|id, _| !over.contains(id));
        over
    }

    pub(super) fn leave(&self, node: NodeId) {
        self.rows().remove(&node);
    }

    pub(super) fn ids(&self) -> Vec<NodeId> {
        self.rows().keys().copied().collect()
    }

    pub(super) fn all(&self) -> Vec<NodeRow> {
        let mut all: Vec<NodeRow> = self.rows().values().cloned().collect();
        all.sort_by_key(|row| (row.started_at, row.id));
        all
    }

    /// Refuses the commit of a node that has no lease.
    pub(super) fn require(&self, node: NodeId) -> Result<(), CommitError> {
        if self.rows().contains_key(&node) {
            return Ok(());
        }
        Err(CommitError::NotWritten {
            reason: NotWritten::LeaseLost,
            source: format!("{node} is not among the nodes").into(),
        })
    }
}
