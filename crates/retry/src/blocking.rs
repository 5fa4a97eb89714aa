//! The blocking driver: runs the operation and the sleeper as the steps say, on the calling thread.
//!
//! It decides nothing, and never needs a runtime.

use crate::clock::Clock;
use crate::error::RetryError;
use crate::operation::BlockingOperation;
use crate::retry::Retry;
use crate::rules::Rules;
use crate::sleeper::BlockingSleeper;
use crate::steps::Step;

impl<O, R, S, C> Retry<O, R, S, C>
where
    O: BlockingOperation,
    R: Rules<O::Value, O::Error>,
    S: BlockingSleeper,
    C: Clock,
{
    /// Runs the operation until it succeeds or the plan ends, holding up the thread meanwhile.
    pub fn call(self) -> Result<O::Value, RetryError<O::Last>> {
        let (mut operation, mut steps, sleeper, clock) = self.into_parts();
        loop {
            steps.begin(|| clock.now());
            let result = operation.run();
            match steps.settle(&mut operation, result, || clock.now()) {
                Step::Done(value) => return Ok(value),
                Step::Sleep(delay) => sleeper.sleep(delay),
                Step::GiveUp(error) => return Err(error),
            }
        }
    }
}
