//! Tasks for workers: who is seen to do them, and what holds them back.

use std::time::Duration;

use refire_core::definition::WorkflowId;
use refire_core::execution::{Cancel, Command, Status};
use refire_core::json::Json;
use refire_core::task::{TaskStatus, WorkerStatus};
use refire_engine::Engine;
use refire_engine::task::{
    Delivery, Ended, Poll, TaskError, TaskTypes, Worker, WorkerFilter, worker_failure,
};
use refire_store::{TaskFilter, TaskRow};

use crate::fixture::{World, apply, check, end, log, start, within};

fn poll(worker: Option<&str>, task_type: &str, max: u32, wait: Duration) -> Poll {
    Poll {
        types: TaskTypes {
            names: vec![task_type.to_owned()],
            prefixes: vec!["n8n-".to_owned()],
        },
        worker: worker.map(str::to_owned),
        worker_type: Some("n8n".to_owned()),
        max,
        wait,
    }
}

async fn fetch(engine: &Engine, worker: Option<&str>, max: u32) -> Vec<TaskRow> {
    let wait = Duration::from_secs(10);
    let found = engine.tasks().poll(poll(worker, "x", max, wait)).await;
    rows(found.unwrap())
}

fn rows(delivery: Delivery) -> Vec<TaskRow> {
    let rows = delivery.tasks().iter().map(|task| task.row.clone());
    let rows = rows.collect();
    delivery.arrived();
    rows
}

async fn workers(engine: &Engine) -> Vec<Worker> {
    let all = WorkerFilter::default();
    engine.tasks().workers(&all, None, 100).await.unwrap()
}

async fn complete(engine: &Engine, task: &TaskRow) {
    let done = Ended::Completed(Json::null());
    let ended = engine.tasks().end(task.id(), task.token, done).await;
    ended.unwrap();
}

async fn one_task(engine: &Engine) -> WorkflowId {
    let source = "id: w\nsteps: [{id: a, type: external_task, config: {taskType: x}}]";
    apply(engine, source).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_are_seen_and_survive_a_restart() {
    let world = World::new();
    let engine = world.engine();
    let workflow = one_task(&engine).await;
    for _ in 0..4 {
        start(&engine, &workflow, "{}").await;
    }
    let tasks = fetch(&engine, Some("w1"), 3).await;
    fetch(&engine, None, 1).await;
    let seen = workers(&engine).await;
    assert_eq!(seen.len(), 1, "who does not say who it is is not listed");
    assert_eq!((seen[0].held, seen[0].status), (3, WorkerStatus::Active));
    assert_eq!(seen[0].row.task_types.0, ["x", "n8n-*"]);
    assert_eq!(seen[0].row.worker_type.as_deref(), Some("n8n"));
    assert_eq!(seen[0].row.heartbeat_at, None);
    let handle = engine.tasks();
    let beat = handle.heartbeat(tasks[0].id(), tasks[0].token, None, None);
    beat.await.unwrap();
    complete(&engine, &tasks[0]).await;
    complete(&engine, &tasks[0]).await;
    let failed = Ended::Failed(worker_failure("no".to_owned(), None));
    let ended = engine.tasks().end(tasks[1].id(), None, failed).await;
    ended.unwrap();
    let seen = workers(&engine).await;
    assert!(seen[0].row.heartbeat_at.is_some());
    let counts = (seen[0].row.completed, seen[0].row.failed, seen[0].held);
    assert_eq!(counts, (1, 1, 1), "a repeated report counts once");
    engine.stop().await;
    drop(engine);
    let engine = world.engine();
    let again = workers(&engine).await;
    assert_eq!(again, seen, "what was seen is written when the node stops");
    // A node that has forgotten whose lock it is finds out.
    let beat = engine.tasks().heartbeat(tasks[2].id(), None, None, None);
    beat.await.unwrap();
    let beaten = workers(&engine).await;
    assert!(beaten[0].row.heartbeat_at > seen[0].row.heartbeat_at);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_waits_is_active() {
    let world = World::new();
    let engine = world.engine();
    let waiting = poll(Some("w1"), "x", 1, Duration::from_secs(60));
    let polling = {
        let engine = engine.clone();
        tokio::spawn(async move { engine.tasks().poll(waiting).await.map(rows) })
    };
    within(async {
        while workers(&engine).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    let first = workers(&engine).await[0].row.polled_at;
    tokio::time::sleep(Duration::from_millis(20)).await;
    let later = workers(&engine).await[0].row.polled_at;
    assert!(later > first, "whoever waits asks all the time");
    engine.stop().await;
    assert!(polling.await.unwrap().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removed_worker_gives_its_tasks_back() {
    let world = World::new();
    let engine = world.engine();
    let workflow = one_task(&engine).await;
    let ids = [
        start(&engine, &workflow, "{}").await,
        start(&engine, &workflow, "{}").await,
    ];
    let lost = fetch(&engine, Some("lost"), 2).await;
    assert_eq!(engine.tasks().remove_worker("lost").await.unwrap(), 2);
    assert!(workers(&engine).await.is_empty());
    let again = engine.tasks().remove_worker("lost").await;
    assert!(matches!(again, Err(TaskError::NoSuchWorker)));
    let late = Ended::Completed(Json::null());
    let late = engine.tasks().end(lost[0].id(), lost[0].token, late).await;
    assert!(matches!(late, Err(TaskError::NotHeld(_))));
    let found = fetch(&engine, Some("next"), 2).await;
    assert_eq!(found.len(), 2);
    let attempts: Vec<u32> = found.iter().map(|task| task.attempt).collect();
    assert_eq!(attempts, [1, 1], "that is no attempt");
    for task in &found {
        complete(&engine, task).await;
    }
    for id in ids {
        assert_eq!(end(&engine, id).await.state.status, Status::Completed);
        check(&engine, id).await;
    }
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn polls_that_wait_have_room_and_no_more() {
    const MOST: usize = 10_000;
    let world = World::new();
    let engine = world.engine();
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..MOST + 1 {
        let engine = engine.clone();
        let long = poll(None, "x", 1, Duration::from_secs(60));
        waiting.spawn(async move { engine.tasks().poll(long).await.map(rows) });
    }
    let refused = within(waiting.join_next()).await.unwrap().unwrap();
    assert!(matches!(refused, Err(TaskError::TooManyWaiting)));
    let at_once = poll(None, "x", 1, Duration::ZERO);
    let at_once = engine.tasks().poll(at_once).await.map(rows);
    assert!(
        at_once.unwrap().is_empty(),
        "who does not wait needs no room"
    );
    engine.stop().await;
    while let Some(ended) = waiting.join_next().await {
        assert!(ended.unwrap().unwrap().is_empty(), "they were let wait");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rate_limit_gives_first_tasks_their_turn() {
    let world = World::new();
    let engine = world.engine();
    let source = "id: w\nrateLimit: {max: 1, per: 1h}\nsteps:\n\
        \x20 - {id: a, type: external_task, needs: [], config: {taskType: x, timeout: 60s}}\n\
        \x20 - {id: b, type: external_task, needs: [], config: {taskType: x, timeout: 60s}}\n\
        \x20 - {id: c, type: external_task, needs: [a, b], config: {taskType: x}}\n";
    let workflow = apply(&engine, source).await;
    let first = start(&engine, &workflow, "{}").await;
    let second = start(&engine, &workflow, "{}").await;
    let of = async |execution| {
        let filter = TaskFilter {
            execution: Some(execution),
            ..TaskFilter::default()
        };
        let tasks = engine.tasks().list(&filter, None, 10).await.unwrap();
        assert_eq!(tasks.len(), 2);
        tasks
    };
    for task in of(first).await {
        assert_eq!(
            task.available_at, task.created_at,
            "both count as one start"
        );
    }
    for task in of(second).await {
        let wait = task.available_at.since(task.created_at);
        assert!(wait > Duration::from_secs(3_500), "{wait:?}");
        assert!(wait <= Duration::from_secs(3_600), "{wait:?}");
        let time = task.timeout_at.since(task.available_at);
        assert_eq!(time, Duration::from_secs(60), "its time begins then");
        assert_eq!(task.wake_at, Some(task.timeout_at));
        assert_eq!(task.status, TaskStatus::Pending);
    }
    let tasks = fetch(&engine, Some("w"), 10).await;
    assert_eq!(tasks.len(), 2);
    for task in &tasks {
        assert_eq!(task.execution, first);
        complete(&engine, task).await;
    }
    // Only the start has a turn.
    let last = fetch(&engine, Some("w"), 10).await;
    complete(&engine, &last[0]).await;
    assert_eq!(end(&engine, first).await.state.status, Status::Completed);
    check(&engine, first).await;
    check(&engine, second).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_records_who_had_the_task() {
    let world = World::new();
    let engine = world.engine();
    let source = "id: w\nsteps:\n\
        \x20 - {id: a, type: external_task, needs: [], config: {taskType: x}}\n\
        \x20 - {id: b, type: external_task, needs: [], config: {taskType: y}}\n";
    let workflow = apply(&engine, source).await;
    let id = start(&engine, &workflow, "{}").await;
    let task = fetch(&engine, Some("w1"), 1).await.remove(0);
    let cancel = Command::Cancel(Cancel::by(None));
    engine.executions().command(id, cancel).await.unwrap();
    let expected = [
        "EXECUTION_STARTED",
        "STEP_SCHEDULED a#1",
        "EXTERNAL_TASK_CREATED a#1",
        "STEP_SCHEDULED b#1",
        "EXTERNAL_TASK_CREATED b#1",
        "EXTERNAL_TASK_LOCKED a#1",
        "STEP_STARTED a#1",
        "EXECUTION_CANCELLED",
    ];
    assert_eq!(log(&engine, id).await, expected);
    let late = Ended::Completed(Json::null());
    let late = engine.tasks().end(task.id(), task.token, late).await;
    assert!(matches!(late, Err(TaskError::NotHeld(_))));
    check(&engine, id).await;
    engine.stop().await;
}
