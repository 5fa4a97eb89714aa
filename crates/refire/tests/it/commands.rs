//! Pause, resume, retry now, cancel.

use serde_json::json;

use crate::server::{Server, until};
use crate::target::Target;
use crate::workflow::two_steps;

#[tokio::test]
async fn a_paused_execution_finishes_what_runs_and_starts_nothing_new() {
    let (server, target) = (Server::start().await, Target::start().await);
    server
        .apply(
            "w",
            &two_steps("w", &target.url("/held"), &target.url("/b")),
        )
        .await;
    let id = server.execute("w", r#"{"name":"x"}"#).await;
    until("the call arrives", || target.calls("/held").len() == 1).await;
    let path = |command: &str| format!("/api/executions/{id}/{command}");
    assert_eq!(
        server.post(&path("pause"), "").await.expect(200)["status"],
        "paused"
    );
    target.release();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while server.execution(&id).await["steps"][0]["status"] != "completed" {
        assert!(
            std::time::Instant::now() < deadline,
            "the running attempt is recorded"
        );
    }
    assert_eq!(server.execution(&id).await["status"], "paused");
    assert!(target.calls("/b").is_empty());
    server.post(&path("resume"), "").await.expect(200);
    server.reaches(&id, "completed").await;
    assert_eq!(target.calls("/b").len(), 1);
    server
        .post(&path("resume"), "")
        .await
        .problem(409, "RF0017");
    server.post(&path("pause"), "").await.problem(409, "RF0017");
    server
        .post(&path("cancel"), "")
        .await
        .problem(409, "RF0017");
    let events = server.event_types(&id).await;
    assert!(events.contains(&"EXECUTION_PAUSED".to_owned()));
    assert!(events.contains(&"EXECUTION_RESUMED".to_owned()));
}

#[tokio::test]
async fn a_cancelled_execution_ends_at_once_and_again_is_the_same() {
    let (server, target) = (Server::start().await, Target::start().await);
    target.answers("/a", &[503]);
    server
        .apply(
            "w",
            &two_steps("w", &target.url("/a"), &target.url("/b")).replace("100ms", "1h"),
        )
        .await;
    let id = server.execute("w", r#"{"name":"x"}"#).await;
    server.reaches(&id, "retrying").await;
    let path = format!("/api/executions/{id}/cancel");
    for _ in 0..2 {
        let shown = server.post(&path, "").await.expect(200);
        assert_eq!(shown["status"], "cancelled");
        // The first waited for its next attempt, the second had not had its turn.
        let words = [0, 1].map(|at| shown["steps"][at]["status"].clone());
        assert_eq!(words, ["cancelled", "skipped"]);
        assert_eq!(
            (&shown["next_retry_at"], &shown["dlq_entry_id"]),
            (&json!(null), &json!(null))
        );
        // The retry that it waited for was never made.
        assert_eq!(shown["retry_count"], 0, "{shown:#}");
        let made = json!({"current_attempt": 1, "last_backoff_ms": null});
        assert_eq!(shown["retry_context"], made);
    }
    let unknown = "/api/executions/exec_01kb2m8x0c7q2t5v9w3y4z6a8d";
    for command in ["cancel", "pause", "resume"] {
        server
            .post(&format!("{unknown}/{command}"), "")
            .await
            .problem(404, "RF0010");
    }
    server
        .post(&format!("{path}?compensate=maybe"), "")
        .await
        .problem(400, "RF0003");
    server
        .post(&format!("/api/executions/{id}/explode"), "")
        .await
        .problem(404, "RF0007");
}

#[tokio::test]
async fn cancelling_with_compensation_undoes_what_was_done() {
    let (server, target) = (Server::start().await, Target::start().await);
    let definition = two_steps("w", &target.url("/a"), &target.url("/held"))
        .replace("  - id: first\n", "  - id: first\n    compensate: undo\n")
        + &format!(
            "  - id: undo\n    type: http\n    config: {{ method: POST, url: \"{}\" }}\n",
            target.url("/undo")
        );
    server.apply("w", &definition).await;
    let id = server.execute("w", r#"{"name":"x"}"#).await;
    until("the second call arrives", || {
        target.calls("/held").len() == 1
    })
    .await;
    server
        .post(&format!("/api/executions/{id}/cancel?compensate=true"), "")
        .await
        .expect(200);
    let shown = server.reaches(&id, "cancelled").await;
    assert_eq!(target.calls("/undo").len(), 1);
    assert_eq!(shown["steps"][0]["status"], "compensated");
}

#[tokio::test]
async fn a_retry_that_waits_is_made_now() {
    let (server, target) = (Server::start().await, Target::start().await);
    target.answers("/a", &[503]);
    let source = two_steps("w", &target.url("/a"), &target.url("/b")).replace("100ms", "1h");
    server.apply("w", &source).await;
    let id = server.execute("w", r#"{"name":"x"}"#).await;
    let waiting = server.reaches(&id, "retrying").await;
    assert!(waiting["next_retry_at"].is_string(), "{waiting}");
    let path = |query: &str| format!("/api/executions/{id}/retry-now{query}");
    for wrong in ["?step=second", "?step=nobody", "?step=%20"] {
        let refused = server.post(&path(wrong), "").await;
        refused.problem(409, "RF0017");
    }
    let pause = format!("/api/executions/{id}/pause");
    server.post(&pause, "").await.expect(200);
    let paused = server.post(&path(""), "").await.problem(409, "RF0017");
    let said = paused["detail"].as_str().unwrap();
    assert!(said.contains("resume it first"), "{said}");
    let resume = format!("/api/executions/{id}/resume");
    server.post(&resume, "").await.expect(200);
    let hurried = server.post(&path("?step=first"), "").await.expect(200);
    assert_eq!(hurried["next_retry_at"], serde_json::Value::Null);
    let ended = server.reaches(&id, "completed").await;
    assert_eq!(ended["retry_count"], 1, "{ended}");
    assert_eq!((target.calls("/a").len(), target.calls("/b").len()), (2, 1));
    server.post(&path(""), "").await.problem(409, "RF0017");
    let path = format!("/api/executions/{id}/events?type=TIMER_FIRED");
    let fired = server.get(&path).await.expect(200);
    let fired = &fired["items"][0];
    assert_eq!(
        (&fired["step_id"], &fired["attempt_number"]),
        (&json!("first"), &json!(2))
    );
    let payload = &fired["payload"];
    assert_eq!(
        (&payload["early"], &payload["by"]),
        (&json!(true), &json!("admin"))
    );
    let replay = format!("/api/executions/{id}/replay");
    let replay = server.post(&replay, "").await.expect(200);
    assert_eq!(replay["identical"], true, "{replay}");
}
