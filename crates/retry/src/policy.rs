//! The policy: when to try again, and how often, as plain data.
//!
//! A policy only computes. It reads no clock, throws no dice of its own and never sleeps; the numbers
//! it gives depend on its fields and its arguments alone.

use std::time::Duration;

use crate::jitter::{Jitter, Spread};
use crate::seed::Draw;
use crate::strategy::Strategy;

/// When to try again, and how often.
///
/// The fields are public and hold no secrets from one another: any combination is valid, and the
/// builder methods of the same names only save typing.
///
/// A delay is made in this order: strategy, cap ([`max_delay`](Self::max_delay)), jitter, floor
/// ([`min_delay`](Self::min_delay)). If floor and cap contradict each other, the floor wins, being
/// last. Whatever overflows saturates at [`Duration::MAX`].
///
/// ```
/// use std::time::Duration;
/// use refire_retry::{Jitter, Policy};
///
/// let policy = Policy::exponential(Duration::from_secs(1))
///     .attempts(5)
///     .max_delay(Duration::from_secs(16))
///     .jitter(Jitter::Proportional(0.1));
/// assert_eq!(policy.max_retries, 4);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// How many times to try again; `n` retries are `n + 1` attempts.
    pub max_retries: u32,
    /// The wait before the first retry.
    pub initial: Duration,
    /// How the wait grows from there.
    pub strategy: Strategy,
    /// The factor between waits under [`Strategy::Exponential`]; see [`Strategy::nominal`] for odd
    /// values.
    pub multiplier: f64,
    /// The longest wait before jitter. None: no cap.
    pub max_delay: Option<Duration>,
    /// The time within which the last attempt must have started, counted from the start of the first.
    /// None: no limit.
    pub max_elapsed: Option<Duration>,
    /// How waits are spread.
    pub jitter: Jitter,
    /// The shortest wait, after jitter.
    pub min_delay: Duration,
}

/// Where the delay before one retry may fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The delay without jitter. For [`Jitter::Decorrelated`], which has no such delay, the one that
    /// comes when every draw so far fell in the middle.
    pub nominal: Duration,
    /// No delay is shorter.
    pub min: Duration,
    /// No delay is longer.
    pub max: Duration,
}

impl Default for Policy {
    /// Refire's own default: 5 retries after 2, 4, 8, 16 and 32 s, each ±20 %, never under 100 ms.
    fn default() -> Self {
        Self {
            max_retries: 5,
            initial: Duration::from_secs(2),
            strategy: Strategy::Exponential,
            multiplier: 2.0,
            max_delay: None,
            max_elapsed: None,
            jitter: Jitter::Proportional(0.2),
            min_delay: Duration::from_millis(100),
        }
    }
}

impl Policy {
    /// Waits that grow by a factor of 2. Three retries unless told otherwise; no cap, jitter, floor or
    /// time limit.
    pub const fn exponential(initial: Duration) -> Self {
        Self::bare(Strategy::Exponential, initial)
    }

    /// Waits that grow by `initial` each time. Three retries unless told otherwise; no cap, jitter,
    /// floor or time limit.
    pub const fn linear(initial: Duration) -> Self {
        Self::bare(Strategy::Linear, initial)
    }

    /// The same wait each time. Three retries unless told otherwise; no cap, jitter, floor or time
    /// limit.
    pub const fn fixed(delay: Duration) -> Self {
        Self::bare(Strategy::Fixed, delay)
    }

    const fn bare(strategy: Strategy, initial: Duration) -> Self {
        Self {
            max_retries: 3,
            initial,
            strategy,
            multiplier: 2.0,
            max_delay: None,
            max_elapsed: None,
            jitter: Jitter::None,
            min_delay: Duration::ZERO,
        }
    }

    /// Sets how many times to try again after the first attempt.
    #[must_use]
    pub const fn max_retries(mut self, retries: u32) -> Self {
        self.max_retries = retries;
        self
    }

    /// Sets how many times to try in all: one more than [`max_retries`](Self::max_retries). Zero is
    /// taken as one, since the first attempt is always made.
    #[must_use]
    pub const fn attempts(mut self, attempts: u32) -> Self {
        self.max_retries = attempts.saturating_sub(1);
        self
    }

    /// Sets the wait before the first retry.
    #[must_use]
    pub const fn initial(mut self, initial: Duration) -> Self {
        self.initial = initial;
        self
    }

    /// Sets how the wait grows.
    #[must_use]
    pub const fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets the factor between waits under [`Strategy::Exponential`].
    #[must_use]
    pub const fn multiplier(mut self, multiplier: f64) -> Self {
        self.multiplier = multiplier;
        self
    }

    /// Sets the longest wait, before jitter.
    #[must_use]
    pub const fn max_delay(mut self, cap: Duration) -> Self {
        self.max_delay = Some(cap);
        self
    }

    /// Sets the total time limit: a retry that could only start later is not made.
    #[must_use]
    pub const fn max_elapsed(mut self, limit: Duration) -> Self {
        self.max_elapsed = Some(limit);
        self
    }

    /// Sets how waits are spread.
    #[must_use]
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// Sets the shortest wait, after jitter.
    #[must_use]
    pub const fn min_delay(mut self, floor: Duration) -> Self {
        self.min_delay = floor;
        self
    }

    /// How many attempts the policy allows in all.
    pub const fn max_attempts(&self) -> u32 {
        self.max_retries.saturating_add(1)
    }

    /// The wait before retry number `retry`, counted from 1 (0 is taken as 1).
    ///
    /// `previous` is what this function gave for the retry before, and `None` for the first; only
    /// [`Jitter::Decorrelated`] looks at it. Whether the retry is allowed at all is not asked here:
    /// compare with [`max_retries`](Self::max_retries) and [`max_elapsed`](Self::max_elapsed).
    ///
    /// ```
    /// use std::time::Duration;
    /// use refire_retry::{Policy, Seed};
    ///
    /// let delay = Policy::default().delay(3, None, Seed::new(7).mix_u64(3).draw());
    /// assert!(delay >= Duration::from_millis(6_400) && delay <= Duration::from_millis(9_600));
    /// ```
    pub fn delay(&self, retry: u32, previous: Option<Duration>, draw: Draw) -> Duration {
        let delay = match self.jitter.spread(self.capped(retry), self.initial) {
            Some(spread) => spread.pick(draw),
            None => {
                let previous = previous.unwrap_or(self.initial);
                self.cut(self.decorrelated(retry, previous).pick(draw))
            }
        };
        delay.max(self.min_delay)
    }

    /// Where the delay before retry number `retry` may fall. The bounds hold for every draw, and for
    /// every `previous`.
    pub fn range(&self, retry: u32) -> Range {
        match self.jitter.spread(self.capped(retry), self.initial) {
            Some(spread) => Range {
                nominal: self.capped(retry).max(self.min_delay),
                min: spread.low.max(self.min_delay),
                max: spread.high().max(self.min_delay),
            },
            None => self.decorrelated_range(retry),
        }
    }

    /// Strategy, then cap.
    fn capped(&self, retry: u32) -> Duration {
        let nominal = self.strategy.nominal(self.initial, self.multiplier, retry);
        self.cut(nominal)
    }

    fn cut(&self, delay: Duration) -> Duration {
        self.max_delay.map_or(delay, |cap| delay.min(cap))
    }

    fn decorrelated(&self, retry: u32, previous: Duration) -> Spread {
        // A `previous` this policy cannot have given (a server's Retry-After, say) must not push the
        // delay out of the range that was announced for it.
        let longest = self.decorrelated_walk(retry.saturating_sub(1), |high| high);
        let high = previous.min(longest).saturating_mul(3);
        Spread::between(self.initial, high.max(self.initial))
    }

    fn decorrelated_range(&self, retry: u32) -> Range {
        let initial = self.initial;
        // Never past `high`, so this sum cannot overflow.
        let middle = |high: Duration| initial + high.saturating_sub(initial) / 2;
        Range {
            nominal: self.decorrelated_walk(retry.max(1), middle),
            min: self.cut(initial).max(self.min_delay),
            max: self.decorrelated_walk(retry.max(1), |high| high),
        }
    }

    /// The delay before retry `retry` if each draw picks `pick(high)` from `[initial, high]`; `initial`
    /// for retry 0.
    ///
    /// Walks from retry to retry, and stops where nothing changes any more: delays grow by half or
    /// more until they meet the cap, so that is after a few hundred steps at most.
    fn decorrelated_walk(&self, retry: u32, pick: impl Fn(Duration) -> Duration) -> Duration {
        let mut delay = self.initial;
        for _ in 0..retry {
            let high = delay.saturating_mul(3).max(self.initial);
            let next = self.cut(pick(high)).max(self.min_delay);
            if next == delay {
                break;
            }
            delay = next;
        }
        delay
    }
}

#[cfg(test)]
mod tests;
