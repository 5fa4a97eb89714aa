//! Secrets of steps: used in a call, and nowhere to be found afterwards.

use serde_json::{Value, json};

use crate::server::Server;
use crate::target::Target;

/// In mixed case, since host names are written in lower case.
const CANARY: &str = "CaNaRy-9F3c-QuiTe-LonG";

/// What must not be in anything that is recorded or shown, in any case.
#[track_caller]
fn assert_hidden(place: &str, text: &str) {
    let text = text.to_lowercase();
    assert!(!text.contains(&CANARY.to_lowercase()), "{place}: {text}");
}

/// Every file of the data directory as text, the database and its log among them.
fn files(server: &Server) -> Vec<(String, String)> {
    let files = std::fs::read_dir(server.data()).unwrap();
    files
        .map(|file| {
            let path = file.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            (path.display().to_string(), text)
        })
        .collect()
}

/// Runs the definition and looks everywhere for the secret; the execution.
async fn leaves_no_trace(server: &Server, definition: &str) -> Value {
    server.apply("w", definition).await;
    let path = "/api/workflows/w/execute?wait=20s";
    let ended = server.post(path, "{}").await.expect(200);
    let id = ended["execution_id"].as_str().unwrap();
    let other = definition.replace("maxRetries: 1", "maxRetries: 2");
    let lab = format!("/api/executions/{id}/replay");
    for (place, answer) in [
        (
            "the execution",
            server.get(&format!("/api/executions/{id}")).await,
        ),
        (
            "its events",
            server.get(&format!("/api/executions/{id}/events")).await,
        ),
        ("the list", server.get("/api/executions").await),
        ("dead letters", server.get("/api/dlq").await),
        ("its replay", server.post(&lab, "").await),
        ("the replay lab", server.post(&lab, other.clone()).await),
        (
            "a simulation",
            server.post("/api/retry/simulate", "{}").await,
        ),
    ] {
        assert!(answer.status < 300, "{place}: {}", answer.text);
        assert_hidden(place, &answer.text);
    }
    assert_hidden("the server's log", &server.log());
    for (path, text) in files(server) {
        assert_hidden(&path, &text);
    }
    ended
}

fn definition(config: &Value) -> String {
    let retry = "retry: { maxRetries: 1, initialDelay: 100ms, jitter: none }";
    format!("id: w\n{retry}\nsteps:\n  - {{ id: call, type: http, config: {config} }}\n")
}

#[tokio::test]
async fn a_secret_leaves_no_trace_in_any_case() {
    let server = Server::start_in(&[("REFIRE_SECRET_CANARY", CANARY)]).await;
    let target = Target::start().await;
    let lower = CANARY.to_lowercase();

    let host = json!({"url": "http://${secret.CANARY}.invalid/x"});
    let failed = leaves_no_trace(&server, &definition(&host)).await;
    let message = failed["error"]["message"].as_str().unwrap();
    assert_eq!(message, "the name ***.invalid could not be resolved");

    let address = json!({"url": "${secret.CANARY}://x.example/"});
    leaves_no_trace(&server, &definition(&address)).await;
    let line = json!({"url": target.url("/a"), "headers": {"X-Key": "a\n${secret.CANARY}"}});
    server
        .put("/api/workflows/w", definition(&line))
        .await
        .problem(400, "RF0001");

    let echo = json!({
        "method": "POST", "url": target.url("/a?k=${secret.CANARY}"),
        "headers": {"X-Key": "${secret.CANARY}"}, "body": {"key": "${secret.CANARY}"}
    });
    target.says(
        "/a",
        &format!(r#"{{"host":"{lower}.example","as":"{CANARY}"}}"#),
    );
    let shown = leaves_no_trace(&server, &definition(&echo)).await;
    assert_eq!(
        shown["output"]["body"],
        json!({"host": "***.example", "as": "***"})
    );
    target.script("/a", &[(400, &format!("no {lower} here, {CANARY}"))]);
    leaves_no_trace(&server, &definition(&echo)).await;
}

#[tokio::test]
async fn a_secret_that_is_too_short_is_named_and_not_used() {
    let server = Server::start_in(&[("REFIRE_SECRET_PIN", "123")]).await;
    let warned = server.log();
    assert!(
        warned.contains("REFIRE_SECRET_PIN") && warned.contains("too short"),
        "{warned}"
    );
    let target = Target::start().await;
    let config = json!({"url": target.url("/a"), "headers": {"X-Pin": "${secret.PIN}"}});
    server.apply("w", &definition(&config)).await;
    let path = "/api/workflows/w/execute?wait=20s";
    let ended = server.post(path, "{}").await.expect(200);
    let error = &ended["error"];
    assert_eq!(
        (&error["type"], &error["code"], &ended["status"]),
        (
            &json!("template"),
            &json!("secret_too_short"),
            &json!("dlq")
        )
    );
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("the secret `PIN` has fewer than 4 characters"));
    assert_eq!(ended["steps"][0]["attempts"], 1, "it is not retried");
    assert!(target.calls("/a").is_empty());
}

#[tokio::test]
async fn a_secret_that_is_not_set_is_noted_when_a_definition_is_saved() {
    let environment = [("REFIRE_SECRET_GOOD", CANARY), ("REFIRE_SECRET_PIN", "12")];
    let server = Server::start_in(&environment).await;
    let config = json!({"url": "https://x.example/", "headers": {
        "A": "${secret.GOOD}", "B": "${secret.NOPE}", "C": "${secret.PIN}", "D": "${secret.MAYBE ?? \"-\"}"
    }});
    let notes = json!([
        "step \"call\": the secret `NOPE` is not set; set REFIRE_SECRET_NOPE in the server's environment",
        "step \"call\": the secret `PIN` is too short to be used; set REFIRE_SECRET_PIN in the server's environment",
    ]);
    let checked = server
        .post("/api/workflows/validate", definition(&config))
        .await;
    assert_eq!(checked.expect(200)["notes"], notes);
    assert_eq!(
        server.apply("w", &definition(&config)).await["notes"],
        notes
    );
}
