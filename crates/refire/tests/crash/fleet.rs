//! Nodes that share a database.

use tempfile::TempDir;

use crate::cluster::Cluster;
use crate::node::Node;

/// A node that is not started yet, with a folder of its own below `home`.
pub(crate) fn node(home: &TempDir, cluster: &Cluster, name: &'static str, lease: &str) -> Node {
    let own = home.path().join(name);
    std::fs::create_dir(&own).unwrap();
    Node::new(&own, &own.join("data"))
        .with("REFIRE_DATABASE_URL", &cluster.url)
        .with("REFIRE_NODE_NAME", name)
        .with("REFIRE_LEASE", lease)
}
