//! How long to wait after trouble, so that many workers do not come back all at once.

use std::time::Duration;

use refire_retry::{Jitter, Policy, Seed};

/// From 0.5 s to 30 s: each wait is between a half and the whole of what doubles from one second.
const POLICY: Policy = Policy::exponential(Duration::from_secs(1))
    .max_delay(Duration::from_secs(30))
    .jitter(Jitter::Equal);

/// A number nobody can foresee.
pub(super) fn dice() -> u64 {
    Seed::random().draw().bits()
}

/// The wait after so many failures in a row.
pub(super) fn after(failures: u32) -> Duration {
    POLICY.delay(failures, None, Seed::random().draw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_from_half_a_second_to_half_a_minute() {
        for (failures, low, high) in [(1, 500, 1_000), (3, 2_000, 4_000), (99, 15_000, 30_000)] {
            for _ in 0..100 {
                let wait = after(failures).as_millis();
                assert!((low..=high).contains(&wait), "{failures}: {wait}");
            }
        }
    }
}
