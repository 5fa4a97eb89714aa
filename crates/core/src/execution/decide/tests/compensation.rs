//! Compensation: completed steps are undone one by one, the latest first, whatever comes.

use super::fixture::{Run, assert_lines};

const THREE: [&str; 6] = [
    "a | compensate: undo_a",
    "b | compensate: undo_b",
    "c",
    "d",
    "undo_a",
    "undo_b",
];

/// `a`, `b` and `c` are done, `d` has failed for good.
fn undoing() -> Run {
    let mut run = Run::of(&THREE);
    run.ok("a", "1").ok("b", "2").ok("c", "3").fail("d", "400");
    run
}

#[test]
fn completed_steps_are_undone_in_reverse_order_one_at_a_time() {
    let mut run = undoing();
    assert_eq!((run.status(), run.work().as_str()), ("running", "undo_b#1"));
    run.ok("undo_b", "null");
    assert_lines(
        &run.news(),
        "15 STEP_STARTED undo_b#1
         16 COMPENSATION_COMPLETED undo_b#1
         17 COMPENSATION_STARTED undo_a#1 undoes a",
    );
    run.ok("undo_a", "null");
    assert_lines(
        &run.news(),
        "18 STEP_STARTED undo_a#1
         19 COMPENSATION_COMPLETED undo_a#1
         20 DEAD_LETTERED d non_retryable
         21 EXECUTION_FAILED",
    );
    let steps = "a compensated, b compensated, c completed, d failed, undo_a completed, \
                 undo_b completed";
    assert_eq!(run.steps(), steps);
}

#[test]
fn the_order_is_that_of_completion_not_of_the_definition() {
    let steps = [
        "a | compensate: undo_a",
        "b | compensate: undo_b, needs: []",
        "c | needs: [a, b]",
        "undo_a",
        "undo_b",
    ];
    let mut run = Run::of(&steps);
    run.ok("b", "1").ok("a", "2").fail("c", "400");
    assert_eq!(run.work(), "undo_a#1");
}

#[test]
fn a_sibling_that_finishes_while_failing_is_undone_too() {
    let steps = ["a", "b | needs: [], compensate: undo_b", "undo_b"];
    let mut run = Run::of(&steps);
    run.begin("b").fail("a", "400").ok("b", "1");
    assert_eq!((run.status(), run.work().as_str()), ("running", "undo_b#1"));
}

#[test]
fn a_step_that_did_not_complete_is_not_undone() {
    let mut run = Run::of(&["a | compensate: undo", "undo"]);
    run.fail("a", "400");
    assert_eq!(run.status(), "dlq");
    let mut run = Run::of(&["a | compensate: undo, when: \"false\"", "b", "undo"]);
    run.fail("b", "400");
    assert_eq!(
        (run.status(), run.steps().as_str()),
        ("dlq", "a skipped, b failed")
    );
}

#[test]
fn a_compensation_is_retried_by_its_policy() {
    let mut run = undoing();
    run.fail("undo_b", "503");
    assert_eq!(
        (run.status(), run.work().as_str()),
        ("running", "undo_b#2@+2000")
    );
    run.ok("undo_b", "null");
    assert_lines(
        &run.news(),
        "18 TIMER_FIRED undo_b#2
         19 STEP_STARTED undo_b#2
         20 COMPENSATION_COMPLETED undo_b#2
         21 COMPENSATION_STARTED undo_a#1 undoes a",
    );
}

#[test]
fn one_that_fails_for_good_does_not_keep_the_others_from_running() {
    let mut run = undoing();
    run.fail("undo_b", "400");
    assert_lines(
        &run.news(),
        "15 STEP_STARTED undo_b#1
         16 STEP_FAILED undo_b#1 non_retryable
         17 COMPENSATION_FAILED undo_b#1
         18 COMPENSATION_STARTED undo_a#1 undoes a",
    );
    run.ok("undo_a", "null");
    let letter = run.letter().unwrap();
    assert_eq!(letter.reason.name(), "compensation_failed");
    assert_eq!(
        letter.step.as_ref().map(AsRef::as_ref),
        Some("d"),
        "what began it all"
    );
    let steps = "a compensated, b completed, c completed, d failed, undo_a completed, \
                 undo_b failed";
    assert_eq!(run.steps(), steps);
}

#[test]
fn a_compensation_that_uses_up_its_retries_has_failed() {
    let steps = ["a | compensate: undo", "b", "undo | retry: {maxRetries: 1}"];
    let mut run = Run::of(&steps);
    run.ok("a", "1")
        .fail("b", "400")
        .fail("undo", "503")
        .fail("undo", "503");
    assert_eq!(run.letter().unwrap().reason.name(), "compensation_failed");
}

#[test]
fn undoing_that_fails_is_kept_even_where_only_exhausted_letters_are() {
    let steps = ["a | compensate: undo", "b", "undo"];
    let mut run = Run::with("deadLetter: exhausted", &steps, "{}");
    run.ok("a", "1").fail("b", "400").fail("undo", "400");
    assert_eq!(run.status(), "dlq");
}

#[test]
fn a_compensation_may_refer_to_what_the_step_gave() {
    // The output of a step stays readable after the step was undone.
    let mut run = undoing();
    run.ok("undo_b", "null");
    let id = super::fixture::step_id("b");
    assert!(run.state.step(&id).unwrap().output.is_some());
}
