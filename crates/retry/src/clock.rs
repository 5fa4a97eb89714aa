//! Where the time comes from.
//!
//! Only monotonic time is read, and only to measure how long a run has taken; the wall clock never is.

use std::sync::Arc;
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

/// The clock a run reads. The usual ones are variants of their own, so that only a clock somebody sets
/// costs an allocation.
#[derive(Clone)]
pub(crate) enum ClockInUse {
    Std,
    #[cfg(feature = "tokio")]
    Tokio,
    Custom(Arc<dyn Clock + Send + Sync>),
}

impl ClockInUse {
    /// The clock that goes with the default way of sleeping.
    pub(crate) const fn for_async() -> Self {
        #[cfg(feature = "tokio")]
        return Self::Tokio;
        #[cfg(not(feature = "tokio"))]
        return Self::Std;
    }

    pub(crate) fn now(&self) -> Instant {
        match self {
            Self::Std => Instant::now(),
            // Where tokio's time is paused for a test, elapsed time must stand still with it.
            #[cfg(feature = "tokio")]
            Self::Tokio => tokio::time::Instant::now().into_std(),
            Self::Custom(clock) => clock.now(),
        }
    }
}
