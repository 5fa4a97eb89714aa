//! Waits between attempts to reach a database that is away: longer each time, and never in step with
//! the other nodes.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// See the module.
pub(super) struct Backoff {
    next: Duration,
    max: Duration,
}

impl Backoff {
    pub(super) fn new(first: Duration, max: Duration) -> Self {
        Self { next: first, max }
    }

    /// The next wait: between half and the whole of a span that doubles.
    pub(super) fn next(&mut self) -> Duration {
        let span = self.next;
        self.next = (span * 2).min(self.max);
        // A fresh hasher has fresh keys, which is dice enough for this.
        let dice = RandomState::new().hash_one(0) % 1_000;
        let thousandths = u32::try_from(dice).unwrap_or(0);
        span / 2 + span / 2 * thousandths / 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_their_bound() {
        let (first, max) = (Duration::from_millis(100), Duration::from_secs(2));
        let mut backoff = Backoff::new(first, max);
        let mut span = first;
        for _ in 0..10 {
            let wait = backoff.next();
            assert!(wait >= span / 2 && wait <= span, "{wait:?} of {span:?}");
            span = (span * 2).min(max);
        }
    }
}
