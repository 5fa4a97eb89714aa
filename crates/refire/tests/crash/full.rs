//! FULL: the disk has no room. New work is refused while that lasts, nothing is lost, and the server
//! goes on by itself when there is room again.

use std::time::{Duration, Instant};

use tempfile::tempdir;

use crate::check::{Evidence, must_hold};
use crate::client::{Answer, Client};
use crate::disk::{Mount, cannot_mount};
use crate::export::all_end;
use crate::load::{Load, Sent};
use crate::node::Node;
use crate::target::{Mood, Target};
use crate::{alone, is_long, rest, skipped, within, workflows};

/// The whole disk, and what somebody else has put on it.
const DISK_MIB: u32 = 32;
const BALLAST_MIB: usize = 26;
/// Requests a second.
const RATE: u32 = 200;
/// How long the disk stays full, in the short form and in the long one.
const HOLD: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(60));
/// How long it may take until the disk is full.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long the server may take to accept again.
const RECOVERS_WITHIN: Duration = Duration::from_secs(30);
/// How long the load goes on after that.
const GOES_ON: Duration = Duration::from_secs(2);
/// How long everything may take to end.
const SETTLES_WITHIN: Duration = Duration::from_secs(60);
/// The code of a full disk.
const DISK_FULL: &str = "RF0029";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_full_disk_refuses_new_work_and_loses_none() {
    let _alone = alone().await;
    if let Some(why) = cannot_mount() {
        skipped("the full disk", &why);
        return;
    }
    let home = tempdir().unwrap();
    let disk = Mount::memory(&home.path().join("disk"), DISK_MIB);
    let ballast = disk.path().join("ballast");
    std::fs::write(&ballast, vec![1; BALLAST_MIB << 20]).unwrap();
    let target = Target::start(Mood::Mixed { seed: 1 }).await;
    let mut node = Node::new(home.path(), &disk.path().join("data"));
    node.start();
    let client = Client::new(node.door());
    workflows(&client, &target).await;

    let load = Load::start(client.clone(), RATE);
    let begun = Instant::now();
    let refused = || load.log().entries().into_iter().find(is_full);
    within(PATIENCE, "the disk is full", refused).await;
    let filled = begun.elapsed();
    let full = Instant::now();
    while full.elapsed() < if is_long() { HOLD.1 } else { HOLD.0 } {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let page: serde_json::Value = client
            .read(reqwest::Method::GET, "/api/executions?limit=1")
            .await;
        assert!(page["items"].is_array(), "reading works on");
    }
    std::fs::remove_file(&ballast).unwrap();
    let freed = Instant::now();
    let accepted = || load.log().first_accepted_after(freed);
    let recovered = within(RECOVERS_WITHIN, "work is accepted again", accepted).await;
    let recovered = recovered.duration_since(freed);
    tokio::time::sleep(GOES_ON).await;
    let (log, _) = load.stop().await;
    let ended = all_end(&client, SETTLES_WITHIN).await;
    assert!(!node.has_ended(), "it recovers without a restart");

    let evidence = Evidence::gather(&client, &log, Vec::new(), target.calls()).await;
    let refused = evidence.sent.iter().filter(|sent| is_full(sent)).count();
    println!(
        "FULL: full after {filled:?}, {refused} of {} requests refused for that, accepted again {recovered:?} \
         after there was room, all ended after {ended:?}",
        evidence.sent.len()
    );
    for sent in &evidence.sent {
        if let Answer::Refused {
            status,
            has_retry_after,
            ..
        } = &sent.answer
        {
            let is_expected = match status {
                503 | 507 => *has_retry_after,
                // A key that was used before with another input.
                409 => true,
                _ => false,
            };
            assert!(is_expected, "{sent:?}");
        }
    }
    must_hold(&evidence);
    node.stop();
    let content = rest::examine(&node.database()).await;
    assert!(content.wrong.is_empty(), "{:#?}", content.wrong);
}

fn is_full(sent: &Sent) -> bool {
    matches!(&sent.answer, Answer::Refused { status: 507, code, .. } if code == DISK_FULL)
}
