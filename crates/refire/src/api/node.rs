//! Nodes: the processes that share the store.

use axum::Json;
use refire_client::model::{Node, Page};
use refire_core::id::NodeId;
use refire_store::NodeRow;

use super::page::whole;
use super::{Answer, App, Params};

/// The nodes that share the store, the oldest first; on SQLite there is one.
#[utoipa::path(
    get,
    path = "/api/nodes",
    responses(
        (status = 200, description = "All nodes", body = Page<Node>),
        (status = 503, description = "The store is not available"),
    ),
)]
pub(super) async fn list_nodes(app: App, _: Params<()>) -> Answer<Page<Node>> {
    let this = app.engine.node();
    let rows = app.engine.nodes().await?;
    let p99 = app.engine.commit_p99().map(|p99| p99.as_secs_f64() * 1e3);
    let shown = |row: NodeRow| {
        // What only a node knows of itself.
        let commit_ms_p99 = p99.filter(|_| row.id == this);
        shown(row, this, commit_ms_p99)
    };
    Ok(Json(whole(rows.into_iter().map(shown).collect())))
}

fn shown(row: NodeRow, this: NodeId, commit_ms_p99: Option<f64>) -> Node {
    Node {
        commit_ms_p99,
        node_id: row.id.to_string(),
        name: row.name,
        address: row.address,
        version: row.version,
        started_at: row.started_at.to_string(),
        renewed_at: row.renewed_at.to_string(),
        expires_at: row.expires_at.to_string(),
        running: row.running,
        holding: row.holding,
        is_this: row.id == this,
    }
}
