//! Triggers over HTTP: made, watched, paused, changed, caught up with.

use std::time::{Duration, Instant};

use refire_engine::clock::{Clock, SystemClock};
use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Answer, Server, send, until};
use crate::target::Target;
use crate::workflow::one_step;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server with a workflow `w`.
async fn ready() -> (Server, Target) {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/x"))).await;
    (server, target)
}

async fn create(server: &Server, body: Value) -> Value {
    let answer = server.post("/api/workflows/w/triggers", body.to_string());
    answer.await.expect(201)
}

fn id(trigger: &Value) -> &str {
    trigger["id"].as_str().unwrap()
}

async fn patch(server: &Server, id: &str, body: Value) -> Answer {
    let path = format!("/api/triggers/{id}");
    send(server.request(Method::PATCH, &path).body(body.to_string())).await
}

async fn act(server: &Server, id: &str, what: &str, body: Value) -> Answer {
    let path = format!("/api/triggers/{id}/{what}");
    server.post(&path, body.to_string()).await
}

/// The ledger, once it has so many entries of this status.
async fn slots(server: &Server, id: &str, status: &str, count: usize) -> Vec<Value> {
    let path = format!("/api/triggers/{id}/slots?status={status}");
    let until = Instant::now() + PATIENCE;
    loop {
        let page = server.get(&path).await.expect(200);
        let items = page["items"].as_array().unwrap().clone();
        if items.len() >= count {
            return items;
        }
        assert!(Instant::now() < until, "not {count} {status}: {page:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until so much time has passed: planned times come with the clock and nothing else.
async fn pass(time: Duration) {
    let began = Instant::now();
    until("the time passes", || began.elapsed() >= time).await;
}

#[tokio::test]
async fn a_cron_trigger_starts_executions_and_has_a_history() {
    let (server, target) = ready().await;
    let body = json!({"trigger_type": "cron", "cron_expression": "* * * * * *",
        "timezone": "Asia/Taipei", "input": {"n": 1}});
    let answer = server.post("/api/workflows/w/triggers", body.to_string());
    let answer = answer.await;
    let location = answer.headers["location"].to_str().unwrap().to_owned();
    let trigger = answer.expect(201);
    let id = id(&trigger);
    assert_eq!(location, format!("/api/triggers/{id}"));
    for (field, expected) in [
        ("workflow_id", json!("w")),
        ("trigger_type", json!("cron")),
        ("cron_expression", json!("* * * * * *")),
        ("timezone", json!("Asia/Taipei")),
        ("enabled", json!(true)),
        ("version", json!(1)),
        ("overlap", json!("allow")),
        ("misfire", json!("fire_once")),
        ("input", json!({"n": 1})),
        ("finished", json!(false)),
        ("problem", json!(null)),
    ] {
        assert_eq!(trigger[field], expected, "{field}");
    }
    let next = trigger["next_executions"].as_array().unwrap();
    assert_eq!(next.len(), 2);
    assert_eq!(trigger["next_execution"], next[0]);
    assert!(next[0].as_str().unwrap().ends_with("+08:00"), "{next:?}");
    let words = &trigger["description_in_words"];
    assert!(words["en"].as_str().unwrap().contains("second"), "{words}");
    assert!(words["zh-TW"].as_str().unwrap().contains('秒'), "{words}");

    let fired = slots(&server, id, "fired,late", 2).await;
    let execution = fired[1]["execution_id"].as_str().unwrap();
    let shown = server.reaches(execution, "completed").await;
    for (field, expected) in [
        ("trigger_type", json!("cron")),
        ("trigger_id", json!(id)),
        ("scheduled_at", fired[1]["nominal"].clone()),
        ("triggered_by", json!(null)),
        ("input", json!({"n": 1})),
    ] {
        assert_eq!(shown[field], expected, "{field}");
    }
    assert_ne!(fired[0]["nominal"], fired[1]["nominal"]);
    assert!(fired[0]["local"].as_str().unwrap().ends_with("+08:00"));
    assert_eq!(target.calls("/x")[0].json(), json!({"n": 1}));
    let first = server.get(&format!("{location}/slots?limit=1")).await;
    let first = first.expect(200);
    let cursor = first["next_cursor"].as_str().unwrap();
    let path = format!("{location}/slots?limit=1&cursor={cursor}");
    let second = server.get(&path).await.expect(200);
    let nominal = |page: &Value| page["items"][0]["nominal"].as_str().unwrap().to_owned();
    assert!(nominal(&second) < nominal(&first), "newest first");
    let other = server.get(&format!("{path}&status=fired")).await;
    other.problem(400, "RF0004");
    server.get(&location).await.expect(200);
    history(&server, id, &fired[1], &shown).await;
}

/// The history has the execution of an entry of the ledger, in the trigger's zone.
async fn history(server: &Server, id: &str, entry: &Value, execution: &Value) {
    let history = server
        .get("/api/workflows/w/cron-history?limit=50")
        .await
        .expect(200);
    for (field, expected) in [
        ("workflow_id", json!("w")),
        ("trigger_id", json!(id)),
        ("trigger_type", json!("cron")),
        ("cron_expression", json!("* * * * * *")),
        ("timezone", json!("Asia/Taipei")),
        ("enabled", json!(true)),
    ] {
        assert_eq!(history[field], expected, "{field}");
    }
    let next = history["next_execution"].as_str().unwrap();
    assert!(next.ends_with("+08:00"), "{next}");
    let runs = history["history"].as_array().unwrap();
    let run = runs
        .iter()
        .find(|run| run["execution_id"] == entry["execution_id"])
        .unwrap();
    assert_eq!(run["scheduled_at"], entry["local"]);
    assert_eq!(run["status"], "completed");
    assert_eq!(run["duration_ms"], execution["duration_ms"]);
    assert!(run["started_at"].as_str().unwrap().ends_with("+08:00"));
    assert!(run["completed_at"].as_str().unwrap().ends_with("+08:00"));
    let result = run["result"].as_str().unwrap();
    assert!(result.starts_with("{\"status\":200"), "{result}");
    assert!(result.chars().count() <= 200);
    let named = format!("/api/workflows/w/cron-history?trigger_id={id}&limit=1");
    let one = server.get(&named).await.expect(200);
    assert_eq!(one["history"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_history_needs_a_cron_trigger_of_this_workflow() {
    let (server, target) = ready().await;
    let path = "/api/workflows/w/cron-history";
    server.get(path).await.problem(404, "RF0031");
    let none = server.get("/api/workflows/none/cron-history").await;
    none.problem(404, "RF0008");
    server.apply("v", &one_step("v", &target.url("/x"))).await;
    let trigger = create(
        &server,
        json!({"trigger_type": "schedule", "daily": {"time": "09:00"}}),
    )
    .await;
    server.get(path).await.problem(404, "RF0031");
    let named = format!("{path}?trigger_id={}", id(&trigger));
    let history = server.get(&named).await.expect(200);
    assert_eq!(history["cron_expression"], json!(null));
    assert_eq!(history["history"], json!([]));
    let other = format!("/api/workflows/v/cron-history?trigger_id={}", id(&trigger));
    server.get(&other).await.problem(404, "RF0031");
}

#[tokio::test]
async fn what_is_wrong_is_told_by_its_field_and_nothing_is_saved() {
    let (server, _target) = ready().await;
    let cron = |expression: &str| json!({"trigger_type": "cron", "cron_expression": expression});
    for (body, field, said) in [
        (cron("0 0 30 2 *"), "cron_expression", "never fires"),
        (cron("61 * * * *"), "cron_expression", "minute: 61"),
        (cron("@reboot"), "cron_expression", "@reboot"),
        (cron("0 0 L-3 * *"), "cron_expression", "L-3"),
        (
            json!({"trigger_type": "cron"}),
            "cron_expression",
            "required",
        ),
        (
            json!({"cron_expression": "* * * * *"}),
            "trigger_type",
            "required",
        ),
        (
            json!({"trigger_type": "cron", "cron_expression": "* * * * *", "timezone": "Mars/Olympus"}),
            "timezone",
            "Mars/Olympus",
        ),
        (
            json!({"trigger_type": "cron", "cron_expression": "* * * * *",
                "start": "2027-01-02T00:00:00Z", "end": "2027-01-01T00:00:00Z"}),
            "end",
            "before",
        ),
        (
            json!({"trigger_type": "schedule", "every": "soon"}),
            "every",
            "soon",
        ),
        (
            json!({"trigger_type": "cron", "cron_expression": "* * * * *", "overlap": "maybe"}),
            "overlap",
            "maybe",
        ),
        (
            json!({"trigger_type": "webhook"}),
            "authentication",
            "missing",
        ),
    ] {
        let answer = server.post("/api/workflows/w/triggers", body.to_string());
        let problem = answer.await.problem(400, "RF0032");
        let errors = problem["errors"].as_array().unwrap();
        let error = errors.iter().find(|error| error["field"] == field);
        let error = error.unwrap_or_else(|| panic!("{body}: {problem:#}"));
        let text = format!("{} {}", error["message"], error["hint"]);
        assert!(text.contains(said), "{body}: {error}");
    }
    for bad in ["", "[]", "{"] {
        let answer = server.post("/api/workflows/w/triggers", bad).await;
        assert_eq!(answer.status, 400, "{bad}: {}", answer.text);
    }
    let none = server.post(
        "/api/workflows/none/triggers",
        cron("* * * * *").to_string(),
    );
    none.await.problem(404, "RF0008");
    let page = server.get("/api/triggers").await.expect(200);
    assert_eq!(page["items"], json!([]));
}

#[tokio::test]
async fn a_pause_is_one_skipped_stretch_and_can_be_run_later() {
    let (server, _target) = ready().await;
    let trigger = create(&server, json!({"trigger_type": "schedule", "every": "1s"})).await;
    let id = id(&trigger);
    slots(&server, id, "fired,late", 1).await;
    let paused = act(&server, id, "disable", json!({})).await.expect(200);
    assert_eq!(paused["enabled"], json!(false));
    assert_eq!(paused["next_execution"], json!(null));
    let again = act(&server, id, "disable", json!({})).await.expect(200);
    assert_eq!(again["version"], paused["version"], "nothing changed");
    let range = json!({"from": trigger["created_at"], "to": "2100-01-01T00:00:00Z"});
    let mut again = range.clone();
    again["only_missed"] = json!(false);
    let refused = act(&server, id, "backfill", again).await;
    refused.problem(409, "RF0033");
    pass(Duration::from_millis(2_500)).await;
    let enabled = act(&server, id, "enable", json!({})).await.expect(200);
    let pause = &enabled["pause"];
    assert!(pause["slots"].as_u64().unwrap() >= 2, "{pause}");
    assert_eq!(pause["caught_up"], json!(0));
    let skipped = slots(&server, id, "skipped", 1).await;
    assert_eq!(skipped.len(), 1, "one stretch: {skipped:#?}");
    assert_eq!(skipped[0]["reason"], "paused");
    assert_eq!(skipped[0]["count"], pause["slots"]);
    assert_eq!(
        (&skipped[0]["local"], &skipped[0]["local_to"]),
        (&pause["from"], &pause["to"])
    );
    backfill(&server, id, range, pause["slots"].as_u64().unwrap()).await;
}

/// Only what was skipped is run, once.
async fn backfill(server: &Server, id: &str, range: Value, expected: u64) {
    let mut dry = range.clone();
    dry["dry_run"] = json!(true);
    let would = act(server, id, "backfill", dry).await.expect(200);
    assert_eq!(would["count"], expected, "{would:#}");
    assert_eq!(would["slots"][0]["execution_id"], json!(null));
    let done = act(server, id, "backfill", range.clone()).await.expect(200);
    assert_eq!(done["count"], expected);
    let first = &done["slots"][0];
    assert_eq!(first["nominal"], would["slots"][0]["nominal"]);
    let execution = first["execution_id"].as_str().unwrap();
    let shown = server.reaches(execution, "completed").await;
    assert_eq!(shown["scheduled_at"], first["nominal"]);
    assert_eq!(shown["triggered_by"], "admin");
    let late = slots(server, id, "late", 1).await;
    assert!(late.iter().any(|entry| entry["reason"] == "backfill"));
    let again = act(server, id, "backfill", range).await.expect(200);
    assert_eq!(again["count"], json!(0), "nothing twice");
}

#[tokio::test]
async fn a_pause_can_be_caught_up_with() {
    let (server, _target) = ready().await;
    let body = json!({"trigger_type": "schedule", "every": "1s", "misfire": "fire_all",
        "enabled": false});
    let trigger = create(&server, body).await;
    let id = id(&trigger);
    pass(Duration::from_millis(2_500)).await;
    let path = format!("/api/triggers/{id}/enable?catch_up=true");
    let enabled = server.post(&path, "").await.expect(200);
    let pause = &enabled["pause"];
    let slots_passed = pause["slots"].as_u64().unwrap();
    assert!(slots_passed >= 2, "{pause}");
    assert_eq!(pause["caught_up"], pause["slots"]);
    let started = slots(&server, id, "fired,late", 2).await;
    let nominal: Vec<_> = started.iter().map(|one| &one["local"]).collect();
    assert!(nominal.contains(&&pause["from"]), "{nominal:?} {pause}");
    let path = format!("/api/triggers/{id}/slots?status=skipped");
    let skipped = server.get(&path).await.expect(200);
    assert_eq!(skipped["items"], json!([]));
}

#[tokio::test]
async fn a_range_must_be_one() {
    let (server, _target) = ready().await;
    let trigger = create(&server, json!({"trigger_type": "schedule", "every": "1s"})).await;
    let id = id(&trigger);
    for (body, field) in [
        (json!({"from": "x", "to": "2026-01-01T00:00:00Z"}), "from"),
        (json!({"from": "2026-01-01T00:00:00Z", "to": ""}), "to"),
        (
            json!({"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"}),
            "to",
        ),
        (
            json!({"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z", "only_missed": false}),
            "from",
        ),
        // Nothing is due there yet.
        (
            json!({"from": "2126-01-01T00:00:00Z", "to": "2126-01-02T00:00:00Z", "only_missed": false}),
            "from",
        ),
        (
            json!({"from": "2126-01-01T00:00:00Z", "to": "2126-01-02T00:00:00Z", "dry_run": true}),
            "from",
        ),
    ] {
        let answer = act(&server, id, "backfill", body.clone()).await;
        let problem = answer.problem(400, "RF0002");
        assert_eq!(problem["errors"][0]["field"], field, "{body}: {problem}");
    }
    let unknown = act(&server, id, "backfill", json!({"form": 1})).await;
    unknown.problem(400, "RF0002");
}

#[tokio::test]
async fn what_is_wrong_begins_with_a_field_or_a_word() {
    let (server, _target) = ready().await;
    let request = server.request(Method::POST, "/api/workflows/w/triggers");
    let body = json!({"trigger_type": "schedule", "timezone": "UTC"});
    let problem = send(request.body(body.to_string())).await;
    let problem = problem.problem(400, "RF0032");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.starts_with("nothing says when"), "{detail}");
}

#[tokio::test]
async fn a_trigger_is_changed_field_by_field() {
    let (server, _target) = ready().await;
    let body = json!({"trigger_type": "cron", "cron_expression": "0 9 * * MON", "jitter": "10m",
        "name": "weekly", "input": {"a": 1, "b": 2}});
    let trigger = create(&server, body).await;
    let id = id(&trigger);
    let change = json!({"cron_expression": "0 10 * * *", "jitter": null, "input": {"c": 3}});
    let changed = patch(&server, id, change).await.expect(200);
    assert_eq!(changed["version"], json!(2));
    assert_eq!(changed["cron_expression"], "0 10 * * *");
    assert_eq!(changed["jitter"], json!(null));
    assert_eq!(changed["name"], "weekly", "what is not named stays");
    assert_eq!(changed["input"], json!({"c": 3}), "replaced as a whole");
    let next = changed["next_execution"].as_str().unwrap();
    assert!(next.contains("T10:00:00"), "{next}");
    for (body, field) in [
        (json!({"trigger_type": "schedule"}), "trigger_type"),
        (json!({"cron_expression": "61 * * * *"}), "cron_expression"),
        (json!({"cron_expresion": "* * * * *"}), "cron_expresion"),
        (json!({"every": "1h"}), "every"),
    ] {
        let problem = patch(&server, id, body).await.problem(400, "RF0032");
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
    let shown = server.get(&format!("/api/triggers/{id}")).await.expect(200);
    assert_eq!(shown, changed);
    let none = patch(&server, "trg_none", json!({})).await;
    let problem = none.problem(404, "RF0031");
    assert_eq!(problem["detail"], "there is no trigger `trg_none`");
}

#[tokio::test]
async fn triggers_are_listed_filtered_and_removed() {
    let (server, target) = ready().await;
    server.apply("v", &one_step("v", &target.url("/x"))).await;
    let cron = json!({"trigger_type": "cron", "cron_expression": "0 0 1 1 *"});
    let paused = json!({"trigger_type": "schedule", "every": "13h", "enabled": false});
    let first = create(&server, cron.clone()).await;
    let second = create(&server, paused).await;
    let other = server.post("/api/workflows/v/triggers", cron.to_string());
    let third = other.await.expect(201);
    let all = [&first, &second, &third];
    let listed = async |path: &str| -> Vec<Value> {
        let page = server.get(path).await.expect(200);
        let items = page["items"].as_array().unwrap().iter();
        items.map(|one| one["id"].clone()).collect()
    };
    let ids =
        |some: &[&Value]| -> Vec<Value> { some.iter().map(|one| one["id"].clone()).collect() };
    assert_eq!(listed("/api/triggers").await, ids(&all));
    assert_eq!(listed("/api/triggers?workflow=v").await, ids(&[&third]));
    assert_eq!(listed("/api/triggers?type=schedule").await, ids(&[&second]));
    assert_eq!(listed("/api/triggers?type=cron,schedule").await, ids(&all));
    assert_eq!(listed("/api/triggers?enabled=false").await, ids(&[&second]));
    let of_workflow = "/api/workflows/w/triggers?enabled=true";
    assert_eq!(listed(of_workflow).await, ids(&[&first]));
    for bad in ["type=never", "enabled=perhaps", "type=cron,never", "x=1"] {
        let answer = server.get(&format!("/api/triggers?{bad}")).await;
        answer.problem(400, "RF0003");
    }
    let page = server.get("/api/triggers?limit=2").await.expect(200);
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = listed(&format!("/api/triggers?limit=2&cursor={cursor}")).await;
    assert_eq!(rest, ids(&[&third]));
    let path = format!("/api/triggers/{}", id(&first));
    server.delete(&path).await.expect(204);
    server.get(&path).await.problem(404, "RF0031");
    server.delete(&path).await.problem(404, "RF0031");
    assert_eq!(listed("/api/triggers").await, ids(&[&second, &third]));
}

#[tokio::test]
async fn the_next_times_say_what_the_clock_does_to_them() {
    let (server, _target) = ready().await;
    let body = json!({"trigger_type": "cron", "cron_expression": "30 2 8 3 *",
        "timezone": "America/New_York", "start": "2027-01-01T00:00:00Z", "enabled": false});
    let trigger = create(&server, body).await;
    let path = format!("/api/triggers/{}/next", id(&trigger));
    let two = server.get(&path).await.expect(200);
    assert_eq!(two["items"].as_array().unwrap().len(), 2);
    let many = server.get(&format!("{path}?count=30")).await.expect(200);
    let items = many["items"].as_array().unwrap();
    assert_eq!(items.len(), 30);
    // On 8 March 2032 nothing changes; on 8 March 2037 the clock goes from 02:00 to 03:00.
    let year = |year: &str| {
        let mut items = items.iter();
        items.find(|one| one["local"].as_str().unwrap().starts_with(year))
    };
    let usual = year("2032").unwrap();
    assert_eq!(usual["local"], "2032-03-08T02:30:00-05:00");
    assert_eq!(usual["nominal"], "2032-03-08T07:30:00.000000Z");
    assert_eq!(
        (&usual["at"], &usual["kind"]),
        (&usual["nominal"], &json!("normal"))
    );
    let moved = year("2037").unwrap();
    assert_eq!(moved["local"], "2037-03-08T03:00:00-04:00");
    assert_eq!(moved["kind"], "moved");
    for bad in ["count=0", "count=1001", "n=1"] {
        server
            .get(&format!("{path}?{bad}"))
            .await
            .problem(400, "RF0003");
    }
}

#[tokio::test]
async fn a_trigger_runs_by_hand_also_while_it_is_paused() {
    let (server, target) = ready().await;
    let body = json!({"trigger_type": "cron", "cron_expression": "0 0 1 1 *", "enabled": false,
        "input": {"own": true}});
    let trigger = create(&server, body).await;
    let path = format!("/api/triggers/{}/run", id(&trigger));
    let started = server.post(&path, "").await.expect(202);
    assert_eq!(started["status"], "pending");
    let execution = started["execution_id"].as_str().unwrap();
    let shown = server.reaches(execution, "completed").await;
    assert_eq!(shown["input"], json!({"own": true}));
    assert_eq!(shown["trigger_id"], trigger["id"]);
    assert_eq!(
        (&shown["scheduled_at"], &shown["triggered_by"]),
        (&json!(null), &json!("admin"))
    );
    let other = server.post(&path, r#"{"own":false}"#).await.expect(202);
    let other = other["execution_id"].as_str().unwrap();
    let shown = server.reaches(other, "completed").await;
    assert_eq!(shown["input"], json!({"own": false}));
    assert_eq!(target.calls("/x").len(), 2);
    server.post(&path, "{").await.problem(400, "RF0002");
    server.post(&path, "null").await.problem(400, "RF0002");
    let slots = format!("/api/triggers/{}/slots", id(&trigger));
    assert_eq!(server.get(&slots).await.expect(200)["items"], json!([]));
}

#[tokio::test]
async fn a_webhook_has_an_address_and_no_planned_times() {
    let (server, _target) = ready().await;
    let body = json!({"trigger_type": "webhook", "authentication": "none"});
    let trigger = create(&server, body).await;
    let webhook = trigger["webhook_id"].as_str().unwrap();
    assert!(webhook.starts_with("wh_"), "{webhook}");
    let address = format!("{}/webhooks/{webhook}", server.url);
    assert_eq!(trigger["webhook_url"], address.as_str());
    assert_eq!(trigger["description_in_words"], json!(null));
    assert_eq!(trigger["secret"], json!(null), "there is none");
    let path = format!("/api/triggers/{}", id(&trigger));
    server
        .get(&format!("{path}/next"))
        .await
        .problem(409, "RF0034");
    let rotate = act(&server, id(&trigger), "rotate-secret", json!({})).await;
    rotate.problem(409, "RF0034");
    let requests = format!("{path}/requests?status=filtered&test=false&from=2026-01-01T00:00:00Z");
    assert_eq!(server.get(&requests).await.expect(200)["items"], json!([]));
    let none = server.get(&format!("{path}/requests/whr_none")).await;
    none.problem(404, "RF0037");
    let bad = server.get(&format!("{path}/requests?status=lost")).await;
    bad.problem(400, "RF0003");
}

#[tokio::test]
async fn a_trigger_that_is_over_says_so() {
    let (server, _target) = ready().await;
    let soon = SystemClock::new().now().plus(Duration::from_secs(2));
    let body = json!({"trigger_type": "schedule", "at": soon.to_string()});
    let trigger = create(&server, body).await;
    assert_eq!(trigger["finished"], json!(false));
    slots(&server, id(&trigger), "fired,late", 1).await;
    let path = format!("/api/triggers/{}", id(&trigger));
    let over = server.get(&path).await.expect(200);
    assert_eq!(over["finished"], json!(true));
    assert_eq!(over["next_executions"], json!([]));
    let next = server.get(&format!("{path}/next")).await.expect(200);
    assert_eq!(next["items"], json!([]));
}

#[tokio::test]
async fn a_success_that_does_not_come_is_noticed_and_so_is_its_return() {
    let (server, target) = ready().await;
    // Three attempts each: the first three executions fail for good.
    target.answers("/x", &[500; 9]);
    let body = json!({"trigger_type": "schedule", "every": "1s",
        "dead_man": {"success_within": "2s"}});
    let trigger = create(&server, body).await;
    let id = id(&trigger);
    assert_eq!(trigger["overdue_since"], json!(null));
    let overdue = slots(&server, id, "overdue", 1).await;
    let recovered = slots(&server, id, "recovered", 1).await;
    let (overdue, recovered) = (overdue.last().unwrap(), recovered.last().unwrap());
    assert!(overdue["at"].as_str() < recovered["at"].as_str());
    assert_eq!(overdue["execution_id"], json!(null));
    let shown = server.get(&format!("/api/triggers/{id}")).await.expect(200);
    assert!(shown["last_success_at"].is_string(), "{shown:#}");
    // Nothing more is to come, so that lines and entries can be compared.
    act(&server, id, "disable", json!({})).await.expect(200);
    for (status, words) in [
        ("overdue", "it is overdue"),
        ("recovered", "it has recovered"),
    ] {
        let entries = slots(&server, id, status, 1).await;
        let said = || {
            let log = server.log();
            let lines = log.lines();
            lines
                .filter(|line| line.contains(words) && line.contains(id))
                .count()
        };
        // A line is said after the commit.
        for _ in 0..100 {
            if said() == entries.len() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(said(), entries.len(), "{status}: {}", server.log());
    }
    let listed = async |query: &str| {
        let page = server.get(&format!("/api/triggers?{query}")).await;
        page.expect(200)["items"].as_array().unwrap().len()
    };
    assert_eq!(listed("overdue=true").await, 0, "it has recovered");
    assert_eq!(listed("overdue=false").await, 1);
}
