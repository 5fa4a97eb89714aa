//! PGRESTART: the database crashes and comes back under load, then loses connections at random.

use std::time::{Duration, Instant};

use tempfile::tempdir;
use tokio_postgres::NoTls;

use crate::check::{Evidence, must_hold};
use crate::client::Client;
use crate::cluster::Cluster;
use crate::export::all_end;
use crate::load::{Load, repeat_open};
use crate::target::{Mood, Target};
use crate::{alone, fleet, fold, is_long, within, workflows};

/// Requests a second.
const RATE: (u32, u32) = (100, 300);
/// Between two crashes of the database.
const CRASH_EVERY: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(15));
/// How long every second of them leaves the nodes without a database.
const AWAY: Duration = Duration::from_secs(3);
/// How many there are.
const CRASHES: (u32, u32) = (2, 4);
/// How long connections are cut at random, and how often.
const CUTS: (u32, u32) = (6, 60);
const CUT_EVERY: Duration = Duration::from_millis(500);
/// A node takes requests again so soon after the database does.
const ACCEPTS_AGAIN_WITHIN: Duration = Duration::from_secs(20);
/// How long everything may take to end after the load.
const ENDS_WITHIN: Duration = Duration::from_secs(120);
/// Requests without an answer that are sent again at the end.
const REPEATED_MAX: usize = 500;
/// Chooses how the target answers.
const SEED: u64 = 5;

fn of<T>((short, long): (T, T)) -> T {
    if is_long() { long } else { short }
}

/// Ends connections of the nodes, one after the other; how many.
async fn cut_at_random(cluster: &Cluster) -> u64 {
    let mut cut = 0;
    for _ in 0..of(CUTS) {
        tokio::time::sleep(CUT_EVERY).await;
        let connected = tokio_postgres::connect(&cluster.url, NoTls).await;
        let (connection, driver) = connected.unwrap();
        tokio::spawn(driver);
        let ended = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM
                 (SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'refire%'
                  ORDER BY random() LIMIT 1) AS one",
            &[],
        );
        cut += ended.await.unwrap();
    }
    cut
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_answered_is_lost_when_the_database_crashes_again_and_again() {
    let _alone = alone().await;
    let home = tempdir().unwrap();
    let cluster = tokio::task::block_in_place(Cluster::start);
    let target = Target::start(Mood::Mixed { seed: SEED }).await;
    let mut nodes = ["first", "second"].map(|name| {
        let mut node = fleet::node(&home, &cluster, name, "15s");
        tokio::task::block_in_place(|| node.start());
        node
    });
    let client = Client::spread(nodes.iter().map(|node| node.door()).collect());
    workflows(&client, &target).await;
    let load = Load::start(client.clone(), of(RATE));

    let mut waits = Vec::new();
    for number in 0..of(CRASHES) {
        tokio::time::sleep(of(CRASH_EVERY)).await;
        // One that is back at once may pass unnoticed: what was lost is found out and sent again.
        tokio::task::block_in_place(|| {
            cluster.down();
            if number % 2 == 1 {
                std::thread::sleep(AWAY);
            }
            cluster.up();
        });
        let back = Instant::now();
        let accepted = || load.log().first_accepted_after(back);
        let accepted = within(ACCEPTS_AGAIN_WITHIN, "a request is accepted", accepted).await;
        waits.push(accepted.duration_since(back));
    }
    let cut = cut_at_random(&cluster).await;
    let (log, beats) = load.stop().await;
    let repeated = repeat_open(&client, &log, REPEATED_MAX).await;
    let ended = all_end(&client, ENDS_WITHIN).await;

    let evidence = Evidence::gather(&client, &log, Vec::new(), target.calls()).await;
    waits.sort();
    let told = |status| {
        let answers = evidence.sent.iter().map(|sent| sent.answer.status());
        answers.filter(|answer| *answer == Some(status)).count()
    };
    println!(
        "PGRESTART: {} crashes, {cut} connections cut, {} requests sent ({} beats left out), {} got 503, {} \
         outcome unknown, {repeated} repeated, {} executions, {} calls; first 2xx after the database was back: \
         median {:?}, longest {:?}; all ended after {ended:?}",
        of(CRASHES),
        beats.sent,
        beats.left_out,
        told(503),
        told(500),
        evidence.export.executions.len(),
        evidence.calls.len(),
        waits[waits.len() / 2],
        waits[waits.len() - 1],
    );
    must_hold(&evidence);
    let folded = fold::must_be_what_is_stored(&cluster.url).await;
    println!("PGRESTART: {folded:?}");
    folded.must_cover(evidence.export.executions.len());
    assert!(told(503) > 0, "the crashes were not noticed");
    assert!(cut > 0, "no connection was cut");
    let unhelpful = evidence.sent.iter().filter(|sent| {
        let answer = &sent.answer;
        matches!(
            answer,
            crate::client::Answer::Refused {
                status: 503,
                has_retry_after: false,
                ..
            }
        )
    });
    assert_eq!(unhelpful.count(), 0, "503 without Retry-After");
    for node in &mut nodes {
        tokio::task::block_in_place(|| node.stop());
    }
}
