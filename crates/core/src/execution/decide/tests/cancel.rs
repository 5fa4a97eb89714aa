//! Cancel: the end at once; completed steps are undone only if that is asked for.

use super::fixture::{Run, assert_lines, cancel, cancel_and_undo, json, stray};
use super::status::assert_table;
use crate::execution::{Outcome, Refusal, Status};

#[test]
fn in_every_status() {
    assert_table(
        |_, _| cancel(),
        "pending | cancelled: EXECUTION_CANCELLED
         retrying | cancelled: EXECUTION_CANCELLED
         failing | cancelled: EXECUTION_CANCELLED
         compensating | cancelled: EXECUTION_CANCELLED
         paused | cancelled: EXECUTION_CANCELLED
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
         failing | running: COMPENSATION_STARTED
         compensating | nothing
         paused | cancelled: EXECUTION_RESUMED EXECUTION_CANCELLED
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
    assert_lines(&run.news(), "6 COMPENSATION_STARTED undo#1 undoes a");
    assert_eq!(run.effects(), "abort, schedule undo#1");
    assert_eq!(run.steps(), "a completed, b cancelled, undo scheduled");
    let late = stray("b", 1, Outcome::Succeeded(json("1")));
    assert!(matches!(run.refused(late), Refusal::NotLive { .. }));
    run.ok("undo", "null");
    assert_lines(
        &run.news(),
        "7 STEP_STARTED undo#1
         8 COMPENSATION_COMPLETED undo#1
         9 EXECUTION_CANCELLED",
    );
    assert_eq!(run.steps(), "a compensated, b cancelled, undo completed");
}

#[test]
fn a_paused_execution_goes_on_in_order_to_undo() {
    let mut run = Run::of(&["a | compensate: undo", "b", "undo"]);
    run.ok("a", "1").begin("b").pause().cancel_and_undo();
    assert_lines(
        &run.news(),
        "7 EXECUTION_RESUMED
         8 COMPENSATION_STARTED undo#1 undoes a",
    );
    assert_eq!((run.status(), run.work().as_str()), ("running", "undo#1"));
    run.ok("undo", "null");
    assert_eq!(run.status(), "cancelled");
}

#[test]
fn cancelling_while_undoing_ends_it_half_undone() {
    let mut run = Run::of(&["a | compensate: undo", "b", "undo"]);
    run.ok("a", "1").fail("b", "400").begin("undo").cancel();
    assert_lines(&run.news(), "9 EXECUTION_CANCELLED");
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
