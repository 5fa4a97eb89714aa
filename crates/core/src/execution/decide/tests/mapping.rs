//! Outputs: what a step's output adds to the context, and what the execution's output is.

use super::fixture::{Run, json, step_id};
use crate::execution::event::{EventKind, Mapped};
use crate::execution::state::OutputRef;
use crate::execution::{Event, StateScope, fold};
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
    let mut run = Run::of(&[&step]);
    run.replays = false;
    run.ok("a", &format!("[{}1]", "1,".repeat(8_999)));
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
