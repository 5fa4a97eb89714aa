//! How long to wait before the next attempt, as a value composed with `+` and [`Wait::then_after`].
//!
//! A wait only computes a duration. Sleeping is the driver's business, and stopping is
//! [`Stop`]'s.

use std::fmt;
use std::ops::{Add, RangeInclusive};
use std::sync::Arc;
use std::time::Duration;

use crate::jitter::Spread;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::seed::Seed;
use crate::stop::Stop;

/// An attempt that failed: all that a wait or a stop condition may base its answer on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The number of the attempt, from 1; also the number of the retry that may follow.
    pub attempt: u32,
    /// The time since the first attempt started.
    pub elapsed: Duration,
    /// The wait before this attempt, as the plan gave it; none before the first.
    pub previous: Option<Duration>,
    /// Where to draw from. Differs for each attempt of a run.
    pub seed: Seed,
}

/// How long to wait before the next attempt.
///
/// ```
/// use std::time::Duration;
/// use refire_retry::{Plan, Stop, Wait};
///
/// let ms = Duration::from_millis;
/// // Three quick tries, then ever slower ones, each up to 50 ms later than planned.
/// let wait = Wait::fixed(ms(100)).then_after(3, Wait::exponential(ms(500)).at_most(ms(8_000)))
///     + Wait::random(ms(0)..=ms(50));
/// let plan: Plan = wait.stop(Stop::attempts(10));
/// ```
#[derive(Clone, Debug)]
pub struct Wait(Kind);

type Compute = dyn Fn(&Failed) -> Duration + Send + Sync;

#[derive(Clone)]
enum Kind {
    Policy(Policy),
    Random(Spread),
    Between {
        inner: Arc<Wait>,
        low: Duration,
        high: Duration,
    },
    Chain {
        first: Arc<Wait>,
        retries: u32,
        next: Arc<Wait>,
    },
    Sum(Arc<(Wait, Wait)>),
    Custom(Arc<Compute>),
}

impl Wait {
    /// The same wait each time.
    pub const fn fixed(delay: Duration) -> Self {
        Self(Kind::Policy(Policy::fixed(delay)))
    }

    /// Waits that grow by `initial` each time.
    pub const fn linear(initial: Duration) -> Self {
        Self(Kind::Policy(Policy::linear(initial)))
    }

    /// Waits that double each time. For another factor, or for jitter, start from a [`Policy`]:
    /// `Wait::from(Policy::exponential(initial).multiplier(3.0))`.
    pub const fn exponential(initial: Duration) -> Self {
        Self(Kind::Policy(Policy::exponential(initial)))
    }

    /// Something within `range`, each time anew. A range that runs backwards always gives its start.
    pub fn random(range: RangeInclusive<Duration>) -> Self {
        Self(Kind::Random(Spread::between(*range.start(), *range.end())))
    }

    /// Whatever `compute` says.
    pub fn custom(compute: impl Fn(&Failed) -> Duration + Send + Sync + 'static) -> Self {
        Self(Kind::Custom(Arc::new(compute)))
    }

    /// This wait before the first `retries` retries, and `next` from then on, which starts counting
    /// from one.
    #[must_use]
    pub fn then_after(self, retries: u32, next: impl Into<Self>) -> Self {
        let next = Arc::new(next.into());
        Self(Kind::Chain {
            first: Arc::new(self),
            retries,
            next,
        })
    }

    /// This wait, but never longer than `cap`.
    #[must_use]
    pub fn at_most(self, cap: Duration) -> Self {
        Self(Kind::Between {
            inner: Arc::new(self),
            low: Duration::ZERO,
            high: cap,
        })
    }

    /// This wait, but never shorter than `floor`.
    #[must_use]
    pub fn at_least(self, floor: Duration) -> Self {
        Self(Kind::Between {
            inner: Arc::new(self),
            low: floor,
            high: Duration::MAX,
        })
    }

    /// This wait, until `stop`: a whole plan.
    pub fn stop(self, stop: Stop) -> Plan {
        Plan::new(self, stop)
    }

    /// Whether the wait may depend on the time that has passed.
    pub(crate) fn reads_time(&self) -> bool {
        match &self.0 {
            Kind::Policy(_) | Kind::Random(_) => false,
            Kind::Between { inner, .. } => inner.reads_time(),
            Kind::Chain { first, next, .. } => first.reads_time() || next.reads_time(),
            Kind::Sum(pair) => pair.0.reads_time() || pair.1.reads_time(),
            Kind::Custom(_) => true,
        }
    }

    /// The wait after `failed`. The same argument always gives the same answer, except from a
    /// [`custom`](Self::custom) wait that chooses otherwise.
    pub fn after(&self, failed: &Failed) -> Duration {
        match &self.0 {
            Kind::Policy(policy) => {
                policy.delay(failed.attempt, failed.previous, failed.seed.draw())
            }
            Kind::Random(spread) => spread.pick(failed.seed.draw()),
            Kind::Between { inner, low, high } => inner.after(failed).min(*high).max(*low),
            Kind::Chain { first, retries, .. } if failed.attempt <= *retries => first.after(failed),
            Kind::Chain { retries, next, .. } => next.after(&Failed {
                attempt: failed.attempt - retries,
                ..*failed
            }),
            Kind::Sum(pair) => {
                // Two random waits in one sum must not draw the same number.
                let aside = Failed {
                    seed: failed.seed.mix(b"+"),
                    ..*failed
                };
                pair.0.after(failed).saturating_add(pair.1.after(&aside))
            }
            Kind::Custom(compute) => compute(failed),
        }
    }
}

/// One wait after the other.
impl Add for Wait {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(Kind::Sum(Arc::new((self, other))))
    }
}

/// A policy waits by its strategy, cap, jitter and floor.
impl From<Policy> for Wait {
    fn from(policy: Policy) -> Self {
        Self(Kind::Policy(policy))
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(policy) => policy.fmt(f),
            Self::Random(spread) => write!(f, "Random({:?}..={:?})", spread.low, spread.high()),
            Self::Between { inner, low, high } => write!(f, "{inner:?} in {low:?}..={high:?}"),
            Self::Chain {
                first,
                retries,
                next,
            } => {
                write!(f, "{first:?} for {retries} retries, then {next:?}")
            }
            Self::Sum(pair) => write!(f, "({:?} + {:?})", pair.0, pair.1),
            Self::Custom(_) => f.write_str("Custom"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jitter::Jitter;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn failed(attempt: u32) -> Failed {
        let seed = Seed::new(1).mix_u64(u64::from(attempt));
        Failed {
            attempt,
            elapsed: Duration::ZERO,
            previous: None,
            seed,
        }
    }

    fn first<const N: usize>(wait: &Wait) -> [u128; N] {
        std::array::from_fn(|i| wait.after(&failed(i as u32 + 1)).as_millis())
    }

    #[test]
    fn the_plain_waits() {
        assert_eq!(first(&Wait::fixed(ms(5))), [5, 5, 5]);
        assert_eq!(first(&Wait::linear(ms(5))), [5, 10, 15]);
        assert_eq!(first(&Wait::exponential(ms(5))), [5, 10, 20]);
        assert_eq!(
            first(&Wait::from(Policy::exponential(ms(5)).multiplier(3.0))),
            [5, 15, 45]
        );
    }

    #[test]
    fn a_chain_counts_from_one_again() {
        let wait = Wait::fixed(ms(1)).then_after(2, Wait::exponential(ms(10)));
        assert_eq!(first(&wait), [1, 1, 10, 20, 40]);
        let nested = wait.then_after(4, Policy::fixed(ms(7)));
        assert_eq!(first(&nested), [1, 1, 10, 20, 7, 7]);
    }

    #[test]
    fn sums_and_limits() {
        let sum = Wait::linear(ms(10)) + Wait::fixed(ms(1));
        assert_eq!(first(&sum), [11, 21, 31]);
        assert_eq!(first(&sum.clone().at_most(ms(25))), [11, 21, 25]);
        assert_eq!(first(&sum.at_least(ms(20))), [20, 21, 31]);
        let endless = Wait::fixed(Duration::MAX) + Wait::fixed(Duration::MAX);
        assert_eq!(endless.after(&failed(1)), Duration::MAX);
    }

    #[test]
    fn random_waits_stay_in_range_and_repeat_with_the_seed() {
        let wait = Wait::random(ms(10)..=ms(20));
        let seen: [u128; 50] = first(&wait);
        assert!(seen.iter().all(|delay| (10..=20).contains(delay)));
        assert!(seen.iter().any(|delay| *delay != seen[0]));
        assert_eq!(seen, first(&wait));
        let backwards = Wait::random(ms(20)..=ms(10));
        assert_eq!(first(&backwards), [20, 20]);
    }

    #[test]
    fn the_parts_of_a_sum_draw_apart() {
        let part = Wait::random(ms(0)..=ms(1_000_000));
        let sum = part.clone() + part.clone();
        let one = part.after(&failed(1));
        assert_ne!(sum.after(&failed(1)), one * 2);
    }

    #[test]
    fn waits_of_your_own_see_the_failure() {
        let wait = Wait::custom(|failed| {
            failed
                .previous
                .map_or_else(|| ms(6), |previous| previous * 2)
        });
        assert_eq!(wait.after(&failed(1)), ms(6));
        let again = Failed {
            previous: Some(ms(6)),
            ..failed(2)
        };
        assert_eq!(wait.after(&again), ms(12));
    }

    #[test]
    fn a_policy_draws_from_the_attempts_seed() {
        let policy = Policy::fixed(ms(1_000)).jitter(Jitter::Full);
        let expected = policy.delay(1, None, failed(1).seed.draw());
        assert_eq!(Wait::from(policy).after(&failed(1)), expected);
    }
}
