//! Two nodes on one database: each does what the other was asked to, and takes over from it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::database::Database;
use crate::server::{Server, until};
use crate::target::Target;
use crate::workflow::{one_step, two_steps};

/// Nobody takes over from a silent node within a test that has this one.
const LONG_LEASE: &str = "5m";
/// The lease of the tests, the time that others may take beyond it, and some for a busy machine.
const TAKEN_OVER_WITHIN: Duration = Duration::from_secs(5 + 5 + 5);

/// Two nodes that know the same key.
pub(crate) async fn two(options: &[&str]) -> (Server, Server) {
    let database = Arc::new(Database::new());
    let named = |name| [&["--node-name", name], options].concat();
    let a = Server::start_on(Arc::clone(&database), &named("a")).await;
    let mut b = Server::start_on(database, &named("b")).await;
    b.key.clone_from(&a.key);
    (a, b)
}

async fn nodes(server: &Server) -> Vec<Value> {
    let page = server.get("/api/nodes").await.expect(200);
    assert_eq!(page["next_cursor"], Value::Null);
    page["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn both_are_listed_and_each_knows_itself() {
    let (mut a, b) = two(&[]).await;
    for (server, itself) in [(&a, "a"), (&b, "b")] {
        let listed = nodes(server).await;
        let names: Vec<_> = listed.iter().map(|node| &node["name"]).collect();
        assert_eq!(names, ["a", "b"], "the oldest first");
        for node in &listed {
            assert_eq!(node["is_this"], node["name"] == itself, "{node:#}");
            assert_eq!(node["version"], env!("CARGO_PKG_VERSION"));
            assert_eq!((&node["running"], &node["holding"]), (&json!(0), &json!(0)));
            assert!(node["node_id"].as_str().unwrap().starts_with("node_"));
            let text = |field: &str| node[field].as_str().unwrap().to_owned();
            assert!(text("started_at") <= text("renewed_at"), "{node:#}");
            assert!(text("renewed_at") < text("expires_at"), "{node:#}");
        }
        let address = server.url.strip_prefix("http://").unwrap();
        assert!(
            listed
                .iter()
                .any(|node| node["is_this"] == true && node["address"] == address)
        );
    }
    a.signal("TERM");
    assert_eq!(a.ended().await.code(), Some(0));
    let left = nodes(&b).await;
    assert_eq!((left.len(), &left[0]["name"]), (1, &json!("b")), "at once");
}

#[tokio::test]
async fn what_one_saves_the_other_runs_at_once() {
    let (a, b) = two(&[]).await;
    let target = Target::start().await;
    for version in 1..=10 {
        let path = format!("/v{version}");
        let (saving, running) = if version % 2 == 0 { (&a, &b) } else { (&b, &a) };
        saving.apply("w", &one_step("w", &target.url(&path))).await;
        let ended = running
            .post("/api/workflows/w/execute?wait=20s", "{}")
            .await
            .expect(200);
        assert_eq!(ended["workflow_version"], version, "{ended:#}");
        assert_eq!(ended["status"], "completed");
        assert_eq!(target.calls(&path).len(), 1);
    }
    a.delete("/api/workflows/w").await.expect(200);
    b.post("/api/workflows/w/execute", "{}")
        .await
        .problem(404, "RF0008");
}

#[tokio::test]
async fn each_sees_waits_for_and_ends_what_the_other_runs() {
    let (a, b) = two(&[]).await;
    let target = Target::start().await;
    a.apply("w", &one_step("w", &target.url("/held"))).await;
    let id = a.execute("w", r#"{"n":1}"#).await;
    until("the call arrives", || target.calls("/held").len() == 1).await;
    b.reaches(&id, "running").await;
    let listed = b.get("/api/executions?workflow=w").await.expect(200);
    assert_eq!(listed["items"][0]["execution_id"], id.as_str());
    b.post(&format!("/api/executions/{id}/cancel"), "")
        .await
        .expect(200);
    assert_eq!(a.execution(&id).await["status"], "cancelled");
    let keyed = |server: &Server| {
        server
            .request(reqwest::Method::POST, "/api/workflows/w/execute?wait=20s")
            .header("Idempotency-Key", "same")
            .body("{}")
    };
    let first = tokio::spawn(crate::server::send(keyed(&a)));
    until("its call arrives", || target.calls("/held").len() == 2).await;
    let second = tokio::spawn(crate::server::send(keyed(&b)));
    target.release();
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    assert_eq!(second.headers["idempotent-replayed"], "true");
    let (first, second) = (first.expect(200), second.expect(200));
    assert_eq!(first["execution_id"], second["execution_id"]);
    assert_eq!(second["status"], "completed");
    assert_eq!(target.calls("/held").len(), 2, "one call for one key");
}

#[tokio::test]
async fn a_pause_on_one_holds_on_the_other() {
    let (a, b) = two(&[]).await;
    let target = Target::start().await;
    a.apply(
        "w",
        &two_steps("w", &target.url("/held"), &target.url("/b")),
    )
    .await;
    let id = a.execute("w", r#"{"name":"x"}"#).await;
    until("the call arrives", || target.calls("/held").len() == 1).await;
    let path = format!("/api/executions/{id}");
    b.post(&format!("{path}/pause"), "").await.expect(200);
    target.release();
    let first_is_done = |shown: &Value| shown["steps"][0]["status"] == "completed";
    let began = Instant::now();
    while !first_is_done(&a.execution(&id).await) {
        assert!(began.elapsed() < Duration::from_secs(20));
    }
    assert_eq!(b.execution(&id).await["status"], "paused");
    assert!(target.calls("/b").is_empty());
    b.post(&format!("{path}/resume"), "").await.expect(200);
    a.reaches(&id, "completed").await;
    assert_eq!(target.calls("/b").len(), 1);
}

#[tokio::test]
async fn a_dead_letter_of_one_is_retried_on_the_other() {
    let (a, b) = two(&[]).await;
    let target = Target::start().await;
    target.answers("/a", &[500, 500, 500]);
    a.apply("w", &one_step("w", &target.url("/a"))).await;
    let failed = a
        .post("/api/workflows/w/execute?wait=20s", "{}")
        .await
        .expect(200);
    let letter = failed["dlq_entry_id"].as_str().unwrap();
    let path = format!("/api/dlq/{letter}/retry");
    let retried = b.post(&path, "").await.expect(202);
    let execution = retried["execution_id"].as_str().unwrap();
    a.reaches(execution, "completed").await;
    a.post(&path, "").await.problem(409, "RF0018");
    let summary = a.get("/api/dlq/summary?status=resolved").await.expect(200);
    assert_eq!(summary["count"], 1, "{summary:#}");
}

#[tokio::test]
async fn what_one_has_no_room_for_the_other_does() {
    const EACH: usize = 2;
    const ALL: usize = 20;
    let (a, b) = two(&["--max-attempts", "2"]).await;
    let target = Target::start().await;
    a.apply("w", &one_step("w", &target.url("/held"))).await;
    let items = json!(vec![json!({}); ALL]).to_string();
    let page = a
        .post("/api/workflows/w/execute-batch", items)
        .await
        .expect(202);
    until("both nodes are busy", || {
        target.calls("/held").len() == 2 * EACH
    })
    .await;
    let running: Vec<_> = nodes(&b)
        .await
        .iter()
        .map(|node| node["running"].clone())
        .collect();
    assert_eq!(running, [json!(EACH), json!(EACH)]);
    target.release();
    for one in page["items"].as_array().unwrap() {
        let id = one["accepted"]["execution_id"].as_str().unwrap();
        b.reaches(id, "completed").await;
    }
    assert_eq!(target.calls("/held").len(), ALL, "each exactly once");
}

#[tokio::test]
async fn a_node_that_stops_hands_its_work_over_at_once() {
    let (mut a, b) = two(&["--lease", LONG_LEASE]).await;
    let target = Target::start().await;
    target.answers("/b", &[503]);
    let definition = one_step("retried", &target.url("/b")).replace("100ms", "4s");
    a.apply("retried", &definition).await;
    a.apply("delayed", &one_step("delayed", &target.url("/c")))
        .await;
    let retried = a.execute("retried", "{}").await;
    let accepted = a
        .post("/api/workflows/delayed/execute?delay=4s", "{}")
        .await
        .expect(202);
    let delayed = accepted["execution_id"].as_str().unwrap().to_owned();
    a.reaches(&retried, "retrying").await;
    a.signal("TERM");
    assert_eq!(a.ended().await.code(), Some(0));
    for id in [&retried, &delayed] {
        b.reaches(id, "completed").await;
        let events = b.event_types(id).await;
        assert!(!events.contains(&"STEP_LOST".to_owned()), "{events:?}");
    }
    assert_eq!((target.calls("/b").len(), target.calls("/c").len()), (2, 1));
}

#[tokio::test]
async fn the_work_of_a_node_that_died_is_done_elsewhere() {
    let (mut a, b) = two(&[]).await;
    let target = Target::start().await;
    a.apply("w", &one_step("w", &target.url("/held"))).await;
    let id = a.execute("w", r#"{"n":1}"#).await;
    until("the call arrives", || target.calls("/held").len() == 1).await;
    let died = Instant::now();
    a.kill();
    until("it is called again", || target.calls("/held").len() == 2).await;
    assert!(died.elapsed() < TAKEN_OVER_WITHIN, "{:?}", died.elapsed());
    target.release();
    let shown = b.reaches(&id, "completed").await;
    assert_eq!(shown["retry_count"], 0, "a loss costs no retry");
    let calls = target.calls("/held");
    assert_eq!(calls[0].idempotency_key, calls[1].idempotency_key);
    let left = nodes(&b).await;
    assert_eq!(left.len(), 1, "{left:#?}");
}

#[tokio::test]
async fn a_node_that_was_paused_joins_again_under_a_new_id() {
    let (a, b) = two(&[]).await;
    let target = Target::start().await;
    a.apply("w", &one_step("w", &target.url("/held"))).await;
    let id = a.execute("w", r#"{"n":1}"#).await;
    until("the call arrives", || target.calls("/held").len() == 1).await;
    let before = nodes(&b).await;
    a.signal("STOP");
    until("it is called again", || target.calls("/held").len() == 2).await;
    a.signal("CONT");
    let log = || a.log();
    until("it joins again", || log().contains("joined again")).await;
    let again = nodes(&b).await;
    let id_of = |nodes: &[Value], name: &str| {
        let found: Vec<_> = nodes.iter().filter(|node| node["name"] == name).collect();
        assert_eq!(found.len(), 1, "{nodes:#?}");
        found[0]["node_id"].clone()
    };
    assert_ne!(id_of(&before, "a"), id_of(&again, "a"));
    assert_eq!(id_of(&before, "b"), id_of(&again, "b"));
    target.release();
    let shown = a.reaches(&id, "completed").await;
    assert_eq!(shown["steps"][0]["attempts"], 2);
    let other = a
        .post("/api/workflows/w/execute?wait=20s", "{}")
        .await
        .expect(200);
    assert_eq!(other["status"], "completed", "it works as before");
}
