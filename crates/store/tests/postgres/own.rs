//! The connections that commit: what they do with large batches, and with servers that go away.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use refire_store::postgres::Scratch;
use refire_store::{
    CommitError, ExecutionFilter, Executions, LIMIT_MAX, NotWritten, PartOutcome, Store, Stretch,
};
use tokio_postgres::{Client, NoTls};

use crate::proxy::Proxy;
use crate::stage::{self, Stage, admission, part};

/// A database that is back is used again within this.
const BACK_WITHIN: Duration = Duration::from_secs(10);

const END_WRITERS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'refire commits'";

async fn connection(url: &str) -> Client {
    let (client, driver) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(driver);
    client
}

/// More parts than one statement takes.
#[tokio::test]
async fn a_large_batch_is_told_part_by_part() {
    const EXECUTIONS: usize = 300;
    let database = Scratch::new();
    let store = stage::open(&database.url()).await;
    let mut stage = Stage::new(1);
    stage.save(&store).await;
    let (mut runs, mut parts) = (Vec::new(), Vec::new());
    for _ in 0..EXECUTIONS {
        let (run, admit) = stage.start("{}");
        runs.push(run);
        parts.push(admission(admit));
    }
    let batch = stage.batch(parts);
    let outcomes = store.commit(&batch).await.unwrap();
    assert_eq!(outcomes, vec![PartOutcome::Done; EXECUTIONS]);
    let (mut parts, mut expected) = (Vec::new(), Vec::new());
    for (n, run) in runs.iter_mut().enumerate().rev() {
        let mut advance = stage.succeed(run, "a");
        let is_late = n % 7 == 3;
        if is_late {
            advance.expected_version += 1;
        }
        parts.push(part(advance));
        expected.push(if is_late {
            PartOutcome::Conflict
        } else {
            PartOutcome::Done
        });
    }
    let batch = stage.batch(parts);
    assert_eq!(store.commit(&batch).await.unwrap(), expected);
    store.close().await;
}

#[tokio::test]
async fn ended_connections_and_forgotten_marks_are_made_anew() {
    let database = Scratch::new();
    let store = stage::open(&database.url()).await;
    let mut stage = Stage::new(1);
    stage.save(&store).await;
    let client = connection(&database.url()).await;
    for trouble in [END_WRITERS, "DELETE FROM commit_marks"] {
        client.execute(trouble, &[]).await.unwrap();
        let (run, admit) = stage.start("{}");
        let batch = stage.batch(vec![admission(admit)]);
        let outcomes = store.commit(&batch).await.unwrap();
        assert_eq!(outcomes, [PartOutcome::Done], "{trouble}");
        assert!(store.execution(run.id).await.unwrap().is_some());
    }
    store.close().await;
    let marks = client.query("SELECT 1 FROM commit_marks", &[]).await;
    assert!(marks.unwrap().is_empty(), "closing leaves nothing behind");
}

/// Connections are ended at any moment: every commit is written once all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_outlive_their_connections() {
    const COMMITS: u32 = 150;
    let database = Scratch::new();
    let store = Arc::new(stage::open(&database.url()).await);
    let mut stage = Stage::new(1);
    stage.save(&*store).await;
    let client = connection(&database.url()).await;
    let ended = Arc::new(AtomicUsize::new(0));
    // One end for each commit at most: connecting takes longer than a moment on a busy machine.
    let (commits, mut begun) = tokio::sync::watch::channel(0);
    let ending = tokio::spawn({
        let ended = Arc::clone(&ended);
        async move {
            while begun.changed().await.is_ok() {
                let moment = u64::from(*begun.borrow_and_update()) % 7;
                tokio::time::sleep(Duration::from_millis(moment)).await;
                let now = client.query(END_WRITERS, &[]).await.unwrap().len();
                ended.fetch_add(now, Ordering::SeqCst);
            }
        }
    });
    for n in 1..=COMMITS {
        let (_, admit) = stage.start("{}");
        let batch = stage.batch(vec![admission(admit)]);
        commits.send(n).unwrap();
        loop {
            match store.commit(&batch).await {
                Ok(outcomes) => {
                    assert_eq!(outcomes, [PartOutcome::Done]);
                    break;
                }
                // Ended while it was made: nothing is there, and the batch may be sent again.
                Err(CommitError::NotWritten {
                    reason: NotWritten::Unavailable,
                    ..
                }) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
    }
    drop(commits);
    ending.await.unwrap();
    assert!(ended.load(Ordering::SeqCst) > 0, "no connection was ended");
    let all = ExecutionFilter::default();
    let listed = store
        .executions(&all, &Stretch::new(None, LIMIT_MAX))
        .await
        .unwrap()
        .rows;
    assert_eq!(listed.len(), COMMITS as usize);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_server_nothing_is_written() {
    let database = Scratch::new();
    let proxy = Proxy::to(&database.url()).await;
    let store = stage::open(proxy.url()).await;
    let mut stage = Stage::new(1);
    stage.save(&store).await;
    proxy.refuse(true);
    let (run, admit) = stage.start("{}");
    let batch = stage.batch(vec![admission(admit)]);
    match store.commit(&batch).await {
        Err(CommitError::NotWritten {
            reason: NotWritten::Unavailable,
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
    proxy.refuse(false);
    // It is tried again after a short pause, not with every commit.
    let began = Instant::now();
    let written = loop {
        match store.commit(&batch).await {
            Ok(written) => break written,
            Err(_) if began.elapsed() < BACK_WITHIN => {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Err(error) => panic!("{error:?}"),
        }
    };
    assert_eq!(written, [PartOutcome::Done]);
    let direct = stage::open(&database.url()).await;
    assert!(direct.execution(run.id).await.unwrap().is_some());
    store.close().await;
}
