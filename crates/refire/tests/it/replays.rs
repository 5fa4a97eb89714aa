//! Replay, and the replay lab.

use serde_json::json;

use crate::server::Server;
use crate::target::Target;
use crate::workflow::one_step;

#[tokio::test]
async fn a_history_is_derived_again_exactly() {
    let (server, target) = (Server::start().await, Target::start().await);
    target.answers("/a", &[503, 503]);
    let definition = one_step("w", &target.url("/a"));
    server.apply("w", &definition).await;
    let shown = server
        .post("/api/workflows/w/execute?wait=20s", "{}")
        .await
        .expect(200);
    let id = shown["execution_id"].as_str().unwrap();
    let path = format!("/api/executions/{id}/replay");
    let events = server.event_types(id).await.len();
    let identical = json!({"identical": true, "events": events, "first_difference": null});
    assert_eq!(server.post(&path, "").await.expect(200), identical);
    assert_eq!(server.post(&path, "{}").await.expect(200), identical);
    assert_eq!(
        server.post(&path, definition.clone()).await.expect(200),
        identical
    );

    let fewer = definition.replace("maxRetries: 2", "maxRetries: 1");
    let wrapped = json!({"definition": fewer}).to_string();
    for body in [wrapped, fewer] {
        let lab = server.post(&path, body).await.expect(200);
        assert_eq!(lab["identical"], false);
        let difference = &lab["first_difference"];
        assert_eq!(difference["recorded"]["sequence"], difference["sequence"]);
        assert_ne!(
            difference["recorded"]["payload"],
            difference["derived"]["payload"]
        );
    }
    let object = json!({"definition": {"steps": [{"id": "other", "type": "http", "config": {"url": "https://x.example"}}]}});
    let lab = server.post(&path, object.to_string()).await.expect(200);
    assert_eq!(lab["identical"], false);
    assert_eq!(target.calls("/a").len(), 3, "nothing was called again");

    server
        .post(&path, r#"{"definition":"steps: 7"}"#)
        .await
        .problem(400, "RF0001");
    server.post(&path, "[1]").await.problem(400, "RF0002");
    let unknown = "/api/executions/exec_01kb2m8x0c7q2t5v9w3y4z6a8d/replay";
    server.post(unknown, "").await.problem(404, "RF0010");
}
