//! The worker of `refire-client`, against a real server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use refire_client::worker::{Notice, Stop, Tally, Task};
use refire_client::{Client, Error, Failure, Worker};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::server::{Server, until};

const SECOND: Duration = Duration::from_secs(1);

/// A workflow of one task.
pub(crate) fn workflow(id: &str, task_type: &str, config: &str) -> String {
    format!(
        "id: {id}\nretry: {{initialDelay: 100ms, jitter: none}}\nsteps:\n\
         \x20 - {{id: a, type: external_task, config: {{taskType: {task_type}, {config}}}}}\n"
    )
}

pub(crate) fn client(url: &str, key: &str) -> Client {
    Client::builder(url).key(key).build().unwrap()
}

/// A worker that runs, with what it told.
pub(crate) struct Running {
    stop: Stop,
    ended: JoinHandle<Result<Tally, Error>>,
    told: Arc<Mutex<Vec<String>>>,
}

impl Running {
    pub(crate) fn start(worker: Worker) -> Self {
        let told = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&told);
        let worker = worker
            .id("w1")
            .on_notice(move |notice: &Notice| to.lock().unwrap().push(notice.to_string()));
        Self {
            stop: worker.stopper(),
            ended: tokio::spawn(worker.run_until_stopped()),
            told,
        }
    }

    pub(crate) fn told(&self, text: &str) -> bool {
        self.told
            .lock()
            .unwrap()
            .iter()
            .any(|line| line.contains(text))
    }

    pub(crate) async fn stops(self) -> Tally {
        self.stop.stop();
        self.ended.await.unwrap().unwrap()
    }
}

/// Counts how many run at once.
#[derive(Default)]
struct Crowd {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Crowd {
    async fn pass(&self, time: Duration) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(time).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn it_does_tasks_of_all_its_types_and_no_more_at_once_than_it_may() {
    let server = Server::start().await;
    for (id, task_type) in [("w", "jira-create"), ("v", "jira-close"), ("u", "mail")] {
        server.apply(id, &workflow(id, task_type, "")).await;
    }
    let mut ids = Vec::new();
    for number in 0..12 {
        let input = json!({ "n": number }).to_string();
        ids.push(server.execute(["w", "v"][number % 2], &input).await);
    }
    let crowd = Arc::new(Crowd::default());
    let shared = Arc::clone(&crowd);
    let jira = move |task: Task| {
        let crowd = Arc::clone(&shared);
        async move {
            crowd.pass(SECOND / 10).await;
            let input: Value = task.input()?;
            Ok(json!({ "did": task.task_type, "n": input["n"], "attempt": task.attempt }))
        }
    };
    let worker = Worker::new(client(&server.url, &server.key))
        .task("jira-*", jira)
        .task("mail", async |_: Task| Ok("sent"))
        .concurrency(3);
    let running = Running::start(worker);
    ids.push(server.execute("u", "{}").await);
    for (number, id) in ids.iter().enumerate() {
        let ended = server.reaches(id, "completed").await;
        let did = ["jira-create", "jira-close"][number % 2];
        let expected = match number {
            12 => json!("sent"),
            _ => json!({ "did": did, "n": number, "attempt": 1 }),
        };
        assert_eq!(ended["output"], expected, "{ended:#}");
    }
    let most = crowd.most.load(Ordering::SeqCst);
    assert!((2..=3).contains(&most), "{most} at once");
    let expected = Tally {
        completed: 13,
        ..Tally::default()
    };
    assert_eq!(running.stops().await, expected);
}

/// Slow functions use their slots, and the others go on.
#[tokio::test]
async fn a_slow_function_does_not_stop_the_polls() {
    let server = Server::start().await;
    server.apply("w", &workflow("w", "slow", "")).await;
    server.apply("v", &workflow("v", "quick", "")).await;
    let worker = Worker::new(client(&server.url, &server.key))
        .task("slow", async |task: Task| {
            task.lost().await;
            Err::<(), _>(Failure::new("told to end"))
        })
        .task("quick", async |_: Task| Ok(1))
        .concurrency(2)
        .grace(Duration::ZERO);
    let running = Running::start(worker);
    let slow = server.execute("w", "{}").await;
    for _ in 0..5 {
        let id = server.execute("v", "{}").await;
        server.reaches(&id, "completed").await;
    }
    let tally = running.stops().await;
    assert_eq!((tally.completed, tally.given_back), (5, 1));
    let task = server
        .get(&format!("/api/external-tasks?executionId={slow}"))
        .await;
    let task = &task.json()["items"][0];
    assert_eq!(
        (&task["status"], &task["retryCount"]),
        (&json!("PENDING"), &json!(0))
    );
}

#[tokio::test]
async fn failures_are_retried_or_not_as_the_function_says() {
    let server = Server::start().await;
    server.apply("w", &workflow("w", "t", "retries: 3")).await;
    let worker = Worker::new(client(&server.url, &server.key)).task("t", async |task: Task| {
        let what: String = task.input()?;
        match (what.as_str(), task.attempt) {
            ("never", _) => Err(Failure::permanent("no such project").trace("at a\nat b")),
            ("panic", 1) => panic!("out of cheese"),
            ("later", 1) => Err(Failure::new("busy").retry_after(SECOND)),
            ("error", 1) => Err("x".parse::<u8>().unwrap_err().into()),
            (_, attempt) => Ok(attempt),
        }
    });
    let running = Running::start(worker);
    let began = Instant::now();
    for (what, message) in [
        ("panic", "the function panicked: out of cheese"),
        ("error", "invalid digit found in string"),
        ("later", "busy"),
    ] {
        let id = server.execute("w", &json!(what).to_string()).await;
        let ended = server.reaches(&id, "completed").await;
        assert_eq!(ended["output"], 2, "{what}");
        let events = server.get(&format!("/api/executions/{id}/events")).await;
        assert!(events.text.contains(message), "{what}: {}", events.text);
    }
    assert!(began.elapsed() >= SECOND, "it was not asked for so soon");
    let id = server.execute("w", r#""never""#).await;
    let ended = server.reaches(&id, "dlq").await;
    assert_eq!(ended["retry_count"], 0, "{ended:#}");
    let letters = server.get("/api/dlq").await.json();
    assert_eq!(letters["items"][0]["reason"], "non_retryable");
    // What does not fit stays so.
    let id = server.execute("w", "[1]").await;
    server.reaches(&id, "dlq").await;
    let tally = running.stops().await;
    assert_eq!((tally.completed, tally.failed), (3, 5));
}

#[tokio::test]
async fn heartbeats_hold_the_lock_and_tell_of_progress() {
    let server = Server::start().await;
    let config = "retries: 1, lockDuration: 1s, heartbeat: {interval: 1s, maxMissed: 1}";
    server.apply("w", &workflow("w", "t", config)).await;
    let worker = Worker::new(client(&server.url, &server.key)).task("t", async |task: Task| {
        task.progress(10, "begun");
        tokio::time::sleep(SECOND * 2).await;
        task.progress(50, "half");
        tokio::time::sleep(SECOND).await;
        assert!(!task.is_lost());
        Ok("done")
    });
    let running = Running::start(worker);
    let id = server.execute("w", "{}").await;
    let path = format!("/api/external-tasks?executionId={id}");
    let mut seen = Vec::new();
    while server.execution(&id).await["status"] == "waiting" {
        let task = server.get(&path).await.json()["items"][0].clone();
        let progress = (task["progress"].clone(), task["progressMessage"].clone());
        if seen.last() != Some(&progress) {
            seen.push(progress);
        }
        tokio::time::sleep(SECOND / 20).await;
    }
    seen.retain(|(progress, _)| !progress.is_null());
    assert_eq!(
        seen,
        [(json!(10), json!("begun")), (json!(50), json!("half"))]
    );
    server.reaches(&id, "completed").await;
    assert_eq!(running.stops().await.completed, 1);
}

#[tokio::test]
async fn a_stop_finishes_what_runs_and_gives_back_the_rest() {
    let server = Server::start().await;
    server.apply("w", &workflow("w", "t", "")).await;
    let begun = Arc::new(AtomicUsize::new(0));
    let shared = Arc::clone(&begun);
    let worker = Worker::new(client(&server.url, &server.key))
        .task("t", move |task: Task| {
            shared.fetch_add(1, Ordering::SeqCst);
            async move {
                let time: u64 = task.input()?;
                tokio::time::sleep(Duration::from_millis(time)).await;
                Ok(time)
            }
        })
        .grace(SECOND)
        .lost_grace(SECOND / 10);
    let running = Running::start(worker);
    let quick = server.execute("w", "600").await;
    let slow = server.execute("w", "60000").await;
    until("both run", || begun.load(Ordering::SeqCst) == 2).await;
    let began = Instant::now();
    let tally = running.stops().await;
    assert!(began.elapsed() < SECOND * 4, "{:?}", began.elapsed());
    assert_eq!((tally.completed, tally.given_back), (1, 1));
    assert_eq!(server.execution(&quick).await["status"], "completed");
    let task = server
        .get(&format!("/api/external-tasks?executionId={slow}"))
        .await;
    assert_eq!(task.json()["items"][0]["status"], "PENDING");
    // A new task finds no poll of the worker that is gone.
    let late = server.execute("w", "1").await;
    tokio::time::sleep(SECOND / 5).await;
    assert_eq!(server.execution(&late).await["status"], "waiting");
    let task = server
        .get(&format!("/api/external-tasks?executionId={late}"))
        .await;
    assert_eq!(task.json()["items"][0]["status"], "PENDING");
}

#[tokio::test]
async fn it_ends_with_a_clear_error_when_it_is_refused() {
    let server = Server::start().await;
    let worker = |key: &str, task_type: &str| {
        Worker::new(client(&server.url, key)).task(task_type, async |_: Task| Ok(()))
    };
    let refused = worker("rf_wrong", "t")
        .run_until_stopped()
        .await
        .unwrap_err();
    assert_eq!(refused.status(), Some(401), "{refused}");
    let wrong = worker(&server.key, "a*b")
        .run_until_stopped()
        .await
        .unwrap_err();
    assert_eq!(wrong.status(), Some(400), "{wrong}");
    assert!(wrong.to_string().contains("taskType"), "{wrong}");
    for (worker, said) in [
        (
            Worker::new(client(&server.url, &server.key)),
            "at least one type",
        ),
        (worker(&server.key, "t").concurrency(0), "at least one task"),
        (worker(&server.key, "t").wait(SECOND * 400), "1 to 300"),
    ] {
        let error = worker.run_until_stopped().await.unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}
