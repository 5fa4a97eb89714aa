//! DRAIN: the server is asked to stop under load. Nothing that was answered is lost, requests in
//! flight are answered, and the next start has nothing to wait for.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use tempfile::tempdir;

use crate::check::{Evidence, must_hold};
use crate::client::{Answer, Client};
use crate::export::all_end;
use crate::load::{Load, Plan, plan, send};
use crate::node::Node;
use crate::target::{Mood, Target};
use crate::{GLANCE, alone, rest, within, workflows};

/// Requests a second.
const RATE: u32 = 100;
/// How long the load lasts before the signal.
const BEFORE: Duration = Duration::from_secs(2);
/// How long stopping may take, all of it.
const STOPS_WITHIN: Duration = Duration::from_secs(25);
/// How long the server may take to say that it takes nothing more.
const CLOSES_WITHIN: Duration = Duration::from_secs(10);
/// A request that was sent so long before the signal has been heard by the server.
const IN_FLIGHT: Duration = Duration::from_millis(50);
/// The next start accepts within a second on a machine that has nothing else to do.
const ACCEPTS_WITHIN: Duration = Duration::from_secs(10);
/// How long everything may take to end after the next start.
const SETTLES_WITHIN: Duration = Duration::from_secs(60);

/// The numbers of the requests whose calls hang.
const HANGING: RangeInclusive<u64> = 1_000_001..=1_000_010;

/// A workflow whose step waits long.
async fn slow(client: &Client, target: &Target) {
    let url = target.url();
    let definition = format!(
        "id: slow\nsteps:\n  - id: slow\n    type: http\n    config:\n      method: POST\n      \
         url: {url}/slow\n      timeout: 55s\n      body: {{ request: \"${{input.request}}\" }}\n"
    );
    client.apply("slow", &definition).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn stopping_under_load_loses_nothing_and_leaves_nothing_to_wait_for() {
    let _alone = alone().await;
    let home = tempdir().unwrap();
    let target = Target::start(Mood::Mixed { seed: 1 }).await;
    let mut node = Node::new(home.path(), &home.path().join("data"));
    node.start();
    let client = Client::new(node.door());
    workflows(&client, &target).await;
    slow(&client, &target).await;

    let load = Load::start(client.clone(), RATE);
    tokio::time::sleep(BEFORE).await;
    // These hang when the signal comes, for longer than the server may wait.
    target.becomes(Mood::Silent);
    for request in HANGING {
        let plan = Plan {
            request,
            workflow: "slow",
            key: None,
            fate: None,
        };
        let answer = send(&client, plan, load.log()).await;
        assert!(answer.execution().is_some(), "{answer:?}");
    }
    let hang = || {
        let calls = target.calls();
        let slow = calls.iter().filter(|call| call.step == "slow").count();
        (slow >= HANGING.count()).then_some(())
    };
    within(SETTLES_WITHIN, "the calls hang", hang).await;
    let signalled = Instant::now();
    node.terminate();
    let closed = loop {
        match client.readiness().await {
            Some(200) => {}
            _ => break signalled.elapsed(),
        }
        assert!(signalled.elapsed() < CLOSES_WITHIN, "it goes on");
        tokio::time::sleep(GLANCE).await;
    };
    let (log, _) = load.stop().await;
    let status = tokio::task::block_in_place(|| node.ends_within(STOPS_WITHIN));
    let stopped = signalled.elapsed();
    assert!(stopped < STOPS_WITHIN, "it took {stopped:?}");
    assert_eq!(status.code(), Some(0), "{}", node.log());
    target.becomes(Mood::Good);

    let started = Instant::now();
    node.start();
    let answer = send(&client, plan(*HANGING.end() + 1), &log).await;
    assert!(answer.execution().is_some(), "{answer:?}");
    let accepted = started.elapsed();
    assert!(
        accepted < ACCEPTS_WITHIN,
        "the next start waits {accepted:?}"
    );
    let ended = all_end(&client, SETTLES_WITHIN).await;
    let evidence = Evidence::gather(&client, &log, Vec::new(), target.calls()).await;
    println!(
        "DRAIN: not ready after {closed:?}, stopped after {stopped:?}, accepts {accepted:?} after the next \
         start, all ended after {ended:?}; {} requests, {} executions",
        evidence.sent.len(),
        evidence.export.executions.len()
    );
    must_hold(&evidence);
    let logs = evidence.export.executions.iter().flat_map(|one| &one.log);
    let losses = logs.filter(|entry| entry.name == "STEP_LOST").count();
    assert_eq!(losses, 0, "a stop in order is no loss");
    for sent in &evidence.sent {
        let was_in_flight = sent.sent_at + IN_FLIGHT < signalled && sent.answered_at > signalled;
        if was_in_flight {
            assert!(!matches!(sent.answer, Answer::None(_)), "{sent:?}");
        }
    }
    node.stop();
    let content = rest::examine(&node.database()).await;
    assert!(content.wrong.is_empty(), "{:#?}", content.wrong);
}
