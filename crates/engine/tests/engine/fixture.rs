//! A data directory, scripted targets, and engines that come and go on them.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::execution::{Event, Status};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_engine::caller::Caller;
use refire_engine::limit::Limits;
use refire_engine::target::{HttpAnswer, HttpRequest};
use refire_engine::{Accepted, Builder, Engine, Submission};
use refire_store::sqlite::{Options, Sqlite};
use refire_store::{Store, Stored};
use tokio::sync::Semaphore;

/// What a target does with one call.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Ok(&'static str),
    Status(u16),
    RetryAfter(u16, u64),
    Timeout,
    /// Answers only when the gate lets it.
    Held,
}

/// One call as the target saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) idempotency_key: String,
    pub(crate) attempt: String,
    pub(crate) body: String,
    pub(crate) at: tokio::time::Instant,
}

/// Scripted targets: by path, the answers in order; the last one repeats.
pub(crate) struct Targets {
    script: Mutex<HashMap<String, VecDeque<Answer>>>,
    seen: Mutex<Vec<Seen>>,
    gate: Semaphore,
    in_flight: Mutex<(usize, usize)>,
}

impl Targets {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            script: Mutex::default(),
            seen: Mutex::default(),
            gate: Semaphore::new(0),
            in_flight: Mutex::default(),
        })
    }

    pub(crate) fn script(&self, path: &str, answers: &[Answer]) {
        self.script
            .lock()
            .unwrap()
            .insert(path.to_owned(), answers.iter().cloned().collect());
    }

    pub(crate) fn open_gate(&self, calls: usize) {
        self.gate.add_permits(calls);
    }

    pub(crate) fn seen(&self, path: &str) -> Vec<Seen> {
        self.seen
            .lock()
            .unwrap()
            .iter()
            .filter(|seen| seen.path == path)
            .cloned()
            .collect()
    }

    pub(crate) fn most_at_once(&self) -> usize {
        self.in_flight.lock().unwrap().1
    }

    /// Waits until the path was called that often.
    pub(crate) async fn called(&self, path: &str, times: usize) {
        within(async {
            while self.seen(path).len() < times {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
    }

    fn next(&self, path: &str) -> Answer {
        let mut script = self.script.lock().unwrap();
        let Some(answers) = script.get_mut(path) else {
            return Answer::Ok("{}");
        };
        if answers.len() > 1 {
            answers.pop_front().unwrap()
        } else {
            answers.front().cloned().unwrap_or(Answer::Ok("{}"))
        }
    }
}

#[async_trait]
impl Caller for Targets {
    async fn call(&self, request: HttpRequest) -> Result<HttpAnswer, Failure> {
        let header = |name: &str| {
            let found = request.headers.iter().find(|(given, _)| given == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let path = request
            .url
            .splitn(4, '/')
            .nth(3)
            .map(|rest| format!("/{rest}"))
            .unwrap();
        self.seen.lock().unwrap().push(Seen {
            path: path.clone(),
            idempotency_key: header("Idempotency-Key"),
            attempt: header("X-Refire-Attempt"),
            body: String::from_utf8(request.body.clone().unwrap_or_default()).unwrap(),
            at: tokio::time::Instant::now(),
        });
        {
            let mut in_flight = self.in_flight.lock().unwrap();
            in_flight.0 += 1;
            in_flight.1 = in_flight.1.max(in_flight.0);
        }
        let answer = self.next(&path);
        if let Answer::Held = answer {
            self.gate.acquire().await.unwrap().forget();
        }
        self.in_flight.lock().unwrap().0 -= 1;
        answered(&answer)
    }
}

fn answered(answer: &Answer) -> Result<HttpAnswer, Failure> {
    let output = |body: &str| Json::parse(format!("{{\"status\":200,\"body\":{body}}}")).unwrap();
    let status = |status: &u16| {
        let message = format!("the target answered {status}");
        Failure::new(ErrorClass::HttpStatus, message).with_code(status.to_string())
    };
    match answer {
        Answer::Ok(body) => Ok(HttpAnswer::new(200, output(body))),
        Answer::Held => Ok(HttpAnswer::new(200, output("{}"))),
        Answer::Status(code) => Err(status(code)),
        Answer::RetryAfter(code, ms) => Err(Failure {
            retry_after_ms: Some(*ms),
            ..status(code)
        }),
        Answer::Timeout => Err(Failure::new(
            ErrorClass::ReadTimeout,
            "no answer within 30s",
        )),
    }
}

/// A data directory and what runs on it.
pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) targets: Arc<Targets>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            targets: Targets::new(),
        }
    }

    /// The directory's database, for what no engine writes. It must be gone before an engine comes.
    pub(crate) fn store(&self) -> Sqlite {
        open(self.dir.path())
    }

    /// An engine on the directory; the one before it must be gone.
    pub(crate) fn engine(&self) -> Arc<Engine> {
        self.engine_with(|builder| builder)
    }

    pub(crate) fn engine_with(&self, change: impl FnOnce(Builder) -> Builder) -> Arc<Engine> {
        let store: Arc<dyn Store> = Arc::new(open(self.dir.path()));
        let caller: Arc<dyn Caller> = self.targets.clone();
        started(change(Engine::builder(store).caller(caller)))
    }
}

/// Starts an engine on a store in one file. Whoever asks waits, on whatever runtime.
pub(crate) fn started(builder: Builder) -> Arc<Engine> {
    let runtime = tokio::runtime::Handle::current();
    let starting = std::thread::spawn(move || runtime.block_on(builder.start()));
    starting.join().unwrap().unwrap()
}

fn open(dir: &Path) -> Sqlite {
    Sqlite::open_in(dir, &Options::new(Timestamp::from_millis(1))).unwrap()
}

pub(crate) fn small_limits(attempts: u32) -> Limits {
    Limits {
        attempts,
        ..Limits::default()
    }
}

/// Fails a test that hangs.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future)
        .await
        .expect("it takes too long")
}

/// Stops without letting anything finish or be given back: as near to a crash as one process
/// can come. The crash tests of the server do it for real.
pub(crate) async fn stop_at_once(engine: Arc<Engine>) {
    engine.stop_within(Duration::ZERO).await;
    within(async {
        while Arc::strong_count(&engine) > 1 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    drop(engine);
}

pub(crate) async fn apply(engine: &Engine, source: &str) -> WorkflowId {
    let applied = engine.definitions().apply(source, None, "test").await;
    applied
        .unwrap_or_else(|error| panic!("{error:?}"))
        .definition
        .workflow
        .id
        .clone()
}

pub(crate) fn submission(workflow: &WorkflowId, input: &str) -> Submission {
    Submission::manual(workflow.clone(), Json::parse(input).unwrap())
}

pub(crate) async fn start(engine: &Engine, workflow: &WorkflowId, input: &str) -> ExecutionId {
    match engine
        .executions()
        .submit(submission(workflow, input))
        .await
        .unwrap()
    {
        Accepted::New { id, .. } => id,
        Accepted::Duplicate { .. } => panic!("no key was given"),
    }
}

pub(crate) async fn end(engine: &Engine, id: ExecutionId) -> Stored {
    let stored = engine
        .executions()
        .wait(id, Duration::from_secs(15))
        .await
        .unwrap()
        .unwrap();
    assert!(
        stored.state.status.is_terminal(),
        "not ended in time: {:?}",
        stored.state.status
    );
    stored
}

pub(crate) async fn run(engine: &Engine, workflow: &WorkflowId, input: &str) -> Stored {
    let id = start(engine, workflow, input).await;
    end(engine, id).await
}

/// Waits until the execution has this status, as shown.
pub(crate) async fn reaches(engine: &Engine, id: ExecutionId, status: Status) {
    within(async {
        loop {
            let stored = engine.store().execution(id).await.unwrap().unwrap();
            if stored.status() == status {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}

/// The log as `STEP_FAILED a#1` lines.
pub(crate) async fn log(engine: &Engine, id: ExecutionId) -> Vec<String> {
    engine
        .executions()
        .log(id)
        .await
        .unwrap()
        .iter()
        .map(line)
        .collect()
}

fn line(event: &Event) -> String {
    match (&event.step, event.attempt) {
        (Some(step), Some(attempt)) => format!("{} {step}#{attempt}", event.kind.name()),
        (Some(step), None) => format!("{} {step}", event.kind.name()),
        _ => event.kind.name().to_string(),
    }
}

/// Every promise that one execution's log can be checked for.
pub(crate) async fn check(engine: &Engine, id: ExecutionId) {
    let log = engine.executions().log(id).await.unwrap();
    let stored = engine.store().execution(id).await.unwrap().unwrap();
    assert_eq!(
        refire_core::execution::fold(&log),
        stored.state,
        "fold(log) is the snapshot"
    );
    assert!(
        engine
            .executions()
            .replay(id, None)
            .await
            .unwrap()
            .is_identical(),
        "replay is identical"
    );
    let ends = log.iter().filter(|event| event.is_terminal()).count();
    assert_eq!(
        ends,
        usize::from(stored.state.status.is_terminal()),
        "one end"
    );
    for pair in log.windows(2) {
        assert_eq!(pair[0].sequence + 1, pair[1].sequence);
        assert!(pair[0].at <= pair[1].at, "times never go back");
    }
    if stored.state.status.is_terminal() {
        assert!(
            stored.work.is_empty(),
            "an ended execution has no work: {:?}",
            stored.work
        );
    }
}
