//! Intervals of elapsed time: 13 hours are 13 hours, whatever the clock on the wall does.

use jiff::Timestamp;

/// Moments at an equal distance, one of them the anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) every_ms: i64,
    pub(crate) anchor_ms: i64,
}

impl Interval {
    /// The first from one moment on, and not after another.
    pub(crate) fn first(&self, from: Timestamp, until: Timestamp) -> Option<Timestamp> {
        let found = self.at(self.index_before(from, 1).checked_add(1)?)?;
        (found <= until).then_some(found)
    }

    /// The last up to one moment, and not before another.
    pub(crate) fn last(&self, to: Timestamp, since: Timestamp) -> Option<Timestamp> {
        let found = self.at(self.index_before(to, 0))?;
        (found >= since).then_some(found)
    }

    /// How many there are from one moment to another, both included.
    pub(crate) fn count(&self, from: Timestamp, until: Timestamp) -> u64 {
        let count = self.index_before(until, 0) - self.index_before(from, 1);
        u64::try_from(count).unwrap_or(0)
    }

    /// The number of the last one that is at least so many nanoseconds before a moment, counted
    /// from the anchor.
    fn index_before(&self, at: Timestamp, nanoseconds: i128) -> i64 {
        let ms = (at.as_nanosecond() - nanoseconds).div_euclid(1_000_000) as i64;
        (ms - self.anchor_ms).div_euclid(self.every_ms)
    }

    fn at(&self, index: i64) -> Option<Timestamp> {
        let ms = index
            .checked_mul(self.every_ms)?
            .checked_add(self.anchor_ms)?;
        Timestamp::from_millisecond(ms).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn thirteen_hours_are_thirteen_hours() {
        let interval = Interval {
            every_ms: 13 * 3_600_000,
            anchor_ms: at("2026-01-01T00:00:00Z").as_millisecond(),
        };
        let end = at("2027-01-01T00:00:00Z");
        let mut found = Vec::new();
        let mut from = at("2026-01-01T00:00:00Z");
        while let Some(next) = interval.first(from, at("2026-01-03T00:00:00Z")) {
            found.push(next.to_string());
            from = next + std::time::Duration::from_nanos(1);
        }
        assert_eq!(
            found,
            [
                "2026-01-01T00:00:00Z",
                "2026-01-01T13:00:00Z",
                "2026-01-02T02:00:00Z",
                "2026-01-02T15:00:00Z"
            ]
        );
        assert_eq!(interval.count(at("2026-01-01T00:00:00Z"), end), 674);
        assert_eq!(
            interval.count(at("2026-01-01T00:00:00.000000001Z"), end),
            673
        );
        let last = interval.last(at("2026-01-01T13:00:00Z"), Timestamp::MIN);
        assert_eq!(last, Some(at("2026-01-01T13:00:00Z")));
        let last = interval.last(at("2026-01-01T12:59:59.999Z"), Timestamp::MIN);
        assert_eq!(last, Some(at("2026-01-01T00:00:00Z")));
        // Before the anchor it is the same rhythm.
        let first = interval.first(at("2025-12-31T00:00:00Z"), end);
        assert_eq!(first, Some(at("2025-12-31T11:00:00Z")));
    }

    #[test]
    fn the_ends_of_time_are_ends() {
        let interval = Interval {
            every_ms: i64::MAX / 4,
            anchor_ms: 0,
        };
        assert_eq!(
            interval.first(at("2026-01-01T00:00:00Z"), Timestamp::MAX),
            None
        );
        assert_eq!(
            interval.last(at("1960-01-01T00:00:00Z"), Timestamp::MIN),
            None
        );
        assert_eq!(interval.count(Timestamp::MIN, Timestamp::MAX), 1);
    }
}
