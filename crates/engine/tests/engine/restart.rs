//! Stopping, dying and starting again.

use std::sync::Arc;
use std::time::Duration;

use refire_core::execution::Status;

use crate::fixture::{Answer, World, apply, check, end, log, reaches, start, stop_at_once, within};

const RETRYING: &str = r#"
id: slow
retry: { maxRetries: 5, initialDelay: 400ms, strategy: fixed, jitter: none }
steps:
  - { id: a, type: http, config: { url: "https://t.example/a" } }
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_wait_goes_on_after_a_restart_and_is_due_at_its_recorded_time() {
    let world = World::new();
    let engine = world.engine();
    let slow = apply(&engine, RETRYING).await;
    world
        .targets
        .script("/a", &[Answer::Status(503), Answer::Ok("{}")]);
    let id = start(&engine, &slow, "{}").await;
    reaches(&engine, id, Status::Retrying).await;
    let due = {
        let stored = engine.store().execution(id).await.unwrap().unwrap();
        stored.work[0].due_at.unwrap()
    };
    stop_at_once(engine).await;
    let engine = world.engine();
    let stored = end(&engine, id).await;
    assert_eq!(stored.state.status, Status::Completed);
    assert!(stored.state.completed_at.unwrap() >= due);
    check(&engine, id).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_aborted_attempt_is_given_back_and_is_not_a_loss() {
    let world = World::new();
    let engine = world.engine();
    let slow = apply(&engine, RETRYING).await;
    world
        .targets
        .script("/a", &[Answer::Held, Answer::Ok("{}")]);
    let id = start(&engine, &slow, "{}").await;
    world.targets.called("/a", 1).await;
    stop_at_once(engine).await;
    let engine = world.engine();
    let stored = end(&engine, id).await;
    assert_eq!(stored.state.status, Status::Completed);
    let log = log(&engine, id).await;
    assert!(
        !log.iter().any(|line| line.starts_with("STEP_LOST")),
        "{log:?}"
    );
    check(&engine, id).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_lets_attempts_finish() {
    let world = World::new();
    let engine = world.engine();
    let slow = apply(&engine, RETRYING).await;
    world.targets.script("/a", &[Answer::Held]);
    let id = start(&engine, &slow, "{}").await;
    world.targets.called("/a", 1).await;
    let stopping = {
        let engine = Arc::clone(&engine);
        tokio::spawn(async move { engine.stop().await })
    };
    within(async {
        while engine.is_ready() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    world.targets.open_gate(1);
    within(stopping).await.unwrap();
    drop(engine);
    let engine = world.engine();
    let stored = engine.store().execution(id).await.unwrap().unwrap();
    assert_eq!(stored.state.status, Status::Completed);
    engine.stop().await;
}
