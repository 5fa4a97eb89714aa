//! One event, sent to two nodes at the same instant: one execution.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::nodes::two;
use crate::server::send;
use crate::target::Target;
use crate::workflow::one_step;

/// Requests with one key.
const SENDERS: usize = 50;
/// Keys that are tried, one after the other.
const EVENTS: usize = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_requests_to_two_nodes_start_one_execution() {
    let (a, b) = two(&[]).await;
    let target = Target::start().await;
    a.apply("w", &one_step("w", &target.url("/a"))).await;
    let settings = json!({"trigger_type": "webhook", "authentication": "none"});
    let made = a.post("/api/workflows/w/triggers", settings.to_string());
    let trigger = made.await.expect(201);
    let webhook = trigger["webhook_id"].as_str().unwrap();
    let urls = [&a, &b].map(|node| format!("{}/webhooks/{webhook}", node.url));
    let http = reqwest::Client::new();
    for event in 0..EVENTS {
        let start = Arc::new(Barrier::new(SENDERS));
        let mut senders = JoinSet::new();
        for number in 0..SENDERS {
            let request = http
                .post(&urls[number % urls.len()])
                .header("content-type", "application/json")
                .header("Idempotency-Key", format!("event-{event}"))
                .body("{}");
            let start = Arc::clone(&start);
            senders.spawn(async move {
                start.wait().await;
                send(request).await.expect(200)
            });
        }
        let answers = senders.join_all().await;
        let said = |word: &str| answers.iter().filter(|one| one["status"] == word).count();
        assert_eq!(
            (said("triggered"), said("already_processed")),
            (1, SENDERS - 1),
            "{answers:#?}"
        );
        let id = answers[0]["execution_id"].as_str().unwrap();
        assert!(answers.iter().all(|one| one["execution_id"] == id));
        assert!(answers.iter().all(|one| one["body_differs"].is_null()));
        b.reaches(id, "completed").await;
    }
    let started = b.get("/api/executions?workflow=w").await.expect(200);
    assert_eq!(started["items"].as_array().unwrap().len(), EVENTS);
    assert_eq!(target.calls("/a").len(), EVENTS);
}
