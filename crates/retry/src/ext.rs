//! The same entry points as methods on closures, for those who like to read the operation first.
//!
//! They only rearrange the arguments of [`retry`] and [`retry_blocking`].

use crate::clock::{DefaultClock, StdClock};
use crate::operation::{Async, Blocking};
use crate::plan::Plan;
use crate::retry::{Retry, retry, retry_blocking};
use crate::sleeper::{DefaultSleeper, ThreadSleeper};

/// [`retry`] as a method.
///
/// ```
/// use refire_retry::{Policy, RetryExt};
///
/// # #[cfg(not(feature = "tokio"))] fn main() {}
/// # #[cfg(feature = "tokio")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let answer = (|| async { Ok::<_, String>(42) }).retry(Policy::default()).await;
/// assert_eq!(answer, Ok(42));
/// # }
/// ```
pub trait RetryExt: Sized {
    /// Retries this operation by a plan, which is usually a [`Policy`](crate::Policy).
    fn retry(self, plan: impl Into<Plan>) -> Retry<Async<Self>, (), DefaultSleeper, DefaultClock>;
}

impl<F, Fut, T, E> RetryExt for F
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    fn retry(self, plan: impl Into<Plan>) -> Retry<Async<Self>, (), DefaultSleeper, DefaultClock> {
        retry(plan, self)
    }
}

/// [`retry_blocking`] as a method.
///
/// ```
/// use refire_retry::{Policy, RetryBlockingExt};
///
/// let answer = (|| "42".parse::<u32>()).retry_blocking(Policy::default()).call();
/// assert_eq!(answer, Ok(42));
/// ```
pub trait RetryBlockingExt: Sized {
    /// Retries this operation by a plan, which is usually a [`Policy`](crate::Policy).
    fn retry_blocking(
        self,
        plan: impl Into<Plan>,
    ) -> Retry<Blocking<Self>, (), ThreadSleeper, StdClock>;
}

impl<F, T, E> RetryBlockingExt for F
where
    F: FnMut() -> Result<T, E>,
{
    fn retry_blocking(
        self,
        plan: impl Into<Plan>,
    ) -> Retry<Blocking<Self>, (), ThreadSleeper, StdClock> {
        retry_blocking(plan, self)
    }
}
