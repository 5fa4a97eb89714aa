//! POWER: the disk is copied under load as a power cut would leave it. Whatever was answered before
//! a cut is in it; and the same test sees the loss when the server does not wait for the disk.

use std::path::Path;
use std::time::Duration;

use tempfile::tempdir;

use crate::client::Client;
use crate::disk::{Cut, Disk, cannot_mount_images};
use crate::load::{ClientLog, Load};
use crate::node::Node;
use crate::target::{Mood, Target};
use crate::{alone, is_long, rest, skipped, within, workflows};

/// Requests a second.
const RATE: u32 = 200;
/// Cuts in the short form, and in the long one.
const CUTS: (usize, usize) = (5, 50);
/// Between two cuts, in milliseconds: this much and up to so much more.
const PAUSE_MS: (u64, u64) = (150, 500);
/// How long the first request may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A cut, and what had been answered before it began.
struct Moment {
    cut: Cut,
    accepted: Vec<String>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_answered_is_lost_when_the_power_fails() {
    let _alone = alone().await;
    if let Some(why) = cannot_mount_images() {
        skipped("the power cut", &why);
        return;
    }
    let root = tempdir().unwrap();
    let mut disk = Disk::make(root.path());
    let node = Node::new(root.path(), &disk.path().join("data"));
    let cuts = if is_long() { CUTS.1 } else { CUTS.0 };
    let (mut node, moments) = cut_under_load(node, &mut disk, cuts).await;
    node.stop();
    let mut answered = 0;
    for (number, moment) in moments.iter().enumerate() {
        let mounted = moment.cut.mount();
        let data = mounted.path().join("data");
        answered += moment.accepted.len();
        let lost = lost(root.path(), &data, moment).await;
        assert!(lost.is_empty(), "cut {number} has lost {lost:?}");
        let content = rest::examine(&data.join("refire.db")).await;
        assert!(
            content.wrong.is_empty(),
            "cut {number}: {:#?}",
            content.wrong
        );
    }
    println!("POWER: {cuts} cuts, {answered} answers looked for, none lost");
}

/// The control: without waiting for the disk there is a loss, and the test above would see it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_does_not_wait_for_the_disk_loses_answers() {
    let _alone = alone().await;
    if let Some(why) = cannot_mount_images() {
        skipped("the control of the power cut", &why);
        return;
    }
    if !cfg!(debug_assertions) {
        skipped(
            "the control of the power cut",
            "an optimised server always waits",
        );
        return;
    }
    let root = tempdir().unwrap();
    let mut disk = Disk::make(root.path());
    let node = Node::new(root.path(), &disk.path().join("data"));
    let node = node.with("REFIRE_DEBUG_SYNCHRONOUS", "normal");
    let (mut node, moments) = cut_under_load(node, &mut disk, CUTS.0).await;
    assert!(
        node.log().contains("not wait for the disk"),
        "{}",
        node.log()
    );
    node.stop();
    let mut losses = Vec::new();
    for moment in &moments {
        let mounted = moment.cut.mount();
        let lost = lost(root.path(), &mounted.path().join("data"), moment).await;
        losses.push((lost.len(), moment.accepted.len()));
    }
    println!("POWER, control: lost of answered, cut by cut: {losses:?}");
    let has_lost = losses.iter().any(|(lost, _)| *lost > 0);
    assert!(has_lost, "the test would not notice a loss");
}

/// It is shown only once, so it must not be another one after a power cut.
#[tokio::test]
async fn the_key_that_was_shown_is_still_the_key() {
    let _alone = alone().await;
    if let Some(why) = cannot_mount_images() {
        skipped("the power cut after the first start", &why);
        return;
    }
    let root = tempdir().unwrap();
    let mut disk = Disk::make(root.path());
    let data = disk.path().join("data");
    let mut node = Node::new(root.path(), &data).with("REFIRE_ADMIN_KEY", "");
    node.start();
    let cut = disk.cut();
    let shown = std::fs::read_to_string(data.join("admin.key")).unwrap();
    node.kill();
    let mounted = cut.mount();
    let kept = std::fs::read_to_string(mounted.path().join("data/admin.key"));
    assert_eq!(kept.ok(), Some(shown));
}

/// Runs a load on the disk and cuts it at odd moments.
async fn cut_under_load(mut node: Node, disk: &mut Disk, cuts: usize) -> (Node, Vec<Moment>) {
    let target = Target::start(Mood::Mixed { seed: 1 }).await;
    node.start();
    let client = Client::new(node.door());
    workflows(&client, &target).await;
    let load = Load::start(client, RATE);
    let first = || accepted(load.log()).pop();
    within(PATIENCE, "a request is accepted", first).await;
    let mut moments = Vec::new();
    for number in 0..cuts as u64 {
        // Odd moments, the same in each run.
        let pause = PAUSE_MS.0 + number * 7_919 % PAUSE_MS.1;
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let accepted = accepted(load.log());
        let cut = tokio::task::block_in_place(|| disk.cut());
        moments.push(Moment { cut, accepted });
    }
    load.stop().await;
    (node, moments)
}

/// The executions that were answered so far.
fn accepted(log: &ClientLog) -> Vec<String> {
    let entries = log.entries().into_iter();
    let accepted = entries.filter_map(|sent| sent.answer.execution().map(str::to_owned));
    accepted.collect()
}

/// What was answered before the cut and is not known to a server that starts on it.
async fn lost(home: &Path, data: &Path, moment: &Moment) -> Vec<String> {
    let mut node = Node::new(home, data);
    node.start();
    let client = Client::new(node.door());
    let listed: Vec<refire_client::model::Execution> = client.list("/api/executions").await;
    node.kill();
    let there: std::collections::BTreeSet<&str> =
        listed.iter().map(|one| one.execution_id.as_str()).collect();
    let gone = moment
        .accepted
        .iter()
        .filter(|id| !there.contains(id.as_str()));
    gone.cloned().collect()
}
