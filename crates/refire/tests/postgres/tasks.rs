//! Tasks on two nodes: what one makes a worker at the other does.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::nodes::two;
use crate::server::Server;

const SOURCE: &str = "id: w\nretry: {initialDelay: 1s, jitter: none}\nsteps:\n\
    \x20 - {id: a, type: external_task, config: {taskType: jira/create, retries: 2}}\n";

async fn poll(server: &Server, worker: &str, wait: u32) -> Value {
    let path =
        format!("/api/external-tasks/poll?taskType=jira/*&workerId={worker}&waitSeconds={wait}");
    let answer = server.get(&path).await;
    match answer.status {
        204 => json!([]),
        _ => answer.expect(200),
    }
}

fn path(task: &Value, call: &str) -> String {
    let (id, token) = (task["id"].as_str(), task["lockToken"].as_str());
    let (id, token) = (id.unwrap(), token.unwrap());
    format!("/api/external-tasks/{id}/{call}?lockToken={token}")
}

#[tokio::test]
async fn a_poll_at_one_gets_what_the_other_makes() {
    let (a, b) = two(&[]).await;
    a.apply("w", SOURCE).await;
    for round in 0..5 {
        let (waits, makes) = if round % 2 == 0 { (&a, &b) } else { (&b, &a) };
        let began = Instant::now();
        let (tasks, id) = tokio::join!(poll(waits, "w1", 20), async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            makes.execute("w", r#"{"n":1}"#).await
        });
        let waited = began.elapsed();
        assert!(waited < Duration::from_secs(10), "news wake it: {waited:?}");
        let task = &tasks[0];
        assert_eq!(task["executionId"], id.as_str());
        assert!(poll(makes, "w2", 0).await == json!([]), "one has it");
        let done = waits.post(&path(task, "complete"), r#"{"ok":true}"#).await;
        assert_eq!(done.status, 200, "{}", done.text);
        // The answer was lost, and the worker asks the other node.
        let again = makes.post(&path(task, "complete"), r#"{"ok":false}"#).await;
        assert_eq!(again.status, 200, "{}", again.text);
        makes.reaches(&id, "completed").await;
        let events = makes.event_types(&id).await;
        let completed = events.iter().filter(|it| *it == "STEP_COMPLETED").count();
        assert_eq!(completed, 1);
    }
    let listed = b
        .get("/api/external-tasks?status=COMPLETED")
        .await
        .expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn a_worker_may_go_on_at_the_other_node() {
    let (mut a, b) = two(&[]).await;
    a.apply("w", SOURCE).await;
    let id = a.execute("w", "{}").await;
    let first = poll(&a, "w1", 10).await[0].clone();
    let beat = b
        .post(&path(&first, "heartbeat"), r#"{"progress":50}"#)
        .await;
    assert_eq!(beat.status, 200, "{}", beat.text);
    let failed = b
        .post(&path(&first, "fail"), r#"{"message":"no room"}"#)
        .await;
    assert_eq!(failed.status, 200, "{}", failed.text);
    let late = a.post(&path(&first, "complete"), "1").await;
    late.problem(409, "RF0042");
    // The node that gave it out is gone; its locks are not.
    let second = poll(&a, "w1", 20).await[0].clone();
    assert_eq!(second["retryCount"], 1);
    a.signal("TERM");
    a.ended().await;
    let done = b.post(&path(&second, "complete"), "1").await;
    assert_eq!(done.status, 200, "{}", done.text);
    b.reaches(&id, "completed").await;
    let workers = b.get("/api/workers").await.expect(200);
    let worker = &workers["items"][0];
    assert_eq!(
        (&worker["workerId"], &worker["held"]),
        (&json!("w1"), &json!(0))
    );
    let counts = (&worker["tasksCompleted"], &worker["tasksFailed"]);
    assert_eq!(counts, (&json!(1), &json!(1)), "of both nodes: {worker:#}");
}

#[tokio::test]
async fn a_worker_removed_at_one_loses_what_it_fetched_at_the_other() {
    let (a, b) = two(&[]).await;
    a.apply("w", SOURCE).await;
    a.execute("w", "{}").await;
    let lost = poll(&a, "gone", 10).await[0].clone();
    let removed = b.delete("/api/workers/gone").await.expect(200);
    assert_eq!(removed["released"], 1);
    a.post(&path(&lost, "complete"), "1")
        .await
        .problem(409, "RF0042");
    let next = poll(&a, "next", 10).await[0].clone();
    assert_eq!((&next["id"], &next["retryCount"]), (&lost["id"], &json!(0)));
    let done = b.post(&path(&next, "complete"), "1").await;
    assert_eq!(done.status, 200, "{}", done.text);
}
