//! Where the time comes from.
//!
//! Only monotonic time is read, and only to measure how long a run has taken; the wall clock never is.

use std::time::Instant;

/// A source of monotonic time.
///
/// Functions that give an [`Instant`] are clocks.
pub trait Clock {
    /// Now. Never earlier than what an earlier call gave.
    fn now(&self) -> Instant;
}

impl<F: Fn() -> Instant> Clock for F {
    fn now(&self) -> Instant {
        self()
    }
}

/// The system's monotonic clock: [`std::time::Instant`].
#[derive(Clone, Copy, Debug, Default)]
pub struct StdClock;

impl Clock for StdClock {
    #[inline]
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// Tokio's clock. Where tokio's time is paused for a test, elapsed time stands still with it.
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioClock;

#[cfg(feature = "tokio")]
impl Clock for TokioClock {
    #[inline]
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
}

/// The clock of async runs unless told otherwise: the one that goes with the way they sleep.
#[cfg(feature = "tokio")]
pub type DefaultClock = TokioClock;

/// The clock of async runs unless told otherwise.
#[cfg(not(feature = "tokio"))]
pub type DefaultClock = StdClock;
