//! The replay lab: an old history under a changed definition, or a log that was tampered with.
//! What is shown is the first event that would have been different.

use crate::execution::decide::tests::fixture::{Run, plain_start, workflow};
use crate::execution::event::{EventKind, Unknown};
use crate::execution::replay::{Replay, replay};

const STEPS: [&str; 2] = ["a | outputMapping: {n: \"$.n\"}", "b"];

/// `a` fails once and then succeeds, `b` succeeds.
fn recorded() -> Run {
    let mut run = Run::of(&STEPS);
    run.fail("a", "503").ok("a", r#"{"n":7}"#).ok("b", "2");
    run
}

/// What the lab says about `run` under another definition.
fn lab(run: &Run, head: &str, steps: &[&str]) -> String {
    say(&replay(&workflow(head, steps), &run.log))
}

fn say(replay: &Replay) -> String {
    match &replay.first_difference {
        None => format!("identical, {} events", replay.events),
        Some(difference) => {
            assert_eq!(
                replay.events + 1,
                difference.sequence,
                "events before it were compared"
            );
            assert_eq!(
                replay.state.version,
                replay.state.version.min(replay.events)
            );
            difference.to_string()
        }
    }
}

#[test]
fn the_recorded_definition_gives_the_recorded_log() {
    assert_eq!(lab(&recorded(), "", &STEPS), "identical, 12 events");
}

#[test]
fn what_decisions_do_not_depend_on_may_change() {
    let head = "name: Another name\ndescription: more words";
    assert_eq!(lab(&recorded(), head, &STEPS), "identical, 12 events");
}

#[test]
fn another_delay_shows_at_the_first_wait() {
    let run = recorded();
    let found = replay(
        &workflow("retry: {initialDelay: 3s, jitter: none}", &STEPS),
        &run.log,
    );
    let difference = found.first_difference.unwrap();
    assert_eq!(difference.sequence, 5);
    assert_eq!(difference.recorded.unwrap().backoff_ms, Some(2_000));
    assert_eq!(difference.derived.unwrap().backoff_ms, Some(3_000));
}

#[test]
fn a_policy_without_retries_shows_at_the_first_failure() {
    let said = lab(&recorded(), "retry: false", &STEPS);
    assert_eq!(said, "event 4: recorded STEP_FAILED, derived STEP_FAILED");
}

#[test]
fn a_policy_with_retries_shows_where_a_log_gave_up() {
    let mut run = Run::with("retry: false", &STEPS, "{}");
    run.fail("a", "503");
    let found = replay(&workflow("", &STEPS), &run.log)
        .first_difference
        .unwrap();
    assert_eq!(found.sequence, 4, "the failure is not the last any more");
    let EventKind::StepFailed(derived) = found.derived.unwrap().kind else {
        panic!("not a failure")
    };
    assert_eq!(derived.last, None);
}

#[test]
fn an_added_step_shows_where_it_would_have_been_scheduled() {
    let run = recorded();
    let said = lab(&run, "", &[STEPS[0], "b", "c"]);
    assert_eq!(
        said,
        "event 12: recorded EXECUTION_COMPLETED, derived STEP_SCHEDULED"
    );
    let said = lab(&run, "", &[STEPS[0], "between", "b"]);
    assert_eq!(
        said,
        "event 9: recorded STEP_SCHEDULED, derived STEP_SCHEDULED"
    );
    let said = lab(&run, "", &["first", STEPS[0], "b"]);
    assert_eq!(
        said,
        "event 2: recorded STEP_SCHEDULED, derived STEP_SCHEDULED"
    );
}

#[test]
fn a_removed_step_shows_where_it_was_scheduled() {
    let said = lab(&recorded(), "", &STEPS[..1]);
    assert_eq!(
        said,
        "event 9: recorded STEP_SCHEDULED, derived EXECUTION_COMPLETED"
    );
}

#[test]
fn another_condition_shows_where_it_is_asked() {
    let run = recorded();
    let said = lab(&run, "", &[STEPS[0], "b | when: \"false\""]);
    assert_eq!(
        said,
        "event 9: recorded STEP_SCHEDULED, derived STEP_SKIPPED"
    );
    let said = lab(
        &run,
        "",
        &[STEPS[0], "b | when: \"${steps.a.output.missing}\""],
    );
    assert_eq!(
        said,
        "event 9: recorded STEP_SCHEDULED, derived STEP_FAILED"
    );
    assert_eq!(
        lab(&run, "", &[STEPS[0], "b | when: \"true\""]),
        "identical, 12 events"
    );
}

#[test]
fn another_mapping_shows_at_the_result_it_reads() {
    let said = lab(&recorded(), "", &["a | outputMapping: {n: \"$.m\"}", "b"]);
    assert_eq!(
        said,
        "event 8: recorded STEP_COMPLETED, derived STEP_COMPLETED"
    );
}

#[test]
fn another_output_shows_at_the_end() {
    let said = lab(&recorded(), "output: \"${workflow.context.n}\"", &STEPS);
    assert_eq!(
        said,
        "event 12: recorded EXECUTION_COMPLETED, derived EXECUTION_COMPLETED"
    );
}

#[test]
fn an_added_compensation_shows_before_the_end() {
    let mut run = Run::of(&["a", "b"]);
    run.ok("a", "1").fail("b", "400");
    let said = lab(&run, "", &["a | compensate: undo", "b", "undo"]);
    assert_eq!(
        said,
        "event 8: recorded DEAD_LETTERED, derived COMPENSATION_STARTED"
    );
    let said = lab(&run, "deadLetter: exhausted", &["a", "b"]);
    assert_eq!(
        said,
        "event 8: recorded DEAD_LETTERED, derived EXECUTION_FAILED"
    );
}

#[test]
fn a_removed_compensation_shows_where_undoing_began() {
    let mut run = Run::of(&["a | compensate: undo", "b", "undo"]);
    run.ok("a", "1").cancel_and_undo().ok("undo", "2");
    let said = lab(&run, "", &["a", "b"]);
    assert_eq!(
        said,
        "event 6: recorded COMPENSATION_STARTED, derived EXECUTION_CANCELLED"
    );
}

#[test]
fn a_result_of_a_step_that_is_gone_says_why_nothing_follows() {
    let run = recorded();
    let mut log = run.log.clone();
    log.remove(1);
    let found = replay(&run.workflow, &log).first_difference.unwrap();
    assert_eq!(
        found.to_string(),
        "event 2: recorded STEP_STARTED, derived STEP_SCHEDULED"
    );
}

#[test]
fn a_tampered_log_is_found_out() {
    let run = recorded();
    let mut log = run.log.clone();
    log[4].backoff_ms = Some(1);
    assert_eq!(
        say(&replay(&run.workflow, &log)),
        "event 5: recorded RETRY_SCHEDULED, derived RETRY_SCHEDULED"
    );
    let mut log = run.log.clone();
    log[7].attempt = Some(9);
    assert_eq!(
        say(&replay(&run.workflow, &log)),
        "event 6: recorded TIMER_FIRED, derived nothing (attempt 9 of step a is not live)"
    );
}

#[test]
fn events_after_the_end_are_found_out() {
    let mut run = recorded();
    let mut paused = Run::of(&["a"]);
    paused.pause();
    let mut extra = paused.log.pop().unwrap();
    extra.sequence = 13;
    extra.at = run.now;
    run.log.push(extra);
    assert_eq!(
        say(&replay(&run.workflow, &run.log)),
        "event 13: recorded EXECUTION_PAUSED, derived nothing (the execution has ended (completed))"
    );
}

#[test]
fn an_event_that_nothing_leads_to_is_found_out() {
    let mut run = Run::of(&["a"]);
    run.log[1].kind = EventKind::Unknown(Unknown {
        name: "NEWER".to_owned(),
        v: 1,
        payload: Vec::new(),
    });
    assert_eq!(
        say(&replay(&run.workflow, &run.log)),
        "event 2: recorded NEWER, derived STEP_SCHEDULED"
    );
    let mut run = Run::of(&["a"]);
    let mut event = run.log[1].clone();
    event.sequence = 3;
    run.log.push(event);
    assert_eq!(
        say(&replay(&run.workflow, &run.log)),
        "event 3: recorded STEP_SCHEDULED, derived nothing (nothing from outside leads to it)"
    );
}

#[test]
fn a_log_of_other_rules_differs_from_the_start() {
    let mut run = recorded();
    if let EventKind::ExecutionStarted(started) = &mut run.log[0].kind {
        started.rules = 3;
    }
    assert_eq!(
        say(&replay(&run.workflow, &run.log)),
        "event 1: recorded EXECUTION_STARTED, derived nothing (the execution was started under \
         rules 3, which this build does not have)"
    );
}

#[test]
fn carried_results_are_derived_again() {
    use crate::execution::decide::{Carried, Start};
    let from = crate::id::ExecutionId::from_bytes([9; 16]);
    let step = crate::execution::decide::tests::fixture::step_id("a");
    let output = crate::execution::decide::tests::fixture::json(r#"{"n":1}"#);
    let start = Start {
        carried: vec![Carried { step, output, from }],
        ..plain_start("{}")
    };
    let mut run = Run::start(workflow("", &STEPS), start);
    run.ok("b", "2");
    assert_eq!(lab(&run, "", &STEPS), "identical, 6 events");
}

#[test]
fn an_empty_log_has_nothing_to_compare() {
    assert_eq!(
        say(&replay(&workflow("", &STEPS), &[])),
        "identical, 0 events"
    );
}
