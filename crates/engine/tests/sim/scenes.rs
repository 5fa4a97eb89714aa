//! Single situations, by hand: what the seeds found once and what is too rare to leave to them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use refire_core::execution::{Command, Status};
use refire_core::failure::Failure;
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_engine::caller::Caller;
use refire_engine::clock::Clock;
use refire_engine::limit::Limits;
use refire_engine::target::{HttpAnswer, HttpRequest};
use refire_engine::{Accepted, Engine, Submission};
use refire_store::model::{Disk, Faults};
use refire_store::{ReadError, Store};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

const FLOW: &str = "id: w\nsteps:\n  - { id: a, type: http, config: { method: POST, \
                    url: \"https://t.example/a\", body: \"${input}\" } }\n";
const SLOTS: u32 = 4;

/// A store whose reads fail or answer late, by the name of the read; and the target of the flow.
struct Scene {
    disk: Arc<Disk>,
    failing: Mutex<Vec<&'static str>>,
    late_ms: Mutex<BTreeMap<&'static str, u64>>,
    calls: AtomicUsize,
    gate: Semaphore,
    lived_ms: AtomicU64,
}

#[async_trait]
impl Faults for Scene {
    async fn read(&self, what: &'static str) -> Result<(), ReadError> {
        match self.failing.lock().unwrap().contains(&what) {
            true => Err(ReadError::Unavailable("it is made to fail".into())),
            false => Ok(()),
        }
    }

    async fn answer(&self, what: &'static str) {
        let late = self.late_ms.lock().unwrap().get(what).copied();
        if let Some(late) = late {
            sleep(Duration::from_millis(late)).await;
        }
    }
}

struct Target(Arc<Scene>);

#[async_trait]
impl Caller for Target {
    async fn call(&self, _: HttpRequest) -> Result<HttpAnswer, Failure> {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        self.0.gate.acquire().await.unwrap().forget();
        Ok(HttpAnswer {
            status: 200,
            output: Json::parse("{}").unwrap(),
        })
    }
}

/// Virtual time that goes on from one process to the next.
struct SceneClock(Instant, u64);

impl Clock for SceneClock {
    fn now(&self) -> Timestamp {
        let lived = u64::try_from(self.0.elapsed().as_millis()).unwrap();
        Timestamp::from_millis(1_767_225_600_000 + i64::try_from(self.1 + lived).unwrap())
    }
}

impl Scene {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            disk: Disk::new(),
            failing: Mutex::default(),
            late_ms: Mutex::default(),
            calls: AtomicUsize::new(0),
            gate: Semaphore::new(0),
            lived_ms: AtomicU64::new(0),
        })
    }

    /// A process on the disk.
    fn start(self: &Arc<Self>) -> Arc<Engine> {
        let store: Arc<dyn Store> = Arc::new(self.disk.open(self.clone()));
        let before = self.lived_ms.fetch_add(100_000, Ordering::SeqCst);
        Engine::builder(store)
            .clock(Arc::new(SceneClock(Instant::now(), before)))
            .caller(Arc::new(Target(self.clone())))
            .limits(Limits {
                attempts: SLOTS,
                ..Limits::default()
            })
            .commit_on_runtime()
            .start()
            .unwrap()
    }

    fn fail(&self, reads: &[&'static str]) {
        *self.failing.lock().unwrap() = reads.to_vec();
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

fn wish(delay_ms: u64) -> Submission {
    let workflow = refire_core::definition::WorkflowId::new("w").unwrap();
    Submission {
        delay: (delay_ms > 0).then(|| Duration::from_millis(delay_ms)),
        ..Submission::manual(workflow, Json::parse(r#"{"n":1}"#).unwrap())
    }
}

/// An execution that begins so long after a process found it on the disk.
async fn left_behind(scene: &Arc<Scene>) -> (Arc<Engine>, ExecutionId) {
    let engine = scene.start();
    engine.apply(FLOW, None, "somebody").await.unwrap();
    let Accepted::New { id, .. } = engine.submit(wish(100_500)).await.unwrap() else {
        panic!("there was no key");
    };
    engine.stop().await;
    (scene.start(), id)
}

async fn ended(engine: &Engine, id: ExecutionId) -> Status {
    let stored = engine.wait(id, Duration::from_secs(60)).await;
    stored.unwrap().unwrap().state.status
}

#[tokio::test(start_paused = true)]
async fn what_is_accepted_stays_so_although_its_end_cannot_be_read() {
    let scene = Scene::new();
    let engine = scene.start();
    engine.apply(FLOW, None, "somebody").await.unwrap();
    scene.fail(&["execution"]);
    let answer = engine
        .submit_and_wait(wish(0), Duration::from_secs(1))
        .await;
    let (accepted, stored) = answer.unwrap();
    assert!(matches!(accepted, Accepted::New { .. }));
    assert_eq!(stored, None);
    assert_eq!(scene.disk.durable().executions.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_waits_for_its_values_is_given_back_by_a_stop() {
    let scene = Scene::new();
    let (engine, id) = left_behind(&scene).await;
    scene.fail(&["values"]);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(engine.running(), 1);
    engine.stop_within(Duration::ZERO).await;
    let image = scene.disk.durable();
    let row = image.work_of(id).next().unwrap();
    assert!(row.owner.is_none() && !row.begun, "{row:?}");
    assert_eq!(scene.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_decided_keeps_its_slot() {
    let scene = Scene::new();
    let (engine, id) = left_behind(&scene).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!((scene.calls(), engine.free_slots()), (1, SLOTS - 1));
    scene.fail(&["load"]);
    scene.gate.add_permits(1);
    for _ in 0..5 {
        sleep(Duration::from_millis(333)).await;
        assert_eq!(engine.free_slots(), SLOTS - 1, "it waits");
    }
    scene.fail(&[]);
    assert_eq!(ended(&engine, id).await, Status::Completed);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(engine.free_slots(), SLOTS);
}

/// The store's answer is on its way when the execution is paused: what it says is over.
#[tokio::test(start_paused = true)]
async fn nothing_begins_once_a_pause_was_answered() {
    for late in ["execution", "values"] {
        let scene = Scene::new();
        let (engine, id) = left_behind(&scene).await;
        scene.late_ms.lock().unwrap().insert(late, 400);
        sleep(Duration::from_millis(700)).await;
        let pause = Command::Pause { by: None };
        engine.command(id, pause).await.unwrap();
        sleep(Duration::from_secs(30)).await;
        assert_eq!((scene.calls(), engine.free_slots()), (0, SLOTS), "{late}");
        scene.late_ms.lock().unwrap().clear();
        engine
            .command(id, Command::Resume { by: None })
            .await
            .unwrap();
        sleep(Duration::from_secs(1)).await;
        assert_eq!(scene.calls(), 1, "it goes on at once: {late}");
        scene.gate.add_permits(1);
        assert_eq!(ended(&engine, id).await, Status::Completed);
    }
}
