//! How the wait grows from one retry to the next, before any cap, jitter or floor.
//!
//! Pure arithmetic that saturates: no input, however odd, panics or wraps around.

use std::time::Duration;

/// How the wait grows with the number of the retry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// `initial × multiplierⁿ⁻¹` before retry `n`: 2, 4, 8, 16 s from 2 s with the usual multiplier 2.
    #[default]
    Exponential,
    /// `initial × n` before retry `n`: 2, 4, 6, 8 s from 2 s.
    Linear,
    /// `initial` before every retry.
    Fixed,
}

impl Strategy {
    /// The wait before retry number `retry`, counted from 1; a `retry` of 0 is taken as 1.
    ///
    /// `multiplier` matters to [`Strategy::Exponential`] only. One below zero, or not a number, is
    /// taken as 1, which waits `initial` each time: neither a busy loop nor an endless wait. Results
    /// too long for a `Duration` become [`Duration::MAX`].
    pub fn nominal(self, initial: Duration, multiplier: f64, retry: u32) -> Duration {
        let retry = retry.max(1);
        match self {
            Self::Exponential => {
                let sane = if multiplier >= 0.0 { multiplier } else { 1.0 };
                scale(initial, power(sane, retry - 1))
            }
            Self::Linear => initial.saturating_mul(retry),
            Self::Fixed => initial,
        }
    }
}

/// `base` to the `exponent`, by squaring.
///
/// Not `f64::powi`, whose last digits may differ between platforms: the same policy must give the same
/// delays everywhere.
fn power(base: f64, exponent: u32) -> f64 {
    let mut result = 1.0;
    let mut square = base;
    let mut left = exponent;
    while left > 0 {
        if left & 1 == 1 {
            result *= square;
        }
        square *= square;
        left >>= 1;
    }
    result
}

/// `duration × factor`, to the nearest nanosecond. `factor` must not be negative.
pub(crate) fn scale(duration: Duration, factor: f64) -> Duration {
    // A factor of one must change nothing, and zero times infinity must not become "not a number".
    if factor == 1.0 || duration.is_zero() {
        return duration;
    }
    let nanos = (duration.as_nanos() as f64 * factor).round();
    from_nanos(nanos as u128)
}

/// The duration of that many nanoseconds, or the longest one there is.
pub(crate) fn from_nanos(nanos: u128) -> Duration {
    Duration::from_nanos_u128(nanos.min(Duration::MAX.as_nanos()))
}

#[cfg(test)]
mod tests {
    use proptest::{prop_assert, proptest};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn row(strategy: Strategy, initial: Duration, multiplier: f64) -> [f64; 5] {
        std::array::from_fn(|i| {
            strategy
                .nominal(initial, multiplier, i as u32 + 1)
                .as_secs_f64()
        })
    }

    #[test]
    fn the_three_rows() {
        assert_eq!(
            row(Strategy::Exponential, 2 * SECOND, 2.0),
            [2.0, 4.0, 8.0, 16.0, 32.0]
        );
        assert_eq!(
            row(Strategy::Linear, 2 * SECOND, 2.0),
            [2.0, 4.0, 6.0, 8.0, 10.0]
        );
        assert_eq!(row(Strategy::Fixed, 2 * SECOND, 2.0), [2.0; 5]);
    }

    #[test]
    fn other_multipliers() {
        assert_eq!(
            row(Strategy::Exponential, SECOND, 1.5),
            [1.0, 1.5, 2.25, 3.375, 5.0625]
        );
        assert_eq!(
            row(Strategy::Exponential, SECOND, 0.5),
            [1.0, 0.5, 0.25, 0.125, 0.0625]
        );
        assert_eq!(
            row(Strategy::Exponential, SECOND, 0.0),
            [1.0, 0.0, 0.0, 0.0, 0.0]
        );
    }

    #[test]
    fn odd_multipliers_wait_the_same_each_time() {
        for odd in [f64::NAN, -1.0, -f64::MIN_POSITIVE, f64::NEG_INFINITY] {
            assert_eq!(row(Strategy::Exponential, SECOND, odd), [1.0; 5], "{odd}");
        }
    }

    #[test]
    fn an_infinite_multiplier_saturates_after_the_first_retry() {
        let nominal = |initial, retry| Strategy::Exponential.nominal(initial, f64::INFINITY, retry);
        assert_eq!(nominal(SECOND, 1), SECOND);
        assert_eq!(nominal(SECOND, 2), Duration::MAX);
        assert_eq!(nominal(Duration::ZERO, 2), Duration::ZERO);
    }

    #[test]
    fn growth_saturates() {
        for retry in [1_000, u32::MAX] {
            assert_eq!(
                Strategy::Exponential.nominal(SECOND, 2.0, retry),
                Duration::MAX
            );
        }
        assert_eq!(
            Strategy::Linear.nominal(Duration::MAX, 2.0, 2),
            Duration::MAX
        );
        assert_eq!(
            Strategy::Exponential.nominal(Duration::MAX, 1.0, u32::MAX),
            Duration::MAX
        );
    }

    #[test]
    fn doubling_is_exact_to_the_nanosecond() {
        let initial = Duration::from_nanos(123_456_789);
        for retry in 1..20 {
            let expected = initial * 2_u32.pow(retry - 1);
            assert_eq!(Strategy::Exponential.nominal(initial, 2.0, retry), expected);
        }
    }

    #[test]
    fn retry_zero_is_retry_one() {
        for strategy in [Strategy::Exponential, Strategy::Linear, Strategy::Fixed] {
            assert_eq!(strategy.nominal(SECOND, 3.0, 0), SECOND);
        }
    }

    proptest! {
        #[test]
        fn waits_never_shrink(
            initial_ns in 0_u64..,
            multiplier in 1.0..10.0_f64,
            retry in 1_u32..100_000,
        ) {
            let initial = Duration::from_nanos(initial_ns);
            for strategy in [Strategy::Exponential, Strategy::Linear, Strategy::Fixed] {
                let now = strategy.nominal(initial, multiplier, retry);
                let next = strategy.nominal(initial, multiplier, retry + 1);
                prop_assert!(next >= now, "{strategy:?}");
            }
        }
    }
}
