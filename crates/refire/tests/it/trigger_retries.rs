//! The retry settings of a trigger: over those of the workflow, under those of a step.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Server, send};
use crate::target::Target;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);
/// More failures than any execution here has attempts.
const FAILURES: [u16; 40] = [503; 40];
/// Retries of the workflow that is tried.
const OF_WORKFLOW: u64 = 1;

/// A workflow with one step, and what the step says of retries itself.
fn workflow(target: &Target, step: &str) -> String {
    format!(
        "id: w\nretry: {{ maxRetries: {OF_WORKFLOW}, initialDelay: 100ms, strategy: fixed, jitter: none }}\n\
         steps:\n  - id: call\n    type: http\n{step}    config: {{ method: POST, url: \"{}\" }}\n",
        target.url("/x")
    )
}

async fn create(server: &Server, settings: Value) -> Value {
    let made = server.post("/api/workflows/w/triggers", settings.to_string());
    made.await.expect(201)
}

/// The settings of each kind of trigger.
fn kinds() -> [Value; 3] {
    // What is skipped while the first still runs is not waited for.
    [
        json!({"trigger_type": "cron", "cron_expression": "* * * * * *", "overlap": "skip"}),
        json!({"trigger_type": "schedule", "every": "1s", "overlap": "skip"}),
        json!({"trigger_type": "webhook", "authentication": "none"}),
    ]
}

/// The id of the first execution that a trigger starts by itself.
async fn started(server: &Server, trigger: &Value) -> String {
    if let Some(url) = trigger["webhook_url"].as_str() {
        let request = reqwest::Client::new().post(url).body("{}");
        let answer = send(request.header("content-type", "application/json")).await;
        let answer = answer.expect(200);
        return answer["execution_id"].as_str().unwrap().to_owned();
    }
    let id = trigger["id"].as_str().unwrap();
    let path = format!("/api/triggers/{id}/slots?status=fired,late");
    let began = Instant::now();
    loop {
        let page = server.get(&path).await.expect(200);
        if let Some(first) = page["items"].as_array().unwrap().last() {
            return first["execution_id"].as_str().unwrap().to_owned();
        }
        assert!(began.elapsed() < PATIENCE, "nothing was started");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// An execution that failed for good has had these retries, and as many attempts and one.
async fn failed_after(server: &Server, id: &str, retries: u64, delay_ms: u64) {
    let shown = server.reaches(id, "dlq").await;
    assert_eq!(shown["max_retries"], retries, "{shown:#}");
    assert_eq!(shown["retry_count"], retries, "{shown:#}");
    assert_eq!(shown["steps"][0]["attempts"], retries + 1, "{shown:#}");
    if retries > 0 {
        assert_eq!(shown["retry_context"]["last_backoff_ms"], delay_ms);
    }
}

#[tokio::test]
async fn a_trigger_goes_over_the_workflow_key_by_key() {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &workflow(&target, "")).await;
    target.answers("/x", &FAILURES);
    for mut settings in kinds() {
        settings["retry"] = json!({"maxRetries": 3});
        let trigger = create(&server, settings).await;
        assert_eq!(trigger["retry"]["maxRetries"], 3, "{trigger}");
        let id = started(&server, &trigger).await;
        failed_after(&server, &id, 3, 100).await;
        let path = format!("/api/triggers/{}", trigger["id"].as_str().unwrap());
        server.delete(&path).await.expect(204);
        target.answers("/x", &FAILURES);
    }
    // Nobody else's executions are changed by it.
    let id = server.execute("w", "{}").await;
    failed_after(&server, &id, OF_WORKFLOW, 100).await;
}

#[tokio::test]
async fn a_trigger_may_want_no_retry_at_all() {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &workflow(&target, "")).await;
    target.answers("/x", &FAILURES);
    let webhook = json!({"trigger_type": "webhook", "authentication": "none", "retry": false});
    let trigger = create(&server, webhook).await;
    let id = started(&server, &trigger).await;
    failed_after(&server, &id, 0, 0).await;
    // Without one, the workflow's counts, also after a change.
    let path = format!("/api/triggers/{}", trigger["id"].as_str().unwrap());
    let unset = server
        .request(Method::PATCH, &path)
        .body(r#"{"retry":null}"#);
    let changed = send(unset).await.expect(200);
    assert_eq!(changed["retry"], json!(null));
    let id = started(&server, &changed).await;
    failed_after(&server, &id, OF_WORKFLOW, 100).await;
}

#[tokio::test]
async fn a_step_goes_over_the_trigger() {
    let (server, target) = (Server::start().await, Target::start().await);
    server
        .apply("w", &workflow(&target, "    retry: { maxRetries: 2 }\n"))
        .await;
    target.answers("/x", &FAILURES);
    for mut settings in kinds() {
        // What the step does not say, the trigger does.
        settings["retry"] = json!({"maxRetries": 4, "initialDelay": "200ms"});
        let trigger = create(&server, settings).await;
        let id = started(&server, &trigger).await;
        failed_after(&server, &id, 2, 200).await;
        let path = format!("/api/triggers/{}", trigger["id"].as_str().unwrap());
        server.delete(&path).await.expect(204);
        target.answers("/x", &FAILURES);
    }
}

#[tokio::test]
async fn what_is_wrong_with_it_is_told_by_its_field() {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &workflow(&target, "")).await;
    for mut settings in kinds() {
        settings["retry"] = json!({"maxRetries": 99});
        let answer = server.post("/api/workflows/w/triggers", settings.to_string());
        let problem = answer.await.problem(400, "RF0032");
        let field = &problem["errors"][0]["field"];
        assert_eq!(field, "retry.maxRetries", "{problem}");
    }
}
