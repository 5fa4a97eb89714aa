//! Nodes: rows whose existence is a lease. Times are the database's own.

use std::time::Duration;

use async_trait::async_trait;
use refire_core::id::NodeId;
use refire_core::time::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use super::Postgres;
use super::columns::{micros, moment, uuid};
use super::pool::{Params, Reader};
use crate::column::read_at;
use crate::{Joining, Lease, NodeRow, Nodes, ReadError};

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

#[async_trait]
impl Nodes for Postgres {
    async fn join(&self, node: &Joining, _now: Timestamp) -> Result<Lease, ReadError> {
        let (id, lease) = (uuid(node.id.as_bytes()), micros(node.lease));
        let [name, address, version] =
            [&node.name, &node.address, &node.version].map(|text| plain(text));
        let joining: Params<'_> = &[&id, &name, &address, &version, &lease];
        held(self.leases.rows(JOIN, joining).await?.first())
    }

    async fn renew(
        &self,
        node: NodeId,
        lease: Duration,
        _now: Timestamp,
    ) -> Result<Lease, ReadError> {
        let (node, lease) = (uuid(node.as_bytes()), micros(lease));
        held(self.leases.rows(RENEW, &[&node, &lease]).await?.first())
    }

    async fn reap(&self, by: NodeId, _now: Timestamp) -> Result<Vec<NodeId>, ReadError> {
        let reader = self.leases.reader().await?;
        reader.read(reap(&reader, by)).await
    }

    async fn leave(&self, node: NodeId) -> Result<(), ReadError> {
        let sql = "DELETE FROM nodes WHERE node_id = $1";
        self.leases.rows(sql, &[&uuid(node.as_bytes())]).await?;
        Ok(())
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, ReadError> {
        let rows = self.readers.rows(NODES, &[]).await?;
        let row = |row: &Row| {
            Ok(NodeRow {
                id: read_at(row, 0)?,
                name: read_at(row, 1)?,
                address: read_at(row, 2)?,
                version: read_at(row, 3)?,
                started_at: moment(row, 4)?,
                renewed_at: moment(row, 5)?,
                expires_at: moment(row, 6)?,
                running: read_at(row, 7)?,
                holding: read_at(row, 8)?,
            })
        };
        rows.iter().map(row).collect()
    }

    async fn has_lease(&self, node: NodeId) -> Result<bool, ReadError> {
        let sql = "SELECT 1 FROM nodes WHERE node_id = $1";
        let rows = self.dispatch.rows(sql, &[&uuid(node.as_bytes())]).await?;
        Ok(!rows.is_empty())
    }
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
async fn reap(reader: &Reader, by: NodeId) -> Result<Vec<NodeId>, ReadError> {
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
    rows.iter().map(|row| read_at(row, 0)).collect()
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

/// A text that people chose, without the one character that a column of texts cannot hold.
fn plain(text: &str) -> String {
    text.replace('\0', "")
}
