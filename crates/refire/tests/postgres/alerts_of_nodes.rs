//! Alerts of two servers on one database: whoever looks, each is told once.

use std::sync::Arc;

use crate::alerts::{items, reaches, run, said};
use crate::callbacks::MASTER_KEY;
use crate::database::Database;
use crate::server::Server;
use crate::target::Target;

const RULE: &str =
    "{name: Half fail, kind: failure_rate, workflow: w, window: 10m, above: 50, min_count: 4}";

#[tokio::test]
async fn an_alert_of_two_nodes_is_one_also_when_the_one_that_looks_is_killed() {
    let database = Arc::new(Database::new());
    let node = |name| {
        let options = ["--node-name", name, "--alerts-every", "1s", "--lease", "5s"];
        Server::begin(Arc::clone(&database), &options, &[MASTER_KEY])
    };
    let (mut a, mut b) = (node("a"), node("b"));
    b.key.clone_from(&a.key);
    let target = Target::start().await;
    let url = target.url("/a");
    let source = format!(
        "id: w\nretry: false\nsteps: [{{id: a, type: http, config: {{method: POST, url: '{url}'}}}}]"
    );
    a.apply("w", &source).await;
    a.post("/api/alert-rules", RULE).await.expect(201);
    target.answers("/a", &[400; 4]);
    // Each of them has counted too few by itself.
    run(&a, 2, "dlq").await;
    run(&b, 2, "dlq").await;
    let fired = reaches(&b, "firing").await;
    a.kill();
    run(&b, 8, "completed").await;
    let over = reaches(&b, "resolved").await;
    assert_eq!(over["id"], fired["id"]);
    let mut all = items(&b, "/api/alerts?subject=w").await;
    all.retain(|alert| alert["rule"] == "Half fail");
    assert_eq!(all.len(), 1, "{all:?}");
    let logs = [a.log(), b.log()];
    assert_eq!(said(&logs), (1, 1), "{logs:?}");
}
