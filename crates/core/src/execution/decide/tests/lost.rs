//! Lost: the node died. Such attempts cost no retry, but not without end.

use std::time::Duration;

use super::fixture::{BEGINNING, Run, assert_lines, lost, plain_start, workflow};
use super::status::assert_table;
use crate::execution::{Refusal, Start};

#[test]
fn in_every_status() {
    assert_table(
        |step, attempt| lost(step, attempt, true),
        "pending | pending: STEP_LOST STEP_SCHEDULED
         retrying | pending: STEP_LOST STEP_SCHEDULED
         failing | running: STEP_LOST STEP_SKIPPED COMPENSATION_STARTED
         compensating | running: STEP_LOST STEP_SCHEDULED
         paused | paused: STEP_LOST STEP_SCHEDULED
         completed | refused: the execution has ended (completed)
         failed | refused: the execution has ended (failed)
         dlq | refused: the execution has ended (dlq)
         cancelled | refused: the execution has ended (cancelled)",
    );
}

#[test]
fn the_first_loss_runs_again_at_once_and_the_next_ones_wait() {
    let mut run = Run::of(&["a"]);
    run.lost("a");
    assert_lines(
        &run.news(),
        "3 STEP_LOST a#1
         4 STEP_SCHEDULED a#2",
    );
    assert_eq!(run.work(), "a#2");
    run.lost("a");
    assert_lines(
        &run.news(),
        "5 STEP_LOST a#2
         6 RETRY_SCHEDULED a#3 +2000ms",
    );
    run.lost("a").lost("a");
    assert_eq!(run.delays(), [2_000, 4_000, 8_000]);
}

#[test]
fn the_fifth_loss_gives_the_step_up() {
    let mut run = Run::of(&["a"]);
    run.lost("a").lost("a").lost("a").lost("a").lost("a");
    assert_lines(
        &run.news(),
        "11 STEP_LOST a#5
         12 STEP_FAILED a#5 node_lost
         13 DEAD_LETTERED a node_lost
         14 EXECUTION_FAILED",
    );
    let letter = run.letter().unwrap();
    assert_eq!(
        letter.failure.message,
        "the node died 5 times while this step was running"
    );
}

#[test]
fn losses_cost_no_retries_and_failures_no_losses() {
    let mut run = Run::with("retry: {maxRetries: 2, jitter: none}", &["a"], "{}");
    run.fail("a", "503")
        .lost("a")
        .fail("a", "503")
        .lost("a")
        .fail("a", "503");
    assert_eq!(run.status(), "dlq");
    let step = run.state.steps.values().next().unwrap();
    assert_eq!((step.attempt, step.failures, step.losses), (5, 3, 2));
}

#[test]
fn an_attempt_that_had_not_begun_is_not_counted() {
    let mut run = Run::of(&["a"]);
    for attempt in 1..=20 {
        run.send(lost("a", attempt, false));
    }
    assert_eq!(run.work(), "a#21");
    assert_eq!(run.state.steps.values().next().unwrap().losses, 0);
    assert_eq!(run.delays(), Vec::<u64>::new());
}

#[test]
fn a_loss_while_another_step_has_failed_drops_the_attempt() {
    let mut run = Run::of(&["a", "b | needs: []"]);
    run.begin("b").fail("a", "400").lost("b");
    assert_lines(
        &run.news(),
        "6 STEP_LOST b#1
         7 STEP_SKIPPED b failing
         8 DEAD_LETTERED a non_retryable
         9 EXECUTION_FAILED",
    );
    assert_eq!(run.effects(), "withdraw b, letter non_retryable");
}

#[test]
fn a_loss_while_paused_is_recorded_and_runs_again_on_resume() {
    let mut run = Run::of(&["a"]);
    run.begin("a").pause().lost("a");
    assert_lines(
        &run.news(),
        "4 STEP_LOST a#1
         5 STEP_SCHEDULED a#2",
    );
    // Left standing, the row of the dead attempt would be found lost again and again.
    assert_eq!(
        (run.effects().as_str(), run.work().as_str()),
        ("withdraw a", "")
    );
    run.resume();
    assert_eq!(run.work(), "a#2");
}

#[test]
fn a_loss_while_paused_and_failing_leaves_only_the_end_for_the_resume() {
    let mut run = Run::of(&["a", "b | needs: []"]);
    run.begin("b").fail("a", "400").pause().lost("b");
    assert_eq!((run.status(), run.work().as_str()), ("paused", ""));
    run.resume();
    assert_eq!(run.status(), "dlq");
}

#[test]
fn a_compensation_is_run_again_after_a_loss_and_given_up_after_five() {
    let mut run = Run::of(&["a | compensate: undo", "b", "undo"]);
    run.ok("a", "1").fail("b", "400").lost("undo");
    assert_eq!(run.work(), "undo#2");
    run.lost("undo").lost("undo").lost("undo").lost("undo");
    assert_lines(
        &run.news(),
        "17 STEP_LOST undo#5
         18 STEP_FAILED undo#5 node_lost
         19 COMPENSATION_FAILED undo#5
         20 DEAD_LETTERED b compensation_failed
         21 EXECUTION_FAILED",
    );
}

#[test]
fn only_the_live_attempt_can_be_lost() {
    let mut run = Run::of(&["a", "b"]);
    run.lost("a");
    for command in [
        lost("a", 1, true),
        lost("a", 3, true),
        lost("b", 1, true),
        lost("x", 1, true),
    ] {
        assert!(matches!(run.refused(command), Refusal::NotLive { .. }));
    }
}

#[test]
fn a_timer_whose_node_died_keeps_its_time() {
    let mut run = Run::of(&["a"]);
    run.fail("a", "503").wait(500).send(lost("a", 2, false));
    assert_lines(
        &run.news(),
        "6 STEP_LOST a#2 unbegun
         7 RETRY_SCHEDULED a#3 +2000ms",
    );
    assert_eq!(
        (run.status(), run.work().as_str()),
        ("retrying", "a#3@+2000")
    );
    run.wait(5_000).send(lost("a", 3, false));
    assert_eq!(run.work(), "a#4", "what is overdue is due at once");
}

#[test]
fn what_was_begun_ahead_of_its_time_keeps_it_when_its_node_dies() {
    let mut run = Run::of(&["a"]);
    run.fail("a", "503").wait(1_980).send(lost("a", 2, true));
    assert_lines(
        &run.news(),
        "6 STEP_LOST a#2
         7 STEP_SCHEDULED a#3",
    );
    assert_eq!(run.work(), "a#3@+2000");
}

#[test]
fn a_delayed_start_whose_node_died_keeps_its_time() {
    let delay_until = Some(BEGINNING.plus(Duration::from_secs(60)));
    let start = Start {
        delay_until,
        ..plain_start("{}")
    };
    let mut run = Run::start(workflow("", &["a"]), start);
    run.send(lost("a", 1, false));
    assert_eq!(
        (run.status(), run.work().as_str()),
        ("pending", "a#2@+60000")
    );
}
