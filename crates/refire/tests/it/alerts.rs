//! Alerts over HTTP: rules, what fires, silences, and statistics.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};

use crate::server::Server;
use crate::target::Target;

/// How long an alert may take: a look comes every second.
const PATIENCE: Duration = Duration::from_secs(20);
const EVERY: [&str; 2] = ["--alerts-every", "1s"];
const RULE: &str =
    "name: Half fail\nkind: failure_rate\nworkflow: w\nwindow: 10m\nabove: 50\nmin_count: 3\n";

fn definition(url: &str) -> String {
    format!(
        "id: w\nretry: false\nsteps: [{{id: a, type: http, config: {{method: POST, url: '{url}'}}}}]"
    )
}

pub(crate) async fn items(server: &Server, path: &str) -> Vec<Value> {
    let page = server.get(path).await.expect(200);
    page["items"].as_array().unwrap().clone()
}

/// Runs so many executions, which all come to this status.
pub(crate) async fn run(server: &Server, count: usize, status: &str) {
    for _ in 0..count {
        let id = server.execute("w", "{}").await;
        server.reaches(&id, status).await;
    }
}

/// Waits until the alert of the test's rule is in a phase.
pub(crate) async fn reaches(server: &Server, phase: &str) -> Value {
    let path = format!("/api/alerts?phase={phase}&subject=w");
    let until = Instant::now() + PATIENCE;
    loop {
        let mut found = items(server, &path).await.into_iter();
        if let Some(alert) = found.find(|alert| alert["rule"] == "Half fail") {
            return alert;
        }
        assert!(Instant::now() < until, "the alert never comes to {phase}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// How often the logs say that something fires, and that it is over.
pub(crate) fn said(logs: &[String]) -> (usize, usize) {
    let count = |what: &str| logs.iter().map(|log| log.matches(what).count()).sum();
    (
        count("alert: Half fail (w"),
        count("alert is over: Half fail (w"),
    )
}

#[tokio::test]
async fn a_workflow_that_fails_fires_once_and_is_over_once_whatever_dies() {
    let target = Target::start().await;
    let mut server = Server::start_with(&EVERY).await;
    server.apply("w", &definition(&target.url("/a"))).await;
    let made = server.post("/api/alert-rules", RULE).await.expect(201);
    assert_eq!(
        (&made["kind"], &made["version"]),
        (&json!("failure_rate"), &json!(1))
    );
    target.answers("/a", &[400; 4]);
    run(&server, 4, "dlq").await;
    let fired = reaches(&server, "firing").await;
    assert_eq!(
        (&fired["value"], &fired["value_text"]),
        (&json!(100.0), &json!("100.0 %"))
    );
    assert_eq!(
        (&fired["muted"], &fired["told_at"]),
        (&json!(true), &json!(null))
    );
    server.kill();
    server.restart();
    let path = format!("/api/alerts/{}", fired["id"].as_str().unwrap());
    assert_eq!(server.get(&path).await.expect(200)["phase"], "firing");
    let acked = server.post(&format!("{path}/ack"), "").await.expect(200);
    assert_eq!(acked["acked_by"], "admin");
    let trouble = items(&server, "/api/trouble").await;
    let shown = trouble.iter().find(|it| it["kind"] == "alert_firing");
    assert_eq!(shown.unwrap()["text"], "alert: Half fail (w)");
    run(&server, 8, "completed").await;
    let over = reaches(&server, "resolved").await;
    assert_eq!(over["id"], fired["id"]);
    // The log of both lives.
    let log = [server.log()];
    assert_eq!(said(&log), (1, 1), "{log:?}");
    server
        .post("/api/alerts/alert_00000000000000000000000001/ack", "")
        .await
        .problem(404, "RF0103");
    let stats = server
        .get("/api/stats/minutes?workflow=w&step=1h")
        .await
        .expect(200);
    let total = &stats["total"];
    assert_eq!(
        (&total["started"], &total["failed"]),
        (&json!(12), &json!(4))
    );
}

#[tokio::test]
async fn rules_are_checked_changed_and_removed() {
    let server = Server::start().await;
    let rules = items(&server, "/api/alert-rules").await;
    assert_eq!(rules.len(), 8, "those from the start");
    assert!(
        rules
            .iter()
            .all(|rule| rule["built_in"] == true && rule["version"] == 0)
    );
    let refused = |body: &'static str| {
        let server = &server;
        async move {
            server
                .post("/api/alert-rules", body)
                .await
                .problem(400, "RF0100")
        }
    };
    for (body, field) in [
        (
            "{name: r, kind: failure_rate, above: 5, window: 0}",
            "window",
        ),
        ("{name: r, kind: failure_rate, above: 101}", "above"),
        ("{name: r, kind: many}", "kind"),
        ("{kind: dead_man}", "name"),
        ("{name: r, kind: dead_man, repeat: 1s}", "repeat"),
    ] {
        let problem = refused(body).await;
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
    let rule = server.post("/api/alert-rules", RULE).await.expect(201);
    assert_eq!(rule["warnings"][0], "there is no workflow `w`");
    server
        .post("/api/alert-rules", RULE)
        .await
        .problem(409, "RF0101");
    let path = format!("/api/alert-rules/{}", rule["id"].as_str().unwrap());
    let patch = |body: &str, version: &str| {
        let request = server.request(Method::PATCH, &path).body(body.to_owned());
        crate::server::send(request.header("If-Match", version))
    };
    let changed = patch("{above: 10}", "\"1\"").await.expect(200);
    assert_eq!(
        (&changed["above"], &changed["version"]),
        (&json!(10.0), &json!(2))
    );
    patch("{above: 20}", "\"1\"").await.problem(412, "RF0102");
    patch("{above: 200}", "*").await.problem(400, "RF0100");
    patch("{name: Executions fail}", "*")
        .await
        .problem(409, "RF0101");
    assert_eq!(server.delete(&path).await.status, 204);
    server.get(&path).await.problem(404, "RF0099");
    let first = format!("/api/alert-rules/{}", rules[0]["id"].as_str().unwrap());
    assert_eq!(server.delete(&first).await.status, 204);
    assert_eq!(items(&server, "/api/alert-rules").await.len(), 7);
    let preview = server
        .post("/api/alert-rules/preview", RULE)
        .await
        .expect(200);
    assert_eq!(
        (&preview["now"], &preview["past"]),
        (&json!([]), &json!([]))
    );
}

#[tokio::test]
async fn silences_are_made_changed_and_ended() {
    let server = Server::start().await;
    for (body, said) in [
        ("{ends_at: 2020-01-01T00:00:00Z}", "before it begins"),
        (
            "{rule: none, ends_at: 2099-01-01T00:00:00Z}",
            "there is no rule",
        ),
        ("{}", "`ends_at` is required"),
    ] {
        let problem = server
            .post("/api/silences", body)
            .await
            .problem(400, "RF0002");
        assert!(
            problem["detail"].as_str().unwrap().contains(said),
            "{problem}"
        );
    }
    let ends_at = |days: i64| {
        use refire_engine::clock::Clock as _;
        let now = refire_engine::clock::SystemClock::default().now();
        let seconds = Duration::from_secs(days.unsigned_abs() * 86_400);
        match days < 0 {
            true => now.minus(seconds).to_string(),
            false => now.plus(seconds).to_string(),
        }
    };
    let body =
        json!({"rule": "Executions fail", "subject": "w", "ends_at": ends_at(1), "comment": "é"});
    let made = server
        .post("/api/silences", body.to_string())
        .await
        .expect(201);
    assert_eq!(
        (&made["state"], &made["created_by"]),
        (&json!("active"), &json!("admin"))
    );
    assert_eq!(made["rule_id"], "rule_00000000000000000000000001");
    let path = format!("/api/silences/{}", made["id"].as_str().unwrap());
    let later = json!({"starts_at": ends_at(1), "ends_at": ends_at(2)}).to_string();
    let planned = server.put(&path, later).await.expect(200);
    assert_eq!(
        (&planned["state"], &planned["rule"]),
        (&json!("planned"), &json!(null))
    );
    assert_eq!(items(&server, "/api/silences").await.len(), 1);
    assert_eq!(server.delete(&path).await.status, 204);
    server.get(&path).await.problem(404, "RF0103");
    for (query, field) in [
        ("from=x", "from"),
        ("step=0", "step"),
        ("step=1m&from=2020-01-01T00:00:00Z", "step"),
    ] {
        let problem = server
            .get(&format!("/api/stats/minutes?{query}"))
            .await
            .problem(400, "RF0003");
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
}
