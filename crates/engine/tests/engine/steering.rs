//! What people do to an execution: pause, resume, retry now, cancel.

use std::time::Duration;

use refire_core::execution::{Cancel, Command, RetryNow, Status};
use refire_engine::CommandError;

use crate::fixture::{Answer, World, apply, check, end, log, reaches, start};

const RETRYING: &str = r#"
id: slow
retry: { maxRetries: 5, initialDelay: 300ms, strategy: fixed, jitter: none }
steps:
  - { id: a, type: http, config: { url: "https://t.example/a" } }
  - { id: b, type: http, config: { url: "https://t.example/b" } }
"#;

const SAGA: &str = r#"
id: saga
steps:
  - { id: book, type: http, compensate: unbook, config: { url: "https://t.example/book" } }
  - { id: pay, type: http, config: { url: "https://t.example/pay" } }
  - { id: unbook, type: http, config: { url: "https://t.example/unbook" } }
"#;

fn pause() -> Command {
    Command::Pause {
        by: Some("ann".to_owned()),
    }
}

fn resume() -> Command {
    Command::Resume {
        by: Some("ann".to_owned()),
    }
}

fn cancel(compensate: bool) -> Command {
    Command::Cancel(Cancel {
        compensate,
        ..Cancel::by(Some("ann".to_owned()))
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_during_a_retry_wait_holds_it_and_resuming_lets_it_go() {
    let world = World::new();
    let engine = world.engine();
    let slow = apply(&engine, RETRYING).await;
    world
        .targets
        .script("/a", &[Answer::Status(503), Answer::Ok("{}")]);
    let id = start(&engine, &slow, "{}").await;
    reaches(&engine, id, Status::Retrying).await;
    engine.executions().command(id, pause()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(
        world.targets.seen("/a").len(),
        1,
        "nothing starts while paused"
    );
    engine.executions().command(id, resume()).await.unwrap();
    assert_eq!(end(&engine, id).await.state.status, Status::Completed);
    check(&engine, id).await;
    engine.stop().await;
}

/// One wait is this node's own timer, the other a row that nobody owns yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_that_waits_is_made_now_and_once() {
    for delay in ["2s", "1h"] {
        let world = World::new();
        let engine = world.engine();
        let slow = apply(&engine, &RETRYING.replace("300ms", delay)).await;
        world
            .targets
            .script("/a", &[Answer::Status(503), Answer::Ok("{}")]);
        let id = start(&engine, &slow, "{}").await;
        reaches(&engine, id, Status::Retrying).await;
        let now = || Command::RetryNow(RetryNow::default());
        engine.executions().command(id, now()).await.unwrap();
        assert_eq!(end(&engine, id).await.state.status, Status::Completed);
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(world.targets.seen("/a").len(), 2, "the old timer is void");
        let log = log(&engine, id).await;
        let fired = log.iter().filter(|event| *event == "TIMER_FIRED a#2");
        assert_eq!(fired.count(), 1, "{log:?}");
        assert!(engine.executions().command(id, now()).await.is_err());
        check(&engine, id).await;
        engine.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_attempt_finishes_during_a_pause_and_is_recorded() {
    let world = World::new();
    let engine = world.engine();
    let slow = apply(&engine, RETRYING).await;
    world.targets.script("/a", &[Answer::Held]);
    let id = start(&engine, &slow, "{}").await;
    world.targets.called("/a", 1).await;
    engine.executions().command(id, pause()).await.unwrap();
    world.targets.open_gate(1);
    crate::fixture::within(async {
        while !log(&engine, id)
            .await
            .contains(&"STEP_COMPLETED a#1".to_owned())
        {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    assert!(world.targets.seen("/b").is_empty());
    engine.executions().command(id, resume()).await.unwrap();
    assert_eq!(end(&engine, id).await.state.status, Status::Completed);
    assert_eq!(world.targets.seen("/a").len(), 1, "it was not run twice");
    check(&engine, id).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resuming_while_the_attempt_still_runs_does_not_run_it_twice() {
    let world = World::new();
    let engine = world.engine();
    let slow = apply(&engine, RETRYING).await;
    world.targets.script("/a", &[Answer::Held]);
    let id = start(&engine, &slow, "{}").await;
    world.targets.called("/a", 1).await;
    engine.executions().command(id, pause()).await.unwrap();
    engine.executions().command(id, resume()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(world.targets.seen("/a").len(), 1);
    world.targets.open_gate(1);
    assert_eq!(end(&engine, id).await.state.status, Status::Completed);
    check(&engine, id).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_ends_at_once_and_drops_what_comes_later() {
    let world = World::new();
    let engine = world.engine();
    let slow = apply(&engine, RETRYING).await;
    world.targets.script("/a", &[Answer::Held]);
    let id = start(&engine, &slow, "{}").await;
    world.targets.called("/a", 1).await;
    engine
        .executions()
        .command(id, cancel(false))
        .await
        .unwrap();
    world.targets.open_gate(1);
    assert_eq!(end(&engine, id).await.state.status, Status::Cancelled);
    engine
        .executions()
        .command(id, cancel(false))
        .await
        .expect("again is fine");
    let refused = engine.executions().command(id, pause()).await.unwrap_err();
    assert!(matches!(refused, CommandError::Refused(_)), "{refused:?}");
    check(&engine, id).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_with_compensation_undoes_first() {
    let world = World::new();
    let engine = world.engine();
    let saga = apply(&engine, SAGA).await;
    world.targets.script("/pay", &[Answer::Held]);
    let id = start(&engine, &saga, "{}").await;
    world.targets.called("/pay", 1).await;
    engine.executions().command(id, cancel(true)).await.unwrap();
    assert_eq!(end(&engine, id).await.state.status, Status::Cancelled);
    assert_eq!(world.targets.seen("/unbook").len(), 1);
    check(&engine, id).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_undoes_completed_steps_before_it_is_dead_lettered() {
    let world = World::new();
    let engine = world.engine();
    let saga = apply(&engine, SAGA).await;
    world.targets.script("/pay", &[Answer::Status(402)]);
    let id = start(&engine, &saga, "{}").await;
    let stored = end(&engine, id).await;
    assert_eq!(stored.state.status, Status::Dlq);
    assert_eq!(world.targets.seen("/unbook").len(), 1);
    let log = log(&engine, id).await;
    let at = |name: &str| log.iter().position(|line| line.starts_with(name)).unwrap();
    assert!(at("COMPENSATION_COMPLETED") < at("DEAD_LETTERED"));
    check(&engine, id).await;
    engine.stop().await;
}

#[tokio::test]
async fn a_call_that_a_cancel_aborts_is_in_the_log() {
    let world = World::new();
    world
        .targets
        .script("/a", &[Answer::Status(503), Answer::Held]);
    let engine = world.engine();
    let source = "id: w
retry: { initialDelay: 1ms, jitter: none }
steps:
  - { id: a, type: http, config: { url: \"https://t.example/a\" } }
  - { id: b, type: http, config: { url: \"https://t.example/b\" } }
";
    let workflow = apply(&engine, source).await;
    let id = start(&engine, &workflow, "{}").await;
    world.targets.called("/a", 2).await;
    reaches(&engine, id, Status::Running).await;
    engine
        .executions()
        .command(id, cancel(false))
        .await
        .unwrap();
    let lines = log(&engine, id).await;
    assert_eq!(
        &lines[lines.len() - 3..],
        ["TIMER_FIRED a#2", "STEP_STARTED a#2", "EXECUTION_CANCELLED"]
    );
    let stored = end(&engine, id).await;
    let (_, step) = stored.state.steps.iter().next().unwrap();
    assert_eq!(step.attempt, 2);
    assert!(stored.state.started_at.is_some() && step.started_at.is_some());
    check(&engine, id).await;
}
