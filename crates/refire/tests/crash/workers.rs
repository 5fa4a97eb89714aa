//! KILL with workers: they fetch, report, fail and give back while the server is killed again and again,
//! while a node of several is, and while the database crashes.

use std::time::{Duration, Instant};

use tempfile::tempdir;

use crate::check::{Evidence, must_hold};
use crate::client::Client;
use crate::cluster::Cluster;
use crate::crew::{self, Crew};
use crate::export::all_end;
use crate::load::{ClientLog, Load, repeat_open};
use crate::node::Node;
use crate::worker::{Account, Told};
use crate::{alone, fleet, fold, is_long, rest};

/// Requests a second.
const RATE: (u32, u32) = (60, 150);
/// Workers.
const WORKERS: u32 = 12;
/// Between two blows.
const BLOW_EVERY: Duration = Duration::from_millis(1_500);
/// Kills of the only server.
const KILLS: (u32, u32) = (3, 40);
/// Rounds on the shared database: a node is killed, then the database crashes.
const ROUNDS: (u32, u32) = (1, 10);
/// How long everything may take to end after the load.
const ENDS_WITHIN: Duration = Duration::from_secs(120);
/// Requests without an answer that are sent again at the end.
const REPEATED_MAX: usize = 500;
/// Chooses what workers do.
const SEED: u64 = 7;

fn of<T>((short, long): (T, T)) -> T {
    if is_long() { long } else { short }
}

/// Lets everything end and checks it; what was seen, in words.
async fn settle(client: &Client, load: Load, crew: Crew) -> (Evidence, String) {
    let (log, beats) = load.stop().await;
    let repeated = repeat_open(client, &log, REPEATED_MAX).await;
    let ended = all_end(client, ENDS_WITHIN).await;
    let evidence = gathered(client, &log, crew.stop().await).await;
    let told = |told: fn(&Told) -> bool| {
        let said = evidence.account.said();
        said.iter().filter(|said| told(&said.told)).count()
    };
    let (taken, open) = (
        told(|told| *told == Told::Taken),
        told(|told| *told == Told::Open),
    );
    let refused = told(|told| matches!(told, Told::Refused(409)));
    let seen = format!(
        "{} requests sent ({} beats left out), {repeated} repeated, {} executions, {} tasks handed out, \
         {taken} words taken, {refused} refused, {open} open, all ended after {ended:?}",
        beats.sent,
        beats.left_out,
        evidence.export.executions.len(),
        evidence.account.handed().len(),
    );
    assert!(
        taken > 0 && refused > 0,
        "workers had nothing to do: {seen}"
    );
    (evidence, seen)
}

async fn gathered(client: &Client, log: &ClientLog, account: Account) -> Evidence {
    let evidence = Evidence::of_workers(client, log, account).await;
    must_hold(&evidence);
    let mut events = evidence.export.executions.iter().flat_map(|one| &one.log);
    let is_released = events.any(|event| event.name == "EXTERNAL_TASK_RELEASED");
    assert!(is_released, "no lock ran out");
    evidence
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_word_of_a_worker_is_lost_when_the_server_is_killed_again_and_again() {
    let _alone = alone().await;
    let home = tempdir().unwrap();
    let mut node = Node::new(home.path(), &home.path().join("data"));
    node.start();
    let client = Client::new(node.door());
    crew::workflows(&client).await;
    let load = Load::start(client.clone(), of(RATE));
    let crew = Crew::start(&client, WORKERS, SEED);
    let begun = Instant::now();
    for number in 1..=of(KILLS) {
        tokio::time::sleep_until((begun + BLOW_EVERY * number).into()).await;
        tokio::task::block_in_place(|| {
            node.kill();
            node.start();
        });
    }
    tokio::time::sleep(BLOW_EVERY).await;
    let (evidence, seen) = settle(&client, load, crew).await;
    println!("KILL with workers: {} kills, {seen}", of(KILLS));
    node.stop();
    let content = rest::examine(&node.database()).await;
    assert!(content.wrong.is_empty(), "{:#?}", content.wrong);
    assert_eq!(content.executions.len(), evidence.export.executions.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_word_of_a_worker_is_lost_with_a_node_or_the_database() {
    let _alone = alone().await;
    let home = tempdir().unwrap();
    let cluster = tokio::task::block_in_place(Cluster::start);
    let mut nodes = ["first", "second"].map(|name| {
        let mut node = fleet::node(&home, &cluster, name, "5s");
        tokio::task::block_in_place(|| node.start());
        node
    });
    let client = Client::spread(nodes.iter().map(|node| node.door()).collect());
    crew::workflows(&client).await;
    let load = Load::start(client.clone(), of(RATE));
    let crew = Crew::start(&client, WORKERS, SEED);
    for _ in 0..of(ROUNDS) {
        for node in &mut nodes {
            tokio::time::sleep(BLOW_EVERY).await;
            tokio::task::block_in_place(|| {
                node.kill();
                node.start();
            });
        }
        tokio::time::sleep(BLOW_EVERY).await;
        tokio::task::block_in_place(|| {
            cluster.down();
            cluster.up();
        });
    }
    tokio::time::sleep(BLOW_EVERY).await;
    let (evidence, seen) = settle(&client, load, crew).await;
    for node in &mut nodes {
        tokio::task::block_in_place(|| node.stop());
    }
    let folded = fold::must_be_what_is_stored(&cluster.url).await;
    println!(
        "NODE and PGRESTART with workers: {} rounds, {seen}; {folded:?}",
        of(ROUNDS)
    );
    assert_eq!(folded.executions, evidence.export.executions.len());
}
