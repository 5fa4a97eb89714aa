//! The way of an execution that goes well: started, run, shown.

use serde_json::json;

use crate::server::Server;
use crate::target::Target;
use crate::workflow::{one_step, two_steps};

#[tokio::test]
async fn an_execution_runs_its_steps_and_shows_everything() {
    let (server, target) = (Server::start().await, Target::start().await);
    target.says("/a", r#"{"n":12345678901234567890,"z":1,"a":1.50}"#);
    server
        .apply("w", &two_steps("w", &target.url("/a"), &target.url("/b")))
        .await;
    let answer = server
        .post(
            "/api/workflows/w/execute?wait=20s",
            r#"{"name":"x", "big": 1.500}"#,
        )
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(
        answer
            .text
            .contains(r#""input":{"name":"x", "big": 1.500}"#),
        "byte for byte"
    );
    let shown = answer.json();
    let id = shown["execution_id"].as_str().unwrap();
    assert_eq!(answer.headers["location"], format!("/api/executions/{id}"));
    for (field, expected) in [
        ("status", json!("completed")),
        ("workflow_id", json!("w")),
        ("workflow_version", json!(1)),
        ("error", json!(null)),
        ("retry_count", json!(0)),
        ("max_retries", json!(1)),
        ("trigger_type", json!("manual")),
        ("triggered_by", json!("admin")),
        ("priority", json!(5)),
    ] {
        assert_eq!(shown[field], expected, "{field}");
    }
    let steps = shown["steps"].as_array().unwrap();
    assert_eq!(
        (steps[0]["step_id"].as_str(), steps[1]["step_id"].as_str()),
        (Some("first"), Some("second"))
    );
    assert!(
        steps
            .iter()
            .all(|step| step["status"] == "completed" && step["attempts"] == 1)
    );
    assert_eq!(shown["output"], steps[1]["output"]);
    assert_eq!(
        target.calls("/b")[0].body,
        r#"{"from":{"n":12345678901234567890,"z":1,"a":1.50},"name":"x"}"#
    );
    let events = server.event_types(id).await;
    assert_eq!(
        events.first().map(String::as_str),
        Some("EXECUTION_STARTED")
    );
    assert_eq!(
        events.last().map(String::as_str),
        Some("EXECUTION_COMPLETED")
    );
}

#[tokio::test]
async fn what_is_optional_has_a_default() {
    let (server, target) = (Server::start().await, Target::start().await);
    let definition = format!(
        "id: w\nsteps:\n\
         - {{id: gift, type: http, when: '${{input.gift ?? false}}', config: {{url: '{}'}}}}\n\
         - {{id: call, type: http, config: {{method: POST, url: '{}?n=${{input.n ?? 1}}', \
         body: {{note: '${{input.note ?? \"-\"}}', n: '${{input.n ?? 1.50}}'}}}}}}\n",
        target.url("/gift"),
        target.url("/call"),
    );
    server.apply("w", &definition).await;
    for (input, body, gifts) in [
        ("{}", r#"{"note":"-","n":1.50}"#, 0),
        (
            r#"{"gift":true,"n":2,"note":null}"#,
            r#"{"note":null,"n":2}"#,
            1,
        ),
    ] {
        let ended = server
            .post("/api/workflows/w/execute?wait=20s", input)
            .await
            .expect(200);
        assert_eq!(ended["status"], "completed", "{ended:#}");
        assert_eq!(target.calls("/call").last().unwrap().body, body);
        assert_eq!(target.calls("/gift").len(), gifts);
    }
}

#[tokio::test]
async fn a_missing_secret_says_where_it_is_set() {
    let server = Server::start().await;
    let definition = one_step("w", "https://x.example/?key=${secret.NOPE}");
    server.apply("w", &definition).await;
    let ended = server
        .post("/api/workflows/w/execute?wait=20s", "")
        .await
        .expect(200);
    let message = ended["error"]["message"].as_str().unwrap();
    assert!(message.contains("set REFIRE_SECRET_NOPE in the server's environment"));
}

#[tokio::test]
async fn what_never_began_had_no_attempt() {
    let server = Server::start().await;
    server
        .apply("w", &one_step("w", "https://x.example/"))
        .await;
    let accepted = server
        .post("/api/workflows/w/execute?delay=1h", "")
        .await
        .expect(202);
    let id = accepted["execution_id"].as_str().unwrap();
    let path = format!("/api/executions/{id}/cancel");
    let cancelled = server.post(&path, "").await.expect(200);
    let step = &cancelled["steps"][0];
    assert_eq!(
        (&step["status"], &step["attempts"]),
        (&json!("cancelled"), &json!(0))
    );
}

#[tokio::test]
async fn a_call_that_a_cancel_aborted_counts_as_an_attempt() {
    let (server, target) = (Server::start().await, Target::start().await);
    server
        .apply("w", &one_step("w", &target.url("/held")))
        .await;
    let accepted = server
        .post("/api/workflows/w/execute", "")
        .await
        .expect(202);
    let id = accepted["execution_id"].as_str().unwrap();
    let running = server.reaches(id, "running").await;
    let path = format!("/api/executions/{id}/cancel");
    let cancelled = server.post(&path, "").await.expect(200);
    let step = &cancelled["steps"][0];
    assert_eq!(
        (&step["status"], &step["attempts"]),
        (&json!("cancelled"), &json!(1))
    );
    assert_eq!(step["started_at"], running["started_at"]);
    let events = format!("/api/executions/{id}/events?type=STEP_STARTED");
    let events = server.get(&events).await.expect(200);
    assert_eq!(events["items"][0]["attempt_number"], 1);
}

#[tokio::test]
async fn without_a_wait_or_when_it_is_over_the_answer_is_202() {
    let (server, target) = (Server::start().await, Target::start().await);
    server
        .apply("w", &one_step("w", &target.url("/held")))
        .await;
    let answer = server.post("/api/workflows/w/execute?wait=100ms", "").await;
    assert!(
        answer.headers["location"]
            .to_str()
            .unwrap()
            .starts_with("/api/executions/exec_")
    );
    let accepted = answer.expect(202);
    let id = accepted["execution_id"].as_str().unwrap();
    assert_eq!(accepted["status"], server.execution(id).await["status"]);
    assert_eq!(accepted["status"], "running", "as whoever looks sees it");
    let running = server.reaches(id, "running").await;
    assert_eq!(running["steps"][0]["status"], "running");
    assert_eq!(running["steps"][0]["attempts"], 1);
    assert_eq!(running["input"], json!({}), "an empty body is {{}}");
    let since = running["started_at"].as_str().expect("since when it runs");
    assert!(since >= running["created_at"].as_str().unwrap(), "{since}");
    assert_eq!(running["steps"][0]["started_at"], since);
    let listed = server.get("/api/executions").await.expect(200);
    assert_eq!(listed["items"][0]["started_at"], since);
    server
        .delete("/api/workflows/w")
        .await
        .problem(409, "RF0016");
    target.release();
    server.reaches(id, "completed").await;
    server.delete("/api/workflows/w").await.expect(200);
    server.get("/api/workflows/w").await.problem(404, "RF0008");
    server
        .post("/api/workflows/w/execute", "")
        .await
        .problem(404, "RF0008");
    assert_eq!(
        server.execution(id).await["status"],
        "completed",
        "executions stay"
    );
}

#[tokio::test]
async fn priority_and_delay_are_kept() {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    let path = "/api/workflows/w/execute?priority=1&delay=1h";
    let accepted = server.post(path, "[1]").await.expect(202);
    let id = accepted["execution_id"].as_str().unwrap();
    let shown = server.execution(id).await;
    assert_eq!(
        (&shown["status"], &shown["priority"]),
        (&json!("pending"), &json!(1))
    );
    assert!(shown["delay_until"].as_str().unwrap() > shown["created_at"].as_str().unwrap());
    assert_eq!(shown["steps"][0]["attempts"], 0);
    assert!(target.calls("/a").is_empty());
}

#[tokio::test]
async fn a_batch_has_a_result_for_each_item() {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    let items = json!([
        {"input": {"n": 1}, "idempotency_key": "k"},
        {"input": {"n": 1}, "idempotency_key": "k"},
        {"input": {"n": 2}, "idempotency_key": "k"},
        {"input": null},
        {"priority": 11, "delay": "soon"},
        {"colour": "red"},
        [1],
        {},
    ]);
    let path = "/api/workflows/w/execute-batch";
    let page = server.post(path, items.to_string()).await.expect(202);
    assert_eq!(page["next_cursor"], json!(null));
    let results = page["items"].as_array().unwrap();
    let first = &results[0]["accepted"];
    assert_eq!(first["status"], "pending");
    assert_eq!(
        results[1]["accepted"]["execution_id"],
        first["execution_id"]
    );
    assert_eq!(results[1]["accepted"]["duplicate"], true);
    let codes: Vec<_> = results[2..7]
        .iter()
        .map(|one| one["problem"]["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["RF0015", "RF0002", "RF0002", "RF0002", "RF0002"]);
    assert_eq!(results[4]["problem"]["errors"].as_array().unwrap().len(), 2);
    assert!(results[7]["accepted"]["execution_id"].is_string());
    let all = server.get("/api/executions").await.expect(200);
    assert_eq!(all["items"].as_array().unwrap().len(), 2);
    for body in [
        "{}",
        "[]",
        "null",
        "",
        &json!(vec![json!({}); 1_001]).to_string(),
    ] {
        server
            .post(path, body.to_owned())
            .await
            .problem(400, "RF0002");
    }
    server
        .post("/api/workflows/x/execute-batch", "[{}]")
        .await
        .problem(404, "RF0008");
    let many = json!(vec![json!({"delay": "1h"}); 1_000]).to_string();
    let page = server.post(path, many).await.expect(202);
    let ok = |one: &&serde_json::Value| one["accepted"]["execution_id"].is_string();
    assert_eq!(
        page["items"].as_array().unwrap().iter().filter(ok).count(),
        1_000
    );
}
