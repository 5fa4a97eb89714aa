//! Is the simulation any good? Defects are switched on one by one, and the seeds must find each.

use std::sync::Arc;

use refire_core::planted::{Defect, choose};
use refire_store::model::Disk;

use crate::plan::{Nodes, Plan};
use crate::run::run;
use crate::world::LINES_SHOWN;

/// A defect must be found within so many seeds.
const SEEDS_MAX: u64 = 1_000;
/// So many seeds of each kind must find again what was forgotten, and come to their end.
const HEALED_SEEDS: usize = 12;
/// Commits that a lazy disk answers before it makes them durable.
const LAZY_COMMITS: u32 = 5;

/// Runs seeds with this defect until one of these checks notices.
fn is_found(defect: Option<Defect>, disk: fn() -> Arc<Disk>, checks: &[&str]) {
    is_found_in(0..SEEDS_MAX, defect, disk, checks);
}

/// The same with a defect that needs several nodes.
fn is_found_among_nodes(defect: Defect, checks: &[&str]) {
    let seeds = (0..SEEDS_MAX).filter(|seed| Nodes::roll(*seed).count > 1);
    is_found_in(seeds, Some(defect), Disk::new, checks);
}

fn is_found_in(
    seeds: impl Iterator<Item = u64>,
    defect: Option<Defect>,
    disk: fn() -> Arc<Disk>,
    checks: &[&str],
) {
    for seed in seeds {
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
        "nothing is forgotten",
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
        "nothing is forgotten",
    ];
    is_found(Some(Defect::UnknownSaysRefused), Disk::new, &checks);
}

#[test]
fn losses_that_are_not_counted_are_found() {
    let checks = [
        "a deadly step is given up",
        // What is not lost keeps its number, so two nodes make the same attempt.
        "a node calls what it owns",
    ];
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

#[test]
fn commits_without_a_fence_are_found() {
    let checks = ["nothing is written without a lease"];
    is_found_among_nodes(Defect::FenceDropped, &checks);
}

#[test]
fn work_that_is_taken_from_the_living_is_found() {
    let checks = ["only the dead lose their work", "no call for what is over"];
    is_found_among_nodes(Defect::LivingOrphaned, &checks);
}

#[test]
fn a_reap_of_the_living_is_found() {
    let checks = ["only the silent are removed"];
    is_found_among_nodes(Defect::LivingReaped, &checks);
}

#[test]
fn a_result_that_counts_for_another_attempt_is_found() {
    // What is taken for a result may also end a wait too early; that is another check's to find, and
    // must not be what this one is proved by.
    let is_early = |seed: &u64| {
        choose(Some(Defect::LostResultTaken));
        let outcome = run(*seed, Disk::new(), LINES_SHOWN);
        choose(None);
        let check = outcome.violation.map(|violation| violation.check);
        check == Some("no timer fires before its time, unless somebody says so")
    };
    let seeds = (0..SEEDS_MAX).filter(|seed| Nodes::roll(*seed).count > 1 && !is_early(seed));
    let checks = ["a result is of its own attempt"];
    is_found_in(seeds, Some(Defect::LostResultTaken), Disk::new, &checks);
}

#[test]
fn clocks_that_are_not_compared_are_found() {
    let checks = [
        "no call before its time",
        "no slot fires before its time",
        "work begins on time",
        "no clock runs out before its time",
        "nobody gets a task before its time",
    ];
    is_found_among_nodes(Defect::ClockOffsetIgnored, &checks);
}

#[test]
fn an_id_that_is_used_again_is_found() {
    let checks = ["an id is used once"];
    is_found_among_nodes(Defect::IdUsedAgain, &checks);
}

#[test]
fn calls_without_a_lease_are_found() {
    let checks = ["no call without a lease"];
    is_found_among_nodes(Defect::CalledWithoutLease, &checks);
}

#[test]
fn calls_ahead_of_their_time_are_found() {
    let checks = [
        "no timer fires before its time, unless somebody says so",
        "no call before its time",
    ];
    is_found_among_nodes(Defect::CalledAhead, &checks);
}

#[test]
fn an_unknown_end_that_is_forgotten_is_found() {
    let checks = [
        "everything comes to its end",
        "a dead node's work begins elsewhere in time",
        "nothing is forgotten",
    ];
    is_found_among_nodes(Defect::UnknownForgotten, &checks);
}

#[test]
fn a_node_that_is_removed_late_is_found() {
    let checks = ["a dead node's work begins elsewhere in time"];
    is_found_among_nodes(Defect::ReapedLate, &checks);
}

#[test]
fn calls_that_go_on_without_a_lease_are_found() {
    let checks = ["a lost lease ends calls", "slots are given back"];
    is_found_among_nodes(Defect::CallsKept, &checks);
}

#[test]
fn calls_for_what_may_be_anothers_are_found() {
    let checks = ["a node calls what it owns", "one node calls an attempt"];
    is_found_among_nodes(Defect::CalledUnconfirmed, &checks);
}

#[test]
fn an_aborted_call_that_is_not_recorded_is_found() {
    let checks = ["every call is in the log"];
    is_found(Some(Defect::AbortUnrecorded), Disk::new, &checks);
}

#[test]
fn fires_that_are_not_compared_are_found() {
    let checks = [
        "a slot fires once",
        "the ledger is complete",
        "the ledger only grows",
        "the cursor never goes back",
        "what became of a slot has its reason",
        "a trigger waits for what it has started",
        "a trigger is looked at in time",
    ];
    is_found(Some(Defect::FireUncompared), Disk::new, &checks);
}

#[test]
fn a_slot_that_the_ledger_has_not_is_found() {
    let checks = ["the ledger is complete"];
    is_found(Some(Defect::SlotForgotten), Disk::new, &checks);
}

#[test]
fn an_end_that_a_trigger_is_not_told_of_is_found() {
    let checks = ["a trigger waits for what it has started"];
    is_found(Some(Defect::TriggerEndForgotten), Disk::new, &checks);
}

#[test]
fn a_key_that_a_request_does_not_claim_is_found() {
    let checks = ["one execution per answer"];
    is_found(Some(Defect::RequestKeyDropped), Disk::new, &checks);
}

/// The same with a defect that needs tasks.
fn is_found_with_tasks(defect: Defect, checks: &[&str]) {
    let seeds = (0..SEEDS_MAX).filter(|seed| !Plan::roll(*seed).workers.is_empty());
    is_found_in(seeds, Some(defect), Disk::new, checks);
}

#[test]
fn a_lock_that_is_not_compared_is_found() {
    let checks = [
        "only who has a task ends it",
        "an old lock counts for nothing",
        "a result is of its own attempt",
        "who repeats a call is told the same",
    ];
    is_found_with_tasks(Defect::TokenIgnored, &checks);
}

#[test]
fn a_lock_that_is_handed_out_early_is_found() {
    let checks = ["a lock is durable before it is handed out"];
    is_found_with_tasks(Defect::LockAnsweredEarly, &checks);
}

#[test]
fn a_heartbeat_that_is_not_written_is_found() {
    let checks = ["a heartbeat that is answered is durable"];
    is_found_with_tasks(Defect::HeartbeatUnwritten, &checks);
}

#[test]
fn a_clock_that_is_not_compared_is_found() {
    let checks = ["no clock runs out before its time"];
    is_found_with_tasks(Defect::ExpiryUncompared, &checks);
}

#[test]
fn a_lock_of_somebody_who_is_gone_is_found() {
    let checks = ["what reaches nobody goes back"];
    is_found_with_tasks(Defect::GoneClientKeepsLock, &checks);
}

#[test]
fn a_task_that_nobody_is_told_of_is_found() {
    let checks = ["no task is ready beside who waits"];
    is_found_with_tasks(Defect::TaskWakeLost, &checks);
}

#[test]
fn a_task_before_its_time_is_found() {
    let checks = ["nobody gets a task before its time"];
    is_found_with_tasks(Defect::DelayIgnored, &checks);
}

#[test]
fn a_task_of_a_paused_execution_is_found() {
    let checks = ["nobody gets what is held back"];
    is_found_with_tasks(Defect::HeldHandedOut, &checks);
}

#[test]
fn a_pause_that_takes_time_from_a_task_is_found() {
    let checks = ["a pause takes no time from a task"];
    is_found_with_tasks(Defect::TimeoutNotMoved, &checks);
}

#[test]
fn a_task_in_a_second_commit_is_found() {
    let checks = ["a task's row says what the log says"];
    is_found_with_tasks(Defect::TaskInSecondCommit, &checks);
}

#[test]
fn a_withdrawn_task_that_nobody_looks_at_is_found() {
    let checks = [
        "a task's row says what the log says",
        "a clock that has run out is looked at",
        "everything comes to its end",
    ];
    is_found_with_tasks(Defect::RetiredForgotten, &checks);
}

#[test]
fn a_repeated_call_that_is_refused_is_found() {
    let checks = ["who repeats a call is told the same"];
    is_found_with_tasks(Defect::PrevTokenForgotten, &checks);
}

/// The same with a defect that needs targets that call back.
fn is_found_with_callbacks(defect: Defect, checks: &[&str]) {
    let seeds = (0..SEEDS_MAX).filter(|seed| Plan::roll(*seed).has_callbacks());
    is_found_in(seeds, Some(defect), Disk::new, checks);
}

#[test]
fn a_second_last_word_is_found() {
    let checks = [
        "one last word ends an attempt",
        "nothing counts after the last word",
        "nothing is written after the last word",
    ];
    is_found_with_callbacks(Defect::FinalTwice, &checks);
}

#[test]
fn a_window_that_nobody_looks_at_is_found() {
    let checks = [
        "a window that is over is looked at",
        "everything comes to its end",
    ];
    is_found_with_callbacks(Defect::WindowForgotten, &checks);
}

#[test]
fn a_word_for_another_attempt_is_found() {
    let checks = [
        "a word is recorded for its own attempt",
        "nothing counts after the last word",
        "a result is of its own attempt",
    ];
    is_found_with_callbacks(Defect::LostTokenTaken, &checks);
}

#[test]
fn progress_after_the_end_is_found() {
    let checks = [
        "nothing is written after the last word",
        "nothing counts after the last word",
    ];
    is_found_with_callbacks(Defect::ProgressAfterEnd, &checks);
}

#[test]
fn a_cycle_that_is_counted_twice_is_found() {
    // Whatever has become of the task since: that may also be where its schedule stands.
    let checks = [
        "cycles are counted without gaps",
        "the cursor never goes back",
    ];
    is_found_with_callbacks(Defect::CycleTwice, &checks);
}

/// Runs seeds with a defect that makes nodes forget what they own: nothing of it stays forgotten, and
/// nothing is called twice because of it. What is found again is late, so only seeds that allow for
/// that will do.
fn is_healed(defect: Defect) {
    let may_be_late = |seed: &u64| {
        let plan = Plan::roll(*seed);
        !(plan.rates.is_calm() && plan.nodes.is_calm())
    };
    let (mut alone, mut together) = (0, 0);
    for seed in (0..SEEDS_MAX).filter(may_be_late) {
        let count = match Nodes::roll(seed).count {
            1 => &mut alone,
            _ => &mut together,
        };
        if *count >= HEALED_SEEDS {
            continue;
        }
        choose(Some(defect));
        let outcome = run(seed, Disk::new(), LINES_SHOWN);
        choose(None);
        if let Some(violation) = outcome.violation {
            panic!("SEED={seed} does not get over {defect:?}: {violation}");
        }
        *count += usize::from(outcome.found_again > 0);
    }
    assert!(
        alone >= HEALED_SEEDS && together >= HEALED_SEEDS,
        "of one node {alone} seeds, of several {together} found what was forgotten"
    );
}

#[test]
fn claims_that_are_forgotten_are_found_again() {
    is_healed(Defect::ClaimForgotten);
}

#[test]
fn attempts_that_are_forgotten_are_found_again() {
    is_healed(Defect::AttemptForgotten);
}

#[test]
fn claims_that_are_forgotten_for_good_are_found() {
    let checks = [
        "everything comes to its end",
        "a dead node's work begins elsewhere in time",
        "work begins on time",
        "nothing waits while nothing runs",
    ];
    is_found(Some(Defect::ClaimForgottenForGood), Disk::new, &checks);
}

#[test]
fn what_a_job_does_and_records_apart_is_found() {
    let checks = ["what a job does has its row", "a job does each thing once"];
    is_found(Some(Defect::BulkItemTwice), Disk::new, &checks);
}

#[test]
fn a_job_that_passes_things_before_they_are_done_is_found() {
    let checks = ["counts are rows"];
    is_found(Some(Defect::CursorBeforeItems), Disk::new, &checks);
}
