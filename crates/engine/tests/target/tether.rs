//! What hangs on the lease: nothing is sent while it may be over, and when it is lost the connections
//! made under it are closed.

use std::time::Duration;

use refire_engine::target::{Allow, Guard, HttpSettings, HttpTarget, Tether};
use tokio::time::Instant;

use super::caller::{GRACE, get, post};
use crate::hostile::Hostile;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
/// Long enough for a request that leaves at once to arrive.
const A_WHILE: Duration = Duration::from_millis(300);
const LONG_FROM_NOW: Duration = Duration::from_secs(3600);

fn tied() -> (HttpTarget, Tether) {
    let tether = Tether::default();
    let mut settings = HttpSettings::new(Guard::new(Allow::All));
    settings.tether = tether.clone();
    (HttpTarget::new(settings).unwrap(), tether)
}

/// Waits until the server has seen so many requests.
async fn seen(server: &Hostile, requests: usize) {
    let all = async {
        while server.requests() < requests {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(GRACE, all).await.unwrap();
}

#[tokio::test]
async fn nothing_is_sent_while_the_lease_may_be_over() {
    let server = Hostile::answering(OK).await;
    let (target, tether) = tied();
    // Over a new connection, and over one that is kept open.
    for round in 0..2 {
        tether.holds_until(Instant::now());
        let call = tokio::spawn({
            let (target, request) = (target.clone(), post(server.url(), "{}"));
            async move { target.call(request).await }
        });
        tokio::time::sleep(A_WHILE).await;
        assert_eq!(server.requests(), round, "it was sent without a lease");
        tether.holds_until(Instant::now() + LONG_FROM_NOW);
        let answer = tokio::time::timeout(GRACE, call).await.unwrap().unwrap();
        assert_eq!(answer.unwrap().status, 200);
    }
    assert_eq!((server.requests(), server.connections()), (2, 1));
}

#[tokio::test]
async fn an_answer_is_read_after_the_lease_is_over() {
    let (opened, mut is_open) = tokio::sync::watch::channel(false);
    is_open.mark_unchanged();
    let server = Hostile::start(move |mut peer| {
        let mut is_open = is_open.clone();
        async move {
            peer.request().await;
            is_open.wait_for(|is_open| *is_open).await.unwrap();
            peer.send(OK).await;
        }
    })
    .await;
    let (target, tether) = tied();
    let call = tokio::spawn({
        let (target, request) = (target.clone(), get(server.url()));
        async move { target.call(request).await }
    });
    seen(&server, 1).await;
    tether.holds_until(Instant::now());
    opened.send(true).unwrap();
    let answer = tokio::time::timeout(GRACE, call).await.unwrap().unwrap();
    assert_eq!(answer.unwrap().status, 200);
}

#[tokio::test]
async fn a_lost_lease_closes_what_was_connected_under_it() {
    let server = Hostile::answering(OK).await;
    let (target, tether) = tied();
    target.call(get(server.url())).await.unwrap();
    // One request waits for the lease on the connection that is kept open.
    tether.holds_until(Instant::now());
    let waiting = tokio::spawn({
        let (target, request) = (target.clone(), post(server.url(), "{}"));
        async move { target.call(request).await }
    });
    tokio::time::sleep(A_WHILE).await;
    tether.cut();
    let failure = tokio::time::timeout(GRACE, waiting).await.unwrap();
    assert!(failure.unwrap().is_err());
    // Joined again: what was waiting never leaves, and calls go over another connection.
    tether.holds_until(Instant::now() + LONG_FROM_NOW);
    target.call(get(server.url())).await.unwrap();
    assert_eq!((server.requests(), server.connections()), (2, 2));
    tokio::time::sleep(A_WHILE).await;
    assert_eq!(server.requests(), 2);
}

#[tokio::test]
async fn a_cut_leaves_no_stale_connection_behind() {
    let server = Hostile::answering(OK).await;
    let (target, tether) = tied();
    for round in 1..=20 {
        target.call(get(server.url())).await.unwrap();
        assert_eq!(server.connections(), round);
        // At once and without a pause: the pool must not hand out what was closed.
        tether.cut();
    }
}
