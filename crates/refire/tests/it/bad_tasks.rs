//! Wrong calls about tasks: every wrong field is named at once, and nothing is half made.

use serde_json::{Value, json};

use crate::server::{Answer, Server};

/// The fields that an answer names.
#[track_caller]
fn fields(answer: Answer, code: &str) -> Vec<String> {
    let problem = answer.problem(400, code);
    let errors = problem["errors"].as_array().unwrap().iter();
    let names = errors.map(|error| error["field"].as_str().unwrap().to_owned());
    names.collect()
}

async fn one_task(server: &Server, config: &str) -> Value {
    let config = format!("taskType: a, {config}");
    let source = format!("id: w\nsteps: [{{id: a, type: external_task, config: {{{config}}}}}]\n");
    server.apply("w", &source).await;
    server.execute("w", r#"{"n":1}"#).await;
    let path = "/api/external-tasks/poll?taskType=a&workerId=w1&waitSeconds=10";
    server.get(path).await.expect(200)[0].clone()
}

fn path(task: &Value, call: &str) -> String {
    let (id, token) = (task["id"].as_str(), task["lockToken"].as_str());
    let (id, token) = (id.unwrap(), token.unwrap());
    format!("/api/external-tasks/{id}/{call}?lockToken={token}")
}

/// The task as it is now, without what reading it says of the time.
async fn now(server: &Server, task: &Value) -> Value {
    let id = task["id"].as_str().unwrap();
    let path = format!("/api/external-tasks/{id}");
    server.get(&path).await.expect(200)
}

#[tokio::test]
async fn everything_wrong_with_a_poll_is_named_at_once() {
    let server = Server::start().await;
    let types: Vec<String> = (0..21).map(|n| format!("t{n}")).collect();
    let (types, long) = (types.join(","), "n".repeat(201));
    for (query, expected) in [
        (String::new(), vec!["taskType"]),
        ("taskType=".to_owned(), vec!["taskType"]),
        ("taskType=a*b".to_owned(), vec!["taskType"]),
        (
            "taskType=a%20b,c*d,ok".to_owned(),
            vec!["taskType", "taskType"],
        ),
        (
            format!("taskType={types}&maxTasks=0&waitSeconds=-1&workerId={long}&colour=red"),
            vec!["taskType", "workerId", "maxTasks", "waitSeconds", "colour"],
        ),
        (
            format!("maxTasks=10000&waitSeconds=301&workerType={long}"),
            vec!["taskType", "workerType", "maxTasks", "waitSeconds"],
        ),
    ] {
        let path = format!("/api/external-tasks/poll?{query}");
        let named = fields(server.get(&path).await, "RF0003");
        assert_eq!(named, expected, "{query}");
    }
    let seen = server.get("/api/workers").await.expect(200);
    assert_eq!(seen, json!({"items": [], "nextCursor": null}));
    let unknown = "/api/external-tasks/poll?taskType=nobody-has-this&waitSeconds=0";
    assert_eq!(server.get(unknown).await.status, 204);
    let listed = "/api/external-tasks?taskType=a-*&status=GONE&executionId=x";
    let named = fields(server.get(listed).await, "RF0003");
    assert_eq!(named, ["status", "executionId"]);
    let star = server.get("/api/external-tasks?taskType=a-*").await;
    assert_eq!(fields(star, "RF0003"), ["taskType"]);
    let named = fields(
        server.get("/api/workers?status=GONE&limit=0").await,
        "RF0003",
    );
    assert_eq!(named, ["status", "limit"]);
}

#[tokio::test]
async fn everything_wrong_with_a_report_is_named_and_nothing_is_recorded() {
    let server = Server::start_with(&["--max-body-bytes", "65536"]).await;
    let task = one_task(&server, "retries: 2").await;
    let before = now(&server, &task).await;
    for (call, body, expected) in [
        (
            "fail",
            r#"{"message":1,"stackTrace":[],"retryable":"yes","retryAfterSeconds":-1,"why":2}"#,
            vec![
                "message",
                "retryAfterSeconds",
                "retryable",
                "stackTrace",
                "why",
            ],
        ),
        (
            "fail",
            r#"{"retryAfterSeconds":1.5}"#,
            vec!["retryAfterSeconds"],
        ),
        (
            "fail",
            r#"{"retryAfterSeconds":31536001}"#,
            vec!["retryAfterSeconds"],
        ),
        (
            "heartbeat",
            r#"{"progress":101,"progressMessage":5}"#,
            vec!["progress", "progressMessage"],
        ),
        ("heartbeat", r#"{"progress":-1}"#, vec!["progress"]),
        ("extend", r#"{"seconds":0}"#, vec!["seconds"]),
        ("extend", r#"{"seconds":-5,"x":1}"#, vec!["seconds", "x"]),
        ("extend", "{}", vec!["seconds"]),
    ] {
        let answer = server.post(&path(&task, call), body).await;
        assert_eq!(fields(answer, "RF0002"), expected, "{call} {body}");
    }
    // What is no JSON: a bare NUL, what is not UTF-8, half of it.
    let bare: [&[u8]; 4] = [
        b"{\"message\":\"a\",\"stackTrace\":\"x\0y\"}",
        b"{\"message\":\"a\",\"stackTrace\":\"\xff\xfe\"}",
        b"{\"message\":",
        b"[1]",
    ];
    for body in bare {
        let answer = server.post(&path(&task, "fail"), body).await;
        answer.problem(400, "RF0002");
    }
    let large = format!("\"{}\"", "x".repeat(70_000));
    let answer = server.post(&path(&task, "complete"), large).await;
    answer.problem(413, "RF0021");
    let answer = server.post(&path(&task, "complete"), "{\"a\":").await;
    answer.problem(400, "RF0002");
    assert_eq!(now(&server, &task).await, before, "nothing of it counts");
    // A written NUL is a character like any other.
    let strange =
        r#"{"message":"no \u0000 room","stackTrace":"at a\u0000b\n\n  at \ud83d\ude00\n"}"#;
    let answer = server.post(&path(&task, "fail"), strange).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let after = now(&server, &task).await;
    assert_eq!(after["errorMessage"], "no \u{0} room");
    let events = format!(
        "/api/executions/{}/events?type=STEP_FAILED",
        task["executionId"].as_str().unwrap()
    );
    let failed = server.get(&events).await.expect(200)["items"][0].to_string();
    assert!(
        failed.contains("at a\\u0000b") && failed.contains("at 😀"),
        "{failed}"
    );
}

#[tokio::test]
async fn who_is_late_or_has_a_wrong_name_changes_nothing() {
    let server = Server::start().await;
    let task = one_task(&server, "retries: 2").await;
    let id = task["id"].as_str().unwrap();
    for call in ["complete", "fail", "heartbeat", "extend", "unlock"] {
        let body = match call {
            "extend" => r#"{"seconds":5}"#,
            _ => "{}",
        };
        for unknown in [
            "xt_00000000000000000000000000000",
            "xt_",
            "nonsense",
            "exec_1",
        ] {
            let path = format!("/api/external-tasks/{unknown}/{call}");
            let problem = server.post(&path, body).await.problem(404, "RF0041");
            assert!(problem["detail"].as_str().unwrap().contains(unknown));
        }
        for token in ["lk_00000000000000000000000000", "nonsense", "%00"] {
            let path = format!("/api/external-tasks/{id}/{call}?lockToken={token}");
            server.post(&path, body).await.problem(409, "RF0042");
        }
    }
    server
        .get("/api/external-tasks/xt_1")
        .await
        .problem(404, "RF0041");
    server
        .delete("/api/workers/nobody")
        .await
        .problem(404, "RF0043");
    let done = server.post(&path(&task, "complete"), "1").await;
    assert_eq!(done.status, 200);
    let finished = now(&server, &task).await;
    for call in ["fail", "heartbeat", "extend", "unlock"] {
        let body = match call {
            "extend" => r#"{"seconds":5}"#,
            _ => "{}",
        };
        let late = server.post(&path(&task, call), body).await;
        let problem = late.problem(409, "RF0042");
        assert_eq!(problem["detail"], "the task is over (COMPLETED)", "{call}");
    }
    assert_eq!(now(&server, &task).await, finished);
    let third = server.post(&path(&task, "complete"), "2").await;
    assert_eq!(third.status, 200, "its own call again");
    assert_eq!(now(&server, &task).await["output"], 1, "the first counts");
}

#[tokio::test]
async fn everything_wrong_with_the_settings_is_named() {
    let server = Server::start().await;
    let source = "id: w\nsteps:\n  - id: a\n    type: external_task\n    config:\n      \
        taskType: a b\n      retries: 0\n      timeout: 10s\n      lockDuration: 20s\n      \
        priority: 11\n      heartbeat: {interval: 0s, maxMissed: 0}\n      colour: red\n      \
        input: {key: '${secret.token}'}\n";
    let answer = server.put("/api/workflows/w", source).await;
    let problem = answer.problem(400, "RF0001");
    let errors = problem["errors"].as_array().unwrap();
    let named = |name: &str| {
        errors.iter().any(|error| {
            let field = error["field"].as_str().unwrap();
            field.ends_with(name) && error["line"].is_number()
        })
    };
    for field in [
        "taskType",
        "retries",
        "lockDuration",
        "priority",
        "interval",
        "maxMissed",
        "colour",
        "key",
    ] {
        assert!(named(field), "{field}: {problem:#}");
    }
    server.get("/api/workflows/w").await.problem(404, "RF0008");
}
