//! Who is logged in to the console: how long a session lasts, and how long the link that begins one.
//!
//! A browser has a secret, the store its hash. When a session ends is one moment in its row, which moves on
//! while it is used.

use std::time::Duration;

use crate::time::Timestamp;

/// A session that nobody uses ends after so long.
pub const SESSION_IDLE: Duration = Duration::from_secs(12 * 3_600);
/// And every session after so long, however much it is used.
pub const SESSION_LIFE: Duration = Duration::from_secs(7 * 24 * 3_600);
/// A link that logs in by itself is good for so long, and once.
pub const LINK_LIFE: Duration = Duration::from_secs(15 * 60);
/// A use moves the end on only if that gains so much, so that hardly any use writes.
const GAIN_MIN: Duration = Duration::from_secs(5 * 60);

/// What a secret opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionKind {
    /// The API, until it ends.
    Session,
    /// A session, once.
    Link,
}

impl SessionKind {
    /// Both, in the order of their stored numbers.
    pub const ALL: [Self; 2] = [Self::Session, Self::Link];

    /// When one that begins now ends if nobody uses it.
    #[must_use]
    pub fn first_end(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Session => now.plus(SESSION_IDLE),
            Self::Link => now.plus(LINK_LIFE),
        }
    }
}

/// Where a session moves its end when it is used now; none if that is not worth writing.
#[must_use]
pub fn moved_end(created: Timestamp, ends: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let moved = now.plus(SESSION_IDLE).min(created.plus(SESSION_LIFE));
    let is_last = moved == created.plus(SESSION_LIFE);
    let gain = moved.since(ends);
    (gain >= GAIN_MIN || (is_last && moved > ends)).then_some(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_micros(0).plus(Duration::from_secs(seconds))
    }

    #[test]
    fn an_end_moves_on_with_use_but_hardly_ever() {
        const HOUR: u64 = 3_600;
        let (idle, life) = (12 * HOUR, 7 * 24 * HOUR);
        for (ends, now, moved) in [
            // Used at once, a little later, and when it is worth it.
            (idle, 0, None),
            (idle, 299, None),
            (idle, 300, Some(idle + 300)),
            (idle, 11 * HOUR, Some(23 * HOUR)),
            // Never beyond its life, whose last moment is written once.
            (life - 2 * HOUR, life - 13 * HOUR, Some(life - HOUR)),
            (life - 60, life - idle, Some(life)),
            (life, life - 1, None),
            // Clocks of two nodes may differ.
            (idle + 600, 0, None),
        ] {
            let found = moved_end(at(0), at(ends), at(now));
            assert_eq!(found, moved.map(at), "{ends} {now}");
        }
    }

    #[test]
    fn a_link_is_short() {
        assert_eq!(SessionKind::Link.first_end(at(1)), at(901));
        assert_eq!(SessionKind::Session.first_end(at(1)), at(12 * 3_600 + 1));
    }
}
