//! SWEEP: the server is killed at the first write of its database, at the second, and so on: while
//! it makes its files, while it works through a script, and while it stops.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tempfile::{TempDir, tempdir};

use crate::check::must_hold;
use crate::client::Client;
use crate::node::Node;
use crate::script::Story;
use crate::target::{Call, Mood, Target};
use crate::tracer::{Tracer, cannot_trace};
use crate::{alone, is_long, rest, skipped, workflows};

/// Points of each phase in the short form; the long one takes all.
const POINTS_SHORT: usize = 10;
/// How long the server may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(30);

/// A moment of the server's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The first start, on nothing.
    Create,
    /// The script.
    Work,
    /// Stopping with a log that is not empty.
    Stop,
}

/// Where it is killed: at the call of this kind with this number.
type Point = (&'static str, u32);

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_kill_at_any_write_while_files_are_made_is_survived() {
    sweep(Phase::Create).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_kill_at_any_write_of_a_script_is_survived() {
    sweep(Phase::Work).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_kill_at_any_write_while_stopping_is_survived() {
    sweep(Phase::Stop).await;
}

async fn sweep(phase: Phase) {
    let _alone = alone().await;
    if let Some(why) = cannot_trace() {
        skipped(&format!("the sweep ({phase:?})"), &why);
        return;
    }
    let stage = Stage::make(phase).await;
    let (_, counts) = stage.run(None).await;
    let all: Vec<Point> = counts
        .iter()
        .flat_map(|(call, count)| (1..=*count).map(|number| (*call, number)))
        .collect();
    assert!(!all.is_empty(), "nothing was written");
    let points = if is_long() { all.clone() } else { spread(&all) };
    let mut hit = 0;
    for point in &points {
        let (died, _) = stage.run(Some(*point)).await;
        hit += usize::from(died);
    }
    println!(
        "SWEEP {phase:?}: {} of {} points tried, killed at {hit}; writes {counts:?}",
        points.len(),
        all.len()
    );
    // How commits are grouped is a matter of timing, so the last points may not be reached.
    assert!(hit * 2 >= points.len(), "too few points were reached");
}

/// Some of all points, evenly.
fn spread(all: &[Point]) -> Vec<Point> {
    let count = POINTS_SHORT.min(all.len());
    (0..count)
        .map(|index| all[index * all.len() / count])
        .collect()
}

/// What every run of a phase begins with.
struct Stage {
    phase: Phase,
    target: Target,
    home: TempDir,
    story: Story,
    calls: Vec<Call>,
}

impl Stage {
    async fn make(phase: Phase) -> Self {
        let mut stage = Self {
            phase,
            target: Target::start(Mood::AsAsked).await,
            home: tempdir().unwrap(),
            story: Story::default(),
            calls: Vec::new(),
        };
        if phase == Phase::Create {
            return stage;
        }
        let mut node = Node::new(stage.home.path(), &stage.home.path().join("data"));
        node.start();
        let client = Client::new(node.door());
        workflows(&client, &stage.target).await;
        if phase == Phase::Work {
            node.stop();
        } else {
            stage.story.play(&mut node, &client).await;
            node.kill();
            stage.calls = stage.target.take_calls();
        }
        stage
    }

    /// One run, killed at the point if there is one; then everything is checked. Whether it was
    /// killed, and how many writes there were.
    async fn run(&self, point: Option<Point>) -> (bool, BTreeMap<&'static str, u32>) {
        let home = tempdir().unwrap();
        copy(self.home.path(), home.path());
        let mut node = Node::new(home.path(), &home.path().join("data"));
        let mut tracer = Tracer::watches(home.path(), &node.database());
        if let Some((call, number)) = point {
            tracer = tracer.kills_at(call, number);
        }
        let client = Client::new(node.door());
        let mut story = self.story.copy();
        let has_started = node.start_as(|command| tracer.wrap(&command)).is_ok();
        if has_started && self.phase == Phase::Work {
            story.play(&mut node, &client).await;
        }
        let died = if !has_started || node.has_ended() {
            true
        } else if self.phase == Phase::Stop {
            node.terminate();
            !node.ends_within(ENDS_WITHIN).success()
        } else {
            false
        };
        node.kill();
        assert!(point.is_some() || !died, "it died by itself");

        node.start();
        let evidence = story
            .end(&client, || {
                let mut calls = self.calls.clone();
                calls.extend(self.target.take_calls());
                calls
            })
            .await;
        must_hold(&evidence);
        node.stop();
        let content = rest::examine(&node.database()).await;
        assert!(content.wrong.is_empty(), "{point:?}: {:#?}", content.wrong);
        (died, tracer.counts())
    }
}

/// Copies a folder's content.
fn copy(from: &Path, to: &Path) {
    let from = from.join(".");
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.unwrap().success());
}
