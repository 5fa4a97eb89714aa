//! Tasks of the embedding program.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use refire_core::execution::{Cancel, Command, Status};
use refire_core::json::Json;
use refire_engine::TaskError;

use crate::fixture::{World, apply, check, run};

const LOCAL: &str = r#"
id: local
retry: { maxRetries: 2, initialDelay: 100ms, jitter: none }
steps:
  - { id: double, type: local, config: { task: double, input: { n: "${input.n}" } } }
  - { id: flaky, type: local, config: { task: flaky } }
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_run_with_the_same_durability_and_are_retried() {
    let world = World::new();
    let tries = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&tries);
    let engine = world.engine_with(|builder| {
        builder
            .task("double", |_, input| async move {
                let n: i64 = serde_json::from_str::<serde_json::Value>(input.as_str())?["n"]
                    .as_i64()
                    .ok_or_else(|| TaskError::permanent("n is not a number"))?;
                Ok(Json::parse((2 * n).to_string())?)
            })
            .task("flaky", move |context, _| {
                let tries = Arc::clone(&counted);
                async move {
                    match tries.fetch_add(1, Ordering::SeqCst) {
                        0 => Err(TaskError::new("not yet")),
                        1 => panic!("a task may panic"),
                        _ => Ok(Json::string(&context.idempotency_key)),
                    }
                }
            })
    });
    let local = apply(&engine, LOCAL).await;
    let stored = run(&engine, &local, r#"{"n":21}"#).await;
    assert_eq!(stored.state.status, Status::Completed);
    assert_eq!(tries.load(Ordering::SeqCst), 3);
    check(&engine, stored.id).await;
    let failed = run(&engine, &local, r#"{"n":"x"}"#).await;
    assert_eq!(
        failed.state.status,
        Status::Dlq,
        "a permanent error is not retried"
    );
    let unknown = engine
        .definitions()
        .apply(&LOCAL.replace("task: double", "task: triple"), None, "t")
        .await;
    assert!(
        unknown.is_err(),
        "a task that is not registered is refused when it is applied"
    );
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_aborts_a_running_task() {
    let world = World::new();
    let (began, ended) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let counts = (Arc::clone(&began), Arc::clone(&ended));
    let engine = world.engine_with(|builder| {
        builder.task("slow", move |_, _| {
            let (began, ended) = counts.clone();
            async move {
                began.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(std::time::Duration::from_millis(300)).await;
                ended.fetch_add(1, Ordering::SeqCst);
                Ok(Json::empty_object())
            }
        })
    });
    let slow = "id: slow\nsteps: [{ id: a, type: local, config: { task: slow } }]";
    let slow = apply(&engine, slow).await;
    let id = crate::fixture::start(&engine, &slow, "{}").await;
    crate::fixture::within(async {
        while began.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    })
    .await;
    let cancel = Command::Cancel(Cancel::by(None));
    engine.executions().command(id, cancel).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    assert_eq!(
        ended.load(Ordering::SeqCst),
        0,
        "the task went on after the cancel"
    );
    engine.stop().await;
}
