//! Retries: how often, after which wait, and whose settings count.

use std::time::Duration;

use super::fixture::{BEGINNING, Run, assert_lines, failure, plain_start, workflow};
use crate::definition::RetrySettings;
use crate::execution::Outcome;
use crate::execution::decide::Start;
use crate::failure::{ErrorClass, Failure};

/// Fails the step until the execution ends, and gives the waits.
fn until_given_up(run: &mut Run, step: &str) -> Vec<u64> {
    for _ in 0..20 {
        if !run.state.status.is_terminal() {
            run.fail(step, "503");
        }
    }
    assert!(run.state.status.is_terminal(), "retried without end");
    run.delays()
}

fn asking(seconds: u64) -> Outcome {
    let mut failure = failure("429");
    failure.retry_after_ms = Some(seconds * 1_000);
    Outcome::Failed(failure)
}

#[test]
fn attempts_are_numbered_and_the_last_one_is_final() {
    let mut run = Run::with("retry: {maxRetries: 2, jitter: none}", &["a"], "{}");
    run.fail("a", "503").fail("a", "503").fail("a", "503");
    assert_lines(
        &run.events(),
        "1 EXECUTION_STARTED
         2 STEP_SCHEDULED a#1
         3 STEP_STARTED a#1
         4 STEP_FAILED a#1
         5 RETRY_SCHEDULED a#2 +2000ms
         6 TIMER_FIRED a#2
         7 STEP_STARTED a#2
         8 STEP_FAILED a#2
         9 RETRY_SCHEDULED a#3 +4000ms
         10 TIMER_FIRED a#3
         11 STEP_STARTED a#3
         12 STEP_FAILED a#3 exhausted
         13 DEAD_LETTERED a exhausted
         14 EXECUTION_FAILED",
    );
    let letter = run.letter().unwrap();
    assert_eq!((letter.retry_count, letter.max_retries), (2, 2));
}

#[test]
fn a_retry_that_succeeds_carries_on() {
    let mut run = Run::of(&["a", "b"]);
    run.fail("a", "503");
    assert_eq!(
        (run.status(), run.work().as_str()),
        ("retrying", "a#2@+2000")
    );
    run.ok("a", "1").ok("b", "2");
    assert_eq!(run.status(), "completed");
}

#[test]
fn the_default_is_five_retries_of_2_4_8_16_and_32_seconds_give_or_take_a_fifth() {
    for seed in 0..50 {
        let start = Start {
            seed,
            ..plain_start("{}")
        };
        let mut run = Run::start(workflow("retry: {}", &["a"]), start);
        let delays = until_given_up(&mut run, "a");
        assert_eq!(delays.len(), 5);
        for (delay, nominal) in delays.iter().zip([2_000, 4_000, 8_000, 16_000, 32_000]) {
            assert!(
                (nominal * 8 / 10..=nominal * 12 / 10).contains(delay),
                "{delay}"
            );
        }
    }
    let mut run = Run::of(&["a"]);
    assert_eq!(
        until_given_up(&mut run, "a").iter().sum::<u64>(),
        62_000,
        "without jitter"
    );
    assert_eq!(run.now, BEGINNING.plus(Duration::from_secs(62)));
}

#[test]
fn two_steps_and_two_attempts_draw_different_jitter() {
    let head = "retry: {strategy: fixed, initialDelay: 1m, jitter: full}";
    let mut run = Run::with(head, &["a", "b | needs: []"], "{}");
    run.fail("a", "503")
        .fail("b", "503")
        .fail("a", "503")
        .fail("b", "503");
    let mut delays = run.delays();
    delays.sort_unstable();
    delays.dedup();
    assert_eq!(delays.len(), 4);
}

#[test]
fn the_target_may_ask_for_a_longer_wait_but_not_for_a_shorter_one() {
    let mut run = Run::of(&["a"]);
    run.report("a", asking(30))
        .report("a", asking(1))
        .report("a", asking(7_200));
    assert_eq!(run.delays(), [30_000, 4_000, 3_600_000]);
}

#[test]
fn what_is_not_retryable_fails_at_once() {
    for what in [
        "400", "401", "403", "404", "418", "501", "tls", "redirect", "template",
    ] {
        let mut run = Run::of(&["a"]);
        run.fail("a", what);
        assert_eq!(
            run.letter().unwrap().reason.name(),
            "non_retryable",
            "{what}"
        );
    }
    for what in [
        "429",
        "500",
        "502",
        "503",
        "504",
        "dns",
        "connection_refused",
        "read_timeout",
    ] {
        let mut run = Run::of(&["a"]);
        run.fail("a", what);
        assert_eq!(run.status(), "retrying", "{what}");
    }
}

#[test]
fn a_task_of_the_program_says_itself_whether_it_is_worth_another_try() {
    let mut marked = Failure::new(ErrorClass::Local, "no");
    marked.retryable = false;
    let mut run = Run::of(&["a"]);
    run.report("a", Outcome::Failed(marked.clone()));
    assert_eq!(run.status(), "dlq");
    marked.retryable = true;
    let mut run = Run::of(&["a"]);
    run.report("a", Outcome::Failed(marked));
    assert_eq!(run.status(), "retrying");
}

#[test]
fn the_time_limit_ends_retries_that_could_only_begin_after_it() {
    let head = "retry: {maxRetries: 10, maxElapsed: 10s, jitter: none}";
    let mut run = Run::with(head, &["a"], "{}");
    assert_eq!(
        until_given_up(&mut run, "a"),
        [2_000, 4_000],
        "2 + 4 + 8 would be over it"
    );
    assert_eq!(run.letter().unwrap().reason.name(), "exhausted");
}

/// The waits of a step under a limit of ten seconds, after something happened to its execution.
fn waits_after(before: fn(&mut Run) -> &mut Run) -> Vec<u64> {
    let head = "retry: {maxRetries: 10, maxElapsed: 10s, jitter: none}";
    let mut run = Run::with(head, &["a"], "{}");
    before(&mut run);
    until_given_up(&mut run, "a")
}

#[test]
fn the_time_limit_stands_still_while_paused() {
    const HOUR: u64 = 3_600_000;
    let in_the_queue = waits_after(|run| run.pause().wait(HOUR).resume());
    assert_eq!(in_the_queue, [2_000, 4_000]);
    let during_the_attempt =
        waits_after(|run| run.begin("a").pause().wait(HOUR).resume().wait(5_000));
    assert_eq!(
        during_the_attempt,
        [2_000],
        "five seconds of work count, the hour does not"
    );
    let during_a_wait = waits_after(|run| run.fail("a", "503").pause().wait(HOUR).resume());
    assert_eq!(during_a_wait, [2_000, 4_000]);
    let failed_meanwhile =
        waits_after(|run| run.begin("a").pause().wait(HOUR).fail("a", "503").resume());
    assert_eq!(failed_meanwhile, [2_000, 4_000]);
    let twice = waits_after(|run| {
        run.pause().wait(HOUR).resume();
        run.begin("a").pause().wait(HOUR).fail("a", "503").resume()
    });
    assert_eq!(twice, [2_000, 4_000]);
}

#[test]
fn a_pause_in_the_queue_gives_no_time_back_during_the_attempt() {
    const HOUR: u64 = 3_600_000;
    let before_and_during = |working: fn(&mut Run) -> &mut Run| {
        let head = "retry: {maxRetries: 10, maxElapsed: 10s, jitter: none}";
        let mut run = Run::with(head, &["a"], "{}");
        run.pause().wait(HOUR).resume().wait(1_000).begin("a");
        working(&mut run);
        until_given_up(&mut run, "a")
    };
    let worked = before_and_during(|run| run.wait(5_000).pause().wait(HOUR).resume());
    assert_eq!(worked, [2_000], "five seconds of work count");
    let twice = before_and_during(|run| {
        run.wait(3_000).pause().wait(HOUR).resume();
        run.wait(2_000).pause().wait(HOUR).resume()
    });
    assert_eq!(twice, [2_000], "as much in two parts");
    let too_long = before_and_during(|run| run.wait(9_000).pause().wait(HOUR).resume());
    assert_eq!(
        too_long, [0; 0],
        "nine seconds and a wait of two are over it"
    );
}

#[test]
fn waiting_for_its_turn_does_not_use_up_a_steps_time() {
    assert_eq!(
        waits_after(|run| run.wait(3_600_000)),
        [2_000, 4_000],
        "queued"
    );
    let head = "retry: {maxRetries: 10, maxElapsed: 10s, jitter: none}";
    let delay_until = Some(BEGINNING.plus(Duration::from_secs(3_600)));
    let start = Start {
        delay_until,
        ..plain_start("{}")
    };
    let mut run = Run::start(workflow(head, &["a"]), start);
    assert_eq!(
        until_given_up(&mut run, "a"),
        [2_000, 4_000],
        "put off on purpose"
    );
}

#[test]
fn without_retries_the_first_failure_is_the_last() {
    let mut run = Run::with("retry: false", &["a"], "{}");
    run.fail("a", "503");
    assert_eq!(run.status(), "dlq");
    assert_eq!(run.letter().unwrap().max_retries, 0);
}

#[test]
fn the_steps_settings_go_over_the_triggers_over_the_workflows() {
    let head = "retry: {maxRetries: 3, initialDelay: 1s, strategy: fixed, jitter: none}";
    let trigger = RetrySettings {
        max_retries: Some(2),
        initial_delay: Some(Duration::from_secs(5)),
        ..RetrySettings::default()
    };
    let start = Start {
        retry: Some(trigger),
        ..plain_start("{}")
    };
    let steps = ["a", "b | retry: {maxRetries: 1}"];
    let mut run = Run::start(workflow(head, &steps), start.clone());
    assert_eq!(
        until_given_up(&mut run, "a"),
        [5_000, 5_000],
        "the trigger's"
    );
    let mut run = Run::start(workflow(head, &steps), start);
    run.ok("a", "1");
    assert_eq!(
        until_given_up(&mut run, "b"),
        [5_000],
        "the step's number, the trigger's delay"
    );
    let mut run = Run::with(head, &steps, "{}");
    assert_eq!(
        until_given_up(&mut run, "a"),
        [1_000, 1_000, 1_000],
        "the workflow's"
    );
}

#[test]
fn a_wait_never_goes_past_what_a_calendar_can_hold() {
    let head = "retry: {maxRetries: 10, initialDelay: 24h, multiplier: 10, jitter: none}";
    let mut run = Run::with(head, &["a"], "{}");
    let longest = until_given_up(&mut run, "a").into_iter().max();
    assert_eq!(longest, Some(crate::limit::RETRY_WAIT_MS_MAX));
}
