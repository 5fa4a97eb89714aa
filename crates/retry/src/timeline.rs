//! The simulator: what a policy would do if every attempt failed.
//!
//! For showing to people before they save a policy. It runs nothing and draws nothing: attempts count
//! as instantaneous, so the times are the waits alone.

use std::time::Duration;

use crate::policy::Policy;

/// How many retries a timeline lists at most; a policy with millions must not fill the memory of
/// whoever previews it.
pub const TIMELINE_RETRIES_MAX: u32 = 10_000;

/// What a policy would do if every attempt failed at once.
///
/// ```
/// use std::time::Duration;
/// use refire_retry::Policy;
///
/// let timeline = Policy::default().timeline();
/// let delays: Vec<u64> = timeline.retries.iter().map(|planned| planned.delay.as_secs()).collect();
/// assert_eq!(delays, [2, 4, 8, 16, 32]);
/// assert_eq!(timeline.total, Duration::from_secs(62));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// The retries, in order.
    pub retries: Vec<Planned>,
    /// All waits together, without jitter.
    pub total: Duration,
    /// The least that the listed waits can come to.
    pub total_min: Duration,
    /// The most that the listed waits can come to, and never more than the time limit.
    pub total_max: Duration,
    /// Why the list ends where it does.
    pub ending: Ending,
}

/// One retry of a [`Timeline`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Its number, from 1.
    pub retry: u32,
    /// The wait before it, without jitter.
    pub delay: Duration,
    /// The shortest that wait can be.
    pub min: Duration,
    /// The longest that wait can be.
    pub max: Duration,
    /// When it starts, counted from the first attempt, without jitter.
    pub at: Duration,
}

/// Why a [`Timeline`] ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The retries are used up.
    Attempts,
    /// The next retry would start after the time limit. Jitter can bring a real run one side or the
    /// other of that line, so it may make a few retries more or fewer than listed.
    Elapsed,
    /// There are more retries than [`TIMELINE_RETRIES_MAX`]; the totals count only those listed.
    Truncated,
}

impl Policy {
    /// What this policy would do if every attempt failed at once.
    pub fn timeline(&self) -> Timeline {
        let mut timeline = Timeline {
            retries: Vec::new(),
            total: Duration::ZERO,
            total_min: Duration::ZERO,
            total_max: Duration::ZERO,
            ending: Ending::Attempts,
        };
        for retry in 1..=self.max_retries {
            let range = self.range(retry);
            let at = timeline.total.saturating_add(range.nominal);
            if self.max_elapsed.is_some_and(|limit| at > limit) {
                timeline.ending = Ending::Elapsed;
                break;
            }
            if retry > TIMELINE_RETRIES_MAX {
                timeline.ending = Ending::Truncated;
                break;
            }
            let (min, max) = (range.min, range.max);
            timeline.retries.push(Planned {
                retry,
                delay: range.nominal,
                min,
                max,
                at,
            });
            timeline.total = at;
            timeline.total_min = timeline.total_min.saturating_add(min);
            timeline.total_max = timeline.total_max.saturating_add(max);
        }
        if let Some(limit) = self.max_elapsed {
            timeline.total_max = timeline.total_max.min(limit);
        }
        timeline
    }
}
