//! Tasks for workers, over HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use crate::server::Server;

/// A workflow of one task.
fn task(config: &str) -> String {
    format!(
        "id: w\nretry: {{initialDelay: 1s, jitter: none}}\nsteps:\n\
         \x20 - {{id: a, type: EXTERNAL_TASK, config: {{taskType: jira/create, {config}}}}}\n"
    )
}

async fn start(server: &Server) -> String {
    let started = server.post("/api/workflows/w/execute", r#"{"n":1}"#).await;
    started.json()["execution_id"].as_str().unwrap().to_owned()
}

/// The first task that a poll gets.
async fn poll(server: &Server, rest: &str) -> Value {
    let path = format!("/api/external-tasks/poll?workerId=w1&{rest}");
    let answer = server.get(&path).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()[0].clone()
}

fn path(task: &Value, call: &str) -> String {
    let (id, token) = (task["id"].as_str().unwrap(), task["lockToken"].as_str());
    format!(
        "/api/external-tasks/{id}/{call}?lockToken={}",
        token.unwrap()
    )
}

#[tokio::test]
async fn a_worker_that_waits_gets_a_task_at_once_and_does_it() {
    let server = Server::start().await;
    server
        .apply("w", &task("outputMapping: {id: $.result.id}"))
        .await;
    let (task, id) = tokio::join!(
        poll(&server, "taskType=other,jira/*&waitSeconds=20"),
        async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            start(&server).await
        }
    );
    assert_eq!(
        (&task["input"], &task["status"]),
        (&json!({"n":1}), &json!("LOCKED"))
    );
    assert_eq!(task["executionId"], id.as_str());
    let shown = server.get(&format!("/api/executions/{id}")).await.json();
    assert_eq!(shown["status"], "waiting");
    let output = r#"{"result":{"id":"OPS-1"}}"#;
    for again in [output, r#"{"result":2}"#] {
        let done = server.post(&path(&task, "complete"), again).await;
        assert_eq!((done.status, done.text.as_str()), (200, ""));
    }
    let events = server.event_types(&id).await;
    let expected = [
        "EXECUTION_STARTED",
        "STEP_SCHEDULED",
        "EXTERNAL_TASK_CREATED",
        "EXTERNAL_TASK_LOCKED",
        "STEP_STARTED",
        "STEP_COMPLETED",
        "EXECUTION_COMPLETED",
    ];
    assert_eq!(events, expected);
    let path = format!("/api/external-tasks/{}", task["id"].as_str().unwrap());
    let shown = server.get(&path).await.json();
    assert_eq!(shown["output"], json!({"result":{"id":"OPS-1"}}));
    assert_eq!(
        (&shown["status"], &shown["lockToken"]),
        (&json!("COMPLETED"), &Value::Null)
    );
}

#[tokio::test]
async fn who_does_not_have_it_cannot_report_it() {
    let server = Server::start().await;
    server
        .apply("w", &task("retries: 2, requireLockToken: true"))
        .await;
    start(&server).await;
    let first = poll(&server, "taskType=jira/create&waitSeconds=5").await;
    let id = first["id"].as_str().unwrap();
    let without = server
        .post(&format!("/api/external-tasks/{id}/complete"), "1")
        .await;
    assert_eq!(
        (without.status, &without.json()["code"]),
        (409, &json!("RF0042"))
    );
    let beat = r#"{"progress":50,"progressMessage":"half"}"#;
    assert_eq!(
        server.post(&path(&first, "heartbeat"), beat).await.status,
        200
    );
    assert_eq!(server.post(&path(&first, "unlock"), "").await.status, 200);
    let second = poll(&server, "taskType=jira/create&waitSeconds=5").await;
    assert_eq!(second["id"], first["id"]);
    assert_eq!(
        server.post(&path(&first, "complete"), "1").await.status,
        409,
        "an old token"
    );
    let failed = r#"{"message":"no room","stackTrace":"at a\nat b","retryAfterSeconds":0}"#;
    assert_eq!(
        server.post(&path(&second, "fail"), failed).await.status,
        200
    );
    let third = poll(&server, "taskType=jira/create&waitSeconds=20").await;
    assert_eq!(
        (&third["retryCount"], &third["errorMessage"]),
        (&json!(1), &json!("no room"))
    );
    let last = r#"{"message":"never","retryable":false}"#;
    assert_eq!(server.post(&path(&third, "fail"), last).await.status, 200);
    let letters = server.get("/api/dlq").await.json();
    assert_eq!(letters["items"][0]["reason"], "non_retryable");
    assert_eq!(
        server.post(&path(&third, "complete"), "1").await.status,
        409
    );
}

#[tokio::test]
async fn a_lost_worker_is_an_attempt() {
    let server = Server::start().await;
    server
        .apply("w", &task("retries: 1, lockDuration: 1s, timeout: 60s"))
        .await;
    let id = start(&server).await;
    let lost = poll(&server, "taskType=jira/create").await;
    let ended = format!("/api/executions/{id}?wait=20s");
    let ended = server.get(&ended).await.json();
    let mut status = ended["status"].clone();
    for _ in 0..100 {
        if status == "dlq" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        status = server.get(&format!("/api/executions/{id}")).await.json()["status"].clone();
    }
    assert_eq!(status, "dlq");
    let letters = server.get("/api/dlq").await.json();
    assert_eq!(letters["items"][0]["reason"], "lock_expired");
    assert_eq!(server.post(&path(&lost, "complete"), "1").await.status, 409);
}

#[tokio::test]
async fn what_is_wrong_with_a_poll_is_named() {
    let server = Server::start().await;
    for (query, field) in [
        ("", "taskType"),
        ("taskType=a*b", "taskType"),
        ("taskType=a&maxTasks=0", "maxTasks"),
        ("taskType=a&maxTasks=10000", "maxTasks"),
        ("taskType=a&waitSeconds=-1", "waitSeconds"),
        ("taskType=a&waitSeconds=301", "waitSeconds"),
    ] {
        let answer = server
            .get(&format!("/api/external-tasks/poll?{query}"))
            .await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
        assert_eq!(answer.json()["errors"][0]["field"], field, "{query}");
    }
    let none = server
        .get("/api/external-tasks/poll?taskType=a&waitSeconds=0")
        .await;
    assert_eq!((none.status, none.text.as_str()), (204, ""));
    let unknown = "/api/external-tasks/xt_00000000000000000000000000000/complete";
    assert_eq!(server.post(unknown, "1").await.status, 404);
}
