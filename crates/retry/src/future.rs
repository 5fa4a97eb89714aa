//! The async driver: runs the operation and the sleeper as the steps say.
//!
//! It decides nothing. Dropping the future cancels the attempt or the sleep it is in, and leaves
//! nothing behind; no task is spawned.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::clock::ClockInUse;
use crate::error::RetryError;
use crate::operation::AsyncOperation;
use crate::retry::Retry;
use crate::rules::Rules;
use crate::sleeper::Sleeper;
use crate::steps::{Step, Steps};

pin_project! {
    /// The future of an awaited [`Retry`].
    ///
    /// Written out rather than an `async` block, because only a type with a name can stand behind
    /// `.await` on the builder without a box.
    #[must_use = "futures do nothing unless polled"]
    pub struct Retrying<O, R, S>
    where
        O: AsyncOperation,
        S: Sleeper,
    {
        operation: O,
        steps: Steps<R>,
        sleeper: S,
        clock: ClockInUse,
        #[pin]
        state: State<O::Future, S::Sleep>,
    }
}

pin_project! {
    #[project = StateNow]
    enum State<A, Z> {
        Begin,
        Attempt { #[pin] attempt: A },
        Sleep { #[pin] sleep: Z },
        Ended,
    }
}

impl<O, R, S> Future for Retrying<O, R, S>
where
    O: AsyncOperation,
    R: Rules<O::Value, O::Error>,
    S: Sleeper,
{
    type Output = Result<O::Value, RetryError<O::Last>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let next = match this.state.as_mut().project() {
                StateNow::Begin => {
                    this.steps.begin(|| this.clock.now());
                    State::Attempt {
                        attempt: this.operation.start(),
                    }
                }
                StateNow::Attempt { attempt } => {
                    let result = ready!(attempt.poll(context));
                    match this
                        .steps
                        .settle(this.operation, result, || this.clock.now())
                    {
                        Step::Sleep(delay) => State::Sleep {
                            sleep: this.sleeper.sleep(delay),
                        },
                        Step::Done(value) => {
                            this.state.set(State::Ended);
                            return Poll::Ready(Ok(value));
                        }
                        Step::GiveUp(error) => {
                            this.state.set(State::Ended);
                            return Poll::Ready(Err(error));
                        }
                    }
                }
                StateNow::Sleep { sleep } => {
                    ready!(sleep.poll(context));
                    State::Begin
                }
                StateNow::Ended => panic!("a future must not be polled after it has ended"),
            };
            this.state.set(next);
        }
    }
}

impl<O, R, S> IntoFuture for Retry<O, R, S>
where
    O: AsyncOperation,
    R: Rules<O::Value, O::Error>,
    S: Sleeper,
{
    type Output = Result<O::Value, RetryError<O::Last>>;
    type IntoFuture = Retrying<O, R, S>;

    fn into_future(self) -> Self::IntoFuture {
        let (operation, steps, sleeper, clock) = self.into_parts();
        Retrying {
            operation,
            steps,
            sleeper,
            clock,
            state: State::Begin,
        }
    }
}

impl<O: AsyncOperation, R, S: Sleeper> fmt::Debug for Retrying<O, R, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retrying").finish_non_exhaustive()
    }
}
