// The examples in there await on tokio, so without it they are shown but not run.
#![cfg_attr(any(feature = "tokio", not(doctest)), doc = include_str!("../README.md"))]
#![deny(missing_docs)]

mod blocking;
mod clock;
mod error;
mod ext;
mod future;
mod jitter;
mod lending;
mod manual;
mod operation;
mod plan;
mod policy;
mod retry;
mod rules;
mod seed;
mod sleeper;
mod steps;
mod stop;
mod strategy;
mod timeline;
mod wait;

#[cfg(feature = "tokio")]
pub use clock::TokioClock;
pub use clock::{Clock, DefaultClock, StdClock};
pub use error::{GaveUp, Last, RetryError};
pub use ext::{RetryBlockingExt, RetryExt};
pub use future::Retrying;
pub use jitter::Jitter;
pub use manual::ManualTime;
pub use operation::{
    Async, AsyncOperation, Blocking, BlockingOperation, Lending, LendingOperation, Operation, Until,
};
pub use plan::Plan;
pub use policy::{Policy, Range};
pub use retry::{Retry, retry, retry_blocking, retry_mut};
pub use rules::{Adjust, After, Attempt, Before, OnSleep, Rules, Sleep, Timed, When};
pub use seed::{Draw, Seed};
#[cfg(not(feature = "tokio"))]
pub use sleeper::EnableFeatureTokioOrCallSleeper;
#[cfg(feature = "tokio")]
pub use sleeper::TokioSleeper;
pub use sleeper::{BlockingSleeper, DefaultSleeper, Sleeper, ThreadSleeper};
pub use stop::Stop;
pub use strategy::Strategy;
pub use timeline::{Ending, Planned, TIMELINE_RETRIES_MAX, Timeline};
pub use wait::{Failed, Wait};
