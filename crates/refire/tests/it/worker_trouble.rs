//! The worker of `refire-client` while things go wrong: locks that are lost, answers that are lost, and a server that
//! hangs, dies and comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use refire_client::worker::Task;
use refire_client::{Failure, Worker};
use serde_json::{Value, json};

use crate::relay::Relay;
use crate::server::{Server, until};
use crate::worker::{Running, client, workflow};

const SECOND: Duration = Duration::from_secs(1);

/// What functions were begun, and how they ended.
#[derive(Clone, Default)]
struct Seen {
    begun: Arc<AtomicUsize>,
    lost: Arc<AtomicUsize>,
}

impl Seen {
    /// A function that takes so long, unless its lock is lost.
    fn takes(&self, time: Duration) -> impl Fn(Task) -> Doing + use<> {
        let seen = self.clone();
        move |task| {
            let seen = seen.clone();
            Box::pin(async move {
                seen.begun.fetch_add(1, Ordering::SeqCst);
                tokio::select! {
                    () = tokio::time::sleep(time) => Ok(json!({ "attempt": task.attempt })),
                    () = task.lost() => {
                        seen.lost.fetch_add(1, Ordering::SeqCst);
                        Err(Failure::new("told to end"))
                    }
                }
            })
        }
    }

    fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    fn lost(&self) -> usize {
        self.lost.load(Ordering::SeqCst)
    }
}

type Doing = std::pin::Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send>>;

async fn the_task(server: &Server, execution: &str) -> Value {
    let path = format!("/api/external-tasks?executionId={execution}");
    server.get(&path).await.expect(200)["items"][0].clone()
}

/// Somebody takes the task away: the function hears of it with the next heartbeat.
#[tokio::test]
async fn a_function_is_told_when_its_task_is_taken_away() {
    let server = Server::start().await;
    server
        .apply("w", &workflow("w", "t", "lockDuration: 3s"))
        .await;
    let seen = Seen::default();
    let worker = Worker::new(client(&server.url, &server.key));
    let running = Running::start(worker.task("t", seen.takes(SECOND * 60)));
    let id = server.execute("w", "{}").await;
    until("it runs", || seen.begun() == 1).await;
    server
        .post(&format!("/api/executions/{id}/cancel"), "")
        .await
        .expect(200);
    until("it is told", || seen.lost() == 1).await;
    assert!(running.told("is lost: the task is over (CANCELLED)"));
    assert_eq!(running.stops().await.lost, 1);
}

/// The server hangs for longer than the lock: the worker gives the task up by itself, and the next attempt does it.
#[tokio::test]
async fn a_lock_that_must_have_run_out_is_lost() {
    let server = Server::start().await;
    let config = "lockDuration: 2s, retries: 2";
    server.apply("w", &workflow("w", "t", config)).await;
    let seen = Seen::default();
    let worker = Worker::new(client(&server.url, &server.key));
    let running = Running::start(worker.task("t", seen.takes(SECOND * 4)));
    let id = server.execute("w", "{}").await;
    until("it runs", || seen.begun() == 1).await;
    server.signal("STOP");
    until("the lock is lost", || seen.lost() == 1).await;
    server.signal("CONT");
    let ended = server.reaches(&id, "completed").await;
    assert_eq!(ended["output"], json!({ "attempt": 2 }), "{ended:#}");
    let tally = running.stops().await;
    assert_eq!((tally.completed, tally.lost), (1, 1));
}

/// A server that hangs for less than the lock costs nothing.
#[tokio::test]
async fn a_heartbeat_that_fails_is_no_lost_lock() {
    let server = Server::start().await;
    let config = "lockDuration: 6s, retries: 1";
    server.apply("w", &workflow("w", "t", config)).await;
    let seen = Seen::default();
    let worker = Worker::new(client(&server.url, &server.key));
    let running = Running::start(worker.task("t", seen.takes(SECOND * 7)));
    let id = server.execute("w", "{}").await;
    until("it runs", || seen.begun() == 1).await;
    server.signal("STOP");
    // Longer than a heartbeat waits for its answer, and shorter than the lock.
    tokio::time::sleep(SECOND * 4).await;
    server.signal("CONT");
    let ended = server.reaches(&id, "completed").await;
    assert_eq!(ended["output"], json!({ "attempt": 1 }));
    assert_eq!((seen.begun(), seen.lost()), (1, 0));
    assert_eq!(running.stops().await.completed, 1);
}

/// The server dies during a task, and comes back before the lock ends: the report is sent until it is taken.
#[tokio::test]
async fn a_result_outlives_the_death_of_the_server() {
    let mut server = Server::start().await;
    let relay = Relay::to(&server.url).await;
    server
        .apply("w", &workflow("w", "t", "retries: 1, lockDuration: 20s"))
        .await;
    let seen = Seen::default();
    let worker = Worker::new(client(&relay.url, &server.key));
    let running = Running::start(worker.task("t", seen.takes(SECOND)));
    let id = server.execute("w", "{}").await;
    until("it runs", || seen.begun() == 1).await;
    server.kill();
    until("the report is repeated", || {
        running.told("the report is sent again")
    })
    .await;
    server.restart();
    relay.moves_to(&server.url);
    let ended = server.reaches(&id, "completed").await;
    assert_eq!(
        (&ended["output"], seen.begun()),
        (&json!({ "attempt": 1 }), 1)
    );
    // It polls again, too.
    let next = server.execute("w", "{}").await;
    server.reaches(&next, "completed").await;
    assert!(running.told("the server answers again"));
    assert_eq!(running.stops().await.completed, 2);
}

/// The answer to a report is lost: sent again with its token, it is answered as the first time. The heartbeat in between is
/// refused, because the task is done, and that is no reason to give the report up.
#[tokio::test]
async fn a_report_whose_answer_is_lost_counts_once() {
    let server = Server::start().await;
    let relay = Relay::to(&server.url).await;
    let config = "retries: 1, lockDuration: 6s";
    server.apply("w", &workflow("w", "t", config)).await;
    let seen = Seen::default();
    let worker = Worker::new(client(&relay.url, &server.key));
    let running = Running::start(worker.task("t", seen.takes(SECOND / 10)));
    relay.loses_answers("/complete", 3);
    let id = server.execute("w", "{}").await;
    server.reaches(&id, "completed").await;
    until("all these answers are lost", || relay.to_lose() == 0).await;
    until("it learns of it", || running.told("completed in")).await;
    assert_eq!(running.stops().await.completed, 1);
    let events = server.event_types(&id).await;
    let ends = events.iter().filter(|name| *name == "STEP_COMPLETED");
    assert_eq!(ends.count(), 1);
}

/// A result that comes too late is dropped, with a word about it.
#[tokio::test]
async fn a_result_that_nobody_waits_for_is_dropped() {
    let server = Server::start().await;
    server.apply("w", &workflow("w", "t", "")).await;
    let seen = Seen::default();
    let worker = Worker::new(client(&server.url, &server.key));
    let running = Running::start(worker.task("t", seen.takes(SECOND)));
    let id = server.execute("w", "{}").await;
    until("it runs", || seen.begun() == 1).await;
    server
        .post(&format!("/api/executions/{id}/cancel"), "")
        .await
        .expect(200);
    until("the result is dropped", || {
        running.told("its result is dropped: the task is over (CANCELLED)")
    })
    .await;
    assert_eq!(running.stops().await.lost, 1);
}

/// An output that the server does not take is a failure that says so, and not a lock that runs out.
#[tokio::test]
async fn an_output_that_is_too_long_is_a_failure() {
    let server = Server::start_with(&["--max-body-bytes", "65536"]).await;
    server.apply("w", &workflow("w", "t", "")).await;
    let worker = Worker::new(client(&server.url, &server.key));
    let running = Running::start(worker.task("t", async |_: Task| Ok("x".repeat(100_000))));
    let id = server.execute("w", "{}").await;
    server.reaches(&id, "dlq").await;
    let task = the_task(&server, &id).await;
    let message = task["errorMessage"].as_str().unwrap();
    assert!(message.contains("does not take the result"), "{message}");
    assert_eq!(running.stops().await.failed, 1);
}

/// A worker is started before its server, or outlives it: it asks until there is one.
#[tokio::test]
async fn a_worker_waits_for_its_server() {
    let mut server = Server::start().await;
    let relay = Relay::to(&server.url).await;
    server.apply("w", &workflow("w", "t", "")).await;
    let id = server.execute("w", "{}").await;
    server.kill();
    let worker = Worker::new(client(&relay.url, &server.key));
    let running = Running::start(worker.task("t", Seen::default().takes(Duration::ZERO)));
    until("it says so", || running.told("no tasks can be fetched")).await;
    server.restart();
    relay.moves_to(&server.url);
    server.reaches(&id, "completed").await;
    // A worker whose server is gone stops, too.
    server.kill();
    assert_eq!(running.stops().await.completed, 1);
}
