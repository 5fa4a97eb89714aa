//! Single situations, by hand: what the seeds found once and what is too rare to leave to them.

mod backfill;
mod forgotten;
mod task;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use refire_core::execution::{Command, Status};
use refire_core::failure::Failure;
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_core::limit::SNAPSHOT_EVENTS_MIN;
use refire_core::time::Timestamp;
use refire_engine::caller::Caller;
use refire_engine::clock::Clock;
use refire_engine::limit::Limits;
use refire_engine::target::{HttpAnswer, HttpRequest};
use refire_engine::{Accepted, CommandError, CommitFailure, Engine, Submission};
use refire_store::model::{Disk, Faults, Finding, Moment, Verdict};
use refire_store::{Batch, NotWritten, Part, ReadError, Store};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

const FLOW: &str = "id: w\nsteps:\n  - { id: a, type: http, config: { method: POST, \
                    url: \"https://t.example/a\", body: \"${input}\" } }\n";
/// The same with a second step.
const LONGER: &str = "id: w\nsteps:\n  - { id: a, type: http, config: { method: POST, \
                      url: \"https://t.example/a\", body: \"${input}\" } }\n  - { id: b, type: \
                      http, config: { method: POST, url: \"https://t.example/b\", body: \
                      \"${input}\" } }\n";
const SLOTS: u32 = 4;

/// A store in trouble, and the target of the flow.
struct Scene {
    disk: Arc<Disk>,
    /// The reads that fail, by name.
    failing: Mutex<Vec<&'static str>>,
    /// So many reads from now on are answered at once, and the others so late.
    late: Mutex<Option<(usize, Duration)>>,
    /// What becomes of commits that have got so far.
    verdict: Mutex<Option<(Moment, Verdict)>>,
    /// Nothing can be found out about commits whose answer was lost.
    finds_nothing: AtomicBool,
    /// What was read, by name, and commits that gave tasks to workers.
    read: Mutex<Vec<&'static str>>,
    locks: AtomicUsize,
    calls: AtomicUsize,
    gate: Semaphore,
    lived_ms: AtomicU64,
}

#[async_trait]
impl Faults for Scene {
    async fn commit(&self, moment: Moment, batch: &Batch) -> Verdict {
        let mut parts = batch.parts.iter();
        if moment == Moment::Arrived && parts.any(|part| matches!(part, Part::LockTasks(_))) {
            self.locks.fetch_add(1, Ordering::SeqCst);
        }
        match *self.verdict.lock().unwrap() {
            Some((at, verdict)) if at == moment => verdict,
            _ => Verdict::Go,
        }
    }

    async fn lost(&self, _: &Batch) -> Finding {
        match self.finds_nothing.load(Ordering::SeqCst) {
            true => Finding::Nothing,
            false => Finding::Known,
        }
    }

    async fn read(&self, what: &'static str) -> Result<(), ReadError> {
        self.read.lock().unwrap().push(what);
        match self.failing.lock().unwrap().contains(&what) {
            true => Err(ReadError::Unavailable("it is made to fail".into())),
            false => Ok(()),
        }
    }

    async fn answer(&self, _: &'static str) -> Result<(), ReadError> {
        let late = match &mut *self.late.lock().unwrap() {
            Some((0, late)) => *late,
            Some((before, _)) => {
                *before -= 1;
                Duration::ZERO
            }
            None => Duration::ZERO,
        };
        sleep(late).await;
        Ok(())
    }
}

struct Target(Arc<Scene>);

#[async_trait]
impl Caller for Target {
    async fn call(&self, _: HttpRequest) -> Result<HttpAnswer, Failure> {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        self.0.gate.acquire().await.unwrap().forget();
        Ok(HttpAnswer::new(200, Json::parse("{}").unwrap()))
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
        Self::on(Disk::new())
    }

    fn on(disk: Arc<Disk>) -> Arc<Self> {
        Arc::new(Self {
            disk,
            failing: Mutex::default(),
            late: Mutex::default(),
            verdict: Mutex::default(),
            finds_nothing: AtomicBool::new(false),
            read: Mutex::default(),
            locks: AtomicUsize::new(0),
            calls: AtomicUsize::new(0),
            gate: Semaphore::new(0),
            lived_ms: AtomicU64::new(0),
        })
    }

    /// A process on the disk.
    async fn start(self: &Arc<Self>) -> Arc<Engine> {
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
            .await
            .unwrap()
    }

    fn fail(&self, reads: &[&'static str]) {
        *self.failing.lock().unwrap() = reads.to_vec();
    }

    fn judge_commits(&self, at: Moment, verdict: Verdict) {
        *self.verdict.lock().unwrap() = Some((at, verdict));
    }

    /// How often this was read.
    fn reads(&self, what: &str) -> usize {
        let read = self.read.lock().unwrap();
        read.iter().filter(|read| **read == what).count()
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
async fn left_behind(scene: &Arc<Scene>, flow: &str) -> (Arc<Engine>, ExecutionId) {
    let engine = scene.start().await;
    engine
        .definitions()
        .apply(flow, None, "somebody")
        .await
        .unwrap();
    let Accepted::New { id, .. } = engine.executions().submit(wish(100_500)).await.unwrap() else {
        panic!("there was no key");
    };
    // So that its state is stored, and not only the events it is made of.
    for _ in 0..SNAPSHOT_EVENTS_MIN.div_ceil(2) {
        for command in [Command::Pause { by: None }, Command::Resume { by: None }] {
            engine.executions().command(id, command).await.unwrap();
        }
    }
    engine.stop().await;
    (scene.start().await, id)
}

async fn ended(engine: &Engine, id: ExecutionId) -> Status {
    let stored = engine.executions().wait(id, Duration::from_secs(60)).await;
    stored.unwrap().unwrap().state.status
}

#[tokio::test(start_paused = true)]
async fn what_is_accepted_stays_so_although_its_end_cannot_be_read() {
    let scene = Scene::new();
    let engine = scene.start().await;
    engine
        .definitions()
        .apply(FLOW, None, "somebody")
        .await
        .unwrap();
    scene.fail(&["execution"]);
    let answer = engine
        .executions()
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
    let (engine, id) = left_behind(&scene, LONGER).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(scene.calls(), 1);
    // The second step follows from a state that was read without the input.
    for command in [Command::Pause { by: None }, Command::Resume { by: None }] {
        engine.executions().command(id, command).await.unwrap();
    }
    scene.fail(&["values"]);
    scene.gate.add_permits(1);
    sleep(Duration::from_secs(2)).await;
    assert_eq!((scene.calls(), engine.running()), (1, 1));
    engine.stop_within(Duration::ZERO).await;
    let image = scene.disk.durable();
    let row = image.work_of(id).next().unwrap();
    assert_eq!(
        (row.step.as_str(), row.owner, row.begun),
        ("b", None, false)
    );
    assert_eq!(scene.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_recorded_keeps_its_slot() {
    let scene = Scene::new();
    let (engine, id) = left_behind(&scene, FLOW).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!((scene.calls(), engine.free_slots()), (1, SLOTS - 1));
    scene.fail(&["load"]);
    scene.judge_commits(Moment::Arrived, Verdict::Refuse(NotWritten::Unavailable));
    scene.gate.add_permits(1);
    for _ in 0..5 {
        sleep(Duration::from_millis(333)).await;
        assert_eq!(engine.free_slots(), SLOTS - 1, "it waits");
    }
    scene.fail(&[]);
    *scene.verdict.lock().unwrap() = None;
    assert_eq!(ended(&engine, id).await, Status::Completed);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(engine.free_slots(), SLOTS);
}

/// An execution whose attempt is about to be made: the read with this number, of those that are
/// made for it, is on its way. None if there are not so many.
async fn held_up(scene: &Arc<Scene>, read: usize) -> Option<(Arc<Engine>, ExecutionId)> {
    let (engine, id) = left_behind(scene, FLOW).await;
    sleep(Duration::from_millis(499)).await;
    *scene.late.lock().unwrap() = Some((read, Duration::from_millis(400)));
    sleep(Duration::from_millis(201)).await;
    *scene.late.lock().unwrap() = None;
    (scene.calls() == 0).then_some((engine, id))
}

/// The store's answer is on its way when the execution is paused: what it says is over.
#[tokio::test(start_paused = true)]
async fn nothing_begins_once_a_pause_was_answered() {
    for read in 0.. {
        let scene = Scene::new();
        let Some((engine, id)) = held_up(&scene, read).await else {
            assert_ne!(read, 0, "nothing is read for an attempt");
            break;
        };
        let pause = Command::Pause { by: None };
        engine.executions().command(id, pause).await.unwrap();
        sleep(Duration::from_secs(30)).await;
        assert_eq!((scene.calls(), engine.free_slots()), (0, SLOTS), "{read}");
        engine
            .executions()
            .command(id, Command::Resume { by: None })
            .await
            .unwrap();
        sleep(Duration::from_secs(1)).await;
        assert_eq!(scene.calls(), 1, "it goes on at once: {read}");
        scene.gate.add_permits(1);
        assert_eq!(ended(&engine, id).await, Status::Completed);
    }
}

/// Nobody knows whether the execution is paused or not: then its target is not called.
#[tokio::test(start_paused = true)]
async fn nothing_begins_once_the_store_is_not_to_be_trusted() {
    for read in 0.. {
        let scene = Scene::new();
        let Some((engine, id)) = held_up(&scene, read).await else {
            assert_ne!(read, 0, "nothing is read for an attempt");
            break;
        };
        scene.judge_commits(Moment::Durable, Verdict::Unknown { durable: true });
        let paused = engine
            .executions()
            .command(id, Command::Pause { by: None })
            .await;
        let unknown = CommandError::Failed(CommitFailure::Unknown);
        assert_eq!(paused.unwrap_err(), unknown);
        engine.broken().await;
        sleep(Duration::from_secs(30)).await;
        assert_eq!(scene.calls(), 0, "{read}");
    }
}

/// Nothing comes to its end any more, so nobody is left waiting for it.
#[tokio::test(start_paused = true)]
async fn nobody_waits_for_an_end_once_the_store_is_not_to_be_trusted() {
    let scene = Scene::new();
    let engine = scene.start().await;
    engine
        .definitions()
        .apply(FLOW, None, "somebody")
        .await
        .unwrap();
    let waiting = engine.clone();
    let waiting = tokio::spawn(async move {
        let hour = Duration::from_secs(3_600);
        waiting.executions().submit_and_wait(wish(0), hour).await
    });
    sleep(Duration::from_secs(1)).await;
    assert_eq!(scene.calls(), 1);
    scene.judge_commits(Moment::Durable, Verdict::Unknown { durable: true });
    scene.gate.add_permits(1);
    let answer = tokio::time::timeout(Duration::from_secs(1), waiting).await;
    let (accepted, _) = answer.expect("it waits").unwrap().unwrap();
    assert!(matches!(accepted, Accepted::New { .. }));
}
