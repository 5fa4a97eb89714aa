//! What holds for every workflow and every sequence of commands, sensible or not.
//!
//! The run checks itself after each command (see `decide/tests/fixture.rs`): the log folds to the
//! state, numbers and times are in order, nothing follows the end, and, above all, every live
//! step has exactly its work. Here random workflows and commands are fed to it.

mod arbitrary;
mod moves;

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::Config;

use self::arbitrary::any_event;
use self::moves::{Begins, Flow, any_flow, any_moves, finish, play};
use super::decide::tests::fixture::{BEGINNING, Run, plain_start};
use super::decide::{Start, decide};
use super::event::{Event, EventKind, Lineage};
use super::replay::replay;
use super::{Execution, Status, TriggerKind, apply, fold};
use crate::id::DlqId;

/// Enough to find planted defects in every run, few enough for a test that runs on every change;
/// `PROPTEST_CASES` asks for more.
fn config() -> Config {
    let usual = Config::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() {
        usual.cases
    } else {
        200
    };
    Config { cases, ..usual }
}

fn run_of(flow: &Flow, seed: u64) -> Run {
    let usual = plain_start(&flow.input);
    let start = match flow.begins {
        Begins::AtOnce => Start { seed, ..usual },
        Begins::Later => {
            let delay_until = Some(BEGINNING.plus(Duration::from_secs(60)));
            Start {
                seed,
                delay_until,
                ..usual
            }
        }
        Begins::FromALetter => {
            let letter = Some(DlqId::from_bytes([8; 16]));
            let lineage = Lineage {
                letter,
                ..usual.lineage
            };
            Start {
                seed,
                lineage,
                automatic_retries: false,
                ..usual
            }
        }
    };
    let mut run = Run::start(flow.workflow(), start);
    run.replays = false;
    run
}

/// Attempts of each step are 1..n without gaps, and no more than the policy and the losses allow.
fn check_attempts(run: &Run) {
    for (id, step) in &run.state.steps {
        let of_step = |event: &&Event| event.step.as_ref() == Some(id);
        let scheduled: Vec<u32> = run
            .log
            .iter()
            .filter(of_step)
            .filter(|event| {
                matches!(
                    event.kind,
                    EventKind::StepScheduled(_)
                        | EventKind::RetryScheduled(_)
                        | EventKind::CompensationStarted(_)
                )
            })
            .filter_map(|event| event.attempt)
            .collect();
        let expected: Vec<u32> = (1..=step.attempt).collect();
        assert_eq!(scheduled, expected, "{}", run.events());
        let is_loss = |event: &&Event| matches!(event.kind, EventKind::StepLost(_));
        let losses = run.log.iter().filter(of_step).filter(is_loss).count();
        let (index, _) = run.workflow.step(id.as_ref()).unwrap();
        let task = run.workflow.steps[index].kind.external_task();
        let retries = match task {
            Some(task) => task.retries as usize - 1,
            None => run.workflow.retry_for(index, None).policy.max_retries as usize,
        };
        assert!(
            step.attempt as usize <= retries + 1 + losses,
            "{}",
            run.events()
        );
    }
}

/// What the store gives back is what was written.
fn check_codec(run: &Run) {
    let stored: Vec<Event> = run
        .log
        .iter()
        .map(|event| Event::decode(&event.encode()).unwrap())
        .collect();
    assert_eq!(stored, run.log);
    assert_eq!(fold(&stored), run.state);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn whatever_is_sent_the_invariants_hold(flow in any_flow(), moves in any_moves(), seed: u64) {
        let mut run = run_of(&flow, seed);
        play(&mut run, &moves);
        check_attempts(&run);
        check_codec(&run);
        run.check_replay();
    }

    #[test]
    fn whatever_happened_the_execution_can_be_brought_to_an_end(
        flow in any_flow(),
        moves in any_moves(),
        seed: u64,
    ) {
        let mut run = run_of(&flow, seed);
        play(&mut run, &moves);
        finish(&mut run);
        prop_assert!(run.state.status.is_terminal(), "{}", run.events());
        prop_assert!(run.work.rows().next().is_none());
        check_attempts(&run);
        run.check_replay();
    }

    #[test]
    fn the_same_seed_and_commands_give_the_same_log(
        flow in any_flow(),
        moves in any_moves(),
        seed: u64,
    ) {
        let (mut one, mut other) = (run_of(&flow, seed), run_of(&flow, seed));
        play(&mut one, &moves);
        play(&mut other, &moves);
        prop_assert_eq!(&one.log, &other.log);
        prop_assert_eq!(one.state, other.state);
    }

    #[test]
    fn another_seed_shows_only_where_jitter_was_drawn(
        flow in any_flow(),
        moves in any_moves(),
        seed: u64,
    ) {
        let mut run = run_of(&flow, seed);
        play(&mut run, &moves);
        let mut log = run.log.clone();
        if let EventKind::ExecutionStarted(started) = &mut log[0].kind {
            started.seed = !seed;
        }
        let found = replay(&run.workflow, &log).first_difference;
        let Some(difference) = found else { return Ok(()) };
        prop_assert!(flow.has_jitter(), "{difference}");
        let recorded = difference.recorded.unwrap();
        if recorded.kind.name() == "STEP_FAILED" {
            // Another wait may be too long for the time limit, or just short enough for it.
            prop_assert!(flow.has_time_limit());
        } else {
            prop_assert_eq!(recorded.kind.name(), "RETRY_SCHEDULED");
            prop_assert_ne!(recorded.backoff_ms, difference.derived.unwrap().backoff_ms);
        }
    }

    #[test]
    fn folding_is_total_and_deciding_does_not_panic_on_what_it_gives(
        flow in any_flow(),
        moves in any_moves(),
        events in prop::collection::vec(any_event(), 1..12),
        sensible_first: bool,
    ) {
        let mut run = run_of(&flow, 7);
        let mut state = Execution::empty();
        if sensible_first {
            play(&mut run, &moves);
            state = run.state.clone();
        }
        for event in &events {
            state = apply(state, event);
            for command in moves::every_command() {
                // Damaged logs may be refused or lead anywhere, but not to a crash.
                let _ = decide(&run.workflow, &state, command, BEGINNING);
            }
        }
        let _ = replay(&run.workflow, &events);
    }

    #[test]
    fn every_event_survives_its_row(event in any_event()) {
        let row = event.encode();
        let read = Event::decode(&row).unwrap();
        prop_assert_eq!(&read, &event);
        prop_assert_eq!(read.encode(), row);
    }

    #[test]
    fn a_snapshot_in_the_middle_changes_nothing(
        flow in any_flow(),
        moves in any_moves(),
        cut in 0usize..40,
    ) {
        let mut run = run_of(&flow, 3);
        play(&mut run, &moves);
        let cut = cut.min(run.log.len());
        let (before, after) = run.log.split_at(cut);
        let text = serde_json::to_string(&fold(before)).unwrap();
        let restored: Execution = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(after.iter().fold(restored, apply), run.state);
    }
}

#[test]
fn an_unknown_type_or_version_is_kept_raw_and_folded_over() {
    let mut run = Run::of(&["a"]);
    run.ok("a", "1");
    let mut row = run.log[1].encode();
    for (name, v) in [("BREAKER_OPENED", 1), ("STEP_SCHEDULED", 2)] {
        row.name = name.into();
        row.v = v;
        row.payload = br#"{"later":[1,2]}"#.to_vec();
        let event = Event::decode(&row).unwrap();
        assert!(matches!(&event.kind, EventKind::Unknown(_)));
        assert_eq!(event.encode(), row);
        let folded = apply(run.state.clone(), &event);
        assert_eq!(
            (folded.steps, folded.status),
            (run.state.steps.clone(), run.state.status)
        );
    }
}

#[test]
fn a_damaged_row_says_which_it_is() {
    let run = Run::of(&["a"]);
    let mut row = run.log[1].encode();
    row.payload = b"{".to_vec();
    let error = Event::decode(&row).unwrap_err();
    assert_eq!(
        error.to_string(),
        "event 2 of type STEP_SCHEDULED cannot be read"
    );
    let mut row = run.log[1].encode();
    row.step = Some("no such/name".to_owned());
    assert!(Event::decode(&row).is_err());
}

/// The word that serde writes.
fn stored(word: &impl serde::Serialize) -> String {
    serde_json::to_string(word).unwrap().replace('"', "")
}

#[test]
fn the_words_that_are_stored_are_the_words_that_are_shown() {
    for status in Status::ALL {
        assert_eq!(stored(&status), status.name());
        assert_eq!(Status::from_name(status.name()), Some(status));
    }
    for kind in [
        TriggerKind::Manual,
        TriggerKind::ManualDlqRetry,
        TriggerKind::Cron,
        TriggerKind::Schedule,
        TriggerKind::Webhook,
        TriggerKind::Amqp,
    ] {
        assert_eq!(stored(&kind), kind.name());
    }
    assert_eq!(Status::from_name("nonsense"), None);
}

#[test]
fn every_type_has_a_name_of_its_own() {
    let mut names = EventKind::NAMES.to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), EventKind::NAMES.len());
    let is_shouted = |name: &&str| name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    assert!(names.iter().all(is_shouted));
}
