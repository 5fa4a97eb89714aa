//! The way to the server: how often a read goes there and back, and what happens when nothing comes
//! back any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use refire_core::id::{ExecutionId, NodeId};
use refire_core::time::Timestamp;
use refire_store::postgres::{Options, Postgres, Scratch};
use refire_store::{
    Callbacks as _, EventFilter, ExecutionFilter, Executions, Joining, LIMIT_MAX, Lease, Nodes,
    ReadError, Store, Stretch,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::server::{open, options};
use crate::stage::{Stage, admission, node, part};
use crate::transfer::play;

/// A wire to the server of the tests.
struct Wire {
    url: String,
    trips: Arc<AtomicU32>,
    is_silent: watch::Sender<bool>,
}

/// What one connection's two directions share.
struct Ends {
    trips: Arc<AtomicU32>,
    has_answered: AtomicBool,
    is_silent: watch::Receiver<bool>,
}

impl Wire {
    async fn to(url: &str) -> Self {
        Self::with_answers_after(Duration::ZERO, url).await
    }

    /// Answers take so long on their way: whoever waits for one before it sends the next is seen.
    async fn with_answers_after(delay: Duration, url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (user, rest) = url.split_once('@').unwrap();
        let (server, path) = rest.split_once('/').unwrap();
        let url = format!("{user}@{}/{path}", listener.local_addr().unwrap());
        let (is_silent, heard) = watch::channel(false);
        let trips = Arc::new(AtomicU32::new(0));
        let (server, counted) = (server.to_owned(), Arc::clone(&trips));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.unwrap();
                let ends = Arc::new(Ends {
                    trips: Arc::clone(&counted),
                    has_answered: AtomicBool::new(true),
                    is_silent: heard.clone(),
                });
                let ((from_client, to_client), (from_server, to_server)) =
                    (client.into_split(), server.into_split());
                let (asking, answering) = (Way::There, Way::Back(delay));
                tokio::spawn(carry(from_client, to_server, Arc::clone(&ends), asking));
                tokio::spawn(carry(from_server, to_client, ends, answering));
            }
        });
        Self {
            url,
            trips,
            is_silent,
        }
    }

    /// How often something was sent after an answer while this went on.
    async fn trips<T>(&self, what: impl Future<Output = T>) -> u32 {
        let before = self.trips.load(Ordering::SeqCst);
        what.await;
        self.trips.load(Ordering::SeqCst) - before
    }
}

/// One of a connection's two directions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    There,
    /// After a while.
    Back(Duration),
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, ends: Arc<Ends>, way: Way) {
    let mut bytes = vec![0; 64 * 1024];
    let mut is_silent = ends.is_silent.clone();
    let is_asking = way == Way::There;
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        if let Way::Back(delay) = way {
            tokio::time::sleep(delay).await;
        }
        let had_answered = ends.has_answered.swap(!is_asking, Ordering::SeqCst);
        if is_asking && had_answered {
            ends.trips.fetch_add(1, Ordering::SeqCst);
        }
        if is_silent.wait_for(|is_silent| !is_silent).await.is_err()
            || to.write_all(&bytes[..count]).await.is_err()
        {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_attempts_and_commits_wait_for_is_one_round_trip() {
    let directory = tempfile::tempdir().unwrap();
    let (path, _) = play(8, directory.path()).await;
    let scratch = Scratch::new();
    Postgres::import(&options(&scratch), &path, &|_, _| {})
        .await
        .unwrap();
    let wire = Wire::to(&scratch.url()).await;
    let mut options = Options::new(&wire.url).unwrap();
    options.readers = 1;
    let store = Postgres::open(&options).await.unwrap();
    let all = ExecutionFilter::default();
    let listed = store
        .executions(&all, &Stretch::new(None, LIMIT_MAX))
        .await
        .unwrap()
        .rows;
    let mut ids: Vec<ExecutionId> = Vec::new();
    for summary in listed {
        // The answer of a target that calls back later is asked for when it is needed: few have one.
        if store.callbacks(summary.id).await.unwrap().is_empty() {
            ids.push(summary.id);
        }
    }
    assert!(ids.len() > 5);
    let plain = EventFilter::default();
    let ask = async || {
        [
            wire.trips(store.states(&ids)).await,
            wire.trips(store.execution(ids[0])).await,
            wire.trips(store.values(ids[0], &[1])).await,
            wire.trips(store.history(ids[0], &plain, 0, 9)).await,
        ]
    };
    // The first time, statements are prepared.
    ask().await;
    assert_eq!(ask().await, [1; 4]);
    store.close().await;
}

/// Commits on each connection until all statements are prepared there.
const WARM_UP: u32 = 6;
/// Times that each kind of commit is looked at then.
const ROUNDS: u32 = 5;
/// Long enough for all that is sent together.
const ANSWERS_AFTER: Duration = Duration::from_millis(40);

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_commit_that_asks_nothing_is_one_round_trip() {
    let scratch = Scratch::new();
    open(&scratch).await.close().await;
    let wire = Wire::with_answers_after(ANSWERS_AFTER, &scratch.url()).await;
    let store = Postgres::open(&Options::new(&wire.url).unwrap())
        .await
        .unwrap();
    let mut stage = Stage::new(1);
    stage.save(&store).await;
    let mut trips = Vec::new();
    for _ in 0..WARM_UP + ROUNDS {
        // One that begins, one that ends, and a claim of what is left.
        let ((_, other), (mut run, admit)) = (stage.start("{}"), stage.start("{}"));
        let begins = stage.batch(vec![admission(admit)]);
        trips.push(wire.trips(store.commit(&begins)).await);
        let (first, second) = (stage.succeed(&mut run, "a"), stage.succeed(&mut run, "b"));
        let first = stage.batch(vec![part(first)]);
        trips.push(wire.trips(store.commit(&first)).await);
        let claim = stage.claim(node(1), 1);
        let all = vec![part(second), admission(other), claim];
        assert!(all.iter().all(|part| !part.asks_first()));
        let all = stage.batch(all);
        trips.push(wire.trips(store.commit(&all)).await);
    }
    let warm = &trips[3 * WARM_UP as usize..];
    for kind in 0..3 {
        let of_kind = warm.iter().skip(kind).step_by(3);
        let once = of_kind.filter(|trips| **trips == 1).count();
        assert!(once > ROUNDS as usize / 2, "{kind}: {trips:?}");
    }
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_that_falls_silent_is_not_waited_for() {
    let scratch = Scratch::new();
    open(&scratch).await.close().await;
    let wire = Wire::to(&scratch.url()).await;
    let store = Postgres::open(&Options::new(&wire.url).unwrap())
        .await
        .unwrap();
    let (id, node) = (
        ExecutionId::from_bytes([9; 16]),
        NodeId::from_bytes([3; 16]),
    );
    let (lease, now) = (Duration::from_secs(600), Timestamp::from_micros(0));
    let joining = Joining {
        id: node,
        name: "here".to_owned(),
        address: String::new(),
        version: "1".to_owned(),
        lease,
    };
    store.join(&joining, now).await.unwrap();
    assert_eq!(store.load(id).await.unwrap(), None);
    wire.is_silent.send_replace(true);
    let began = Instant::now();
    let (loaded, renewed) = tokio::join!(store.load(id), store.renew(node, lease, now));
    println!("given up after {:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(
        matches!(loaded, Err(ReadError::Unavailable(_))),
        "{loaded:?}"
    );
    assert!(
        matches!(renewed, Err(ReadError::Unavailable(_))),
        "{renewed:?}"
    );
    wire.is_silent.send_replace(false);
    assert_eq!(store.load(id).await.unwrap(), None);
    let renewed = store.renew(node, lease, now).await.unwrap();
    assert!(matches!(renewed, Lease::Held { .. }));
    store.close().await;
}
