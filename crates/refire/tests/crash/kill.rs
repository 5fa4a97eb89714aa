//! KILL: the server is killed every two seconds under load and started again at once.

use std::time::{Duration, Instant};

use tempfile::tempdir;

use crate::check::{Evidence, must_hold};
use crate::client::Client;
use crate::export::all_end;
use crate::load::{Load, repeat_open};
use crate::node::Node;
use crate::retry::{Presser, press};
use crate::target::{Mood, Target};
use crate::{alone, is_long, rest, within, workflows};

/// Requests a second.
const RATE: u32 = 500;
/// Between two kills.
const KILL_EVERY: Duration = Duration::from_secs(2);
/// Kills in the short form, and in the long one.
const KILLS: (u32, u32) = (5, 29);
/// A restart answers within a second on a machine that has nothing else to do; a build without
/// optimisation on a busy one gets more.
const ACCEPTS_AGAIN_WITHIN: Duration = Duration::from_secs(60);
/// Requests without an answer that are sent again at the end.
const REPEATED_MAX: usize = 500;
/// Dead letters that are retried at the end.
const PRESSED_MAX: usize = 20;
/// How long everything may take to end after the load.
const ENDS_WITHIN: Duration = Duration::from_secs(120);
/// Chooses how the target answers.
const SEED: u64 = 1;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_answered_is_lost_when_the_server_is_killed_again_and_again() {
    let _alone = alone().await;
    let home = tempdir().unwrap();
    let target = Target::start(Mood::Mixed { seed: SEED }).await;
    let mut node = Node::new(home.path(), &home.path().join("data"));
    node.start();
    let client = Client::new(node.door());
    workflows(&client, &target).await;

    let load = Load::start(client.clone(), RATE);
    let kills = if is_long() { KILLS.1 } else { KILLS.0 };
    let mut waits = Vec::new();
    let presser = Presser::start(client.clone());
    let begun = Instant::now();
    for number in 1..=kills {
        tokio::time::sleep_until((begun + KILL_EVERY * number).into()).await;
        let killed = Instant::now();
        tokio::task::block_in_place(|| {
            node.kill();
            node.start();
        });
        let accepted = || load.log().first_accepted_after(killed);
        let accepted = within(ACCEPTS_AGAIN_WITHIN, "a request is accepted", accepted).await;
        waits.push(accepted.duration_since(killed));
    }
    tokio::time::sleep_until((begun + KILL_EVERY * (kills + 1)).into()).await;
    let (log, beats) = load.stop().await;
    let mut retried = presser.stop().await;
    let repeated = repeat_open(&client, &log, REPEATED_MAX).await;
    let ended = all_end(&client, ENDS_WITHIN).await;
    retried.extend(press(&client, PRESSED_MAX).await);
    all_end(&client, ENDS_WITHIN).await;

    let evidence = Evidence::gather(&client, &log, retried, target.calls()).await;
    waits.sort();
    println!(
        "KILL: {kills} kills, {} requests sent ({} beats left out), {repeated} repeated, {} executions, \
         {} calls, first 2xx after a kill: median {:?}, longest {:?}, all ended after {ended:?}",
        beats.sent,
        beats.left_out,
        evidence.export.executions.len(),
        evidence.calls.len(),
        waits[waits.len() / 2],
        waits[waits.len() - 1],
    );
    must_hold(&evidence);
    let mut events = evidence.export.executions.iter().flat_map(|one| &one.log);
    let has_lost = events.any(|event| event.name == "STEP_LOST");
    assert!(has_lost, "the kills hit nothing that ran");
    assert!(!evidence.retried.is_empty(), "no dead letter was retried");

    node.stop();
    let content = rest::examine(&node.database()).await;
    assert!(content.wrong.is_empty(), "{:#?}", content.wrong);
    assert_eq!(content.executions.len(), evidence.export.executions.len());
}
