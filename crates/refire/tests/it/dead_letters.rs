//! What finally fails: kept, shown, edited, run again.

use serde_json::{Value, json};

use crate::server::Server;
use crate::target::Target;
use crate::workflow::two_steps;

/// A server with one dead letter: the first step completed, the second failed.
async fn dead(server: &Server, target: &Target) -> (String, Value) {
    target.answers("/b", &[500, 500]);
    server
        .apply("w", &two_steps("w", &target.url("/a"), &target.url("/b")))
        .await;
    let path = "/api/workflows/w/execute?wait=20s";
    let shown = server
        .post(path, r#"{"name":"old","n":1}"#)
        .await
        .expect(200);
    assert_eq!(shown["status"], "dlq", "{shown:#}");
    let id = shown["dlq_entry_id"].as_str().unwrap().to_owned();
    (id, shown)
}

#[tokio::test]
async fn an_exhausted_execution_becomes_a_dead_letter() {
    let (server, target) = (Server::start().await, Target::start().await);
    let (id, execution) = dead(&server, &target).await;
    assert_eq!(execution["error"]["type"], "http_status");
    assert_eq!(execution["steps"][1]["status"], "failed");
    let page = server.get("/api/dlq").await.expect(200);
    let letter = &page["items"][0];
    for (field, expected) in [
        ("id", json!(id)),
        ("execution_id", execution["execution_id"].clone()),
        ("workflow_id", json!("w")),
        ("step_id", json!("second")),
        ("input_data", json!({"name": "old", "n": 1})),
        ("error_type", json!("http_status")),
        ("error_code", json!("500")),
        ("reason", json!("exhausted")),
        ("status", json!("pending")),
        ("retry_count", json!(1)),
        ("max_retries", json!(1)),
    ] {
        assert_eq!(letter[field], expected, "{field}");
    }
    let history = letter["retry_history"].as_array().unwrap();
    assert_eq!(history.len(), 2);
    assert_eq!(
        (&history[0]["delay"], &history[1]["delay"]),
        (&json!(0.1), &json!(null))
    );
    assert!(!letter["suggestions"].as_array().unwrap().is_empty());
    let detail = server.get(&format!("/api/dlq/{id}")).await.expect(200);
    for (field, value) in letter.as_object().unwrap() {
        assert_eq!(detail[field], *value, "{field}: as in the list");
    }
    assert_eq!(
        detail["response"],
        json!({"status": "500", "body": "{\"status\":500}"})
    );
    assert_eq!(
        (
            &detail["can_retry_from_start"],
            &detail["can_retry_from_failed_step"]
        ),
        (&json!(true), &json!(true))
    );
    assert_eq!(detail["same_cause"], 0);
    let last = detail["events"].as_array().unwrap().last().unwrap();
    assert_eq!(last["event_type"], "EXECUTION_FAILED");
    let summary = server
        .get("/api/dlq/summary?workflow_id=w")
        .await
        .expect(200);
    assert_eq!(summary["count"], 1);
    assert_eq!(summary["groups"][0]["error_code"], "500");
}

#[tokio::test]
async fn an_edited_retry_from_the_start_resolves_it() {
    let (server, target) = (Server::start().await, Target::start().await);
    let (id, original) = dead(&server, &target).await;
    let path = format!("/api/dlq/{id}/retry");
    let edited = r#"{"input":{"name":"new","n":1}}"#;
    let retried = server.post(&path, edited).await.expect(202);
    assert_eq!(
        (&retried["id"], &retried["status"]),
        (&json!(id), &json!("retrying"))
    );
    let execution = retried["execution_id"].as_str().unwrap();
    let shown = server.reaches(execution, "completed").await;
    assert_eq!(shown["input"], json!({"name": "new", "n": 1}));
    assert_eq!(shown["trigger_type"], "manual_dlq_retry");
    assert_eq!(shown["parent_dlq_entry_id"], id.as_str());
    assert_eq!(target.calls("/a").len(), 2, "from the start");
    let detail = server.get(&format!("/api/dlq/{id}")).await.expect(200);
    let letter = &detail;
    assert_eq!(
        (&letter["status"], &letter["resolved_by"]),
        (&json!("resolved"), &json!("admin"))
    );
    assert_eq!(letter["resolution_execution_id"], execution);
    assert_eq!(letter["execution_id"], original["execution_id"]);
    let change = json!([{"path": "name", "kind": "changed", "old": "old", "new": "new"}]);
    assert_eq!(detail["input_changes"], change);
    let retry = &detail["retries"][0];
    assert_eq!(retry["execution_id"], execution);
    assert_eq!(retry["input"], json!({"name": "new", "n": 1}));
    assert_eq!(retry["input_changes"], change);
    server.post(&path, "").await.problem(409, "RF0018");
    server
        .delete(&format!("/api/dlq/{id}"))
        .await
        .problem(409, "RF0018");
    assert_eq!(server.get("/api/dlq").await.expect(200)["items"], json!([]));
    let resolved = server.get("/api/dlq?status=resolved").await.expect(200);
    assert_eq!(resolved["items"][0]["id"], id.as_str());
}

#[tokio::test]
async fn a_retry_that_would_go_on_from_a_lost_output_is_refused_by_name() {
    let (server, target) = (Server::start().await, Target::start().await);
    let (id, original) = dead(&server, &target).await;
    let lost = "DELETE FROM workflow_events WHERE type = 'STEP_COMPLETED'";
    let changed = server.database().change(&server.data(), lost).await;
    assert_eq!(changed, 1);
    let path = format!("/api/dlq/{id}/retry");
    let refused = server.post(&path, r#"{"from":"failed_step"}"#).await;
    let detail = refused.problem(500, "RF0030")["detail"].clone();
    let named = format!(
        "the output of step first of {}",
        original["execution_id"].as_str().unwrap()
    );
    assert!(detail.as_str().unwrap().contains(&named), "{detail}");
    let letters = server.get("/api/dlq").await.expect(200);
    assert_eq!(letters["items"][0]["status"], "pending", "nothing is lost");
    assert_eq!(target.calls("/a").len(), 1, "nothing ran again");
    let retried = server.post(&path, "").await.expect(202);
    let execution = retried["execution_id"].as_str().unwrap();
    server.reaches(execution, "completed").await;
}

#[tokio::test]
async fn a_retry_from_the_failed_step_runs_nothing_twice() {
    let (server, target) = (Server::start().await, Target::start().await);
    let (id, _) = dead(&server, &target).await;
    let path = format!("/api/dlq/{id}/retry");
    target.answers("/b", &[500]);
    let retried = server
        .post(&path, r#"{"from":"failed_step"}"#)
        .await
        .expect(202);
    let execution = retried["execution_id"].as_str().unwrap();
    let shown = server.reaches(execution, "failed").await;
    assert_eq!(
        shown["max_retries"], 0,
        "a person watches: no automatic retries"
    );
    let letter = server.get(&format!("/api/dlq/{id}")).await.expect(200);
    assert_eq!(
        (&letter["status"], &letter["retry_attempted_by"]),
        (&json!("pending"), &json!("admin"))
    );
    let retried = server
        .post(&path, r#"{"from":"failed_step"}"#)
        .await
        .expect(202);
    server
        .reaches(retried["execution_id"].as_str().unwrap(), "completed")
        .await;
    assert_eq!(
        target.calls("/a").len(),
        1,
        "the completed step did not run again"
    );
    let keys: Vec<_> = target
        .calls("/b")
        .into_iter()
        .map(|call| call.idempotency_key)
        .collect();
    assert!(
        keys.iter().all(|key| *key == keys[0]),
        "the same work: {keys:?}"
    );
}

#[tokio::test]
async fn a_letter_can_be_given_up_and_filtered() {
    let (server, target) = (Server::start().await, Target::start().await);
    let (id, _) = dead(&server, &target).await;
    let (other, _) = dead(&server, &target).await;
    let fingerprint = server.get(&format!("/api/dlq/{id}")).await.expect(200);
    assert_eq!(fingerprint["same_cause"], 1);
    let fingerprint = fingerprint["fingerprint"].as_str().unwrap().to_owned();
    server.delete(&format!("/api/dlq/{id}")).await.expect(204);
    server
        .delete(&format!("/api/dlq/{id}"))
        .await
        .problem(409, "RF0018");
    for (query, expected) in [
        ("", vec![&other]),
        ("status=deleted", vec![&id]),
        ("status=pending,deleted", vec![&other, &id]),
        ("status=pending&status=deleted&limit=1", vec![&other]),
        ("workflow_id=w", vec![&other]),
        ("workflow_id=v", vec![]),
        ("error_type=http_status", vec![&other]),
        ("error_type=dns", vec![]),
        ("error_type=dns,http_status", vec![&other]),
        ("error_type=nobody", vec![]),
        ("q=SECOND", vec![&other]),
        ("q=nothing", vec![]),
        ("from=2020-01-01T00:00:00Z", vec![&other]),
        ("to=2020-01-01T00:00:00Z", vec![]),
        (&format!("fingerprint={fingerprint}"), vec![&other]),
        ("fingerprint=00000000000000aa", vec![]),
    ] {
        let page = server.get(&format!("/api/dlq?{query}")).await.expect(200);
        let found: Vec<_> = page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_str().unwrap())
            .collect();
        assert_eq!(found, expected, "{query}");
    }
}

#[tokio::test]
async fn wrong_retries_change_nothing() {
    let (server, target) = (Server::start().await, Target::start().await);
    let (id, _) = dead(&server, &target).await;
    let path = format!("/api/dlq/{id}/retry");
    for body in [
        r#"{"input":null}"#,
        r#"{"from":"middle"}"#,
        r#"{"colour":1}"#,
        "[1]",
        "{",
        "3",
    ] {
        server.post(&path, body).await.problem(400, "RF0002");
    }
    server
        .post(&path, r#"{"version":7}"#)
        .await
        .problem(404, "RF0009");
    let unknown = "dlq_01kb2m8x0c7q2t5v9w3y4z6a8d";
    server
        .post(&format!("/api/dlq/{unknown}/retry"), "")
        .await
        .problem(404, "RF0011");
    server
        .delete(&format!("/api/dlq/{unknown}"))
        .await
        .problem(404, "RF0011");
    server.get("/api/dlq/nonsense").await.problem(404, "RF0011");
    for query in [
        "status=new",
        "from=yesterday",
        "fingerprint=xyz",
        "workflow_id=a%20b",
        "colour=1",
    ] {
        server
            .get(&format!("/api/dlq?{query}"))
            .await
            .problem(400, "RF0003");
    }
    let letter = server.get(&format!("/api/dlq/{id}")).await.expect(200);
    assert_eq!(
        (&letter["status"], &letter["retry_attempted_at"]),
        (&json!("pending"), &json!(null))
    );
}

#[tokio::test]
async fn every_retry_of_a_letter_is_kept() {
    let (server, target) = (Server::start().await, Target::start().await);
    let (id, _) = dead(&server, &target).await;
    let (path, one) = (format!("/api/dlq/{id}/retry"), format!("/api/dlq/{id}"));
    target.answers("/b", &[500, 503]);
    let mut executions = Vec::new();
    for (wish, end) in [
        (r#"{"from":"failed_step"}"#, "failed"),
        (r#"{"input":{"name":"new","n":1},"from":"start"}"#, "failed"),
        (r#"{"from":"failed_step"}"#, "completed"),
    ] {
        let retried = server.post(&path, wish).await.expect(202);
        let execution = retried["execution_id"].as_str().unwrap().to_owned();
        let open = server.get(&one).await.expect(200);
        let is_resolved = open["status"] == "resolved";
        assert_eq!(open["resolution_execution_id"].is_string(), is_resolved);
        server.reaches(&execution, end).await;
        executions.push(execution);
    }
    let detail = server.get(&one).await.expect(200);
    assert_eq!(detail["resolution_execution_id"], executions[2].as_str());
    let retries = detail["retries"].as_array().unwrap();
    let change = json!([{"path": "name", "kind": "changed", "old": "old", "new": "new"}]);
    let none = json!([]);
    for (at, from, edited, changes, outcome, code) in [
        (0, "failed_step", false, &none, "failed", json!("500")),
        (1, "start", true, &change, "failed", json!("503")),
        (2, "failed_step", false, &none, "completed", json!(null)),
    ] {
        let retry = &retries[at];
        assert_eq!(retry["execution_id"], executions[at].as_str());
        assert_eq!(retry["retried_by"], "admin");
        assert!(retry["retried_at"].as_str() <= retry["ended_at"].as_str());
        assert_eq!(
            (&retry["from"], &retry["edited"]),
            (&json!(from), &json!(edited))
        );
        assert_eq!(retry["input_changes"], *changes);
        assert_eq!(retry["input"].is_object(), edited);
        assert_eq!(
            (&retry["outcome"], &retry["error"]["code"]),
            (&json!(outcome), &code)
        );
    }
}

#[tokio::test]
async fn a_letter_of_a_deleted_workflow_says_what_helps() {
    let (server, target) = (Server::start().await, Target::start().await);
    let (id, _) = dead(&server, &target).await;
    server.delete("/api/workflows/w").await.expect(200);
    let detail = server.get(&format!("/api/dlq/{id}")).await.expect(200);
    assert_eq!(detail["workflow_deleted"], true);
    for from in ["start", "failed_step"] {
        assert_eq!(detail[format!("can_retry_from_{from}")], false);
        let refused = server
            .post(
                &format!("/api/dlq/{id}/retry"),
                format!(r#"{{"from":"{from}"}}"#),
            )
            .await
            .problem(409, "RF0019");
        assert_eq!(refused["detail"], detail["retry_obstacle"]);
    }
    let listed = server.get("/api/dlq").await.expect(200);
    let first = &listed["items"][0]["suggestions"][0]["title"];
    assert_eq!(first, "Save the workflow again");
    server
        .apply("w", &two_steps("w", &target.url("/a"), &target.url("/b")))
        .await;
    let detail = server.get(&format!("/api/dlq/{id}")).await.expect(200);
    assert_eq!(
        (
            &detail["status"],
            &detail["can_retry_from_start"],
            &detail["retry_obstacle"]
        ),
        (&json!("pending"), &json!(true), &json!(null)),
        "nothing is lost"
    );
}
