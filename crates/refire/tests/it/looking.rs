//! Lists and overviews that people look at: workflows with their numbers, what fires next, requests to a
//! webhook by what became of them, tasks by type.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Server, send};
use crate::target::Target;
use crate::workflow::one_step;

const URL: &str = "https://x.example/";

async fn create(server: &Server, workflow: &str, settings: Value) -> Value {
    let path = format!("/api/workflows/{workflow}/triggers");
    server.post(&path, settings.to_string()).await.expect(201)
}

async fn names(server: &Server, path: &str, field: &str) -> Vec<String> {
    let page = server.get(path).await.expect(200);
    let items = page["items"].as_array().unwrap();
    let name = |item: &Value| item[field].as_str().unwrap().to_owned();
    items.iter().map(name).collect()
}

#[tokio::test]
async fn workflows_are_searched_sorted_and_say_how_they_are_doing() {
    let server = Server::start().await;
    for id in ["beta", "alpha", "crm_sync"] {
        server.apply(id, &one_step(id, URL)).await;
    }
    let newer = one_step("alpha", URL).replace("maxRetries: 2", "maxRetries: 3");
    server.apply("alpha", &newer).await;
    let ids = async |query: &str| {
        let path = format!("/api/workflows{query}");
        names(&server, &path, "workflow_id").await
    };
    assert_eq!(ids("").await, ["alpha", "beta", "crm_sync"]);
    assert_eq!(ids("?sort=-updated").await, ["alpha", "crm_sync", "beta"]);
    assert_eq!(ids("?q=CRM").await, ["crm_sync"]);
    let first = server.get("/api/workflows?sort=-updated&limit=2").await;
    let first = first.expect(200);
    assert!(first["items"][0].get("stats").is_none(), "{first}");
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = format!("?sort=-updated&limit=2&cursor={cursor}");
    assert_eq!(ids(&rest).await, ["beta"]);
    let other = format!("/api/workflows?cursor={cursor}");
    server.get(&other).await.problem(400, "RF0004");
    for wrong in ["sort=size", "include=all"] {
        let path = format!("/api/workflows?{wrong}");
        server.get(&path).await.problem(400, "RF0003");
    }
    let cron = json!({"trigger_type": "cron", "cron_expression": "0 0 1 1 *"});
    let made = create(&server, "beta", cron).await;
    let hook = json!({"trigger_type": "webhook", "authentication": "none"});
    create(&server, "beta", hook).await;
    let delayed = "/api/workflows/beta/execute?delay=1h";
    server.post(delayed, "{}").await.expect(202);
    let path = "/api/workflows?include=stats&q=beta";
    let shown = server.get(path).await.expect(200);
    let stats = &shown["items"][0]["stats"];
    let counts = ["triggers", "open", "dead_letters"].map(|name| stats[name].as_u64().unwrap());
    assert_eq!(counts, [2, 1, 0], "{shown:#}");
    let next = stats["next_fire"].as_str().unwrap();
    let year = &made["next_execution"].as_str().unwrap()[..10];
    assert!(next.starts_with(year), "{next} {made:#}");
}

#[tokio::test]
async fn triggers_are_searched_and_say_what_fires_next() {
    let server = Server::start().await;
    for id in ["report", "orders"] {
        server.apply(id, &one_step(id, URL)).await;
    }
    let yearly =
        json!({"trigger_type": "cron", "cron_expression": "0 0 1 1 *", "name": "New Year"});
    let yearly = create(&server, "report", yearly).await;
    let hourly = json!({"trigger_type": "schedule", "every": "1h", "timezone": "Asia/Taipei"});
    let hourly = create(&server, "report", hourly).await;
    let paused = json!({"trigger_type": "schedule", "every": "1m", "enabled": false});
    create(&server, "orders", paused).await;
    let hook = json!({"trigger_type": "webhook", "authentication": "none"});
    let hook = create(&server, "orders", hook).await;
    let found = async |words: &str| {
        let path = format!("/api/triggers?q={words}");
        names(&server, &path, "id").await.len()
    };
    let webhook = hook["webhook_id"].as_str().unwrap();
    for (words, count) in [
        ("REPORT", 2),
        ("new%20y", 1),
        ("0%200%201", 1),
        (webhook, 1),
        ("none", 0),
    ] {
        assert_eq!(found(words).await, count, "{words}");
    }
    let coming = server.get("/api/triggers/upcoming").await.expect(200);
    let items = coming["items"].as_array().unwrap();
    let ids: Vec<&Value> = items.iter().map(|item| &item["trigger_id"]).collect();
    assert_eq!(ids, [&hourly["id"], &yearly["id"]], "{coming:#}");
    let last = &items[1];
    assert_eq!(
        (&last["workflow_id"], &last["trigger_type"], &last["name"]),
        (&json!("report"), &json!("cron"), &json!("New Year"))
    );
    assert!(last["description"].as_str().unwrap().contains("January"));
    assert!(last["description_zh"].as_str().unwrap().contains("1 月"));
    let one = server
        .get("/api/triggers/upcoming?limit=1")
        .await
        .expect(200);
    assert_eq!(one["items"].as_array().unwrap().len(), 1);
    let slots = format!("/api/triggers/{}/slots", hourly["id"].as_str().unwrap());
    let range = "?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z";
    assert_eq!(
        server.get(&format!("{slots}{range}")).await.expect(200)["items"],
        json!([])
    );
    server
        .get(&format!("{slots}?from=x"))
        .await
        .problem(400, "RF0003");
}

/// A webhook with three requests that were filtered, one of a stranger, and one that passed.
async fn hooked(server: &Server) -> String {
    let settings = json!({"trigger_type": "webhook", "authentication": "api_key",
        "secret": "a-secret-of-forty-bytes-for-these-tests!",
        "filters": [{"json_path": "$.event", "operator": "equals", "value": "wanted"}]});
    let made = create(server, "w", settings).await;
    let address = format!("/webhooks/{}", made["webhook_id"].as_str().unwrap());
    for (key, body, status) in [
        (
            "a-secret-of-forty-bytes-for-these-tests!",
            r#"{"event":"other","n":1}"#,
            200,
        ),
        (
            "a-secret-of-forty-bytes-for-these-tests!",
            r#"{"event":"other","n":2}"#,
            200,
        ),
        (
            "a-secret-of-forty-bytes-for-these-tests!",
            r#"{"event":"third","n":3}"#,
            200,
        ),
        ("wrong", r#"{"event":"wanted"}"#, 401),
        (
            "a-secret-of-forty-bytes-for-these-tests!",
            r#"{"event":"wanted"}"#,
            200,
        ),
    ] {
        let request = server.http.post(format!("{}{address}", server.url));
        let request = request.header("x-api-key", key).body(body);
        let answer = send(request.header("content-type", "application/json")).await;
        assert_eq!(answer.status, status, "{}", answer.text);
    }
    made["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn requests_are_summed_up_and_checked_again_together() {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    let id = hooked(&server).await;
    let path = format!("/api/triggers/{id}/requests");
    let summary = server.get(&format!("{path}/summary")).await.expect(200);
    let counts = json!({"auth_failed": 1, "filtered": 3, "triggered": 1});
    assert_eq!(
        (&summary["by_status"], &summary["total"]),
        (&counts, &json!(5))
    );
    assert_eq!(
        (&summary["quarantined"], &summary["exact"]),
        (&json!(1), &json!(true))
    );
    assert!(summary["oldest"].as_str() < summary["newest"].as_str());
    let none = format!("{path}/summary?to=2026-01-01T00:00:00Z");
    assert_eq!(server.get(&none).await.expect(200)["total"], 0);
    let trigger = format!("/api/triggers/{id}");
    let wider =
        json!({"filters": [{"json_path": "$.event", "operator": "equals", "value": "other"}]});
    let patch = server
        .request(Method::PATCH, &trigger)
        .body(wider.to_string());
    send(patch).await.expect(200);
    let recheck = async |body: Value| {
        let path = format!("{path}/recheck");
        server.post(&path, body.to_string()).await
    };
    let dry = recheck(json!({"dry_run": true})).await.expect(200);
    let sums = ["looked_at", "would_start", "refused", "already_started"];
    assert_eq!(
        sums.map(|name| dry[name].as_u64().unwrap()),
        [4, 2, 2, 0],
        "{dry:#}"
    );
    assert!(dry.get("started").is_none() && dry["next_cursor"].is_null());
    let statuses: Vec<&str> = dry["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["status"].as_str().unwrap())
        .collect();
    assert_eq!(
        statuses,
        ["triggered", "triggered", "filtered", "auth_failed"]
    );
    assert_eq!(target.calls("/a").len(), 1, "nothing was started");
    let done = recheck(json!({"status": ["filtered"]})).await.expect(200);
    let sums = ["looked_at", "started", "refused"];
    assert_eq!(
        sums.map(|name| done[name].as_u64().unwrap()),
        [3, 2, 1],
        "{done:#}"
    );
    let execution = done["items"][0]["execution_id"].as_str().unwrap();
    server.reaches(execution, "completed").await;
    let again = recheck(json!({})).await.expect(200);
    assert_eq!(
        (&again["looked_at"], &again["started"]),
        (&json!(2), &json!(0))
    );
    for (body, field) in [
        (json!({"from": "soon"}), "from"),
        (json!({"status": ["triggered"]}), "status"),
        (json!({"status": ["odd"]}), "status"),
    ] {
        let problem = recheck(body).await.problem(400, "RF0002");
        assert_eq!(problem["errors"][0]["field"], field);
    }
    recheck(json!({"cursor": "x"})).await.problem(400, "RF0004");
}

#[tokio::test]
async fn tasks_are_summed_up_by_type() {
    let server = Server::start().await;
    let none = server.get("/api/external-tasks/summary").await.expect(200);
    assert_eq!(none, json!({"items": [], "exact": true}));
    let source = "id: w\nsteps:\n  - {id: a, type: external_task, config: {taskType: jira/create}}\n\
         \x20 - {id: b, type: external_task, needs: [], config: {taskType: mail}}\n";
    server.apply("w", source).await;
    for _ in 0..2 {
        server
            .post("/api/workflows/w/execute", "{}")
            .await
            .expect(202);
    }
    let poll = "/api/external-tasks/poll?taskType=jira/*&workerId=w1&waitSeconds=0";
    assert_eq!(server.get(poll).await.status, 200);
    let summary = server.get("/api/external-tasks/summary").await.expect(200);
    let items = summary["items"].as_array().unwrap();
    let row = |item: &Value| {
        let number = |name: &str| item[name].as_u64().unwrap();
        let name = item["taskType"].as_str().unwrap().to_owned();
        (name, number("pending"), number("locked"), number("workers"))
    };
    let rows: Vec<_> = items.iter().map(row).collect();
    let expected = [
        ("jira/create".to_owned(), 1, 1, 1),
        ("mail".to_owned(), 2, 0, 0),
    ];
    assert_eq!(rows, expected, "{summary:#}");
    assert!(items.iter().all(|item| item["oldestPendingAt"].is_string()));
}

#[tokio::test]
async fn what_is_wrong_is_told() {
    let (server, target) = (Server::start().await, Target::start().await);
    let quiet = server.get("/api/trouble").await.expect(200);
    assert_eq!(quiet["items"], json!([]), "{quiet:#}");
    assert!(quiet["quiet_since"].is_string());
    let again = server.get("/api/trouble").await.expect(200);
    assert_eq!(again["quiet_since"], quiet["quiet_since"]);
    target.answers("/a", &[404]);
    server
        .apply("broken", &one_step("broken", &target.url("/a")))
        .await;
    let started = server
        .post("/api/workflows/broken/execute?wait=20s", "{}")
        .await;
    assert_eq!(started.expect(200)["status"], "dlq");
    server.apply("w", &one_step("w", &target.url("/b"))).await;
    let hook = hooked(&server).await;
    let started = server.get("/api/executions?workflow=w").await.expect(200);
    let execution = started["items"][0]["execution_id"].as_str().unwrap();
    server.reaches(execution, "completed").await;
    let told = server.get("/api/trouble").await.expect(200);
    assert!(told.get("quiet_since").is_none(), "{told:#}");
    let items = told["items"].as_array().unwrap();
    let kinds: Vec<&str> = items
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["dead_letters", "quarantine"], "{told:#}");
    let first = &items[0];
    for (field, expected) in [
        ("severity", json!("critical")),
        ("subject", json!("broken")),
        ("workflow_id", json!("broken")),
        ("count", json!(1)),
        (
            "text",
            json!("1 dead letter of broken waits for a decision"),
        ),
        ("text_zh", json!("broken 有 1 筆死信等待處理")),
        ("path", json!("/dlq?workflow=broken")),
    ] {
        assert_eq!(first[field], expected, "{field}");
    }
    assert_eq!(
        (&items[1]["subject"], &items[1]["severity"]),
        (&json!(hook), &json!("warning"))
    );
    let overview = server.get("/api/overview?range=1h").await.expect(200);
    for (field, expected) in [
        ("/range", json!("1h")),
        ("/executions/total", json!(2)),
        ("/executions/exact", json!(true)),
        ("/executions/by_status/dlq", json!(1)),
        ("/success_rate", json!(0.5)),
        ("/retry_recovery", json!(null)),
        ("/dead_letters/pending", json!(1)),
        ("/dead_letters/new_in_range", json!(1)),
        ("/open/running", json!(0)),
        ("/triggers/enabled", json!(1)),
        ("/triggers/overdue", json!(0)),
        ("/workers/active", json!(0)),
        ("/nodes/alive", json!(1)),
        ("/tasks/pending", json!(0)),
    ] {
        assert_eq!(
            overview.pointer(field),
            Some(&expected),
            "{field} {overview:#}"
        );
    }
    for wrong in ["31d", "soon", "-1h"] {
        let path = format!("/api/overview?range={wrong}");
        server.get(&path).await.problem(400, "RF0003");
    }
    let nodes = server.get("/api/nodes").await.expect(200);
    assert!(
        nodes["items"][0]["commit_ms_p99"].as_f64().unwrap() > 0.0,
        "{nodes:#}"
    );
}
