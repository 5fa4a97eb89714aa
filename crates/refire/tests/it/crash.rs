//! kill -9 in the middle: what was accepted goes on.

use serde_json::json;

use crate::server::{Server, until};
use crate::target::Target;
use crate::workflow::{one_step, two_steps};

#[tokio::test]
async fn a_retry_that_waits_survives_a_kill() {
    let (mut server, target) = (Server::start().await, Target::start().await);
    target.answers("/b", &[503]);
    let definition =
        two_steps("w", &target.url("/a"), &target.url("/b")).replace("100ms", "1500ms");
    server.apply("w", &definition).await;
    let id = server.execute("w", r#"{"name":"x"}"#).await;
    let before = server.reaches(&id, "retrying").await;
    server.kill();
    server.restart();
    let after = server.reaches(&id, "completed").await;
    assert_eq!(after["retry_count"], 1);
    assert!(after["completed_at"].as_str().unwrap() >= before["next_retry_at"].as_str().unwrap());
    assert_eq!(
        (target.calls("/a").len(), target.calls("/b").len()),
        (1, 2),
        "nothing twice"
    );
    let replay = server
        .post(&format!("/api/executions/{id}/replay"), "")
        .await
        .expect(200);
    assert_eq!(replay["identical"], true, "{replay:#}");
}

#[tokio::test]
async fn an_attempt_that_died_with_the_server_is_made_again() {
    let (mut server, target) = (Server::start().await, Target::start().await);
    server
        .apply("w", &one_step("w", &target.url("/held")))
        .await;
    let mut ids = Vec::new();
    for number in 0..20 {
        ids.push(
            server
                .execute("w", &json!({ "n": number }).to_string())
                .await,
        );
    }
    until("all calls arrive", || target.calls("/held").len() == 20).await;
    server.kill();
    server.restart();
    target.release();
    for id in &ids {
        let shown = server.reaches(id, "completed").await;
        assert_eq!(shown["retry_count"], 0, "a loss costs no retry");
        assert!(
            server
                .event_types(id)
                .await
                .contains(&"STEP_LOST".to_owned())
        );
    }
    let calls = target.calls("/held");
    for number in 0..20 {
        let same: Vec<_> = calls
            .iter()
            .filter(|call| call.json()["n"] == number)
            .collect();
        assert_eq!(same.len(), 2);
        assert_eq!(same[0].idempotency_key, same[1].idempotency_key);
    }
}
