//! Nodes of a store that only one process has open: they are known to that process, and nowhere
//! else. Whatever an earlier process owned has no living owner from the start.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use refire_core::id::NodeId;
use refire_core::time::Timestamp;

use super::{Sqlite, read};
use crate::{CommitError, Joining, Lease, NodeRow, Nodes, NotWritten, ReadError, node};

/// See the module.
#[derive(Default)]
pub(super) struct OwnNodes(Mutex<BTreeMap<NodeId, NodeRow>>);

impl OwnNodes {
    fn rows(&self) -> MutexGuard<'_, BTreeMap<NodeId, NodeRow>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn ids(&self) -> Vec<NodeId> {
        self.rows().keys().copied().collect()
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

#[async_trait]
impl Nodes for Sqlite {
    async fn join(&self, node: &Joining, now: Timestamp) -> Result<Lease, ReadError> {
        self.nodes
            .rows()
            .insert(node.id, NodeRow::joined(node, now));
        Ok(Lease::Held { now: None })
    }

    async fn renew(
        &self,
        node: NodeId,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Lease, ReadError> {
        let mut rows = self.nodes.rows();
        let Some(row) = rows.get_mut(&node) else {
            return Ok(Lease::Lost);
        };
        row.renew(lease, now);
        Ok(Lease::Held { now: None })
    }

    async fn reap(&self, by: NodeId, now: Timestamp) -> Result<Vec<NodeId>, ReadError> {
        Ok(node::reap(&mut self.nodes.rows(), by, now))
    }

    async fn leave(&self, node: NodeId) -> Result<(), ReadError> {
        self.nodes.rows().remove(&node);
        Ok(())
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, ReadError> {
        let mut nodes: Vec<NodeRow> = self.nodes.rows().values().cloned().collect();
        nodes.sort_by_key(|row| (row.started_at, row.id));
        let owned = self.readers.read(read::work::owned).await?;
        for node in &mut nodes {
            if let Some((_, running, holding)) = owned.iter().find(|(id, ..)| *id == node.id) {
                (node.running, node.holding) = (*running, *holding);
            }
        }
        Ok(nodes)
    }

    async fn has_lease(&self, node: NodeId) -> Result<bool, ReadError> {
        // By a read, so that the answer says that the file can be read, too.
        let nodes = self.nodes().await?;
        Ok(nodes.iter().any(|row| row.id == node))
    }
}
