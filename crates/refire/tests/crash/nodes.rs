//! NODE: three nodes share a database. One is killed, another is stopped past its lease and goes on
//! as if nothing had happened.

use std::time::{Duration, Instant};

use refire_engine::clock::{Clock, SystemClock};
use reqwest::Method;
use serde_json::Value;
use tempfile::tempdir;

use crate::check::{Evidence, must_hold};
use crate::client::Client;
use crate::cluster::Cluster;
use crate::export::{Exported, all_end};
use crate::load::{ClientLog, Load, Plan, plan, repeat_open, send};
use crate::node::Door;
use crate::takeover::Death;
use crate::target::{Mood, Target};
use crate::{RETRIES_MAX, alone, fleet, fold, is_long, within, workflows};

/// How long a node may be silent, in the short form and in the long one.
const LEASE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(15));
/// Requests a second.
const RATE: (u32, u32) = (100, 300);
/// When one node is killed.
const KILLED_AT: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(20));
/// How long before that it gets requests whose retries are due after its end, and how long those wait.
const PATIENT_BEFORE: Duration = Duration::from_millis(1_500);
const PATIENCE: Duration = Duration::from_secs(3);
/// When another stands still.
const FROZEN_AT: (Duration, Duration) = (Duration::from_secs(12), Duration::from_secs(42));
/// For how long.
const FROZEN_FOR: (Duration, Duration) = (Duration::from_secs(8), Duration::from_secs(30));
/// How long the load goes on after that.
const GOES_ON_FOR: Duration = Duration::from_secs(2);
/// How long the proxy needs to notice that a node does not answer.
const NOTICED_AFTER: Duration = Duration::from_millis(500);
/// How long a node may take to join again.
const REJOINED_WITHIN: Duration = Duration::from_secs(30);
/// How long everything may take to end after the load.
const ENDS_WITHIN: Duration = Duration::from_secs(120);
/// Requests without an answer that are sent again at the end.
const REPEATED_MAX: usize = 500;
/// Requests of a burst; one in ten hangs.
const BURST: u64 = 80;
/// Their first numbers, beyond those of the load.
const BURSTS: [u64; 3] = [1_000_000, 2_000_000, 3_000_000];
/// A workflow whose retries wait.
const PATIENT: &str = "patient";
/// Chooses how the target answers.
const SEED: u64 = 4;

fn of<T>((short, long): (T, T)) -> T {
    if is_long() { long } else { short }
}

/// So many requests to one node that some of their calls hang: what comes next hits something.
async fn burst(door: &Door, first: u64, log: &ClientLog) {
    let client = Client::new(door.clone());
    let all = (first..first + BURST).map(|number| send(&client, plan(number), log));
    futures_util::future::join_all(all).await;
}

/// The same with retries that wait: what comes next hits timers.
async fn patient_burst(door: &Door, first: u64, log: &ClientLog) {
    let client = Client::new(door.clone());
    let all = (first..first + BURST).map(|number| {
        let workflow = PATIENT;
        send(
            &client,
            Plan {
                workflow,
                ..plan(number)
            },
            log,
        )
    });
    futures_util::future::join_all(all).await;
}

/// The workflow of such requests.
async fn patient(client: &Client, target: &Target) {
    let definition = format!(
        "id: {PATIENT}\nretry: {{ maxRetries: {RETRIES_MAX}, initialDelay: {}s, strategy: fixed, jitter: none }}\n\
         steps:\n  - id: first\n    type: http\n    config:\n      method: POST\n      url: {}/first\n      \
         timeout: 400ms\n      body: {{ request: \"${{input.request}}\" }}\n",
        PATIENCE.as_secs(),
        target.url()
    );
    client.apply(PATIENT, &definition).await;
}

/// Attempts that died with a node.
fn losses(executions: &[Exported], node: &str) -> usize {
    let events = executions.iter().flat_map(|one| &one.log);
    let lost = events.filter(|event| event.name == "STEP_LOST");
    lost.filter(|event| event.node.as_deref() == Some(node))
        .count()
}

/// The id under which the node of this name runs now.
async fn id_of(client: &Client, name: &str) -> String {
    let listed: Value = client.read(Method::GET, "/api/nodes").await;
    let nodes = listed["items"].as_array().unwrap();
    let node = nodes.iter().find(|node| node["name"] == name).unwrap();
    node["node_id"].as_str().unwrap().to_owned()
}

/// The names of the nodes of a listing, in its order.
fn names(listed: &Value) -> Vec<&str> {
    let nodes = listed["items"].as_array().unwrap();
    let names = nodes.iter().map(|node| node["name"].as_str().unwrap());
    names.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_dead_node_is_replaced_and_a_frozen_one_writes_nothing_stale() {
    let _alone = alone().await;
    let (home, clock) = (tempdir().unwrap(), SystemClock::new());
    let cluster = tokio::task::block_in_place(Cluster::start);
    let target = Target::start(Mood::Mixed { seed: SEED }).await;
    let lease = of(LEASE);
    let lease_text = format!("{}s", lease.as_secs());
    let mut nodes = ["first", "second", "third"].map(|name| {
        let mut node = fleet::node(&home, &cluster, name, &lease_text);
        tokio::task::block_in_place(|| node.start());
        node
    });
    let doors = nodes.each_ref().map(|node| node.door());
    let client = Client::spread(doors.to_vec());
    workflows(&client, &target).await;
    patient(&client, &target).await;
    let load = Load::start(client.clone(), of(RATE));
    let begun = Instant::now();

    tokio::time::sleep_until((begun + of(KILLED_AT) - PATIENT_BEFORE).into()).await;
    patient_burst(&doors[0], BURSTS[2], load.log()).await;
    tokio::time::sleep_until((begun + of(KILLED_AT)).into()).await;
    let dead = id_of(&client, "first").await;
    burst(&doors[0], BURSTS[0], load.log()).await;
    let killed_at = clock.now();
    tokio::task::block_in_place(|| nodes[0].kill());
    tokio::time::sleep(NOTICED_AFTER).await;
    client.only(doors[1..].to_vec());

    tokio::time::sleep_until((begun + of(FROZEN_AT)).into()).await;
    let frozen = id_of(&client, "second").await;
    burst(&doors[1], BURSTS[1], load.log()).await;
    nodes[1].freeze();
    tokio::time::sleep(NOTICED_AFTER).await;
    client.only(vec![doors[2].clone()]);
    tokio::time::sleep(of(FROZEN_FOR)).await;
    nodes[1].thaw();
    let thawed = Client::new(doors[1].clone());
    let log = || nodes[1].log();
    within(REJOINED_WITHIN, "the node joins again", || {
        log().contains("joined again").then_some(())
    })
    .await;
    client.only(doors[1..].to_vec());
    tokio::time::sleep(GOES_ON_FOR).await;

    let (log, beats) = load.stop().await;
    let reader = Client::new(doors[2].clone());
    let repeated = repeat_open(&reader, &log, REPEATED_MAX).await;
    let ended = all_end(&reader, ENDS_WITHIN).await;
    assert_eq!(thawed.readiness().await, Some(200), "it serves again");
    let listed: Value = reader.read(Method::GET, "/api/nodes").await;
    let evidence = Evidence::gather(&reader, &log, Vec::new(), target.calls()).await;
    must_hold(&evidence);
    let executions = &evidence.export.executions;
    let death = Death {
        node: dead,
        at: killed_at,
        lease,
    };
    let taken_over = death.must_be_made_up_for(executions, &evidence.calls);
    let of_the_frozen = losses(executions, &frozen);
    let folded = fold::must_be_what_is_stored(&cluster.url).await;
    println!(
        "NODE: {} requests sent ({} beats left out), {repeated} repeated, {} executions, {} calls; \
         of the dead node: {taken_over:?}; {of_the_frozen} attempts of the frozen one were lost; {folded:?}; \
         all ended after {ended:?}",
        beats.sent,
        beats.left_out,
        executions.len(),
        evidence.calls.len(),
    );
    assert!(taken_over.lost > 0, "the kill hit nothing that ran");
    assert!(taken_over.waited > 0, "the kill hit nothing that waited");
    folded.must_cover(executions.len());
    assert!(of_the_frozen > 0, "the frozen node held nothing");
    assert_eq!(
        names(&listed),
        ["third", "second"],
        "the frozen one has joined anew: {listed}"
    );
    for node in &mut nodes[1..] {
        tokio::task::block_in_place(|| node.stop());
    }
}
