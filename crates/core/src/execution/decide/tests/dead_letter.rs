//! Dead letters: who gets one, what it says, and how a retry of one ends.

use super::fixture::{Run, assert_lines, plain_start, workflow};
use crate::dead_letter::Letter;
use crate::execution::decide::Start;
use crate::execution::event::{EventKind, Lineage, Trigger, TriggerKind};
use crate::id::{DlqId, ExecutionId};

/// An execution that retries a dead letter.
fn retry_of_a_letter(head: &str, steps: &[&str]) -> Run {
    let root = ExecutionId::from_bytes([7; 16]);
    let start = Start {
        automatic_retries: false,
        trigger: Trigger {
            kind: TriggerKind::ManualDlqRetry,
            ..Trigger::manual(None)
        },
        lineage: Lineage {
            parent: Some(root),
            root,
            letter: Some(DlqId::from_bytes([8; 16])),
            generation: 1,
        },
        ..plain_start("{}")
    };
    Run::start(workflow(head, steps), start)
}

#[test]
fn the_letter_stands_before_the_end_and_says_what_happened() {
    let mut run = Run::with("name: Orders", &["a", "b"], "{}");
    run.ok("a", "1").wait(700).fail("b", "404");
    assert_lines(
        &run.news(),
        "6 STEP_STARTED b#1
         7 STEP_FAILED b#1 non_retryable
         8 DEAD_LETTERED b non_retryable
         9 EXECUTION_FAILED",
    );
    let letter = run.letter().unwrap();
    assert_eq!(letter.execution, run.state.origin.as_ref().unwrap().id);
    assert_eq!(
        (letter.workflow.as_ref(), letter.workflow_name.as_str()),
        ("w", "Orders")
    );
    assert_eq!(letter.step.as_ref().map(AsRef::as_ref), Some("b"));
    assert_eq!(letter.failure.code.as_deref(), Some("404"));
    assert_eq!(letter.failed_at, run.now);
    assert_eq!(run.state.dlq_id, Some(letter.id));
    assert_eq!(run.state.error.as_ref(), Some(&letter.failure));
}

#[test]
fn the_letters_id_is_derived_so_that_a_replay_finds_the_same() {
    let mut run = Run::of(&["a"]);
    run.fail("a", "400");
    let id = run.letter().unwrap().id;
    assert_eq!(
        id,
        Letter::id_for(ExecutionId::from_bytes([1; 16]), run.now)
    );
    assert_eq!(id.unix_ms(), u64::try_from(run.now.as_millis()).unwrap());
    let EventKind::DeadLettered(recorded) = &run.log[4].kind else {
        panic!("not a letter")
    };
    assert_eq!(recorded.dlq_id, id);
}

#[test]
fn failures_that_are_not_retried_are_left_out_where_the_workflow_says_so() {
    let mut run = Run::with("deadLetter: exhausted", &["a"], "{}");
    run.fail("a", "400");
    assert_eq!(
        (run.status(), run.effects().as_str()),
        ("failed", "withdraw a")
    );
    let head = "deadLetter: exhausted\nretry: {maxRetries: 1, jitter: none}";
    let mut run = Run::with(head, &["a"], "{}");
    run.fail("a", "503").fail("a", "503");
    assert_eq!(run.status(), "dlq");
}

#[test]
fn a_retry_that_succeeds_resolves_the_letter() {
    let mut run = retry_of_a_letter("", &["a"]);
    run.ok("a", "1");
    assert_eq!(
        (run.status(), run.effects().as_str()),
        ("completed", "withdraw a, settle resolved")
    );
}

#[test]
fn a_retry_that_fails_makes_no_second_letter_and_gives_the_first_back() {
    let mut run = retry_of_a_letter("", &["a"]);
    run.fail("a", "503");
    assert_lines(
        &run.news(),
        "3 STEP_STARTED a#1
         4 STEP_FAILED a#1 exhausted
         5 EXECUTION_FAILED",
    );
    assert_eq!(
        (run.status(), run.effects().as_str()),
        ("failed", "withdraw a, settle pending")
    );
}

#[test]
fn a_retry_that_is_cancelled_gives_the_letter_back() {
    let mut run = retry_of_a_letter("", &["a"]);
    run.cancel();
    assert_eq!(run.effects(), "abort, settle pending");
}

#[test]
fn the_letter_is_settled_once_and_last_also_after_undoing() {
    let mut run = retry_of_a_letter("", &["a | compensate: undo", "b", "undo"]);
    run.ok("a", "1").fail("b", "503");
    assert_eq!(run.effects(), "withdraw b, schedule undo#1");
    run.fail("undo", "503");
    assert_eq!(
        run.work(),
        "undo#2@+2000",
        "undoing is retried: nobody watches that"
    );
    run.ok("undo", "1");
    assert_eq!(
        (run.status(), run.effects().as_str()),
        ("failed", "withdraw undo, settle pending")
    );
}

#[test]
fn a_lost_attempt_of_a_retry_still_runs_again() {
    let mut run = retry_of_a_letter("", &["a"]);
    run.lost("a").ok("a", "1");
    assert_eq!(run.status(), "completed");
}

#[test]
fn a_retry_that_ends_at_once_settles_the_letter_in_its_first_commit() {
    let run = retry_of_a_letter("", &["a | when: \"false\""]);
    assert_eq!(
        (run.status(), run.effects().as_str()),
        ("completed", "settle resolved")
    );
}
