//! Webhooks in this process: secrets that are told once, and the log of requests.

use http::StatusCode;
use refire_core::id::{TriggerId, WebhookId};
use refire_engine::trigger::{Incoming, Received};
use refire_engine::vault::{MasterKey, Resealed, Vault};
use refire_store::{Batch, ChangeTrigger, Part, PartOutcome};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::tests::{app_of, ask, engine_in, request};
use crate::api::{Api, App};

const WORKFLOW: &str =
    "id: w\nsteps:\n  - {id: s, type: http, config: {url: \"http://127.0.0.1:1/\"}}\n";

/// A server with a master key and a workflow `w`.
async fn ready() -> (App, Api, TempDir) {
    let vault = Vault::new(MasterKey::new([7; 32]), None);
    let (app, directory) = app_of(|builder| builder.vault(vault)).await;
    let api = Api::new(&app).unwrap();
    let saved = ask(&api, request("PUT", "/api/workflows/w", WORKFLOW)).await;
    assert_eq!(saved.0, StatusCode::OK, "{}", saved.1);
    (app, api, directory)
}

async fn post(api: &Api, path: &str, body: Value) -> (u16, Value) {
    let (status, answer) = ask(api, request("POST", path, body.to_string())).await;
    (status.as_u16(), answer)
}

async fn get(api: &Api, path: &str) -> Value {
    let (status, answer) = ask(api, request("GET", path, "")).await;
    assert_eq!(status, StatusCode::OK, "{path}: {answer}");
    answer
}

#[tokio::test]
async fn a_secret_is_told_once_and_can_be_changed() {
    let (_app, api, _directory) = ready().await;
    let body = json!({"trigger_type": "webhook", "authentication": "hmac"});
    let (status, made) = post(&api, "/api/workflows/w/triggers", body).await;
    assert_eq!(status, 201, "{made}");
    let secret = made["secret"].as_str().unwrap();
    assert!(secret.len() >= 24);
    let path = format!("/api/triggers/{}", made["id"].as_str().unwrap());
    assert!(get(&api, &path).await.get("secret").is_none());
    assert!(
        !get(&api, "/api/triggers")
            .await
            .to_string()
            .contains(secret)
    );
    let rotate = format!("{path}/rotate-secret");
    let (status, rotated) = post(&api, &rotate, json!({"keep_previous_for": "1h"})).await;
    assert_eq!(status, 200, "{rotated}");
    assert_ne!(rotated["secret"], made["secret"]);
    assert_eq!(rotated["version"], json!(2));
    let own = "a-secret-that-the-sender-has-chosen";
    // The first one was promised to be good for an hour.
    let until = &get(&api, &path).await["previous_secret_until"];
    let (status, refused) = post(&api, &rotate, json!({ "secret": own })).await;
    assert_eq!((status, &refused["code"]), (409, &json!("RF0040")));
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains(until.as_str().unwrap()), "{detail}");
    assert_eq!(get(&api, &path).await["version"], json!(2));
    // Who keeps no old one lets all of them end.
    let body = json!({"secret": own, "keep_previous_for": "0s"});
    let (_, given) = post(&api, &rotate, body).await;
    assert_eq!(given["secret"], own);
    let shown = get(&api, &path).await;
    assert!(shown.get("previous_secret_until").is_none(), "{shown}");
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
        let (status, problem) = post(&api, &rotate, body.clone()).await;
        let error = &problem["errors"][0];
        let found = (status, &problem["code"], &error["field"]);
        assert_eq!(found, (400, &json!(code), &json!(field)), "{body}");
    }
}

#[tokio::test]
async fn a_change_of_nothing_is_no_version_and_what_is_unset_must_be_there() {
    let (_app, api, _directory) = ready().await;
    let body = json!({"trigger_type": "webhook", "authentication": "none", "ip_allow": ["::1"]});
    let (_, made) = post(&api, "/api/workflows/w/triggers", body).await;
    let path = format!("/api/triggers/{}", made["id"].as_str().unwrap());
    let patch = async |body: Value| {
        let (status, answer) = ask(&api, request("PATCH", &path, body.to_string())).await;
        (status.as_u16(), answer)
    };
    for same in [
        json!({}),
        json!({"enabled": true, "ip_allow": ["::1"]}),
        json!({"filters": null}),
    ] {
        let (status, answer) = patch(same.clone()).await;
        let found = (status, &answer["version"], &answer["unchanged"]);
        assert_eq!(found, (200, &json!(1), &json!(true)), "{same}");
    }
    for (body, field, hint) in [
        (
            json!({"ip-allow": null}),
            "ip-allow",
            "did you mean \"ip_allow\"?",
        ),
        (
            json!({"filter": null}),
            "filter",
            "did you mean \"filters\"?",
        ),
        (json!({"secret": null}), "secret", "rotate it, or set"),
    ] {
        let (status, problem) = patch(body.clone()).await;
        let error = &problem["errors"][0];
        assert_eq!((status, &error["field"]), (400, &json!(field)), "{problem}");
        assert!(
            error["hint"].as_str().unwrap().starts_with(hint),
            "{problem}"
        );
    }
    let (_, changed) = patch(json!({"ip_allow": null})).await;
    assert_eq!(changed["version"], json!(2));
    assert!(changed.get("unchanged").is_none() && changed.get("ip_allow").is_none());
}

#[tokio::test]
async fn planned_times_of_the_past_are_refused_when_they_are_new() {
    let (_app, api, _directory) = ready().await;
    let path = "/api/workflows/w/triggers";
    let past = json!({"trigger_type": "schedule", "at": "2020-01-01T00:00:00Z"});
    let (status, problem) = post(&api, path, past).await;
    let found = (status, &problem["errors"][0]["field"]);
    assert_eq!(found, (400, &json!("at")), "{problem}");
    let hourly = json!({"trigger_type": "cron", "cron_expression": "0 * * * *"});
    let (_, made) = post(&api, path, hourly).await;
    let path = format!("/api/triggers/{}", made["id"].as_str().unwrap());
    let end = json!({"end": "2026-01-01T00:00:00Z"}).to_string();
    let (status, problem) = ask(&api, request("PATCH", &path, end)).await;
    let found = (status.as_u16(), &problem["errors"][0]["field"]);
    assert_eq!(found, (400, &json!("end")), "{problem}");
}

#[tokio::test]
async fn what_a_deleted_workflow_leaves_says_so() {
    let (_app, api, _directory) = ready().await;
    let body = json!({"trigger_type": "webhook", "authentication": "none"});
    let (_, made) = post(&api, "/api/workflows/w/triggers", body.clone()).await;
    post(&api, "/api/workflows/w/triggers", body).await;
    let path = format!("/api/triggers/{}", made["id"].as_str().unwrap());
    assert!(get(&api, &path).await.get("workflow_deleted").is_none());
    let (status, deleted) = ask(&api, request("DELETE", "/api/workflows/w", "")).await;
    let expected = json!({"workflow_id": "w", "deleted": true, "triggers_disabled": 2});
    assert_eq!((status, deleted), (StatusCode::OK, expected));
    let shown = get(&api, &path).await;
    let found = (&shown["enabled"], &shown["workflow_deleted"]);
    assert_eq!(found, (&json!(false), &json!(true)));
    let (_, saved) = ask(&api, request("PUT", "/api/workflows/w", WORKFLOW)).await;
    let note = saved["notes"][0].as_str().unwrap();
    assert!(note.starts_with("2 of its triggers are disabled"), "{note}");
    let shown = get(&api, &path).await;
    assert!(shown.get("workflow_deleted").is_none(), "{shown}");
}

#[tokio::test]
async fn without_a_master_key_no_secret_is_kept() {
    let (app, _directory) = app_of(|builder| builder).await;
    let api = Api::new(&app).unwrap();
    ask(&api, request("PUT", "/api/workflows/w", WORKFLOW)).await;
    let body = json!({"trigger_type": "webhook", "authentication": "hmac"});
    let (status, problem) = post(&api, "/api/workflows/w/triggers", body).await;
    assert_eq!((status, &problem["code"]), (500, &json!("RF0036")));
    assert_eq!(get(&api, "/api/triggers").await["items"], json!([]));
}

#[tokio::test]
async fn the_log_has_every_request_with_its_body() {
    let (app, api, _directory) = ready().await;
    let body = json!({"trigger_type": "webhook", "authentication": "none",
        "filters": [{"json_path": "$.kind", "operator": "equals", "value": "a"}]});
    let (_, trigger) = post(&api, "/api/workflows/w/triggers", body).await;
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
            unread: None,
            is_test: false,
        };
        app.engine
            .webhooks()
            .receive(webhook, &incoming)
            .await
            .unwrap()
    };
    let Received::Triggered(execution) = send(br#"{"kind": "a"}"#).await else {
        panic!("it passes the filter");
    };
    assert!(matches!(
        send(br#"{"kind": "b"}"#).await,
        Received::Filtered(_)
    ));
    let path = format!("/api/triggers/{}/requests", trigger["id"].as_str().unwrap());
    // What was answered is in the log.
    let page = get(&api, &path).await;
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    let (filtered, triggered) = (&page["items"][0], &page["items"][1]);
    assert_eq!(filtered["status"], "filtered");
    assert!(filtered.get("body").is_none() && filtered.get("headers").is_none());
    assert_eq!(triggered["execution_id"], execution.to_string());
    assert_eq!(triggered["source_ip"], "127.0.0.1");
    let one = |row: &Value| format!("{path}/{}", row["id"].as_str().unwrap());
    let shown = get(&api, &one(filtered)).await;
    assert_eq!(shown["body"], json!({"kind": "b"}));
    assert_eq!(shown["body_encoding"], "json");
    let headers = json!([{"name": "content-type", "value": "application/json"},
        {"name": "authorization", "value": "[removed]"}]);
    assert_eq!(shown["headers"], headers);
    assert!(!shown.to_string().contains("sealed"));
    let shown = get(&api, &one(triggered)).await;
    assert_eq!(shown["body"], json!({"kind": "a"}), "the execution's input");
    for (query, count) in [
        ("status=filtered", 1),
        ("status=triggered,filtered", 2),
        ("test=true", 0),
        ("to=2020-01-01T00:00:00Z", 0),
    ] {
        let page = get(&api, &format!("{path}?{query}")).await;
        assert_eq!(page["items"].as_array().unwrap().len(), count, "{query}");
    }
}

/// Puts settings into the store as no request could.
async fn store(app: &App, trigger: &Value, settings: &str) {
    let id: TriggerId = trigger["id"].as_str().unwrap().parse().unwrap();
    let store = app.engine.store();
    let row = store.trigger(id).await.unwrap().unwrap();
    let change = ChangeTrigger {
        id,
        workflow: row.workflow,
        version: row.version,
        enabled: row.enabled,
        settings: settings.as_bytes().to_vec(),
        secrets: row.secrets,
        state: None,
    };
    let batch = Batch {
        commit_id: [row.version.to_be_bytes()[3]; 16],
        lease: None,
        now: app.engine.now(),
        parts: vec![Part::ChangeTrigger(Box::new(change))],
    };
    let written = store.commit(&batch).await.unwrap();
    assert!(matches!(written[..], [PartOutcome::Done]), "{written:?}");
}

#[tokio::test]
async fn a_trigger_that_cannot_be_read_any_more_says_so_and_is_mended() {
    let (app, api, _directory) = ready().await;
    let good =
        json!({"trigger_type": "cron", "cron_expression": "0 9 * * *", "timezone": "Asia/Taipei"});
    let (_, trigger) = post(&api, "/api/workflows/w/triggers", good.clone()).await;
    let path = format!("/api/triggers/{}", trigger["id"].as_str().unwrap());
    let vanished =
        r#"{"trigger_type":"cron","cron_expression":"0 9 * * *","timezone":"Mars/Olympus"}"#;
    let unknown = r#"{"trigger_type":"cron","cron_expression":"0 9 * * *","timezone":"Asia/Taipei","speed":3}"#;
    let change = |method: &'static str, body: Value| {
        let api = api.clone();
        let path = path.clone();
        async move { ask(&api, request(method, &path, body.to_string())).await }
    };
    for (stored, said, method, mend) in [
        (
            vanished,
            "timezone: `Mars/Olympus`",
            "PATCH",
            json!({"timezone": "Asia/Taipei"}),
        ),
        (
            unknown,
            "speed: unknown key",
            "PATCH",
            json!({"speed": null}),
        ),
        (vanished, "timezone: `Mars/Olympus`", "PUT", good.clone()),
        ("not: {JSON", "", "PUT", good.clone()),
    ] {
        store(&app, &trigger, stored).await;
        let shown = get(&api, &path).await;
        assert!(
            shown["problem"].as_str().unwrap().starts_with(said),
            "{shown}"
        );
        let listed = get(&api, "/api/triggers").await;
        assert_eq!(listed["items"][0]["problem"], shown["problem"]);
        assert_eq!(shown["next_execution"], json!(null));
        let (status, problem) = change("PATCH", json!({"name": "x"})).await;
        assert_eq!(status.as_u16(), 400, "{problem}");
        assert_eq!(problem["code"], "RF0032");
        assert_eq!(
            problem["errors"][0].get("line"),
            None,
            "not in what was sent"
        );
        let (status, mended) = change(method, mend).await;
        assert_eq!(status.as_u16(), 200, "{stored}: {mended}");
        assert_eq!(
            (&mended["problem"], &mended["timezone"]),
            (&json!(null), &json!("Asia/Taipei"))
        );
        assert!(mended["next_execution"].is_string(), "{mended}");
    }
}

#[tokio::test]
async fn a_mended_webhook_keeps_its_address_and_its_secret() {
    let (app, api, _directory) = ready().await;
    let good = json!({"trigger_type": "webhook", "authentication": "hmac"});
    let mut first = good.clone();
    first["secret"] = json!("a secret that is no base64 at all");
    let (_, trigger) = post(&api, "/api/workflows/w/triggers", first).await;
    let path = format!("/api/triggers/{}", trigger["id"].as_str().unwrap());
    store(
        &app,
        &trigger,
        r#"{"trigger_type":"webhook","authentication":"hmac","speed":3}"#,
    )
    .await;
    let test = format!("{path}/test");
    let (status, problem) = post(&api, &test, json!({})).await;
    assert_eq!(
        (status, &problem["code"]),
        (400, &json!("RF0032")),
        "{problem}"
    );
    let (status, mended) = ask(&api, request("PUT", &path, good.to_string())).await;
    assert_eq!(status.as_u16(), 200, "{mended}");
    assert_eq!(mended["webhook_id"], trigger["webhook_id"]);
    assert!(mended.get("secret").is_none(), "the old one is good");
    let (_, tested) = post(&api, &test, json!({})).await;
    assert_eq!(tested["result"]["status"], "triggered", "{tested}");
    store(&app, &trigger, "{}").await;
    let other = json!({"trigger_type": "webhook", "authentication": "standard_webhooks"});
    let (_, mended) = ask(&api, request("PUT", &path, other.to_string())).await;
    assert!(
        mended["secret"].as_str().unwrap().starts_with("whsec_"),
        "{mended}"
    );
}

#[tokio::test]
async fn after_a_change_of_the_master_key_the_old_one_can_go() {
    let (app, api, directory) = ready().await;
    let trigger = async |body: Value| {
        let (status, made) = post(&api, "/api/workflows/w/triggers", body).await;
        assert_eq!(status, 201, "{made}");
    };
    let webhook = |method: &str| json!({"trigger_type": "webhook", "authentication": method});
    trigger(webhook("hmac")).await;
    trigger(webhook("api_key")).await;
    trigger(webhook("none")).await;
    trigger(json!({"trigger_type": "cron", "cron_expression": "0 0 1 1 *"})).await;
    app.engine.stop().await;
    let key = |byte| MasterKey::new([byte; 32]);
    let begin = async |vault| engine_in(directory.path(), |builder| builder.vault(vault)).await;
    let engine = begin(Vault::new(key(8), Some(key(7)))).await;
    let both = Resealed {
        sealed: 2,
        closed: 0,
    };
    assert_eq!(engine.triggers().reseal_secrets().await.unwrap(), both);
    let none = Resealed::default();
    assert_eq!(
        engine.triggers().reseal_secrets().await.unwrap(),
        none,
        "once is enough"
    );
    engine.stop().await;
    let engine = begin(Vault::new(key(8), None)).await;
    assert_eq!(engine.triggers().reseal_secrets().await.unwrap(), none);
    engine.stop().await;
    let engine = begin(Vault::new(key(7), None)).await;
    let closed = Resealed {
        sealed: 0,
        closed: 2,
    };
    let found = engine.triggers().reseal_secrets().await.unwrap();
    assert_eq!(found, closed, "the old key opens nothing any more");
    engine.stop().await;
}
