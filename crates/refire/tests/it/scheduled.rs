//! Scheduled tasks, over HTTP.

#[path = "scheduled/called_back.rs"]
mod called_back;
#[path = "scheduled/managed.rs"]
mod managed;

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
