//! Nodes and their leases.

use std::time::Duration;

use async_trait::async_trait;
use refire_core::id::NodeId;
use refire_core::time::Timestamp;

use super::Model;
use super::image::Image;
use crate::{Joining, Lease, NodeRow, Nodes, ReadError, node};

#[async_trait]
impl Nodes for Model {
    async fn join(&self, node: &Joining, now: Timestamp) -> Result<Lease, ReadError> {
        self.ask("join", |image| {
            let row = NodeRow::joined(node, self.now_or(now));
            image.nodes.insert(node.id, row);
            let now = self.disk.now();
            Ok(Lease::Held { now })
        })
        .await
    }

    async fn renew(
        &self,
        node: NodeId,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Lease, ReadError> {
        self.ask("renew", |image| {
            let now = self.now_or(now);
            let Some(row) = image.nodes.get_mut(&node) else {
                return Ok(Lease::Lost);
            };
            row.renew(lease, now);
            let now = self.disk.is_shared().then_some(now);
            Ok(Lease::Held { now })
        })
        .await
    }

    async fn reap(&self, by: NodeId, now: Timestamp) -> Result<Vec<NodeId>, ReadError> {
        self.ask("reap", |image| {
            Ok(node::reap(&mut image.nodes, by, self.now_or(now)))
        })
        .await
    }

    async fn leave(&self, node: NodeId) -> Result<(), ReadError> {
        self.ask("leave", |image| {
            image.nodes.remove(&node);
            Ok(())
        })
        .await
    }

    /// With what they own.
    async fn nodes(&self) -> Result<Vec<NodeRow>, ReadError> {
        self.read("nodes", |image| {
            let mut rows: Vec<NodeRow> = image.nodes.values().cloned().collect();
            for row in &mut rows {
                let owned = image
                    .work
                    .values()
                    .filter(|work| work.owner == Some(row.id));
                for work in owned {
                    row.running += u64::from(work.begun);
                    row.holding += u64::from(!work.begun);
                }
            }
            rows.sort_by_key(|row| (row.started_at, row.id));
            Ok(rows)
        })
        .await
    }

    async fn has_lease(&self, node: NodeId) -> Result<bool, ReadError> {
        let nodes = self.nodes().await?;
        Ok(nodes.iter().any(|row| row.id == node))
    }
}

impl Image {
    pub(super) fn has_lease(&self, node: NodeId) -> bool {
        self.nodes.contains_key(&node)
    }
}
