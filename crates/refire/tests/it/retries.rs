//! Failures that come right, those that do not, and the time line of a policy.

use serde_json::json;

use crate::server::Server;
use crate::target::Target;
use crate::workflow::one_step;

#[tokio::test]
async fn a_failing_step_is_retried_until_it_succeeds() {
    let (server, target) = (Server::start().await, Target::start().await);
    target.answers("/a", &[503, 429]);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    let shown = server
        .post("/api/workflows/w/execute?wait=20s", "{}")
        .await
        .expect(200);
    assert_eq!(shown["status"], "completed");
    assert_eq!(
        (&shown["retry_count"], &shown["max_retries"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(
        shown["retry_context"],
        json!({"current_attempt": 3, "last_backoff_ms": 100})
    );
    let calls = target.calls("/a");
    assert_eq!(calls.len(), 3);
    assert!(calls[0].idempotency_key.is_some());
    assert!(
        calls
            .iter()
            .all(|call| call.idempotency_key == calls[0].idempotency_key)
    );
    let id = shown["execution_id"].as_str().unwrap();
    let path = format!("/api/executions/{id}/events?attempt=2&type=retry_scheduled");
    let events = server.get(&path).await.expect(200);
    let event = &events["items"][0];
    assert_eq!(
        (&event["attempt_number"], &event["backoff_delay_ms"]),
        (&json!(2), &json!(100))
    );
    assert_eq!(events["items"].as_array().unwrap().len(), 1);
    let retries = server.get("/api/retries").await.expect(200);
    let retried = &retries["items"][0];
    assert_eq!(retried["execution_id"], id);
    assert_eq!(
        (&retried["retry_count"], &retried["status"]),
        (&json!(2), &json!("completed"))
    );
    assert_eq!(
        (&retried["error_code"], &retried["step_id"]),
        (&json!("429"), &json!("call"))
    );
}

#[tokio::test]
async fn while_it_waits_it_says_until_when() {
    let (server, target) = (Server::start().await, Target::start().await);
    target.answers("/a", &[503]);
    let slow = one_step("w", &target.url("/a")).replace("100ms", "1h");
    server.apply("w", &slow).await;
    let id = server.execute("w", "{}").await;
    let shown = server.reaches(&id, "retrying").await;
    assert!(shown["next_retry_at"].as_str().unwrap() > shown["created_at"].as_str().unwrap());
    assert_eq!(shown["steps"][0]["status"], "retrying");
    assert_eq!(shown["steps"][0]["attempts"], 1);
    assert_eq!(shown["error"]["code"], "503");
    assert_eq!(shown["error"]["retryable"], true);
    let listed = server
        .get("/api/executions?status=retrying,paused")
        .await
        .expect(200);
    assert_eq!(listed["items"][0]["execution_id"], id.as_str());
    let none = server
        .get("/api/executions?status=running&status=completed")
        .await
        .expect(200);
    assert_eq!(none["items"], json!([]));
}

#[tokio::test]
async fn the_simulator_shows_the_time_line() {
    let server = Server::start().await;
    let shown = server.post("/api/retry/simulate", "").await.expect(200);
    let delays: Vec<_> = shown["retries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["delay_ms"].clone())
        .collect();
    assert_eq!(json!(delays), json!([2_000, 4_000, 8_000, 16_000, 32_000]));
    assert_eq!(shown["total_ms"], 62_000);
    for yaml in [
        "maxRetries: 2\nstrategy: linear\njitter: none\ninitialDelay: 3s\n",
        "max_retries: 2\nbackoff: linear\njitter_enabled: false\nbaseDelayMs: 3000\n",
    ] {
        let shown = server.post("/api/retry/simulate", yaml).await.expect(200);
        assert_eq!(
            shown["retries"][1],
            json!({"retry": 2, "delay_ms": 6_000, "min_ms": 6_000, "max_ms": 6_000, "at_ms": 9_000})
        );
    }
    let wrong = json!({"maxRetries": 99, "initialDelay": "5 parsecs", "colour": 1}).to_string();
    let problem = server
        .post("/api/retry/simulate", wrong)
        .await
        .problem(400, "RF0005");
    assert_eq!(problem["errors"].as_array().unwrap().len(), 3);
}
