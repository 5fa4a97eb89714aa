//! How a driver sleeps between attempts.
//!
//! A sleeper only passes the time; how long is decided before it is asked.

use std::future::Future;
use std::time::Duration;

/// A way to sleep in async code. Functions from a [`Duration`] to a future are sleepers:
///
/// ```
/// # use std::time::Duration;
/// # use refire_retry::{Policy, retry};
/// # async fn example() {
/// let result = retry(Policy::default(), || async { Ok::<_, String>(1) })
///     .sleeper(|delay: Duration| my_runtime::sleep(delay))
///     .await;
/// # }
/// # mod my_runtime { pub async fn sleep(_: std::time::Duration) {} }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no way to sleep between attempts",
    label = "cannot be awaited before it knows how to sleep",
    note = "enable the feature `tokio` of refire-retry, or call `.sleeper(|delay: Duration| ...)` with your runtime's sleep function"
)]
pub trait Sleeper {
    /// The future that ends when the time has passed.
    type Sleep: Future<Output = ()>;

    /// Sleeps for `delay`.
    fn sleep(&self, delay: Duration) -> Self::Sleep;
}

impl<F, S> Sleeper for F
where
    F: Fn(Duration) -> S,
    S: Future<Output = ()>,
{
    type Sleep = S;

    fn sleep(&self, delay: Duration) -> S {
        self(delay)
    }
}

/// A way to sleep that holds up the thread. Functions that take a [`Duration`] are.
pub trait BlockingSleeper {
    /// Sleeps for `delay`.
    fn sleep(&self, delay: Duration);
}

impl<F: Fn(Duration)> BlockingSleeper for F {
    fn sleep(&self, delay: Duration) {
        self(delay);
    }
}

/// Sleeps on tokio's timer.
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioSleeper;

#[cfg(feature = "tokio")]
impl Sleeper for TokioSleeper {
    type Sleep = tokio::time::Sleep;

    fn sleep(&self, delay: Duration) -> Self::Sleep {
        tokio::time::sleep(delay)
    }
}

/// Stands where a sleeper is missing, with its advice for a name.
#[cfg(not(feature = "tokio"))]
#[derive(Clone, Copy, Debug, Default)]
pub struct EnableFeatureTokioOrCallSleeper;

/// Sleeps with [`std::thread::sleep`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadSleeper;

impl BlockingSleeper for ThreadSleeper {
    fn sleep(&self, delay: Duration) {
        std::thread::sleep(delay);
    }
}

/// How async runs sleep unless told otherwise.
#[cfg(feature = "tokio")]
pub type DefaultSleeper = TokioSleeper;

/// How async runs sleep unless told otherwise: not at all, they need
/// [`Retry::sleeper`](crate::Retry::sleeper) or the feature `tokio`.
#[cfg(not(feature = "tokio"))]
pub type DefaultSleeper = EnableFeatureTokioOrCallSleeper;
