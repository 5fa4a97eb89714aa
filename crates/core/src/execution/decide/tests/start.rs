//! Start: the first events, carried results, delays and keys.

use std::time::Duration;

use super::fixture::{BEGINNING, Run, assert_lines, json, plain_start, step_id, workflow};
use crate::execution::decide::{Carried, Start};
use crate::execution::event::EventKind;
use crate::id::ExecutionId;

fn carried(step: &str, output: &str) -> Carried {
    let from = ExecutionId::from_bytes([9; 16]);
    Carried {
        step: step_id(step),
        output: json(output),
        from,
    }
}

#[test]
fn the_first_steps_are_scheduled_in_the_same_commit() {
    let run = Run::of(&["a", "b"]);
    assert_lines(
        &run.events(),
        "1 EXECUTION_STARTED
         2 STEP_SCHEDULED a#1",
    );
    assert_eq!((run.status(), run.work().as_str()), ("pending", "a#1"));
    assert_eq!(run.effects(), "schedule a#1");
}

#[test]
fn the_input_is_kept_byte_for_byte() {
    let input = r#"{"z":12345678901234567890123,"a":"\u0000","n":1.50,"z2":{"b":1,"a":2}}"#;
    let run = Run::with("", &["a"], input);
    let row = run.log[0].encode();
    let payload = std::str::from_utf8(&row.payload).unwrap();
    assert!(payload.contains(input), "{payload}");
    let decoded = crate::execution::Event::decode(&row).unwrap();
    assert_eq!(decoded.value().unwrap().as_str(), input);
}

#[test]
fn a_delayed_start_waits_for_its_time() {
    let until = BEGINNING.plus(Duration::from_secs(60));
    let with = Start {
        delay_until: Some(until),
        ..plain_start("{}")
    };
    let mut run = Run::start(workflow("", &["a", "b"]), with);
    assert_eq!(
        (run.status(), run.work().as_str()),
        ("pending", "a#1@+60000")
    );
    run.ok("a", "1");
    assert_lines(
        &run.news(),
        "3 TIMER_FIRED a#1
         4 STEP_STARTED a#1
         5 STEP_COMPLETED a#1
         6 STEP_SCHEDULED b#1",
    );
    assert_eq!(
        run.work(),
        "b#1",
        "the delay is the execution's, not every step's"
    );
}

#[test]
fn a_delay_that_is_over_already_is_none() {
    let with = Start {
        delay_until: Some(BEGINNING),
        ..plain_start("{}")
    };
    assert_eq!(Run::start(workflow("", &["a"]), with).work(), "a#1");
}

#[test]
fn what_the_first_event_fixes_is_in_the_state() {
    let with = Start {
        priority: 1,
        idempotency_key: Some("k".to_owned()),
        ..plain_start(r#"{"customer":"c 7"}"#)
    };
    let head = "concurrency: {key: \"${input.customer}\", maxPerKey: 1}";
    let run = Run::start(workflow(head, &["a"]), with);
    let origin = run.state.origin.as_ref().unwrap();
    assert_eq!((origin.priority, origin.seed, origin.rules), (1, 42, 2));
    assert_eq!(origin.idempotency_key.as_deref(), Some("k"));
    assert_eq!(origin.limit_key.as_deref(), Some("c 7"));
    assert_eq!(origin.created_at, BEGINNING);
}

#[test]
fn a_limit_key_that_is_no_text_counts_by_its_json_and_a_missing_one_is_none() {
    let head = "concurrency: {key: \"${input.customer}\", maxPerKey: 1}";
    let key = |input: &str| {
        let run = Run::start(workflow(head, &["a"]), plain_start(input));
        run.state.origin.unwrap().limit_key
    };
    assert_eq!(key(r#"{"customer":7}"#).as_deref(), Some("7"));
    assert_eq!(key("{}"), None);
}

#[test]
fn carried_results_never_run_again() {
    let start = Start {
        carried: vec![carried("a", r#"{"n":7}"#)],
        ..plain_start("{}")
    };
    let steps = [
        "a | outputMapping: {n: \"$.n\"}",
        "b | when: \"${steps.a.output.n}\"",
        "c",
    ];
    let run = Run::start(workflow("", &steps), start);
    assert_lines(
        &run.events(),
        "1 EXECUTION_STARTED
         2 STEP_COMPLETED a carried
         3 STEP_FAILED b non_retryable
         4 DEAD_LETTERED b non_retryable
         5 EXECUTION_FAILED",
    );
    let EventKind::StepCompleted(done) = &run.log[1].kind else {
        panic!("not a result")
    };
    assert_eq!(
        done.mapped.len(),
        1,
        "a carried result is mapped like any other"
    );
    assert_eq!(run.state.step(&step_id("a")).unwrap().attempt, 0);
}

#[test]
fn carried_results_are_undone_like_others() {
    let start = Start {
        carried: vec![carried("a", "1")],
        ..plain_start("{}")
    };
    let mut run = Run::start(workflow("", &["a | compensate: undo", "b", "undo"]), start);
    run.fail("b", "400");
    assert_lines(
        &run.news(),
        "4 STEP_STARTED b#1
         5 STEP_FAILED b#1 non_retryable
         6 COMPENSATION_STARTED undo#1 undoes a",
    );
}

#[test]
fn a_carried_step_that_the_definition_no_longer_has_is_left_out() {
    let start = Start {
        carried: vec![carried("gone", "1")],
        ..plain_start("{}")
    };
    let run = Run::start(workflow("", &["a"]), start);
    assert_lines(
        &run.events(),
        "1 EXECUTION_STARTED
         2 STEP_SCHEDULED a#1",
    );
}

#[test]
fn a_carried_step_that_has_become_a_compensation_is_left_out() {
    let start = Start {
        carried: vec![carried("a", "1"), carried("undo", "2")],
        ..plain_start("{}")
    };
    let mut run = Run::start(workflow("", &["a | compensate: undo", "b", "undo"]), start);
    run.fail("b", "400");
    assert_eq!(run.work(), "undo#1", "what it undoes was not undone yet");
}

#[test]
fn an_execution_whose_steps_are_all_carried_ends_at_once() {
    let start = Start {
        carried: vec![carried("a", "1")],
        ..plain_start("{}")
    };
    let run = Run::start(workflow("", &["a"]), start);
    assert_eq!((run.status(), run.work().as_str()), ("completed", ""));
}

#[test]
fn an_execution_whose_steps_are_all_skipped_ends_at_once() {
    let run = Run::of(&["a | when: \"false\"", "b | when: \"false\""]);
    assert_lines(
        &run.events(),
        "1 EXECUTION_STARTED
         2 STEP_SKIPPED a when
         3 STEP_SKIPPED b when
         4 EXECUTION_COMPLETED output of b",
    );
}
