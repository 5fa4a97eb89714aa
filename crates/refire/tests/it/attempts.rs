//! The attempts of an execution: those that ended, the one under way, and the one to come.

use serde_json::{Value, json};

use crate::server::{Server, until};
use crate::target::Target;
use crate::workflow::two_steps;

async fn attempts(server: &Server, id: &str) -> Vec<Value> {
    let path = format!("/api/executions/{id}/attempts");
    let list = server.get(&path).await.expect(200);
    assert_eq!(list["next_cursor"], Value::Null);
    list["items"].as_array().unwrap().clone()
}

/// `a#1 failed`
fn told(attempts: &[Value]) -> Vec<String> {
    let told = attempts.iter().map(|one| {
        let word = |name: &str| one[name].as_str().unwrap().to_owned();
        format!("{}#{} {}", word("step_id"), one["attempt"], word("status"))
    });
    told.collect()
}

#[tokio::test]
async fn each_attempt_has_its_times_and_its_answer() {
    let (server, target) = (Server::start().await, Target::start().await);
    target.answers("/a", &[503]);
    let source = two_steps("w", &target.url("/a"), &target.url("/held")).replace("100ms", "1h");
    server.apply("w", &source).await;
    let id = server.execute("w", r#"{"name":"x"}"#).await;
    server.reaches(&id, "retrying").await;
    let two = attempts(&server, &id).await;
    assert_eq!(told(&two), ["first#1 failed", "first#2 planned"]);
    let (failed, planned) = (&two[0], &two[1]);
    assert_eq!(
        (
            &failed["error"]["type"],
            &failed["error"]["code"],
            &failed["retryable"]
        ),
        (&json!("http_status"), &json!("503"), &json!(true))
    );
    assert!(failed["response"].is_string(), "{failed}");
    assert!(failed["duration_ms"].is_u64() && failed["ended_at"].is_string());
    assert_eq!(planned["backoff_ms"], 3_600_000);
    assert!(planned["due_at"].is_string() && planned["started_at"].is_null());
    assert_eq!(planned["error"], Value::Null);
    let now = format!("/api/executions/{id}/retry-now");
    server.post(&now, "").await.expect(200);
    until("the second step is called", || {
        target.calls("/held").len() == 1
    })
    .await;
    let three = attempts(&server, &id).await;
    assert_eq!(
        told(&three),
        ["first#1 failed", "first#2 completed", "second#1 running"]
    );
    assert_eq!(
        (&three[0]["early"], &three[1]["early"]),
        (&json!(false), &json!(true))
    );
    let running = &three[2];
    let version = server.get("/version").await.expect(200);
    assert_eq!(running["node_id"], version["node_id"]);
    assert!(running["started_at"].is_string() && running["ended_at"].is_null());
    target.release();
    server.reaches(&id, "completed").await;
    let ended = told(&attempts(&server, &id).await);
    assert_eq!(ended[2], "second#1 completed");
    let unknown = "/api/executions/exec_00000000000000000000000000/attempts";
    server.get(unknown).await.problem(404, "RF0010");
}

#[tokio::test]
async fn tasks_tell_who_has_them() {
    let server = Server::start().await;
    let source = "id: w\nsteps:\n  - {id: a, type: external_task, config: {taskType: x}}\n";
    server.apply("w", source).await;
    let id = server.execute("w", "{}").await;
    let offered = attempts(&server, &id).await;
    assert_eq!(told(&offered), ["a#1 waiting"]);
    let poll = "/api/external-tasks/poll?taskType=x&workerId=anna";
    let task = server.get(poll).await.expect(200)[0].clone();
    let held = attempts(&server, &id).await;
    assert_eq!(told(&held), ["a#1 running"]);
    assert_eq!(
        (&held[0]["worker_id"], &held[0]["task_id"]),
        (&json!("anna"), &task["id"])
    );
    let token = task["lockToken"].as_str().unwrap();
    let task = task["id"].as_str().unwrap();
    let done = format!("/api/external-tasks/{task}/complete?lockToken={token}");
    assert_eq!(server.post(&done, "1").await.status, 200);
    let done = attempts(&server, &id).await;
    assert_eq!(told(&done), ["a#1 completed"]);
    assert_eq!(done[0]["worker_id"], "anna");
}
