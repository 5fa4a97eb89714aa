//! Why a task could not be done.

use std::fmt::{Debug, Display, Formatter};
use std::time::Duration;

use crate::model::FailTask;

/// Why a task could not be done, and whether another attempt may help. `?` makes one of any error: its message, with
/// its sources as the trace.
pub struct Failure {
    message: String,
    trace: Option<String>,
    is_retryable: bool,
    retry_after: Option<Duration>,
}

impl Failure {
    /// A failure that another attempt may mend.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            trace: None,
            is_retryable: true,
            retry_after: None,
        }
    }

    /// A failure that no other attempt mends: the step fails at once.
    #[must_use]
    pub fn permanent(message: impl Into<String>) -> Self {
        Self {
            is_retryable: false,
            ..Self::new(message)
        }
    }

    /// The next attempt waits so long at least.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Where it happened, line by line.
    #[must_use]
    pub fn trace(mut self, trace: impl Into<String>) -> Self {
        self.trace = Some(trace.into());
        self
    }

    /// Whether another attempt may help.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.is_retryable
    }

    pub(super) fn report(&self) -> FailTask {
        FailTask {
            message: self.message.clone(),
            stack_trace: self.trace.clone(),
            retryable: Some(self.is_retryable),
            // A part of a second is not cut off: earlier than asked for would be wrong.
            retry_after_seconds: self
                .retry_after
                .map(|wait| wait.as_secs() + u64::from(wait.subsec_nanos() > 0)),
        }
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut causes = Vec::new();
        let mut cause = error.source();
        while let Some(source) = cause {
            causes.push(source.to_string());
            cause = source.source();
        }
        let failure = Self::new(error.to_string());
        match causes.is_empty() {
            true => failure,
            false => failure.trace(causes.join("\n")),
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl Debug for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Failure").field(&self.message).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_becomes_a_failure_with_its_causes() {
        let wrong = "x".parse::<u8>().expect_err("no number");
        let error = std::io::Error::other(wrong);
        let report = Failure::from(error).report();
        assert_eq!(report.message, "invalid digit found in string");
        assert_eq!(report.retryable, Some(true));
        let later = Failure::new("busy").retry_after(Duration::from_millis(1_001));
        assert_eq!(later.report().retry_after_seconds, Some(2));
        assert_eq!(Failure::permanent("no").report().retryable, Some(false));
    }
}
