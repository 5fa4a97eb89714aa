//! Connections that break, and a database that does not answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use refire_core::id::{ExecutionId, NodeId};
use refire_core::time::Timestamp;
use refire_store::postgres::{Postgres, Scratch};
use refire_store::{
    EventFilter, ExecutionFilter, Executions, Joining, Lease, Nodes, ReadError, Store, Stretch,
};

use crate::proxy::Proxy;
use crate::server::{open, session};
use crate::stage::{self, Stage};
use crate::watch::{kill, until_waiting};

const NOBODY: ExecutionId = ExecutionId::from_bytes([9; 16]);
const NODE: NodeId = NodeId::from_bytes([3; 16]);
const NOW: Timestamp = Timestamp::from_micros(0);

/// Reads that run at the same time.
const READERS: usize = 4;
/// Three times what closing waits for, in all.
const CLOSED_WITHIN: Duration = Duration::from_secs(20);
/// Longer than the longest way to an answer.
const ANSWERED_WITHIN: Duration = Duration::from_secs(60);
/// How often every connection is ended.
const KILLS: usize = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_ended_connection_is_replaced_before_its_next_use() {
    let scratch = Scratch::new();
    let store = open(&scratch).await;
    let session = session(&scratch).await;
    let node = Joining {
        id: NODE,
        name: "here".to_owned(),
        address: String::new(),
        version: "1".to_owned(),
        lease: Duration::from_secs(60),
    };
    store.join(&node, NOW).await.unwrap();
    for round in 0..3 {
        // Both have a connection by now.
        store.execution(NOBODY).await.unwrap();
        store.load(NOBODY).await.unwrap();
        for purpose in ["reader", "loader", "lease"] {
            assert!(
                kill(&session, purpose).await > 0,
                "{purpose} in round {round}"
            );
        }
        eventually(&store, async |store| {
            store.execution(NOBODY).await.map(drop)
        })
        .await;
        eventually(&store, async |store| store.load(NOBODY).await.map(drop)).await;
        eventually(&store, async |store| {
            let renewed = store.renew(NODE, Duration::from_secs(60), NOW).await?;
            assert!(matches!(renewed, Lease::Held { now: Some(_) }));
            Ok(())
        })
        .await;
    }
    store.close().await;
}

/// A read right after its connection was ended may fail once, as unavailable; not twice.
async fn eventually(store: &Postgres, read: impl AsyncFn(&Postgres) -> Result<(), ReadError>) {
    match read(store).await {
        Ok(()) => return,
        Err(ReadError::Unavailable(_)) => {}
        Err(other) => panic!("{other:?}"),
    }
    read(store).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_in_flight_fail_once_as_unavailable() {
    let scratch = Scratch::new();
    let store = Arc::new(open(&scratch).await);
    let session = session(&scratch).await;
    let is_over = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let reading: Vec<_> = (0..READERS)
        .map(|_| {
            let (store, is_over) = (Arc::clone(&store), Arc::clone(&is_over));
            tokio::spawn(async move {
                let (mut reads, mut failures) = (0_usize, 0_usize);
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    let all = ExecutionFilter::default();
                    match store.executions(&all, &Stretch::new(None, 10)).await {
                        Ok(_) => reads += 1,
                        Err(ReadError::Unavailable(_)) => failures += 1,
                        Err(other) => panic!("{other:?}"),
                    }
                }
                (reads, failures)
            })
        })
        .collect();
    let mut killed = 0;
    for _ in 0..KILLS {
        tokio::time::sleep(Duration::from_millis(50)).await;
        killed += kill(&session, "reader").await;
    }
    is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    let (mut reads, mut failures) = (0, 0);
    for reader in reading {
        let (some, failed) = reader.await.unwrap();
        reads += some;
        failures += failed;
    }
    println!("{killed} connections were ended under {reads} reads, {failures} of them failed");
    assert!(killed > 0 && reads > 0);
    assert!(
        failures <= killed,
        "{failures} failures of {killed} connections"
    );
    store
        .executions(&ExecutionFilter::default(), &Stretch::new(None, 10))
        .await
        .unwrap();
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_read_that_must_wait_for_a_lock_gives_up() {
    let scratch = Scratch::new();
    let store = open(&scratch).await;
    let session = session(&scratch).await;
    session
        .batch_execute("BEGIN; LOCK TABLE executions, workflow_events IN ACCESS EXCLUSIVE MODE")
        .await
        .unwrap();
    let began = Instant::now();
    let (all, plain) = (ExecutionFilter::default(), EventFilter::default());
    let ten = Stretch::new(None, 10);
    let (one, list, log) = tokio::join!(
        store.execution(NOBODY),
        store.executions(&all, &ten),
        store.history(NOBODY, &plain, 0, 10),
    );
    assert!(matches!(one, Err(ReadError::Unavailable(_))), "{one:?}");
    assert!(matches!(list, Err(ReadError::Unavailable(_))), "{list:?}");
    assert!(matches!(log, Err(ReadError::Unavailable(_))), "{log:?}");
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    // Leases have a way of their own.
    assert!(store.nodes().await.unwrap().is_empty());
    session.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(store.execution(NOBODY).await.unwrap(), None);
    assert!(
        store
            .executions(&all, &Stretch::new(None, 10))
            .await
            .unwrap()
            .rows
            .is_empty()
    );
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_read_that_is_dropped_disturbs_no_other() {
    let scratch = Scratch::new();
    let store = Arc::new(open(&scratch).await);
    let (session, watching) = (session(&scratch).await, session(&scratch).await);
    session
        .batch_execute("BEGIN; LOCK TABLE executions IN ACCESS EXCLUSIVE MODE")
        .await
        .unwrap();
    let reading = Arc::clone(&store);
    let dropped = tokio::spawn(async move {
        let all = ExecutionFilter::default();
        reading.executions(&all, &Stretch::new(None, 10)).await
    });
    until_waiting(&watching, "reader").await;
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    session.batch_execute("ROLLBACK").await.unwrap();
    for _ in 0..20 {
        let all = ExecutionFilter::default();
        assert!(
            store
                .executions(&all, &Stretch::new(None, 10))
                .await
                .unwrap()
                .rows
                .is_empty()
        );
        assert_eq!(store.execution(NOBODY).await.unwrap(), None);
    }
    store.close().await;
}

/// A database that says nothing keeps nobody from stopping.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_waits_for_no_silent_database() {
    let scratch = Scratch::new();
    let proxy = Proxy::to(&scratch.url()).await;
    let store = Arc::new(stage::open(proxy.url()).await);
    let mut stage = Stage::new(1);
    stage.save(&*store).await;
    // Every kind of connection is there, and two commits are under way.
    stage::join(&*store, stage::node(1), Duration::from_secs(60)).await;
    store.execution(NOBODY).await.unwrap();
    store.load(NOBODY).await.unwrap();
    store.states(&[NOBODY]).await.unwrap();
    proxy.fall_silent();
    let commits: Vec<_> = (0..2)
        .map(|_| {
            let (store, batch) = (Arc::clone(&store), stage.batch(vec![stage.put()]));
            tokio::spawn(async move { store.commit(&batch).await })
        })
        .collect();
    let reading = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.execution(NOBODY).await })
    };
    tokio::task::yield_now().await;
    let began = Instant::now();
    store.close().await;
    let took = began.elapsed();
    assert!(took < CLOSED_WITHIN, "it took {took:?}");
    for commit in commits {
        // Nobody can know what became of them; nobody waits for ever either.
        let ended = tokio::time::timeout(ANSWERED_WITHIN, commit).await;
        assert!(ended.unwrap().unwrap().is_err());
    }
    reading.abort();
}
