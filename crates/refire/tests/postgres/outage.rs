//! The database goes away under a running server, and comes back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::{Method, RequestBuilder};
use serde_json::json;

use crate::cluster::Cluster;
use crate::database::Database;
use crate::proxy::Proxy;
use crate::server::{Server, send, until};
use crate::target::Target;
use crate::workflow::one_step;

/// Every call to the database has a deadline, and no request waits for many of them.
const ANSWERED_WITHIN: Duration = Duration::from_secs(15);
/// The longest pause between two tries to connect, and some for a busy machine.
const BACK_WITHIN: Duration = Duration::from_secs(15);

/// How long a commit is looked for while nobody can be asked, and some for a busy machine.
const UNKNOWN_AFTER: std::ops::Range<Duration> =
    Duration::from_millis(9_500)..Duration::from_secs(20);

async fn ready(server: &Server) -> bool {
    server.get("/readyz").await.status == 200
}

/// Waits until the database that is back is found.
async fn back(server: &Server) {
    let began = Instant::now();
    while !ready(server).await {
        assert!(began.elapsed() < BACK_WITHIN, "never ready again");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Sends as senders do: what is answered 503 is sent again. Reads may find the database back a moment
/// before commits do, which try to connect only now and then while it is away.
async fn sent(request: impl Fn() -> RequestBuilder) -> serde_json::Value {
    let began = Instant::now();
    loop {
        let answer = send(request()).await;
        if answer.status != 503 {
            return answer.expect(200);
        }
        assert!(began.elapsed() < BACK_WITHIN, "never taken");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn requests_get_503_until_the_database_is_back() {
    let cluster = Cluster::start();
    let database = Arc::new(Database::at(&cluster.url));
    let (server, target) = (Server::start_on(database, &[]).await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    server
        .apply("slow", &one_step("slow", &target.url("/held")))
        .await;
    let before = server.execute("w", r#"{"n":1}"#).await;
    server.reaches(&before, "completed").await;
    let in_flight = server.execute("slow", "{}").await;
    until("the call arrives", || target.calls("/held").len() == 1).await;
    assert!(ready(&server).await);

    cluster.down();
    for _ in 0..3 {
        let began = Instant::now();
        let refused = server.post("/api/workflows/w/execute", r#"{"n":2}"#).await;
        assert!(began.elapsed() < ANSWERED_WITHIN, "{:?}", began.elapsed());
        assert_eq!(refused.headers["retry-after"], "1");
        refused.problem(503, "RF0025");
    }
    for path in [
        "/api/executions",
        &format!("/api/executions/{before}"),
        "/api/nodes",
        "/api/dlq/summary",
    ] {
        let began = Instant::now();
        let refused = server.get(path).await;
        assert!(began.elapsed() < ANSWERED_WITHIN, "{:?}", began.elapsed());
        assert_eq!(refused.headers["retry-after"], "1", "{path}");
        refused.problem(503, "RF0025");
    }
    let health = server.get("/readyz").await;
    assert_eq!(
        (health.status, &health.json()["status"]),
        (503, &json!("the store is not available"))
    );
    server.get("/livez").await.expect(200);
    // Its answer comes while there is nobody to tell.
    target.release();

    cluster.up();
    back(&server).await;
    let ended = server
        .post("/api/workflows/w/execute?wait=20s", r#"{"n":3}"#)
        .await
        .expect(200);
    assert_eq!(ended["status"], "completed");
    server.reaches(&in_flight, "completed").await;
    let bodies: Vec<_> = target.calls("/a").iter().map(|call| call.json()).collect();
    assert_eq!(
        bodies,
        [json!({"n": 1}), json!({"n": 3})],
        "what was refused never runs"
    );
    let log = server.log();
    assert!(!log.contains("panicked"), "{log}");
    let password = cluster.url.split([':', '@']).nth(2).unwrap();
    assert!(!log.contains(password), "the password is never logged");
}

#[tokio::test]
async fn senders_of_webhooks_get_503_until_the_database_is_back() {
    let cluster = Cluster::start();
    let database = Arc::new(Database::at(&cluster.url));
    let (server, target) = (Server::start_on(database, &[]).await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    let settings = json!({"trigger_type": "webhook", "authentication": "none"});
    let create = || server.post("/api/workflows/w/triggers", settings.to_string());
    // One that has been used, and one that the server must read first.
    let (used, fresh) = (create().await.expect(201), create().await.expect(201));
    let event = |trigger: &serde_json::Value, number: u32| -> RequestBuilder {
        let request = reqwest::Client::new().post(trigger["webhook_url"].as_str().unwrap());
        let request = request.header("content-type", "application/json");
        let request = request.header("Idempotency-Key", format!("event-{number}"));
        request.body(json!({ "n": number }).to_string())
    };
    let taken = send(event(&used, 1)).await.expect(200);
    assert_eq!(taken["status"], "triggered");
    server
        .reaches(taken["execution_id"].as_str().unwrap(), "completed")
        .await;

    cluster.down();
    for (trigger, number) in [(&used, 1), (&used, 2), (&fresh, 3), (&used, 2)] {
        let began = Instant::now();
        let refused = send(event(trigger, number)).await;
        assert!(began.elapsed() < ANSWERED_WITHIN, "{:?}", began.elapsed());
        let after = refused.headers["retry-after"].to_str().unwrap();
        assert!(after.parse::<u32>().unwrap() >= 1, "{after}");
        refused.problem(503, "RF0025");
    }
    cluster.up();
    back(&server).await;

    let listed = server.get("/api/executions").await.expect(200);
    let listed = listed["items"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "nothing was started: {listed:#?}");
    let again = sent(|| event(&used, 1)).await;
    assert_eq!(again["status"], "already_processed");
    assert_eq!(again["execution_id"], taken["execution_id"]);
    // What was refused has taken no name.
    for (trigger, number) in [(&used, 2), (&fresh, 3)] {
        let taken = sent(|| event(trigger, number)).await;
        assert_eq!(taken["status"], "triggered", "{taken}");
        let id = taken["execution_id"].as_str().unwrap();
        server.reaches(id, "completed").await;
    }
    let bodies: Vec<_> = target.calls("/a").iter().map(|call| call.json()).collect();
    assert_eq!(bodies, [json!({"n": 1}), json!({"n": 2}), json!({"n": 3})]);
    let log = server.log();
    assert!(!log.contains("panicked"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_can_find_out_is_told_so_and_the_node_goes_on() {
    let database = Database::new();
    let proxy = Proxy::to(database.url()).await;
    let through = Arc::new(Database::at(proxy.url()));
    let (server, target) = (Server::start_on(through, &[]).await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    let execute = || {
        let request = server.request(Method::POST, "/api/workflows/w/execute?wait=20s");
        send(
            request
                .header("Idempotency-Key", "order-1")
                .body(r#"{"n":1}"#),
        )
    };
    proxy.refuse_after_cut();
    proxy.cut_commit_with("INSERT INTO executions");
    let began = Instant::now();
    let unknown = execute().await;
    let took = began.elapsed();
    unknown.problem(500, "RF0024");
    assert!(UNKNOWN_AFTER.contains(&took), "{took:?}");
    assert_eq!(proxy.cuts(), 1);
    server.get("/livez").await.expect(200);

    proxy.refuse(false);
    let began = Instant::now();
    while !ready(&server).await {
        assert!(began.elapsed() < BACK_WITHIN, "never ready again");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    until("it has joined again", || {
        server.log().contains("joined again")
    })
    .await;
    // It had been written: the same key finds it, and it runs.
    let ended = execute().await.expect(200);
    assert_eq!(ended["status"], "completed");
    let all = server.get("/api/executions").await.expect(200);
    assert_eq!(all["items"].as_array().unwrap().len(), 1);
    assert_eq!(target.calls("/a").len(), 1);
}
