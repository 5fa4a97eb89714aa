//! Small workflows from a few choices, as text, so that a finding can be read.

use refire_core::definition::{ParseOptions, Workflow};

use super::choices::Choices;

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

pub(crate) const INPUTS: [&str; 4] = [r#"{"go":true}"#, r#"{"go":false}"#, "{}", "[1]"];

const TOPS: [&str; 5] = [
    "",
    "deadLetter: exhausted\n",
    "output: '${input.go}'\n",
    "output: {all: '${steps.a.output ?? 1}', x: '${workflow.context.x ?? null}'}\n",
    "concurrency: {key: '${input.go}', maxPerKey: 1}\n",
];

const JITTERS: [&str; 6] = [
    "none",
    "proportional",
    "additive",
    "full",
    "equal",
    "decorrelated",
];

const MORE: [&str; 6] = [
    "",
    ", maxElapsed: 9s",
    ", strategy: fixed",
    ", strategy: linear, maxDelay: 3s",
    ", initialDelay: 0s",
    ", retryOn: {statuses: [400, 5xx], errors: [local, tls]}",
];

const WHENS: [&str; 6] = [
    "",
    "",
    ", when: 'true'",
    ", when: 'false'",
    ", when: '${input.go}'",
    ", when: '${workflow.context.x ?? true}'",
];

pub(crate) fn workflow(choices: &mut Choices<'_>) -> Workflow {
    let source = source(choices);
    Workflow::parse(&source, &ParseOptions::default())
        .unwrap_or_else(|problems| panic!("{problems}\n{source}"))
}

fn source(choices: &mut Choices<'_>) -> String {
    let count = 1 + choices.below(NAMES.len());
    let mut text = format!("id: w\n{}", choices.pick(&TOPS));
    text += &format!(
        "retry: {{maxRetries: {}, jitter: {}{}}}\nsteps:\n",
        1 + choices.below(3),
        choices.pick(&JITTERS),
        choices.pick(&MORE)
    );
    let mut mapped = false;
    for (at, name) in NAMES[..count].iter().enumerate() {
        let bits = choices.byte();
        let needs: Vec<&str> = (0..at)
            .filter(|bit| bits & (1 << bit) != 0)
            .map(|bit| NAMES[bit])
            .collect();
        text += &format!(
            "- {{id: {name}, type: local, config: {{task: t}}, needs: [{}]{}",
            needs.join(", "),
            choices.pick(&WHENS)
        );
        let more = choices.byte();
        if more & 1 != 0 {
            text += ", retry: {maxRetries: 1}";
        }
        // Two parallel steps must not map the same key.
        if more & 2 != 0 && !mapped {
            mapped = true;
            text += ", outputMapping: {x: '$.x'}";
        }
        if more & 4 != 0 {
            text += &format!(", compensate: undo_{name}}}\n");
            text += &format!("- {{id: undo_{name}, type: local, config: {{task: t}}");
        }
        text += "}\n";
    }
    text
}
