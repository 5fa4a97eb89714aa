//! A rate limit as one number: the time at which the next start is due if all come evenly.

use std::time::Duration;

use refire_core::time::Timestamp;

/// The generic cell rate algorithm: a whole window's worth may come at once, then they are spaced.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rate {
    /// The theoretical arrival time of the next start.
    next: Timestamp,
}

impl Rate {
    /// Books the next of `max` per `per` and says when it is: now, or later.
    pub(super) fn book(&mut self, max: u32, per: Duration, now: Timestamp) -> Timestamp {
        let spacing = per / max.max(1);
        let next = self.next.max(now);
        self.next = next.plus(spacing);
        self.next.minus(per).max(now)
    }

    /// Whether forgetting it would change nothing.
    pub(super) fn is_idle(&self, now: Timestamp) -> bool {
        self.next <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_may_come_at_once_and_then_they_are_spaced() {
        let mut rate = Rate::default();
        let second = Duration::from_secs(1);
        let start = Timestamp::from_millis(1_000_000);
        for _ in 0..10 {
            assert_eq!(rate.book(10, second, start), start);
        }
        let waits: Vec<u128> = (0..3)
            .map(|_| rate.book(10, second, start).since(start).as_millis())
            .collect();
        assert_eq!(waits, [100, 200, 300], "each has a turn of its own");
        assert!(!rate.is_idle(start));
        assert!(rate.is_idle(start.plus(2 * second)));
    }
}
