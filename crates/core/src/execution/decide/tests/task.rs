//! Tasks for workers outside: what is offered, what is recorded, and how the clocks count.

use super::fixture::{Run, assert_lines, cancel, json, plain_start, read, stray};
use crate::execution::{Began, Command, Outcome, Refusal, Report, Start};
use crate::failure::{ErrorClass, Failure};

#[test]
fn a_worker_does_it() {
    let mut run = Run::with("", &["a~"], r#"{"n":1}"#);
    assert_eq!(run.effects(), "offer a#1");
    assert_eq!(
        (run.status(), run.steps().as_str()),
        ("waiting", "a waiting")
    );
    run.wait(100).begin("a").wait(50).ok("a", r#"{"x":1}"#);
    assert_lines(
        &run.events(),
        "1 EXECUTION_STARTED
         2 STEP_SCHEDULED a#1
         3 EXTERNAL_TASK_CREATED a#1 t
         4 EXTERNAL_TASK_LOCKED a#1
         5 STEP_STARTED a#1
         6 STEP_COMPLETED a#1
         7 EXECUTION_COMPLETED output of a",
    );
    assert_eq!(run.effects(), "close a completed");
}

#[test]
fn its_input_is_filled_in_once_and_kept() {
    let source = "
        id: w
        retry: {jitter: none}
        steps:
          - {id: a, type: local, config: {task: t}, outputMapping: {n: $.n}}
          - id: b
            type: EXTERNAL_TASK
            config: {taskType: x, priority: 2, input: {n: '${workflow.context.n}', of: '${input.who}'}}";
    let mut run = Run::start(read(source), plain_start(r#"{"who":"ada"}"#));
    run.ok("a", r#"{"n":7}"#);
    assert_lines(
        &run.news(),
        r#"3 STEP_STARTED a#1
           4 STEP_COMPLETED a#1
           5 STEP_SCHEDULED b#1
           6 EXTERNAL_TASK_CREATED b#1 x {"n":7,"of":"ada"}"#,
    );
    let input = run
        .state
        .step(&super::fixture::step_id("b"))
        .unwrap()
        .task_input;
    assert_eq!(input.unwrap().sequence, 6);
    run.fail("b", "worker");
    assert!(!run.news().contains("CREATED"), "all attempts get the same");
}

#[test]
fn an_input_that_cannot_be_filled_in_fails_the_step() {
    let source = "
        id: w
        steps: [{id: a, type: external_task, config: {taskType: x, input: '${input.absent}'}}]";
    let run = Run::start(read(source), plain_start("{}"));
    assert_eq!(run.status(), "dlq");
    let failing = run.state.failing.as_ref().unwrap();
    assert_eq!(failing.failure.class, ErrorClass::Template);
    assert!(failing.failure.message.starts_with("`input`: "));
}

#[test]
fn attempts_are_the_tasks_own_and_delays_the_policys() {
    for head in [
        "retry: {maxRetries: 9, initialDelay: 4s, jitter: none}",
        "retry: {enabled: false, initialDelay: 4s, jitter: none}",
        "retry: {maxRetries: 9, initialDelay: 4s, maxElapsed: 1s, jitter: none}",
    ] {
        let mut run = Run::with(head, &["a~"], "{}");
        run.fail("a", "worker");
        assert_eq!(run.delays(), [4_000], "{head}");
        assert_eq!(
            (run.status(), run.steps().as_str()),
            ("retrying", "a retrying")
        );
        assert_eq!(run.effects(), "offer a#2");
        run.begin("a");
        assert_eq!(run.status(), "retrying", "until the attempt ends");
        run.fail("a", "worker");
        assert_eq!(run.letter().unwrap().reason.name(), "exhausted");
        assert_eq!(run.effects().split(", ").next(), Some("close a failed"));
    }
}

#[test]
fn a_worker_may_say_that_it_is_in_vain_or_when_to_try_again() {
    let mut run = Run::of(&["a~"]);
    let mut failure = Failure::new(ErrorClass::Worker, "no such project");
    failure.retryable = false;
    run.report("a", Outcome::Failed(failure));
    assert_eq!(run.letter().unwrap().reason.name(), "non_retryable");
    let mut run = Run::of(&["a~"]);
    let mut failure = Failure::new(ErrorClass::Worker, "busy");
    failure.retry_after_ms = Some(90_000);
    run.report("a", Outcome::Failed(failure));
    assert_eq!(run.delays(), [90_000]);
}

#[test]
fn a_lost_worker_is_an_attempt_with_its_own_reason() {
    let clocks = [
        (ErrorClass::TaskTimeout, "timeout"),
        (ErrorClass::LockExpired, "lock_expired"),
        (ErrorClass::HeartbeatMissed, "heartbeat_missed"),
    ];
    for (class, reason) in clocks {
        let mut run = Run::of(&["a~"]);
        run.begin("a").expire("a", class);
        assert_lines(
            &run.news(),
            &format!(
                "4 EXTERNAL_TASK_LOCKED a#1
                 5 STEP_STARTED a#1
                 6 EXTERNAL_TASK_RELEASED a#1 {class}
                 7 STEP_FAILED a#1
                 8 RETRY_SCHEDULED a#2 +2000ms"
            ),
        );
        run.begin("a").expire("a", class);
        assert_eq!(run.letter().unwrap().reason.name(), reason);
    }
}

#[test]
fn what_nobody_fetched_in_time_is_only_failed() {
    let mut run = Run::of(&["a~"]);
    run.expire("a", ErrorClass::TaskTimeout);
    assert_lines(
        &run.news(),
        "4 STEP_FAILED a#1
         5 RETRY_SCHEDULED a#2 +2000ms",
    );
}

#[test]
fn time_does_not_count_while_it_is_paused() {
    let mut run = Run::of(&["a~"]);
    let timeout = |run: &Run| run.work.get("a").unwrap().task.as_ref().unwrap().timeout_at;
    let before = timeout(&run);
    run.wait(10_000).pause();
    assert_eq!(
        (run.effects().as_str(), run.work().as_str()),
        ("hold", "a#1@+0 held")
    );
    run.wait(30_000).resume();
    assert_eq!(run.effects(), "offer a again, 30000 ms later");
    assert_eq!(timeout(&run).since(before).as_secs(), 30);
    assert_eq!(run.work(), "a#1@+0 open");
}

#[test]
fn a_worker_goes_on_during_a_pause_and_the_next_attempt_is_held() {
    let mut run = Run::of(&["a~", "b"]);
    run.begin("a").pause().wait(1_000);
    run.expire("a", ErrorClass::LockExpired);
    assert_eq!(run.work(), "a#2@+3000 held");
    run.wait(500).resume();
    assert_eq!(
        run.effects(),
        "offer a again, 0 ms later",
        "it is not due yet"
    );
    run.begin("a").pause();
    run.ok("a", "1");
    assert!(
        run.news().ends_with("STEP_COMPLETED a#2"),
        "nothing follows"
    );
    run.resume();
    assert_eq!(run.work(), "b#1");
}

#[test]
fn a_failing_execution_waits_for_workers_that_have_a_task_and_no_others() {
    let mut run = Run::of(&["a | needs: []", "b~ | needs: []", "c~ | needs: []"]);
    run.begin("b").fail("a", "400");
    assert_eq!(run.effects(), "withdraw a, retire b, retire c");
    assert_eq!(run.work(), "b#1@+0 running open, c#1@+0 retired");
    run.retired("c");
    assert_lines(&run.news(), "9 STEP_SKIPPED c failing");
    assert_eq!(run.steps(), "a failed, b waiting, c cancelled");
    run.ok("b", "1");
    assert_eq!(run.status(), "dlq");
}

#[test]
fn undoing_may_be_a_task() {
    let mut run = Run::of(&["a | compensate: undo", "b", "undo~"]);
    run.ok("a", "1").fail("b", "400");
    assert_eq!(run.status(), "running");
    assert!(run.effects().ends_with("offer undo#1"));
    run.ok("undo", "2");
    assert_eq!(run.steps(), "a compensated, b failed, undo completed");
    let source = "
        id: w
        steps:
          - {id: a, type: local, config: {task: t}, compensate: u}
          - {id: b, type: local, config: {task: t}}
          - {id: u, type: external_task, config: {taskType: x, input: '${steps.a.output.no}'}}";
    let mut run = Run::start(read(source), plain_start("{}"));
    run.ok("a", "{}").fail("b", "400");
    assert_eq!(run.status(), "dlq");
    assert_eq!(run.letter().unwrap().reason.name(), "compensation_failed");
}

#[test]
fn a_retried_letter_makes_one_attempt() {
    let start = Start {
        automatic_retries: false,
        ..plain_start("{}")
    };
    let mut run = Run::start(super::fixture::workflow("", &["a~"]), start);
    run.fail("a", "worker");
    assert_eq!(run.status(), "dlq");
}

#[test]
fn cancelling_withdraws_it() {
    let mut run = Run::of(&["a~"]);
    run.begin("a").send(cancel());
    assert_eq!(
        (run.status(), run.effects().as_str()),
        ("cancelled", "abort")
    );
}

#[test]
fn a_cancel_records_who_had_it() {
    let mut run = Run::of(&["a~ | needs: []", "b~ | needs: []", "c | needs: []"]);
    run.wait(5).begin("b").wait(5).begin("c").wait(5).cancel();
    assert_lines(
        &run.news(),
        "7 EXTERNAL_TASK_LOCKED b#1
         8 STEP_STARTED b#1
         9 STEP_STARTED c#1
         10 EXECUTION_CANCELLED",
    );
    assert_eq!(run.steps(), "a cancelled, b cancelled, c cancelled");
    let begun = |step| {
        run.state
            .step(&super::fixture::step_id(step))
            .unwrap()
            .is_begun
    };
    assert_eq!(["a", "b", "c"].map(begun), [false, true, true]);
}

#[test]
fn nobody_else_can_report_it() {
    let mut run = Run::of(&["a~", "b"]);
    let done = || Outcome::Succeeded(json("1"));
    let is_refused = |run: &Run, command| matches!(run.refused(command), Refusal::NotLive { .. });
    assert!(is_refused(&run, stray("a", 1, done())), "no node calls it");
    assert!(is_refused(&run, super::fixture::lost("a", 1, true)));
    assert!(is_refused(&run, retired("a", 1)), "nothing has failed");
    run.ok("a", "1");
    let by_a_worker = Command::Report(Report {
        step: super::fixture::step_id("b"),
        attempt: 1,
        began: Began::Never,
        duration_ms: 0,
        outcome: done(),
        mapped: None,
    });
    assert!(is_refused(&run, by_a_worker), "it is no task");
}

fn retired(step: &str, attempt: u32) -> Command {
    let step = super::fixture::step_id(step);
    Command::Retired { step, attempt }
}
