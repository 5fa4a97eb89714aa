//! `concurrency`: it counts executions, wherever they run, and nothing of a workflow runs whose bounds
//! are not known.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use refire_core::execution::Status;
use refire_core::id::ExecutionId;
use refire_engine::caller::Caller;
use refire_engine::clock::{Clock, SystemClock};
use refire_engine::{Engine, NodeSettings};
use refire_store::model::{Disk, Faults, NoFaults};
use refire_store::{ReadError, Store};

use crate::fixture::{Answer, Targets, World, apply, check, end, start, within};

/// Two steps side by side, and room for one execution.
const SIDE_BY_SIDE: &str = r#"
id: w
concurrency: 1
steps:
  - { id: a, type: http, needs: [], config: { method: POST, url: "https://t.example/a" } }
  - { id: b, type: http, needs: [], config: { method: POST, url: "https://t.example/b" } }
"#;
const LEASE: Duration = Duration::from_secs(10);

async fn node(disk: &Arc<Disk>, targets: &Arc<Targets>, faults: Arc<dyn Faults>) -> Arc<Engine> {
    let store: Arc<dyn Store> = Arc::new(disk.open(faults));
    let caller: Arc<dyn Caller> = targets.clone();
    let settings = NodeSettings {
        lease: LEASE,
        ..NodeSettings::default()
    };
    let builder = Engine::builder(store).caller(caller).node(settings);
    builder.start().await.unwrap()
}

fn shared_disk() -> Arc<Disk> {
    let clock = SystemClock::new();
    Disk::shared(Arc::new(move || clock.now()))
}

/// One execution after the other, each with both steps at once.
async fn run_together(engine: &Engine, targets: &Targets) {
    for path in ["/a", "/b"] {
        targets.script(path, &[Answer::Held]);
    }
    let workflow = apply(engine, SIDE_BY_SIDE).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(start(engine, &workflow, "{}").await);
    }
    for n in 1..=ids.len() {
        targets.called("/a", n).await;
        targets.called("/b", n).await;
        assert_eq!(
            (targets.seen("/a").len(), targets.seen("/b").len()),
            (n, n),
            "nobody else"
        );
        targets.open_gate(2);
    }
    for id in ids {
        completes(engine, id).await;
    }
    assert_eq!(targets.most_at_once(), 2);
    engine.stop().await;
}

async fn completes(engine: &Engine, id: ExecutionId) {
    assert_eq!(end(engine, id).await.state.status, Status::Completed);
    check(engine, id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_steps_run_together_on_one_machine() {
    let world = World::new();
    let engine = world.engine();
    run_together(&engine, &world.targets).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_steps_run_together_among_nodes() {
    let (disk, targets) = (shared_disk(), Targets::new());
    let engine = node(&disk, &targets, Arc::new(NoFaults)).await;
    run_together(&engine, &targets).await;
}

/// Definitions that cannot be read, for a while.
#[derive(Default)]
struct Illiterate {
    is_over: AtomicBool,
    failed: AtomicUsize,
}

#[async_trait::async_trait]
impl Faults for Illiterate {
    async fn read(&self, what: &'static str) -> Result<(), ReadError> {
        if ["workflow", "version"].contains(&what) && !self.is_over.load(Ordering::SeqCst) {
            self.failed.fetch_add(1, Ordering::SeqCst);
            return Err(ReadError::Unavailable("the definition is not shown".into()));
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_cannot_read_the_bounds_runs_nothing() {
    let (disk, targets) = (shared_disk(), Targets::new());
    let one = node(&disk, &targets, Arc::new(NoFaults)).await;
    targets.script("/a", &[Answer::Held]);
    let source = SIDE_BY_SIDE.replace("  - { id: b", "  # - { id: b");
    let workflow = apply(&one, &source).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(start(&one, &workflow, "{}").await);
    }
    targets.called("/a", 1).await;
    // Whoever joins sees work that waits, and looks for its bounds again and again.
    let faults = Arc::new(Illiterate::default());
    let other = node(&disk, &targets, Arc::<Illiterate>::clone(&faults)).await;
    within(async {
        while faults.failed.load(Ordering::SeqCst) < 3 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    assert_eq!((targets.seen("/a").len(), other.running()), (1, 0));
    // Left alone with the rest it still does not guess.
    targets.open_gate(1);
    completes(&one, ids[0]).await;
    targets.called("/a", 2).await;
    assert_eq!(other.running(), 0);
    faults.is_over.store(true, Ordering::SeqCst);
    targets.open_gate(2);
    for id in ids {
        completes(&one, id).await;
    }
    assert_eq!(targets.most_at_once(), 1);
    one.stop().await;
    other.stop().await;
}
