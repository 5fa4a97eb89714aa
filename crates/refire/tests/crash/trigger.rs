//! TRIGGER: servers are killed while triggers fire every second and signed requests come to
//! webhooks, and the machines of several nodes do not agree about the time. Afterwards every planned
//! time is in its ledger once, with one execution if it was started, and every accepted request has its
//! one execution.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use refire_engine::clock::{Clock as _, SystemClock};
use tempfile::tempdir;

use crate::check::{Evidence, must_hold};
use crate::client::Client;
use crate::clockwork::Clockwork;
use crate::cluster::Cluster;
use crate::export::all_end;
use crate::hook::Hook;
use crate::load::{Load, repeat_open};
use crate::node::Node;
use crate::skew::Skew;
use crate::target::{Mood, Target};
use crate::{alone, fleet, fold, is_long, within, workflows};

/// Requests a second, in the short form and in the long one.
const RATE: (u32, u32) = (30, 60);
/// Between two kills of the only server, and how many there are.
const KILL_EVERY: (Duration, Duration) = (Duration::from_millis(1_700), Duration::from_secs(2));
const KILLS: (u32, u32) = (3, 40);
/// Between two kills of the oldest of three, and how many there are.
const OLDEST_KILL_EVERY: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(10));
const OLDEST_KILLS: (u32, u32) = (2, 9);
/// The nodes, and what their machines take for the time.
const CLOCKS: [(&str, Skew); 3] = [
    ("first", Skew::Ahead(Duration::from_secs(30))),
    ("second", Skew::Behind(Duration::from_secs(30))),
    ("third", Skew::Ahead(Duration::ZERO)),
];
/// How long a node may be silent.
const LEASE: (&str, &str) = ("5s", "15s");
/// How long a node that is ready may take to say so in its log.
const LOGS_WITHIN: Duration = Duration::from_secs(5);
/// How long everything may take to end after the load.
const ENDS_WITHIN: Duration = Duration::from_secs(120);
/// Requests without an answer that are sent again at the end.
const REPEATED_MAX: usize = 500;
/// Chooses how the target answers.
const SEED: u64 = 6;
/// What the nodes that share a database seal secrets with.
const MASTER_KEY: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn of<T>((short, long): (T, T)) -> T {
    if is_long() { long } else { short }
}

/// Webhooks of both workflows, for whoever sends requests.
async fn sender(client: &Client) -> Client {
    let one = Hook::make(client, "one").await;
    client.through(vec![one, Hook::make(client, "two").await])
}

/// Ends the load and the triggers, and checks all promises.
async fn account(name: &str, client: &Client, sender: &Client, rest: (Load, Clockwork, &Target)) {
    let (load, clockwork, target) = rest;
    let (log, beats) = load.stop().await;
    let repeated = repeat_open(sender, &log, REPEATED_MAX).await;
    clockwork.stop(client).await;
    let ended = all_end(client, ENDS_WITHIN).await;
    let evidence = Evidence::gather(client, &log, Vec::new(), target.calls()).await;
    let tally = clockwork.must_hold(client).await;
    println!(
        "{name}: {} requests sent, {repeated} repeated, {} executions; {tally:?}; all ended after {ended:?}",
        beats.sent,
        evidence.export.executions.len(),
    );
    must_hold(&evidence);
    assert!(tally.started > 0, "nothing was started");
    let accepted = evidence
        .sent
        .iter()
        .filter(|sent| sent.answer.execution().is_some());
    assert!(accepted.count() > 0, "no request was accepted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_slot_and_every_request_has_its_one_execution_when_the_server_is_killed() {
    let _alone = alone().await;
    let home = tempdir().unwrap();
    let target = Target::start(Mood::Mixed { seed: SEED }).await;
    let mut node = Node::new(home.path(), &home.path().join("data"));
    node.start();
    let client = Client::new(node.door());
    workflows(&client, &target).await;
    let sender = sender(&client).await;
    let clockwork = Clockwork::start(&client).await;
    let load = Load::start(sender.clone(), of(RATE));
    let begun = Instant::now();
    for number in 1..=of(KILLS) {
        tokio::time::sleep_until((begun + of(KILL_EVERY) * number).into()).await;
        tokio::task::block_in_place(|| {
            node.kill();
            node.start();
        });
    }
    tokio::time::sleep(of(KILL_EVERY)).await;
    account("TRIGGER", &client, &sender, (load, clockwork, &target)).await;
    tokio::task::block_in_place(|| node.stop());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn with_clocks_off_every_slot_has_its_one_execution_when_the_oldest_node_is_killed() {
    let _alone = alone().await;
    let home = tempdir().unwrap();
    let cluster = tokio::task::block_in_place(Cluster::start);
    let target = Target::start(Mood::Mixed { seed: SEED }).await;
    let mut nodes: VecDeque<Node> = VecDeque::new();
    for (name, skew) in CLOCKS {
        let node = fleet::node(&home, &cluster, name, of(LEASE));
        let mut node = skew.of(node.with("REFIRE_MASTER_KEY", MASTER_KEY));
        let begun = SystemClock::new().now();
        tokio::task::block_in_place(|| node.start());
        // Its first line may come after its greeting.
        let log = || Some(node.log()).filter(|log| log.contains('\n'));
        skew.must_show(&within(LOGS_WITHIN, "it logs something", log).await, begun);
        nodes.push_back(node);
    }
    let client = Client::spread(nodes.iter().map(Node::door).collect());
    workflows(&client, &target).await;
    let sender = sender(&client).await;
    let clockwork = Clockwork::start(&client).await;
    let load = Load::start(sender.clone(), of(RATE));
    let begun = Instant::now();
    for number in 1..=of(OLDEST_KILLS) {
        tokio::time::sleep_until((begun + of(OLDEST_KILL_EVERY) * number).into()).await;
        // The oldest looks first for what is due; whoever comes back is the youngest.
        let mut oldest = nodes.pop_front().unwrap();
        tokio::task::block_in_place(|| {
            oldest.kill();
            oldest.start();
        });
        nodes.push_back(oldest);
    }
    tokio::time::sleep(of(OLDEST_KILL_EVERY)).await;
    account(
        "TRIGGER NODES",
        &client,
        &sender,
        (load, clockwork, &target),
    )
    .await;
    let folded = fold::must_be_what_is_stored(&cluster.url).await;
    println!("TRIGGER NODES: {folded:?}");
    for node in &mut nodes {
        tokio::task::block_in_place(|| node.stop());
    }
}
