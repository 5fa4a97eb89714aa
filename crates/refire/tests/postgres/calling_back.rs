//! Callbacks to another node than the one that called the target.

use std::sync::Arc;

use serde_json::json;

use crate::callbacks::{MASTER_KEY, say, token};
use crate::database::Database;
use crate::server::{Server, until};
use crate::target::Target;

/// Two nodes that know the same keys.
fn two() -> (Server, Server) {
    let database = Arc::new(Database::new());
    let node = |name| Server::begin(Arc::clone(&database), &["--node-name", name], &[MASTER_KEY]);
    let (a, mut b) = (node("a"), node("b"));
    b.key.clone_from(&a.key);
    (a, b)
}

fn definition(id: &str, url: &str, window: &str) -> String {
    format!(
        "id: {id}\nsteps:\n  - id: call\n    type: http\n    callback: {{window: {window}}}\n    retry: false\n\
         \x20   config: {{method: POST, url: '{url}', body: {{token: '${{callback.token}}'}}}}\n"
    )
}

#[tokio::test]
async fn any_node_hears_what_a_target_says() {
    let (a, b) = two();
    let target = Target::start().await;
    a.apply("w", &definition("w", &target.url("/a"), "1h"))
        .await;
    let id = a.execute("w", "{}").await;
    a.reaches(&id, "waiting").await;
    let token = token(&target, "/a");
    let said = |status: &str| json!({"status": status, "progress": 5}).to_string();
    for server in [&b, &a, &b] {
        say(server, &token, &said("processing")).await.expect(200);
    }
    // Many at once, at both.
    let bodies: Vec<String> = (0..50)
        .map(|n| said(["success", "processing"][n % 2]))
        .collect();
    let all = bodies
        .iter()
        .enumerate()
        .map(|(n, body)| say([&a, &b][n / 2 % 2], &token, body));
    let answers = futures_util::future::join_all(all).await;
    let is_last =
        |(n, answer): &(usize, &crate::server::Answer)| n % 2 == 0 && answer.status == 200;
    assert_eq!(answers.iter().enumerate().filter(is_last).count(), 1);
    b.reaches(&id, "completed").await;
    for server in [&a, &b] {
        say(server, &token, &said("success"))
            .await
            .problem(400, "RF0061");
    }
}

#[tokio::test]
async fn before_the_answer_and_after_the_callers_death() {
    let (mut a, b) = two();
    let target = Target::start().await;
    a.apply("w", &definition("w", &target.url("/held"), "1h"))
        .await;
    let id = a.execute("w", "{}").await;
    until("the call arrives", || target.calls("/held").len() == 1).await;
    let token = token(&target, "/held");
    // Whichever of them calls: both hear it.
    say(&b, &token, r#"{"status":"processing"}"#)
        .await
        .expect(200);
    say(&a, &token, r#"{"status":"processing","progress":9}"#)
        .await
        .expect(200);
    a.kill();
    b.reaches(&id, "waiting").await;
    say(&b, &token, r#"{"status":"success"}"#).await.expect(200);
    b.reaches(&id, "completed").await;
    let events = b.event_types(&id).await;
    assert!(!events.contains(&"STEP_LOST".to_owned()), "{events:?}");
    assert_eq!(target.calls("/held").len(), 1);
}

#[tokio::test]
async fn a_window_is_over_on_time_though_its_node_died() {
    let (mut a, b) = two();
    let target = Target::start().await;
    a.apply("w", &definition("w", &target.url("/a"), "2s"))
        .await;
    let id = a.execute("w", "{}").await;
    a.reaches(&id, "waiting").await;
    a.kill();
    b.reaches(&id, "completed").await;
}
