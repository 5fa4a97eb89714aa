//! The builder: what to retry, and every choice about how.
//!
//! It collects choices and decides nothing; awaiting or calling it starts the run.

use std::fmt;
use std::time::Duration;

use crate::clock::{Clock, DefaultClock, StdClock};
use crate::operation::{Async, Blocking, Lending, Operation, Until};
use crate::plan::Plan;
use crate::rules::{Adjust, After, Attempt, Before, OnSleep, Rules, Sleep, Timed, When};
use crate::seed::Seed;
use crate::sleeper::{DefaultSleeper, ThreadSleeper};
use crate::steps::Steps;

/// Retries an async operation by a plan, which is usually a [`Policy`](crate::Policy).
///
/// ```
/// use std::time::Duration;
/// use refire_retry::{Policy, retry};
///
/// # #[cfg(not(feature = "tokio"))] fn main() {}
/// # #[cfg(feature = "tokio")]
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let mut calls = 0;
/// let answer = retry(Policy::exponential(Duration::from_secs(1)), || {
///     calls += 1;
///     let call = calls;
///     async move { if call < 3 { Err("busy") } else { Ok(42) } }
/// })
/// .await;
/// assert_eq!(answer.unwrap(), 42);
/// # }
/// ```
pub fn retry<F, Fut, T, E>(
    plan: impl Into<Plan>,
    operation: F,
) -> Retry<Async<F>, (), DefaultSleeper, DefaultClock>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    Retry {
        operation: Async(operation),
        plan: plan.into(),
        rules: (),
        sleeper: DefaultSleeper::default(),
        seed: None,
        clock: DefaultClock::default(),
    }
}

/// Retries an async operation that changes what it borrows, which [`retry`] cannot take. Nothing runs
/// before [`Retry::run`].
///
/// In a spawned task the closure must own what it changes (`async move`), since the compiler cannot yet
/// prove that a borrowing one may move between threads.
///
/// ```
/// use std::time::Duration;
/// use refire_retry::{Policy, retry_mut};
///
/// async fn send(connection: &mut Vec<&str>) -> Result<usize, &'static str> {
///     connection.push("hello");
///     if connection.len() < 3 { Err("busy") } else { Ok(connection.len()) }
/// }
///
/// # #[cfg(not(feature = "tokio"))] fn main() {}
/// # #[cfg(feature = "tokio")]
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let mut connection = Vec::new();
/// let policy = Policy::exponential(Duration::from_secs(1));
/// let sent = retry_mut(policy, async || send(&mut connection).await).run().await;
/// assert_eq!(sent.unwrap(), 3);
/// # }
/// ```
pub fn retry_mut<F, T, E>(
    plan: impl Into<Plan>,
    operation: F,
) -> Retry<Lending<F>, (), DefaultSleeper, DefaultClock>
where
    F: AsyncFnMut() -> Result<T, E>,
{
    Retry {
        operation: Lending(operation),
        plan: plan.into(),
        rules: (),
        sleeper: DefaultSleeper::default(),
        seed: None,
        clock: DefaultClock::default(),
    }
}

/// Retries a blocking operation by a plan, which is usually a [`Policy`](crate::Policy). Nothing runs
/// before [`Retry::call`].
///
/// ```
/// use std::time::Duration;
/// use refire_retry::{Policy, retry_blocking};
///
/// let mut calls = 0;
/// let answer = retry_blocking(Policy::fixed(Duration::from_millis(1)), || {
///     calls += 1;
///     if calls < 3 { Err("busy") } else { Ok(42) }
/// })
/// .call();
/// assert_eq!(answer.unwrap(), 42);
/// ```
pub fn retry_blocking<F, T, E>(
    plan: impl Into<Plan>,
    operation: F,
) -> Retry<Blocking<F>, (), ThreadSleeper, StdClock>
where
    F: FnMut() -> Result<T, E>,
{
    Retry {
        operation: Blocking(operation),
        plan: plan.into(),
        rules: (),
        sleeper: ThreadSleeper,
        seed: None,
        clock: StdClock,
    }
}

/// A run of attempts, not yet begun: the operation `O`, the rules `R` to run it by, the way to sleep,
/// `S`, and the clock `C`.
///
/// Made by [`retry`], [`retry_mut`] or [`retry_blocking`]; started by `.await`, [`run`](Self::run) or
/// [`call`](Self::call) in the same order. The parameters have no defaults on purpose: a missing
/// sleeper must show in the compiler's message.
#[must_use = "nothing runs before it is awaited, or called if it is blocking"]
#[derive(Clone)]
pub struct Retry<O, R, S, C> {
    operation: O,
    plan: Plan,
    rules: R,
    sleeper: S,
    seed: Option<Seed>,
    clock: C,
}

impl<O: Operation, R, S, C> Retry<O, R, S, C> {
    /// Retries only errors for which `predicate` holds. Others end the run at once, with
    /// [`GaveUp::NotRetryable`](crate::GaveUp::NotRetryable).
    pub fn when<F>(self, predicate: F) -> Retry<O, (R, When<F>), S, C>
    where
        F: FnMut(&O::Error) -> bool,
    {
        self.rules(When(predicate))
    }

    /// Calls `hook` before each attempt.
    pub fn before<F>(self, hook: F) -> Retry<O, (R, Before<F>), S, C>
    where
        F: FnMut(&Attempt),
    {
        self.rules(Before(hook))
    }

    /// Calls `hook` after each attempt, with what it gave.
    pub fn after<F>(self, hook: F) -> Retry<O, (R, After<F>), S, C>
    where
        F: FnMut(&Attempt, &Result<O::Value, O::Error>),
    {
        self.rules(After(hook))
    }

    /// Calls `hook` before each sleep.
    pub fn on_sleep<F>(self, hook: F) -> Retry<O, (R, OnSleep<F>), S, C>
    where
        F: FnMut(&Sleep<'_, O::Value, O::Error>),
    {
        self.rules(OnSleep(hook))
    }

    /// Lets an error change the delay after it, as a `Retry-After` header does: `adjust` is given the
    /// error and the planned delay. Where it gives none, the run ends with
    /// [`GaveUp::Adjusted`](crate::GaveUp::Adjusted). A time limit still holds for what it gives.
    pub fn adjust<F>(self, adjust: F) -> Retry<O, (R, Adjust<F>), S, C>
    where
        F: FnMut(&O::Error, Duration) -> Option<Duration>,
    {
        self.rules(Adjust(adjust))
    }

    /// Adds rules of your own.
    pub fn rules<N>(self, rules: N) -> Retry<O, (R, N), S, C>
    where
        N: Rules<O::Value, O::Error>,
    {
        let Self {
            operation,
            plan,
            rules: before,
            sleeper,
            seed,
            clock,
        } = self;
        Retry {
            operation,
            plan,
            rules: (before, rules),
            sleeper,
            seed,
            clock,
        }
    }

    /// Retries as long as the value is not one that `accept` holds for, too.
    ///
    /// The last value may then be all there is when the run ends without success, so the error becomes
    /// a `RetryError<Last<T, E>>`: [`Last`](crate::Last) is either the last error or the last value.
    /// Can be said once only; combine predicates with `&&`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use refire_retry::{Last, Policy, retry_blocking};
    ///
    /// let result = retry_blocking(Policy::fixed(Duration::ZERO), || Ok::<_, String>("pending"))
    ///     .until(|state| *state == "ready")
    ///     .call();
    /// assert_eq!(result.unwrap_err().last, Last::Value("pending"));
    /// ```
    pub fn until<P>(self, accept: P) -> Retry<Until<O, P>, R, S, C>
    where
        O: Operation<Last = <O as Operation>::Error>,
        P: FnMut(&O::Value) -> bool,
    {
        let Self {
            operation,
            plan,
            rules,
            sleeper,
            seed,
            clock,
        } = self;
        let operation = Until { operation, accept };
        Retry {
            operation,
            plan,
            rules,
            sleeper,
            seed,
            clock,
        }
    }

    /// Draws jitter from `seed`, so that the delays are the same each time. Otherwise from one nobody
    /// can foresee.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sleeps by other means: a [`Sleeper`](crate::Sleeper) if the operation is async, a
    /// [`BlockingSleeper`](crate::BlockingSleeper) if it blocks. In a closure, write the type of the
    /// argument out: `|delay: Duration| ...`.
    pub fn sleeper<N>(self, sleeper: N) -> Retry<O, R, N, C> {
        let Self {
            operation,
            plan,
            rules,
            sleeper: _,
            seed,
            clock,
        } = self;
        Retry {
            operation,
            plan,
            rules,
            sleeper,
            seed,
            clock,
        }
    }

    /// Counts the time from the start of the first attempt, for the `elapsed` of the error and of
    /// [`on_sleep`](Self::on_sleep).
    ///
    /// Time limits and the hooks [`before`](Self::before) and [`after`](Self::after) imply it. In a run
    /// without any of them the time counts from the end of the first attempt, because reading the
    /// clock would cost more than all the rest of a run that succeeds at once.
    pub fn timed(self) -> Retry<O, (R, Timed), S, C> {
        self.rules(Timed)
    }

    /// Measures time by another clock. Without this it is tokio's for async operations, where the
    /// feature `tokio` is on, and [`std::time::Instant`] otherwise.
    pub fn clock<N: Clock>(self, clock: N) -> Retry<O, R, S, N> {
        let Self {
            operation,
            plan,
            rules,
            sleeper,
            seed,
            clock: _,
        } = self;
        Retry {
            operation,
            plan,
            rules,
            sleeper,
            seed,
            clock,
        }
    }

    #[inline]
    pub(crate) fn into_parts(self) -> (O, Steps<R>, S, C) {
        let steps = Steps::new(self.plan, self.rules, self.seed);
        (self.operation, steps, self.sleeper, self.clock)
    }
}

impl<O, R, S, C> fmt::Debug for Retry<O, R, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("plan", &self.plan)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
