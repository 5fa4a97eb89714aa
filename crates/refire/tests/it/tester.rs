//! Trying a webhook, checking refused requests again, and running a trigger by hand once.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Answer, Server, send, until};
use crate::target::Target;
use crate::workflow::one_step;

const SECRET: &str = "a-secret-of-forty-bytes-for-these-tests!";
/// A token as Teams issues it.
const TEAMS: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

async fn ready() -> (Server, Target) {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    (server, target)
}

async fn create(server: &Server, settings: Value) -> String {
    let answer = server.post("/api/workflows/w/triggers", settings.to_string());
    let trigger = answer.await.expect(201);
    trigger["id"].as_str().unwrap().to_owned()
}

async fn act(server: &Server, id: &str, what: &str, body: Value) -> Answer {
    let path = format!("/api/triggers/{id}/{what}");
    server.post(&path, body.to_string()).await
}

async fn test(server: &Server, id: &str, wish: Value) -> Value {
    act(server, id, "test", wish).await.expect(200)
}

/// The log, once it has so many entries.
async fn log(server: &Server, id: &str, count: usize) -> Vec<Value> {
    let path = format!("/api/triggers/{id}/requests");
    let began = Instant::now();
    loop {
        let log = server.get(&path).await.expect(200);
        let items = log["items"].as_array().unwrap();
        if items.len() == count {
            return items.clone();
        }
        assert!(began.elapsed() < PATIENCE, "{log:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn every_way_to_know_a_sender_is_signed_for_you() {
    let (server, target) = ready().await;
    let standard = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let hmac = json!({"authentication": "hmac", "secret": SECRET,
        "signature_header": "X-ServiceNow-Signature", "encoding": "base64"});
    for (settings, header, secret) in [
        (hmac, "X-ServiceNow-Signature", SECRET),
        (
            json!({"authentication": "standard_webhooks", "secret": standard}),
            "webhook-signature",
            standard,
        ),
        (
            json!({"authentication": "github", "secret": SECRET}),
            "X-Hub-Signature-256",
            SECRET,
        ),
        (
            json!({"authentication": "stripe", "secret": SECRET}),
            "Stripe-Signature",
            SECRET,
        ),
        (
            json!({"authentication": "slack", "secret": SECRET}),
            "X-Slack-Signature",
            SECRET,
        ),
        (
            json!({"authentication": "shopify", "secret": SECRET}),
            "X-Shopify-Hmac-Sha256",
            SECRET,
        ),
        (
            json!({"authentication": "teams", "secret": TEAMS}),
            "Authorization",
            TEAMS,
        ),
        (
            json!({"authentication": "api_key", "secret": SECRET}),
            "X-API-Key",
            SECRET,
        ),
        (
            json!({"authentication": "api_key", "signature_header": "Authorization", "secret": SECRET}),
            "Authorization",
            SECRET,
        ),
    ] {
        let mut settings = settings;
        settings["trigger_type"] = json!("webhook");
        let id = create(&server, settings.clone()).await;
        let path = format!("/api/triggers/{id}/test");
        let tested = server.post(&path, r#"{"body": {"n":  1.50}}"#).await;
        let tested = tested.expect(200);
        let result = &tested["result"];
        assert_eq!(
            (&result["status"], &result["http_status"]),
            (&json!("triggered"), &json!(200)),
            "{settings}: {tested:#}"
        );
        assert_eq!(result["reason"], json!(null));
        let sent = tested["sent"]["headers"].as_array().unwrap();
        assert!(sent.iter().any(|one| one["name"] == header), "{tested:#}");
        assert_eq!(tested["sent"]["body"], r#"{"n":  1.50}"#, "byte for byte");
        assert!(!tested.to_string().contains(secret), "{tested:#}");
        let entries = log(&server, &id, 1).await;
        assert_eq!(entries[0]["test"], json!(true));
        assert_eq!(entries[0]["id"], result["request_id"]);
        assert_eq!(entries[0]["execution_id"], result["execution_id"]);
        let path = format!(
            "/api/triggers/{id}/requests/{}",
            result["request_id"].as_str().unwrap()
        );
        let entry = server.get(&path).await.expect(200);
        assert!(!entry.to_string().contains(secret), "{entry:#}");
        let shown = server
            .reaches(result["execution_id"].as_str().unwrap(), "completed")
            .await;
        assert_eq!(shown["trigger_id"], id.as_str());
    }
    assert_eq!(target.calls("/a").len(), 9);
}

#[tokio::test]
async fn a_test_goes_the_way_of_every_request() {
    let (server, target) = ready().await;
    let id = create(
        &server,
        json!({"trigger_type": "webhook", "authentication": "hmac", "secret": SECRET,
            "filters": [{"json_path": "$.kind", "operator": "equals", "value": "a"}],
            "ip_allow": ["127.0.0.0/8", "203.0.113.0/24"]}),
    )
    .await;
    let passing = json!({"kind": "a", "idempotency_key": "k"});
    for (wish, status, http, said) in [
        (json!({"body": passing}), "triggered", 200, ""),
        (
            json!({"body": passing}),
            "duplicate",
            200,
            "was accepted before",
        ),
        (json!({"body": {"kind": "b"}}), "filtered", 200, "$.kind"),
        (json!({}), "filtered", 200, "$.kind"),
        (json!({"body_text": "{"}), "error", 400, "JSON"),
        (
            json!({"body_text": "kind=a", "content_type": "application/x-www-form-urlencoded"}),
            "triggered",
            200,
            "",
        ),
        (
            json!({"body_text": "<a/>", "content_type": "text/xml"}),
            "error",
            415,
            "text/xml",
        ),
        (
            json!({"body": passing, "headers": {"x-signature": "sha256=00"}}),
            "auth_failed",
            401,
            "X-Signature",
        ),
        (
            json!({"body": passing, "source_ip": "198.51.100.1"}),
            "ip_refused",
            403,
            "198.51.100.1",
        ),
    ] {
        let tested = test(&server, &id, wish.clone()).await;
        let result = &tested["result"];
        assert_eq!(
            (&result["status"], &result["http_status"]),
            (&json!(status), &json!(http)),
            "{wish}: {tested:#}"
        );
        let reason = result["reason"].as_str().unwrap_or_default();
        assert!(
            reason.contains(said) && reason.is_empty() == said.is_empty(),
            "{wish}: {reason}"
        );
    }
    let entries = log(&server, &id, 9).await;
    assert!(entries.iter().all(|entry| entry["test"] == json!(true)));
    act(&server, &id, "disable", json!({})).await.expect(200);
    let tested = test(&server, &id, json!({"body": passing})).await;
    assert_eq!(
        (
            &tested["result"]["status"],
            &tested["result"]["http_status"]
        ),
        (&json!("disabled"), &json!(404))
    );
    until("they are called", || target.calls("/a").len() >= 2).await;
    assert_eq!(target.calls("/a").len(), 2);
}

#[tokio::test]
async fn a_dry_run_signs_and_sends_nothing() {
    let (server, target) = ready().await;
    let id = create(
        &server,
        json!({"trigger_type": "webhook", "authentication": "slack", "secret": SECRET}),
    )
    .await;
    let signed = test(&server, &id, json!({"body": {"a": 1}, "dry_run": true})).await;
    assert_eq!(signed["result"], json!(null));
    assert!(signed["sent"]["valid_until"].is_string(), "{signed}");
    assert_eq!(log(&server, &id, 0).await.len(), 0);
    // What was signed is what a sender may send.
    let mut request = reqwest::Client::new().post(signed["sent"]["url"].as_str().unwrap());
    for header in signed["sent"]["headers"].as_array().unwrap() {
        request = request.header(
            header["name"].as_str().unwrap(),
            header["value"].as_str().unwrap(),
        );
    }
    let body = signed["sent"]["body"].as_str().unwrap().to_owned();
    assert_eq!(
        send(request.body(body)).await.expect(200)["status"],
        "triggered"
    );
    assert_eq!(log(&server, &id, 1).await[0]["test"], json!(false));
    until("they are called", || !target.calls("/a").is_empty()).await;
    assert_eq!(target.calls("/a").len(), 1);
}

#[tokio::test]
async fn what_cannot_be_tested_is_told() {
    let (server, _target) = ready().await;
    let cron = create(
        &server,
        json!({"trigger_type": "cron", "cron_expression": "0 0 1 1 *"}),
    )
    .await;
    let problem = act(&server, &cron, "test", json!({}))
        .await
        .problem(409, "RF0034");
    let detail = problem["detail"].as_str().unwrap();
    assert!(
        detail.contains(&format!("refire trigger run {cron}")),
        "{detail}"
    );
    act(&server, "trg_none", "test", json!({}))
        .await
        .problem(404, "RF0031");
    let id = create(
        &server,
        json!({"trigger_type": "webhook", "authentication": "none"}),
    )
    .await;
    for (wish, field) in [
        (json!({"body": 1, "body_text": "1"}), "body_text"),
        (json!({"headers": {"a b": "c"}}), "headers.a b"),
        (json!({"headers": {"a": "b\nc"}}), "headers.a"),
        (json!({"content_type": "a\nb"}), "content_type"),
        (json!({"source_ip": "here"}), "source_ip"),
    ] {
        let problem = act(&server, &id, "test", wish).await.problem(400, "RF0002");
        assert_eq!(problem["errors"][0]["field"], field);
    }
    act(&server, &id, "test", json!({"speed": 1}))
        .await
        .problem(400, "RF0002");
}

#[tokio::test]
async fn a_refused_request_runs_once_the_setting_is_mended() {
    let (server, target) = ready().await;
    let id = create(
        &server,
        json!({"trigger_type": "webhook", "authentication": "none",
            "filters": [{"json_path": "$.kind", "operator": "equals", "value": "a"}]}),
    )
    .await;
    test(&server, &id, json!({"body": {"kind": "b"}})).await;
    let request = log(&server, &id, 1).await[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let recheck = format!("requests/{request}/recheck");
    let refused = act(&server, &id, &recheck, json!({})).await;
    let refused = refused.problem(409, "RF0039");
    assert!(refused["detail"].as_str().unwrap().starts_with("filter 1 "));
    let path = format!("/api/triggers/{id}");
    let change = json!({"filters": [{"json_path": "$.kind", "operator": "equals", "value": "b"}]});
    send(
        server
            .request(Method::PATCH, &path)
            .body(change.to_string()),
    )
    .await
    .expect(200);
    let first = act(&server, &id, &recheck, json!({})).await.expect(200);
    assert_eq!(first["status"], "triggered");
    let again = act(&server, &id, &recheck, json!({})).await.expect(200);
    assert_eq!(
        (&again["status"], &again["execution_id"]),
        (&json!("already_processed"), &first["execution_id"])
    );
    server
        .reaches(first["execution_id"].as_str().unwrap(), "completed")
        .await;
    assert_eq!(target.calls("/a").len(), 1);
}

#[tokio::test]
async fn a_key_runs_a_trigger_once() {
    let (server, target) = ready().await;
    let id = create(
        &server,
        json!({"trigger_type": "cron", "cron_expression": "0 0 1 1 *", "input": {"n": 1}}),
    )
    .await;
    let run = |key: &str, body: &'static str| {
        let request = server.request(Method::POST, &format!("/api/triggers/{id}/run"));
        send(request.header("Idempotency-Key", key).body(body))
    };
    let answers = futures_util::future::join_all((0..10).map(|_| run("k", ""))).await;
    let ids: std::collections::HashSet<String> = answers
        .iter()
        .map(|answer| {
            assert_eq!(answer.status, 202, "{}", answer.text);
            answer.json()["execution_id"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(ids.len(), 1);
    let replayed = answers
        .iter()
        .filter(|answer| answer.headers.contains_key("idempotent-replayed"));
    assert_eq!(replayed.count(), 9);
    // The request is the same, whatever the trigger's own input is by then.
    let path = format!("/api/triggers/{id}");
    send(
        server
            .request(Method::PATCH, &path)
            .body(r#"{"input":{"n":2}}"#),
    )
    .await
    .expect(200);
    assert_eq!(run("k", "").await.expect(202)["duplicate"], json!(true));
    let problem = run("k", r#"{"n":3}"#).await.problem(409, "RF0015");
    assert!(
        problem["detail"]
            .as_str()
            .unwrap()
            .contains(ids.iter().next().unwrap())
    );
    run("", "").await.problem(400, "RF0003");
    // The keys of `execute` and of other triggers are others.
    let request = server.request(Method::POST, "/api/workflows/w/execute");
    let other = send(request.header("Idempotency-Key", "k"))
        .await
        .expect(202);
    assert!(!ids.contains(other["execution_id"].as_str().unwrap()));
    until("they are called", || target.calls("/a").len() >= 2).await;
    assert_eq!(target.calls("/a").len(), 2);
    let execution = server.execution(ids.iter().next().unwrap()).await;
    assert_eq!(execution["idempotency_key"], "k");
}

#[tokio::test]
async fn all_settings_can_be_replaced() {
    let (server, _target) = ready().await;
    let id = create(
        &server,
        json!({"trigger_type": "webhook", "authentication": "hmac", "secret": SECRET, "name": "x",
            "rate_limit": {"per_second": 5}}),
    )
    .await;
    let path = format!("/api/triggers/{id}");
    let put = |body: Value| send(server.request(Method::PUT, &path).body(body.to_string()));
    let same = put(
        json!({"trigger_type": "webhook", "authentication": "hmac", "signature_header": "X-S"}),
    )
    .await
    .expect(200);
    assert_eq!(
        (&same["name"], &same["rate_limit"], &same["version"]),
        (&json!(null), &json!(null), &json!(2))
    );
    assert_eq!(same["secret"], json!(null), "it stays");
    assert_eq!(
        test(&server, &id, json!({})).await["result"]["status"],
        "triggered"
    );
    let other = put(json!({"trigger_type": "webhook", "authentication": "github"}))
        .await
        .expect(200);
    assert!(other["secret"].is_string(), "another way, another secret");
    assert_eq!(
        test(&server, &id, json!({})).await["result"]["status"],
        "triggered"
    );
    let problem = put(json!({"trigger_type": "cron", "cron_expression": "* * * * *"}))
        .await
        .problem(400, "RF0032");
    assert_eq!(problem["errors"][0]["field"], "trigger_type");
    put(json!({"authentication": "none"}))
        .await
        .problem(400, "RF0032");
}
