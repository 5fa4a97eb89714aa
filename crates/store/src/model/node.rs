//! Nodes and their leases.

use std::time::Duration;

use refire_core::id::NodeId;
use refire_core::time::Timestamp;

use super::image::Image;
use crate::{Joining, NodeRow};

impl Image {
    pub(super) fn has_lease(&self, node: NodeId) -> bool {
        self.nodes.contains_key(&node)
    }

    pub(super) fn join(&mut self, node: &Joining, now: Timestamp) {
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
        self.nodes.insert(node.id, row);
    }

    /// Whether there was something to renew.
    pub(super) fn renew(&mut self, node: NodeId, lease: Duration, now: Timestamp) -> bool {
        let Some(row) = self.nodes.get_mut(&node) else {
            return false;
        };
        row.renewed_at = now;
        row.expires_at = now.plus(lease);
        true
    }

    pub(super) fn reap(&mut self, by: NodeId, now: Timestamp) -> Vec<NodeId> {
        let is_over = |row: &NodeRow| row.id != by && row.expires_at <= now;
        let over: Vec<NodeId> = self
            .nodes
            .values()
            .filter(|row| is_over(row))
            .map(|row| row.id)
            .collect();
        for node in &over {
            self.nodes.remove(node);
        }
        over
    }

    /// The nodes with what they own, the oldest first.
    pub(super) fn node_rows(&self) -> Vec<NodeRow> {
        let mut rows: Vec<NodeRow> = self.nodes.values().cloned().collect();
        for row in &mut rows {
            let owned = self.work.values().filter(|work| work.owner == Some(row.id));
            for work in owned {
                row.running += u64::from(work.begun);
                row.holding += u64::from(!work.begun);
            }
        }
        rows.sort_by_key(|row| (row.started_at, row.id));
        rows
    }
}
