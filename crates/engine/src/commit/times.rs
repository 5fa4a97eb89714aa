//! How long commits take: the newest of them, for people who look.

use std::collections::VecDeque;
use std::time::Duration;

use crate::lock::Mutex;

/// Commits that are remembered.
const REMEMBERED: usize = 1_024;

/// See the module.
#[derive(Default)]
pub(crate) struct CommitTimes(Mutex<VecDeque<Duration>>);

impl CommitTimes {
    /// A commit took so long.
    pub(crate) fn add(&self, took: Duration) {
        let mut times = self.0.lock();
        if times.len() >= REMEMBERED {
            times.pop_front();
        }
        times.push_back(took);
    }

    /// How long all but one of a hundred took at most; none before the first.
    pub(crate) fn p99(&self) -> Option<Duration> {
        let mut times: Vec<Duration> = self.0.lock().iter().copied().collect();
        times.sort_unstable();
        // The smallest that as many as asked for are not above.
        let place = (times.len() * 99).div_ceil(100);
        times.get(place.checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_commits_are_known() {
        let times = CommitTimes::default();
        assert_eq!(times.p99(), None);
        let ms = Duration::from_millis;
        times.add(ms(7));
        assert_eq!(times.p99(), Some(ms(7)));
        (1..=99).for_each(|n| times.add(ms(n)));
        assert_eq!(times.p99(), Some(ms(98)));
        (0..2_000).for_each(|_| times.add(ms(1)));
        assert_eq!(times.p99(), Some(ms(1)), "older ones are forgotten");
    }
}
