//! What is kept, and for how long.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use refire_core::execution::Status;
use refire_core::id::TriggerId;
use refire_engine::caller::Caller;
use refire_engine::trigger::{Incoming, Received};
use refire_engine::{Engine, Retention};
use refire_store::{RequestFilter, Store};

use crate::fixture::{World, apply, run, started, within};
use crate::troubled::troubled;

const SOURCE: &str = r#"
id: w
steps:
  - { id: a, type: http, config: { method: POST, url: "https://t.example/a" } }
"#;

/// Requests of each webhook that stay.
const KEPT: usize = 3;

fn request(body: &str) -> Incoming {
    Incoming {
        source: Ipv4Addr::LOCALHOST.into(),
        query: String::new(),
        headers: vec![("content-type".to_owned(), b"application/json".to_vec())],
        body: body.as_bytes().to_vec(),
        unread: None,
        is_test: false,
    }
}

async fn logged(engine: &Engine, id: TriggerId) -> Vec<&'static str> {
    let all = RequestFilter::default();
    let rows = engine.store().requests(id, &all, None, 100).await.unwrap();
    rows.iter().map(|row| row.status.name()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_accepted_requests_the_newest_of_each_webhook_stay() {
    let world = World::new();
    let caller: Arc<dyn Caller> = world.targets.clone();
    let store: Arc<dyn Store> = troubled(&world);
    let retention = Retention {
        requests_max: KEPT as u32,
        every: Duration::from_millis(50),
        ..Retention::default()
    };
    let engine = started(Engine::builder(store).caller(caller).retention(retention));
    let workflow = apply(&engine, SOURCE).await;
    let hook = r#"{"trigger_type":"webhook","authentication":"none",
        "filters":[{"json_path":"$.n","operator":"exists"}]}"#;
    let made = engine.triggers().create(&workflow, hook).await.unwrap();
    let (id, webhook) = (made.view.row.id, made.view.row.webhook.unwrap());
    let filtered = engine
        .webhooks()
        .receive(webhook, &request("{}"))
        .await
        .unwrap();
    assert!(matches!(filtered, Received::Filtered(_)), "{filtered:?}");
    engine.webhooks().flush().await;
    for n in 0..10 {
        let body = format!(r#"{{"n":{n}}}"#);
        let received = engine
            .webhooks()
            .receive(webhook, &request(&body))
            .await
            .unwrap();
        assert!(matches!(received, Received::Triggered(_)), "{received:?}");
    }
    // What was refused is apart: it may be judged again.
    within(async {
        while logged(&engine, id).await != ["triggered", "triggered", "triggered", "filtered"] {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    engine.stop().await;
}

/// A server that is restarted often never runs for as long as there is between two looks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_look_comes_soon_after_the_start() {
    let world = World::new();
    let caller: Arc<dyn Caller> = world.targets.clone();
    let retention = Retention {
        completed: Some(Duration::ZERO),
        every: Duration::from_secs(3_600),
        first_within: Duration::from_millis(50),
        ..Retention::default()
    };
    let store: Arc<dyn Store> = troubled(&world);
    let before = started(Engine::builder(store).caller(Arc::clone(&caller)));
    let workflow = apply(&before, SOURCE).await;
    let done = run(&before, &workflow, "{}").await;
    assert_eq!(done.state.status, Status::Completed);
    before.stop().await;
    let store: Arc<dyn Store> = troubled(&world);
    let engine = started(Engine::builder(store).caller(caller).retention(retention));
    within(async {
        while engine.store().execution(done.id).await.unwrap().is_some() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    engine.stop().await;
}
