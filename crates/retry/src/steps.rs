//! The one place that decides what comes after an attempt.
//!
//! It is fed with results and the time, and answers with what to do. It does no input or output: the
//! drivers run the operation, read the clock and sleep, and decide nothing.

use std::time::{Duration, Instant};

use crate::error::{GaveUp, RetryError};
use crate::operation::Operation;
use crate::plan::Plan;
use crate::rules::{Attempt, Rules, Sleep};
use crate::seed::Seed;
use crate::wait::Failed;

/// What to do next.
#[derive(Debug, PartialEq)]
pub(crate) enum Step<T, L> {
    /// Return the value.
    Done(T),
    /// Sleep, then begin another attempt.
    Sleep(Duration),
    /// Return the error.
    GiveUp(RetryError<L>),
}

/// A run of attempts.
pub(crate) struct Steps<R> {
    plan: Plan,
    rules: R,
    /// Drawn when first needed, if the caller set none: most runs succeed without.
    seed: Option<Seed>,
    /// Where the time counts from, once that is known: the start of the first attempt if something
    /// looks at the time, and its end if not.
    since: Option<Instant>,
    attempt: u32,
    /// What the plan gave for the last wait, before any adjusting.
    previous: Option<Duration>,
}

impl<R> Steps<R> {
    #[inline]
    pub(crate) fn new(plan: Plan, rules: R, seed: Option<Seed>) -> Self {
        Self {
            plan,
            rules,
            seed,
            since: None,
            attempt: 0,
            previous: None,
        }
    }

    /// Call before each attempt. `now` is called only if the time is needed.
    ///
    /// A reading of the clock takes several times as long as all the rest of a run that succeeds at
    /// once, so such a run makes none unless something asks for the time.
    #[inline]
    pub(crate) fn begin<T, E>(&mut self, now: impl FnOnce() -> Instant)
    where
        R: Rules<T, E>,
    {
        self.attempt = self.attempt.saturating_add(1);
        if R::WATCHES {
            let elapsed = self.elapsed(now());
            self.rules.before(&Attempt {
                number: self.attempt,
                elapsed,
            });
        } else if self.attempt == 1 && self.plan.reads_time() {
            self.since = Some(now());
        }
    }

    /// Call with the result of each attempt. `now` is called only if the time is needed.
    #[inline]
    pub(crate) fn settle<O>(
        &mut self,
        operation: &mut O,
        result: Result<O::Value, O::Error>,
        now: impl FnOnce() -> Instant,
    ) -> Step<O::Value, O::Last>
    where
        O: Operation,
        R: Rules<O::Value, O::Error>,
    {
        if R::WATCHES {
            let elapsed = self.elapsed(now());
            self.rules.after(
                &Attempt {
                    number: self.attempt,
                    elapsed,
                },
                &result,
            );
            match operation.judge(result) {
                Ok(value) => Step::Done(value),
                Err(last) => self.fail::<O>(last, |_| elapsed),
            }
        } else {
            match operation.judge(result) {
                Ok(value) => Step::Done(value),
                Err(last) => self.fail::<O>(last, |steps| steps.elapsed(now())),
            }
        }
    }

    /// Apart from the success, down to the clock, so that a success does not pay for it.
    #[cold]
    #[inline(never)]
    fn fail<O>(
        &mut self,
        last: O::Last,
        elapsed: impl FnOnce(&mut Self) -> Duration,
    ) -> Step<O::Value, O::Last>
    where
        O: Operation,
        R: Rules<O::Value, O::Error>,
    {
        let attempt = self.attempt;
        let elapsed = elapsed(self);
        let error = O::error(&last);
        match self.delay(error, elapsed) {
            Ok(delay) => {
                let value = O::value(&last);
                self.rules.on_sleep(&Sleep {
                    attempt,
                    delay,
                    elapsed,
                    error,
                    value,
                });
                Step::Sleep(delay)
            }
            Err(reason) => Step::GiveUp(RetryError {
                attempts: attempt,
                elapsed,
                reason,
                last,
            }),
        }
    }

    /// How long to wait after this failure, or why not to go on.
    fn delay<T, E>(&mut self, error: Option<&E>, elapsed: Duration) -> Result<Duration, GaveUp>
    where
        R: Rules<T, E>,
    {
        if error.is_some_and(|error| !self.rules.retryable(error)) {
            return Err(GaveUp::NotRetryable);
        }
        let seed = *self.seed.get_or_insert_with(Seed::random);
        let failed = Failed {
            attempt: self.attempt,
            elapsed,
            previous: self.previous,
            seed: seed.mix_u64(u64::from(self.attempt)),
        };
        // Asked before the wait is known, so that a run that is over anyway does not trouble the
        // adjusting rules; and asked again when it is, since the wait may be too long.
        let stopped = |delay| self.plan.stop(&failed, delay).map_or(Ok(delay), Err);
        stopped(Duration::ZERO)?;
        let planned = self.plan.wait(&failed);
        let delay = match error {
            Some(error) => self.rules.adjust(error, planned).ok_or(GaveUp::Adjusted)?,
            None => planned,
        };
        stopped(delay)?;
        self.previous = Some(planned);
        Ok(delay)
    }

    /// The time counted so far; it begins to count now if it did not before.
    fn elapsed(&mut self, now: Instant) -> Duration {
        now.saturating_duration_since(*self.since.get_or_insert(now))
    }
}

#[cfg(test)]
mod tests;
