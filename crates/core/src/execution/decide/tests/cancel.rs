//! Cancel: the end at once; completed steps are undone only if that is asked for.

use super::fixture::{
    Run, assert_lines, cancel, cancel_and_undo, json, plain_start, step_id, stray, workflow,
};
use super::status::assert_table;
use crate::execution::{Began, Begun, Cancel, Command, Outcome, Refusal, Start, Status, decide};

#[test]
fn in_every_status() {
    assert_table(
        |_, _| cancel(),
        "pending | cancelled: EXECUTION_CANCELLED
         retrying | cancelled: EXECUTION_CANCELLED
         failing | cancelled: STEP_STARTED EXECUTION_CANCELLED
         compensating | cancelled: EXECUTION_CANCELLED
         paused | cancelled: STEP_STARTED EXECUTION_CANCELLED
         completed | refused: the execution has ended (completed)
         failed | refused: the execution has ended (failed)
         dlq | refused: the execution has ended (dlq)
         cancelled | nothing",
    );
}

#[test]
fn in_every_status_with_undoing() {
    assert_table(
        |_, _| cancel_and_undo(),
        "pending | cancelled: EXECUTION_CANCELLED
         retrying | cancelled: EXECUTION_CANCELLED
         failing | running: STEP_STARTED COMPENSATION_STARTED
         compensating | nothing
         paused | cancelled: STEP_STARTED EXECUTION_RESUMED EXECUTION_CANCELLED
         completed | refused: the execution has ended (completed)
         failed | refused: the execution has ended (failed)
         dlq | refused: the execution has ended (dlq)
         cancelled | nothing",
    );
}

#[test]
fn running_calls_are_aborted_and_their_results_come_too_late() {
    let mut run = Run::of(&["a", "b | needs: []", "c | needs: [a]"]);
    run.begin("a").fail("b", "503").cancel();
    assert_eq!((run.effects().as_str(), run.work().as_str()), ("abort", ""));
    assert_eq!(run.steps(), "a cancelled, b cancelled");
    let late = stray("a", 1, Outcome::Succeeded(json("1")));
    assert_eq!(run.refused(late), Refusal::Ended(Status::Cancelled));
}

#[test]
fn an_aborted_attempt_leaves_its_trace_before_the_end() {
    let mut run = Run::of(&["a", "b | needs: []", "c | needs: []"]);
    run.fail("a", "503").begin("a").begin("b").wait(70).cancel();
    assert_lines(
        &run.news(),
        "8 TIMER_FIRED a#2
         9 STEP_STARTED a#2
         10 STEP_STARTED b#1
         11 EXECUTION_CANCELLED",
    );
    let (a, b, c) = ("a", "b", "c");
    let started = |step| run.state.step(&step_id(step)).unwrap().started_at;
    assert!(started(a).is_some() && started(b).is_some());
    assert_eq!(started(c), None, "it was never called");
    assert!(run.state.started_at.is_some());
    let begun = |step| run.state.step(&step_id(step)).unwrap().is_begun;
    assert_eq!([a, b, c].map(begun), [true, true, false]);
}

#[test]
fn an_attempt_that_is_not_live_any_more_leaves_none() {
    let run = Run::of(&["a"]);
    let begun = |attempt| Begun {
        step: step_id("a"),
        attempt,
        began: Began::Called(run.now),
    };
    let cancel = |begun: Vec<Begun>| {
        Command::Cancel(Cancel {
            begun,
            ..Cancel::by(None)
        })
    };
    let events = |command| {
        let decided = decide(&run.workflow, &run.state, command, run.now);
        decided.unwrap().events.len()
    };
    assert_eq!(events(cancel(vec![begun(1)])), 2);
    assert_eq!(events(cancel(vec![begun(2)])), 1);
}

#[test]
fn under_the_first_rules_an_aborted_attempt_left_no_trace() {
    let start = Start {
        rules: 1,
        ..plain_start("{}")
    };
    let mut run = Run::start(workflow("", &["a"]), start);
    run.begin("a").cancel();
    assert_lines(&run.news(), "3 EXECUTION_CANCELLED");
}

#[test]
fn completed_steps_stay_done_unless_undoing_is_asked_for() {
    let mut run = Run::of(&["a | compensate: undo", "b", "undo"]);
    run.ok("a", "1").cancel();
    assert_lines(&run.news(), "6 EXECUTION_CANCELLED");
    assert_eq!(run.steps(), "a completed, b cancelled");
}

#[test]
fn undoing_comes_before_the_end() {
    let mut run = Run::of(&["a | compensate: undo", "b", "undo"]);
    run.ok("a", "1").begin("b").cancel_and_undo();
    assert_lines(
        &run.news(),
        "6 STEP_STARTED b#1
         7 COMPENSATION_STARTED undo#1 undoes a",
    );
    assert_eq!(run.effects(), "abort, schedule undo#1");
    assert_eq!(run.steps(), "a completed, b cancelled, undo scheduled");
    let late = stray("b", 1, Outcome::Succeeded(json("1")));
    assert!(matches!(run.refused(late), Refusal::NotLive { .. }));
    run.ok("undo", "null");
    assert_lines(
        &run.news(),
        "8 STEP_STARTED undo#1
         9 COMPENSATION_COMPLETED undo#1
         10 EXECUTION_CANCELLED",
    );
    assert_eq!(run.steps(), "a compensated, b cancelled, undo completed");
}

#[test]
fn a_paused_execution_goes_on_in_order_to_undo() {
    let mut run = Run::of(&["a | compensate: undo", "b", "undo"]);
    run.ok("a", "1").begin("b").pause().cancel_and_undo();
    assert_lines(
        &run.news(),
        "7 STEP_STARTED b#1
         8 EXECUTION_RESUMED
         9 COMPENSATION_STARTED undo#1 undoes a",
    );
    assert_eq!((run.status(), run.work().as_str()), ("running", "undo#1"));
    run.ok("undo", "null");
    assert_eq!(run.status(), "cancelled");
}

#[test]
fn cancelling_while_undoing_ends_it_half_undone() {
    let mut run = Run::of(&["a | compensate: undo", "b", "undo"]);
    run.ok("a", "1").fail("b", "400").begin("undo").cancel();
    assert_lines(
        &run.news(),
        "9 STEP_STARTED undo#1
         10 EXECUTION_CANCELLED",
    );
    assert_eq!(run.steps(), "a completed, b failed, undo cancelled");
    assert!(run.letter().is_none());
}

#[test]
fn the_actor_is_recorded_also_when_undoing_delays_the_end() {
    let mut run = Run::of(&["a | compensate: undo", "b", "undo"]);
    run.ok("a", "1").cancel_and_undo().ok("undo", "1");
    let last = serde_json::to_value(run.log.last().map(|event| event.encode().payload)).unwrap();
    let expected = serde_json::to_value(br#"{"by":"ada"}"#.as_slice()).unwrap();
    assert_eq!(last, expected);
}

#[test]
fn an_undoing_that_fails_after_a_cancel_is_a_dead_letter_of_the_undoing_step() {
    let mut run = Run::of(&["a | compensate: undo", "b", "undo"]);
    run.ok("a", "1").cancel_and_undo().fail("undo", "400");
    assert_lines(
        &run.news(),
        "7 STEP_STARTED undo#1
         8 STEP_FAILED undo#1 non_retryable
         9 COMPENSATION_FAILED undo#1
         10 DEAD_LETTERED undo compensation_failed
         11 EXECUTION_FAILED",
    );
    let letter = run.letter().unwrap();
    assert_eq!(letter.step.as_ref().map(AsRef::as_ref), Some("undo"));
    assert_eq!((letter.retry_count, letter.max_retries), (0, 5));
}
