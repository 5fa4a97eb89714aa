//! Nodes: rows whose existence is a lease. Times are the database's own.

use std::time::Duration;

use refire_core::id::NodeId;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use super::columns::{count, get, micros, moment, node_id, uuid};
use super::pool::Reader;
use crate::{Joining, Lease, NodeRow, ReadError};

const JOIN: &str = "INSERT INTO nodes (node_id, name, address, version, started_at, renewed_at,
        expires_at)
 SELECT $1, $2, $3, $4, now, now, now + $5::bigint * interval '1 microsecond'
   FROM clock_timestamp() AS now
     ON CONFLICT (node_id) DO UPDATE SET started_at = excluded.started_at,
        renewed_at = excluded.renewed_at, expires_at = excluded.expires_at
 RETURNING renewed_at";

/// No column of the key changes, so this never waits for the node's commits.
const RENEW: &str = "UPDATE nodes SET renewed_at = now,
        expires_at = now + $2::bigint * interval '1 microsecond'
   FROM clock_timestamp() AS now
  WHERE node_id = $1 RETURNING renewed_at";

/// Waits for the commits in flight of whom it removes, and looks again at whoever renews meanwhile.
const REAP: &str = "DELETE FROM nodes WHERE node_id IN (
        SELECT node_id FROM nodes
         WHERE expires_at <= clock_timestamp() AND node_id <> $1
         ORDER BY node_id FOR UPDATE)
 RETURNING node_id";

/// Connections that commit leave their mark behind when their process is killed.
const FORGET_MARKS: &str =
    "DELETE FROM commit_marks WHERE marked_at < clock_timestamp() - interval '1 day'";

const NODES: &str = "SELECT nodes.node_id, name, address, version, started_at, renewed_at,
        expires_at, owned.running, owned.holding
   FROM nodes CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE begun) AS running,
               count(*) FILTER (WHERE NOT begun) AS holding
          FROM work WHERE work.owner = nodes.node_id) AS owned
  ORDER BY started_at, nodes.node_id";

pub(super) async fn join(reader: &Reader, node: &Joining) -> Result<Lease, ReadError> {
    let row = reader
        .row(
            JOIN,
            &[
                &uuid(node.id.as_bytes()),
                &plain(&node.name),
                &plain(&node.address),
                &plain(&node.version),
                &micros(node.lease),
            ],
        )
        .await?;
    held(row.as_ref())
}

pub(super) async fn renew(
    reader: &Reader,
    node: NodeId,
    lease: Duration,
) -> Result<Lease, ReadError> {
    let row = reader
        .row(RENEW, &[&uuid(node.as_bytes()), &micros(lease)])
        .await?;
    held(row.as_ref())
}

fn held(row: Option<&Row>) -> Result<Lease, ReadError> {
    Ok(match row {
        Some(row) => Lease::Held {
            now: Some(moment(row, 0)?),
        },
        None => Lease::Lost,
    })
}

/// None if somebody's commit takes too long to wait for: the next round tries again.
pub(super) async fn reap(reader: &Reader, by: NodeId) -> Result<Vec<NodeId>, ReadError> {
    let reap = reader.prepare_cached(REAP).await?;
    let rows = match reader.query(&reap, &[&uuid(by.as_bytes())]).await {
        Ok(rows) => rows,
        Err(error) if is_contended(&error) => {
            tracing::debug!(error = ?error, "a dead node's commit is still in flight");
            return Ok(Vec::new());
        }
        Err(error) => return Err(error.into()),
    };
    if !rows.is_empty() {
        // A chore: whoever is gone is gone, whatever becomes of it.
        if let Err(error) = reader.batch_execute(FORGET_MARKS).await {
            tracing::debug!(error = ?error, "old marks could not be removed");
        }
    }
    rows.iter().map(|row| node_id(row, 0)).collect()
}

fn is_contended(error: &tokio_postgres::Error) -> bool {
    matches!(
        error.code(),
        Some(
            &SqlState::LOCK_NOT_AVAILABLE
                | &SqlState::T_R_DEADLOCK_DETECTED
                | &SqlState::QUERY_CANCELED
        )
    )
}

pub(super) async fn leave(reader: &Reader, node: NodeId) -> Result<(), ReadError> {
    let leave = reader
        .prepare_cached("DELETE FROM nodes WHERE node_id = $1")
        .await?;
    reader.execute(&leave, &[&uuid(node.as_bytes())]).await?;
    Ok(())
}

/// Whether a node is among the living.
pub(super) async fn has_lease(reader: &Reader, node: NodeId) -> Result<bool, ReadError> {
    let sql = "SELECT 1 FROM nodes WHERE node_id = $1";
    let row = reader.row(sql, &[&uuid(node.as_bytes())]).await?;
    Ok(row.is_some())
}

/// The oldest first.
pub(super) async fn nodes(reader: &Reader) -> Result<Vec<NodeRow>, ReadError> {
    let rows = reader.rows(NODES, &[]).await?;
    rows.iter()
        .map(|row| {
            Ok(NodeRow {
                id: node_id(row, 0)?,
                name: get(row, 1)?,
                address: get(row, 2)?,
                version: get(row, 3)?,
                started_at: moment(row, 4)?,
                renewed_at: moment(row, 5)?,
                expires_at: moment(row, 6)?,
                running: count(row, 7)?,
                holding: count(row, 8)?,
            })
        })
        .collect()
}

/// A text that people chose, without the one character that a column of texts cannot hold.
fn plain(text: &str) -> String {
    text.replace('\0', "")
}
