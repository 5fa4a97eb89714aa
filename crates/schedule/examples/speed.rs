//! What the questions of a schedule cost: `cargo run --release -p refire-schedule --example speed`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use refire_schedule::{Schedule, ScheduleSettings};

/// Rounds per figure; the median one counts, so that a busy machine disturbs little.
const ROUNDS: usize = 21;
/// Questions per round.
const QUESTIONS: u32 = 1_000;
/// Moments are asked about at this distance, so that a round covers a year.
const APART: Duration = Duration::from_secs(31_557);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let begin: Timestamp = "2026-01-01T00:00:00Z".parse()?;
    let end: Timestamp = "2036-01-01T00:00:00Z".parse()?;
    println!(
        "{:<24} {:<20} {:>10} {:>10} {:>12} {:>12}",
        "expression", "zone", "next", "previous", "10-year count", "slots"
    );
    for expression in [
        "* * * * *",
        "*/15 * * * *",
        "30 2 * * *",
        "*/15 9-17 * * MON-FRI",
        "0 9 * * MON#2",
        "0 0 LW * *",
        "0 0 1 1 *",
        "0 0 29 2 *",
    ] {
        for zone in [
            "UTC",
            "America/New_York",
            "Africa/Casablanca",
            "Asia/Taipei",
        ] {
            let settings = ScheduleSettings::cron(expression).timezone(zone);
            let schedule = Schedule::new(&settings)?;
            let next = each(begin, |at| schedule.next(at));
            let previous = each(begin, |at| schedule.previous(at));
            let began = Instant::now();
            let slots = black_box(&schedule).count(begin, end);
            let count = began.elapsed();
            println!(
                "{expression:<24} {zone:<20} {:>7} ns {:>7} ns {:>10} ns {slots:>12}",
                next.as_nanos(),
                previous.as_nanos(),
                count.as_nanos(),
            );
        }
    }
    let schedule = Schedule::new(&ScheduleSettings::cron("* * * * *").timezone("Europe/Warsaw"))?;
    let began = Instant::now();
    let walked = schedule.slots(begin, end).count();
    println!("walking {walked} slots of ten years: {:?}", began.elapsed());
    println!("a schedule takes {} bytes", size_of::<Schedule>());
    Ok(())
}

/// The mean time of a question in the median round.
fn each<T>(begin: Timestamp, ask: impl Fn(Timestamp) -> T) -> Duration {
    let mut rounds = [Duration::ZERO; ROUNDS];
    for round in &mut rounds {
        let mut at = begin;
        let began = Instant::now();
        for _ in 0..QUESTIONS {
            black_box(ask(black_box(at)));
            at += APART;
        }
        *round = began.elapsed() / QUESTIONS;
    }
    rounds.sort_unstable();
    rounds[ROUNDS / 2]
}
