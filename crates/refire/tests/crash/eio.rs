//! EIO: the disk says that it could not keep what was written. Whether it is there is not known, so
//! those who wait hear exactly that, and the process ends.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::tempdir;

use crate::check::{Evidence, must_hold};
use crate::client::{Answer, Client};
use crate::export::all_end;
use crate::load::{ClientLog, Load, Plan, Sent, repeat_open, send};
use crate::node::Node;
use crate::script::Story;
use crate::target::{Mood, Target};
use crate::tracer::{Tracer, cannot_trace};
use crate::{alone, is_long, rest, skipped, within, workflows};

/// Tells a supervisor that a new start is needed.
const EXIT_BROKEN: i32 = 70;
/// How long the process may live on.
const ENDS_WITHIN: Duration = Duration::from_secs(20);
/// How long a load may take until the fault shows.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long everything may take to end after a restart.
const SETTLES_WITHIN: Duration = Duration::from_secs(60);
/// Requests a second.
const RATE: u32 = 200;
/// The syncs that fail; the short form takes the first few.
const SYNCS: [u32; 10] = [2, 9, 40, 3, 5, 17, 80, 130, 25, 210];
const SYNCS_SHORT: usize = 2;

/// The one that fails where requests come one at a time.
const FAILS_AT: u32 = 7;

/// A server with two workflows, stopped in order.
async fn stage(home: &Path, target: &Target) -> Node {
    let mut node = Node::new(home, &home.join("data"));
    node.start();
    workflows(&Client::new(node.door()), target).await;
    node.stop();
    node
}

/// After a start on a disk that works again: every promise holds, whatever became of the requests
/// that nobody knows of; and again after these were repeated.
async fn verify(node: &mut Node, log: &ClientLog, target: &Target) {
    node.start();
    let client = Client::new(node.door());
    let evidence = settled(&client, log, target).await;
    must_hold(&evidence);
    nobody_was_cut_off(&evidence);
    repeat_open(&client, log, usize::MAX).await;
    must_hold(&settled(&client, log, target).await);
    node.stop();
    let content = rest::examine(&node.database()).await;
    assert!(content.wrong.is_empty(), "{:#?}", content.wrong);
}

/// Only requests that the server never took have no answer: it tells those who wait before it ends.
#[track_caller]
fn nobody_was_cut_off(evidence: &Evidence) {
    let executions = evidence.export.executions.iter();
    let taken: BTreeSet<u64> = executions.filter_map(|one| one.request).collect();
    let has_answer = |sent: &&Sent| !matches!(sent.answer, Answer::None(_));
    let answered = evidence.sent.iter().filter(has_answer);
    let answered: BTreeSet<u64> = answered.map(|sent| sent.plan.request).collect();
    for sent in &evidence.sent {
        let request = sent.plan.request;
        let is_cut_off = taken.contains(&request) && !answered.contains(&request);
        assert!(!is_cut_off, "it was taken and not answered: {sent:?}");
    }
}

async fn settled(client: &Client, log: &ClientLog, target: &Target) -> Evidence {
    all_end(client, SETTLES_WITHIN).await;
    Evidence::gather(client, log, Vec::new(), target.calls()).await
}

/// One request at a time, and nothing else that writes: each is one commit, and the one whose sync
/// fails is known.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_waits_for_a_sync_that_fails_hears_that_nobody_knows() {
    let _alone = alone().await;
    if let Some(why) = cannot_trace() {
        skipped("a failing sync", &why);
        return;
    }
    let home = tempdir().unwrap();
    let target = Target::start(Mood::Good).await;
    let mut node = stage(home.path(), &target).await;
    let tracer = Tracer::watches(home.path(), &node.database()).fails_syncs_from(FAILS_AT);
    node.start_as(|command| tracer.wrap(&command)).unwrap();
    let client = Client::new(node.door());
    let log = ClientLog::default();
    let mut last = None;
    for request in 1..=u64::from(FAILS_AT) * 2 {
        let plan = Plan {
            request,
            workflow: "one?delay=5s",
            key: Some(format!("key-{request}")),
            fate: None,
        };
        match send(&client, plan, &log).await {
            Answer::Accepted { .. } => {}
            other => {
                last = Some(other);
                break;
            }
        }
    }
    let failed = Instant::now();
    let last = last.expect("every request was accepted");
    assert!(last.is_outcome_unknown(), "{last:?}\n{}", tracer.seen());
    let status = node.ends_within(ENDS_WITHIN);
    assert_eq!(status.code(), Some(EXIT_BROKEN), "{}", node.log());
    println!(
        "EIO: request {} of one at a time got 500 outcome_unknown; the process ended after {:?}; {:?}",
        log.entries().len(),
        failed.elapsed(),
        tracer.injected()
    );
    assert!(!tracer.injected().is_empty(), "{}", tracer.seen());
    verify(&mut node, &log, &target).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_sync_that_fails_under_load_ends_the_process_and_no_promise() {
    let _alone = alone().await;
    if let Some(why) = cannot_trace() {
        skipped("failing syncs under load", &why);
        return;
    }
    let wanted = if is_long() { SYNCS.len() } else { SYNCS_SHORT };
    let mut told = 0;
    for (number, sync) in SYNCS.iter().enumerate() {
        // A commit that fails may have nothing in it that somebody waits for; then the next one.
        if number >= wanted && told > 0 {
            break;
        }
        let home = tempdir().unwrap();
        let target = Target::start(Mood::Mixed {
            seed: u64::from(*sync),
        })
        .await;
        let mut node = stage(home.path(), &target).await;
        let tracer = Tracer::watches(home.path(), &node.database()).fails_syncs_from(*sync);
        node.start_as(|command| tracer.wrap(&command)).unwrap();
        let load = Load::start(Client::new(node.door()), RATE);
        let injected = || tracer.injected().pop();
        within(PATIENCE, "a sync fails", injected).await;
        let failed = Instant::now();
        let status = tokio::task::block_in_place(|| node.ends_within(ENDS_WITHIN));
        let lived_on = failed.elapsed();
        let (log, _) = load.stop().await;
        assert_eq!(status.code(), Some(EXIT_BROKEN), "{}", node.log());
        let entries = log.entries();
        let unknown = entries
            .iter()
            .filter(|sent| sent.answer.is_outcome_unknown())
            .count();
        told += unknown;
        println!(
            "EIO: sync {sync} failed; {unknown} of {} requests are open by the server's word; \
             the process ended after {lived_on:?}; {:?}",
            entries.len(),
            tracer.injected().first()
        );
        verify(&mut node, &log, &target).await;
    }
    assert!(told > 0, "no admission was in a commit that failed");
}

/// The log is on disk, only its copy into the file is not: nothing is lost, and the log stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_checkpoint_whose_sync_fails_loses_nothing() {
    let _alone = alone().await;
    if let Some(why) = cannot_trace() {
        skipped("a failing checkpoint", &why);
        return;
    }
    let home = tempdir().unwrap();
    let target = Target::start(Mood::AsAsked).await;
    let mut node = stage(home.path(), &target).await;
    let tracer = Tracer::watches(home.path(), &node.database())
        .only_the_file()
        .fails_syncs_from(1);
    node.start_as(|command| tracer.wrap(&command)).unwrap();
    let client = Client::new(node.door());
    let mut story = Story::default();
    story.play(&mut node, &client).await;
    node.stop();
    assert!(!tracer.injected().is_empty(), "{}", tracer.seen());
    assert!(node.log().contains("a checkpoint failed"), "{}", node.log());
    node.start();
    must_hold(&story.end(&client, || target.calls()).await);
    node.stop();
    let content = rest::examine(&node.database()).await;
    assert!(content.wrong.is_empty(), "{:#?}", content.wrong);
}
