//! Report: an attempt ended. Who may report, what is recorded, and in which order times stand.

use super::fixture::{BEGINNING, Run, assert_lines, failure, json, step_id, stray};
use super::status::assert_table;
use crate::execution::event::EventKind;
use crate::execution::{Began, Command, Outcome, Refusal, Report, Status, decide_within};
use crate::time::Timestamp;

fn done() -> Outcome {
    Outcome::Succeeded(json("1"))
}

#[test]
fn a_success_in_every_status() {
    assert_table(
        |step, attempt| stray(step, attempt, done()),
        "pending | pending: STEP_STARTED STEP_COMPLETED STEP_SCHEDULED STEP_SCHEDULED
         retrying | pending: TIMER_FIRED STEP_STARTED STEP_COMPLETED STEP_SCHEDULED STEP_SCHEDULED
         failing | running: STEP_STARTED STEP_COMPLETED COMPENSATION_STARTED
         compensating | dlq: STEP_STARTED COMPENSATION_COMPLETED DEAD_LETTERED EXECUTION_FAILED
         paused | paused: STEP_STARTED STEP_COMPLETED
         completed | refused: the execution has ended (completed)
         failed | refused: the execution has ended (failed)
         dlq | refused: the execution has ended (dlq)
         cancelled | refused: the execution has ended (cancelled)",
    );
}

#[test]
fn a_failure_that_may_be_retried_in_every_status() {
    assert_table(
        |step, attempt| stray(step, attempt, Outcome::Failed(failure("503"))),
        "pending | retrying: STEP_STARTED STEP_FAILED RETRY_SCHEDULED
         retrying | retrying: TIMER_FIRED STEP_STARTED STEP_FAILED RETRY_SCHEDULED
         failing | running: STEP_STARTED STEP_FAILED COMPENSATION_STARTED
         compensating | running: STEP_STARTED STEP_FAILED RETRY_SCHEDULED
         paused | paused: STEP_STARTED STEP_FAILED RETRY_SCHEDULED
         completed | refused: the execution has ended (completed)
         failed | refused: the execution has ended (failed)
         dlq | refused: the execution has ended (dlq)
         cancelled | refused: the execution has ended (cancelled)",
    );
}

#[test]
fn a_failure_that_may_not_in_every_status() {
    assert_table(
        |step, attempt| stray(step, attempt, Outcome::Failed(failure("400"))),
        "pending | dlq: STEP_STARTED STEP_FAILED DEAD_LETTERED EXECUTION_FAILED
         retrying | dlq: TIMER_FIRED STEP_STARTED STEP_FAILED DEAD_LETTERED EXECUTION_FAILED
         failing | running: STEP_STARTED STEP_FAILED COMPENSATION_STARTED
         compensating | dlq: STEP_STARTED STEP_FAILED COMPENSATION_FAILED DEAD_LETTERED \
         EXECUTION_FAILED
         paused | paused: STEP_STARTED STEP_FAILED
         completed | refused: the execution has ended (completed)
         failed | refused: the execution has ended (failed)
         dlq | refused: the execution has ended (dlq)
         cancelled | refused: the execution has ended (cancelled)",
    );
}

#[test]
fn only_the_live_attempt_can_report() {
    let mut run = Run::of(&["a", "b"]);
    run.fail("a", "503");
    for (step, attempt) in [("a", 1), ("a", 3), ("a", 0), ("b", 1), ("nowhere", 1)] {
        let refusal = Refusal::NotLive {
            step: step_id(step),
            attempt,
        };
        assert_eq!(run.refused(stray(step, attempt, done())), refusal);
    }
    run.ok("a", "1");
    assert!(
        matches!(run.refused(stray("a", 2, done())), Refusal::NotLive { .. }),
        "doubled"
    );
}

#[test]
fn a_result_after_the_end_is_refused_with_how_it_ended() {
    let mut run = Run::of(&["a"]);
    run.ok("a", "1");
    assert_eq!(
        run.refused(stray("a", 1, done())),
        Refusal::Ended(Status::Completed)
    );
}

#[test]
fn the_log_of_a_line_of_steps() {
    let mut run = Run::of(&["a", "b"]);
    run.ok("a", r#"{"x":1}"#).ok("b", r#"{"y":2}"#);
    assert_lines(
        &run.events(),
        "1 EXECUTION_STARTED
         2 STEP_SCHEDULED a#1
         3 STEP_STARTED a#1
         4 STEP_COMPLETED a#1
         5 STEP_SCHEDULED b#1
         6 STEP_STARTED b#1
         7 STEP_COMPLETED b#1
         8 EXECUTION_COMPLETED output of b",
    );
    assert_eq!(run.effects(), "withdraw b");
}

#[test]
fn an_attempt_is_recorded_with_the_time_it_began() {
    let mut run = Run::of(&["a"]);
    run.wait(100).begin("a").wait(250).ok("a", "1");
    let at = |ms| BEGINNING.plus(std::time::Duration::from_millis(ms));
    assert_eq!((run.log[2].at, run.log[3].at), (at(100), at(350)));
    let EventKind::StepCompleted(done) = &run.log[3].kind else {
        panic!("not a result")
    };
    assert_eq!(done.duration_ms, Some(250));
    assert_eq!(run.state.started_at, Some(at(100)));
    assert_eq!(run.state.completed_at, Some(at(350)));
}

#[test]
fn times_do_not_go_back_when_a_parallel_attempt_began_earlier() {
    let mut run = Run::of(&["a", "b | needs: []"]);
    run.begin("a")
        .wait(10)
        .begin("b")
        .wait(10)
        .ok("b", "1")
        .wait(10)
        .ok("a", "2");
    let EventKind::StepStarted(started) = &run.log[5].kind else {
        panic!("not a start")
    };
    assert_eq!(
        started.started_at, BEGINNING,
        "the true time is kept inside"
    );
    assert!(
        run.log[5].at > BEGINNING,
        "the event's own time is that of the log"
    );
    assert_eq!(run.state.started_at, Some(BEGINNING));
}

#[test]
fn times_do_not_go_back_when_the_clock_does() {
    let mut run = Run::of(&["a", "b"]);
    run.wait(5_000).ok("a", "1");
    let latest = run.now;
    run.now = BEGINNING;
    run.send(stray("b", 1, Outcome::Failed(failure("503"))));
    assert!(run.log.iter().skip(5).all(|event| event.at == latest));
    assert_eq!(
        run.work(),
        "b#2@+7000",
        "and waits count from the log's time"
    );
}

#[test]
fn an_attempt_that_claims_to_begin_in_the_future_does_not_move_the_log_there() {
    let mut run = Run::of(&["a"]);
    for attempt in [1, 2] {
        // The second one ends a wait, so its timer is recorded as well.
        run.send(Command::Report(Report {
            step: step_id("a"),
            attempt,
            began: Began::Called(Timestamp::from_millis(9_000_000_000_000)),
            duration_ms: 0,
            outcome: Outcome::Failed(failure("503")),
            mapped: None,
        }));
        assert_eq!(run.state.updated_at, BEGINNING);
    }
}

#[test]
fn the_response_of_a_failure_stays_in_its_event() {
    let mut run = Run::of(&["a"]);
    let mut with_response = failure("503");
    with_response.response = Some("<html>".to_owned());
    run.report("a", Outcome::Failed(with_response));
    let EventKind::StepFailed(failed) = &run.log[3].kind else {
        panic!("not a failure")
    };
    assert_eq!(failed.error.response.as_deref(), Some("<html>"));
    assert!(
        !serde_json::to_string(&run.state)
            .unwrap()
            .contains("<html>")
    );
}

#[test]
fn the_step_that_failed_last_is_the_one_whose_retries_are_shown() {
    let mut run = Run::of(&["a", "b | needs: []"]);
    run.fail("a", "503").fail("b", "503");
    assert_eq!(run.state.failed_last, Some(step_id("b")));
}

#[test]
fn a_log_of_other_rules_is_left_alone() {
    let mut run = Run::of(&["a"]);
    run.state.origin.as_mut().unwrap().rules = 3;
    assert_eq!(run.refused(stray("a", 1, done())), Refusal::UnknownRules(3));
}

/// The state as it comes out of the store: without the values that events keep.
fn without_values(run: &mut Run) {
    let stored = serde_json::to_string(&run.state).unwrap();
    run.state = serde_json::from_str(&stored).unwrap();
}

#[test]
fn values_that_a_decision_needs_must_be_brought_along() {
    let steps = ["a", "b | when: \"${input.go}\""];
    let mut run = Run::with("", &steps, r#"{"go":true}"#);
    without_values(&mut run);
    let report = stray("a", 1, done());
    assert_eq!(run.refused(report.clone()), Refusal::MissingPayload(1));
    run.state.payloads.insert(1, json(r#"{"go":true}"#));
    run.send(report);
    assert_eq!(run.work(), "b#1");
}

#[test]
fn a_missing_value_is_never_taken_for_one_that_has_a_default() {
    let mut run = Run::of(&["a", "b | when: \"${workflow.context.go ?? true}\""]);
    without_values(&mut run);
    let report = stray("a", 1, done());
    assert_eq!(run.refused(report), Refusal::MissingPayload(1));
}

#[test]
fn values_that_no_decision_reads_need_not_be_at_hand() {
    let steps = ["a", "b", "c | when: \"${steps.a.output.go}\""];
    let mut run = Run::with("output: \"${input.x}\"", &steps, r#"{"x":1}"#);
    run.ok("a", r#"{"go":true}"#);
    without_values(&mut run);
    // `b` reads nothing; `c` reads what `a` gave; the output reads the input.
    let refused = |run: &Run, step| run.refused(stray(step, 1, done()));
    assert_eq!(refused(&run, "b"), Refusal::MissingPayload(4));
    run.state.payloads.insert(4, json(r#"{"go":true}"#));
    run.ok("b", "1");
    assert_eq!(refused(&run, "c"), Refusal::MissingPayload(1));
}

/// What a decision that may search so many bytes says to the end of step `a`.
fn within(run: &Run, bytes: usize) -> Result<String, Refusal> {
    let report = stray("a", 1, Outcome::Succeeded(json(r#"{"go":true}"#)));
    let decided = decide_within(&run.workflow, &run.state, report, run.now, bytes)?;
    Ok(decided.state.status.name().to_owned())
}

#[test]
fn a_decision_searches_no_more_than_it_may() {
    let large = format!(r#"{{"x":1,"filler":"{}"}}"#, "x".repeat(1_000));
    for (head, step, bytes) in [
        ("", "b | when: \"${input.go ?? true}\"", large.len()),
        (
            "",
            "b | when: \"${workflow.context.go ?? true}\"",
            large.len(),
        ),
        ("", "b | when: \"${steps.a.output.go}\"", 11),
        (
            "output: [\"${input.x}\", \"${input.x}\"]",
            "b | needs: []",
            0,
        ),
    ] {
        let run = Run::with(head, &["a", step], &large);
        assert_eq!(
            within(&run, bytes.saturating_sub(1)).is_err(),
            bytes > 0,
            "{step}"
        );
        assert!(within(&run, bytes).is_ok(), "{step}: {bytes}");
    }
    // Every reference counts: each is found by a search of its own.
    let head = "output: [\"${input.x}\", \"${input.x}\"]";
    let run = Run::with(head, &["a"], &large);
    assert_eq!(within(&run, 2 * large.len() - 1), Err(Refusal::TooHeavy));
    assert_eq!(within(&run, 2 * large.len()).unwrap(), "completed");
    // A value that was mapped is copied, not searched for: its own length counts.
    let step = "a | outputMapping: {all: \"$\"}";
    let run = Run::with("output: \"${workflow.context.all}\"", &[step], &large);
    assert_eq!(within(&run, 10), Err(Refusal::TooHeavy));
    assert_eq!(within(&run, 11).unwrap(), "completed");
}

#[test]
fn what_has_ended_or_does_not_look_at_values_needs_none() {
    let mut run = Run::of(&["a | when: \"false\""]);
    without_values(&mut run);
    assert_eq!(
        run.refused(stray("a", 1, done())),
        Refusal::Ended(Status::Completed)
    );
    let mut run = Run::of(&["a", "b"]);
    without_values(&mut run);
    run.ok("a", "1");
    assert_eq!(run.work(), "b#1");
}
