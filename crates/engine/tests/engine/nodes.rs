//! Two nodes on one store: what one does, the other knows, and a lease that is lost takes its work
//! along.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use refire_core::execution::{Cancel, Command, Status};
use refire_core::id::{ExecutionId, NodeId};
use refire_engine::caller::Caller;
use refire_engine::clock::{Clock, SystemClock};
use refire_engine::limit::Limits;
use refire_engine::{Engine, LetterRetryRequest, NodeSettings, RetryFrom};
use refire_store::model::{Disk, Faults, Moment, NoFaults, Verdict};
use refire_store::{Batch, Part, ReadError, Store};

use crate::fixture::{
    Answer, Targets, apply, check, end, log, reaches, small_limits, start, within,
};

const SOURCE: &str = r#"
id: w
retry: { maxRetries: 1, initialDelay: 100ms, jitter: none }
steps:
  - { id: a, type: http, config: { method: POST, url: "https://t.example/a" } }
"#;
const LEASE: Duration = Duration::from_millis(900);

/// A node that hears nothing.
struct Deaf;

#[async_trait::async_trait]
impl Faults for Deaf {
    async fn news(&self, _: refire_store::News) -> Option<refire_store::News> {
        None
    }
}

/// A disk that several nodes share, and the targets they call.
struct Shared {
    disk: Arc<Disk>,
    targets: Arc<Targets>,
    lease: Duration,
}

impl Shared {
    fn new() -> Self {
        let clock = SystemClock::new();
        Self {
            disk: Disk::shared(Arc::new(move || clock.now())),
            targets: Targets::new(),
            lease: LEASE,
        }
    }

    async fn node(&self, name: &str, limits: Limits, faults: Arc<dyn Faults>) -> Arc<Engine> {
        let store: Arc<dyn Store> = Arc::new(self.disk.open(faults));
        let caller: Arc<dyn Caller> = self.targets.clone();
        let settings = NodeSettings {
            name: name.to_owned(),
            lease: self.lease,
            ..NodeSettings::default()
        };
        let builder = Engine::builder(store).caller(caller).limits(limits);
        builder.node(settings).start().await.unwrap()
    }

    async fn plain(&self, name: &str) -> Arc<Engine> {
        self.node(name, Limits::default(), Arc::new(NoFaults)).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_saved_on_one_node_runs_on_the_other_at_once() {
    let shared = Shared::new();
    let one = shared.plain("one").await;
    let other = shared
        .node("other", Limits::default(), Arc::new(Deaf))
        .await;
    let id = apply(&one, SOURCE).await;
    let first = start(&other, &id, "{}").await;
    end(&other, first).await;
    apply(&one, &SOURCE.replace("/a", "/b")).await;
    let second = start(&other, &id, "{}").await;
    let ended = end(&other, second).await;
    let origin = ended.state.origin.unwrap();
    assert_eq!(origin.workflow_version, 2, "the newest, though nobody told");
    assert_eq!(shared.targets.seen("/b").len(), 1);
    one.definitions().delete(&id).await.unwrap();
    let submission = crate::fixture::submission(&id, "{}");
    let refused = other.executions().submit(submission).await;
    assert!(refused.is_err(), "{refused:?}");
    one.stop().await;
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancellation_through_another_node_stops_the_call() {
    let shared = Shared::new();
    let (one, other) = (shared.plain("one").await, shared.plain("other").await);
    shared.targets.script("/a", &[Answer::Held]);
    let workflow = apply(&one, SOURCE).await;
    let id = start(&one, &workflow, "{}").await;
    shared.targets.called("/a", 1).await;
    assert_eq!((one.running(), other.running()), (1, 0));
    let cancel = Command::Cancel(Cancel::by(None));
    other.executions().command(id, cancel).await.unwrap();
    within(async {
        while one.running() > 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    assert_eq!(end(&one, id).await.state.status, Status::Cancelled);
    check(&one, id).await;
    one.stop().await;
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_has_no_room_for_the_other_runs_and_whoever_waits_hears_of_it() {
    let shared = Shared::new();
    let one = shared
        .node("one", small_limits(1), Arc::new(NoFaults))
        .await;
    let other = shared.plain("other").await;
    shared
        .targets
        .script("/a", &[Answer::Held, Answer::Ok("{}")]);
    let workflow = apply(&one, SOURCE).await;
    let first = start(&one, &workflow, "{}").await;
    shared.targets.called("/a", 1).await;
    let second = start(&one, &workflow, "{}").await;
    let ended = end(&one, second).await;
    assert_eq!(ended.state.status, Status::Completed);
    assert_eq!(one.running(), 1, "it was the other that ran it");
    shared.targets.open_gate(1);
    end(&one, first).await;
    one.stop().await;
    other.stop().await;
}

async fn rejoined(engine: &Engine, was: NodeId) -> NodeId {
    within(async {
        loop {
            let id = engine.node();
            if id != was && engine.is_ready() {
                return id;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_lost_its_lease_joins_again_and_its_attempt_runs_anew() {
    let shared = Shared::new();
    let (one, other) = (shared.plain("one").await, shared.plain("other").await);
    shared
        .targets
        .script("/a", &[Answer::Held, Answer::Ok("{}")]);
    let workflow = apply(&one, SOURCE).await;
    let id = start(&one, &workflow, "{}").await;
    shared.targets.called("/a", 1).await;
    let was = one.node();
    // As others do when it was silent for too long.
    other.store().leave(was).await.unwrap();
    rejoined(&one, was).await;
    assert_eq!(end(&one, id).await.state.status, Status::Completed);
    let lost = "STEP_LOST a#1".to_owned();
    assert!(
        log(&one, id).await.contains(&lost),
        "{:?}",
        log(&one, id).await
    );
    assert_eq!(shared.targets.seen("/a").len(), 2);
    shared.targets.open_gate(1);
    check(&one, id).await;
    let names: Vec<String> = one
        .nodes()
        .await
        .unwrap()
        .into_iter()
        .map(|node| node.name)
        .collect();
    assert_eq!(names, ["other", "one"], "it is the younger one now");
    one.stop().await;
    other.stop().await;
}

/// Fails its renewals once it is cut off, and notes the batches that it sends and those that are
/// written.
#[derive(Default)]
struct CutOff {
    is_cut_off: AtomicBool,
    sent: Mutex<Vec<Batch>>,
    written: Mutex<Vec<Batch>>,
}

#[async_trait::async_trait]
impl Faults for CutOff {
    async fn commit(&self, moment: Moment, batch: &Batch) -> Verdict {
        match moment {
            Moment::Arrived => self.sent.lock().unwrap().push(batch.clone()),
            Moment::Applied => {}
            Moment::Durable => self.written.lock().unwrap().push(batch.clone()),
        }
        Verdict::Go
    }

    async fn read(&self, what: &'static str) -> Result<(), ReadError> {
        let is_cut_off = self.is_cut_off.load(Ordering::SeqCst);
        if is_cut_off && ["renew", "join", "leave", "reap"].contains(&what) {
            return Err(ReadError::Unavailable("cut off".into()));
        }
        Ok(())
    }
}

impl CutOff {
    /// The batches among these that say how an attempt of the execution ended.
    fn results(batches: &Mutex<Vec<Batch>>, id: ExecutionId) -> Vec<Batch> {
        let ends = |part: &Part| match part {
            Part::Advance(advance) => {
                let mut events = advance.events.iter();
                advance.id == id && events.any(|event| event.name == "STEP_STARTED")
            }
            _ => false,
        };
        let batches = batches.lock().unwrap();
        let of_it = batches.iter().filter(|batch| batch.parts.iter().any(ends));
        of_it.cloned().collect()
    }
}

async fn until(mut is_so: impl FnMut() -> bool) {
    within(async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_silent_node_held_is_run_by_another() {
    let shared = Shared::new();
    let faults = Arc::new(CutOff::default());
    let one = shared.node("one", Limits::default(), faults.clone()).await;
    let other = shared.plain("other").await;
    shared
        .targets
        .script("/a", &[Answer::Held, Answer::Ok("{}")]);
    let workflow = apply(&one, SOURCE).await;
    let id = start(&one, &workflow, "{}").await;
    shared.targets.called("/a", 1).await;
    let was = one.node();
    faults.is_cut_off.store(true, Ordering::SeqCst);
    let ended = end(&other, id).await;
    assert_eq!(ended.state.status, Status::Completed);
    assert_eq!(shared.targets.seen("/a").len(), 2);
    let lines = log(&other, id).await;
    assert!(lines.contains(&"STEP_LOST a#1".to_owned()), "{lines:?}");
    // Nobody has told it that it is gone, and its call goes on.
    assert!(one.is_ready());
    assert_eq!((one.node(), one.running()), (was, 1));
    assert!(CutOff::results(&faults.sent, id).is_empty());
    // Its own result comes too late, and counts for nothing: the store refuses it, and that is how
    // the node learns that its lease is gone.
    shared.targets.open_gate(1);
    until(|| !CutOff::results(&faults.sent, id).is_empty()).await;
    let is_written = || !CutOff::results(&faults.written, id).is_empty();
    until(|| !one.is_ready() || is_written()).await;
    assert!(!is_written(), "a result was written without a lease");
    let late = CutOff::results(&faults.sent, id);
    assert_eq!(late.len(), 1);
    assert_eq!(late[0].lease, Some(was));
    until(|| one.running() == 0).await;
    faults.is_cut_off.store(false, Ordering::SeqCst);
    rejoined(&one, was).await;
    assert!(!is_written());
    assert_eq!(CutOff::results(&faults.sent, id).len(), 1, "it is dropped");
    assert_eq!(log(&one, id).await, lines, "nothing came after the end");
    reaches(&one, id, Status::Completed).await;
    check(&one, id).await;
    one.stop().await;
    other.stop().await;
}

/// Renewals hang while it is so, and say that they do.
#[derive(Default)]
struct Hanging {
    hangs: AtomicBool,
    is_hanging: AtomicBool,
}

#[async_trait::async_trait]
impl Faults for Hanging {
    async fn read(&self, what: &'static str) -> Result<(), ReadError> {
        if what == "renew" && self.hangs.load(Ordering::SeqCst) {
            self.is_hanging.store(true, Ordering::SeqCst);
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_stopped_at_once_though_a_renewal_hangs() {
    // A renewal that hangs is given up after a third of this.
    let lease = Duration::from_secs(9);
    let shared = Shared {
        lease,
        ..Shared::new()
    };
    let faults = Arc::new(Hanging::default());
    let one = shared.node("one", Limits::default(), faults.clone()).await;
    let other = shared.plain("other").await;
    shared
        .targets
        .script("/a", &[Answer::Held, Answer::Ok("{}")]);
    let workflow = apply(&one, SOURCE).await;
    let id = start(&one, &workflow, "{}").await;
    shared.targets.called("/a", 1).await;
    let was = one.node();
    faults.hangs.store(true, Ordering::SeqCst);
    until(|| faults.is_hanging.load(Ordering::SeqCst)).await;
    other.store().leave(was).await.unwrap();
    let lost = std::time::Instant::now();
    // A commit that is refused is how it learns that its lease is gone.
    let refused = one
        .executions()
        .submit(crate::fixture::submission(&workflow, "{}"))
        .await;
    until(|| one.running() == 0 || one.node() != was).await;
    let stopped_after = lost.elapsed();
    assert!(
        stopped_after < lease / 6,
        "stopped after {stopped_after:?}; the commit: {refused:?}"
    );
    faults.hangs.store(false, Ordering::SeqCst);
    rejoined(&one, was).await;
    assert_eq!(end(&other, id).await.state.status, Status::Completed);
    shared.targets.open_gate(1);
    check(&one, id).await;
    one.stop().await;
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bounds_of_a_workflow_hold_over_all_nodes() {
    let shared = Shared::new();
    let (one, other) = (shared.plain("one").await, shared.plain("other").await);
    shared.targets.script("/a", &[Answer::Held]);
    let source =
        format!("{SOURCE}concurrency: {{ max: 3, key: \"${{input.k}}\", maxPerKey: 1 }}\n");
    let workflow = apply(&one, &source).await;
    let mut ids = Vec::new();
    for n in 0..12 {
        let node = if n % 2 == 0 { &one } else { &other };
        let input = format!("{{\"k\":\"{}\"}}", n % 4);
        ids.push(start(node, &workflow, &input).await);
    }
    shared.targets.called("/a", 3).await;
    for n in 0..ids.len() {
        // Whoever is next begins when one ends, and never more than three are at it.
        shared.targets.open_gate(1);
        shared.targets.called("/a", (n + 4).min(ids.len())).await;
    }
    for id in ids {
        assert_eq!(end(&one, id).await.state.status, Status::Completed);
        check(&one, id).await;
    }
    assert_eq!(shared.targets.most_at_once(), 3);
    one.stop().await;
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_is_retried_by_what_was_fixed_on_another_node() {
    let shared = Shared::new();
    let one = shared.plain("one").await;
    let deaf = shared.node("deaf", Limits::default(), Arc::new(Deaf)).await;
    shared.targets.script("/a", &[Answer::Status(404)]);
    let workflow = apply(&one, SOURCE).await;
    let id = start(&deaf, &workflow, "{}").await;
    let failed = end(&deaf, id).await;
    assert_eq!(failed.state.status, Status::Dlq);
    let filter = refire_store::LetterFilter::default();
    let letters = deaf.store().letters(&filter, None, 1).await.unwrap();
    apply(&one, &SOURCE.replace("/a", "/fixed")).await;
    let retry = LetterRetryRequest {
        retries: false,
        letter: letters[0].id,
        input: None,
        from: RetryFrom::Start,
        version: None,
        by: "ada".to_owned(),
    };
    let again = deaf.letters().retry(retry).await.unwrap();
    assert_eq!(end(&deaf, again).await.state.status, Status::Completed);
    assert_eq!(shared.targets.seen("/fixed").len(), 1);
    one.stop().await;
    deaf.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_told_by_another_node_leaves_no_row_behind() {
    let shared = Shared::new();
    let (one, other) = (shared.plain("one").await, shared.plain("other").await);
    shared
        .targets
        .script("/a", &[Answer::RetryAfter(503, 400), Answer::Ok("{}")]);
    let workflow = apply(&one, SOURCE).await;
    for _ in 0..20 {
        let id = start(&one, &workflow, "{}").await;
        // While its retry waits on one node, the other pauses and resumes again and again.
        for _ in 0..3 {
            let by = None;
            let _ = other
                .executions()
                .command(id, Command::Pause { by: by.clone() })
                .await;
            let _ = other.executions().command(id, Command::Resume { by }).await;
        }
        assert_eq!(end(&other, id).await.state.status, Status::Completed);
        check(&one, id).await;
    }
    one.stop().await;
    other.stop().await;
}
