//! `callback`: the step is not done when its target has answered, but when the target calls back.

use std::time::Duration;

use super::fields::Field;
use super::keys;
use super::problem::Problems;

const WINDOW_DEFAULT: Duration = Duration::from_secs(24 * 60 * 60);
const WINDOW_MIN: Duration = Duration::from_secs(1);
const WINDOW_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How a target says later how it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Callback {
    /// How long it may take after its answer; then the answer counts.
    pub window: Duration,
}

impl Callback {
    pub(super) fn read(field: &Field<'_>, problems: &mut Problems) -> Self {
        let fields = field.fields(keys::CALLBACK, problems);
        let window = fields.and_then(|fields| {
            let field = fields.get("window")?;
            field.duration(WINDOW_MIN..=WINDOW_MAX, problems)
        });
        Self {
            window: window.unwrap_or(WINDOW_DEFAULT),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::definition::{ParseOptions, Workflow};

    fn parse(step: &str) -> Result<Workflow, String> {
        let source = format!("id: w\nsteps:\n  - {{id: a, {step}}}");
        let parsed = Workflow::parse(&source, &ParseOptions::default());
        parsed.map_err(|problems| problems.to_string())
    }

    const HTTP: &str = "type: http, config: {url: 'https://x.example/'}";

    #[test]
    fn a_window_is_read() {
        for (written, seconds) in [
            ("callback: {}", Some(24 * 3600)),
            ("callback: {window: 90s}", Some(90)),
            ("callback: {window: 30d}", Some(30 * 24 * 3600)),
            ("callback: null", None),
        ] {
            let workflow = parse(&format!("{HTTP}, {written}")).unwrap();
            let window = workflow.steps[0].callback.map(|it| it.window.as_secs());
            assert_eq!(window, seconds, "{written}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let task = "type: external_task, config: {taskType: t}";
        let local = "type: local, config: {task: t}";
        let http =
            |config: &str| format!("type: http, config: {{url: 'https://x.example/', {config}}}");
        for (step, says) in [
            (
                format!("{HTTP}, callback: {{window: 500ms}}"),
                "callback.window",
            ),
            (
                format!("{HTTP}, callback: {{window: 31d}}"),
                "callback.window",
            ),
            (format!("{HTTP}, callback: {{windw: 1d}}"), "window"),
            (format!("{HTTP}, callback: 24h"), "callback"),
            (
                format!("{task}, callback: {{}}"),
                "`external_task` has no callback",
            ),
            (
                format!("{local}, callback: {{}}"),
                "`local` has no callback",
            ),
            (
                http("body: '${callback.token}'"),
                "the step has no `callback`",
            ),
            (
                http("headers: {x: '${callback.url}'}"),
                "the step has no `callback`",
            ),
            (
                "type: external_task, config: {taskType: t, input: '${step.attempt}'}".to_owned(),
                "known only when",
            ),
            (
                format!("{HTTP}, callback: {{}}, when: '${{callback.token}}'"),
                "known only when",
            ),
        ] {
            let problems = parse(&step).expect_err(&step);
            assert!(problems.contains(says), "{step}: {problems}");
        }
        let fine =
            http("body: {u: '${callback.url}', t: '${callback.token}', n: '${step.attempt}'}");
        assert!(parse(&format!("{fine}, callback: {{}}")).is_ok());
        assert!(parse(&http("body: '${step.attempt}'")).is_ok());
    }
}
