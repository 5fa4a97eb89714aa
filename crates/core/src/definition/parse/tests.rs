//! Tests of whole definitions: what the good ones mean. The bad ones are in `refused`.

mod refused;

use proptest::prelude::*;

use super::*;
use crate::definition::step_type;
use crate::definition::workflow::Step;
use crate::definition::{Http, StepKind};

const CUSTOMER: &str = r#"
id: customer_360_view
retry: { maxRetries: 5, initialDelay: 2s, strategy: exponential, jitter: proportional }
steps:
  - id: tickets
    type: http
    config:
      method: POST
      url: https://crm.example.com/tickets
      headers: { Authorization: "Bearer ${secret.CRM_TOKEN}" }
      body: { customer: "${input.customer_id}" }
      outputMapping: { openTickets: "$.body.open" }
  - id: notify
    type: http
    needs: [tickets]
    config: { method: POST, url: "https://hooks.example.com/x", body: { open: "${workflow.context.openTickets}" } }
"#;

fn parse(source: &str) -> Result<Workflow, Problems> {
    Workflow::parse(source, &ParseOptions::default())
}

fn good(source: &str) -> Workflow {
    parse(source).unwrap_or_else(|problems| panic!("{source}\n{problems}"))
}

/// A workflow of `local` steps; each is `id` or `id: extra yaml`.
fn steps(lines: &[&str]) -> String {
    let mut source = String::from("id: w\nsteps:\n");
    for line in lines {
        let (id, extra) = line.split_once(' ').unwrap_or((line, ""));
        source.push_str(&format!(
            "  - {{id: {id}, type: local, config: {{task: t}}{extra}}}\n"
        ));
    }
    source
}

/// A message that lists the step types of this version.
fn said_of_types(message: &str) -> String {
    message.replace("{types}", &step_type::names().join(", "))
}

fn http(step: &Step) -> &Http {
    match &step.kind {
        StepKind::Http(http) => http,
        other => panic!("not http: {other:?}"),
    }
}

#[test]
fn the_example_of_the_documentation() {
    let workflow = good(CUSTOMER);
    assert_eq!(workflow.id.as_str(), "customer_360_view");
    assert_eq!(workflow.name, "customer_360_view");
    let (at, notify) = workflow.step("notify").unwrap();
    assert_eq!(
        (at, notify.needs.as_slice(), notify.kind.type_name()),
        (1, [0].as_slice(), "http")
    );
    let tickets = &workflow.steps[0];
    assert_eq!(tickets.output_mapping[0].0, "openTickets");
    let call = http(tickets);
    assert_eq!((call.method.as_str(), call.timeout.as_secs()), ("POST", 30));
    assert_eq!(call.static_host.as_deref(), Some("crm.example.com"));
    assert!(call.expected[0].contains(204) && !call.expected[0].contains(302));
    assert_eq!(call.max_response_bytes, 1024 * 1024);
    assert_eq!(workflow.retry_for(0, None).policy.max_retries, 5);
    assert_eq!(workflow.dead_letter, DeadLetterMode::All);
}

#[test]
fn everything_that_can_be_written() {
    let workflow = good(
        r#"
$schema: https://example.com/workflow.schema.json
id: all
name: All of it
description: every key
retry: false
dead_letter: Exhausted
concurrency: { max: 10, key: "${input.customer}", max_per_key: 1 }
rateLimit: { max: 100, per: 1m, key: "${input.customer}" }
output: { total: "${steps.b.output.total}", fixed: 1.50 }
steps:
  - id: a
    type: HTTP
    when: ${input.wanted}
    retry: { maxAttempts: 3 }
    compensate: undo
    outputMapping: { x: "$.body.x" }
    config:
      method: patch
      url: "https://${input.region}.example.com/${workflow.context.path}"
      headers: { X-Number: 5, X-On: true }
      query: { q: "${input.q}", page: 1, tags: [a, "${input.tag}"] }
      body: [1, "${input.body}"]
      timeout: 1m30s
      expected_statuses: [200, "3xx", "404-405"]
      maxResponseBytes: 2048
  - id: undo
    type: local
    config: { task: t, input: "${steps.a.output.body.id}", timeout: 5s }
  - id: b
    type: local
    needs: a
    config: { task: sum }
"#,
    );
    assert_eq!(workflow.dead_letter, DeadLetterMode::Exhausted);
    assert_eq!(
        (workflow.concurrency.max, workflow.concurrency.max_per_key),
        (Some(10), Some(1))
    );
    assert_eq!(workflow.rate_limit.as_ref().unwrap().per.as_secs(), 60);
    let (undo, _) = workflow.step("undo").unwrap();
    assert_eq!(workflow.steps[0].compensate, Some(undo));
    assert!(workflow.steps[undo].is_compensation);
    assert_eq!(workflow.roots().collect::<Vec<_>>(), [0]);
    assert_eq!(workflow.last_steps(), [2]);
    assert_eq!(workflow.dependants(0).collect::<Vec<_>>(), [2]);
    let call = http(&workflow.steps[0]);
    assert_eq!(call.method, "PATCH");
    assert_eq!(call.static_host, None);
    assert_eq!(call.query.len(), 3);
    assert!(call.expected.iter().any(|range| range.contains(404)));
    // The step's own settings go over the trigger's, those over the workflow's.
    assert_eq!(workflow.retry_for(0, None).policy.max_retries, 2);
    assert!(!workflow.retry_for(2, None).enabled);
    let trigger = RetrySettings::parse("7").unwrap();
    assert_eq!(workflow.retry_for(2, Some(&trigger)).policy.max_retries, 7);
    assert_eq!(workflow.retry_for(0, Some(&trigger)).policy.max_retries, 2);
}

#[test]
fn steps_without_needs_run_in_order() {
    let workflow = good(&steps(&["a , compensate: u", "u", "b", "c"]));
    let needs: Vec<_> = workflow
        .steps
        .iter()
        .map(|step| step.needs.clone())
        .collect();
    assert_eq!(needs, [vec![], vec![], vec![0], vec![2]]);
    assert_eq!(workflow.ancestors(3), [0, 2]);
    assert!(!workflow.may_run_in_parallel(0, 3) && !workflow.may_run_in_parallel(0, 1));
    let workflow = good(&steps(&["a", "b", "c , needs: [a]"]));
    assert_eq!(workflow.roots().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(workflow.last_steps(), [1, 2]);
    assert!(workflow.may_run_in_parallel(0, 1) && workflow.may_run_in_parallel(1, 2));
    let workflow = good(&steps(&["a , needs: []", "b"]));
    assert_eq!(workflow.roots().count(), 2, "an empty list says: a root");
}

#[test]
fn the_id_may_come_from_outside() {
    let source = "steps: [{id: a, type: local, config: {task: t}}]";
    let options = ParseOptions {
        expected_id: Some("mine"),
        ..ParseOptions::default()
    };
    assert_eq!(
        Workflow::parse(source, &options).unwrap().id.as_str(),
        "mine"
    );
    let said = Workflow::parse(&format!("id: other\n{source}"), &options)
        .unwrap_err()
        .to_string();
    assert_eq!(
        said,
        "id (line 1): the id is \"other\", but \"mine\" is being applied"
    );
    assert!(
        parse(source)
            .unwrap_err()
            .to_string()
            .contains("id (line 1): `id` is required")
    );
}

#[test]
fn local_tasks_are_checked_when_they_are_known() {
    let known = |task: &str| task == "sum";
    let options = ParseOptions {
        local_tasks: Some(&known),
        ..ParseOptions::default()
    };
    let said = Workflow::parse(&steps(&["a"]), &options)
        .unwrap_err()
        .to_string();
    assert_eq!(
        said,
        "steps[0].config.task (line 3): no local task is registered as \"t\""
    );
}

#[test]
fn json_is_read_too() {
    let source =
        "{\n\t\"id\": \"w\",\n\t\"steps\": [\n\t\t{\"id\": \"a\", \"type\": \"later\"}\n\t]\n}";
    let said = parse(source).unwrap_err().to_string();
    assert_eq!(
        said,
        said_of_types("steps[0].type (line 4): there is no step type `later`; available: {types}")
    );
}

#[test]
fn secrets_that_must_be_set_are_found_wherever_they_stand() {
    let source = r#"
id: w
steps:
- {id: a, type: http, config: {url: "http://x/${secret.URL}", headers: {A: "${secret.HEAD} ${SECRET_URL}"},
    query: {k: ["${secret.QUERY}"]}, body: {b: [{c: "${secret.BODY}"}]}}}
- {id: b, type: local, config: {task: t, input: {k: "${secret.LOCAL}", o: "${secret.OPTIONAL ?? null}"}}}
"#;
    let workflow = good(source);
    let found: Vec<(&str, &str)> = workflow
        .secrets()
        .into_iter()
        .map(|(step, name)| (step.as_str(), name))
        .collect();
    assert_eq!(
        found,
        [
            ("a", "URL"),
            ("a", "HEAD"),
            ("a", "QUERY"),
            ("a", "BODY"),
            ("b", "LOCAL"),
        ]
    );
}

#[test]
fn redirects_are_followed_only_where_it_is_said() {
    let redirects = |config: &str| {
        let source =
            format!("id: w\nsteps: [{{id: a, type: http, config: {{url: 'http://x/'{config}}}}}]");
        match &good(&source).steps[0].kind {
            StepKind::Http(http) => http.follow_redirects,
            other => panic!("not http: {other:?}"),
        }
    };
    assert_eq!(redirects(""), 0);
    assert_eq!(redirects(", followRedirects: 5"), 5);
    assert_eq!(redirects(", follow_redirects: 1"), 1);
}

#[test]
fn a_body_on_get_is_noted() {
    let source = "id: w\nsteps: [{id: a, type: http, config: {url: 'http://x/', body: 1}}]";
    assert_eq!(
        good(source).notes(),
        ["step \"a\": GET with a body; many servers ignore it"]
    );
    assert!(good(CUSTOMER).notes().is_empty());
}

#[test]
fn concurrency_that_counts_no_tasks_is_noted() {
    let task = "steps: [{id: a, type: external_task, config: {taskType: t}}]";
    for limit in ["max: 2", "key: '${input.k}', maxPerKey: 1"] {
        let notes = good(&format!("id: w\nconcurrency: {{{limit}}}\n{task}")).notes();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with("concurrency: "), "{notes:?}");
    }
    assert!(good(&format!("id: w\n{task}")).notes().is_empty());
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = parse(&text);
    }

    #[test]
    fn no_shuffled_definition_panics(from in 0..CUSTOMER.len(), to in 0..CUSTOMER.len()) {
        // The example is ASCII, so any cut is a text.
        let _ = parse(&format!("{}{}", &CUSTOMER[..from], &CUSTOMER[to..]));
    }
}
