//! Leases: whoever removes a node waits for what it is writing, and nothing of it is written later.

use std::time::Duration;

use refire_store::postgres::Scratch;
use refire_store::{
    CommitError, Executions, Nodes, NotWritten, PartOutcome, ReadError, Store, Work,
};
use tokio_postgres::NoTls;

use crate::proxy::Proxy;
use crate::stage::{self, Stage, admission, node};

/// How long a server may be busy with removing a node.
const GONE_WITHIN: Duration = Duration::from_secs(20);
/// Long enough to see that something waits.
const MOMENT: Duration = Duration::from_millis(300);

fn is_lease_lost<T>(ended: &Result<T, CommitError>) -> bool {
    matches!(
        ended,
        Err(CommitError::NotWritten {
            reason: NotWritten::LeaseLost,
            ..
        })
    )
}

/// A connection of the test's own.
async fn connection(url: &str) -> tokio_postgres::Client {
    let (client, driver) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(driver);
    client
}

/// A commit that is under way is held up by a lock of the test's own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_reaper_waits_for_a_commit_in_flight() {
    let database = Scratch::new();
    let store = stage::open(&database.url()).await;
    let other = stage::open(&database.url()).await;
    let mut stage = Stage::new(1);
    stage.save(&store).await;
    stage::join(&store, node(7), Duration::ZERO).await;
    stage::join(&other, node(9), Duration::from_secs(600)).await;
    stage.lease = Some(node(7));
    let blocker = connection(&database.url()).await;
    // An execution of the same id, which is not committed.
    let (run, admit) = stage.start("{}");
    let id = uuid::Uuid::from_bytes(*run.id.as_bytes());
    blocker.batch_execute("BEGIN").await.unwrap();
    blocker
        .execute(
            "INSERT INTO executions VALUES ($1, 1, 1, 1, 1, $1, 'pending', NULL, 'manual', 5, 0, 0,
                 0, NULL, NULL, $1, 0, NULL, NULL)",
            &[&id],
        )
        .await
        .unwrap();
    let batch = stage.batch(vec![admission(admit)]);
    let committing = store.commit(&batch);
    let reaping = async {
        // The commit is under way when it waits for the blocker.
        let watcher = connection(&database.url()).await;
        loop {
            let waiting = watcher
                .query_one(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                     AND application_name = 'refire commits' AND wait_event_type = 'Lock'",
                    &[],
                )
                .await
                .unwrap();
            if waiting.get::<_, i64>(0) == 1 {
                break;
            }
        }
        let mut reaping = other.reap(node(9), stage::NOW);
        let early = tokio::time::timeout(MOMENT, &mut reaping).await;
        assert!(early.is_err(), "it did not wait: {early:?}");
        blocker.batch_execute("ROLLBACK").await.unwrap();
        reaping.await.unwrap()
    };
    let (ended, reaped) = tokio::join!(committing, reaping);
    assert_eq!(ended.unwrap(), [PartOutcome::Done]);
    assert_eq!(reaped, [node(7)]);
    assert!(other.execution(run.id).await.unwrap().is_some());
    let (late, admit) = stage.start("{}");
    let batch = stage.batch(vec![admission(admit)]);
    let ended = store.commit(&batch).await;
    assert!(is_lease_lost(&ended), "{ended:?}");
    assert!(other.execution(late.id).await.unwrap().is_none());
}

/// Whoever removes a node may not hear that it is removed: it is all the same, and what it had is
/// found by whoever looks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reaping_that_is_not_heard_of_is_done() {
    let database = Scratch::new();
    let proxy = Proxy::to(&database.url()).await;
    let store = stage::open(&database.url()).await;
    let other = stage::open(proxy.url()).await;
    let mut stage = Stage::new(1);
    stage.save(&store).await;
    stage::join(&store, node(7), Duration::ZERO).await;
    stage::join(&other, node(9), Duration::from_secs(600)).await;
    stage.lease = Some(node(7));
    let (run, admit) = stage.start("{}");
    let batch = stage.batch(vec![admission(admit), stage.claim(node(7), 1)]);
    store.commit(&batch).await.unwrap();
    assert!(other.orphans(None, 9).await.unwrap().is_empty());
    proxy.cut_answer_to("DELETE FROM nodes");
    let reaped = other.reap(node(9), stage::NOW).await;
    assert!(
        matches!(reaped, Err(ReadError::Unavailable(_))),
        "{reaped:?}"
    );
    assert_eq!(proxy.cuts(), 1);
    // The server may still be at it.
    let gone = async { while other.has_lease(node(7)).await.unwrap() {} };
    tokio::time::timeout(GONE_WITHIN, gone).await.unwrap();
    let batch = stage.batch(vec![stage.claim(node(7), 1)]);
    let ended = store.commit(&batch).await;
    assert!(is_lease_lost(&ended), "{ended:?}");
    let orphans = other.orphans(None, 9).await.unwrap();
    let orphans: Vec<_> = orphans.iter().map(|row| row.execution).collect();
    assert_eq!(orphans, [run.id]);
    let again = other.reap(node(9), stage::NOW).await.unwrap();
    assert!(again.is_empty(), "{again:?}");
    store.close().await;
    other.close().await;
}

/// Nodes that commit without a pause while they are removed again and again: what was answered as
/// written is there, what was refused is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_refused_is_not_there() {
    const LEASES: u8 = 20;
    let database = Scratch::new();
    let store = stage::open(&database.url()).await;
    let other = stage::open(&database.url()).await;
    let mut stage = Stage::new(1);
    stage.save(&store).await;
    stage::join(&other, node(255), Duration::from_secs(600)).await;
    for lease in 1..=LEASES {
        stage::join(&store, node(lease), Duration::ZERO).await;
        stage.lease = Some(node(lease));
        let committing = async {
            let mut written = Vec::new();
            loop {
                let (run, admit) = stage.start("{}");
                let batch = stage.batch(vec![admission(admit)]);
                match store.commit(&batch).await {
                    Ok(outcomes) => {
                        assert_eq!(outcomes, [PartOutcome::Done]);
                        written.push(run.id);
                    }
                    ended => {
                        assert!(is_lease_lost(&ended), "{ended:?}");
                        return (written, run.id);
                    }
                }
            }
        };
        let reaping = async {
            tokio::time::sleep(Duration::from_millis(u64::from(lease))).await;
            assert_eq!(
                other.reap(node(255), stage::NOW).await.unwrap(),
                [node(lease)]
            );
        };
        let ((written, refused), ()) = tokio::join!(committing, reaping);
        for id in written {
            assert!(other.execution(id).await.unwrap().is_some());
        }
        assert!(other.execution(refused).await.unwrap().is_none());
    }
}
