//! Each named history is played twice with the same seed and must come out the same, to the
//! last delay, and must be derived again from its log without a difference.

use super::histories::{SCENARIOS, Scenario};
use crate::execution::decide::Start;
use crate::execution::decide::tests::fixture::{Run, plain_start, workflow};
use crate::execution::event::EventKind;
use crate::execution::replay::replay;

fn play(scenario: &Scenario, seed: u64) -> Run {
    let start = Start {
        seed,
        ..plain_start(r#"{"n":1}"#)
    };
    let mut run = Run::start(
        workflow("retry: {jitter: proportional}", scenario.steps),
        start,
    );
    (scenario.script)(&mut run);
    run
}

#[test]
fn every_history_ends_as_it_should() {
    for scenario in SCENARIOS {
        let run = play(scenario, 1);
        let found = (run.status(), run.delays().len());
        assert_eq!(
            found,
            (scenario.status, scenario.delays),
            "{}",
            scenario.name
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_events_and_delays() {
    for scenario in SCENARIOS {
        for seed in [0, 1, u64::MAX] {
            let (one, other) = (play(scenario, seed), play(scenario, seed));
            assert_eq!(one.log, other.log, "{}", scenario.name);
            assert_eq!(one.delays(), other.delays());
        }
    }
}

#[test]
fn every_log_is_derived_again_also_after_it_was_stored() {
    for scenario in SCENARIOS {
        let run = play(scenario, 7);
        let stored: Vec<_> = run
            .log
            .iter()
            .map(|event| crate::execution::Event::decode(&event.encode()).unwrap())
            .collect();
        let replay = replay(&run.workflow, &stored);
        assert!(
            replay.is_identical(),
            "{}: {:?}",
            scenario.name,
            replay.first_difference
        );
        assert_eq!(replay.events, run.log.len() as u64);
        assert_eq!(replay.state, run.state);
    }
}

#[test]
fn every_beginning_of_a_log_is_derived_again_where_a_commit_ended() {
    for scenario in SCENARIOS {
        let run = play(scenario, 7);
        let mut last_commit = 0;
        for end in 1..=run.log.len() {
            let found = replay(&run.workflow, &run.log[..end]);
            match found.first_difference {
                None => last_commit = end as u64,
                // A commit is whole or not there at all: half of one is a difference in it.
                Some(difference) => {
                    assert!(difference.sequence > last_commit, "{}", scenario.name);
                    assert_eq!(found.events + 1, difference.sequence);
                }
            }
        }
        assert_eq!(last_commit, run.log.len() as u64, "{}", scenario.name);
    }
}

#[test]
fn a_log_with_another_seed_differs_in_its_first_wait_and_nowhere_before() {
    for scenario in SCENARIOS {
        let mut run = play(scenario, 7);
        let asked = run.delays().contains(&90_000);
        if let EventKind::ExecutionStarted(started) = &mut run.log[0].kind {
            started.seed = 8;
        }
        let first_wait = run.log.iter().find(|event| event.backoff_ms.is_some());
        let found = replay(&run.workflow, &run.log).first_difference;
        let expected = if asked {
            None
        } else {
            first_wait.map(|event| event.sequence)
        };
        assert_eq!(
            found.map(|difference| difference.sequence),
            expected,
            "{}",
            scenario.name
        );
    }
}

#[test]
fn there_are_enough_of_them_and_their_names_are_their_own() {
    let mut names: Vec<_> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), SCENARIOS.len());
    assert!(names.len() >= 20);
}
