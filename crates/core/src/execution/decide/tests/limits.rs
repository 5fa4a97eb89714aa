//! The bounds of a history: no log grows without end, and none ends without its last words.
//!
//! These logs are long, so they go straight to the state machine instead of through the checks
//! that a run makes after every command.

use std::time::Duration;

use super::fixture::{Run, failure, json, lost, step_id, stray};
use super::text;
use crate::execution::{Command, Event, Outcome, decide};
use crate::limit;

/// Sends a command, a minute after the last one.
fn send(run: &mut Run, command: Command) -> Vec<Event> {
    run.now = run.now.plus(Duration::from_secs(60));
    let decision = decide(&run.workflow, &run.state, command, run.now).unwrap();
    run.state = decision.state;
    run.effects = decision.effects;
    decision.events
}

/// The live attempt of a step.
fn live(run: &Run, step: &str) -> Option<u32> {
    let step = run
        .state
        .step(&step_id(step))
        .filter(|step| step.is_live())?;
    Some(step.attempt)
}

/// What the step's report leads to if the log is as long as it may be already.
fn at_the_limit(run: &mut Run, step: &str, outcome: Outcome) -> String {
    run.state.version = limit::HISTORY_EVENTS_MAX - 100;
    let attempt = live(run, step).unwrap();
    let events = send(run, stray(step, attempt, outcome));
    let without_number = |event: &Event| text::event(event).split_once(' ').unwrap().1.to_owned();
    events
        .iter()
        .map(without_number)
        .collect::<Vec<_>>()
        .join(", ")
}

#[test]
fn a_failure_at_the_limit_is_not_retried() {
    let mut run = Run::of(&["a"]);
    assert_eq!(
        at_the_limit(&mut run, "a", Outcome::Failed(failure("503"))),
        "STEP_STARTED a#1, STEP_FAILED a#1 history_limit, DEAD_LETTERED a history_limit, \
         EXECUTION_FAILED"
    );
}

#[test]
fn a_next_step_at_the_limit_is_not_scheduled() {
    let mut run = Run::of(&["a", "b"]);
    assert_eq!(
        at_the_limit(&mut run, "a", Outcome::Succeeded(json("1"))),
        "STEP_STARTED a#1, STEP_COMPLETED a#1, STEP_FAILED b history_limit, \
         DEAD_LETTERED b history_limit, EXECUTION_FAILED"
    );
}

#[test]
fn the_last_step_at_the_limit_still_completes() {
    let mut run = Run::of(&["a"]);
    assert_eq!(
        at_the_limit(&mut run, "a", Outcome::Succeeded(json("1"))),
        "STEP_STARTED a#1, STEP_COMPLETED a#1, EXECUTION_COMPLETED output of a"
    );
}

#[test]
fn undoing_is_begun_beyond_the_limit() {
    let mut run = Run::of(&["a | compensate: undo", "b", "undo"]);
    run.ok("a", "1");
    assert_eq!(
        at_the_limit(&mut run, "b", Outcome::Failed(failure("400"))),
        "STEP_STARTED b#1, STEP_FAILED b#1 non_retryable, COMPENSATION_STARTED undo#1 undoes a"
    );
}

#[test]
fn undoing_beyond_the_limit_has_one_attempt() {
    let mut run = Run::of(&["a | compensate: undo", "b", "undo"]);
    run.ok("a", "1");
    at_the_limit(&mut run, "b", Outcome::Failed(failure("400")));
    assert_eq!(
        at_the_limit(&mut run, "undo", Outcome::Failed(failure("503"))),
        "STEP_STARTED undo#1, STEP_FAILED undo#1 history_limit, COMPENSATION_FAILED undo#1, \
         DEAD_LETTERED b compensation_failed, EXECUTION_FAILED"
    );
}

#[test]
fn losses_without_a_beginning_end_at_the_limit() {
    // Each such loss costs two events and counts towards nothing else.
    let mut run = Run::of(&["a"]);
    for _ in 0..limit::HISTORY_EVENTS_MAX {
        if let Some(attempt) = live(&run, "a") {
            send(&mut run, lost("a", attempt, false));
        }
    }
    assert_eq!(run.letter().unwrap().reason.name(), "history_limit");
    assert!(
        run.state.version <= limit::HISTORY_EVENTS_MAX,
        "{}",
        run.state.version
    );
}

#[test]
fn the_bytes_of_foreign_values_count_as_well() {
    let large = Outcome::Succeeded(json(&format!("\"{}\"", "x".repeat(1_000_000))));
    let steps: Vec<String> = (0..20).map(|n| format!("s{n:02}")).collect();
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let mut run = Run::of(&steps);
    for step in steps {
        if let Some(attempt) = live(&run, step) {
            send(&mut run, stray(step, attempt, large.clone()));
        }
    }
    assert_eq!(run.letter().unwrap().reason.name(), "history_limit");
    assert!(run.state.history_bytes < limit::HISTORY_BYTES_MAX + 1_000_100);
}

#[test]
fn a_history_of_many_retries_ends_at_the_limit() {
    const STEPS: u64 = 260;
    let ids: Vec<String> = (0..STEPS).map(|n| format!("s{n:03}")).collect();
    let steps: Vec<String> = ids.iter().map(|id| format!("{id} | needs: []")).collect();
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let head = "retry: {maxRetries: 10, jitter: none, initialDelay: 0s}";
    let mut run = Run::with(head, &steps, "{}");
    for _ in 0..=10 {
        for id in &ids {
            if let Some(attempt) = live(&run, id) {
                send(
                    &mut run,
                    stray(id, attempt, Outcome::Failed(failure("503"))),
                );
            }
        }
    }
    assert_eq!(run.letter().unwrap().reason.name(), "history_limit");
    // Siblings in flight when the limit is met are still recorded, three events each at most.
    assert!(
        run.state.version <= limit::HISTORY_EVENTS_MAX + 3 * STEPS,
        "{}",
        run.state.version
    );
}
