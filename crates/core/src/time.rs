//! A moment as stored: microseconds since 1970, UTC. It never asks a clock.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A moment, in microseconds since the Unix epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// A text that is not an RFC 3339 time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 time such as 2026-11-15T09:30:00Z: {0}")]
pub struct TimestampError(String);

impl Timestamp {
    /// The first moment of the calendar, in the year -9999. Moments outside of it have no text
    /// that could be read again, so arithmetic does not lead there.
    pub const FIRST: Self = Self(-377_705_023_201_000_000);

    /// The last moment of the calendar, in the year 9999.
    pub const LAST: Self = Self(253_402_207_200_000_000);

    /// From microseconds since the epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// From milliseconds since the epoch.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// Microseconds since the epoch, as stored.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole milliseconds since the epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// This much later; saturates at the end of the calendar.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros).min(Self::LAST.0))
    }

    /// This much earlier; saturates at the beginning of the calendar.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(micros).max(Self::FIRST.0))
    }

    /// The time from `earlier` until this moment; zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            // Always six digits, so that texts sort like moments.
            Ok(moment) => write!(f, "{moment:.6}"),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        text.parse::<jiff::Timestamp>()
            .map(|moment| Self(moment.as_microsecond()))
            .map_err(|error| TimestampError(error.to_string()))
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_to_the_microsecond() {
        let moment = Timestamp::from_micros(1_763_200_000_123_456);
        assert_eq!(moment.to_string(), "2025-11-15T09:46:40.123456Z");
        assert_eq!(moment.to_string().parse::<Timestamp>().unwrap(), moment);
        assert_eq!(
            Timestamp::from_millis(0).to_string(),
            "1970-01-01T00:00:00.000000Z"
        );
    }

    #[test]
    fn arithmetic_saturates() {
        let end = Timestamp::from_micros(i64::MAX);
        assert_eq!(end.plus(Duration::MAX), Timestamp::LAST);
        assert_eq!(Timestamp::from_micros(5).since(end), Duration::ZERO);
        let now = Timestamp::from_millis(1_800_000_000_000);
        for end in [now.plus(Duration::MAX), now.minus(Duration::MAX)] {
            assert_eq!(end.to_string().parse::<Timestamp>().unwrap(), end);
        }
        for (end, beyond) in [(Timestamp::FIRST, -1), (Timestamp::LAST, 1_000_000)] {
            assert!(jiff::Timestamp::from_microsecond(end.0).is_ok());
            assert!(jiff::Timestamp::from_microsecond(end.0 + beyond).is_err());
        }
    }
}
