//! The main path: steps, templates, retries, dead letters, idempotency.

use std::time::Duration;

use refire_core::definition::{WorkflowId, canonical, content_hash};
use refire_core::execution::{OutputRef, Status};
use refire_core::time::Timestamp;
use refire_engine::{Accepted, ApplyError};
use refire_store::{Batch, Part, PutWorkflow, Store as _};

use crate::fixture::{Answer, World, apply, check, end, log, run, start, submission, within};

const TWO_STEPS: &str = r#"
id: order
retry: { maxRetries: 2, initialDelay: 100ms, strategy: fixed, jitter: none }
steps:
  - id: look
    type: http
    config:
      method: POST
      url: https://crm.example/look
      body: { order: "${input.order}", big: "${input.big}" }
      outputMapping: { found: "$.body.id" }
  - id: tell
    type: http
    config: { method: POST, url: "https://crm.example/tell", body: { found: "${workflow.context.found}" } }
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_steps_run_in_order_and_values_keep_their_bytes() {
    let world = World::new();
    let engine = world.engine();
    let order = apply(&engine, TWO_STEPS).await;
    world
        .targets
        .script("/look", &[Answer::Ok(r#"{"id":12345678901234567890123}"#)]);
    let stored = run(
        &engine,
        &order,
        r#"{"order":"o-1","big":98765432109876543210987}"#,
    )
    .await;
    assert_eq!(stored.state.status, Status::Completed);
    let seen = world.targets.seen("/look");
    assert_eq!(
        seen[0].body,
        r#"{"order":"o-1","big":98765432109876543210987}"#
    );
    assert_eq!(
        world.targets.seen("/tell")[0].body,
        r#"{"found":12345678901234567890123}"#
    );
    assert_eq!(seen[0].idempotency_key, format!("{}:look:0", stored.id));
    assert!(
        matches!(stored.state.output, Some(OutputRef::Step(ref step)) if step.as_str() == "tell")
    );
    assert_eq!(
        log(&engine, stored.id).await,
        [
            "EXECUTION_STARTED",
            "STEP_SCHEDULED look#1",
            "STEP_STARTED look#1",
            "STEP_COMPLETED look#1",
            "STEP_SCHEDULED tell#1",
            "STEP_STARTED tell#1",
            "STEP_COMPLETED tell#1",
            "EXECUTION_COMPLETED",
        ]
    );
    check(&engine, stored.id).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failing_target_is_retried_on_time_with_one_key_and_then_succeeds() {
    let world = World::new();
    let engine = world.engine();
    let order = apply(&engine, TWO_STEPS).await;
    world.targets.script(
        "/look",
        &[Answer::Status(503), Answer::Timeout, Answer::Ok("{}")],
    );
    let stored = run(&engine, &order, r#"{"order":"o-1","big":1}"#).await;
    assert_eq!(stored.state.status, Status::Completed);
    let seen = world.targets.seen("/look");
    let attempts: Vec<&str> = seen.iter().map(|seen| seen.attempt.as_str()).collect();
    assert_eq!(attempts, ["1", "2", "3"]);
    assert!(
        seen.iter()
            .all(|call| call.idempotency_key == seen[0].idempotency_key)
    );
    for pair in seen.windows(2) {
        let wait = pair[1].at - pair[0].at;
        assert!(wait >= Duration::from_millis(100), "too early: {wait:?}");
        assert!(wait < Duration::from_secs(5), "too late: {wait:?}");
    }
    check(&engine, stored.id).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_finally_fails_is_dead_lettered_with_its_reason() {
    let world = World::new();
    let engine = world.engine();
    let order = apply(&engine, TWO_STEPS).await;
    world.targets.script("/look", &[Answer::Status(500)]);
    let exhausted = run(&engine, &order, r#"{"order":1,"big":1}"#).await;
    world.targets.script("/look", &[Answer::Status(404)]);
    let refused = run(&engine, &order, r#"{"order":1,"big":1}"#).await;
    let missing = run(&engine, &order, r#"{"order":1}"#).await;
    for (stored, reason, retries) in [
        (&exhausted, "exhausted", 2),
        (&refused, "non_retryable", 0),
        (&missing, "non_retryable", 0),
    ] {
        assert_eq!(stored.state.status, Status::Dlq);
        let letter = engine
            .store()
            .letter(stored.state.dlq_id.unwrap())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(letter.reason.name(), reason);
        assert_eq!(letter.retry_count, retries);
        assert_eq!(letter.execution, stored.id);
        check(&engine, stored.id).await;
    }
    let letter = engine
        .store()
        .letter(missing.state.dlq_id.unwrap())
        .await
        .unwrap()
        .unwrap();
    assert!(
        letter.failure.message.contains("input.big"),
        "{}",
        letter.failure.message
    );
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_may_ask_for_a_longer_wait() {
    let world = World::new();
    let engine = world.engine();
    let order = apply(&engine, TWO_STEPS).await;
    world
        .targets
        .script("/look", &[Answer::RetryAfter(429, 400), Answer::Ok("{}")]);
    run(&engine, &order, r#"{"order":1,"big":1}"#).await;
    let seen = world.targets.seen("/look");
    assert!(seen[1].at - seen[0].at >= Duration::from_millis(400));
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_steps_run_at_the_same_time_and_join() {
    let world = World::new();
    let engine = world.engine();
    let diamond = apply(
        &engine,
        r#"
id: diamond
steps:
  - { id: a, type: http, config: { url: "https://t.example/a" } }
  - { id: b, type: http, needs: [a], config: { url: "https://t.example/b" } }
  - { id: c, type: http, needs: [a], config: { url: "https://t.example/c" } }
  - { id: d, type: http, needs: [b, c], config: { url: "https://t.example/d" } }
"#,
    )
    .await;
    world.targets.script("/b", &[Answer::Held]);
    world.targets.script("/c", &[Answer::Held]);
    let id = start(&engine, &diamond, "{}").await;
    world.targets.called("/b", 1).await;
    world.targets.called("/c", 1).await;
    assert!(world.targets.seen("/d").is_empty());
    world.targets.open_gate(2);
    assert_eq!(end(&engine, id).await.state.status, Status::Completed);
    assert_eq!(world.targets.seen("/d").len(), 1);
    check(&engine, id).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_key_is_one_execution_also_at_the_same_instant() {
    let world = World::new();
    let engine = world.engine();
    let order = apply(&engine, TWO_STEPS).await;
    let calls = (0..50).map(|_| {
        let mut submission = submission(&order, r#"{"order":1,"big":1}"#);
        submission.idempotency_key = Some("k-1".to_owned());
        let engine = engine.clone();
        tokio::spawn(async move { engine.executions().submit(submission).await.unwrap() })
    });
    let mut new = 0;
    let mut ids = std::collections::HashSet::new();
    for call in calls.collect::<Vec<_>>() {
        match within(call).await.unwrap() {
            Accepted::New { id, .. } => {
                new += 1;
                ids.insert(id);
            }
            Accepted::Duplicate { id, body_differs } => {
                assert!(!body_differs);
                ids.insert(id);
            }
        }
    }
    assert_eq!((new, ids.len()), (1, 1));
    let mut other = submission(&order, r#"{"order":2}"#);
    other.idempotency_key = Some("k-1".to_owned());
    let answer = engine.executions().submit(other).await.unwrap();
    assert!(matches!(
        answer,
        Accepted::Duplicate {
            body_differs: true,
            ..
        }
    ));
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delayed_start_begins_when_it_is_due() {
    let world = World::new();
    let engine = world.engine();
    let order = apply(&engine, TWO_STEPS).await;
    let began = tokio::time::Instant::now();
    let mut delayed = submission(&order, r#"{"order":1,"big":1}"#);
    delayed.delay = Some(Duration::from_millis(300));
    let (_, stored) = engine
        .executions()
        .submit_and_wait(delayed, Duration::from_secs(10))
        .await
        .unwrap();
    assert_eq!(stored.unwrap().state.status, Status::Completed);
    assert!(world.targets.seen("/look")[0].at - began >= Duration::from_millis(300));
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_executions_in_one_go_all_end() {
    let world = World::new();
    let engine = world.engine();
    let order = apply(&engine, TWO_STEPS).await;
    let all = (0..1_000).map(|n| submission(&order, &format!(r#"{{"order":{n},"big":1}}"#)));
    let results = engine.executions().submit_all(all.collect()).await;
    for result in results {
        let Accepted::New { id, .. } = result.unwrap() else {
            panic!("no keys were given")
        };
        assert_eq!(end(&engine, id).await.state.status, Status::Completed);
    }
    assert_eq!(world.targets.seen("/look").len(), 1_000);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_newest_definition_is_the_one_with_the_highest_version() {
    let world = World::new();
    let engine = world.engine();
    for n in 0..50 {
        let tasks: Vec<_> = (0..4)
            .map(|v| {
                let engine = engine.clone();
                let source = format!(
                    "id: w{n}\nname: v{v}\nsteps: [{{ id: a, type: http, config: {{ url: 'https://t.example/a' }} }}]"
                );
                tokio::spawn(async move {
                    engine.definitions().apply(&source, None, "t").await.unwrap().definition.version
                })
            })
            .collect();
        let mut highest = 0;
        for task in tasks {
            highest = highest.max(task.await.unwrap());
        }
        let id = WorkflowId::new(format!("w{n}")).unwrap();
        let newest = engine.catalog().newest(&id).await.unwrap().unwrap();
        assert_eq!(newest.version, highest);
    }
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stored_definition_with_a_header_that_is_refused_now_still_runs() {
    let source = "id: older\nsteps:\n- {id: a, type: http, config: {url: 'https://crm.example/a', \
                  headers: {Host: other.example}}}\n";
    let world = World::new();
    let id = WorkflowId::new("older").unwrap();
    let put = PutWorkflow {
        id: id.clone(),
        name: "older".to_owned(),
        content_hash: content_hash(&canonical(source, None).unwrap()),
        source: source.to_owned(),
        by: "test".to_owned(),
        expected: None,
    };
    let batch = Batch {
        commit_id: [7; 16],
        lease: None,
        now: Timestamp::from_millis(1),
        parts: vec![Part::PutWorkflow(Box::new(put))],
    };
    world.store().commit(&batch).await.unwrap();

    let engine = world.engine();
    let stored = run(&engine, &id, "{}").await;
    assert_eq!(stored.state.status, Status::Completed);
    check(&engine, stored.id).await;
    let refused = engine.definitions().apply(source, None, "test").await;
    assert!(matches!(refused, Err(ApplyError::Invalid(_))));
    engine.stop().await;
}
