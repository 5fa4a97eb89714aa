//! What repeated measurements say: the middle one, and how far apart they lie.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a lock holds, also after a panic elsewhere.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One figure, measured several times.
#[derive(Debug, Clone, Default)]
pub(crate) struct Repeats(Vec<f64>);

impl Repeats {
    pub(crate) fn add(&mut self, value: f64) {
        self.0.push(value);
    }

    /// The middle one; of an even number, the lower of the two.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let middle = sorted.len().saturating_sub(1) / 2;
        sorted.get(middle).copied().unwrap_or(f64::NAN)
    }

    /// The lowest and the highest.
    pub(crate) fn range(&self) -> (f64, f64) {
        let lowest = self.0.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (lowest, highest)
    }
}

impl From<f64> for Repeats {
    fn from(value: f64) -> Self {
        Self(vec![value])
    }
}

impl FromIterator<f64> for Repeats {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

/// Many waits of one measurement.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waits(Vec<Duration>);

impl Waits {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn add(&mut self, wait: Duration) {
        self.0.push(wait);
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The wait that this share of all did not exceed, in milliseconds.
    pub(crate) fn percentile_ms(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let index = (sorted.len() as f64 * share).ceil() as usize;
        let wait = sorted.get(index.saturating_sub(1).min(sorted.len().saturating_sub(1)));
        wait.map_or(f64::NAN, |wait| wait.as_secs_f64() * 1_000.0)
    }
}

/// The middle and the slow end of waits, over repeats.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latency {
    pub(crate) p50_ms: Repeats,
    pub(crate) p99_ms: Repeats,
}

impl Latency {
    pub(crate) fn add(&mut self, waits: &Waits) {
        self.p50_ms.add(waits.percentile_ms(0.5));
        self.p99_ms.add(waits.percentile_ms(0.99));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        let repeats: Repeats = [9.0, 1.0, 5.0].into_iter().collect();
        assert_eq!((repeats.median(), repeats.range()), (5.0, (1.0, 9.0)));
        assert!(Repeats::default().median().is_nan());
    }

    #[test]
    fn percentiles_are_waits_that_happened() {
        let mut waits = Waits::default();
        for ms in (1..=100).rev() {
            waits.add(Duration::from_millis(ms));
        }
        assert_eq!(waits.percentile_ms(0.5), 50.0);
        assert_eq!(waits.percentile_ms(0.99), 99.0);
        assert_eq!(waits.percentile_ms(1.0), 100.0);
        assert!(Waits::default().percentile_ms(0.5).is_nan());
    }
}
