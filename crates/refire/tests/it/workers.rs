//! Workers, as people see and remove them.

use serde_json::{Value, json};

use crate::server::Server;

const SOURCE: &str =
    "id: w\nsteps: [{id: a, type: external_task, config: {taskType: jira/create}}]";

async fn poll(server: &Server, worker: &str, more: &str) -> Value {
    let path = format!("/api/external-tasks/poll?taskType=jira/*,x&{worker}&{more}");
    let answer = server.get(&path).await;
    match answer.status {
        204 => json!([]),
        _ => answer.expect(200),
    }
}

async fn workers(server: &Server, query: &str) -> Vec<Value> {
    let page = server
        .get(&format!("/api/workers{query}"))
        .await
        .expect(200);
    page["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn workers_are_listed_with_what_they_have_and_did() {
    let server = Server::start().await;
    server.apply("w", SOURCE).await;
    for _ in 0..3 {
        server.execute("w", "{}").await;
    }
    let wait = "waitSeconds=10&maxTasks=2&workerType=n8n";
    let tasks = poll(&server, "workerId=n8n-1", wait).await;
    poll(&server, "workerId=", "waitSeconds=10").await;
    poll(&server, "workerId=a%2Fb%20%C3%A9", "waitSeconds=0").await;
    let (id, token) = (&tasks[0]["id"], &tasks[0]["lockToken"]);
    let (id, token) = (id.as_str().unwrap(), token.as_str().unwrap());
    let path = |call: &str| format!("/api/external-tasks/{id}/{call}?lockToken={token}");
    server.post(&path("heartbeat"), "").await.expect(200);
    server.post(&path("complete"), "{}").await.expect(200);
    let listed = workers(&server, "").await;
    let names: Vec<&Value> = listed.iter().map(|worker| &worker["workerId"]).collect();
    assert_eq!(names, ["a/b é", "n8n-1"], "by name, and nobody without one");
    let n8n = &listed[1];
    assert_eq!(n8n["workerType"], "n8n");
    assert_eq!(n8n["taskTypes"], json!(["x", "jira/*"]));
    assert_eq!(
        (&n8n["status"], &n8n["held"]),
        (&json!("ACTIVE"), &json!(1))
    );
    let counts = (&n8n["tasksCompleted"], &n8n["tasksFailed"]);
    assert_eq!(counts, (&json!(1), &json!(0)));
    for field in ["lastPollAt", "lastHeartbeatAt", "createdAt", "updatedAt"] {
        assert!(n8n[field].is_string(), "{field} in {n8n:#}");
    }
    assert!(!n8n.to_string().contains("lk_"), "no token is shown");
    assert_eq!(workers(&server, "?workerType=n8n").await.len(), 1);
    assert_eq!(workers(&server, "?q=N8N-").await.len(), 1);
    assert_eq!(workers(&server, "?status=ACTIVE,IDLE").await.len(), 2);
    assert!(workers(&server, "?status=DEAD").await.is_empty());
    let first = server.get("/api/workers?limit=1").await.expect(200);
    assert_eq!(first["items"][0]["workerId"], "a/b é");
    let next = first["nextCursor"].as_str().unwrap();
    let second = format!("/api/workers?limit=1&cursor={next}");
    let second = server.get(&second).await.expect(200);
    assert_eq!(second["items"][0]["workerId"], "n8n-1");
    assert_eq!(second["nextCursor"], Value::Null);
}

#[tokio::test]
async fn a_removed_worker_is_gone_and_its_tasks_are_free() {
    let mut server = Server::start().await;
    server.apply("w", SOURCE).await;
    server.execute("w", "{}").await;
    let lost = poll(&server, "workerId=a%2Fb", "waitSeconds=10").await;
    let removed = server.delete("/api/workers/a%2Fb").await.expect(200);
    assert_eq!(removed, json!({"workerId": "a/b", "released": 1}));
    let again = server.delete("/api/workers/a%2Fb").await;
    let said = again.problem(404, "RF0043");
    assert_eq!(said["detail"], "there is no worker `a/b`");
    let next = poll(&server, "workerId=next", "waitSeconds=10").await;
    assert_eq!(next[0]["id"], lost[0]["id"]);
    assert_eq!(next[0]["retryCount"], 0, "that is no attempt");
    let (id, token) = (&lost[0]["id"], &lost[0]["lockToken"]);
    let (id, token) = (id.as_str().unwrap(), token.as_str().unwrap());
    let late = format!("/api/external-tasks/{id}/complete?lockToken={token}");
    server.post(&late, "{}").await.problem(409, "RF0042");
    // What was seen of workers outlives the server.
    server.signal("TERM");
    assert_eq!(server.ended().await.code(), Some(0));
    server.restart();
    let listed = workers(&server, "").await;
    assert_eq!(listed.len(), 1);
    let (name, held) = (&listed[0]["workerId"], &listed[0]["held"]);
    assert_eq!((name, held), (&json!("next"), &json!(1)));
}

#[tokio::test]
async fn concurrency_that_does_not_count_tasks_is_noted() {
    let server = Server::start().await;
    let noted = server
        .apply("w", &format!("concurrency: {{max: 2}}\n{SOURCE}"))
        .await;
    let note = noted["notes"][0].as_str().unwrap();
    assert!(
        note.starts_with("concurrency: does not count external_task"),
        "{note}"
    );
    let plain = server.apply("w", SOURCE).await;
    assert_eq!(plain["notes"], json!([]));
    let id = server.execute("w", "{}").await;
    let listed = server
        .get("/api/executions?status=waiting")
        .await
        .expect(200);
    assert_eq!(listed["items"][0]["execution_id"], id.as_str());
    let refused = server.delete("/api/workflows/w").await;
    refused.problem(409, "RF0016");
}
