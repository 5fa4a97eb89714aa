//! How a wait is spread, so that many clients that failed together do not come back together.
//!
//! Each kind of jitter is a lower end and a width; the draw picks a point between. Ranges shown to
//! people and delays really waited come from the same two numbers, so they cannot disagree.

use std::time::Duration;

use crate::seed::Draw;
use crate::strategy::{from_nanos, scale};

/// How a wait is spread around what the strategy says. In the formulas `d` is that wait, already cut
/// to the cap, and all draws are uniform.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Jitter {
    /// Exactly `d`.
    #[default]
    None,
    /// Between `d × (1 − ratio)` and `d × (1 + ratio)`: 0.2 is ±20 %.
    ///
    /// A ratio below zero, or not a number, is taken as 0; one above 1 as 1. The result may exceed the
    /// cap by the ratio.
    Proportional(f64),
    /// `d` plus something from zero up to, but without, half the initial delay.
    Additive,
    /// Between zero and `d`. Spreads the most; some retries come at once, unless there is a floor.
    Full,
    /// Between `d / 2` and `d`.
    Equal,
    /// Between the initial delay and three times the previous one, then cut to the cap.
    ///
    /// Grows by itself and therefore ignores the strategy.
    Decorrelated,
}

/// Where a delay may fall: from `low`, `width` wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    pub(crate) low: Duration,
    pub(crate) width: Duration,
    /// Whether the far end itself can be drawn.
    pub(crate) closed: bool,
}

impl Spread {
    pub(crate) fn between(low: Duration, high: Duration) -> Self {
        Self {
            low,
            width: high.saturating_sub(low),
            closed: true,
        }
    }

    pub(crate) fn high(self) -> Duration {
        self.low.saturating_add(self.width)
    }

    pub(crate) fn pick(self, draw: Draw) -> Duration {
        let nanos = self.width.as_nanos() + u128::from(self.closed);
        self.low.saturating_add(from_nanos(draw.below_wide(nanos)))
    }
}

impl Jitter {
    /// Where a delay of nominally `d` may fall; `None` for the one kind that ignores `d`.
    pub(crate) fn spread(self, d: Duration, initial: Duration) -> Option<Spread> {
        Some(match self {
            Self::None => Spread::between(d, d),
            Self::Proportional(ratio) => {
                let ratio = if ratio.is_nan() {
                    0.0
                } else {
                    ratio.clamp(0.0, 1.0)
                };
                // Rounding of very long waits must not push an end past the middle.
                let low = scale(d, 1.0 - ratio).min(d);
                let high = scale(d, 1.0 + ratio).max(d);
                Spread::between(low, high)
            }
            Self::Additive => Spread {
                low: d,
                width: initial / 2,
                closed: false,
            },
            Self::Full => Spread::between(Duration::ZERO, d),
            Self::Equal => Spread::between(d / 2, d),
            Self::Decorrelated => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::seed::Seed;

    const SECOND: Duration = Duration::from_secs(1);

    /// Lower end and far end, in milliseconds, for a wait of 4 s from an initial 1 s.
    fn ends(jitter: Jitter) -> (u128, u128) {
        let spread = jitter.spread(4 * SECOND, SECOND).unwrap();
        (spread.low.as_millis(), spread.high().as_millis())
    }

    #[test]
    fn where_each_kind_may_fall() {
        assert_eq!(ends(Jitter::None), (4_000, 4_000));
        assert_eq!(ends(Jitter::Proportional(0.2)), (3_200, 4_800));
        assert_eq!(ends(Jitter::Additive), (4_000, 4_500));
        assert_eq!(ends(Jitter::Full), (0, 4_000));
        assert_eq!(ends(Jitter::Equal), (2_000, 4_000));
        assert_eq!(Jitter::Decorrelated.spread(SECOND, SECOND), None);
    }

    #[test]
    fn odd_ratios_are_made_sane() {
        for none in [f64::NAN, -0.5, f64::NEG_INFINITY, 0.0] {
            assert_eq!(ends(Jitter::Proportional(none)), (4_000, 4_000), "{none}");
        }
        for whole in [1.0, 7.5, f64::INFINITY] {
            assert_eq!(ends(Jitter::Proportional(whole)), (0, 8_000), "{whole}");
        }
    }

    #[test]
    fn both_ends_can_be_drawn_except_the_open_one() {
        let ns = Duration::from_nanos;
        let drawn = |spread: Spread| {
            let mut all: Vec<_> = (0..200)
                .map(|seed| spread.pick(Seed::new(seed).draw()))
                .collect();
            all.sort();
            all.dedup();
            all
        };
        assert_eq!(
            drawn(Spread::between(ns(5), ns(8))),
            [ns(5), ns(6), ns(7), ns(8)]
        );
        let open = Spread {
            low: ns(5),
            width: ns(3),
            closed: false,
        };
        assert_eq!(drawn(open), [ns(5), ns(6), ns(7)]);
        let empty = Spread {
            low: ns(5),
            width: ns(0),
            closed: false,
        };
        assert_eq!(drawn(empty), [ns(5)]);
    }

    #[test]
    fn the_longest_waits_saturate() {
        for jitter in [
            Jitter::Proportional(0.5),
            Jitter::Additive,
            Jitter::Full,
            Jitter::Equal,
        ] {
            let spread = jitter.spread(Duration::MAX, Duration::MAX).unwrap();
            assert!(
                spread.pick(Seed::new(1).draw()) <= spread.high(),
                "{jitter:?}"
            );
            assert_eq!(spread.high(), Duration::MAX, "{jitter:?}");
        }
    }

    proptest! {
        #[test]
        fn full_jitter_averages_half(seed: u64) {
            let spread = Jitter::Full.spread(SECOND, SECOND).unwrap();
            let draws = (0..2_000).map(|n| spread.pick(Seed::new(seed).mix_u64(n).draw()));
            let mean = draws.sum::<Duration>() / 2_000;
            // Six standard deviations of the mean to either side.
            prop_assert!((460..=540).contains(&mean.as_millis()), "{mean:?}");
        }
    }
}
