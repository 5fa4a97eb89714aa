//! Handshakes of senders: answered as they ask, logged, and nothing is started.

use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use refire_engine::clock::{Clock as _, SystemClock};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::server::{Answer, Server, send};
use crate::target::Target;
use crate::workflow::one_step;

const SECRET: &str = "a-secret-of-forty-bytes-for-these-tests!";
/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

async fn ready(settings: Value) -> (Server, Target, Value) {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    let made = server.post("/api/workflows/w/triggers", settings.to_string());
    let trigger = made.await.expect(201);
    (server, target, trigger)
}

fn post(trigger: &Value, query: &str, body: &str) -> RequestBuilder {
    let url = format!("{}{query}", trigger["webhook_url"].as_str().unwrap());
    reqwest::Client::new().post(url).body(body.to_owned())
}

fn signed(trigger: &Value, body: &str, secret: &str) -> RequestBuilder {
    let at = SystemClock::new().now().as_millis() / 1_000;
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("v0:{at}:{body}").as_bytes());
    let code = mac.finalize().into_bytes();
    let code: String = code.iter().map(|byte| format!("{byte:02x}")).collect();
    post(trigger, "", body)
        .header("content-type", "application/json")
        .header("X-Slack-Request-Timestamp", at)
        .header("X-Slack-Signature", format!("v0={code}"))
}

/// The answer is what was asked for, and no browser takes it for anything but text.
#[track_caller]
fn answered(answer: &Answer, expected: &str) {
    assert_eq!((answer.status, answer.text.as_str()), (200, expected));
    assert_eq!(answer.headers["content-type"], "text/plain");
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
}

/// What the log says of so many requests, the newest first; nothing was started.
async fn logged(
    server: &Server,
    target: &Target,
    trigger: &Value,
    count: usize,
) -> Vec<(String, String)> {
    let path = format!("/api/triggers/{}/requests", trigger["id"].as_str().unwrap());
    let began = Instant::now();
    let log = loop {
        let log = server.get(&path).await.expect(200);
        if log["items"].as_array().unwrap().len() == count {
            break log;
        }
        assert!(began.elapsed() < PATIENCE, "{log:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let started = server.get("/api/executions").await.expect(200);
    assert_eq!(started["items"], json!([]));
    assert!(target.calls("/a").is_empty());
    let items = log["items"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    items
        .map(|item| (text(&item["status"]), text(&item["error"])))
        .collect()
}

#[tokio::test]
async fn slack_hears_its_challenge_if_it_signs() {
    let slack = json!({"trigger_type": "webhook", "authentication": "slack", "secret": SECRET});
    let (server, target, trigger) = ready(slack).await;
    let body = r#"{"token":"x","challenge":"3eZ<b>rw1aB","type":"url_verification"}"#;
    let answer = send(signed(&trigger, body, SECRET)).await;
    answered(&answer, "3eZ<b>rw1aB");
    // Asking again is no repeat of an event.
    answered(&send(signed(&trigger, body, SECRET)).await, "3eZ<b>rw1aB");
    let stranger = send(signed(
        &trigger,
        body,
        "another-secret-of-forty-bytes-for-tests!",
    ))
    .await;
    assert!(!stranger.text.contains("3eZ"), "{}", stranger.text);
    stranger.problem(401, "RF0051");
    let log = logged(&server, &target, &trigger, 3).await;
    let words: Vec<_> = log.iter().map(|(status, _)| status.as_str()).collect();
    assert_eq!(words, ["auth_failed", "filtered", "filtered"], "{log:?}");
    assert!(log[1].1.contains("handshake"), "{log:?}");
    let event = r#"{"type":"event_callback","event_id":"Ev1"}"#;
    let started = send(signed(&trigger, event, SECRET)).await.expect(200);
    assert_eq!(started["status"], "triggered", "events start executions");
}

#[tokio::test]
async fn microsoft_graph_hears_its_token() {
    let graph = json!({"trigger_type": "webhook", "authentication": "api_key",
        "challenge": "microsoft_graph", "secret": SECRET});
    let (server, target, trigger) = ready(graph).await;
    // As Graph does it: no key, no body.
    let query = "?validationToken=Validation%3A+Testing%20%3Cscript%3E";
    let asked = post(&trigger, query, "").header("content-type", "text/plain; charset=utf-8");
    answered(&send(asked).await, "Validation: Testing <script>");
    // Whoever brings a token and a body starts nothing with it.
    let both = post(&trigger, "?validationToken=t", r#"{"value":[]}"#);
    let both = both.header("content-type", "application/json");
    answered(&send(both).await, "t");
    for query in ["", "?validationToken=", "?validationtoken=t"] {
        let asked = post(&trigger, query, "{}").header("content-type", "application/json");
        send(asked).await.problem(401, "RF0051");
    }
    let log = logged(&server, &target, &trigger, 5).await;
    let words: Vec<_> = log.iter().map(|(status, _)| status.as_str()).collect();
    let refused = ["auth_failed"; 3];
    assert_eq!(words[..3], refused, "{log:?}");
    assert_eq!(words[3..], ["filtered", "filtered"], "{log:?}");
    assert!(log[4].1.contains("handshake"), "{log:?}");
}

#[tokio::test]
async fn who_was_not_asked_for_gets_no_handshake() {
    let plain = json!({"trigger_type": "webhook", "authentication": "hmac", "secret": SECRET});
    let (server, target, trigger) = ready(plain).await;
    let body = r#"{"challenge":"c","type":"url_verification"}"#;
    let asked = post(&trigger, "?validationToken=t", body);
    let asked = asked.header("content-type", "application/json");
    send(asked).await.problem(401, "RF0051");
    let log = logged(&server, &target, &trigger, 1).await;
    assert_eq!(log[0].0, "auth_failed", "{log:?}");
}
