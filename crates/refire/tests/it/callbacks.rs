//! Callbacks, over HTTP: every pair of states, before the answer and after it, many at once, after a crash.

use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Answer, Server, send, until};
use crate::target::Target;

/// The key of servers that have no file for one.
pub(crate) const MASTER_KEY: (&str, &str) = (
    "REFIRE_MASTER_KEY",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
);

/// A workflow whose only step calls back; `more` stands on the step.
fn definition(url: &str, more: &str) -> String {
    format!(
        "id: w\nsteps:\n  - id: call\n    type: http\n    {more}\n    config:\n      method: POST\n      url: {url}\n\
         \x20     headers: {{X-Back: 'see {{callback_token}}'}}\n\
         \x20     body: {{url: '${{callback.url}}', token: '${{callback.token}}', attempt: '${{step.attempt}}', input: '${{input}}'}}\n"
    )
}

const WAITS: &str = "callback: {window: 1h}\n    retry: false";

pub(crate) async fn start() -> (Server, Target) {
    (Server::start_in(&[MASTER_KEY]).await, Target::start().await)
}

/// The token of the last call of a path.
pub(crate) fn token(target: &Target, path: &str) -> String {
    let call = target.calls(path).pop().unwrap();
    call.json()["token"].as_str().unwrap().to_owned()
}

/// Calls back, without a key.
pub(crate) async fn say(server: &Server, token: &str, body: &str) -> Answer {
    let url = format!("{}/task-callback/{token}", server.url);
    send(server.http.put(url).body(body.to_owned())).await
}

fn word(status: &str) -> String {
    json!({"status": status, "progress": 7, "n": 1}).to_string()
}

/// An execution whose target has answered.
async fn waiting(server: &Server, target: &Target) -> (String, String) {
    let id = server.execute("w", "{}").await;
    server.reaches(&id, "waiting").await;
    (id, token(target, "/a"))
}

#[tokio::test]
async fn a_target_says_later_how_it_went() {
    let (server, target) = start().await;
    let more = "callback: {}\n    outputMapping: {file: $.result.file}";
    server
        .apply("w", &definition(&target.url("/a"), more))
        .await;
    target.script("/a", &[(202, r#"{"id":7}"#)]);
    let id = server
        .execute(
            "w",
            r#"{"u":"https://x.example/task-callback/{callback_token}"}"#,
        )
        .await;
    server.reaches(&id, "waiting").await;
    let call = target.calls("/a").pop().unwrap();
    let sent = call.json();
    let token = sent["token"].as_str().unwrap();
    assert!(token.starts_with("cb_"), "{token}");
    assert_eq!(sent["url"], format!("{}/task-callback/{token}", server.url));
    assert_eq!(sent["attempt"], 1);
    assert_eq!(
        sent["input"]["u"],
        format!("https://x.example/task-callback/{token}")
    );
    assert_eq!(call.headers["x-back"], format!("see {token}"));
    for (progress, message) in [(10, "begun"), (65, "650 of 1000")] {
        let body =
            json!({"status": "processing", "progress": progress, "progressMessage": message});
        say(&server, token, &body.to_string()).await.expect(200);
        let shown = server.execution(&id).await;
        let callback = &shown["steps"][0]["callback"];
        assert_eq!(callback["status"], "processing");
        assert_eq!(
            (&callback["progress"], &callback["progress_message"]),
            (&json!(progress), &json!(message))
        );
    }
    let last = json!({"status": "success", "result": {"file": "a.pdf"}, "token": token});
    say(&server, token, &last.to_string()).await.expect(200);
    let shown = server.reaches(&id, "completed").await;
    assert_eq!(
        shown["output"],
        json!({"status": "success", "result": {"file": "a.pdf"}, "token": "***"})
    );
    assert_eq!(
        (
            &shown["steps"][0]["attempts"],
            &shown["steps"][0]["callback"]
        ),
        (&json!(1), &Value::Null)
    );
    let expected = [
        "EXECUTION_STARTED",
        "STEP_SCHEDULED",
        "STEP_STARTED",
        "CALLBACK_RECEIVED",
        "CALLBACK_RECEIVED",
        "STEP_COMPLETED",
        "EXECUTION_COMPLETED",
    ];
    assert_eq!(
        server.event_types(&id).await,
        expected,
        "progress is in no log"
    );
    let replay = server
        .post(&format!("/api/executions/{id}/replay"), "")
        .await
        .expect(200);
    assert_eq!(replay["identical"], true, "{replay:#}");
}

/// Brings an attempt to where a callback finds it; its token.
async fn stand(server: &Server, target: &Target, stand: &str) -> (String, String) {
    match stand {
        "trigger_failed" | "lost" => target.answers("/a", &[500]),
        _ => {}
    }
    let id = server.execute("w", "{}").await;
    match stand {
        "trigger_failed" => {
            server.reaches(&id, "dlq").await;
        }
        _ => {
            server.reaches(&id, "waiting").await;
        }
    }
    let token = token(target, "/a");
    match stand {
        "pending" | "trigger_failed" => {}
        "processing" | "success" | "failed" => {
            say(server, &token, &word(stand)).await.expect(200);
        }
        "cancelled" => {
            server
                .post(&format!("/api/executions/{id}/cancel"), "")
                .await
                .expect(200);
        }
        "paused" => {
            server
                .post(&format!("/api/executions/{id}/pause"), "")
                .await
                .expect(200);
        }
        other => panic!("{other}"),
    }
    (id, token)
}

#[tokio::test]
async fn every_pair_of_states() {
    let (server, target) = start().await;
    server
        .apply("w", &definition(&target.url("/a"), WAITS))
        .await;
    let words = ["pending", "processing", "success", "failed", "Success", ""];
    for (record, taken) in [
        ("pending", true),
        ("processing", true),
        ("paused", true),
        ("success", false),
        ("failed", false),
        ("trigger_failed", false),
        ("cancelled", false),
    ] {
        for said in words {
            let (id, token) = stand(&server, &target, record).await;
            let before = server.event_types(&id).await;
            let answer = say(&server, &token, &word(said)).await;
            let is_word = ["processing", "success", "failed"].contains(&said);
            match (is_word, taken) {
                (true, true) => drop(answer.expect(200)),
                (true, false) => drop(answer.problem(400, "RF0061")),
                (false, _) => drop(answer.problem(400, "RF0002")),
            }
            if !is_word || !taken {
                assert_eq!(server.event_types(&id).await, before, "{record} {said}");
            }
        }
    }
}

#[tokio::test]
async fn before_the_answer_too() {
    let (server, target) = start().await;
    server
        .apply("w", &definition(&target.url("/held"), WAITS))
        .await;
    let mut ids = Vec::new();
    for said in ["processing", "success", "failed"] {
        let id = server.execute("w", "{}").await;
        let count = ids.len() + 1;
        until("the call arrives", || target.calls("/held").len() == count).await;
        let token = token(&target, "/held");
        say(&server, &token, &word("pending"))
            .await
            .problem(400, "RF0002");
        say(&server, &token, &word(said)).await.expect(200);
        match said {
            "processing" => drop(server.reaches(&id, "waiting").await),
            "success" => drop(server.reaches(&id, "completed").await),
            _ => drop(server.reaches(&id, "dlq").await),
        }
        if said != "processing" {
            say(&server, &token, &word("success"))
                .await
                .problem(400, "RF0061");
        }
        ids.push((id, token));
    }
    target.release();
    let (id, token) = &ids[0];
    let path = format!("/api/executions/{id}/events?type=CALL_ANSWERED");
    for _ in 0..200 {
        if server.get(&path).await.json()["items"][0]["payload"]["answer"]["status"] == 200 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    say(&server, token, &word("success")).await.expect(200);
    server.reaches(id, "completed").await;
    let expected = [
        "EXECUTION_STARTED",
        "STEP_SCHEDULED",
        "STEP_STARTED",
        "CALLBACK_RECEIVED",
        "CALL_ANSWERED",
        "CALLBACK_RECEIVED",
        "STEP_COMPLETED",
        "EXECUTION_COMPLETED",
    ];
    assert_eq!(server.event_types(id).await, expected);
    for (id, _) in &ids {
        let replay = server
            .post(&format!("/api/executions/{id}/replay"), "")
            .await
            .expect(200);
        assert_eq!(replay["identical"], true, "{replay:#}");
    }
}

#[tokio::test]
async fn fifty_at_once_have_one_last_word() {
    let (server, target) = start().await;
    server
        .apply("w", &definition(&target.url("/a"), WAITS))
        .await;
    for round in 0..4 {
        let (id, token) = waiting(&server, &target).await;
        let said = |n: usize| match (round, n % 5) {
            (0, _) | (_, 0) => "success",
            (1, _) => "failed",
            (_, 1) => "failed",
            _ => "processing",
        };
        let bodies: Vec<String> = (0..50).map(|n| word(said(n))).collect();
        let all = bodies.iter().map(|body| say(&server, &token, body));
        let answers = futures_util::future::join_all(all).await;
        let mut last_words = 0;
        for (n, answer) in answers.iter().enumerate() {
            match answer.status {
                200 => last_words += usize::from(said(n) != "processing"),
                400 => assert_eq!(answer.json()["code"], "RF0061"),
                other => panic!("{other}: {}", answer.text),
            }
        }
        assert_eq!(last_words, 1);
        let events = server.event_types(&id).await;
        let ends = ["STEP_COMPLETED", "STEP_FAILED"];
        let ended = events.iter().filter(|event| ends.contains(&event.as_str()));
        assert_eq!(ended.count(), 1, "{events:?}");
        let heard = events.iter().filter(|event| *event == "CALLBACK_RECEIVED");
        assert!(heard.count() <= 2, "{events:?}");
    }
}

#[tokio::test]
async fn a_failed_one_is_tried_again_with_another_token() {
    let (server, target) = start().await;
    let more = "callback: {}\n    retry: {maxRetries: 1, initialDelay: 100ms, jitter: none}";
    server
        .apply("w", &definition(&target.url("/a"), more))
        .await;
    let (id, first) = waiting(&server, &target).await;
    let body = r#"{"status":"failed","error":{"message":"no room"}}"#;
    say(&server, &first, body).await.expect(200);
    until("it is called again", || target.calls("/a").len() == 2).await;
    server.reaches(&id, "waiting").await;
    let second = token(&target, "/a");
    assert_ne!(first, second);
    assert_eq!(target.calls("/a")[1].json()["attempt"], 2);
    say(&server, &first, &word("success"))
        .await
        .problem(400, "RF0061");
    say(&server, &second, body).await.expect(200);
    let shown = server.reaches(&id, "dlq").await;
    assert_eq!(shown["error"]["type"], "callback_failed");
    let message = "the target called back that it failed: no room";
    assert_eq!(shown["error"]["message"], message);
}

#[tokio::test]
async fn nobody_calls_back_in_time() {
    let (server, target) = start().await;
    let more = "callback: {window: 1s}\n    outputMapping: {id: $.body.id}";
    server
        .apply("w", &definition(&target.url("/a"), more))
        .await;
    target.says("/a", r#"{"id":7}"#);
    let id = server.execute("w", "{}").await;
    let shown = server.reaches(&id, "completed").await;
    assert_eq!(shown["output"]["body"]["id"], 7);
    let events = server.event_types(&id).await;
    let expected = [
        "EXECUTION_STARTED",
        "STEP_SCHEDULED",
        "STEP_STARTED",
        "STEP_COMPLETED",
        "EXECUTION_COMPLETED",
    ];
    assert_eq!(events, expected);
    say(&server, &token(&target, "/a"), &word("success"))
        .await
        .problem(400, "RF0061");
    let replay = server
        .post(&format!("/api/executions/{id}/replay"), "")
        .await
        .expect(200);
    assert_eq!(replay["identical"], true, "{replay:#}");
}

#[tokio::test]
async fn a_wait_survives_a_kill() {
    let (mut server, target) = start().await;
    server
        .apply("w", &definition(&target.url("/a"), WAITS))
        .await;
    let (id, first) = waiting(&server, &target).await;
    let (early, held) = {
        server
            .apply(
                "h",
                &definition(&target.url("/held"), WAITS).replace("id: w", "id: h"),
            )
            .await;
        let early = server.execute("h", "{}").await;
        until("the call arrives", || target.calls("/held").len() == 1).await;
        (early, token(&target, "/held"))
    };
    say(&server, &first, &word("processing")).await.expect(200);
    say(&server, &held, &word("processing")).await.expect(200);
    server.kill();
    server.restart();
    for (id, token) in [(&id, &first), (&early, &held)] {
        assert_eq!(server.execution(id).await["status"], "waiting");
        say(&server, token, &word("success")).await.expect(200);
        server.reaches(id, "completed").await;
        say(&server, token, &word("success"))
            .await
            .problem(400, "RF0061");
        assert!(
            !server
                .event_types(id)
                .await
                .contains(&"STEP_LOST".to_owned())
        );
    }
    assert_eq!(
        (target.calls("/a").len(), target.calls("/held").len()),
        (1, 1)
    );
}

#[tokio::test]
async fn bad_callbacks_change_nothing() {
    let (server, target) = start().await;
    server
        .apply("w", &definition(&target.url("/a"), WAITS))
        .await;
    let (id, first) = waiting(&server, &target).await;
    let (_, other) = waiting(&server, &target).await;
    let (name, mark) = first.split_once('.').unwrap();
    let (_, other_mark) = other.split_once('.').unwrap();
    for token in [
        first[..first.len() - 1].to_owned(),
        format!("{first}A"),
        format!("{first}%00"),
        format!("{name}.{other_mark}"),
        format!("{}.{mark}", other.split_once('.').unwrap().0),
        first.replace("cb_", "CB_"),
        "x".to_owned(),
        "%ff".to_owned(),
    ] {
        let answer = say(&server, &token, &word("success")).await;
        answer.problem(404, "RF0060");
    }
    let wrong = r#"{"status":"done","progress":101,"progressMessage":1,"queryConfig":{"type":"http","config":{"url":"/x"}}}"#;
    let problem = say(&server, &first, wrong).await.problem(400, "RF0002");
    let fields: Vec<_> = problem["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["field"].as_str().unwrap())
        .collect();
    assert_eq!(
        fields,
        [
            "status",
            "progress",
            "progressMessage",
            "queryConfig.config.url"
        ]
    );
    assert_eq!(problem["instance"], "/task-callback/…");
    for body in [
        "",
        "[]",
        "{",
        "success",
        "{\"status\":\"success\",\"x\":\"\u{0}\"}",
    ] {
        say(&server, &first, body).await.problem(400, "RF0002");
    }
    let long = json!({"status": "success", "x": "y".repeat(2 * 1024 * 1024)}).to_string();
    assert_eq!(say(&server, &first, &long).await.status, 413);
    let url = format!("{}/task-callback/{first}", server.url);
    assert_eq!(send(server.http.post(&url).body("{}")).await.status, 405);
    assert_eq!(
        server.event_types(&id).await.len(),
        3,
        "nothing was written"
    );
    say(&server, &first, &word("success")).await.expect(200);
    server.reaches(&id, "completed").await;
}

#[tokio::test]
async fn a_token_and_credentials_leave_no_trace() {
    const CREDENTIAL: &str = "Bearer qUeRy-CaNaRy-77";
    let environment = [MASTER_KEY, ("REFIRE_LOG_LEVEL", "debug")];
    let (server, target) = (Server::start_in(&environment).await, Target::start().await);
    let more = "callback: {}\n    retry: {maxRetries: 1, initialDelay: 100ms, jitter: none}";
    let query = json!({"type": "http", "config": {
        "url": "https://x.example/", "headers": {"Authorization": CREDENTIAL}
    }});
    // One target says in its answer how it can be asked.
    let asked = definition(&target.url("/a"), more).replace("id: w", "id: q");
    server.apply("q", &asked).await;
    target.says("/a", &json!({"queryConfig": query}).to_string());
    let other = server.execute("q", "{}").await;
    let waiting = server.reaches(&other, "waiting").await;
    assert_eq!(waiting["steps"][0]["callback"]["status"], "pending");
    // The other sends back what it was sent, in its answers and its callbacks.
    server
        .apply("w", &definition(&target.url("/echo"), more))
        .await;
    target.answers("/echo", &[500]);
    let id = server.execute("w", r#"{"at":"{callback_token}"}"#).await;
    server.reaches(&id, "waiting").await;
    let first = target.calls("/echo")[0].json()["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let second = token(&target, "/echo");
    let body = json!({
        "status": "processing", "callbackToken": second, "queryConfig": query,
        "progressMessage": format!("at {second}"),
    });
    say(&server, &second, &body.to_string()).await.expect(200);
    say(&server, &format!("{second}x"), "{}")
        .await
        .problem(404, "RF0060");
    let url = format!("{}/task-callback/{second}/x", server.url);
    assert_eq!(send(server.http.get(url)).await.status, 404);
    let last = json!({"status": "failed", "error": format!("bad {second}"), "queryConfig": query});
    say(&server, &second, &last.to_string()).await.expect(200);
    server.reaches(&id, "dlq").await;
    let mut places = vec![("the log".to_owned(), server.log())];
    for path in ["/api/executions", "/api/dlq"] {
        places.push((path.to_owned(), server.get(path).await.text));
    }
    for path in [
        format!("/api/executions/{id}"),
        format!("/api/executions/{id}/events"),
        format!("/api/executions/{other}"),
        format!("/api/executions/{other}/events"),
    ] {
        places.push((path.clone(), server.get(&path).await.text));
    }
    for file in std::fs::read_dir(server.data()).unwrap() {
        let path = file.unwrap().path();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        places.push((path.display().to_string(), text));
    }
    for (place, text) in places {
        for token in [&first, &second] {
            let (_, mark) = token.split_once('.').unwrap();
            assert!(!text.contains(mark), "{place}: {text}");
        }
        assert!(!text.contains(CREDENTIAL), "{place}: {text}");
    }
    assert!(
        server.log().contains("/task-callback/…"),
        "{}",
        server.log()
    );
}
