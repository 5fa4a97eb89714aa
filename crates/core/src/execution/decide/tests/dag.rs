//! Steps beside each other: who starts when, and what one's failure does to the others.

use super::fixture::{Run, assert_lines, block};

const DIAMOND: [&str; 4] = ["a", "b | needs: [a]", "c | needs: [a]", "d | needs: [b, c]"];

#[test]
fn a_diamond_runs_its_sides_in_parallel_and_joins() {
    let mut run = Run::of(&DIAMOND);
    run.ok("a", "1");
    assert_eq!(run.work(), "b#1, c#1");
    run.begin("b").begin("c").ok("c", "3");
    assert_eq!(run.work(), "b#1 running");
    run.ok("b", "2");
    assert_eq!(run.work(), "d#1");
    run.ok("d", "4");
    assert_lines(
        &run.events(),
        "1 EXECUTION_STARTED
         2 STEP_SCHEDULED a#1
         3 STEP_STARTED a#1
         4 STEP_COMPLETED a#1
         5 STEP_SCHEDULED b#1
         6 STEP_SCHEDULED c#1
         7 STEP_STARTED c#1
         8 STEP_COMPLETED c#1
         9 STEP_STARTED b#1
         10 STEP_COMPLETED b#1
         11 STEP_SCHEDULED d#1
         12 STEP_STARTED d#1
         13 STEP_COMPLETED d#1
         14 EXECUTION_COMPLETED output of d",
    );
}

#[test]
fn two_results_of_one_batch_do_not_get_in_each_others_way() {
    let mut run = Run::of(&DIAMOND);
    run.ok("a", "1")
        .begin("b")
        .begin("c")
        .ok("b", "2")
        .ok("c", "3");
    assert_eq!(
        run.work(),
        "d#1",
        "the join is scheduled once, by the second"
    );
}

#[test]
fn a_step_whose_condition_is_false_is_skipped_and_its_dependants_run() {
    let steps = ["a | when: \"${input.go}\"", "b"];
    let run = Run::with("", &steps, r#"{"go":false}"#);
    assert_lines(
        &run.events(),
        "1 EXECUTION_STARTED
         2 STEP_SKIPPED a when
         3 STEP_SCHEDULED b#1",
    );
    let run = Run::with("", &steps, r#"{"go":true}"#);
    assert_eq!(run.work(), "a#1");
    let run = Run::with("", &steps, r#"{"go":"true"}"#);
    assert_eq!(run.work(), "a#1", "a text that says true is true");
}

#[test]
fn a_skipped_step_gives_null_and_so_skips_whoever_asks_it_wrongly_no_more() {
    // A condition on a skipped step's output sees null, which is neither true nor false.
    let steps = [
        "a | when: \"false\"",
        "b | when: \"${steps.a.output.ready}\"",
    ];
    let run = Run::of(&steps);
    assert_eq!(run.status(), "dlq");
    assert_eq!(
        run.letter().unwrap().failure.message,
        "`when` must give true or false, it gave null"
    );
}

#[test]
fn skips_run_through_a_chain_in_one_commit() {
    let when = "when: \"${input.go}\"";
    let steps = [
        format!("a | {when}"),
        format!("b | {when}"),
        format!("c | {when}"),
        "d".to_owned(),
    ];
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let run = Run::with("", &steps, r#"{"go":false}"#);
    assert_eq!(run.steps(), "a skipped, b skipped, c skipped, d scheduled");
}

#[test]
fn a_condition_that_gives_neither_fails_the_step_before_it_is_attempted() {
    for (input, message) in [
        (r#"{"go":1}"#, "`when` must give true or false, it gave 1"),
        (
            r#"{"go":"maybe"}"#,
            "`when` must give true or false, it gave \"maybe\"",
        ),
        ("{}", "`when`: `${input.go}` has no value"),
    ] {
        let run = Run::with("", &["a | when: \"${input.go}\""], input);
        assert_lines(
            &run.events(),
            "1 EXECUTION_STARTED
             2 STEP_FAILED a non_retryable
             3 DEAD_LETTERED a non_retryable
             4 EXECUTION_FAILED",
        );
        assert_eq!(run.letter().unwrap().failure.message, message);
        assert_eq!(run.letter().unwrap().retry_count, 0);
    }
}

#[test]
fn a_broken_condition_lets_a_running_sibling_finish() {
    let steps = [
        "a",
        "b | needs: []",
        "c | needs: [a], when: \"${input.go}\"",
    ];
    let mut run = Run::of(&steps);
    run.begin("b").ok("a", "1");
    assert_eq!(run.work(), "b#1 running");
    run.ok("b", "2");
    assert_eq!(run.status(), "dlq");
}

#[test]
fn a_failed_step_stops_new_ones_and_lets_a_running_sibling_finish() {
    let mut run = Run::of(&["a", "b | needs: []", "c | needs: [b]"]);
    run.begin("b").fail("a", "400");
    assert_lines(
        &run.news(),
        "4 STEP_STARTED a#1
         5 STEP_FAILED a#1 non_retryable",
    );
    assert_eq!(
        (run.status(), run.work().as_str()),
        ("pending", "b#1 running")
    );
    run.ok("b", "2");
    assert_lines(
        &run.news(),
        "6 STEP_STARTED b#1
         7 STEP_COMPLETED b#1
         8 DEAD_LETTERED a non_retryable
         9 EXECUTION_FAILED",
    );
    assert_eq!(run.steps(), "a failed, b completed");
}

#[test]
fn a_sibling_that_fails_too_is_not_retried_and_does_not_change_the_reason() {
    let mut run = Run::of(&["a", "b | needs: []"]);
    run.begin("b").fail("a", "400").fail("b", "503");
    assert_lines(
        &run.news(),
        "6 STEP_STARTED b#1
         7 STEP_FAILED b#1 exhausted
         8 DEAD_LETTERED a non_retryable
         9 EXECUTION_FAILED",
    );
}

#[test]
fn a_failed_step_drops_a_sibling_that_waits_for_its_retry() {
    let mut run = Run::of(&["a", "b | needs: []"]);
    run.fail("b", "503").fail("a", "400");
    assert_lines(
        &run.news(),
        "7 STEP_STARTED a#1
         8 STEP_FAILED a#1 non_retryable
         9 STEP_SKIPPED b failing
         10 DEAD_LETTERED a non_retryable
         11 EXECUTION_FAILED",
    );
    assert_eq!(
        run.effects(),
        "withdraw a, withdraw b, letter non_retryable"
    );
}

#[test]
fn a_retry_that_is_due_in_the_same_instant_may_be_running_and_is_let_finish() {
    let mut run = Run::of(&["a", "b | needs: []"]);
    run.fail("b", "503").begin("a").wait(2_000).fail("a", "400");
    assert_eq!(run.work(), "b#2@+2000");
    run.ok("b", "1");
    assert_eq!(
        (run.status(), run.steps().as_str()),
        ("dlq", "a failed, b completed")
    );
}

#[test]
fn one_step_in_flight_outweighs_another_that_waits() {
    let mut run = Run::of(&["a", "b | needs: []"]);
    run.fail("a", "503");
    assert_eq!(run.status(), "pending", "b may run");
    run.ok("b", "1");
    assert_eq!(run.status(), "retrying", "only the timer is left");
}

#[test]
fn five_hundred_steps_in_a_fan_are_scheduled_at_once() {
    let names: Vec<String> = (0..498).map(|n| format!("s{n:03} | needs: [a]")).collect();
    let mut steps: Vec<&str> = vec!["a"];
    steps.extend(names.iter().map(String::as_str));
    let mut run = Run::of(&steps);
    run.ok("a", "1");
    assert_eq!(run.work.rows().count(), 498);
}

#[test]
fn a_block_is_compared_without_its_indentation() {
    assert_eq!(block("  a\n      b "), "a\nb");
}
