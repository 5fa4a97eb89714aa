//! Whose turn it is to do what one node is enough for, such as looking for due triggers. Any node may do
//! it, and the commit sees to it that nothing is done twice; so that not all of them try each time, the
//! oldest node goes first, and each younger one a second later. A node that dies costs a second and not a
//! lease.

use std::time::Duration;

use refire_core::id::NodeId;
use refire_core::time::Timestamp;
use refire_store::NodeRow;

use crate::context::Context;

/// How much longer each younger node waits.
const TURN: Duration = Duration::from_secs(1);
/// Nodes that wait longer than others; the rest wait as long as the last of them.
const TURNS_MAX: u32 = 10;
/// How old what is known of the other nodes may be.
const NODES_KNOWN_FOR: Duration = Duration::from_secs(1);

/// What a node knows of its turn.
#[derive(Default)]
pub(crate) struct Turn {
    known: Option<(Timestamp, Duration)>,
}

impl Turn {
    /// Whether this node waits for none.
    pub(crate) async fn is_first(&mut self, context: &Context) -> bool {
        self.of(context).await.is_zero()
    }

    /// How long this node waits for older ones.
    pub(crate) async fn of(&mut self, context: &Context) -> Duration {
        if !context.store.is_shared() {
            return Duration::ZERO;
        }
        let now = context.clock.now();
        match self.known {
            Some((at, behind)) if now.since(at) < NODES_KNOWN_FOR => behind,
            _ => {
                let nodes = context.store.nodes().await.unwrap_or_default();
                let behind = TURN * older(&nodes, context.membership.id(), now);
                self.known = Some((now, behind));
                behind
            }
        }
    }
}

/// How many nodes look before this one. Who should have renewed its lease some time ago is not waited
/// for: most likely it is dead, and its row stays until the lease is over.
fn older(nodes: &[NodeRow], me: NodeId, now: Timestamp) -> u32 {
    let is_heard_of = |node: &&NodeRow| {
        let lease = node.expires_at.since(node.renewed_at);
        now.since(node.renewed_at) <= lease / 2
    };
    let older = nodes.iter().take_while(|node| node.id != me);
    let count = older.filter(is_heard_of).count();
    u32::try_from(count).unwrap_or(TURNS_MAX).min(TURNS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u8, renewed_s: i64) -> NodeRow {
        let renewed_at = Timestamp::from_millis(renewed_s * 1_000);
        NodeRow {
            id: NodeId::from_bytes([number; 16]),
            name: String::new(),
            address: String::new(),
            version: String::new(),
            started_at: Timestamp::from_millis(i64::from(number)),
            renewed_at,
            expires_at: renewed_at.plus(Duration::from_secs(15)),
            running: 0,
            holding: 0,
        }
    }

    #[test]
    fn a_node_waits_for_older_ones_that_were_heard_of_lately() {
        let now = Timestamp::from_millis(100_000);
        let turns = |nodes: &[NodeRow]| {
            let last = nodes.last().unwrap().id;
            older(nodes, last, now)
        };
        assert_eq!(turns(&[node(1, 100)]), 0);
        assert_eq!(turns(&[node(1, 95), node(2, 100)]), 1);
        assert_eq!(turns(&[node(1, 95), node(2, 93), node(3, 100)]), 2);
        // Renewals come each third of a lease.
        assert_eq!(turns(&[node(1, 92), node(2, 93), node(3, 100)]), 1);
        assert_eq!(turns(&[node(1, 86), node(2, 86), node(3, 100)]), 0);
        // Whatever a clock says: a time to come is heard of.
        assert_eq!(turns(&[node(1, 130), node(2, 100)]), 1);
        let crowd: Vec<NodeRow> = (0..30).map(|number| node(number, 99)).collect();
        assert_eq!(turns(&crowd), TURNS_MAX);
    }
}
