//! Retry now: the attempt that was planned, before its time.

use super::fixture::{Run, assert_lines, retry_now};
use super::status::assert_table;
use crate::execution::{Command, Refusal, RetryNow};

#[test]
fn in_every_status() {
    assert_table(
        |_, _| retry_now(),
        "pending | refused: no retry is waiting
         retrying | pending: TIMER_FIRED
         failing | refused: no retry is waiting
         compensating | refused: no retry is waiting
         paused | refused: the execution is paused; resume it first
         completed | refused: the execution has ended (completed)
         failed | refused: the execution has ended (failed)
         dlq | refused: the execution has ended (dlq)
         cancelled | refused: the execution has ended (cancelled)",
    );
}

fn of(step: &str) -> Command {
    Command::RetryNow(RetryNow {
        step: Some(super::fixture::step_id(step)),
        by: None,
    })
}

#[test]
fn it_counts_as_the_attempt_that_was_planned() {
    let mut run = Run::of(&["a"]);
    run.fail("a", "503").wait(500).send(retry_now());
    assert_eq!(
        (run.effects().as_str(), run.work().as_str()),
        ("hasten a#2", "a#2")
    );
    assert_lines(&run.news(), "6 TIMER_FIRED a#2");
    run.ok("a", "1");
    assert_lines(
        &run.news(),
        "7 STEP_STARTED a#2
         8 STEP_COMPLETED a#2
         9 EXECUTION_COMPLETED output of a",
    );
}

#[test]
fn the_next_wait_is_as_long_as_it_would_have_been() {
    let (mut hurried, mut patient) = (Run::of(&["a"]), Run::of(&["a"]));
    hurried.fail("a", "503").send(retry_now()).fail("a", "503");
    patient.fail("a", "503").wait(60_000).fail("a", "503");
    assert_eq!(hurried.delays(), patient.delays());
    assert_eq!(hurried.status(), "retrying");
}

#[test]
fn one_that_is_due_does_not_wait_any_more() {
    let mut run = Run::of(&["a"]);
    run.fail("a", "503").wait(2_000);
    assert_eq!(run.refused(retry_now()), Refusal::NotRetrying);
    let mut run = Run::of(&["a"]);
    run.fail("a", "503").send(retry_now());
    assert_eq!(
        run.refused(retry_now()),
        Refusal::NotRetrying,
        "once is enough"
    );
}

#[test]
fn one_step_or_all_of_them() {
    let steps = ["a", "b | needs: []", "c | needs: []"];
    let mut run = Run::of(&steps);
    run.fail("a", "503").fail("b", "503");
    assert_eq!(run.refused(of("c")), Refusal::NotRetrying);
    assert_eq!(run.refused(of("nobody")), Refusal::NotRetrying);
    let mut one = run.clone();
    one.send(of("b"));
    assert_eq!(one.effects(), "hasten b#2");
    run.send(retry_now());
    assert_eq!(run.effects(), "hasten a#2, hasten b#2");
}

#[test]
fn a_pause_and_a_dead_node_leave_it_due() {
    let mut run = Run::of(&["a"]);
    run.fail("a", "503")
        .send(retry_now())
        .pause()
        .wait(10)
        .resume();
    assert_eq!(run.work(), "a#2");
    run.begin("a").lost("a");
    assert_eq!((run.status(), run.work().as_str()), ("pending", "a#3"));
}

#[test]
fn a_compensation_is_hurried_too() {
    let mut run = Run::of(&["a | compensate: undo", "b | needs: [a]", "undo"]);
    run.ok("a", "1").fail("b", "400").fail("undo", "503");
    assert_eq!(run.status(), "running");
    run.send(retry_now());
    assert_eq!(run.effects(), "hasten undo#2");
    run.ok("undo", "1");
    assert_eq!(run.status(), "dlq");
}

#[test]
fn a_task_is_offered_at_once() {
    let mut run = Run::of(&["a~"]);
    run.fail("a", "worker");
    assert_eq!(run.status(), "retrying");
    run.send(retry_now());
    assert_eq!(run.status(), "waiting");
    run.ok("a", "1");
    assert_eq!(run.status(), "completed");
}
