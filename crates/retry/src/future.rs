//! The async driver: runs the operation and the sleeper as the steps say.
//!
//! It decides nothing. Dropping the future cancels the attempt or the sleep it is in, and leaves
//! nothing behind; no task is spawned.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::clock::Clock;
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
    pub struct Retrying<O, R, S, C>
    where
        O: AsyncOperation,
        S: Sleeper,
    {
        operation: O,
        steps: Steps<R>,
        sleeper: S,
        clock: C,
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

impl<O, R, S, C> Future for Retrying<O, R, S, C>
where
    O: AsyncOperation,
    R: Rules<O::Value, O::Error>,
    S: Sleeper,
    C: Clock,
{
    type Output = Result<O::Value, RetryError<O::Last>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match ready!(self.as_mut().attempt(context)) {
            Some(end) => Poll::Ready(end),
            None => self.retry(context),
        }
    }
}

impl<O, R, S, C> Retrying<O, R, S, C>
where
    O: AsyncOperation,
    R: Rules<O::Value, O::Error>,
    S: Sleeper,
    C: Clock,
{
    /// Begins an attempt or goes on with it, and gives the run's end. None if a sleep comes first.
    ///
    /// Always inlined, because a run that succeeds at once takes half as long again if this is a call.
    #[inline(always)]
    fn attempt(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<<Self as Future>::Output>> {
        let mut this = self.as_mut().project();
        if let StateNow::Begin = this.state.as_mut().project() {
            this.steps.begin(|| this.clock.now());
            let attempt = this.operation.start();
            this.state.set(State::Attempt { attempt });
        }
        let result = match this.state.as_mut().project() {
            StateNow::Attempt { attempt } => ready!(attempt.poll(context)),
            StateNow::Begin | StateNow::Sleep { .. } => return Poll::Ready(None),
            StateNow::Ended => panic!("a future must not be polled after it has ended"),
        };
        let step = this
            .steps
            .settle(this.operation, result, || this.clock.now());
        if let Step::Done(value) = step {
            this.state.set(State::Ended);
            Poll::Ready(Some(Ok(value)))
        } else {
            Poll::Ready(self.after_failure(step))
        }
    }

    /// Ends the run or begins a sleep. A call of its own, so that a success does not pay for it.
    #[cold]
    #[inline(never)]
    fn after_failure(
        self: Pin<&mut Self>,
        step: Step<O::Value, O::Last>,
    ) -> Option<<Self as Future>::Output> {
        let mut this = self.project();
        let (next, end) = match step {
            Step::Done(value) => (State::Ended, Some(Ok(value))),
            Step::GiveUp(error) => (State::Ended, Some(Err(error))),
            Step::Sleep(delay) => {
                let sleep = this.sleeper.sleep(delay);
                (State::Sleep { sleep }, None)
            }
        };
        this.state.set(next);
        end
    }

    /// Sleeps and tries again until the end.
    #[cold]
    #[inline(never)]
    fn retry(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<<Self as Future>::Output> {
        loop {
            let mut this = self.as_mut().project();
            if let StateNow::Sleep { sleep } = this.state.as_mut().project() {
                ready!(sleep.poll(context));
                this.state.set(State::Begin);
            }
            if let Some(end) = ready!(self.as_mut().attempt(context)) {
                return Poll::Ready(end);
            }
        }
    }
}

impl<O, R, S, C> IntoFuture for Retry<O, R, S, C>
where
    O: AsyncOperation,
    R: Rules<O::Value, O::Error>,
    S: Sleeper,
    C: Clock,
{
    type Output = Result<O::Value, RetryError<O::Last>>;
    type IntoFuture = Retrying<O, R, S, C>;

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

impl<O: AsyncOperation, R, S: Sleeper, C> fmt::Debug for Retrying<O, R, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retrying").finish_non_exhaustive()
    }
}
