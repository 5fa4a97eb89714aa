//! Bad input to webhooks, in their settings and in requests: a named field and a reason, logged, and
//! nothing started.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use refire_engine::clock::{Clock as _, SystemClock};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::server::{Server, send, until};
use crate::target::Target;
use crate::workflow::one_step;

const SECRET: &str = "a-secret-of-forty-bytes-for-these-tests!";
/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

async fn ready() -> (Server, Target) {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    (server, target)
}

async fn create(server: &Server, settings: &Value) -> Value {
    let request = server.request(Method::POST, "/api/workflows/w/triggers");
    send(request.body(settings.to_string())).await.expect(201)
}

fn code(text: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    let code = mac.finalize().into_bytes();
    code.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The one entry of the log, once it is there.
async fn logged(server: &Server, trigger: &Value, status: &str) -> Value {
    let path = format!("/api/triggers/{}/requests", trigger["id"].as_str().unwrap());
    let began = std::time::Instant::now();
    loop {
        let log = server.get(&path).await.expect(200);
        if let [entry] = log["items"].as_array().unwrap().as_slice() {
            assert_eq!(entry["status"], status, "{log:#}");
            assert_eq!(entry["execution_id"], json!(null), "{log:#}");
            return entry.clone();
        }
        assert!(began.elapsed() < PATIENCE, "{log:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn wrong_settings_are_told_by_their_field() {
    let (server, _target) = ready().await;
    let hmac = json!({"trigger_type": "webhook", "authentication": "hmac"});
    let with = |field: &str, value: Value| {
        let mut settings = hmac.clone();
        settings[field] = value;
        settings
    };
    let filter = |path: String| json!([{"json_path": path, "operator": "exists"}]);
    let parentheses = format!("$[?{}@.a{}]", "(".repeat(5_000), ")".repeat(5_000));
    for (settings, field, said) in [
        (with("secret", json!("")), "secret", "is empty"),
        (
            with("secret", json!("x".repeat(23))),
            "secret",
            "has 23 bytes, at least 24",
        ),
        (with("secret", json!(5)), "secret", "expected a string"),
        (
            with("filters", filter(parentheses)),
            "filters[0].json_path",
            "",
        ),
        (
            with("filters", filter("a.b".to_owned())),
            "filters[0].json_path",
            "",
        ),
        (
            with("filters", filter("$..*..*..*".to_owned())),
            "filters[0].json_path",
            "too costly",
        ),
        (
            with("ip_allow", json!(["10.0.0.0/33"])),
            "ip_allow[0]",
            "10.0.0.0/33",
        ),
        (
            with("rate_limit", json!({"per_second": 0})),
            "rate_limit.per_second",
            "",
        ),
        (with("timezone", json!("UTC")), "timezone", "unknown key"),
        (
            with("authentication", json!("hmak")),
            "authentication",
            "hmac",
        ),
        (with("tolerance", json!("0s")), "tolerance", ""),
    ] {
        let text = settings.to_string();
        let answer = server.post("/api/workflows/w/triggers", text).await;
        let problem = answer.problem(400, "RF0032");
        let errors = problem["errors"].as_array().unwrap();
        let error = errors.iter().find(|error| error["field"] == field);
        let error = error.unwrap_or_else(|| panic!("{field}: {problem:#}"));
        let text = format!("{} {}", error["message"], error["hint"]);
        assert!(text.contains(said) && text.len() < 1_000, "{error}");
        assert_eq!(error["line"], json!(1), "{error}");
        assert!(error["column"].as_u64().unwrap() > 1, "{error}");
    }
    assert_eq!(
        server.get("/api/triggers").await.expect(200)["items"],
        json!([])
    );
}

#[tokio::test]
async fn a_yaml_document_is_told_by_its_line() {
    let (server, _target) = ready().await;
    let yaml = "trigger_type: webhook\nauthentication: hmac\n# too short\nsecret: short\n";
    let problem = server.post("/api/workflows/w/triggers", yaml).await;
    let problem = problem.problem(400, "RF0032");
    let place = |error: &Value| (error["field"].clone(), error["line"].clone());
    assert_eq!(place(&problem["errors"][0]), (json!("secret"), json!(4)));
    let yaml = "trigger_type: webhook\nsecret: a-secret-that-is-long-enough\nauthentication: hmac\nfilters:\n  \
                - json_path: $.a\n    operator: like\n    value: 1\nip_allow: [nowhere]\n";
    let problem = server.post("/api/workflows/w/triggers", yaml).await;
    let problem = problem.problem(400, "RF0032");
    let places: Vec<_> = problem["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(place)
        .collect();
    assert_eq!(
        places,
        [
            (json!("filters[0].operator"), json!(6)),
            (json!("ip_allow[0]"), json!(8))
        ],
        "{problem:#}"
    );
}

#[tokio::test]
async fn a_signature_of_another_time_is_refused() {
    let (server, target) = ready().await;
    let body = r#"{"id":"evt_1"}"#;
    let now = SystemClock::new().now().as_millis() / 1_000;
    // A little less than the limit, so that the time that this test takes plays no part.
    for (at, is_taken) in [
        (now - 301, false),
        (now + 330, false),
        (now - 270, true),
        (now + 290, true),
    ] {
        let settings =
            json!({"trigger_type": "webhook", "authentication": "stripe", "secret": SECRET});
        let trigger = create(&server, &settings).await;
        let signed = format!("t={at},v1={}", code(&format!("{at}.{body}")));
        let url = trigger["webhook_url"].as_str().unwrap();
        let request = reqwest::Client::new().post(url).body(body);
        let request = request.header("content-type", "application/json");
        let answer = send(request.header("Stripe-Signature", signed)).await;
        if is_taken {
            assert_eq!(answer.expect(200)["status"], "triggered");
            continue;
        }
        answer.problem(401, "RF0051");
        let entry = logged(&server, &trigger, "auth_failed").await;
        let said = entry["error"].as_str().unwrap();
        let side = if at < now {
            " s ago"
        } else {
            "ahead of our clock"
        };
        assert!(
            said.contains(side) && said.contains("at most 300 s"),
            "{said}"
        );
    }
    until("they are called", || target.calls("/a").len() >= 2).await;
    assert_eq!(target.calls("/a").len(), 2);
}

#[tokio::test]
async fn a_costly_path_is_stopped() {
    let (server, target) = ready().await;
    let settings = json!({"trigger_type": "webhook", "authentication": "none",
        "filters": [{"json_path": "$..*..*", "operator": "equals", "value": "never"}]});
    let trigger = create(&server, &settings).await;
    // About 900 KB: lists in lists, so that each step finds nearly everything once more.
    let inner = format!("[{}]", ["[1,2,3,4]"; 30].join(","));
    let body = format!("[{}]", vec![inner; 3_000].join(","));
    let url = trigger["webhook_url"].as_str().unwrap();
    let began = std::time::Instant::now();
    let request = reqwest::Client::new().post(url).body(body);
    let answer = send(request.header("content-type", "application/json")).await;
    let problem = answer.problem(400, "RF0002");
    assert_eq!(problem["detail"], "the body could not be looked through");
    assert!(began.elapsed() < PATIENCE, "it is bounded");
    let entry = logged(&server, &trigger, "error").await;
    let said = entry["error"].as_str().unwrap();
    assert!(
        said.contains("filters[0]") || said.contains("$..*..*"),
        "{said}"
    );
    assert!(target.calls("/a").is_empty());
}

#[tokio::test]
async fn a_sender_is_not_told_what_the_filter_is() {
    let (server, target) = ready().await;
    let settings = json!({"trigger_type": "webhook", "authentication": "none",
        "filters": [{"json_path": "$.plan", "operator": "equals", "value": "gold-7731"}]});
    let trigger = create(&server, &settings).await;
    let url = trigger["webhook_url"].as_str().unwrap();
    let request = reqwest::Client::new().post(url).body(r#"{"plan":"free"}"#);
    let answer = send(request.header("content-type", "application/json")).await;
    let said = json!({"status": "filtered",
        "message": "the request was received and is not one that this webhook waits for"});
    assert_eq!(answer.expect(200), said);
    assert!(target.calls("/a").is_empty());
    // Who holds the key sees it: in the log, when it is checked again, and in the tester.
    let reason = r#"filter 1 ($.plan equals "gold-7731"): the value is "free""#;
    let entry = logged(&server, &trigger, "filtered").await;
    assert_eq!(entry["error"], reason);
    let path = format!("/api/triggers/{}", trigger["id"].as_str().unwrap());
    let again = format!("{path}/requests/{}/recheck", entry["id"].as_str().unwrap());
    let checked = server.post(&again, "").await.problem(409, "RF0039");
    assert_eq!(checked["detail"], reason);
    let test = json!({"body": {"plan": "free"}}).to_string();
    let tested = server.post(&format!("{path}/test"), test).await.expect(200);
    assert_eq!(tested["result"]["reason"], reason);
}

#[tokio::test]
async fn too_many_and_from_elsewhere_are_refused_and_logged() {
    let (server, target) = ready().await;
    let settings = json!({"trigger_type": "webhook", "authentication": "none",
        "rate_limit": {"per_second": 1, "burst": 1}, "filters": [{"json_path": "$.never", "operator": "exists"}]});
    let trigger = create(&server, &settings).await;
    let post = |trigger: &Value| {
        let request = reqwest::Client::new().post(trigger["webhook_url"].as_str().unwrap());
        send(
            request
                .header("content-type", "application/json")
                .body("{}"),
        )
    };
    let answers = futures_util::future::join_all((0..8).map(|_| post(&trigger))).await;
    let refused: Vec<_> = answers
        .iter()
        .filter(|answer| answer.status == 429)
        .collect();
    assert!(!refused.is_empty());
    for answer in refused {
        let after = answer.headers["retry-after"].to_str().unwrap();
        assert!(after.parse::<u64>().unwrap() >= 1, "{after}");
        assert_eq!(answer.json()["code"], "RF0054");
    }
    let elsewhere = json!({"trigger_type": "webhook", "authentication": "none", "ip_allow": ["203.0.113.0/24"]});
    let trigger = create(&server, &elsewhere).await;
    post(&trigger).await.problem(403, "RF0052");
    let entry = logged(&server, &trigger, "ip_refused").await;
    assert!(
        entry["error"].as_str().unwrap().contains("127.0.0.1"),
        "{entry}"
    );
    assert!(target.calls("/a").is_empty());
}

/// `curl -d` without a content type sends JSON as a form: it is read as one, and that is said.
#[tokio::test]
async fn json_that_is_sent_as_a_form_is_noted() {
    let (server, _target) = ready().await;
    let form = "application/x-www-form-urlencoded";
    let settings = json!({"trigger_type": "webhook", "authentication": "none"});
    let open = create(&server, &settings).await;
    let mut settings = settings;
    settings["filters"] = json!([{"json_path": "$.kind", "operator": "exists"}]);
    let filtering = create(&server, &settings).await;
    let hint = "looks like JSON; send it with Content-Type: application/json";
    let post = async |trigger: &Value| {
        let url = trigger["webhook_url"].as_str().unwrap();
        let request = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = request.post(url).header("content-type", form);
        send(request.body(r#"{"kind": "a"}"#)).await.expect(200)
    };
    assert_eq!(post(&filtering).await["status"], "filtered");
    let entry = logged(&server, &filtering, "filtered").await;
    assert!(entry["error"].as_str().unwrap().ends_with(hint), "{entry}");
    assert_eq!(post(&open).await["status"], "triggered");
    let path = format!("/api/triggers/{}/requests", open["id"].as_str().unwrap());
    let list = server.get(&path).await.expect(200);
    let id = list["items"][0]["id"].as_str().unwrap();
    let shown = server.get(&format!("{path}/{id}")).await.expect(200);
    assert!(shown["note"].as_str().unwrap().ends_with(hint), "{shown}");
}
