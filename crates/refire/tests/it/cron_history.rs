//! The history of a workflow's cron triggers: whose it is, in which order, and what came of each run.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Server, send, until};
use crate::target::Target;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);
const HISTORY: &str = "/api/workflows/w/cron-history";

/// A workflow that gives what its target answers.
fn workflow(url: &str) -> String {
    format!(
        "id: w\nretry: false\noutput: \"${{steps.call.output.body}}\"\n\
         steps:\n  - id: call\n    type: http\n    config: {{ method: POST, url: \"{url}\", body: \"${{input}}\" }}\n"
    )
}

async fn ready() -> (Server, Target) {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &workflow(&target.url("/x"))).await;
    (server, target)
}

async fn create(server: &Server, body: Value) -> String {
    let made = server.post("/api/workflows/w/triggers", body.to_string());
    made.await.expect(201)["id"].as_str().unwrap().to_owned()
}

fn every_second() -> Value {
    json!({"trigger_type": "cron", "cron_expression": "* * * * * *", "timezone": "Asia/Taipei"})
}

async fn act(server: &Server, id: &str, what: &str, body: Value) -> Value {
    let path = format!("/api/triggers/{id}/{what}");
    let request = server.request(Method::POST, &path).body(body.to_string());
    send(request).await.expect(200)
}

/// The history once so many runs of it have ended.
async fn ended(server: &Server, path: &str, count: usize) -> Vec<Value> {
    let began = Instant::now();
    loop {
        let history = server.get(path).await.expect(200);
        let runs = history["history"].as_array().unwrap();
        let has_ended = |run: &&Value| run["completed_at"].is_string();
        if runs.iter().filter(has_ended).count() >= count {
            return runs.clone();
        }
        assert!(began.elapsed() < PATIENCE, "not {count}: {history:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until a trigger has started so many executions, then pauses it and lets them end.
async fn after(server: &Server, id: &str, count: usize) -> Vec<Value> {
    let path = format!("{HISTORY}?trigger_id={id}&limit=1000");
    ended(server, &path, count).await;
    act(server, id, "disable", json!({})).await;
    let history = server.get(&path).await.expect(200);
    let all = history["history"].as_array().unwrap().len();
    ended(server, &path, all).await
}

#[tokio::test]
async fn each_run_says_what_came_of_it() {
    let (server, target) = ready().await;
    let long = format!("\"{}\"", "ü".repeat(300));
    let list = format!("[{}0]", "10,".repeat(300));
    let answers: [(u16, &str); 5] = [
        (200, r#""sent \"it\"""#),
        (200, &long),
        (200, &list),
        (404, r#"{"no":"such thing"}"#),
        (200, r#"{"n":  1.50}"#),
    ];
    target.script("/x", &answers);
    // One after the other, so that the answers come in the order of the runs.
    let mut one_by_one = every_second();
    one_by_one["overlap"] = json!("skip");
    let id = create(&server, one_by_one).await;
    let mut runs = after(&server, &id, answers.len()).await;
    runs.reverse();
    let result = |index: usize| runs[index]["result"].as_str().unwrap();
    assert_eq!(result(0), "sent \"it\"", "a text as it is");
    assert_eq!(result(1), "ü".repeat(300), "all of it");
    assert_eq!(result(2), &list[..200]);
    assert_eq!(result(4), r#"{"n":  1.50}"#);
    let failed = server
        .execution(runs[3]["execution_id"].as_str().unwrap())
        .await;
    assert_eq!(runs[3]["result"], failed["error"]["message"]);
    assert!(result(3).contains("404"), "{}", result(3));
    assert_eq!(runs[3]["status"], failed["status"]);
    assert_eq!(runs[3]["status"], "dlq");
    for run in &runs {
        let names: Vec<_> = run.as_object().unwrap().keys().collect();
        let mut expected = [
            "execution_id",
            "scheduled_at",
            "started_at",
            "completed_at",
            "status",
            "duration_ms",
            "result",
        ];
        expected.sort_unstable();
        let mut names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, expected);
        assert!(run["duration_ms"].is_u64(), "{run}");
    }
}

#[tokio::test]
async fn the_oldest_cron_trigger_is_meant_unless_one_is_named() {
    let (server, _target) = ready().await;
    // The first of all is no cron trigger.
    let schedule = json!({"trigger_type": "schedule", "every": "1s"});
    let schedule = create(&server, schedule).await;
    let first = create(&server, every_second()).await;
    let mut other = every_second();
    other["cron_expression"] = json!("*/2 * * * * *");
    other["timezone"] = json!("UTC");
    let second = create(&server, other).await;
    let named = |id: &str| format!("{HISTORY}?trigger_id={id}");
    for (id, path) in [
        (&first, HISTORY.to_owned()),
        (&first, named(&first)),
        (&second, named(&second)),
        (&schedule, named(&schedule)),
    ] {
        for run in ended(&server, &path, 1).await {
            let execution = run["execution_id"].as_str().unwrap();
            assert_eq!(
                server.execution(execution).await["trigger_id"],
                **id,
                "{path}"
            );
        }
        let history = server.get(&path).await.expect(200);
        assert_eq!(history["trigger_id"], **id);
    }
    let history = server.get(&named(&second)).await.expect(200);
    assert_eq!(history["cron_expression"], "*/2 * * * * *");
    assert_eq!(history["timezone"], "UTC");
    // Which one is meant does not depend on whether it runs.
    act(&server, &first, "disable", json!({})).await;
    let paused = server.get(HISTORY).await.expect(200);
    let found = (&paused["trigger_id"], &paused["enabled"]);
    assert_eq!(found, (&json!(first), &json!(false)));
    assert_eq!(paused["next_execution"], json!(null));
    server
        .delete(&format!("/api/triggers/{first}"))
        .await
        .expect(204);
    assert_eq!(server.get(HISTORY).await.expect(200)["trigger_id"], second);
    server.get(&named(&first)).await.problem(404, "RF0031");
    for bad in ["limit=0", "limit=1001", "limit=x", "status=fired"] {
        let answer = server.get(&format!("{HISTORY}?{bad}")).await;
        answer.problem(400, "RF0003");
    }
}

#[tokio::test]
async fn what_was_backfilled_stands_where_it_was_planned() {
    let (server, _target) = ready().await;
    let id = create(&server, every_second()).await;
    let before = after(&server, &id, 1).await;
    // Planned times pass during the pause, and are run after newer ones.
    let began = Instant::now();
    until("they pass", || began.elapsed() > Duration::from_secs(3)).await;
    let pause = act(&server, &id, "enable", json!({})).await["pause"].clone();
    let missed = pause["slots"].as_u64().unwrap();
    assert!(missed >= 2, "{pause}");
    after(&server, &id, before.len() + 2).await;
    act(&server, &id, "enable", json!({})).await;
    let range = json!({"from": pause["from"], "to": pause["to"]});
    let run = act(&server, &id, "backfill", range).await;
    assert_eq!(run["count"], missed, "{run}");
    let all = before.len() + 2 + usize::try_from(missed).unwrap();
    let history = after(&server, &id, all).await;
    let planned: Vec<_> = history
        .iter()
        .map(|run| run["scheduled_at"].as_str().unwrap().to_owned())
        .collect();
    let mut sorted = planned.clone();
    sorted.sort_unstable();
    sorted.reverse();
    assert_eq!(planned, sorted, "the newest planned time first");
    let backfilled: Vec<_> = run["slots"].as_array().unwrap().iter().collect();
    for slot in &backfilled {
        let execution = &slot["execution_id"];
        assert!(history.iter().any(|run| run["execution_id"] == *execution));
    }
    // Of a few, the newest: not those that were written last.
    let few = server.get(&format!("{HISTORY}?limit=2")).await.expect(200);
    assert_eq!(few["history"], json!(history[..2]));
    for slot in backfilled {
        let execution = &slot["execution_id"];
        let few = few["history"].as_array().unwrap();
        assert!(
            few.iter().all(|run| run["execution_id"] != *execution),
            "{few:#?}"
        );
    }
}
