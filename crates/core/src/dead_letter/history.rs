//! What the log says of a failed step's attempts.

use std::collections::HashMap;

use crate::time::Timestamp;

/// One failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryEntry {
    /// The attempt that failed.
    pub attempt: u32,
    /// Its error's message.
    pub error: String,
    /// The wait that followed; absent after the last.
    pub delay_ms: Option<u64>,
    /// When it failed.
    pub at: Timestamp,
}

/// An event of [`RetryHistory::EVENTS`] about the step, from narrow columns: payloads stay unread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// Whether an attempt failed; otherwise the next one waits.
    pub is_failure: bool,
    /// The attempt that it is about.
    pub attempt: u32,
    /// Why it failed.
    pub reason: Option<String>,
    /// How long it waits.
    pub backoff_ms: Option<u64>,
    /// When that was.
    pub at: Timestamp,
}

/// The last failed attempts of a step, from the newest event to the oldest: read backwards, a wait
/// comes before the failure that it follows.
#[derive(Debug, Default)]
pub struct RetryHistory {
    entries: Vec<RetryEntry>,
    waits: HashMap<u32, Option<u64>>,
}

impl RetryHistory {
    /// The event of an attempt that failed.
    pub const FAILED: &str = "STEP_FAILED";
    /// All events that it is made from.
    pub const EVENTS: [&str; 2] = [Self::FAILED, "RETRY_SCHEDULED"];
    /// Failed attempts, at most.
    pub const MAX: usize = 50;

    /// Takes the next older event.
    pub fn add(&mut self, tried: Tried) {
        let attempt = tried.attempt;
        if !tried.is_failure {
            self.waits.insert(attempt, tried.backoff_ms);
        } else if !self.is_full() {
            self.entries.push(RetryEntry {
                attempt,
                error: tried.reason.unwrap_or_default(),
                delay_ms: self.waits.get(&(attempt + 1)).copied().flatten(),
                at: tried.at,
            });
        }
    }

    /// Whether older events change nothing.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.entries.len() >= Self::MAX
    }

    /// The attempts, oldest first.
    #[must_use]
    pub fn oldest_first(mut self) -> Vec<RetryEntry> {
        self.entries.reverse();
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::EventKind;

    #[test]
    fn each_failure_has_the_wait_after_it() {
        let mut history = RetryHistory::default();
        for attempt in (1..=60).rev() {
            for is_failure in [false, true] {
                history.add(Tried {
                    is_failure,
                    attempt,
                    reason: Some(format!("failure {attempt}")),
                    backoff_ms: Some(u64::from(attempt)),
                    at: Timestamp::from_millis(0),
                });
            }
        }
        let entries = history.oldest_first();
        assert_eq!(entries.len(), RetryHistory::MAX);
        let seen: Vec<_> = entries.iter().map(|it| (it.attempt, it.delay_ms)).collect();
        assert_eq!((seen[0], seen[49]), ((11, Some(12)), (60, None)));
        assert_eq!(entries[0].error, "failure 11");
    }

    #[test]
    fn its_events_have_names_that_are_written() {
        let is_known = |name: &&str| EventKind::NAMES.contains(name);
        assert!(RetryHistory::EVENTS.iter().all(is_known));
    }
}
