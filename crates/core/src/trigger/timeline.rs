//! The slots of a trigger in the moments that are stored.
//!
//! A schedule knows nanoseconds, what is stored are microseconds: a slot is stored as the first
//! microsecond that is not before it, so that (a, b] holds the same slots on both sides.
//!
//! The nominal time of a slot is its identity, the planned time is when it starts: later by its
//! jitter. Where slots are closer to each other than the window of the jitter, the delay is scaled
//! to their distance. So planned times have the order of nominal times, and whoever looks at one
//! slot knows about all before it.

use std::time::Duration;

use refire_schedule::jiff;
use refire_schedule::{Gap, Schedule, SkipReason, Slot};

use crate::time::Timestamp;

/// The smallest step of what is stored.
pub(super) const MICROSECOND: Duration = Duration::from_micros(1);

/// The slots of a trigger.
#[derive(Debug, Clone, Copy)]
pub struct Timeline<'a> {
    schedule: &'a Schedule,
    seed: u64,
}

impl<'a> Timeline<'a> {
    pub(super) fn new(schedule: &'a Schedule, seed: u64) -> Self {
        Self { schedule, seed }
    }

    /// The first slot after a moment.
    #[must_use]
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        self.slot_after(after).map(|slot| stored(slot.at))
    }

    pub(super) fn slot_after(&self, after: Timestamp) -> Option<Slot> {
        self.schedule.next(moment(after))
    }

    /// The last slot before a moment.
    #[must_use]
    pub fn previous(&self, before: Timestamp) -> Option<Timestamp> {
        let end = moment(before.minus(MICROSECOND)).checked_add(Duration::from_nanos(1));
        let slot = self.schedule.previous(end.ok()?)?;
        Some(stored(slot.at))
    }

    /// How many slots there are after a moment up to another.
    #[must_use]
    pub fn count(&self, after: Timestamp, until: Timestamp) -> u64 {
        self.schedule.count(moment(after), moment(until))
    }

    /// The slots after a moment up to another, from either end.
    pub fn slots(
        &self,
        after: Timestamp,
        until: Timestamp,
    ) -> impl DoubleEndedIterator<Item = Timestamp> + use<'a> {
        let slots = self.schedule.slots(moment(after), moment(until));
        slots.map(|slot| stored(slot.at))
    }

    /// When a slot is to start.
    #[must_use]
    pub fn planned(&self, nominal: Timestamp) -> Timestamp {
        let window = self.schedule.jitter();
        if window.is_zero() {
            return nominal;
        }
        let delay = stored(self.schedule.due(moment(nominal), self.seed)).since(nominal);
        let distance = self
            .next(nominal)
            .map_or(window, |next| next.since(nominal));
        let delay = if distance < window {
            let scaled = delay.as_micros() * distance.as_micros() / window.as_micros().max(1);
            Duration::from_micros(u64::try_from(scaled).unwrap_or(0))
        } else {
            delay
        };
        nominal.plus(delay)
    }

    /// The last slot after a moment that was to start by another.
    #[must_use]
    pub fn last_planned(&self, after: Timestamp, until: Timestamp) -> Option<Timestamp> {
        if until <= after {
            return None;
        }
        let mut slot = self.previous(until.plus(MICROSECOND))?;
        if self.planned(slot) > until {
            // The one before starts before this one's nominal time.
            slot = self.previous(slot)?;
        }
        (slot > after).then_some(slot)
    }

    /// The moments after one up to another in which local times fell into a gap of the clock and
    /// are left out for it, with their number.
    pub(super) fn gaps(&self, after: Timestamp, until: Timestamp) -> Vec<(Timestamp, u64)> {
        let mut gaps: Vec<(Timestamp, u64)> = Vec::new();
        if self.schedule.dst().gap != Gap::Skip {
            return gaps;
        }
        for skipped in self.schedule.skipped(moment(after), moment(until)) {
            if skipped.reason != SkipReason::Gap {
                continue;
            }
            let at = stored(skipped.at);
            match gaps.last_mut() {
                Some((last, count)) if *last == at => *count += 1,
                _ => gaps.push((at, 1)),
            }
        }
        gaps
    }

    /// The beginning of its window.
    pub(super) fn start(&self) -> Option<Timestamp> {
        self.schedule.start().map(stored)
    }
}

/// A stored moment as the schedule knows it; outside of the calendar, its nearer end.
fn moment(at: Timestamp) -> jiff::Timestamp {
    let end = if at < Timestamp::default() {
        jiff::Timestamp::MIN
    } else {
        jiff::Timestamp::MAX
    };
    jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or(end)
}

/// The first microsecond that is not before a moment.
pub(super) fn stored(at: jiff::Timestamp) -> Timestamp {
    let micros = (at.as_nanosecond() + 999).div_euclid(1_000);
    Timestamp::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use refire_schedule::ScheduleSettings;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn schedule(json: &str) -> Schedule {
        let settings: ScheduleSettings = serde_json::from_str(json).unwrap();
        Schedule::new(&settings).unwrap()
    }

    #[test]
    fn a_slot_between_two_microseconds_is_passed_by_its_stored_moment() {
        let schedule = schedule(r#"{"at":"2026-01-01T00:00:00.0000005Z"}"#);
        let timeline = Timeline::new(&schedule, 0);
        let slot = at("2026-01-01T00:00:00.000001Z");
        assert_eq!(timeline.next(at("2026-01-01T00:00:00Z")), Some(slot));
        assert_eq!(timeline.next(slot), None);
        assert_eq!(timeline.previous(slot), None);
        assert_eq!(timeline.previous(slot.plus(MICROSECOND)), Some(slot));
        assert_eq!(timeline.count(slot, Timestamp::LAST), 0);
        assert_eq!(timeline.count(slot.minus(MICROSECOND), slot), 1);
    }

    #[test]
    fn planned_times_have_the_order_of_slots_however_wide_the_jitter() {
        for every in ["1s", "7m", "1h", "3d"] {
            let schedule = schedule(&format!(r#"{{"every":"{every}","jitter":"24h"}}"#));
            let timeline = Timeline::new(&schedule, 7);
            let from = at("2026-01-01T00:00:00Z");
            let slots: Vec<_> = timeline.slots(from, Timestamp::LAST).take(200).collect();
            for pair in slots.windows(2) {
                assert!(pair[0] <= timeline.planned(pair[0]));
                assert!(timeline.planned(pair[0]) < pair[1], "{every}: {pair:?}");
            }
        }
    }

    #[test]
    fn the_last_that_was_to_start_is_found_on_both_sides_of_its_delay() {
        let schedule = schedule(r#"{"cron":"0 * * * *","jitter":"30m"}"#);
        let timeline = Timeline::new(&schedule, 1);
        let (first, second) = (at("2026-01-01T01:00:00Z"), at("2026-01-01T02:00:00Z"));
        let begin = at("2026-01-01T00:30:00Z");
        let planned = timeline.planned(second);
        assert!(second < planned && planned < second.plus(Duration::from_secs(1800)));
        let early = planned.minus(MICROSECOND);
        assert_eq!(timeline.last_planned(begin, early), Some(first));
        assert_eq!(timeline.last_planned(begin, planned), Some(second));
        assert_eq!(timeline.last_planned(second, planned), None);
        assert_eq!(timeline.last_planned(second, begin), None);
    }
}
