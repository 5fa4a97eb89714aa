//! What a caller wants to say during a run: which errors to retry, what to do before, after and
//! between.
//!
//! Rules advise; they never run the operation or sleep. They are stacked as nested pairs, so that any
//! number of them costs neither a box nor another type parameter.

use std::time::Duration;

/// One attempt, as hooks see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// Its number, from 1.
    pub number: u32,
    /// The time since the first attempt started: to this one's start before it, to its end after it.
    pub elapsed: Duration,
}

/// A sleep about to begin.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sleep<'a, T, E> {
    /// The number of the attempt that failed, from 1.
    pub attempt: u32,
    /// How long the sleep will be.
    pub delay: Duration,
    /// How long the run has taken, counted like [`RetryError::elapsed`](crate::RetryError::elapsed).
    pub elapsed: Duration,
    /// The error, if the attempt failed with one.
    pub error: Option<&'a E>,
    /// The value, if the attempt gave one that was not accepted.
    pub value: Option<&'a T>,
}

/// Rules for runs whose operation gives a `T` or fails with an `E`.
///
/// [`Retry`](crate::Retry)'s methods make them from closures. Implement this to write down once what
/// many calls share, and add it with [`Retry::rules`](crate::Retry::rules). Each method has a neutral
/// default.
///
/// ```
/// use refire_retry::{Policy, Rules, Sleep, retry_blocking};
///
/// struct Log;
///
/// impl<T, E: std::fmt::Display> Rules<T, E> for Log {
///     fn on_sleep(&mut self, sleep: &Sleep<'_, T, E>) {
///         if let Some(error) = sleep.error {
///             eprintln!("attempt {}: {error}; again in {:?}", sleep.attempt, sleep.delay);
///         }
///     }
/// }
///
/// let policy = Policy::fixed(std::time::Duration::ZERO);
/// let result = retry_blocking(policy, || "7".parse::<u32>()).rules(Log).call();
/// assert_eq!(result, Ok(7));
/// ```
pub trait Rules<T, E> {
    /// Whether [`before`](Self::before) or [`after`](Self::after) is of use. Without them they are not
    /// called, and a run that succeeds at once need not read the clock.
    const WATCHES: bool = true;

    /// Called before each attempt.
    fn before(&mut self, attempt: &Attempt) {
        let _ = attempt;
    }

    /// Called after each attempt.
    fn after(&mut self, attempt: &Attempt, result: &Result<T, E>) {
        let _ = (attempt, result);
    }

    /// Whether `error` is worth another attempt. Stacked rules must all agree.
    fn retryable(&mut self, error: &E) -> bool {
        let _ = error;
        true
    }

    /// The delay to wait after `error` instead of the planned one, or none to give up. Stacked rules
    /// each get the delay of the one before.
    fn adjust(&mut self, error: &E, delay: Duration) -> Option<Duration> {
        let _ = error;
        Some(delay)
    }

    /// Called before each sleep.
    fn on_sleep(&mut self, sleep: &Sleep<'_, T, E>) {
        let _ = sleep;
    }
}

/// No rules.
impl<T, E> Rules<T, E> for () {
    const WATCHES: bool = false;
}

/// Two sets of rules, asked in order.
impl<T, E, A: Rules<T, E>, B: Rules<T, E>> Rules<T, E> for (A, B) {
    const WATCHES: bool = A::WATCHES || B::WATCHES;

    fn before(&mut self, attempt: &Attempt) {
        self.0.before(attempt);
        self.1.before(attempt);
    }

    fn after(&mut self, attempt: &Attempt, result: &Result<T, E>) {
        self.0.after(attempt, result);
        self.1.after(attempt, result);
    }

    fn retryable(&mut self, error: &E) -> bool {
        self.0.retryable(error) && self.1.retryable(error)
    }

    fn adjust(&mut self, error: &E, delay: Duration) -> Option<Duration> {
        let delay = self.0.adjust(error, delay)?;
        self.1.adjust(error, delay)
    }

    fn on_sleep(&mut self, sleep: &Sleep<'_, T, E>) {
        self.0.on_sleep(sleep);
        self.1.on_sleep(sleep);
    }
}

/// The rule of [`Retry::when`](crate::Retry::when).
#[derive(Clone, Copy, Debug)]
pub struct When<F>(pub(crate) F);

impl<T, E, F: FnMut(&E) -> bool> Rules<T, E> for When<F> {
    const WATCHES: bool = false;

    fn retryable(&mut self, error: &E) -> bool {
        self.0(error)
    }
}

/// The rule of [`Retry::before`](crate::Retry::before).
#[derive(Clone, Copy, Debug)]
pub struct Before<F>(pub(crate) F);

impl<T, E, F: FnMut(&Attempt)> Rules<T, E> for Before<F> {
    fn before(&mut self, attempt: &Attempt) {
        self.0(attempt);
    }
}

/// The rule of [`Retry::after`](crate::Retry::after).
#[derive(Clone, Copy, Debug)]
pub struct After<F>(pub(crate) F);

impl<T, E, F: FnMut(&Attempt, &Result<T, E>)> Rules<T, E> for After<F> {
    fn after(&mut self, attempt: &Attempt, result: &Result<T, E>) {
        self.0(attempt, result);
    }
}

/// The rule of [`Retry::timed`](crate::Retry::timed): it watches, and that is all.
#[derive(Clone, Copy, Debug)]
pub struct Timed;

impl<T, E> Rules<T, E> for Timed {}

/// The rule of [`Retry::adjust`](crate::Retry::adjust).
#[derive(Clone, Copy, Debug)]
pub struct Adjust<F>(pub(crate) F);

impl<T, E, F: FnMut(&E, Duration) -> Option<Duration>> Rules<T, E> for Adjust<F> {
    const WATCHES: bool = false;

    fn adjust(&mut self, error: &E, delay: Duration) -> Option<Duration> {
        self.0(error, delay)
    }
}

/// The rule of [`Retry::on_sleep`](crate::Retry::on_sleep).
#[derive(Clone, Copy, Debug)]
pub struct OnSleep<F>(pub(crate) F);

impl<T, E, F: FnMut(&Sleep<'_, T, E>)> Rules<T, E> for OnSleep<F> {
    const WATCHES: bool = false;

    fn on_sleep(&mut self, sleep: &Sleep<'_, T, E>) {
        self.0(sleep);
    }
}
