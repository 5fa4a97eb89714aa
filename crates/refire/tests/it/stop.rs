//! Stopping in order.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::server::{Server, send, until};
use crate::target::Target;
use crate::workflow::one_step;

#[tokio::test]
async fn an_idle_server_stops_at_once() {
    let mut server = Server::start().await;
    let began = Instant::now();
    server.signal("TERM");
    assert_eq!(server.ended().await.code(), Some(0));
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    server.restart();
    server.get("/api/executions").await.expect(200);
    server.signal("INT");
    assert_eq!(server.ended().await.code(), Some(0));
}

#[tokio::test]
async fn a_busy_server_refuses_new_work_and_finishes_the_old() {
    let (mut server, target) = (Server::start().await, Target::start().await);
    server
        .apply("w", &one_step("w", &target.url("/held")))
        .await;
    let filters = json!([{"json_path": "$.a", "operator": "equals", "value": 1}]);
    let hook = json!({"trigger_type": "webhook", "authentication": "none", "filters": filters});
    let made = server.post("/api/workflows/w/triggers", hook.to_string());
    let made = made.await.expect(201);
    let hook = format!("/webhooks/{}", made["webhook_id"].as_str().unwrap());
    let id = server.execute("w", "{}").await;
    until("the call arrives", || target.calls("/held").len() == 1).await;
    let waiting = tokio::spawn(send(
        server.request(reqwest::Method::POST, "/api/workflows/w/execute?wait=60s"),
    ));
    until("the other call arrives", || {
        target.calls("/held").len() == 2
    })
    .await;
    server.signal("TERM");
    let waited = waiting.await.unwrap();
    assert_eq!(
        waited.status, 202,
        "who waits is told that it was accepted: {}",
        waited.text
    );
    let health = server.get("/readyz").await;
    assert_eq!(
        (health.status, &health.json()["status"]),
        (503, &"stopping".into())
    );
    let refused = server.post("/api/workflows/w/execute", "{}").await;
    assert_eq!(refused.headers["retry-after"], "1");
    refused.problem(503, "RF0027");
    // Also what would be filtered: nobody could write it down any more.
    for body in [r#"{"a":1}"#, r#"{"a":2}"#] {
        let refused = server.post(&hook, body).await;
        assert_eq!(refused.headers["retry-after"], "1");
        refused.problem(503, "RF0027");
    }
    target.release();
    assert_eq!(server.ended().await.code(), Some(0));
    let log = server.log();
    assert!(!log.contains("ERROR") && log.contains("RF0027"), "{log}");
    server.restart();
    let shown = server.reaches(&id, "completed").await;
    assert_eq!(
        shown["steps"][0]["attempts"], 1,
        "it was finished, not lost"
    );
    let other = waited.json()["execution_id"].as_str().unwrap().to_owned();
    server.reaches(&other, "completed").await;
    assert_eq!(target.calls("/held").len(), 2);
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let (mut server, target) = (Server::start().await, Target::start().await);
    server
        .apply("w", &one_step("w", &target.url("/held")))
        .await;
    server.execute("w", "{}").await;
    until("the call arrives", || target.calls("/held").len() == 1).await;
    server.signal("TERM");
    let stopping = || server.log().contains("stopping");
    until("it is stopping", stopping).await;
    let began = Instant::now();
    server.signal("INT");
    assert_eq!(server.ended().await.code(), Some(130));
    assert!(began.elapsed() < Duration::from_secs(3));
}
