//! The workflow of a task: one step that calls the target.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::retry::Retry;
use super::target::{Said, Target};
use super::task_type::TaskType;
use super::{STEP, moved_to};
use crate::definition::fields::Field;
use crate::definition::{ParseOptions, Problems, Workflow};
use crate::duration;
use crate::id::ScheduledTaskId;

/// How long a target may take to report, if nobody says.
const WINDOW_DEFAULT: Duration = Duration::from_secs(24 * 60 * 60);
/// The longest that somebody may say.
const WINDOW_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How long a target may report what became of a task; none = it is not asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window(Option<Duration>);

impl Window {
    pub(super) fn read(field: Option<&Field<'_>>, problems: &mut Problems) -> Option<Self> {
        let Some(field) = field else {
            return Some(Self(Some(WINDOW_DEFAULT)));
        };
        let window = field.duration(Duration::ZERO..=WINDOW_MAX, problems)?;
        if window > Duration::ZERO && window < Duration::from_secs(1) {
            problems.push(field.problem("a window is at least 1s long, or 0 for none"));
            return None;
        }
        Some(Self(Some(window).filter(|window| !window.is_zero())))
    }
}

/// The text of the workflow.
pub(super) fn source(
    id: ScheduledTaskId,
    name: Option<&str>,
    task_type: &TaskType,
    target: &Target,
    retry: &Retry,
    window: Window,
) -> String {
    let mut body = json!({
        "executionId": "${execution.id}-${step.attempt}",
        "taskType": task_type.name,
        "taskPayload": "${input}",
        "attempt": "${step.attempt}",
        "cycleNumber": "${trigger.cycle}",
    });
    if window.0.is_some() {
        body["callbackUrl"] = json!("${callback.url}");
        body["callbackToken"] = json!("${callback.token}");
    }
    let mut config = Map::new();
    let method = target.method.as_ref().map(value);
    config.insert("method".to_owned(), method.unwrap_or_else(|| json!("POST")));
    config.insert("url".to_owned(), value(&target.url));
    if let Some(headers) = &target.headers {
        config.insert("headers".to_owned(), value(headers));
    }
    config.insert("body".to_owned(), body);
    config.insert(
        "timeout".to_owned(),
        json!(duration::format(target.timeout)),
    );
    let mut step = json!({
        "id": STEP,
        "type": "http",
        "retry": retry.policy(),
        "config": config,
    });
    if let Some(window) = window.0 {
        step["callback"] = json!({"window": duration::format(window)});
    }
    let id = id.to_string();
    let name = name.unwrap_or(&id);
    json!({"id": id, "name": name, "steps": [step]}).to_string()
}

fn value(said: &Said) -> Value {
    // It was read as JSON or written as such.
    serde_json::from_str(said.value.as_str()).unwrap_or(Value::Null)
}

/// The workflow, or what is wrong with it under the names of the request.
pub(super) fn parse(
    id: ScheduledTaskId,
    source: &str,
    target: &Target,
    problems: &mut Problems,
) -> Option<Workflow> {
    let id = id.to_string();
    let options = ParseOptions {
        expected_id: Some(&id),
        ..ParseOptions::default()
    };
    let wrong = match Workflow::parse(source, &options) {
        Ok(workflow) => return Some(workflow),
        Err(wrong) => wrong,
    };
    let places = [
        ("steps[0].config.url", Some(&target.url)),
        ("steps[0].config.method", target.method.as_ref()),
        ("steps[0].config.headers", target.headers.as_ref()),
    ];
    for problem in wrong {
        let place = places
            .iter()
            .find(|(from, _)| problem.path.starts_with(from));
        problems.push(match place {
            Some((from, Some(said))) => moved_to(problem, from, &said.place),
            _ => problem,
        });
    }
    None
}
