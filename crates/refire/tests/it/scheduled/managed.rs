//! Scheduled tasks are changed, listed, cancelled, and refused.

use super::*;

#[tokio::test]
async fn a_cancelled_task_is_over_and_so_is_what_was_open() {
    let (server, target) = (Server::start().await, Target::start().await);
    let held = json!({"targetConfig": {"triggerType": "http", "url": target.url("/held")}});
    let daily = json!({"scheduleType": "daily", "scheduleConfig": {"time": "09:00"}});
    let id = made(&server, task(&target, &daily, &held)).await;
    let run = act(&server, &id, "run").await.expect(202);
    until("it is called", || !target.calls("/held").is_empty()).await;
    let cancelled = act(&server, &id, "cancel").await.expect(200);
    assert!(cancelled["cancelledAt"].is_string());
    assert_eq!(
        (&cancelled["isActive"], &cancelled["isFinished"]),
        (&json!(false), &json!(true))
    );
    let execution = run["executionId"]
        .as_str()
        .unwrap()
        .rsplit_once('-')
        .unwrap()
        .0;
    server.reaches(execution, "cancelled").await;
    assert_eq!(
        history(&server, &id, "").await[0]["executionStatus"],
        "failed"
    );
    for call in ["cancel", "pause", "resume", "run"] {
        act(&server, &id, call).await.problem(409, "RF0072");
    }
    let path = format!("/api/scheduled-tasks/{id}");
    let patch = server.request(Method::PATCH, &path).body("{}");
    send(patch).await.problem(409, "RF0072");
    shown(&server, &id).await;
    assert_eq!(server.delete(&path).await.status, 204);
    server.get(&path).await.problem(404, "RF0070");
    server
        .get(&format!("/task-history/{id}"))
        .await
        .problem(404, "RF0070");
    target.release();

    let kept = made(&server, task(&target, &daily, &held)).await;
    let run = act(&server, &kept, "run").await.expect(202);
    act(&server, &kept, "cancel?keepRunning=true")
        .await
        .expect(200);
    let execution = run["executionId"]
        .as_str()
        .unwrap()
        .rsplit_once('-')
        .unwrap()
        .0;
    server.reaches(execution, "completed").await;
}

#[tokio::test]
async fn a_change_is_laid_over_the_request_and_checked_as_a_whole() {
    let (server, target) = (Server::start().await, Target::start().await);
    let daily =
        json!({"taskName": "Old", "scheduleType": "daily", "scheduleConfig": {"time": "09:00"}});
    let id = made(&server, task(&target, &daily, &json!({}))).await;
    let path = format!("/api/scheduled-tasks/{id}");
    let patch = |body: Value| server.request(Method::PATCH, &path).body(body.to_string());
    let wrong = json!({"scheduleConfig": {"time": "99:00"}, "taskConfig": {"retryConfig": {"maxRetries": 6}}});
    let problem = send(patch(wrong)).await.problem(400, "RF0071");
    let mut fields: Vec<&str> = problem["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["field"].as_str().unwrap())
        .collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        ["scheduleConfig.time", "taskConfig.retryConfig.maxRetries"]
    );
    assert_eq!(
        shown(&server, &id).await["version"],
        1,
        "nothing was changed"
    );
    let change = json!({"taskName": null, "scheduleConfig": {"time": "10:30"}, "taskConfig": {"taskPayload": {"more": [1]}}});
    let changed = send(patch(change).header("If-Match", "\"1\"")).await;
    assert_eq!(changed.headers["etag"], "\"2\"");
    let changed = changed.expect(200);
    assert_eq!(
        (&changed["taskName"], &changed["version"]),
        (&Value::Null, &json!(2))
    );
    assert!(
        changed["nextExecutionTime"]
            .as_str()
            .unwrap()
            .contains("T10:30:00")
    );
    assert_eq!(
        changed["taskConfig"]["taskPayload"],
        json!({"n": 1, "more": [1]})
    );
    let late = patch(json!({"taskName": "x"})).header("If-Match", "\"1\"");
    send(late).await.problem(412, "RF0073");
    act(&server, &id, "run").await.expect(202);
    until("it is called", || !target.calls("/work").is_empty()).await;
    assert_eq!(
        target.calls("/work")[0].json()["taskPayload"],
        json!({"n": 1, "more": [1]})
    );
    let now = json!({"scheduleType": "immediate", "scheduleConfig": null});
    let problem = send(patch(now)).await.problem(400, "RF0071");
    assert_eq!(problem["errors"][0]["field"], "scheduleType");
}

#[tokio::test]
async fn the_same_key_makes_no_second_task() {
    let (server, target) = (Server::start().await, Target::start().await);
    let source = task(&target, &json!({}), &json!({}));
    let schedule = |source: String| {
        server
            .request(Method::POST, "/schedule-task")
            .header("Idempotency-Key", "k")
            .body(source)
    };
    let first = send(schedule(source.clone())).await.expect(201);
    let again = send(schedule(source)).await;
    assert_eq!(again.headers["idempotent-replayed"], "true");
    assert_eq!(again.expect(200)["taskId"], first["taskId"]);
    let other = task(&target, &json!({"taskName": "other"}), &json!({}));
    send(schedule(other)).await.problem(409, "RF0015");
    let id = first["taskId"].as_str().unwrap();
    over(&server, id, 1).await;
    assert_eq!(target.calls("/work").len(), 1);
}

#[tokio::test]
async fn lists_have_filters_and_pages() {
    let (server, target) = (Server::start().await, Target::start().await);
    let mut ids = Vec::new();
    for (name, kind, config) in [
        (
            "Monthly report",
            "monthly",
            json!({"dayOfMonth": 1, "time": "09:00"}),
        ),
        ("Nightly sync", "daily", json!({"time": "02:00"})),
        (
            "Weekly report",
            "weekly",
            json!({"dayOfWeek": 1, "time": "09:00"}),
        ),
    ] {
        let request = json!({"taskName": name, "scheduleType": kind, "scheduleConfig": config});
        let kind = if name.contains("report") {
            "report"
        } else {
            "sync"
        };
        ids.push(made(&server, task(&target, &request, &json!({"taskType": kind}))).await);
    }
    act(&server, &ids[1], "pause").await.expect(200);
    act(&server, &ids[2], "cancel").await.expect(200);
    for (query, expected) in [
        ("", vec![2, 1, 0]),
        ("taskType=report", vec![2, 0]),
        ("scheduleType=daily", vec![1]),
        ("isActive=true", vec![0]),
        ("isActive=false", vec![2, 1]),
        ("isFinished=true", vec![2]),
        ("isFinished=false", vec![1, 0]),
        ("q=REPORT", vec![2, 0]),
        ("q=nothing", vec![]),
    ] {
        let page = server
            .get(&format!("/api/scheduled-tasks?{query}"))
            .await
            .expect(200);
        let found: Vec<&str> = page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|task| task["taskId"].as_str().unwrap())
            .collect();
        let expected: Vec<&str> = expected
            .into_iter()
            .map(|place: usize| ids[place].as_str())
            .collect();
        assert_eq!(found, expected, "{query}");
    }
    let page = server.get("/api/scheduled-tasks?limit=2").await.expect(200);
    let cursor = page["nextCursor"].as_str().unwrap();
    let rest = server
        .get(&format!("/api/scheduled-tasks?limit=2&cursor={cursor}"))
        .await
        .expect(200);
    assert_eq!(rest["items"][0]["taskId"], ids[0].as_str());
    assert_eq!(rest["nextCursor"], Value::Null);
    server
        .get("/api/scheduled-tasks?scheduleType=hourly")
        .await
        .problem(400, "RF0003");
}

#[expect(clippy::too_many_lines, reason = "a table")]
#[tokio::test]
async fn wrong_requests_are_told_all_that_is_wrong_and_make_nothing() {
    let (server, target) = (Server::start().await, Target::start().await);
    let recurring = json!({"isRecurring": true});
    for (request, config, field) in [
        (json!({"scheduleType": "hourly"}), json!({}), "scheduleType"),
        (
            json!({"scheduleType": "once", "scheduleConfig": {"executeAt": "2020-01-01T00:00:00Z"}}),
            json!({}),
            "scheduleConfig.executeAt",
        ),
        (
            json!({"scheduleType": "daily", "scheduleConfig": {"time": "09:00"}, "endTime": "2020-01-01T00:00:00Z"}),
            json!({}),
            "endTime",
        ),
        (
            json!({"scheduleType": "daily", "scheduleConfig": {"time": "09:00"}, "startTime": "2098-02-01T00:00:00Z", "endTime": "2098-01-01T00:00:00Z"}),
            json!({}),
            "endTime",
        ),
        (
            json!({"scheduleType": "monthly", "scheduleConfig": {"dayOfMonth": 32, "time": "09:00"}}),
            json!({}),
            "scheduleConfig.dayOfMonth",
        ),
        (recurring.clone(), json!({}), "isRecurring"),
        (
            json!({"scheduleType": "once", "scheduleConfig": {"executeAt": "2098-01-01T00:00:00Z"}, "isRecurring": true}),
            json!({}),
            "isRecurring",
        ),
        (
            json!({}),
            json!({"retryConfig": {"maxRetries": 6}}),
            "taskConfig.retryConfig.maxRetries",
        ),
        (
            json!({}),
            json!({"targetConfig": {"triggerType": "carrier-pigeon"}}),
            "taskConfig.targetConfig.triggerType",
        ),
        (
            json!({}),
            json!({"taskPayload": "text"}),
            "taskConfig.taskPayload",
        ),
        (
            json!({}),
            json!({"taskPayload": null}),
            "taskConfig.taskPayload",
        ),
    ] {
        let source = task(&target, &request, &config);
        let problem = server
            .post("/schedule-task", source.clone())
            .await
            .problem(400, "RF0071");
        let errors = problem["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 1, "{source}: {problem:#}");
        assert_eq!(errors[0]["field"], field, "{source}");
        assert_eq!(errors[0]["line"], 1, "{source}");
    }
    let many = json!({"retryConfig": {"maxRetries": 6}, "taskPayload": 1, "taskType": "x"});
    let problem = server
        .post("/schedule-task", task(&target, &recurring, &many))
        .await;
    assert_eq!(
        problem.problem(400, "RF0071")["errors"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    for text in [
        "",
        "{",
        "[1]",
        "7",
        "{\"taskConfig\": {\"taskType\": \"custom\"}",
    ] {
        assert_eq!(
            server.post("/schedule-task", text).await.status,
            400,
            "{text:?}"
        );
    }
    let listed = server.get("/api/scheduled-tasks").await.expect(200);
    assert_eq!(listed["items"], json!([]), "nothing was made");
    let path = "/api/scheduled-tasks/task-00000000000000000000000000";
    server.get(path).await.problem(404, "RF0070");
    server
        .get("/api/scheduled-tasks/nonsense")
        .await
        .problem(404, "RF0070");
    let anonymous = server
        .http
        .post(format!("{}/schedule-task", server.url))
        .body(NOTIFICATION);
    send(anonymous).await.problem(401, "RF0006");
    assert!(target.calls("/work").is_empty());
}

#[tokio::test]
async fn what_is_underneath_is_changed_by_the_task_alone() {
    let (server, target) = (Server::start().await, Target::start().await);
    let daily = json!({"scheduleType": "daily", "scheduleConfig": {"time": "09:00"}});
    let id = made(&server, task(&target, &daily, &json!({}))).await;
    let definition =
        format!("id: {id}\nsteps: [{{id: a, type: http, config: {{url: 'https://a.example/'}}}}]");
    let workflow = format!("/api/workflows/{id}");
    server
        .put(&workflow, definition)
        .await
        .problem(400, "RF0001");
    server.delete(&workflow).await.problem(404, "RF0008");
    let triggers = server
        .get(&format!("/api/triggers?workflow={id}"))
        .await
        .expect(200);
    let trigger = triggers["items"][0]["id"].as_str().unwrap().to_owned();
    server
        .delete(&format!("/api/triggers/{trigger}"))
        .await
        .problem(409, "RF0034");
    server
        .post(&format!("/api/triggers/{trigger}/disable"), "")
        .await
        .problem(409, "RF0034");
    server
        .post(&format!("/api/triggers/{trigger}/run"), "")
        .await
        .problem(409, "RF0034");
    assert_eq!(shown(&server, &id).await["isActive"], true);
}
