//! When to stop retrying, as a value composed with `|` (either) and `&` (both).
//!
//! A stop condition is asked after each failed attempt, never while one runs: it cannot cut an attempt
//! short. Put a timeout inside the operation for that.

use std::fmt;
use std::ops::{BitAnd, BitOr};
use std::sync::Arc;
use std::time::Duration;

use crate::error::GaveUp;
use crate::policy::Policy;
use crate::wait::Failed;

/// When to stop retrying.
///
/// ```
/// use std::time::Duration;
/// use refire_retry::Stop;
///
/// // Ten attempts or one minute, whichever ends first.
/// let either = Stop::attempts(10) | Stop::elapsed(Duration::from_secs(60));
/// // At least three attempts, even if they take longer than a minute.
/// let both = Stop::attempts(3) & Stop::elapsed(Duration::from_secs(60));
/// ```
#[derive(Clone, Debug)]
pub struct Stop(Kind);

type Condition = dyn Fn(&Failed, Duration) -> bool + Send + Sync;

#[derive(Clone)]
enum Kind {
    /// Either limit, where there is one. The plain limits share a leaf so that the usual conditions
    /// live on the stack.
    Limits {
        attempts: Option<u32>,
        elapsed: Option<Duration>,
    },
    Either(Arc<(Stop, Stop)>),
    Both(Arc<(Stop, Stop)>),
    Custom(Arc<Condition>),
}

impl Stop {
    /// Never: retry until it works, or is not retryable.
    pub const fn never() -> Self {
        Self(Kind::Limits {
            attempts: None,
            elapsed: None,
        })
    }

    /// After this many attempts in all. Zero is taken as one.
    pub const fn attempts(attempts: u32) -> Self {
        Self(Kind::Limits {
            attempts: Some(attempts),
            elapsed: None,
        })
    }

    /// When the next attempt could only start later than `limit` after the start of the first.
    ///
    /// The wait counts: it is pointless to sleep only to find the time used up.
    pub const fn elapsed(limit: Duration) -> Self {
        Self(Kind::Limits {
            attempts: None,
            elapsed: Some(limit),
        })
    }

    /// When `condition` says so; it is given the failed attempt and the wait that would follow.
    ///
    /// It may be asked twice about one failure, first with a wait of zero.
    pub fn custom(condition: impl Fn(&Failed, Duration) -> bool + Send + Sync + 'static) -> Self {
        Self(Kind::Custom(Arc::new(condition)))
    }

    /// Whether the answer may depend on the time that has passed.
    pub(crate) fn reads_time(&self) -> bool {
        match &self.0 {
            Kind::Limits { elapsed, .. } => elapsed.is_some(),
            Kind::Either(pair) | Kind::Both(pair) => pair.0.reads_time() || pair.1.reads_time(),
            Kind::Custom(_) => true,
        }
    }

    /// Why to stop now, if so, given that the next attempt would come after `delay`.
    pub fn reason(&self, failed: &Failed, delay: Duration) -> Option<GaveUp> {
        match &self.0 {
            Kind::Limits { attempts, elapsed } => {
                if attempts.is_some_and(|limit| failed.attempt >= limit) {
                    Some(GaveUp::Attempts)
                } else if elapsed.is_some_and(|limit| failed.elapsed.saturating_add(delay) > limit)
                {
                    Some(GaveUp::Elapsed)
                } else {
                    None
                }
            }
            Kind::Either(pair) => pair
                .0
                .reason(failed, delay)
                .or_else(|| pair.1.reason(failed, delay)),
            Kind::Both(pair) => pair
                .0
                .reason(failed, delay)
                .and_then(|_| pair.1.reason(failed, delay)),
            Kind::Custom(condition) => condition(failed, delay).then_some(GaveUp::Custom),
        }
    }
}

/// Either condition.
impl BitOr for Stop {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        match (self.0, other.0) {
            (
                Kind::Limits {
                    attempts: a1,
                    elapsed: e1,
                },
                Kind::Limits {
                    attempts: a2,
                    elapsed: e2,
                },
            ) => Self(Kind::Limits {
                attempts: stricter(a1, a2),
                elapsed: stricter(e1, e2),
            }),
            (one, two) => Self(Kind::Either(Arc::new((Self(one), Self(two))))),
        }
    }
}

/// Both conditions; the reason given is the second's.
impl BitAnd for Stop {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(Kind::Both(Arc::new((self, other))))
    }
}

/// A policy stops after its attempts or its time limit.
impl From<&Policy> for Stop {
    fn from(policy: &Policy) -> Self {
        Self(Kind::Limits {
            attempts: Some(policy.max_attempts()),
            elapsed: policy.max_elapsed,
        })
    }
}

fn stricter<L: Ord>(one: Option<L>, two: Option<L>) -> Option<L> {
    match (one, two) {
        (Some(one), Some(two)) => Some(one.min(two)),
        (one, two) => one.or(two),
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limits { attempts, elapsed } => f
                .debug_struct("Limits")
                .field("attempts", attempts)
                .field("elapsed", elapsed)
                .finish(),
            Self::Either(pair) => write!(f, "({:?} | {:?})", pair.0, pair.1),
            Self::Both(pair) => write!(f, "({:?} & {:?})", pair.0, pair.1),
            Self::Custom(_) => f.write_str("Custom"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn failed(attempt: u32, elapsed_secs: u64) -> Failed {
        let elapsed = Duration::from_secs(elapsed_secs);
        Failed {
            attempt,
            elapsed,
            previous: None,
            seed: Seed::new(0),
        }
    }

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn attempts_count_the_first_one() {
        let stop = Stop::attempts(3);
        assert_eq!(stop.reason(&failed(2, 0), secs(1)), None);
        assert_eq!(stop.reason(&failed(3, 0), secs(1)), Some(GaveUp::Attempts));
        assert_eq!(
            Stop::attempts(0).reason(&failed(1, 0), secs(1)),
            Some(GaveUp::Attempts)
        );
    }

    #[test]
    fn elapsed_counts_the_wait_to_come() {
        let stop = Stop::elapsed(secs(10));
        assert_eq!(stop.reason(&failed(1, 8), secs(2)), None);
        assert_eq!(stop.reason(&failed(1, 8), secs(3)), Some(GaveUp::Elapsed));
        assert_eq!(
            stop.reason(&failed(1, 8), Duration::MAX),
            Some(GaveUp::Elapsed)
        );
    }

    #[test]
    fn either_stops_at_the_first_and_both_at_the_last() {
        let either = Stop::attempts(3) | Stop::elapsed(secs(10));
        assert_eq!(
            either.reason(&failed(3, 0), secs(1)),
            Some(GaveUp::Attempts)
        );
        assert_eq!(
            either.reason(&failed(1, 10), secs(1)),
            Some(GaveUp::Elapsed)
        );

        let both = Stop::attempts(3) & Stop::elapsed(secs(10));
        assert_eq!(both.reason(&failed(3, 0), secs(1)), None);
        assert_eq!(both.reason(&failed(1, 10), secs(1)), None);
        assert_eq!(both.reason(&failed(3, 10), secs(1)), Some(GaveUp::Elapsed));
    }

    #[test]
    fn merging_plain_limits_means_the_same_as_asking_each() {
        let merged = Stop::attempts(5) | Stop::attempts(3) | Stop::never() | Stop::elapsed(secs(9));
        assert_eq!(
            merged.reason(&failed(3, 0), secs(0)),
            Some(GaveUp::Attempts)
        );
        assert_eq!(merged.reason(&failed(2, 9), secs(1)), Some(GaveUp::Elapsed));
        assert_eq!(merged.reason(&failed(2, 9), secs(0)), None);
    }

    #[test]
    fn conditions_of_your_own_compose_too() {
        let odd = Stop::custom(|failed, _| failed.attempt % 2 == 1);
        let stop = (odd.clone() & Stop::elapsed(secs(5))) | Stop::attempts(4);
        assert_eq!(odd.reason(&failed(1, 0), secs(0)), Some(GaveUp::Custom));
        assert_eq!(stop.reason(&failed(1, 0), secs(0)), None);
        assert_eq!(stop.reason(&failed(3, 6), secs(0)), Some(GaveUp::Elapsed));
        assert_eq!(stop.reason(&failed(4, 0), secs(0)), Some(GaveUp::Attempts));
        assert!(format!("{stop:?}").contains('&'));
    }

    #[test]
    fn a_policy_stops_by_its_own_limits() {
        let policy = Policy::fixed(secs(1)).attempts(2).max_elapsed(secs(7));
        let stop = Stop::from(&policy);
        assert_eq!(stop.reason(&failed(1, 0), secs(1)), None);
        assert_eq!(stop.reason(&failed(2, 0), secs(1)), Some(GaveUp::Attempts));
        assert_eq!(stop.reason(&failed(1, 7), secs(1)), Some(GaveUp::Elapsed));
    }
}
