//! The driver for async operations that borrow: runs the operation and the sleeper as the steps say.
//!
//! It decides nothing. Apart from [`future`](crate::future) because a future that holds both a closure
//! and what that closure lends can only be written as an `async fn`, and those have no name to put
//! behind `.await` on the builder.

use crate::clock::Clock;
use crate::error::RetryError;
use crate::operation::LendingOperation;
use crate::retry::Retry;
use crate::rules::Rules;
use crate::sleeper::Sleeper;
use crate::steps::Step;

impl<O, R, S, C> Retry<O, R, S, C>
where
    O: LendingOperation,
    R: Rules<O::Value, O::Error>,
    S: Sleeper,
    C: Clock,
{
    /// Runs the operation until it succeeds or the plan ends.
    pub async fn run(self) -> Result<O::Value, RetryError<O::Last>> {
        let (mut operation, mut steps, sleeper, clock) = self.into_parts();
        loop {
            steps.begin(|| clock.now());
            let result = operation.attempt().await;
            match steps.settle(&mut operation, result, || clock.now()) {
                Step::Done(value) => return Ok(value),
                Step::Sleep(delay) => sleeper.sleep(delay).await,
                Step::GiveUp(error) => return Err(error),
            }
        }
    }
}
