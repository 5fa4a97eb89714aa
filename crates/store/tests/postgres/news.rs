//! What nodes tell each other.

use std::time::{Duration, Instant};

use refire_core::definition::WorkflowId;
use refire_core::id::{ExecutionId, TriggerId};
use refire_store::postgres::{Postgres, Scratch};
use refire_store::{News, Store};
use tokio::time::timeout;

use crate::server::{open, session};
use crate::watch::{kill, listen};

/// For news to come; mostly a few milliseconds.
const SOON: Duration = Duration::from_secs(10);
/// Between two rounds of telling, as the store promises.
const MOMENT: Duration = Duration::from_millis(50);

async fn heard(store: &Postgres) -> News {
    timeout(SOON, store.news()).await.expect("news come soon")
}

fn withdrawn(n: u8) -> News {
    News::Withdrawn(ExecutionId::from_bytes([n; 16]))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn news_reach_the_others_and_not_oneself() {
    let scratch = Scratch::new();
    let (one, other, third) = (
        open(&scratch).await,
        open(&scratch).await,
        open(&scratch).await,
    );
    let definition = News::Definition(WorkflowId::new("orders").unwrap());
    let trigger = News::Trigger(TriggerId::from_bytes([7; 16]));
    for news in [News::Work, withdrawn(7), definition, trigger, News::Due] {
        let told = Instant::now();
        one.tell(news.clone());
        assert_eq!(heard(&other).await, news);
        println!("{news:?} took {:?}", told.elapsed());
        assert_eq!(heard(&third).await, news);
    }
    // Whatever was told, the first that its teller hears is from somebody else.
    other.tell(withdrawn(8));
    assert_eq!(heard(&one).await, withdrawn(8));
    for store in [one, other, third] {
        store.close().await;
    }
}

/// A round of one news is one line.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn rounds_are_a_moment_apart_and_the_last_word_counts() {
    let scratch = Scratch::new();
    let store = open(&scratch).await;
    let mut lines = listen(&scratch).await;
    let began = Instant::now();
    let mut told: u128 = 0;
    while began.elapsed() < 10 * MOMENT {
        store.tell(News::Work);
        told += 1;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // In the middle of a moment, so it must wait for its end, and must not be forgotten.
    store.tell(withdrawn(9));
    let mut rounds = 0;
    loop {
        let line = timeout(SOON, lines.recv()).await.unwrap().unwrap();
        match line.split(' ').nth(1) {
            Some("work") => rounds += 1,
            _ => break,
        }
    }
    let moments = began.elapsed().as_millis() / MOMENT.as_millis();
    println!("{told} tellings in {moments} moments took {rounds} rounds");
    assert!(rounds >= 2 && rounds < told, "{rounds} of {told}");
    assert!(
        rounds <= moments + 2,
        "{rounds} rounds in {moments} moments"
    );
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_burst_is_told_without_repetition() {
    let scratch = Scratch::new();
    let store = open(&scratch).await;
    let mut heard = listen(&scratch).await;
    for _ in 0..200 {
        for n in 0..5 {
            store.tell(withdrawn(n));
        }
    }
    let mut lines: Vec<String> = Vec::new();
    let is_told = |lines: &[String], n| {
        let News::Withdrawn(id) = withdrawn(n) else {
            unreachable!();
        };
        lines
            .iter()
            .any(|line| line.ends_with(&format!(" withdrawn {id}")))
    };
    while !(0..5).all(|n| is_told(&lines, n)) {
        lines.push(timeout(SOON, heard.recv()).await.unwrap().unwrap());
    }
    store.tell(withdrawn(99));
    while !is_told(&lines, 99) {
        lines.push(timeout(SOON, heard.recv()).await.unwrap().unwrap());
    }
    // A burst this short falls into the round it begins and the one after.
    assert!(lines.len() <= 2 * 5 + 1, "{lines:?}");
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn whoever_was_away_is_told_so() {
    let scratch = Scratch::new();
    let (one, other) = (open(&scratch).await, open(&scratch).await);
    let session = session(&scratch).await;
    assert_eq!(kill(&session, "news").await, 2);
    assert_eq!(heard(&one).await, News::Missed);
    assert_eq!(heard(&other).await, News::Missed);
    one.tell(withdrawn(1));
    // Telling in the very moment of the break may have been in vain: then it says so itself.
    let first = heard(&other).await;
    assert!([withdrawn(1), News::Missed].contains(&first), "{first:?}");
    other.tell(withdrawn(2));
    assert_eq!(heard(&one).await, withdrawn(2));
    one.close().await;
    other.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn too_much_to_tell_becomes_one_word() {
    let scratch = Scratch::new();
    let (one, other) = (open(&scratch).await, open(&scratch).await);
    one.tell(News::Work);
    assert_eq!(heard(&other).await, News::Work);
    // All of it within the moment after that round.
    for n in 0..5_000_u128 {
        one.tell(News::Withdrawn(ExecutionId::from_bytes(n.to_be_bytes())));
    }
    assert_eq!(heard(&other).await, News::Missed);
    one.close().await;
    other.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn words_that_nobody_knows_mean_look_at_everything() {
    let scratch = Scratch::new();
    let store = open(&scratch).await;
    let session = session(&scratch).await;
    for words in [
        "",
        "something else",
        "00000000-0000-0000-0000-000000000000 rain",
    ] {
        session
            .execute("SELECT pg_notify('refire', $1)", &[&words])
            .await
            .unwrap();
        assert_eq!(heard(&store).await, News::Missed, "{words:?}");
    }
    store.close().await;
}
