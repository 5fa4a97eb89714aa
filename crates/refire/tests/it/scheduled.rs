//! Scheduled tasks, over HTTP.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::callbacks::{MASTER_KEY, say};
use crate::server::{Server, send, until};
use crate::target::Target;

/// A report every month, by a function that this version cannot call.
const MONTHLY_REPORT: &str = r#"{
  "isRecurring": true,
  "scheduleType": "cron",
  "scheduleConfig": {
    "cron": "0 9 1 * *",
    "description": "每月1號早上9點生成月報表"
  },
  "startTime": "2098-10-03T00:00:00Z",
  "endTime": "2098-12-31T23:59:59Z",
  "taskConfig": {
    "taskType": "report",
    "targetConfig": {
      "triggerType": "lambda",
      "functionName": "monthly-report-generator",
      "triggerTimeoutSeconds": 30
    },
    "taskPayload": {
      "reportType": "monthly",
      "dateRange": "last_month",
      "departments": ["sales", "marketing"],
      "includeCharts": true,
      "outputFormat": "pdf",
      "recipients": ["manager@company.com"]
    },
    "retryConfig": {
      "retryOnTimeout": true,
      "maxRetries": 2,
      "retryIntervalMinutes": 30
    }
  }
}"#;

/// A notification at once.
const NOTIFICATION: &str = r#"{
  "isRecurring": false,
  "scheduleType": "immediate",
  "taskConfig": {
    "taskType": "notification",
    "targetConfig": {
      "triggerType": "http",
      "url": "https://notification-service.company.com/api/send",
      "method": "POST",
      "headers": {
        "Authorization": "Bearer ${SECRET_NOTIFICATION_TOKEN}",
        "Content-Type": "application/json"
      }
    },
    "taskPayload": {
      "recipients": ["user@example.com"],
      "subject": "系統維護通知",
      "body": "系統將於今晚進行維護",
      "priority": "high"
    }
  }
}"#;

/// Orders are brought from one system to another every night.
const SYNC: &str = r#"{
  "isRecurring": true,
  "scheduleType": "daily",
  "scheduleConfig": {
    "time": "02:00",
    "description": "每日凌晨2點同步訂單資料"
  },
  "taskConfig": {
    "taskType": "sync",
    "executorConfig": {
      "sourceSystem": "order_system",
      "targetSystem": "erp_system",
      "syncMethod": "api",
      "isLongRunning": true,
      "triggerTimeoutSeconds": 30
    },
    "taskPayload": {
      "syncScope": "daily_orders",
      "batchSize": 100,
      "apiEndpoint": "https://erp.company.com/api/orders/batch",
      "callbackUrl": "https://scheduler-api.company.com/task-callback/{callback_token}"
    }
  }
}"#;

/// A task of this target, with these members of the request and of its `taskConfig` set.
fn task(target: &Target, request: &Value, config: &Value) -> String {
    let mut whole = json!({
        "scheduleType": "immediate",
        "taskConfig": {
            "taskType": "custom",
            "targetConfig": {"triggerType": "http", "url": target.url("/work")},
            "taskPayload": {"n": 1},
            "callbackWindow": 0,
        },
    });
    for (key, value) in request.as_object().unwrap() {
        whole[key] = value.clone();
    }
    for (key, value) in config.as_object().unwrap() {
        whole["taskConfig"][key] = value.clone();
    }
    whole.to_string()
}

/// Makes a task, which must be right, and gives its id.
async fn made(server: &Server, source: impl Into<String>) -> String {
    let made = server
        .post("/schedule-task", source.into())
        .await
        .expect(201);
    made["taskId"].as_str().unwrap().to_owned()
}

async fn history(server: &Server, id: &str, query: &str) -> Vec<Value> {
    let path = format!("/task-history/{id}?{query}");
    let page = server.get(&path).await.expect(200);
    assert_eq!(page["taskId"], id);
    page["items"].as_array().unwrap().clone()
}

/// The history, once it has so many records that are over.
async fn over(server: &Server, id: &str, count: usize) -> Vec<Value> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let records = history(server, id, "").await;
        let is_over = |record: &Value| !record["triggerStatus"].is_null();
        if records.len() == count && records.iter().all(is_over) {
            return records;
        }
        assert!(
            Instant::now() < deadline,
            "not {count} records: {records:#?}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn act(server: &Server, id: &str, call: &str) -> crate::server::Answer {
    server
        .post(&format!("/api/scheduled-tasks/{id}/{call}"), "")
        .await
}

async fn shown(server: &Server, id: &str) -> Value {
    server
        .get(&format!("/api/scheduled-tasks/{id}"))
        .await
        .expect(200)
}

#[tokio::test]
async fn every_request_of_the_document_is_taken_as_written() {
    let server = Server::start_in(&[MASTER_KEY]).await;
    let refused = server.post("/schedule-task", MONTHLY_REPORT).await;
    let problem = refused.problem(400, "RF0071");
    assert_eq!(
        problem["errors"].as_array().unwrap().len(),
        1,
        "{problem:#}"
    );
    let error = &problem["errors"][0];
    assert_eq!(error["field"], "taskConfig.targetConfig.triggerType");
    let said = error["message"].as_str().unwrap();
    assert!(said.contains("not available in this version"), "{said}");
    let mut report: Value = serde_json::from_str(MONTHLY_REPORT).unwrap();
    report["taskConfig"]["targetConfig"] =
        json!({"triggerType": "http", "url": "https://reports.example.com/run"});
    let report = server
        .post("/schedule-task", report.to_string())
        .await
        .expect(201);
    assert_eq!(report["nextExecutionTime"], "2098-11-01T09:00:00.000000Z");
    assert_eq!(
        (&report["isActive"], &report["isFinished"]),
        (&json!(true), &json!(false))
    );

    let notified = server.post("/schedule-task", NOTIFICATION).await;
    assert_eq!(
        notified.headers["location"],
        format!(
            "/api/scheduled-tasks/{}",
            notified.json()["taskId"].as_str().unwrap()
        )
    );
    let notified = notified.expect(201);
    assert_eq!(notified["scheduleType"], "immediate");
    let warning = notified["warnings"][0].as_str().unwrap();
    assert!(
        warning.contains("REFIRE_SECRET_NOTIFICATION_TOKEN"),
        "{warning}"
    );

    let synced = server.post("/schedule-task", SYNC).await.expect(201);
    let next = synced["nextExecutionTime"].as_str().unwrap();
    assert!(next.contains("T02:00:00"), "{next}");
    let shown = shown(&server, synced["taskId"].as_str().unwrap()).await;
    let sent: Value = serde_json::from_str(SYNC).unwrap();
    for key in [
        "taskConfig",
        "scheduleConfig",
        "isRecurring",
        "scheduleType",
    ] {
        assert_eq!(shown[key], sent[key], "{key}");
    }
}

#[tokio::test]
async fn every_schedule_and_target_of_the_document_is_known() {
    let (server, target) = (Server::start().await, Target::start().await);
    for (kind, config) in [
        ("immediate", Value::Null),
        ("once", json!({"executeAt": "2098-10-03T14:00:00Z"})),
        ("daily", json!({"time": "09:00"})),
        ("weekly", json!({"dayOfWeek": 1, "time": "09:00"})),
        ("monthly", json!({"dayOfMonth": 1, "time": "09:00"})),
        (
            "cron",
            json!({"cron": "0 9 * * 1,3,5", "description": "每週一、三、五早上9點"}),
        ),
    ] {
        let request = json!({"scheduleType": kind, "scheduleConfig": config});
        let made = server
            .post("/schedule-task", task(&target, &request, &json!({})))
            .await
            .expect(201);
        assert_eq!(made["scheduleType"], kind);
        assert_eq!(made["isFinished"], kind == "immediate", "{kind}");
    }
    let targets = [
        (
            201,
            json!({"triggerType": "http", "url": "https://api.example.com/webhook", "method": "POST",
            "headers": {"Authorization": "Bearer ${SECRET_TOKEN}", "Content-Type": "application/json"}}),
        ),
        (
            400,
            json!({"triggerType": "lambda", "functionName": "target-function-name",
            "invocationType": "Event", "triggerTimeoutSeconds": 30}),
        ),
        (
            400,
            json!({"triggerType": "sns", "topicArn": "arn:aws:sns:region:account:topic-name",
            "messageAttributes": {"taskType": "notification"}}),
        ),
        (400, json!({"triggerType": "sqs"})),
        (400, json!({"triggerType": "eventbridge"})),
    ];
    for (status, config) in targets {
        let source = task(
            &target,
            &json!({"scheduleType": "daily", "scheduleConfig": {"time": "09:00"}}),
            &json!({"targetConfig": config}),
        );
        let answer = server.post("/schedule-task", source).await.expect(status);
        if status == 400 {
            let errors = answer["errors"].as_array().unwrap();
            assert_eq!(errors.len(), 1, "{answer:#}");
            assert_eq!(errors[0]["field"], "taskConfig.targetConfig.triggerType");
        }
    }
}

#[tokio::test]
async fn an_immediate_task_has_begun_when_it_is_answered() {
    let (server, target) = (Server::start().await, Target::start().await);
    let payload =
        json!({"taskPayload": {"recipients": ["a"], "n": 1.50}, "taskType": "notification"});
    let id = made(
        &server,
        task(&target, &json!({"taskName": "Hello"}), &payload),
    )
    .await;
    let records = over(&server, &id, 1).await;
    let record = &records[0];
    assert_eq!(record["triggerStatus"], "success");
    assert_eq!(
        record["executionStatus"], "pending",
        "nothing was said after the answer"
    );
    assert_eq!(
        record["triggerResult"],
        json!({"status": 200, "body": {"ok": true}})
    );
    assert_eq!(
        (&record["cycleNumber"], &record["isRetry"]),
        (&json!(1), &json!(false))
    );
    assert_eq!(
        (&record["id"], &record["scheduledTaskId"]),
        (&record["executionId"], &json!(id))
    );
    let calls = target.calls("/work");
    let body = calls[0].json();
    assert_eq!(calls.len(), 1);
    assert_eq!(body["taskPayload"], json!({"recipients": ["a"], "n": 1.5}));
    assert_eq!(
        (&body["taskType"], &body["cycleNumber"]),
        (&json!("notification"), &json!(1))
    );
    assert_eq!(body["executionId"], record["id"]);
    assert_eq!(body["attempt"], 1);
    let task = shown(&server, &id).await;
    assert_eq!(
        (&task["isFinished"], &task["cycles"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(
        (&task["lastExecutionStatus"], &task["taskName"]),
        (&json!("pending"), &json!("Hello"))
    );
    let workflows = server.get("/api/workflows").await.expect(200);
    assert_eq!(
        workflows["items"],
        json!([]),
        "its workflow is nobody's business"
    );
    let triggers = server.get("/api/triggers").await.expect(200);
    assert_eq!(triggers["items"], json!([]));
}

#[tokio::test]
async fn retries_are_records_of_the_same_cycle() {
    let (server, target) = (Server::start().await, Target::start().await);
    target.script(
        "/work",
        &[(500, "\"broken\""), (404, "{}"), (202, "{\"queryable\":1}")],
    );
    let retry = json!({"retryConfig": {"maxRetries": 2, "retryIntervalMinutes": 0.002}});
    let id = made(&server, task(&target, &json!({}), &retry)).await;
    let records = over(&server, &id, 3).await;
    let of =
        |key: &str| -> Vec<Value> { records.iter().map(|record| record[key].clone()).collect() };
    assert_eq!(of("cycleNumber"), [json!(1), json!(1), json!(1)]);
    assert_eq!(
        of("isRetry"),
        [json!(true), json!(true), json!(false)],
        "newest first"
    );
    assert_eq!(
        of("triggerStatus"),
        [json!("success"), json!("failed"), json!("failed")]
    );
    let statuses = [
        json!("pending"),
        json!("trigger_failed"),
        json!("trigger_failed"),
    ];
    assert_eq!(of("executionStatus"), statuses);
    assert_eq!(records[2]["triggerResult"]["status"], 500);
    assert_eq!(records[2]["triggerResult"]["body"], "broken");
    let ids: Vec<String> = target
        .calls("/work")
        .iter()
        .map(|call| call.json()["executionId"].as_str().unwrap().to_owned())
        .collect();
    let expected: Vec<String> = of("id")
        .iter()
        .rev()
        .map(|id| id.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids, expected, "each attempt has its own id");
    let first = &expected[0];
    assert_eq!(first.rsplit_once('-').unwrap().1, "1");
    for (query, count) in [
        ("status=trigger_failed", 2),
        ("isRetry=true", 2),
        ("isRetry=false", 1),
        ("cycle=1", 3),
        ("cycle=2", 0),
        ("status=pending&isRetry=true", 1),
    ] {
        assert_eq!(history(&server, &id, query).await.len(), count, "{query}");
    }
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = server
            .get(&format!("/task-history/{id}?limit=2{cursor}"))
            .await
            .expect(200);
        seen.extend(
            page["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["id"].clone()),
        );
        let Some(next) = page["nextCursor"].as_str() else {
            break;
        };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, of("id"));
}

#[tokio::test]
async fn what_fails_for_good_is_a_dead_letter_and_its_retry_the_same_cycle() {
    let (server, target) = (Server::start().await, Target::start().await);
    target.answers("/work", &[503]);
    let id = made(&server, task(&target, &json!({}), &json!({}))).await;
    let failed = over(&server, &id, 1).await;
    assert_eq!(
        failed[0]["executionStatus"], "trigger_failed",
        "no retryConfig, no retry"
    );
    let letters = server
        .get(&format!("/api/dlq?workflow_id={id}"))
        .await
        .expect(200);
    let letter = letters["items"][0]["id"].as_str().unwrap().to_owned();
    server
        .post(&format!("/api/dlq/{letter}/retry"), "{}")
        .await
        .expect(202);
    let records = over(&server, &id, 2).await;
    assert_eq!(records[0]["cycleNumber"], 1);
    assert_eq!(
        (&records[0]["isRetry"], &records[1]["isRetry"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(records[0]["triggerStatus"], "success");
    let run = act(&server, &id, "run").await.expect(202);
    assert_eq!(run["cycleNumber"], 2);
}

#[tokio::test]
async fn a_target_that_does_not_answer_in_time_is_a_timeout() {
    let (server, target) = (Server::start().await, Target::start().await);
    let held =
        json!({"triggerType": "http", "url": target.url("/held"), "triggerTimeoutSeconds": 1});
    let retry = |on: bool| json!({"targetConfig": held, "retryConfig": {"retryOnTimeout": on, "maxRetries": 1, "retryIntervalMinutes": 0.002}});
    let once = made(&server, task(&target, &json!({}), &retry(false))).await;
    let twice = made(&server, task(&target, &json!({}), &retry(true))).await;
    for (id, count) in [(&once, 1), (&twice, 2)] {
        for record in over(&server, id, count).await {
            assert_eq!(record["triggerStatus"], "timeout");
            assert_eq!(record["executionStatus"], "timeout");
        }
    }
    target.release();
}

#[tokio::test]
async fn cycles_are_counted_and_run_on_time() {
    let (server, target) = (Server::start().await, Target::start().await);
    let every_second = json!({"scheduleType": "cron", "scheduleConfig": {"cron": "* * * * * *"}});
    let id = made(&server, task(&target, &every_second, &json!({}))).await;
    until("three cycles", || target.calls("/work").len() >= 3).await;
    act(&server, &id, "pause").await.expect(200);
    let run = act(&server, &id, "run").await.expect(202);
    let cycles = shown(&server, &id).await["cycles"].as_u64().unwrap();
    assert_eq!(
        run["cycleNumber"].as_u64(),
        Some(cycles),
        "also while it is paused"
    );
    let records = over(&server, &id, usize::try_from(cycles).unwrap()).await;
    let numbers: Vec<u64> = records
        .iter()
        .map(|one| one["cycleNumber"].as_u64().unwrap())
        .collect();
    let expected: Vec<u64> = (1..=cycles).rev().collect();
    assert_eq!(numbers, expected, "without gaps, none twice");
    let paused = shown(&server, &id).await;
    assert_eq!(
        (&paused["isActive"], &paused["nextExecutionTime"]),
        (&json!(false), &Value::Null)
    );
    let again = act(&server, &id, "resume").await.expect(200);
    assert_eq!(again["isActive"], true);
    assert!(again["nextExecutionTime"].is_string());
}

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

/// The record of a task's only attempt, once it says this.
async fn says(server: &Server, id: &str, status: &str) -> Value {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let records = history(server, id, "").await;
        if let Some(record) = records.first()
            && record["executionStatus"] == status
            && !record["triggerStatus"].is_null()
        {
            return record.clone();
        }
        assert!(Instant::now() < deadline, "never {status}: {records:#?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_target_calls_back_and_can_be_asked() {
    let server = Server::start_in(&[MASTER_KEY]).await;
    let target = Target::start().await;
    let query = |path: &str| {
        json!({"type": "http", "config": {"url": target.url(path), "method": "GET",
        "headers": {"Authorization": "Bearer hush-hush"}, "timeout": 10}})
    };
    target.script(
        "/work",
        &[(202, &json!({"queryConfig": query("/progress")}).to_string())],
    );
    let payload = json!({"callbackWindow": "1h", "taskPayload": {"back": "to {callback_token}"}});
    let id = made(&server, task(&target, &json!({}), &payload)).await;
    let record = says(&server, &id, "pending").await;
    assert_eq!(
        (&record["triggerStatus"], &record["executionCompletedAt"]),
        (&json!("success"), &Value::Null)
    );
    let sent = target.calls("/work")[0].json();
    let token = sent["callbackToken"].as_str().unwrap().to_owned();
    assert_eq!(
        sent["callbackUrl"],
        format!("{}/task-callback/{token}", server.url)
    );
    assert_eq!(sent["taskPayload"]["back"], format!("to {token}"));
    let shown = &record["queryConfig"]["config"];
    assert_eq!(shown["headers"]["Authorization"], "***");
    assert_eq!(shown["url"], target.url("/progress"));
    let status = format!(
        "/task-history/{id}/{}/status",
        record["id"].as_str().unwrap()
    );
    target.script("/progress", &[(200, r#"{"progress":65}"#)]);
    let asked = server.get(&status).await.expect(200);
    assert_eq!(
        (&asked["httpStatus"], &asked["response"]),
        (&json!(200), &json!({"progress": 65}))
    );
    let call = &target.calls("/progress")[0];
    assert_eq!(call.headers["authorization"], "Bearer hush-hush");

    let half =
        json!({"status": "processing", "progress": 65, "progressMessage": "已處理 650 筆訂單"});
    say(&server, &token, &half.to_string()).await.expect(200);
    let record = says(&server, &id, "processing").await;
    assert_eq!(
        (&record["progress"], &record["progressMessage"]),
        (&json!(65), &json!("已處理 650 筆訂單"))
    );
    let more = json!({"status": "processing", "progress": 80});
    say(&server, &token, &more.to_string()).await.expect(200);
    assert_eq!(says(&server, &id, "processing").await["progress"], 80);
    let done = json!({"status": "success", "progress": 100, "result": {"totalProcessed": 1000}});
    say(&server, &token, &done.to_string()).await.expect(200);
    let record = says(&server, &id, "success").await;
    assert_eq!(record["result"], json!({"totalProcessed": 1000}));
    assert_eq!(
        (&record["progress"], &record["triggerResult"]["status"]),
        (&json!(100), &json!(202))
    );
    assert!(record["executionCompletedAt"].is_string());
    assert_eq!(shown_last(&server, &id).await, "success");
    say(&server, &token, &done.to_string())
        .await
        .problem(400, "RF0061");
    let everything = format!(
        "{}{}{}",
        server.get(&format!("/task-history/{id}")).await.text,
        server.get(&format!("/api/scheduled-tasks/{id}")).await.text,
        server.log()
    );
    for secret in ["hush-hush", &token] {
        assert!(!everything.contains(secret), "{secret} is shown");
    }
}

async fn shown_last(server: &Server, id: &str) -> Value {
    shown(server, id).await["lastExecutionStatus"].clone()
}

#[tokio::test]
async fn a_failed_callback_is_retried_as_the_config_says() {
    let server = Server::start_in(&[MASTER_KEY]).await;
    let target = Target::start().await;
    let config = json!({"callbackWindow": "1h", "retryConfig": {"maxRetries": 1, "retryIntervalMinutes": 0.002}});
    let id = made(&server, task(&target, &json!({}), &config)).await;
    let mut tokens = Vec::new();
    for attempt in 1..=2 {
        until("it is called", || target.calls("/work").len() >= attempt).await;
        says(&server, &id, "pending").await;
        let sent = target.calls("/work")[attempt - 1].json();
        assert_eq!(
            (&sent["attempt"], &sent["cycleNumber"]),
            (&json!(attempt), &json!(1))
        );
        tokens.push(sent["callbackToken"].as_str().unwrap().to_owned());
        let failed = json!({"status": "failed", "progressMessage": "no room"}).to_string();
        say(&server, &tokens[attempt - 1], &failed)
            .await
            .expect(200);
    }
    assert_ne!(tokens[0], tokens[1]);
    let records = over(&server, &id, 2).await;
    for (record, is_retry) in records.iter().zip([true, false]) {
        assert_eq!(
            (&record["executionStatus"], &record["isRetry"]),
            (&json!("failed"), &json!(is_retry))
        );
        assert_eq!(record["triggerStatus"], "success");
    }
    let letters = server
        .get(&format!("/api/dlq?workflow_id={id}"))
        .await
        .expect(200);
    assert_eq!(letters["items"].as_array().unwrap().len(), 1);
    let old = json!({"status": "success"}).to_string();
    say(&server, &tokens[0], &old).await.problem(400, "RF0061");
}

#[tokio::test]
async fn queries_that_cannot_be_made_say_why() {
    let server = Server::start_in(&[MASTER_KEY]).await;
    let target = Target::start().await;
    let answers = [
        ("{}".to_owned(), 404, "RF0075"),
        (
            json!({"queryConfig": {"type": "lambda", "config": {"functionArn": "arn"}}})
                .to_string(),
            501,
            "RF0076",
        ),
        (
            json!({"queryConfig": {"type": "http", "config": {"url": "http://127.0.0.1:1/"}}})
                .to_string(),
            502,
            "RF0077",
        ),
    ];
    for (answer, status, code) in answers {
        target.script("/work", &[(200, &answer)]);
        let window = json!({"callbackWindow": "1h"});
        let id = made(&server, task(&target, &json!({}), &window)).await;
        let record = says(&server, &id, "pending").await;
        let path = format!(
            "/task-history/{id}/{}/status",
            record["id"].as_str().unwrap()
        );
        server.get(&path).await.problem(status, code);
        let other = format!("/task-history/{id}/exec_00000000000000000000000000-1/status");
        server.get(&other).await.problem(404, "RF0010");
    }
}

/// The service of the example, on a port of its own.
struct Reports(std::process::Child);

impl Reports {
    fn start() -> (Self, String) {
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../examples/report-with-callback/report_service.py"
        );
        let mut child = std::process::Command::new("python3")
            .args([script, "0"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("python3 is there");
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
        let url = line.trim().rsplit_once(' ').unwrap().1.to_owned();
        (Self(child), url)
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn the_example_makes_its_report() {
    let server = Server::start_in(&[MASTER_KEY]).await;
    let (_service, url) = Reports::start();
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/report-with-callback/monthly-report.json"
    );
    let request = std::fs::read_to_string(path).unwrap();
    assert!(request.contains("http://127.0.0.1:8099/reports"));
    let request = request.replace("http://127.0.0.1:8099/reports", &url);
    let id = made(&server, request).await;
    act(&server, &id, "run").await.expect(202);
    let processing = says(&server, &id, "processing").await;
    assert!(
        processing["progressMessage"]
            .as_str()
            .unwrap()
            .starts_with("reading ")
    );
    let record = says(&server, &id, "success").await;
    assert_eq!(record["result"]["departments"], 2);
    assert_eq!(record["progress"], 100);
    let path = format!(
        "/task-history/{id}/{}/status",
        record["id"].as_str().unwrap()
    );
    let asked = server.get(&path).await.expect(200);
    assert_eq!(asked["response"], json!({"progress": 100}));
}
