//! Settings before they are saved, and definitions that two people save at once.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Server, send};
use crate::workflow::one_step;

const URL: &str = "https://x.example/";

async fn ask(server: &Server, path: &str, body: &Value) -> Value {
    server.post(path, body.to_string()).await.expect(200)
}

fn fields(problem: &Value) -> Vec<&str> {
    let errors = problem["errors"].as_array().unwrap();
    errors
        .iter()
        .map(|one| one["field"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_schedule_says_when_it_would_fire() {
    let server = Server::start().await;
    let path = "/api/schedule/preview";
    let settings = json!({"trigger_type": "cron", "cron_expression": "30 2 * * *",
        "timezone": "america/new_york", "overlap": "skip", "input": {"n": 1},
        "from": "2026-03-07T12:00:00Z", "count": 2});
    let shown = ask(&server, path, &settings).await;
    assert_eq!(
        shown["description"],
        "At 02:30 every day (America/New_York)"
    );
    assert_eq!(shown["description_zh"], "每天 02:30（America/New_York）");
    assert_eq!(shown["timezone"], "America/New_York");
    assert_eq!(
        shown["next"],
        json!([
            {"at": "2026-03-08T07:00:00.000000Z", "local": "2026-03-08T03:00:00-04:00",
             "offset": "-04:00", "note": "02:30:00 does not exist on that day",
             "note_zh": "當天沒有 02:30:00"},
            {"at": "2026-03-09T06:30:00.000000Z", "local": "2026-03-09T02:30:00-04:00",
             "offset": "-04:00"},
        ])
    );
    let count = |name: &str| shown[name].as_array().unwrap().len();
    assert_eq!((count("notes"), count("notes_zh")), (1, 1), "{shown}");
    let yaml = "trigger_type: schedule\nevery: 90m\n";
    let shown = server.post(path, yaml).await.expect(200);
    assert_eq!(shown["next"].as_array().unwrap().len(), 10);
    let wrong = json!({"trigger_type": "cron", "cron_expression": "61 * * * *", "count": 101,
        "timezone": "Mars/Olympus", "colour": "red"});
    let problem = server
        .post(path, wrong.to_string())
        .await
        .problem(400, "RF0032");
    let mut named = fields(&problem);
    named.sort_unstable();
    assert_eq!(named, ["colour", "count", "cron_expression", "timezone"]);
    let zones = server.get("/api/time-zones").await.expect(200);
    let zones = zones["items"].as_array().unwrap();
    assert!(zones.len() > 400);
    let taipei = json!({"name": "Asia/Taipei", "offset": "+08:00", "offset_minutes": 480});
    assert!(zones.contains(&taipei));
    let triggers = server.get("/api/triggers").await.expect(200);
    assert_eq!(triggers["items"], json!([]), "nothing was made");
}

#[tokio::test]
async fn a_webhook_says_what_it_makes_of_a_sample() {
    let server = Server::start().await;
    let path = "/api/webhook/preview";
    let settings = json!({"trigger_type": "webhook", "authentication": "hmac", "filters": [
        {"json_path": "$.event", "operator": "equals", "value": "created"},
        {"json_path": "$.big", "operator": "exists"}]});
    let big = "x".repeat(5_000);
    let body = json!({"event": "closed", "big": big, "incident_id": "INC1"});
    let shown = ask(&server, path, &json!({"settings": settings, "body": body})).await;
    let first = json!({"json_path": "$.event", "operator": "equals", "value": "created",
        "found": "closed", "passed": false, "error": "the value is \"closed\""});
    assert_eq!(
        (&shown["conditions"][0], &shown["passed"]),
        (&first, &json!(false))
    );
    let second = &shown["conditions"][1];
    assert_eq!(
        (&second["value"], &second["passed"]),
        (&json!(null), &json!(true))
    );
    assert_eq!(second["found"].as_str().unwrap().chars().count(), 201);
    assert_eq!(shown["key_from"], "$.incident_id");
    assert!(
        shown["idempotency_key"]
            .as_str()
            .unwrap()
            .starts_with("INC1#")
    );
    let form = json!({"settings": settings, "body_text": "event=created&big=1",
        "content_type": "application/x-www-form-urlencoded", "headers": {"Idempotency-Key": "k"}});
    let shown = ask(&server, path, &form).await;
    let found = (
        &shown["passed"],
        &shown["idempotency_key"],
        &shown["key_from"],
    );
    assert_eq!(
        found,
        (&json!(true), &json!("k"), &json!("Idempotency-Key"))
    );
    let odd = json!({"settings": settings, "body_text": "<p>", "content_type": "text/html"});
    let shown = ask(&server, path, &odd).await;
    assert_eq!(
        (&shown["passed"], &shown["conditions"]),
        (&json!(false), &json!([]))
    );
    assert!(
        shown["error"].as_str().unwrap().contains("text/html"),
        "{shown}"
    );
}

#[tokio::test]
async fn settings_for_a_sample_are_checked_or_those_of_a_webhook() {
    let server = Server::start().await;
    server.apply("w", &one_step("w", URL)).await;
    let path = "/api/webhook/preview";
    let wrong = json!({"settings": {"filters": [{"json_path": "event", "operator": "is"}]}});
    let problem = server
        .post(path, wrong.to_string())
        .await
        .problem(400, "RF0032");
    let named = fields(&problem);
    assert!(named.contains(&"settings.authentication"), "{problem:#}");
    assert!(
        named.contains(&"settings.filters[0].operator"),
        "{problem:#}"
    );
    let nothing = server.post(path, "{}").await.problem(400, "RF0002");
    assert_eq!(fields(&nothing), ["settings"]);
    let unknown = json!({"trigger_id": "trg_nobody"});
    server
        .post(path, unknown.to_string())
        .await
        .problem(404, "RF0031");
    let settings = json!({"trigger_type": "webhook", "authentication": "hmac", "filters": [
        {"json_path": "$.event", "operator": "equals", "value": "created"},
        {"json_path": "$.big", "operator": "exists"}]});
    let made = server.post("/api/workflows/w/triggers", settings.to_string());
    let made = made.await.expect(201);
    let saved = json!({"trigger_id": made["id"], "body": {"event": "created", "big": null}});
    assert_eq!(ask(&server, path, &saved).await["passed"], true);
    let cron = json!({"trigger_type": "cron", "cron_expression": "0 0 1 1 *"});
    let cron = server.post("/api/workflows/w/triggers", cron.to_string());
    let other = json!({"trigger_id": cron.await.expect(201)["id"]});
    server
        .post(path, other.to_string())
        .await
        .problem(409, "RF0034");
    let log = format!("/api/triggers/{}/requests", made["id"].as_str().unwrap());
    assert_eq!(server.get(&log).await.expect(200)["items"], json!([]));
}

#[tokio::test]
async fn a_definition_is_saved_over_the_version_that_was_seen() {
    let server = Server::start().await;
    let (first, path) = (one_step("w", URL), "/api/workflows/w");
    let second = first.replace("maxRetries: 2", "maxRetries: 3");
    let put = |source: &str| server.request(Method::PUT, path).body(source.to_owned());
    send(put(&first).header("If-Match", "*"))
        .await
        .problem(412, "RF0048");
    let made = send(put(&first).header("If-None-Match", "*")).await;
    assert_eq!(made.headers["etag"], "\"1\"");
    made.expect(200);
    let again = send(put(&second).header("If-None-Match", "*")).await;
    assert_eq!(again.headers["etag"], "\"1\"");
    again.problem(412, "RF0048");
    assert_eq!(server.get(path).await.headers["etag"], "\"1\"");
    let saved = send(put(&second).header("If-Match", "\"1\"")).await;
    assert_eq!(saved.headers["etag"], "\"2\"");
    assert_eq!(saved.expect(200)["version"], 2);
    let late = send(put(&first).header("If-Match", "\"1\"")).await;
    assert_eq!(late.headers["etag"], "\"2\"");
    let problem = late.problem(412, "RF0048");
    let detail = "the workflow `w` has version 2 now, and not 1";
    assert_eq!(problem["detail"], detail);
    let both = put(&first)
        .header("If-Match", "*")
        .header("If-None-Match", "*");
    send(both).await.problem(400, "RF0003");
    send(put(&first).header("If-Match", "x"))
        .await
        .problem(400, "RF0003");
    let any = send(put(&first).header("If-Match", "*")).await;
    assert_eq!(any.expect(200)["version"], 3);
}
