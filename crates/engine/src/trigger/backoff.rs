//! How long triggers rest of which nothing can be made although they are due: each time twice as long, so
//! that a passing trouble costs little and a lasting one does not cost all the time.

use std::collections::HashMap;
use std::time::Duration;

use refire_core::id::TriggerId;

/// The first rest.
const REST: Duration = Duration::from_secs(10);
/// The longest.
const REST_MAX: Duration = Duration::from_secs(3_600);
/// Triggers whose rests are remembered; the others begin again.
const KNOWN_MAX: usize = 10_000;

/// The rests of triggers since each was last in order.
#[derive(Debug, Default)]
pub(crate) struct Backoffs {
    last: HashMap<TriggerId, Duration>,
}

impl Backoffs {
    /// How long a trigger rests now.
    pub(crate) fn next(&mut self, trigger: TriggerId) -> Duration {
        if self.last.len() >= KNOWN_MAX && !self.last.contains_key(&trigger) {
            self.last.clear();
        }
        let rest = self.last.entry(trigger).or_default();
        *rest = (*rest * 2).clamp(REST, REST_MAX);
        *rest
    }

    /// It is in order.
    pub(crate) fn end(&mut self, trigger: TriggerId) {
        self.last.remove(&trigger);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_grow_until_the_trigger_is_in_order() {
        let mut backoffs = Backoffs::default();
        let [one, other] = [1, 2].map(|n| TriggerId::from_bytes([n; 16]));
        let seconds: Vec<u64> = (0..11).map(|_| backoffs.next(one).as_secs()).collect();
        assert_eq!(
            seconds,
            [10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600]
        );
        assert_eq!(backoffs.next(other), REST);
        backoffs.end(one);
        assert_eq!(backoffs.next(one), REST);
        assert_eq!(backoffs.next(other), REST * 2);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut backoffs = Backoffs::default();
        for n in 0..=KNOWN_MAX as u128 {
            backoffs.next(TriggerId::from_bytes(n.to_be_bytes()));
        }
        assert_eq!(backoffs.last.len(), 1);
    }
}
