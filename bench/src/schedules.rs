//! What it costs to ask a schedule when it is due next.

use std::hint::black_box;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use refire_schedule::{Schedule, ScheduleSettings};

use crate::line::{Goal, Line};
use crate::sample::Repeats;

const REPEATS: usize = 21;
/// Questions of one repeat.
const QUESTIONS: u32 = 1_000;
/// Moments are asked about at this distance, so that a repeat covers a year.
const APART: Duration = Duration::from_secs(31_557);
const EXPRESSIONS: [&str; 8] = [
    "* * * * *",
    "*/15 * * * *",
    "30 2 * * *",
    "*/15 9-17 * * MON-FRI",
    "0 9 * * MON#2",
    "0 0 LW * *",
    "0 0 1 1 *",
    "0 0 29 2 *",
];
const ZONES: [&str; 4] = [
    "UTC",
    "America/New_York",
    "Africa/Casablanca",
    "Asia/Taipei",
];

/// Prints `schedule next`, each expression in the zone where it takes longest.
pub(crate) fn report() -> anyhow::Result<()> {
    let begin: Timestamp = "2026-01-01T00:00:00Z".parse()?;
    for expression in EXPRESSIONS {
        let mut slowest = ("", Repeats::default());
        for zone in ZONES {
            let schedule = Schedule::new(&ScheduleSettings::cron(expression).timezone(zone))?;
            let repeats: Repeats = (0..REPEATS).map(|_| mean_ns(&schedule, begin)).collect();
            if slowest.0.is_empty() || repeats.median() > slowest.1.median() {
                slowest = (zone, repeats);
            }
        }
        Line::new("schedule", "next")
            .word("expression", expression.replace(' ', "_"))
            .word("zone", slowest.0)
            .figure("ns", &slowest.1)
            .goal("ns", Goal::Below(5_000.0))
            .print();
    }
    Ok(())
}

fn mean_ns(schedule: &Schedule, begin: Timestamp) -> f64 {
    let mut at = begin;
    let began = Instant::now();
    for _ in 0..QUESTIONS {
        black_box(black_box(schedule).next(black_box(at)));
        at += APART;
    }
    began.elapsed().as_secs_f64() * 1e9 / f64::from(QUESTIONS)
}
