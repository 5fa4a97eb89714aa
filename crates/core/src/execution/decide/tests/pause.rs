//! Pause: attempts in flight finish and are recorded, nothing new starts.

use super::fixture::{Run, assert_lines, pause, resume};
use super::status::assert_table;
use crate::execution::Refusal;

#[test]
fn in_every_status() {
    assert_table(
        |_, _| pause(),
        "pending | paused: EXECUTION_PAUSED
         retrying | paused: EXECUTION_PAUSED
         failing | paused: EXECUTION_PAUSED
         compensating | refused: the execution is undoing its completed steps
         paused | nothing
         completed | refused: the execution has ended (completed)
         failed | refused: the execution has ended (failed)
         dlq | refused: the execution has ended (dlq)
         cancelled | refused: the execution has ended (cancelled)",
    );
}

#[test]
fn work_that_has_not_begun_is_held_and_running_attempts_stay() {
    let mut run = Run::of(&["a", "b", "c | needs: [a]"]);
    run.begin("a").pause();
    assert_eq!(run.effects(), "hold");
    assert_eq!(run.work(), "a#1 running");
    assert_eq!(run.steps(), "a scheduled, b scheduled");
}

#[test]
fn a_result_is_recorded_while_paused_and_schedules_nothing() {
    let mut run = Run::of(&["a", "b"]);
    run.begin("a").pause().wait(500).ok("a", r#"{"x":1}"#);
    assert_lines(
        &run.news(),
        "4 STEP_STARTED a#1
         5 STEP_COMPLETED a#1",
    );
    assert_eq!((run.status(), run.work().as_str()), ("paused", ""));
    run.resume();
    assert_lines(
        &run.news(),
        "6 EXECUTION_RESUMED
         7 STEP_SCHEDULED b#1",
    );
}

#[test]
fn the_last_step_may_complete_while_paused_and_the_end_waits_for_the_resume() {
    let mut run = Run::of(&["a"]);
    run.begin("a").pause().ok("a", "1");
    assert_eq!(run.status(), "paused");
    run.resume();
    assert_lines(
        &run.news(),
        "6 EXECUTION_RESUMED
         7 EXECUTION_COMPLETED output of a",
    );
}

#[test]
fn a_failure_while_paused_decides_about_the_retry_but_nothing_waits_for_it_yet() {
    let mut run = Run::of(&["a"]);
    run.begin("a").pause().fail("a", "503");
    assert_lines(
        &run.news(),
        "4 STEP_STARTED a#1
         5 STEP_FAILED a#1
         6 RETRY_SCHEDULED a#2 +2000ms",
    );
    // A row of the ended attempt would be taken for a running one for as long as the pause lasts.
    assert_eq!(
        (run.effects().as_str(), run.work().as_str()),
        ("withdraw a", "")
    );
    run.wait(500).resume();
    assert_eq!(run.work(), "a#2@+2000");
}

#[test]
fn a_final_failure_while_paused_fails_the_execution_on_resume() {
    let mut run = Run::of(&["a", "b", "c | needs: [a]"]);
    run.begin("a").pause().fail("a", "400");
    assert_eq!((run.status(), run.work().as_str()), ("paused", ""));
    run.resume();
    assert_eq!(
        run.work(),
        "b#1",
        "what was due before the failure still runs"
    );
    run.ok("b", "2");
    assert_eq!(run.status(), "dlq");
}

#[test]
fn a_waiting_sibling_is_dropped_on_resume_when_a_step_failed_for_good_meanwhile() {
    let mut run = Run::of(&["a", "b", "c | needs: [a]"]);
    run.fail("b", "503")
        .begin("a")
        .pause()
        .fail("a", "400")
        .resume();
    assert_lines(
        &run.news(),
        "10 EXECUTION_RESUMED
         11 STEP_SKIPPED b failing
         12 DEAD_LETTERED a non_retryable
         13 EXECUTION_FAILED",
    );
    assert_eq!(run.steps(), "a failed, b cancelled");
}

#[test]
fn pausing_a_failing_execution_lets_its_siblings_finish_and_ends_it_on_resume() {
    let mut run = Run::of(&["a", "b | needs: []"]);
    run.begin("b").fail("a", "400").pause();
    assert_eq!(run.work(), "b#1 running");
    run.ok("b", "2");
    assert_eq!((run.status(), run.work().as_str()), ("paused", ""));
    run.resume();
    assert_eq!(run.status(), "dlq");
}

#[test]
fn a_second_pause_changes_nothing_and_a_second_resume_is_refused() {
    let mut run = Run::of(&["a"]);
    run.pause().pause();
    assert_eq!((run.news().as_str(), run.effects().as_str()), ("", ""));
    run.resume();
    assert_eq!(run.refused(resume()), Refusal::NotPaused);
}
