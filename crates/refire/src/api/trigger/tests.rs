//! Webhooks in this process: secrets that are told once, and the log of requests.

use axum::Router;
use http::StatusCode;
use refire_core::id::WebhookId;
use refire_engine::trigger::{Incoming, Received};
use refire_engine::vault::{MasterKey, Vault};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::tests::{app_of, ask, request};
use crate::api::{App, router};

const WORKFLOW: &str =
    "id: w\nsteps:\n  - {id: s, type: http, config: {url: \"http://127.0.0.1:1/\"}}\n";

/// A server with a master key and a workflow `w`.
async fn ready() -> (App, Router, TempDir) {
    let vault = Vault::new(MasterKey::new([7; 32]), None);
    let (app, directory) = app_of(|builder| builder.vault(vault)).await;
    let router = router(&app).unwrap();
    let saved = ask(&router, request("PUT", "/api/workflows/w", WORKFLOW)).await;
    assert_eq!(saved.0, StatusCode::OK, "{}", saved.1);
    (app, router, directory)
}

async fn post(router: &Router, path: &str, body: Value) -> (u16, Value) {
    let (status, answer) = ask(router, request("POST", path, body.to_string())).await;
    (status.as_u16(), answer)
}

async fn get(router: &Router, path: &str) -> Value {
    let (status, answer) = ask(router, request("GET", path, "")).await;
    assert_eq!(status, StatusCode::OK, "{path}: {answer}");
    answer
}

#[tokio::test]
async fn a_secret_is_told_once_and_can_be_changed() {
    let (_app, router, _directory) = ready().await;
    let body = json!({"trigger_type": "webhook", "authentication": "hmac"});
    let (status, made) = post(&router, "/api/workflows/w/triggers", body).await;
    assert_eq!(status, 201, "{made}");
    let secret = made["secret"].as_str().unwrap();
    assert!(secret.len() >= 24);
    let path = format!("/api/triggers/{}", made["id"].as_str().unwrap());
    assert!(get(&router, &path).await.get("secret").is_none());
    assert!(
        !get(&router, "/api/triggers")
            .await
            .to_string()
            .contains(secret)
    );
    let rotate = format!("{path}/rotate-secret");
    let (status, rotated) = post(&router, &rotate, json!({"keep_previous_for": "1h"})).await;
    assert_eq!(status, 200, "{rotated}");
    assert_ne!(rotated["secret"], made["secret"]);
    assert_eq!(rotated["version"], json!(2));
    let own = "a-secret-that-the-sender-has-chosen";
    let (_, given) = post(&router, &rotate, json!({ "secret": own })).await;
    assert_eq!(given["secret"], own);
    for (body, code, field) in [
        (json!({"secret": ""}), "RF0032", "secret"),
        (json!({"secret": "too short"}), "RF0032", "secret"),
        (
            json!({"keep_previous_for": "soon"}),
            "RF0002",
            "keep_previous_for",
        ),
        (
            json!({"keep_previous_for": "91d"}),
            "RF0002",
            "keep_previous_for",
        ),
    ] {
        let (status, problem) = post(&router, &rotate, body.clone()).await;
        let error = &problem["errors"][0];
        let found = (status, &problem["code"], &error["field"]);
        assert_eq!(found, (400, &json!(code), &json!(field)), "{body}");
    }
}

#[tokio::test]
async fn without_a_master_key_no_secret_is_kept() {
    let (app, _directory) = app_of(|builder| builder).await;
    let router = router(&app).unwrap();
    ask(&router, request("PUT", "/api/workflows/w", WORKFLOW)).await;
    let body = json!({"trigger_type": "webhook", "authentication": "hmac"});
    let (status, problem) = post(&router, "/api/workflows/w/triggers", body).await;
    assert_eq!((status, &problem["code"]), (500, &json!("RF0036")));
    assert_eq!(get(&router, "/api/triggers").await["items"], json!([]));
}

#[tokio::test]
async fn the_log_has_every_request_with_its_body() {
    let (app, router, _directory) = ready().await;
    let body = json!({"trigger_type": "webhook", "authentication": "none",
        "filters": [{"json_path": "$.kind", "operator": "equals", "value": "a"}]});
    let (_, trigger) = post(&router, "/api/workflows/w/triggers", body).await;
    let webhook: WebhookId = trigger["webhook_id"].as_str().unwrap().parse().unwrap();
    let send = async |body: &[u8]| {
        let incoming = Incoming {
            source: [127, 0, 0, 1].into(),
            query: String::new(),
            headers: vec![
                ("content-type".to_owned(), b"application/json".to_vec()),
                ("authorization".to_owned(), b"Bearer hidden".to_vec()),
            ],
            body: body.to_vec(),
            too_large: None,
            is_test: false,
        };
        app.engine.receive(webhook, &incoming).await.unwrap()
    };
    let Received::Triggered(execution) = send(br#"{"kind": "a"}"#).await else {
        panic!("it passes the filter");
    };
    assert!(matches!(
        send(br#"{"kind": "b"}"#).await,
        Received::Filtered(_)
    ));
    let path = format!("/api/triggers/{}/requests", trigger["id"].as_str().unwrap());
    // What started nothing is logged a little later, and nobody is told.
    let page = loop {
        let page = get(&router, &path).await;
        if page["items"].as_array().unwrap().len() == 2 {
            break page;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    let (filtered, triggered) = (&page["items"][0], &page["items"][1]);
    assert_eq!(filtered["status"], "filtered");
    assert!(filtered.get("body").is_none() && filtered.get("headers").is_none());
    assert_eq!(triggered["execution_id"], execution.to_string());
    assert_eq!(triggered["source_ip"], "127.0.0.1");
    let one = |row: &Value| format!("{path}/{}", row["id"].as_str().unwrap());
    let shown = get(&router, &one(filtered)).await;
    assert_eq!(shown["body"], json!({"kind": "b"}));
    assert_eq!(shown["body_encoding"], "json");
    let headers = json!([{"name": "content-type", "value": "application/json"},
        {"name": "authorization", "value": "[removed]"}]);
    assert_eq!(shown["headers"], headers);
    assert!(!shown.to_string().contains("sealed"));
    let shown = get(&router, &one(triggered)).await;
    assert_eq!(shown["body"], json!({"kind": "a"}), "the execution's input");
    for (query, count) in [
        ("status=filtered", 1),
        ("status=triggered,filtered", 2),
        ("test=true", 0),
        ("to=2020-01-01T00:00:00Z", 0),
    ] {
        let page = get(&router, &format!("{path}?{query}")).await;
        assert_eq!(page["items"].as_array().unwrap().len(), count, "{query}");
    }
}
