//! Is the simulation any good? Defects are switched on one by one, and the seeds must find each.

use std::sync::Arc;

use refire_core::planted::{Defect, choose};
use refire_store::model::Disk;

use crate::run::run;
use crate::world::LINES_SHOWN;

/// A defect must be found within so many seeds.
const SEEDS_MAX: u64 = 1_000;
/// Commits that a lazy disk answers before it makes them durable.
const LAZY_COMMITS: u32 = 5;

/// Runs seeds with this defect until one of these checks notices.
fn is_found(defect: Option<Defect>, disk: fn() -> Arc<Disk>, checks: &[&str]) {
    for seed in 0..SEEDS_MAX {
        choose(defect);
        let outcome = run(seed, disk(), LINES_SHOWN);
        choose(None);
        let Some(violation) = outcome.violation else {
            continue;
        };
        println!("{defect:?} is found by seed {seed}: {}", violation.check);
        assert!(
            checks.contains(&violation.check),
            "SEED={seed} finds something else with {defect:?}: {violation}"
        );
        return;
    }
    panic!("{SEEDS_MAX} seeds do not find {defect:?}");
}

#[test]
fn an_answer_before_its_commit_is_found() {
    let checks = ["no answer before it is durable"];
    is_found(Some(Defect::AnswerBeforeCommit), Disk::new, &checks);
}

#[test]
fn a_timer_without_a_row_is_found() {
    let checks = ["live steps have their work rows"];
    is_found(Some(Defect::TimerRowLost), Disk::new, &checks);
}

#[test]
fn a_timer_that_nobody_waits_for_is_found() {
    let checks = [
        "everything comes to its end",
        "work begins on time",
        "nothing waits while nothing runs",
    ];
    is_found(Some(Defect::TimerForgotten), Disk::new, &checks);
}

#[test]
fn an_attempt_that_is_counted_late_is_found() {
    let checks = [
        "live steps have their work rows",
        "a task begins after its beginning is durable",
        "a deadly step is given up",
    ];
    is_found(Some(Defect::AttemptCountedLate), Disk::new, &checks);
}

#[test]
fn a_snapshot_beside_the_log_is_found() {
    let checks = ["the fold of the log is the stored state"];
    is_found(Some(Defect::SnapshotBesideLog), Disk::new, &checks);
}

#[test]
fn a_letter_in_a_second_commit_is_found() {
    let checks = ["a letter and its execution agree"];
    is_found(Some(Defect::LetterInSecondCommit), Disk::new, &checks);
}

#[test]
fn jitter_that_is_rolled_again_is_found() {
    let checks = ["replay is identical"];
    is_found(Some(Defect::JitterRolledAgain), Disk::new, &checks);
}

#[test]
fn an_unknown_end_that_is_answered_as_none_is_found() {
    let checks = [
        "one execution per answer",
        "a refusal changes nothing",
        "the fold of the log is the stored state",
        "a store without faults works",
        "everything comes to its end",
    ];
    is_found(Some(Defect::UnknownSaysRefused), Disk::new, &checks);
}

#[test]
fn losses_that_are_not_counted_are_found() {
    let checks = ["a deadly step is given up"];
    is_found(Some(Defect::LossForgotten), Disk::new, &checks);
}

#[test]
fn a_wake_up_that_is_lost_is_found() {
    let checks = ["work begins on time", "nothing waits while nothing runs"];
    is_found(Some(Defect::WakeUpLost), Disk::new, &checks);
}

#[test]
fn a_disk_that_lies_is_found() {
    let checks = [
        "no answer before it is durable",
        "no call before its commit",
    ];
    is_found(None, || Disk::new_lazy(LAZY_COMMITS), &checks);
}
