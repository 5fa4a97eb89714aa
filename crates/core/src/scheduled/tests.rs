//! Requests that make tasks, and changes of them.

mod wrong_fields;

use super::*;
use crate::id::TriggerId;
use crate::trigger::{Trigger, created, upcoming};

const NOW: &str = "2026-11-18T10:00:00Z";

fn id() -> ScheduledTaskId {
    ScheduledTaskId::from_bytes([7; 16])
}

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn read(request: &serde_json::Value) -> Result<ScheduledTask, Problems> {
    ScheduledTask::read(id(), &request.to_string(), Planned::From(now()))
}

/// A task that is right, with these members of the request and of its `taskConfig` set; `null` removes one.
fn with(
    request: &[(&str, serde_json::Value)],
    task: &[(&str, serde_json::Value)],
) -> serde_json::Value {
    let mut whole = serde_json::json!({
        "taskName": "Report",
        "scheduleType": "daily",
        "scheduleConfig": {"time": "09:00"},
        "taskConfig": {
            "taskType": "report",
            "targetConfig": {"triggerType": "http", "url": "https://reports.example.com/run"},
            "taskPayload": {"n": 1},
        },
    });
    for (key, value) in request {
        whole[*key] = value.clone();
    }
    for (key, value) in task {
        whole["taskConfig"][*key] = value.clone();
    }
    whole
}

/// The fields that are wrong, with what is said of each.
fn wrong(request: &serde_json::Value) -> Vec<(String, String)> {
    let problems = read(request).expect_err(&request.to_string());
    let mut said: Vec<_> = problems
        .into_iter()
        .map(|one| (one.path, one.message))
        .collect();
    said.sort();
    said
}

fn trigger(task: &ScheduledTask) -> Trigger {
    let trigger = TriggerId::from_bytes([7; 16]);
    let workflow = ScheduledTask::workflow_id(task.id);
    Trigger::new(trigger, workflow, 1, true, task.trigger.as_str()).unwrap()
}

/// The next planned times.
fn next(task: &ScheduledTask, count: usize) -> Vec<String> {
    let trigger = trigger(task);
    let state = created(&trigger, now());
    let slots = upcoming(&trigger, Some(state.cursor), now(), count);
    slots
        .iter()
        .map(|slot| slot.planned.to_string().replace(".000000", ""))
        .collect()
}

#[test]
fn a_task_becomes_a_workflow_with_one_step_and_a_trigger() {
    let task = read(&with(&[], &[])).unwrap();
    assert_eq!(task.workflow.id.as_str(), id().to_string());
    assert_eq!(
        (task.name.as_deref(), task.task_type),
        (Some("Report"), "report")
    );
    assert_eq!(
        (task.schedule_type, task.is_recurring),
        (ScheduleType::Daily, true)
    );
    let [step] = &task.workflow.steps[..] else {
        panic!("one step");
    };
    assert_eq!(step.id.as_str(), STEP);
    assert_eq!(trigger(&task).settings.input.as_str(), r#"{"n":1}"#);
    assert_eq!(
        next(&task, 2),
        ["2026-11-19T09:00:00Z", "2026-11-20T09:00:00Z"]
    );
}

#[test]
fn the_payload_is_the_input_byte_for_byte() {
    let payload = "{ \"big\": 12345678901234567890123, \"s\":\"\\u00e4\" }";
    let source = with(&[], &[]).to_string().replace(r#"{"n":1}"#, payload);
    let task = ScheduledTask::read(id(), &source, Planned::From(now())).unwrap();
    assert_eq!(trigger(&task).settings.input.as_str(), payload);
}

#[test]
fn every_type_of_schedule_means_what_it_says() {
    use serde_json::json;
    let table = [
        ("daily", json!({"time": "10:30"}), "2026-11-18T10:30:00Z"),
        (
            "weekly",
            json!({"dayOfWeek": 0, "time": "09:00"}),
            "2026-11-22T09:00:00Z",
        ),
        (
            "weekly",
            json!({"dayOfWeek": 1, "time": "09:00"}),
            "2026-11-23T09:00:00Z",
        ),
        (
            "monthly",
            json!({"dayOfMonth": 31, "time": "09:00"}),
            "2026-11-30T09:00:00Z",
        ),
        (
            "cron",
            json!({"cron": "0 9 * * 1,3,5", "description": "x"}),
            "2026-11-20T09:00:00Z",
        ),
        (
            "once",
            json!({"executeAt": "2026-12-01T00:00:00+08:00"}),
            "2026-11-30T16:00:00Z",
        ),
        (
            "daily",
            json!({"time": "09:00", "timezone": "Asia/Taipei"}),
            "2026-11-19T01:00:00Z",
        ),
    ];
    for (kind, config, expected) in table {
        let request = with(
            &[("scheduleType", json!(kind)), ("scheduleConfig", config)],
            &[],
        );
        let task = read(&request).unwrap();
        assert_eq!(next(&task, 1), [expected], "{request}");
        assert_eq!(task.is_recurring, kind != "once", "{kind}");
    }
    let nothing = [
        ("scheduleType", json!("immediate")),
        ("scheduleConfig", json!(null)),
    ];
    let task = read(&with(&nothing, &[])).unwrap();
    assert_eq!(
        next(&task, 1),
        [] as [String; 0],
        "it begins with the task itself"
    );
}

#[test]
fn a_task_that_does_not_recur_has_the_first_occurrence_only() {
    use serde_json::json;
    let task = read(&with(&[("isRecurring", json!(false))], &[])).unwrap();
    assert!(!task.is_recurring);
    assert_eq!(next(&task, 3), ["2026-11-19T09:00:00Z"]);
}

#[test]
fn a_window_narrows_the_schedule() {
    use serde_json::json;
    let window = [
        ("startTime", json!("2026-12-01T00:00:00Z")),
        ("endTime", json!("2026-12-02T23:00:00Z")),
    ];
    let task = read(&with(&window, &[])).unwrap();
    assert_eq!(
        next(&task, 5),
        ["2026-12-01T09:00:00Z", "2026-12-02T09:00:00Z"]
    );
}

#[test]
fn retries_are_those_of_the_config_alone() {
    use crate::failure::ErrorClass;
    use serde_json::json;
    let rules = |config: serde_json::Value| {
        let task = read(&with(&[], &[("retryConfig", config)])).unwrap();
        task.workflow.retry_for(0, None)
    };
    let none = rules(json!(null));
    assert_eq!((none.enabled, none.policy.max_retries), (false, 0));
    assert_eq!(rules(json!({"maxRetries": 0})).policy.max_retries, 0);
    let some = rules(json!({"maxRetries": 2, "retryIntervalMinutes": 30}));
    assert_eq!(some.policy.max_retries, 2);
    let seconds = |rules: &crate::definition::RetryRules, retry: u32| {
        let draw = refire_retry::Seed::new(u64::from(retry)).draw();
        rules.policy.delay(retry, None, draw).as_secs()
    };
    for retry in 1..=2 {
        assert_eq!(seconds(&some, retry), 30 * 60, "fixed, and not spread");
    }
    for status in [199, 300, 400, 401, 404, 429, 500, 599] {
        assert!(
            some.is_retryable(ErrorClass::HttpStatus, Some(status)),
            "{status}"
        );
    }
    for class in [
        "dns",
        "tls",
        "connection_refused",
        "redirect",
        "invalid_response",
    ] {
        let class = ErrorClass::from_name(class).unwrap();
        assert!(some.is_retryable(class, None), "{class:?}");
    }
    let timeouts = [ErrorClass::ConnectTimeout, ErrorClass::ReadTimeout];
    assert!(
        timeouts
            .iter()
            .all(|class| !some.is_retryable(*class, None))
    );
    let late = rules(json!({"retryOnTimeout": true}));
    assert!(timeouts.iter().all(|class| late.is_retryable(*class, None)));
    assert_eq!(seconds(&late, 1), 5 * 60);
}

#[test]
fn what_is_called_is_what_was_said() {
    use serde_json::json;
    let target = json!({
        "triggerType": "http",
        "url": "https://api.example.com/webhook",
        "method": "PUT",
        "headers": {"Authorization": "Bearer ${SECRET_TOKEN}"},
        "triggerTimeoutSeconds": 7,
    });
    let task = read(&with(&[], &[("targetConfig", target)])).unwrap();
    let crate::definition::StepKind::Http(http) = &task.workflow.steps[0].kind else {
        panic!("a call");
    };
    assert_eq!((http.method.as_str(), http.timeout.as_secs()), ("PUT", 7));
    assert_eq!(task.workflow.secrets()[0].1, "TOKEN");
    let executor = json!({"triggerTimeoutSeconds": 9, "anything": [1]});
    let task = read(&with(&[], &[("executorConfig", executor)])).unwrap();
    let crate::definition::StepKind::Http(http) = &task.workflow.steps[0].kind else {
        panic!("a call");
    };
    assert_eq!((http.method.as_str(), http.timeout.as_secs()), ("POST", 9));
}

#[test]
fn a_sync_goes_to_the_endpoint_of_its_payload() {
    use serde_json::json;
    let sync = [
        ("taskType", json!("sync")),
        ("targetConfig", json!(null)),
        (
            "taskPayload",
            json!({"apiEndpoint": "https://erp.example.com/orders"}),
        ),
    ];
    assert!(read(&with(&[], &sync)).is_ok());
    let mut odd = sync.clone();
    odd[2].1 = json!({"apiEndpoint": "not an address"});
    assert_eq!(
        wrong(&with(&[], &odd))[0].0,
        "taskConfig.taskPayload.apiEndpoint"
    );
    let mut other = sync;
    other[0].1 = json!("report");
    let said = wrong(&with(&[], &other));
    assert_eq!(said[0].0, "taskConfig.targetConfig");
}

#[test]
fn a_change_is_laid_over_the_request() {
    use serde_json::json;
    let before = with(&[("taskDescription", json!("old"))], &[]).to_string();
    let patch = json!({
        "taskDescription": null,
        "scheduleConfig": {"time": "11:00"},
        "taskConfig": {"taskPayload": {"more": true}},
    });
    let after = patched(&before, &patch.to_string()).unwrap();
    let after: serde_json::Value = serde_json::from_str(after.as_str()).unwrap();
    assert_eq!(after.get("taskDescription"), None);
    assert_eq!(after["scheduleConfig"]["time"], "11:00");
    assert_eq!(
        after["taskConfig"]["taskPayload"],
        json!({"n": 1, "more": true})
    );
    assert!(patched(&before, "[1]").is_err());
    assert!(!plan_alike(&before, &after.to_string()));
    let quiet = patched(&before, r#"{"taskName": "other"}"#).unwrap();
    assert!(plan_alike(&before, quiet.as_str()));
}

#[test]
fn what_a_change_does_not_touch_stays_planned() {
    use serde_json::json;
    let request = with(&[("isRecurring", json!(false))], &[]).to_string();
    let task = ScheduledTask::read(id(), &request, Planned::From(now())).unwrap();
    let renamed = patched(&request, r#"{"taskName": "other"}"#).unwrap();
    let stored = task.trigger.as_str().to_owned();
    let again = ScheduledTask::read(id(), renamed.as_str(), Planned::As(&stored)).unwrap();
    assert_eq!(
        again.trigger, task.trigger,
        "the same moment, however late it is"
    );
    assert_eq!(again.name.as_deref(), Some("other"));
}

#[test]
fn types_are_a_registry() {
    for known in task_type::TYPES {
        let request = with(&[], &[("taskType", serde_json::json!(known.name))]);
        assert_eq!(read(&request).unwrap().task_type, known.name);
        assert!(!known.does.is_empty());
    }
}
