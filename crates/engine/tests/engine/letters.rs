//! Retrying dead letters.

use refire_core::dead_letter::LetterStatus;
use refire_core::execution::Status;
use refire_core::id::DlqId;
use refire_core::json::Json;
use refire_engine::{Engine, LetterRetryError, LetterRetryRequest, RetryFrom};
use refire_store::{LetterRow, Stored};

use crate::fixture::{Answer, World, apply, check, end, run};

const TWO: &str = r#"
id: two
retry: false
steps:
  - { id: a, type: http, config: { url: "https://t.example/a" } }
  - { id: b, type: http, config: { method: POST, url: "https://t.example/b", body: { x: "${input.x}", a: "${steps.a.output.body}" } } }
"#;

fn wish(letter: DlqId, from: RetryFrom, input: Option<&str>) -> LetterRetryRequest {
    let input = input.map(|text| Json::parse(text).unwrap());
    LetterRetryRequest {
        retries: false,
        letter,
        input,
        from,
        version: None,
        by: "ann".to_owned(),
    }
}

async fn letter(engine: &Engine, stored: &Stored) -> LetterRow {
    engine
        .store()
        .letter(stored.state.dlq_id.unwrap())
        .await
        .unwrap()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_the_failed_step_completed_steps_do_not_run_again() {
    let world = World::new();
    let engine = world.engine();
    let two = apply(&engine, TWO).await;
    world.targets.script("/a", &[Answer::Ok(r#"{"n":1}"#)]);
    world.targets.script(
        "/b",
        &[Answer::Status(500), Answer::Status(500), Answer::Ok("{}")],
    );
    let failed = run(&engine, &two, r#"{"x":1}"#).await;
    let dlq = failed.state.dlq_id.unwrap();
    let again = engine
        .letters()
        .retry(wish(dlq, RetryFrom::FailedStep, None))
        .await
        .unwrap();
    let again = end(&engine, again).await;
    assert_eq!(again.state.status, Status::Failed, "no second letter");
    assert_eq!(
        letter(&engine, &failed).await.state.status,
        LetterStatus::Pending
    );
    let third = engine
        .letters()
        .retry(wish(dlq, RetryFrom::FailedStep, None))
        .await
        .unwrap();
    let third = end(&engine, third).await;
    assert_eq!(third.state.status, Status::Completed);
    let resolved = letter(&engine, &failed).await;
    assert_eq!(resolved.state.status, LetterStatus::Resolved);
    assert_eq!(resolved.state.resolved_by(), Some(third.id));
    assert_eq!(resolved.state.resolved.unwrap().1, "ann");
    assert_eq!(world.targets.seen("/a").len(), 1, "a was taken over");
    let seen = world.targets.seen("/b");
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[2].body, r#"{"x":1,"a":{"n":1}}"#);
    assert!(
        seen.iter()
            .all(|call| call.idempotency_key == seen[0].idempotency_key)
    );
    check(&engine, third.id).await;
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_the_start_with_an_edited_input_is_new_work() {
    let world = World::new();
    let engine = world.engine();
    let two = apply(&engine, TWO).await;
    world
        .targets
        .script("/b", &[Answer::Status(422), Answer::Ok("{}")]);
    let failed = run(&engine, &two, r#"{"x":1}"#).await;
    let dlq = failed.state.dlq_id.unwrap();
    let edited = wish(dlq, RetryFrom::Start, Some(r#"{"x":2}"#));
    let again = engine.letters().retry(edited.clone()).await.unwrap();
    let again = end(&engine, again).await;
    assert_eq!(again.state.status, Status::Completed);
    let lineage = &again.state.origin.as_ref().unwrap().lineage;
    assert_eq!((lineage.parent, lineage.root), (Some(failed.id), failed.id));
    let seen = world.targets.seen("/b");
    assert_ne!(seen[0].idempotency_key, seen[1].idempotency_key);
    let refused = engine.letters().retry(edited).await.unwrap_err();
    assert!(matches!(
        refused,
        LetterRetryError::NotPending(LetterStatus::Resolved)
    ));
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_people_retry_one_letter_and_one_of_them_does() {
    let world = World::new();
    let engine = world.engine();
    let two = apply(&engine, TWO).await;
    world
        .targets
        .script("/a", &[Answer::Status(500), Answer::Held]);
    let failed = run(&engine, &two, r#"{"x":1}"#).await;
    let dlq = failed.state.dlq_id.unwrap();
    let tries: Vec<_> = (0..50)
        .map(|_| {
            let engine = engine.clone();
            tokio::spawn(async move {
                engine
                    .letters()
                    .retry(wish(dlq, RetryFrom::Start, None))
                    .await
                    .is_ok()
            })
        })
        .collect();
    let mut started = 0;
    for attempt in tries {
        started += usize::from(attempt.await.unwrap());
    }
    assert_eq!(started, 1);
    world.targets.open_gate(1);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn different_work_never_shares_a_key_at_the_target() {
    let world = World::new();
    let engine = world.engine();
    let two = apply(&engine, TWO).await;
    world.targets.script("/b", &[Answer::Status(500)]);
    let failed = run(&engine, &two, r#"{"x":1}"#).await;
    let dlq = failed.state.dlq_id.unwrap();
    for (from, input) in [
        (RetryFrom::Start, Some(r#"{"x":2}"#)),
        (RetryFrom::FailedStep, None),
        (RetryFrom::Start, Some(r#"{"x":3}"#)),
        (RetryFrom::FailedStep, Some(r#"{"x":4}"#)),
    ] {
        let id = engine
            .letters()
            .retry(wish(dlq, from, input))
            .await
            .unwrap();
        end(&engine, id).await;
    }
    let mut bodies = std::collections::HashMap::new();
    for call in world.targets.seen("/b") {
        let before = bodies.insert(call.idempotency_key.clone(), call.body.clone());
        assert!(before.is_none_or(|before| before == call.body), "{call:?}");
    }
    assert_eq!(
        bodies.len(),
        4,
        "the repeat of the same work shares its key: {bodies:?}"
    );
    engine.stop().await;
}
