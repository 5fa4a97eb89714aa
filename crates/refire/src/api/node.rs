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
    Ok(Json(whole(
        rows.into_iter().map(|row| shown(row, this)).collect(),
    )))
}

fn shown(row: NodeRow, this: NodeId) -> Node {
    Node {
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
