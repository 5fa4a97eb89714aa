//! What a node saw of a target in the last minute: plain counting in a ring of short stretches.

use std::time::Duration;

use super::Verdict;
use crate::time::Timestamp;

/// How far back a breaker looks.
pub const WINDOW: Duration = Duration::from_secs(30);
/// How far back the wait before a retry looks.
const MINUTE: Duration = Duration::from_secs(60);
/// How long a stretch of the ring is.
const STRETCH: Duration = Duration::from_secs(5);
/// Stretches of the ring: a minute.
const STRETCHES: usize = 12;

/// Failures in a row that open a breaker.
const IN_A_ROW: u32 = 5;
/// Calls that a share is worth taking of.
const CALLS_MIN: u32 = 10;
/// The longest wait that a target which fails asks for.
pub const BACKOFF_MAX: Duration = Duration::from_secs(20);

/// See the module.
#[derive(Debug, Clone, Default)]
pub struct Window {
    ring: [Stretch; STRETCHES],
    /// Failures since the last answer.
    in_a_row: u32,
    /// When the last of them was.
    last_bad: Option<Timestamp>,
    /// When a call was seen last.
    last: Option<Timestamp>,
}

/// Calls of five seconds.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    /// Which five seconds since 1970.
    number: i64,
    good: u32,
    bad: u32,
    limited: u32,
}

/// Calls of a while.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// All of them.
    pub calls: u32,
    /// Those that say that the target fails.
    pub failed: u32,
    /// Those that it answered with a wish for fewer.
    pub limited: u32,
}

/// Why a breaker opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trip {
    /// So many calls in a row failed.
    InARow(u32),
    /// So many of so many failed.
    Share(u32, u32),
}

impl std::fmt::Display for Trip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InARow(failed) => write!(f, "{failed} calls in a row failed"),
            Self::Share(failed, calls) => write!(f, "{failed} of {calls} calls failed"),
        }
    }
}

impl Window {
    /// Notes a call that has ended.
    pub fn note(&mut self, verdict: Verdict, now: Timestamp) {
        let number = number(now);
        let place = usize::try_from(number.rem_euclid(STRETCHES as i64)).unwrap_or(0);
        let stretch = &mut self.ring[place];
        if stretch.number != number {
            *stretch = Stretch {
                number,
                ..Stretch::default()
            };
        }
        match verdict {
            Verdict::Good => {
                stretch.good = stretch.good.saturating_add(1);
                self.in_a_row = 0;
            }
            Verdict::Bad => {
                stretch.bad = stretch.bad.saturating_add(1);
                let is_old = self.last_bad.is_some_and(|last| now.since(last) > WINDOW);
                self.in_a_row = if is_old { 1 } else { self.in_a_row + 1 };
                self.last_bad = Some(now);
            }
            Verdict::Limited => stretch.limited = stretch.limited.saturating_add(1),
            Verdict::Nothing => return,
        }
        self.last = Some(now);
    }

    /// Why the breaker is to open, if it is.
    #[must_use]
    pub fn trips(&self, now: Timestamp) -> Option<Trip> {
        if self.in_a_row >= IN_A_ROW {
            return Some(Trip::InARow(self.in_a_row));
        }
        let Figures { calls, failed, .. } = self.figures(now);
        let is_most = calls >= CALLS_MIN && failed.saturating_mul(2) >= calls;
        is_most.then_some(Trip::Share(failed, calls))
    }

    /// Calls of the last half minute, or a little less.
    #[must_use]
    pub fn figures(&self, now: Timestamp) -> Figures {
        self.of_last(WINDOW, now)
    }

    /// How long an attempt that failed just now leaves the target alone at least, because most calls of the
    /// last minute did not succeed: the fewer do, the longer.
    #[must_use]
    pub fn backoff(&self, now: Timestamp) -> Option<Duration> {
        let figures = self.of_last(MINUTE, now);
        let calls = u64::from(figures.calls);
        let good = u64::from(figures.calls - figures.failed - figures.limited);
        if figures.calls < CALLS_MIN || good * 2 >= calls {
            return None;
        }
        // One second divided by (share + 0.05), in whole numbers.
        let millis = 20_000 * calls / (20 * good + calls);
        Some(Duration::from_millis(millis).min(BACKOFF_MAX))
    }

    /// Whether nothing of it counts any more.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.last.is_none_or(|last| now.since(last) > MINUTE)
    }

    fn of_last(&self, while_of: Duration, now: Timestamp) -> Figures {
        let last = number(now);
        let first = last - i64::try_from(while_of.as_secs() / STRETCH.as_secs()).unwrap_or(0);
        let counts = |stretch: &&Stretch| (first + 1..=last).contains(&stretch.number);
        let mut figures = Figures::default();
        for stretch in self.ring.iter().filter(counts) {
            figures.failed = figures.failed.saturating_add(stretch.bad);
            figures.limited = figures.limited.saturating_add(stretch.limited);
            let calls = stretch.good.saturating_add(stretch.bad);
            figures.calls = figures
                .calls
                .saturating_add(calls.saturating_add(stretch.limited));
        }
        figures
    }
}

fn number(now: Timestamp) -> i64 {
    let stretch = i64::try_from(STRETCH.as_micros()).unwrap_or(i64::MAX);
    now.as_micros().div_euclid(stretch)
}
