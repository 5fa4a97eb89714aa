//! How a retried operation ends when it does not succeed.
//!
//! The last error is kept whole and typed, never turned into text.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// The operation did not succeed, and will not be tried again.
///
/// `L` is the last error itself; under [`Retry::until`](crate::Retry::until) it is [`Last`], because
/// then the last attempt may as well have given a value that was not accepted.
///
/// The text says how the retrying ended; what went wrong is the [`source`](Error::source).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryError<L> {
    /// How many attempts were made.
    pub attempts: u32,
    /// How long the run took, to the end of the last attempt.
    ///
    /// It counts from the start of the first attempt if the run is timed: if its plan has a time limit
    /// or a wait or stop condition of your own, if [`before`](crate::Retry::before),
    /// [`after`](crate::Retry::after) or [`Rules`](crate::Rules) watch it, or if it was asked for with
    /// [`timed`](crate::Retry::timed). Otherwise it counts from the end of the first attempt, so that
    /// it is zero after a single one.
    pub elapsed: Duration,
    /// Why there was no further attempt.
    pub reason: GaveUp,
    /// What the last attempt gave.
    pub last: L,
}

impl<L> RetryError<L> {
    /// The last error alone, for callers that do not care how often it was tried.
    pub fn into_last(self) -> L {
        self.last
    }
}

impl<L> fmt::Display for RetryError<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            attempts,
            elapsed,
            reason,
            ..
        } = self;
        let plural = if *attempts == 1 { "" } else { "s" };
        write!(f, "gave up after {attempts} attempt{plural}")?;
        // A run that is not timed has nothing to tell of its first attempt.
        if !elapsed.is_zero() {
            write!(f, " in {elapsed:.1?}")?;
        }
        write!(f, ": {reason}")
    }
}

impl<L: Error + 'static> Error for RetryError<L> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.last)
    }
}

/// Why there was no further attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GaveUp {
    /// All attempts were used.
    Attempts,
    /// The next attempt would have started after the time limit.
    Elapsed,
    /// The error is not one to retry, says [`Retry::when`](crate::Retry::when).
    NotRetryable,
    /// [`Retry::adjust`](crate::Retry::adjust) gave no delay to wait for.
    Adjusted,
    /// A stop condition of your own said so.
    Custom,
}

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Attempts => "no attempts left",
            Self::Elapsed => "the time limit does not allow another attempt",
            Self::NotRetryable => "the error is not retryable",
            Self::Adjusted => "the error asks not to retry",
            Self::Custom => "the stop condition was met",
        })
    }
}

/// What the last attempt gave, where values too can be turned down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Last<T, E> {
    /// It failed.
    Error(E),
    /// It succeeded, but with a value that was not accepted. Here it is: perhaps it is still of use.
    Value(T),
}

impl<T, E> Last<T, E> {
    /// The error, if it was one.
    pub fn error(&self) -> Option<&E> {
        match self {
            Self::Error(error) => Some(error),
            Self::Value(_) => None,
        }
    }

    /// The value, if it was one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Error(_) => None,
            Self::Value(value) => Some(value),
        }
    }
}

impl<T, E: fmt::Display> fmt::Display for Last<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            Self::Value(_) => f.write_str("the value was not accepted"),
        }
    }
}

impl<T: fmt::Debug, E: Error> Error for Last<T, E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error().and_then(Error::source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error<L>(attempts: u32, last: L) -> RetryError<L> {
        RetryError {
            attempts,
            elapsed: Duration::from_millis(3_140),
            reason: GaveUp::Attempts,
            last,
        }
    }

    #[test]
    fn the_text_tells_the_ending_and_the_source_the_cause() {
        let cause = std::io::Error::other("connection refused");
        let error = error(3, cause);
        assert_eq!(
            error.to_string(),
            "gave up after 3 attempts in 3.1s: no attempts left"
        );
        let source = error.source().map(ToString::to_string);
        assert_eq!(source.as_deref(), Some("connection refused"));
    }

    #[test]
    fn one_attempt_is_not_plural() {
        assert!(
            error(1, ())
                .to_string()
                .starts_with("gave up after 1 attempt in")
        );
    }

    #[test]
    fn no_time_is_told_where_none_was_counted() {
        let error = RetryError {
            elapsed: Duration::ZERO,
            ..error(1, ())
        };
        assert_eq!(
            error.to_string(),
            "gave up after 1 attempt: no attempts left"
        );
    }

    #[test]
    fn a_turned_down_value_is_kept() {
        let error = error(2, Last::<_, std::io::Error>::Value("pending"));
        let source = error.source().map(ToString::to_string);
        assert_eq!(source.as_deref(), Some("the value was not accepted"));
        assert_eq!(error.into_last().value(), Some(&"pending"));
    }
}
