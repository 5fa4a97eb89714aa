//! Targets that die and come back, in worlds of their own: one node, two or three, which are killed, cut off from
//! news and refused commits, call two hosts that are down for a while. What must hold:
//!
//! - an open host gets only the call that tries it, and at most one over all nodes;
//! - what is parked uses up no attempt: every failure in a log is a call that failed;
//! - calls return no faster than the ramp;
//! - when the hosts are back, everything comes to its end, and so does every breaker.
//!
//! `SEED=n cargo test --package refire-engine --test sim outage` runs one world again.

mod world;

use refire_core::planted::{Defect, choose};
use world::{Broken, play};

/// Worlds of a plain run.
const SEEDS: u64 = 12;
/// A defect must be found within so many.
const SEEDS_MAX: u64 = 40;

#[test]
fn hosts_that_are_down_are_left_alone_and_nothing_is_lost() {
    let only = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let count = std::env::var("SEEDS")
        .ok()
        .and_then(|seeds| seeds.parse().ok());
    let seeds = match only {
        Some(seed) => seed..seed + 1,
        None => 0..count.unwrap_or(SEEDS),
    };
    let mut tried = 0;
    for seed in seeds {
        match play(seed) {
            Ok(probes) => tried += probes,
            Err(Broken { check, what }) => panic!("SEED={seed}: {check}: {what}"),
        }
    }
    assert!(tried > 0 || only.is_some(), "no host was ever tried");
}

/// Runs worlds with this defect until one of these checks notices.
fn is_found(defect: Defect, checks: &[&str]) {
    for seed in 0..SEEDS_MAX {
        choose(Some(defect));
        let played = play(seed);
        choose(None);
        if let Err(Broken { check, what }) = played {
            println!("{defect:?} is found by seed {seed}: {check}: {what}");
            assert!(checks.contains(&check), "{check}: {what}");
            return;
        }
    }
    panic!("{SEEDS_MAX} seeds do not find {defect:?}");
}

#[test]
fn a_host_that_two_try_is_found() {
    is_found(Defect::ProbeTwice, &["one call tries an open host"]);
}

#[test]
fn parked_work_that_uses_up_attempts_is_found() {
    is_found(Defect::ParkedCounted, &["every failure is a call"]);
}

#[test]
fn a_try_that_nobody_hears_of_is_found() {
    let checks = ["everything comes to its end", "every breaker closes"];
    is_found(Defect::ProbeNeverReported, &checks);
}

#[test]
fn calls_that_return_all_at_once_are_found() {
    is_found(Defect::RampIgnored, &["calls return by the ramp"]);
}
