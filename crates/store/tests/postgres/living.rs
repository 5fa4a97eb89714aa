//! Nodes that live, and nodes that are removed: who waits for whom, and by which clock.

use std::sync::Arc;
use std::time::Duration;

use refire_core::id::NodeId;
use refire_core::time::Timestamp;
use refire_store::postgres::Scratch;
use refire_store::{Joining, Lease, Nodes, Store};
use tokio_postgres::Client;

use crate::server::{open, session};
use crate::watch::until_waiting;

const DEAD: NodeId = NodeId::from_bytes([3; 16]);
const REAPER: NodeId = NodeId::from_bytes([7; 16]);
/// The database's clock is the one that counts.
const NOW: Timestamp = Timestamp::from_micros(0);

fn joining(id: NodeId, lease: Duration) -> Joining {
    Joining {
        id,
        name: "nul \0 name".to_owned(),
        address: "127.0.0.1:1".to_owned(),
        version: "1".to_owned(),
        lease,
    }
}

/// What a commit of a node does first.
async fn begin_commit(session: &Client, node: NodeId) {
    session.batch_execute("BEGIN").await.unwrap();
    let hex: String = node
        .as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let lock = format!("SELECT 1 FROM nodes WHERE node_id = '{hex}' FOR KEY SHARE");
    session.batch_execute(&lock).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn removing_a_node_waits_for_its_commit_in_flight() {
    let scratch = Scratch::new();
    let (store, other) = (Arc::new(open(&scratch).await), open(&scratch).await);
    store
        .join(&joining(DEAD, Duration::ZERO), NOW)
        .await
        .unwrap();
    let (committing, watching) = (session(&scratch).await, session(&scratch).await);
    begin_commit(&committing, DEAD).await;
    let reaper = Arc::clone(&store);
    let reaping = tokio::spawn(async move { reaper.reap(REAPER, NOW).await });
    until_waiting(&watching, "lease").await;
    assert_eq!(
        other.nodes().await.unwrap().len(),
        1,
        "not while it commits"
    );
    committing.batch_execute("COMMIT").await.unwrap();
    assert_eq!(reaping.await.unwrap().unwrap(), [DEAD]);
    assert!(other.nodes().await.unwrap().is_empty());
    let renewed = other
        .renew(DEAD, Duration::from_secs(60), NOW)
        .await
        .unwrap();
    assert_eq!(renewed, Lease::Lost);
    store.close().await;
    other.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_commit_that_hangs_is_waited_for_next_time() {
    let scratch = Scratch::new();
    let store = open(&scratch).await;
    store
        .join(&joining(DEAD, Duration::ZERO), NOW)
        .await
        .unwrap();
    let committing = session(&scratch).await;
    begin_commit(&committing, DEAD).await;
    assert!(store.reap(REAPER, NOW).await.unwrap().is_empty());
    committing.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(store.reap(REAPER, NOW).await.unwrap(), [DEAD]);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn renewing_waits_for_no_commit_and_saves_the_lease() {
    let scratch = Scratch::new();
    let (store, other) = (Arc::new(open(&scratch).await), open(&scratch).await);
    store
        .join(&joining(DEAD, Duration::ZERO), NOW)
        .await
        .unwrap();
    let (committing, watching) = (session(&scratch).await, session(&scratch).await);
    begin_commit(&committing, DEAD).await;
    let reaper = Arc::clone(&store);
    let reaping = tokio::spawn(async move { reaper.reap(REAPER, NOW).await });
    until_waiting(&watching, "lease").await;
    // Late, but not too late: nobody has removed it yet.
    let renewed = other
        .renew(DEAD, Duration::from_secs(60), NOW)
        .await
        .unwrap();
    assert!(
        matches!(renewed, Lease::Held { now: Some(_) }),
        "{renewed:?}"
    );
    committing.batch_execute("COMMIT").await.unwrap();
    assert!(reaping.await.unwrap().unwrap().is_empty());
    assert_eq!(other.nodes().await.unwrap().len(), 1);
    store.close().await;
    other.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_clock_is_the_databases_own() {
    let scratch = Scratch::new();
    let store = open(&scratch).await;
    let session = session(&scratch).await;
    let of_server = async || {
        let row = session
            .query_one(
                "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
                &[],
            )
            .await
            .unwrap();
        Timestamp::from_micros(row.get(0))
    };
    let before = of_server().await;
    let joined = store
        .join(&joining(DEAD, Duration::from_secs(60)), NOW)
        .await
        .unwrap();
    let after = of_server().await;
    let Lease::Held { now: Some(now) } = joined else {
        panic!("{joined:?}");
    };
    assert!(
        before <= now && now <= after,
        "{before:?} {now:?} {after:?}"
    );
    let node = store.nodes().await.unwrap().remove(0);
    assert_eq!((node.started_at, node.name.as_str()), (now, "nul  name"));
    assert_eq!(node.expires_at, now.plus(Duration::from_secs(60)));
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn marks_of_the_long_dead_are_forgotten() {
    let scratch = Scratch::new();
    let store = open(&scratch).await;
    let session = session(&scratch).await;
    session
        .batch_execute(
            "INSERT INTO commit_marks (writer, serial, marked_at) VALUES
                 ('00000000-0000-0000-0000-000000000001', 1, now() - interval '25 hours'),
                 ('00000000-0000-0000-0000-000000000002', 1, now() - interval '23 hours')",
        )
        .await
        .unwrap();
    store
        .join(&joining(DEAD, Duration::ZERO), NOW)
        .await
        .unwrap();
    assert_eq!(store.reap(REAPER, NOW).await.unwrap(), [DEAD]);
    let left = session
        .query(
            "SELECT 1 FROM commit_marks WHERE writer::text LIKE '00000000-%'",
            &[],
        )
        .await
        .unwrap();
    assert_eq!(left.len(), 1);
    store.close().await;
}
