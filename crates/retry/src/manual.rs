//! Time for tests: a clock that moves only when told, and a sleeper that moves it.
//!
//! Nothing here ever waits, so a test of an hour of retrying takes no time.

use std::future::{Ready, ready};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clock::Clock;
use crate::sleeper::{BlockingSleeper, Sleeper};

/// Time under a test's control. Clones share one time, so keep one and hand the others out.
///
/// ```
/// use std::time::Duration;
/// use refire_retry::{ManualTime, Policy, retry_blocking};
///
/// let time = ManualTime::new();
/// let result = retry_blocking(Policy::default().jitter(refire_retry::Jitter::None), || Err::<(), _>("no"))
///     .sleeper(time.clone())
///     .clock(time.clone())
///     .call();
/// assert_eq!(result.unwrap_err().elapsed, Duration::from_secs(62));
/// assert_eq!(time.sleeps().len(), 5);
/// ```
#[derive(Clone, Debug)]
pub struct ManualTime {
    start: Instant,
    passed: Arc<Mutex<Passed>>,
}

#[derive(Debug, Default)]
struct Passed {
    time: Duration,
    sleeps: Vec<Duration>,
}

impl ManualTime {
    /// A time that stands still.
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
            passed: Arc::default(),
        }
    }

    /// Lets `time` pass, as an operation that takes long would.
    pub fn advance(&self, time: Duration) {
        let mut passed = self.passed();
        passed.time = passed.time.saturating_add(time);
    }

    /// How much time has passed, asleep or not.
    pub fn elapsed(&self) -> Duration {
        self.passed().time
    }

    /// The sleeps so far, in order.
    pub fn sleeps(&self) -> Vec<Duration> {
        self.passed().sleeps.clone()
    }

    fn slept(&self, delay: Duration) {
        self.advance(delay);
        self.passed().sleeps.push(delay);
    }

    fn passed(&self) -> MutexGuard<'_, Passed> {
        // The numbers are whole at every moment, so a panic elsewhere cannot have spoilt them.
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ManualTime {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualTime {
    fn now(&self) -> Instant {
        // A time beyond what the system can represent stays at the start rather than panic.
        self.start.checked_add(self.elapsed()).unwrap_or(self.start)
    }
}

impl Sleeper for ManualTime {
    type Sleep = Ready<()>;

    fn sleep(&self, delay: Duration) -> Self::Sleep {
        self.slept(delay);
        ready(())
    }
}

impl BlockingSleeper for ManualTime {
    fn sleep(&self, delay: Duration) {
        self.slept(delay);
    }
}
