//! Templates: any string is a template or an error, and rendering one on the values of a real
//! execution always ends, within its bounds, with JSON or with a reason.

use std::sync::LazyLock;

use refire_core::definition::{ParseOptions, StepId, Workflow};
use refire_core::execution::{
    Began, Command, Execution, Outcome, Report, Start, StateScope, decide, start,
};
use refire_core::id::ExecutionId;
use refire_core::json::{COMPOSED_DEPTH_MAX, Json, Kind};
use refire_core::template::{RENDER_BYTES_MAX, RenderError, Template};
use refire_core::time::Timestamp;

use super::first_line;

static WORKFLOW: LazyLock<Workflow> = LazyLock::new(|| {
    let source = "id: w\nsteps:\n\
        - {id: a, type: local, config: {task: t}, outputMapping: {one: '$', many: '$..*'}}\n\
        - {id: b, type: local, config: {task: t}, when: 'false'}\n\
        - {id: c, type: local, config: {task: t}}\n";
    Workflow::parse(source, &ParseOptions::default()).expect("it is right")
});

/// The first line is the template, the rest is JSON: the execution's input and a step's output.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (template, value) = first_line(text);
    let template = match Template::parse(template) {
        Ok(template) => template,
        Err(error) => {
            assert!(
                (1..=text.chars().count() + 1).contains(&error.at),
                "{error}"
            );
            return;
        }
    };
    for reference in template.references() {
        let written = format!("${{{reference}}}");
        let again = Template::parse(&written).unwrap_or_else(|error| panic!("{written}: {error}"));
        assert_eq!(
            again.references().collect::<Vec<_>>(),
            [reference],
            "{written}"
        );
    }
    let value = Json::parse(value).unwrap_or_else(|_| Json::empty_object());
    check(&template, &state(value));
}

/// An execution with that input, of which `a` is done with it as output and `b` was skipped.
fn state(value: Json) -> Execution {
    let now = Timestamp::from_millis(1_800_000_000_000);
    let begun = Start::plain(ExecutionId::from_bytes([1; 16]), 0, value.clone());
    let state = start(&WORKFLOW, begun, now).state;
    let report = Report {
        step: StepId::new("a").expect("a name"),
        attempt: 1,
        began: Began::Called(now),
        duration_ms: 0,
        outcome: Outcome::Succeeded(value),
        mapped: None,
    };
    let decision = decide(&WORKFLOW, &state, Command::Report(report), now);
    decision.expect("the attempt is live").state
}

fn check(template: &Template, state: &Execution) {
    let value = template.render(&StateScope::new(state));
    let text = template.render_text(&StateScope::new(state));
    match (&value, &text) {
        (Ok(value), Ok(text)) => {
            // A text may grow when it is quoted; every byte becomes six at most.
            assert!(value.as_str().len() <= RENDER_BYTES_MAX);
            assert!(text.len() <= RENDER_BYTES_MAX);
            let again = serde_json::from_str::<&serde_json::value::RawValue>(value.as_str());
            assert!(again.is_ok(), "not JSON: {value}");
            assert!(depth(value.as_str()) <= COMPOSED_DEPTH_MAX);
            if template.is_whole() {
                return;
            }
            assert_eq!(value.kind(), Kind::String);
            assert_eq!(value.as_text().as_deref(), Some(text.as_str()));
        }
        (Err(error), _) | (_, Err(error)) => {
            assert!(!error.to_string().is_empty());
            let literal = template.is_literal() && !matches!(error, RenderError::TooLarge);
            assert!(!literal, "nothing can be missing: {error}");
        }
    }
    if let Some(literal) = template.literal() {
        assert_eq!(text.as_deref(), Ok(literal));
    }
}

fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !quoted => depth -= 1,
            _ => {}
        }
    }
    deepest
}
