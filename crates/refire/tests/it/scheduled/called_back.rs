//! Targets of scheduled tasks that call back, and are asked.

use super::*;

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
