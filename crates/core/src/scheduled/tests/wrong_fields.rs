//! What is wrong with a request is named, all of it at once.

use super::*;

/// What is changed in a request, the field that is named, and what is said.
type Wrong = (
    Vec<(&'static str, serde_json::Value)>,
    &'static str,
    &'static str,
);

#[expect(clippy::too_many_lines, reason = "a table")]
#[test]
fn each_wrong_field_is_named() {
    use serde_json::{Value, json};
    let monthly = |day: Value| {
        vec![
            ("scheduleType", json!("monthly")),
            (
                "scheduleConfig",
                json!({"dayOfMonth": day, "time": "09:00"}),
            ),
        ]
    };
    let once = |at: &str| {
        vec![
            ("scheduleType", json!("once")),
            ("scheduleConfig", json!({"executeAt": at})),
        ]
    };
    let table: Vec<Wrong> = vec![
        (
            vec![("scheduleType", json!("hourly"))],
            "scheduleType",
            "not one of",
        ),
        (
            vec![("scheduleType", json!(null))],
            "scheduleType",
            "required",
        ),
        (
            vec![("scheduleConfig", json!(null))],
            "scheduleConfig",
            "required",
        ),
        (
            vec![("scheduleConfig", json!({}))],
            "scheduleConfig.time",
            "required",
        ),
        (
            vec![("scheduleConfig", json!({"time": "25:00"}))],
            "scheduleConfig.time",
            "25:00",
        ),
        (
            vec![(
                "scheduleConfig",
                json!({"time": "09:00", "cron": "* * * * *"}),
            )],
            "scheduleConfig.cron",
            "unknown key",
        ),
        (
            vec![(
                "scheduleConfig",
                json!({"time": "09:00", "timezone": "Mars/Base"}),
            )],
            "scheduleConfig.timezone",
            "Mars/Base",
        ),
        (monthly(json!(32)), "scheduleConfig.dayOfMonth", "32"),
        (monthly(json!([1, 40])), "scheduleConfig.dayOfMonth", "40"),
        (
            once("2025-10-03T14:00:00Z"),
            "scheduleConfig.executeAt",
            "in the past",
        ),
        (once("tomorrow"), "scheduleConfig.executeAt", "tomorrow"),
        (
            vec![("endTime", json!("2025-12-31T23:59:59Z"))],
            "endTime",
            "in the past",
        ),
        (
            vec![("endTime", json!("2026-11-18T11:00:00Z"))],
            "endTime",
            "next planned time",
        ),
        (
            vec![
                ("startTime", json!("2027-02-01T00:00:00Z")),
                ("endTime", json!("2027-01-01T00:00:00Z")),
            ],
            "endTime",
            "start",
        ),
        (vec![("startTime", json!("soon"))], "startTime", "soon"),
        (
            vec![("isRecurring", json!("yes"))],
            "isRecurring",
            "true or false",
        ),
        (
            vec![("taskName", json!("x".repeat(256)))],
            "taskName",
            "255",
        ),
        (vec![("taskName", json!(7))], "taskName", "string"),
        (vec![("taskConfig", json!(null))], "taskConfig", "required"),
        (vec![("taskConfig", json!([]))], "taskConfig", "mapping"),
        (vec![("schedule", json!(1))], "schedule", "unknown key"),
    ];
    for (request, field, message) in table {
        let said = wrong(&with(&request, &[]));
        let found = said.iter().find(|(path, _)| path.starts_with(field));
        let found = found.unwrap_or_else(|| panic!("{field} in {said:?}"));
        assert!(found.1.contains(message), "{field}: {}", found.1);
    }
    for kind in ["immediate", "once"] {
        let mut request = once("2027-01-01T00:00:00Z");
        if kind == "immediate" {
            request = vec![
                ("scheduleType", json!(kind)),
                ("scheduleConfig", json!(null)),
            ];
        }
        request.push(("isRecurring", json!(true)));
        assert_eq!(wrong(&with(&request, &[]))[0].0, "isRecurring", "{kind}");
    }
    let window = [
        ("scheduleType", json!("immediate")),
        ("scheduleConfig", json!(null)),
        ("startTime", json!("2027-01-01T00:00:00Z")),
    ];
    assert_eq!(wrong(&with(&window, &[]))[0].0, "startTime");
}

#[expect(clippy::too_many_lines, reason = "a table")]
#[test]
fn each_wrong_field_of_what_is_done_is_named() {
    use serde_json::{Value, json};
    let http = |key: &str, value: Value| {
        let mut target = json!({"triggerType": "http", "url": "https://a.example/"});
        target[key] = value;
        vec![("targetConfig", target)]
    };
    let mut table: Vec<Wrong> = vec![
        (vec![("taskType", json!("party"))], "taskType", "not one of"),
        (vec![("taskType", json!(null))], "taskType", "required"),
        (
            vec![("taskPayload", json!(null))],
            "taskPayload",
            "required",
        ),
        (
            vec![("taskPayload", json!("text"))],
            "taskPayload",
            "expected an object",
        ),
        (
            vec![("taskPayload", json!([1]))],
            "taskPayload",
            "expected an object",
        ),
        (
            vec![("executorConfig", json!(1))],
            "executorConfig",
            "expected an object",
        ),
        (
            vec![("metadata", json!("a"))],
            "metadata",
            "expected an object",
        ),
        (
            vec![("executorConfig", json!({"triggerTimeoutSeconds": 301}))],
            "executorConfig.triggerTimeoutSeconds",
            "300",
        ),
        (
            vec![("retryConfig", json!({"maxRetries": 6}))],
            "retryConfig.maxRetries",
            "6",
        ),
        (
            vec![("retryConfig", json!({"retryIntervalMinutes": -1}))],
            "retryConfig.retryIntervalMinutes",
            "-1",
        ),
        (
            vec![("retryConfig", json!({"tries": 1}))],
            "retryConfig.tries",
            "unknown key",
        ),
        (
            vec![("callbackWindow", json!("31d"))],
            "callbackWindow",
            "31d",
        ),
        (
            vec![("callbackWindow", json!("soon"))],
            "callbackWindow",
            "soon",
        ),
        (
            vec![("targetConfig", json!(null))],
            "targetConfig",
            "required",
        ),
        (
            vec![("targetConfig", json!({}))],
            "targetConfig.triggerType",
            "required",
        ),
        (
            http("triggerType", json!("fax")),
            "targetConfig.triggerType",
            "not one of",
        ),
        (http("url", json!(null)), "targetConfig.url", "required"),
        (
            http("url", json!("ftp://a.example/")),
            "targetConfig.url",
            "http",
        ),
        (
            http("method", json!("GO WEST")),
            "targetConfig.method",
            "GO WEST",
        ),
        (
            http("headers", json!([])),
            "targetConfig.headers",
            "mapping",
        ),
        (
            http("headers", json!({"Host": "x"})),
            "targetConfig.headers",
            "Host",
        ),
        (
            http("headers", json!({"a": "${nonsense}"})),
            "targetConfig.headers.a",
            "nonsense",
        ),
        (
            http("triggerTimeoutSeconds", json!(0)),
            "targetConfig.triggerTimeoutSeconds",
            "0",
        ),
        (http("body", json!({})), "targetConfig.body", "unknown key"),
    ];
    for kind in ["lambda", "sns", "sqs", "eventbridge"] {
        let target = json!({"triggerType": kind, "functionName": "f", "topicArn": "arn"});
        table.push((
            vec![("targetConfig", target)],
            "targetConfig.triggerType",
            "not available in this version",
        ));
    }
    for (task, field, message) in table {
        let said = wrong(&with(&[], &task));
        let field = format!("taskConfig.{field}");
        let found = said.iter().find(|(path, _)| path.starts_with(&field));
        let found = found.unwrap_or_else(|| panic!("{field} in {said:?}"));
        assert!(found.1.contains(message), "{field}: {}", found.1);
        assert_eq!(said.len(), 1, "{field} alone: {said:?}");
    }
}

#[test]
fn all_wrong_fields_are_named_at_once() {
    use serde_json::json;
    let request = with(
        &[
            ("scheduleType", json!("monthly")),
            ("scheduleConfig", json!({"dayOfMonth": 32, "time": "9 am"})),
            ("endTime", json!("2025-01-01T00:00:00Z")),
            ("isRecurring", json!(1)),
        ],
        &[
            ("taskType", json!("x")),
            ("targetConfig", json!({"triggerType": "lambda"})),
            ("taskPayload", json!(5)),
            ("retryConfig", json!({"maxRetries": 9})),
            ("callbackWindow", json!(-1)),
        ],
    );
    let fields: Vec<String> = wrong(&request).into_iter().map(|(path, _)| path).collect();
    let expected = [
        "endTime",
        "isRecurring",
        "scheduleConfig.dayOfMonth",
        "scheduleConfig.time",
        "taskConfig.callbackWindow",
        "taskConfig.retryConfig.maxRetries",
        "taskConfig.targetConfig.triggerType",
        "taskConfig.taskPayload",
        "taskConfig.taskType",
    ];
    assert_eq!(fields, expected);
}
