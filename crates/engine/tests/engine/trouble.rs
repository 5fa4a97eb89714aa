//! A store that is in trouble for a while: nothing is lost, nothing hangs, and it goes on by
//! itself. And panics, which are defects: nothing is lost or promised, and nothing hangs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use refire_core::execution::{Command, Status};
use refire_core::failure::Failure;
use refire_engine::caller::Caller;
use refire_engine::target::{HttpAnswer, HttpRequest};
use refire_engine::{CommandError, CommitFailure, Engine, IntakeError, Submission};
use refire_store::{ExecutionFilter, Layered, Store, Stretch};

use crate::fixture::{
    Answer, Targets, World, apply, check, end, small_limits, start, started, submission, within,
};
use crate::troubled::{Troubled, troubled};

fn engine_on(world: &World, store: &Arc<Layered<Troubled>>) -> Arc<Engine> {
    let caller: Arc<dyn Caller> = world.targets.clone();
    let store: Arc<dyn Store> = store.clone();
    started(Engine::builder(store).caller(caller))
}

const RETRYING: &str = r#"
id: w
retry: { maxRetries: 3, initialDelay: 200ms, strategy: fixed, jitter: none }
steps:
  - { id: a, type: http, config: { method: POST, url: "https://t.example/a", body: "${input}" } }
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_refuses_new_work_keeps_results_and_recovers() {
    let world = World::new();
    let store = troubled(&world);
    let engine = engine_on(&world, &store);
    let w = apply(&engine, RETRYING).await;
    world
        .targets
        .script("/a", &[Answer::Status(503), Answer::Held, Answer::Ok("{}")]);
    let waiting = start(&engine, &w, r#"{"n":1}"#).await;
    world.targets.called("/a", 2).await;
    store.disk_is_full.store(true, Ordering::SeqCst);
    let refused = engine
        .executions()
        .submit(submission(&w, "{}"))
        .await
        .unwrap_err();
    assert!(
        matches!(refused, IntakeError::Commit(CommitFailure::DiskFull)),
        "{refused:?}"
    );
    world.targets.open_gate(1);
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(engine.running(), 1, "the result waits and keeps its slot");
    store.disk_is_full.store(false, Ordering::SeqCst);
    assert_eq!(end(&engine, waiting).await.state.status, Status::Completed);
    check(&engine, waiting).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_that_fail_for_a_while_are_no_failure_of_an_attempt() {
    let world = World::new();
    let store = troubled(&world);
    let engine = engine_on(&world, &store);
    let w = apply(&engine, RETRYING).await;
    world
        .targets
        .script("/a", &[Answer::Status(503), Answer::Ok("{}")]);
    let id = start(&engine, &w, r#"{"n":1}"#).await;
    world.targets.called("/a", 1).await;
    store.reads_fail.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(600)).await;
    store.reads_fail.store(false, Ordering::SeqCst);
    assert_eq!(end(&engine, id).await.state.status, Status::Completed);
    check(&engine, id).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_does_not_wait_for_a_store_that_says_nothing() {
    let world = World::new();
    world.targets.script("/a", &[Answer::Held]);
    let store = troubled(&world);
    let engine = engine_on(&world, &store);
    let w = apply(&engine, RETRYING).await;
    start(&engine, &w, "{}").await;
    world.targets.called("/a", 1).await;
    store.is_silent.store(true, Ordering::SeqCst);
    let begun = std::time::Instant::now();
    engine.stop_within(Duration::from_millis(100)).await;
    // What is left after the attempts shares three seconds and a half.
    let took = begun.elapsed();
    store.is_silent.store(false, Ordering::SeqCst);
    assert!(took < Duration::from_secs(6), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recovery_goes_on_until_everything_is_settled() {
    let world = World::new();
    world
        .targets
        .script("/a", &[Answer::Held, Answer::Ok("{}")]);
    let store = troubled(&world);
    let engine = engine_on(&world, &store);
    let w = apply(&engine, RETRYING).await;
    let id = start(&engine, &w, r#"{"n":1}"#).await;
    world.targets.called("/a", 1).await;
    // The process dies: nothing can be given back any more.
    store.disk_is_full.store(true, Ordering::SeqCst);
    engine.stop_within(Duration::ZERO).await;
    drop(engine);
    within(async {
        while Arc::strong_count(&store) > 1 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    drop(store);

    let store = troubled(&world);
    store.disk_is_full.store(true, Ordering::SeqCst);
    let engine = engine_on(&world, &store);
    tokio::time::sleep(Duration::from_millis(400)).await;
    store.disk_is_full.store(false, Ordering::SeqCst);
    let stored = end(&engine, id).await;
    assert_eq!(stored.state.status, Status::Completed);
    let log = crate::fixture::log(&engine, id).await;
    assert!(log.contains(&"STEP_LOST a#1".to_owned()), "{log:?}");
    check(&engine, id).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn content_that_the_store_chokes_on_hurts_nobody_else() {
    let world = World::new();
    let store = troubled(&world);
    let engine = engine_on(&world, &store);
    let w = apply(&engine, RETRYING).await;
    let mut all = Vec::new();
    for n in 0..20 {
        let text = if n == 7 { "POISON" } else { "fine" };
        all.push(submission(&w, &format!(r#"{{"text":"{text}"}}"#)));
    }
    let results = engine.executions().submit_all(all).await;
    for (n, result) in results.into_iter().enumerate() {
        match (n, result) {
            (7, result) => {
                let error = result.unwrap_err();
                let choked = IntakeError::Commit(CommitFailure::Unstorable(String::new()));
                assert_eq!(
                    std::mem::discriminant(&error),
                    std::mem::discriminant(&choked),
                    "{error:?}"
                );
            }
            (_, result) => assert!(result.is_ok(), "its neighbours commit: {result:?}"),
        }
    }
    assert!(
        store.poison.load(Ordering::SeqCst) > 1,
        "the batch was split"
    );
    // A result that cannot be stored ends in a plain failure instead of hanging.
    world.targets.script("/a", &[Answer::Ok(r#""POISON""#)]);
    let id = start(&engine, &w, r#"{"n":1}"#).await;
    let stored = end(&engine, id).await;
    assert_eq!(stored.state.status, Status::Dlq);
    assert_eq!(stored.state.error.unwrap().class.name(), "internal");
    engine.stop().await;
}

/// Nobody gets a promise that a dead committer cannot keep, nobody waits for ever, and what it
/// wrote before it died is found by the next start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_committer_that_panics_breaks_the_engine_and_loses_nothing() {
    let world = World::new();
    let store = troubled(&world);
    let engine = engine_on(&world, &store);
    let w = apply(&engine, RETRYING).await;
    world
        .targets
        .script("/a", &[Answer::Held, Answer::Ok("{}")]);
    let running = start(&engine, &w, r#"{"n":1}"#).await;
    world.targets.called("/a", 1).await;
    store.commits_panic.store(true, Ordering::SeqCst);
    let cut_off = within(engine.executions().submit(submission(&w, r#"{"n":2}"#))).await;
    assert!(
        matches!(cut_off, Err(IntakeError::Commit(CommitFailure::Unknown))),
        "it may have been accepted: {cut_off:?}"
    );
    within(engine.broken()).await;
    assert!(!engine.is_ready());
    let refused = within(engine.executions().submit(submission(&w, "{}"))).await;
    assert!(
        matches!(
            refused,
            Err(IntakeError::Commit(CommitFailure::Unavailable))
        ),
        "certainly nothing was started: {refused:?}"
    );
    let by = Some("test".to_owned());
    let cancel = within(engine.executions().command(running, Command::Pause { by })).await;
    assert!(matches!(cancel, Err(CommandError::Failed(_))), "{cancel:?}");
    // A result that comes now has nowhere to go; its attempt ends all the same.
    world.targets.open_gate(1);
    within(async {
        while engine.running() > 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    within(engine.stop()).await;
    drop(engine);
    within(async {
        while Arc::strong_count(&store) > 1 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    drop(store);

    let engine = world.engine();
    let all = engine
        .store()
        .executions(&ExecutionFilter::default(), &Stretch::new(None, 10))
        .await
        .unwrap()
        .rows;
    assert_eq!(all.len(), 2, "the one that was not answered for is there");
    for one in all {
        let stored = end(&engine, one.id).await;
        assert_eq!(stored.state.status, Status::Completed);
        check(&engine, one.id).await;
    }
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_that_panics_breaks_the_engine() {
    let world = World::new();
    let store = troubled(&world);
    store.claims_panic.store(true, Ordering::SeqCst);
    let engine = engine_on(&world, &store);
    within(engine.broken()).await;
    assert!(!engine.is_ready());
    within(engine.stop()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_while_timers_begin_breaks_the_engine() {
    let world = World::new();
    let store = troubled(&world);
    let engine = engine_on(&world, &store);
    let w = apply(&engine, RETRYING).await;
    let submission = Submission {
        delay: Some(Duration::from_millis(100)),
        ..submission(&w, "{}")
    };
    engine.executions().submit(submission).await.unwrap();
    store.states_panic.store(true, Ordering::SeqCst);
    within(engine.broken()).await;
    assert!(!engine.is_ready());
    within(engine.stop()).await;
}

/// Calls that panic if their path says so.
struct Panicking(Arc<Targets>);

#[async_trait]
impl Caller for Panicking {
    async fn call(&self, request: HttpRequest) -> Result<HttpAnswer, Failure> {
        assert!(!request.url.ends_with("/panic"), "the call panics");
        self.0.call(request).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_panics_fails_its_step_and_frees_its_slot() {
    let world = World::new();
    let caller: Arc<dyn Caller> = Arc::new(Panicking(world.targets.clone()));
    let engine = world.engine_with(|builder| builder.caller(caller).limits(small_limits(1)));
    let source = RETRYING.replace("t.example/a", "t.example/${input.path}");
    let w = apply(&engine, &source).await;
    let broken = start(&engine, &w, r#"{"path":"panic"}"#).await;
    let stored = end(&engine, broken).await;
    assert_eq!(stored.state.status, Status::Dlq);
    let error = stored.state.error.as_ref().unwrap();
    assert_eq!(error.class.name(), "internal", "{error:?}");
    let log = crate::fixture::log(&engine, broken).await;
    assert_eq!(
        log,
        [
            "EXECUTION_STARTED",
            "STEP_SCHEDULED a#1",
            "STEP_STARTED a#1",
            "STEP_FAILED a#1",
            "DEAD_LETTERED a",
            "EXECUTION_FAILED"
        ],
        "a defect of ours is not retried"
    );
    check(&engine, broken).await;
    // The only slot is free again.
    let healthy = start(&engine, &w, r#"{"path":"fine"}"#).await;
    assert_eq!(end(&engine, healthy).await.state.status, Status::Completed);
    engine.stop().await;
}
