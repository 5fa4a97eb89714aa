//! What a dead letter tells about steps that were undone, or could not be.

use serde_json::json;

use crate::server::Server;
use crate::target::Target;

/// Two steps; the first is undone when the second fails.
fn trip(target: &Target) -> String {
    format!(
        "id: trip\nretry: false\nsteps:\n\
         - {{id: hotel, type: http, compensate: cancel, config: {{url: \"{}\"}}}}\n\
         - {{id: flight, type: http, config: {{url: \"{}\"}}}}\n\
         - {{id: cancel, type: http, config: {{url: \"{}\"}}}}\n",
        target.url("/hotel"),
        target.url("/flight"),
        target.url("/cancel")
    )
}

#[tokio::test]
async fn a_letter_says_what_was_not_undone_and_how_it_can_be_retried() {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("trip", &trip(&target)).await;
    for (cancel, word, reason, failures) in [
        (200, "completed", "non_retryable", json!([])),
        (
            400,
            "failed",
            "compensation_failed",
            json!([{"step_id": "cancel", "undoes": "hotel", "error": {
                "type": "http_status", "code": "400", "retryable": false, "causes": [],
                "message": "the target answered 400 Bad Request", "target": target.url("").trim_start_matches("http://")}}]),
        ),
    ] {
        target.answers("/flight", &[409]);
        target.answers("/cancel", &[cancel]);
        let path = "/api/workflows/trip/execute?wait=20s";
        let ended = server.post(path, "").await.expect(200);
        let letter = ended["dlq_entry_id"].as_str().unwrap();
        let detail = server.get(&format!("/api/dlq/{letter}")).await.expect(200);
        assert_eq!(detail["reason"], reason);
        let log = server.log();
        let warned = log.lines().filter(|line| line.contains(letter)).count();
        assert_eq!(warned, 1, "one line of the log: {log}");
        let line = format!("letter={letter} reason=\"{reason}\"");
        assert!(log.contains(&line), "{log}");
        assert_eq!(detail["can_retry_from_failed_step"], false);
        assert_eq!(detail["compensation_failures"], failures);
        let undone = &detail["compensations"][0];
        assert_eq!(
            (&undone["step_id"], &undone["undoes"], &undone["status"]),
            (&json!("cancel"), &json!("hotel"), &json!(word))
        );
        assert_eq!(
            (&detail["trigger_type"], &detail["triggered_by"]),
            (&json!("manual"), &json!("admin"))
        );
        let steps = ended["steps"].as_array().unwrap();
        let undoes = steps.iter().find(|step| step["step_id"] == "cancel");
        assert_eq!(undoes.unwrap()["undoes"], "hotel");
        let path = format!("/api/dlq/{letter}/retry");
        server
            .post(&path, r#"{"from":"failed_step"}"#)
            .await
            .problem(409, "RF0019");
        // A retry that leaves something behind says so too.
        target.answers("/flight", &[409]);
        target.answers("/cancel", &[cancel]);
        let retried = server.post(&path, "{}").await.expect(202);
        let retried = retried["execution_id"].as_str().unwrap();
        server.reaches(retried, "failed").await;
        let detail = server.get(&format!("/api/dlq/{letter}")).await.expect(200);
        assert_eq!(detail["retries"][0]["compensation_failures"], failures);
    }
}

#[tokio::test]
async fn a_letter_is_found_by_every_id_that_belongs_to_it() {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("trip", &trip(&target)).await;
    target.answers("/hotel", &[409]);
    let path = "/api/workflows/trip/execute?wait=20s";
    let ended = server.post(path, "").await.expect(200);
    let letter = ended["dlq_entry_id"].as_str().unwrap();
    let execution = ended["execution_id"].as_str().unwrap();
    let detail = server.get(&format!("/api/dlq/{letter}")).await.expect(200);
    assert_eq!(detail["can_retry_from_failed_step"], true);
    let retried = server
        .post(&format!("/api/dlq/{letter}/retry"), "")
        .await
        .expect(202);
    let retried = retried["execution_id"].as_str().unwrap();
    server.reaches(retried, "completed").await;
    for (query, found) in [
        (format!("q={letter}"), 1),
        (format!("q={execution}"), 1),
        (format!("q={retried}&status=resolved&workflow_id=trip"), 1),
        (format!("q={letter}&status=pending"), 0),
        (format!("q={letter}&workflow_id=other"), 0),
        ("q=exec_01kb2m8x0c7q2t5v9w3y4z6a8d".to_owned(), 0),
    ] {
        let page = server.get(&format!("/api/dlq?{query}")).await.expect(200);
        let items = page["items"].as_array().unwrap();
        assert_eq!(items.len(), found, "{query}");
        assert!(items.iter().all(|one| one["id"] == letter));
        let summary = server
            .get(&format!("/api/dlq/summary?{query}"))
            .await
            .expect(200);
        assert_eq!(summary["count"], found, "{query}");
    }
}
