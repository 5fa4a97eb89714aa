//! Many seeds on all cores, and what they came to.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use refire_store::model::Disk;

use crate::mark::Marks;
use crate::regressions;
use crate::run::{Outcome, run};
use crate::world::LINES_SHOWN;

/// Seeds of a plain run.
const SEEDS_DEFAULT: u64 = 1_000;
/// So many seeds are run twice, and of the others one in so many.
const SEEDS_TWICE_MAX: u64 = 10_000;
const TWICE_EVERY: u64 = 10;
/// Fewer seeds than this need not reach every mark.
const SEEDS_FOR_MARKS: u64 = 1_000;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a number")),
    )
}

/// What a failure looks like.
fn report(seed: u64, outcome: &Outcome) -> String {
    let mut text = format!("SEED={seed}, {} lives\n", outcome.lives);
    for line in &outcome.trace {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(violation) = &outcome.violation {
        let _ = writeln!(text, "SEED={seed}: {violation}\n{}", again(seed));
    }
    text
}

/// How to see a failure again.
fn again(seed: u64) -> String {
    format!("run it again: SEED={seed} cargo test --package refire-engine --test sim seeds")
}

/// Runs a seed, twice if it is to be shown that it does the same again.
fn try_out(seed: u64, is_twice: bool) -> Result<Outcome, String> {
    let outcome = run(seed, Disk::new(), LINES_SHOWN);
    if outcome.violation.is_some() {
        return Err(report(seed, &outcome));
    }
    if !is_twice || run(seed, Disk::new(), LINES_SHOWN).hash == outcome.hash {
        return Ok(outcome);
    }
    let (first, second) = (
        run(seed, Disk::new(), usize::MAX).trace,
        run(seed, Disk::new(), usize::MAX).trace,
    );
    let mut text = format!("SEED={seed} does not do the same twice\n");
    let differ = first.iter().zip(&second).position(|(a, b)| a != b);
    let from = differ.unwrap_or_else(|| first.len().min(second.len()));
    for line in &first[from.saturating_sub(10)..from] {
        let _ = writeln!(text, "  {line}");
    }
    let _ = writeln!(text, "- {:?}\n+ {:?}", first.get(from), second.get(from));
    let _ = writeln!(text, "{}", again(seed));
    Err(text)
}

/// What many seeds came to.
#[derive(Default)]
struct Tally {
    marks: Marks,
    lives: u64,
    executions: u64,
    failure: Option<String>,
}

/// Runs this many seeds from `first` on, and those that failed once, on all cores.
fn try_out_all(first: u64, count: u64) -> Tally {
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let tally = Mutex::new(Tally::default());
    let kept = regressions::SEEDS.len() as u64;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count + kept {
                break;
            }
            let known = usize::try_from(index).ok();
            let known = known.and_then(|index| regressions::SEEDS.get(index).copied());
            let seed = known.unwrap_or_else(|| first + index.saturating_sub(kept));
            let is_twice = index < SEEDS_TWICE_MAX || index.is_multiple_of(TWICE_EVERY);
            let result = try_out(seed, is_twice);
            let mut tally = tally.lock().unwrap();
            match result {
                Ok(outcome) => {
                    tally.marks.add(&outcome.marks);
                    tally.lives += u64::from(outcome.lives);
                    tally.executions += outcome.executions as u64;
                }
                Err(text) => {
                    stop.store(true, Ordering::Relaxed);
                    tally.failure.get_or_insert(text);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(work);
        }
    });
    tally.into_inner().unwrap()
}

#[test]
fn every_promise_holds_in_every_seed() {
    if let Some(seed) = number("SEED") {
        let outcome = run(seed, Disk::new(), usize::MAX);
        println!("{}", report(seed, &outcome));
        assert!(outcome.violation.is_none(), "SEED={seed} failed");
        if let Err(text) = try_out(seed, true) {
            panic!("\n{text}");
        }
        return;
    }
    let count = number("SEEDS").unwrap_or(SEEDS_DEFAULT);
    let began = Instant::now();
    let tally = try_out_all(number("FIRST").unwrap_or(0), count);
    if let Some(failure) = tally.failure {
        panic!("\n{failure}");
    }
    println!(
        "{count} seeds, {} lives, {} executions in {:.1} s",
        tally.lives,
        tally.executions,
        began.elapsed().as_secs_f64()
    );
    let missing = tally.marks.missing();
    if count >= SEEDS_FOR_MARKS {
        assert!(
            missing.is_empty(),
            "{count} seeds never reached {missing:?}"
        );
    } else {
        println!("not reached: {missing:?}");
    }
}
