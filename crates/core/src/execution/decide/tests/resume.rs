//! Resume: the execution goes on where it stood, and nothing runs twice because of it.

use super::fixture::{Run, assert_lines, resume};
use super::status::assert_table;

#[test]
fn in_every_status() {
    assert_table(
        |_, _| resume(),
        "pending | refused: the execution is not paused
         retrying | refused: the execution is not paused
         failing | refused: the execution is not paused
         compensating | refused: the execution is not paused
         paused | pending: EXECUTION_RESUMED
         completed | refused: the execution has ended (completed)
         failed | refused: the execution has ended (failed)
         dlq | refused: the execution has ended (dlq)
         cancelled | refused: the execution has ended (cancelled)",
    );
}

#[test]
fn an_attempt_that_still_runs_is_not_started_again() {
    let mut run = Run::of(&["a", "b | needs: []"]);
    run.begin("a").pause().wait(100).resume();
    assert_eq!(run.effects(), "restore a#1, restore b#1");
    assert_eq!(run.work(), "a#1 running, b#1");
    run.ok("a", "1").ok("b", "2");
    assert_eq!(run.status(), "completed");
}

#[test]
fn a_retry_that_is_not_due_yet_keeps_its_time() {
    let mut run = Run::of(&["a"]);
    run.fail("a", "503").wait(500).pause();
    assert_eq!(run.work(), "");
    run.wait(500).resume();
    assert_eq!(
        (run.status(), run.work().as_str()),
        ("retrying", "a#2@+2000")
    );
}

#[test]
fn a_retry_that_came_due_meanwhile_acts_at_once() {
    let mut run = Run::of(&["a"]);
    run.fail("a", "503").pause().wait(60_000).resume();
    assert_eq!(run.work(), "a#2@+2000");
    run.ok("a", "1");
    assert_lines(
        &run.news(),
        "8 TIMER_FIRED a#2
         9 STEP_STARTED a#2
         10 STEP_COMPLETED a#2
         11 EXECUTION_COMPLETED output of a",
    );
    assert_eq!(
        run.log[8].at, run.now,
        "it began when the execution was resumed"
    );
}

#[test]
fn nothing_is_recorded_of_a_pause_but_its_beginning_and_end() {
    let mut run = Run::of(&["a"]);
    run.pause().wait(7_000).resume();
    assert_lines(&run.news(), "4 EXECUTION_RESUMED");
    assert_eq!(run.state.paused_ms, 7_000);
    run.pause().wait(3_000).resume();
    assert_eq!(run.state.paused_ms, 10_000);
}
