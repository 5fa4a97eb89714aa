//! Names of requests: how long a webhook keeps them, and where the API keeps none.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Server, send};
use crate::target::Target;
use crate::workflow::one_step;

/// The shortest time that a webhook keeps names.
const SHORT: Duration = Duration::from_secs(60);

async fn ready() -> (Server, Target) {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    (server, target)
}

async fn create(server: &Server, settings: Value) -> Value {
    let made = server.post("/api/workflows/w/triggers", settings.to_string());
    made.await.expect(201)
}

/// What a request with this key gets: the word, and the execution.
async fn sent(trigger: &Value, key: &str) -> (String, String) {
    let request = reqwest::Client::new().post(trigger["webhook_url"].as_str().unwrap());
    let request = request
        .header("content-type", "application/json")
        .header("Idempotency-Key", key)
        .body(r#"{"n":1}"#);
    let answer = send(request).await.expect(200);
    let text = |field: &str| answer[field].as_str().unwrap().to_owned();
    (text("status"), text("execution_id"))
}

/// Lets all names be so much older.
async fn age(server: &Server, time: Duration) {
    let statement = format!(
        "UPDATE idempotency SET expires_at = expires_at - {}",
        time.as_micros()
    );
    server.database().change(&server.data(), &statement).await;
}

#[tokio::test]
async fn each_webhook_keeps_names_for_as_long_as_it_says() {
    let (server, _target) = ready().await;
    let window = |window: &str| json!({"trigger_type": "webhook", "authentication": "none", "idempotency_window": window});
    let short = create(&server, window("1m")).await;
    let long = create(&server, window("2m")).await;
    let usual = json!({"trigger_type": "webhook", "authentication": "none"});
    let usual = create(&server, usual).await;
    let all = [&short, &long, &usual];
    let mut first = Vec::new();
    for trigger in all {
        let (word, execution) = sent(trigger, "event-1").await;
        assert_eq!(word, "triggered", "each has names of its own");
        first.push(execution);
    }
    // Half of the shortest time: none of these requests can come after the end of it by itself.
    age(&server, SHORT / 2).await;
    for (trigger, execution) in all.into_iter().zip(&first) {
        let again = ("already_processed".to_owned(), execution.clone());
        assert_eq!(sent(trigger, "event-1").await, again);
    }
    age(&server, SHORT / 2).await;
    let (word, second) = sent(&short, "event-1").await;
    assert_eq!(word, "triggered", "its time is over");
    assert_ne!(second, first[0]);
    for (trigger, execution) in [(&short, &second), (&long, &first[1]), (&usual, &first[2])] {
        let again = ("already_processed".to_owned(), execution.clone());
        assert_eq!(sent(trigger, "event-1").await, again);
    }
    let week = Duration::from_secs(7 * 24 * 60 * 60);
    age(&server, week - SHORT * 2).await;
    let again = ("already_processed".to_owned(), first[2].clone());
    assert_eq!(sent(&usual, "event-1").await, again, "seven days");
    age(&server, SHORT).await;
    for trigger in all {
        assert_eq!(sent(trigger, "event-1").await.0, "triggered");
    }
}

#[tokio::test]
async fn a_window_has_bounds() {
    let (server, _target) = ready().await;
    for window in ["59s", "91d", "soon"] {
        let body = json!({"trigger_type": "webhook", "authentication": "none", "idempotency_window": window});
        let answer = server.post("/api/workflows/w/triggers", body.to_string());
        let problem = answer.await.problem(400, "RF0032");
        let field = &problem["errors"][0]["field"];
        assert_eq!(field, "idempotency_window", "{window}: {problem}");
    }
}

/// Where no key is kept, sending one is told rather than ignored: its sender counts on it.
#[tokio::test]
async fn a_key_that_would_not_be_kept_is_refused_by_name() {
    let (server, target) = ready().await;
    let webhook = json!({"trigger_type": "webhook", "authentication": "none"});
    let webhook = create(&server, webhook).await;
    let yearly = json!({"trigger_type": "cron", "cron_expression": "0 0 1 1 *"});
    let yearly = create(&server, yearly).await;
    let range = json!({"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"});
    let inside = json!({"headers": {"Idempotency-Key": "of-the-sender"}});
    for (trigger, what, body, said) in [
        (&yearly, "backfill", &range, "`only_missed`"),
        (&webhook, "test", &inside, "`headers` in the body"),
    ] {
        let path = format!("/api/triggers/{}/{what}", trigger["id"].as_str().unwrap());
        let ask = || server.request(Method::POST, &path).body(body.to_string());
        let refused = send(ask().header("Idempotency-Key", "mine")).await;
        let problem = refused.problem(400, "RF0003");
        let error = &problem["errors"][0];
        assert_eq!(error["field"], "Idempotency-Key", "{problem}");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("leave it out") && message.contains(said),
            "{message}"
        );
        assert!(target.calls("/a").is_empty());
        send(ask()).await.expect(200);
    }
    // The key of the request that was tried counts as its sender's would.
    let (word, _) = sent(&webhook, "of-the-sender").await;
    assert_eq!(word, "already_processed");
}
