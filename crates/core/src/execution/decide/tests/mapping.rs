//! Outputs: what a step's output adds to the context, and what the execution's output is.

use super::fixture::{Run, json, plain_start, step_id, stray, workflow};
use crate::execution::event::{EventKind, Mapped};
use crate::execution::replay::replay;
use crate::execution::state::OutputRef;
use crate::execution::{Command, Event, Outcome, RULES, Start, StateScope, fold, map_output};
use crate::failure::ErrorClass;
use crate::template::Template;

/// What a template gives on the run's state.
fn render(run: &Run, template: &str) -> String {
    let template = Template::parse(template).unwrap();
    template
        .render(&StateScope::new(&run.state))
        .unwrap()
        .as_str()
        .to_owned()
}

/// The value of the context key `k` after a step with this output and mapping.
fn mapped(path: &str, output: &str) -> String {
    let step = format!("a | outputMapping: {{k: \"{path}\"}}");
    let mut run = Run::of(&[&step, "b"]);
    run.ok("a", output);
    render(&run, "${workflow.context.k}")
}

#[test]
fn no_match_is_null_one_is_its_value_and_several_are_an_array() {
    assert_eq!(mapped("$.x", "{}"), "null");
    assert_eq!(mapped("$.x", r#"{"x":[1,2]}"#), "[1,2]");
    assert_eq!(mapped("$.x[*].n", r#"{"x":[{"n":1},{"n":2}]}"#), "[1,2]");
    assert_eq!(mapped("$.x[*].n", r#"{"x":[{"n":1}]}"#), "1");
}

#[test]
fn mapped_values_keep_every_byte() {
    let value = r#"{"z":12345678901234567890123,"a":{"b":1.500,"a":2},"s":"\u0000\ud83d\ude00"}"#;
    assert_eq!(mapped("$.x", &format!(r#"{{"x":{value},"y":1}}"#)), value);
    assert_eq!(
        mapped(
            "$..n",
            r#"{"p":{"n":12345678901234567890123},"q":{"n":"\u0000"}}"#
        ),
        r#"[12345678901234567890123,"\u0000"]"#
    );
}

#[test]
fn what_many_paths_give_together_is_bounded() {
    let names: Vec<String> = (0..100).map(|n| format!("k{n:03}: \"$[*]\"")).collect();
    let step = format!("a | outputMapping: {{{}}}", names.join(", "));
    let output = format!("[{}1]", "1,".repeat(8_999));
    let mut run = Run::of(&[&step]);
    run.ok("a", &output);
    let letter = run.letter().unwrap();
    assert_eq!(letter.failure.class, ErrorClass::Mapping);
    assert_eq!(
        letter.failure.message,
        "`outputMapping.k002`: `$[*]` matches 9000 values; at most 10000 are given"
    );
    // Under the first rules the rest mapped to nothing.
    let start = Start {
        rules: 1,
        ..plain_start("{}")
    };
    let mut run = Run::start(workflow("", &[&step]), start);
    run.replays = false;
    run.ok("a", &output);
    let EventKind::StepCompleted(done) = &run.log[3].kind else {
        panic!("not a result")
    };
    let given = done
        .mapped
        .iter()
        .filter(|(_, part)| *part != Mapped::Nothing);
    assert_eq!(given.count(), 2, "the rest maps to nothing");
    assert!(run.log[3].encode().payload.len() < 500_000);
}

/// A regular expression whose cost is not known from its length, on three values.
const COSTLY: &str = "$[?match(@, '[a-z]{2,40}')]";

#[test]
fn a_path_that_is_costly_on_few_values_is_worked_out() {
    assert_eq!(mapped(COSTLY, r#"["ab","c","de"]"#), r#"["ab","de"]"#);
}

#[test]
fn a_path_that_is_too_costly_fails_the_step_by_name() {
    let values = format!("[{}\"x\"]", "\"ab\",".repeat(100));
    let step = format!("a | outputMapping: {{k: \"{COSTLY}\"}}");
    let mut run = Run::of(&[&step, "b"]);
    run.ok("a", &values);
    let failure = &run.letter().unwrap().failure;
    assert_eq!(
        (failure.class, failure.retryable),
        (ErrorClass::Mapping, false)
    );
    let cause = "would be too costly for this document of 102 values";
    assert_eq!(
        failure.message,
        format!("`outputMapping.k`: `{COSTLY}` {cause}")
    );
    let EventKind::StepFailed(failed) = &run.log[3].kind else {
        panic!("not a failure")
    };
    assert_eq!(
        failed.error.response.as_deref(),
        Some(&*values),
        "a person sees the output"
    );
}

#[test]
fn what_the_sender_mapped_is_taken_and_derived_again_by_replay() {
    let steps = ["a | outputMapping: {k: \"$.x\"}", "b"];
    let mut run = Run::of(&steps);
    let output = json(r#"{"x":7}"#);
    let mapped = map_output(&run.workflow.steps[0], &output, RULES).unwrap();
    let mut report = stray("a", 1, Outcome::Succeeded(output));
    if let Command::Report(report) = &mut report {
        report.mapped = Some(mapped);
    }
    run.send(report.clone());
    assert_eq!(render(&run, "${workflow.context.k}"), "7");
    // A sender that mapped something else is found out.
    let mut wrong = Run::of(&steps);
    wrong.replays = false;
    if let Command::Report(report) = &mut report {
        report.mapped = Some(vec![("k".to_owned(), Mapped::Nothing)]);
    }
    wrong.send(report);
    let found = replay(&wrong.workflow, &wrong.log).first_difference;
    assert_eq!(found.map(|difference| difference.sequence), Some(4));
}

#[test]
fn ranges_are_recorded_not_copies() {
    let mut run = Run::of(&["a | outputMapping: {k: \"$.x\", none: \"$.y\"}"]);
    run.ok("a", r#"{"x":7}"#);
    let EventKind::StepCompleted(done) = &run.log[3].kind else {
        panic!("not a result")
    };
    assert_eq!(
        done.mapped,
        [
            ("k".to_owned(), Mapped::One(5, 1)),
            ("none".to_owned(), Mapped::Nothing)
        ]
    );
}

#[test]
fn a_mapped_key_goes_over_the_inputs_field_and_the_rest_of_the_input_stays() {
    let steps = ["a | outputMapping: {x: \"$.v\"}", "b"];
    let mut run = Run::with("", &steps, r#"{"x":{"deep":1},"y":2}"#);
    assert_eq!(render(&run, "${workflow.context.x.deep}"), "1");
    run.ok("a", r#"{"v":{"deep":9}}"#);
    assert_eq!(render(&run, "${workflow.context.x.deep}"), "9");
    assert_eq!(render(&run, "${workflow.context.y}"), "2");
    assert_eq!(
        render(&run, "${input.x.deep}"),
        "1",
        "the input itself is never changed"
    );
    assert_eq!(render(&run, "${steps.a.output.v.deep}"), "9");
}

#[test]
fn what_the_execution_knows_about_itself() {
    let run = Run::of(&["a"]);
    assert_eq!(render(&run, "${trigger.type}"), "\"manual\"");
    assert_eq!(render(&run, "${trigger.scheduled_at}"), "null");
    let id = run.state.origin.as_ref().unwrap().id;
    assert_eq!(render(&run, "${execution.id}"), format!("\"{id}\""));
}

#[test]
fn the_output_template_is_kept_in_the_last_event() {
    let head = "output: {total: \"${steps.a.output.n}\", who: \"${input.who}\"}";
    let mut run = Run::with(head, &["a"], r#"{"who":"ada"}"#);
    run.ok("a", r#"{"n":12345678901234567890123}"#);
    let value = run.log.last().and_then(Event::value).unwrap();
    assert_eq!(
        value,
        &json(r#"{"total":12345678901234567890123,"who":"ada"}"#)
    );
    assert!(matches!(run.state.output, Some(OutputRef::Value(_))));
}

#[test]
fn an_output_of_null_is_a_value_also_after_it_was_stored() {
    let mut run = Run::with("output: \"${input.x}\"", &["a"], r#"{"x":null}"#);
    run.ok("a", "1");
    let stored: Vec<Event> = run
        .log
        .iter()
        .map(|event| Event::decode(&event.encode()).unwrap())
        .collect();
    assert_eq!(stored, run.log);
    assert_eq!(fold(&stored), run.state);
    assert!(matches!(run.state.output, Some(OutputRef::Value(_))));
}

#[test]
fn the_only_last_step_gives_the_output() {
    let mut run = Run::of(&["a", "b"]);
    run.ok("a", "1").ok("b", "2");
    assert_eq!(run.state.output, Some(OutputRef::Step(step_id("b"))));
}

#[test]
fn several_last_steps_give_an_object() {
    let mut run = Run::of(&["a", "b | needs: [a]", "c | needs: [a]"]);
    run.ok("a", "1").ok("c", "2").ok("b", "3");
    assert_eq!(
        run.state.output,
        Some(OutputRef::Steps(vec![step_id("b"), step_id("c")]))
    );
}

#[test]
fn a_last_step_that_was_skipped_still_names_the_output() {
    let mut run = Run::of(&["a", "b | when: \"false\""]);
    run.ok("a", "1");
    assert_eq!(run.state.output, Some(OutputRef::Step(step_id("b"))));
    assert_eq!(
        run.state.step(&step_id("b")).unwrap().output,
        None,
        "which reads as null"
    );
}

#[test]
fn an_output_that_cannot_be_filled_in_is_a_failure_and_undoes() {
    let steps = ["a | compensate: undo", "undo"];
    let mut run = Run::with("output: \"${steps.a.output.n}\"", &steps, "{}");
    run.ok("a", "{}");
    super::fixture::assert_lines(
        &run.news(),
        "3 STEP_STARTED a#1
         4 STEP_COMPLETED a#1
         5 STEP_FAILED non_retryable
         6 COMPENSATION_STARTED undo#1 undoes a",
    );
    run.ok("undo", "1");
    let letter = run.letter().unwrap();
    assert_eq!(
        (letter.step.as_ref(), letter.retry_count, letter.max_retries),
        (None, 0, 0)
    );
    assert_eq!(
        letter.failure.message,
        "`output`: `${steps.a.output.n}` has no value"
    );
}
