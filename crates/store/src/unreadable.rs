//! Rows of work, and of triggers that are due, that cannot be read: damaged, or changed from outside.
//! Whoever walks over many of them leaves such a row out and goes on, so that one of them does not stop
//! the rest.

use std::collections::HashSet;
use std::error::Error;
use std::fmt::Display;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::ReadError;

/// Rows that a walk leaves out at most, so that it has an end.
pub(crate) const LEFT_OUT_MAX: u32 = 10_000;

/// Rows that are told of; beyond these the log has said enough.
const TOLD_MAX: usize = 1_000;

/// The rows that were told of, since the same one is met again and again.
static TOLD: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

/// The row, if it can be read; else the log names its execution, once.
pub(crate) fn readable<T, E: Error + 'static>(
    read: Result<T, E>,
    execution: impl Display,
) -> Option<T> {
    read.map_err(|error| {
        if is_new(execution.to_string()) {
            tracing::warn!(
                %execution,
                error = &error as &dyn Error,
                "a row of the execution's work cannot be read and is left out: \
                 the execution stands still until the row is mended"
            );
        }
    })
    .ok()
}

/// The same for a trigger and where it stands.
pub(crate) fn readable_trigger<T>(
    read: Result<T, ReadError>,
    name: impl FnOnce() -> String,
) -> Option<T> {
    read.map_err(|error| {
        let trigger = name();
        if is_new(trigger.clone()) {
            tracing::warn!(
                %trigger,
                error = &error as &dyn Error,
                "the trigger, or where it stands, cannot be read and is left out: \
                 it starts nothing until the row is mended"
            );
        }
    })
    .ok()
}

fn is_new(execution: String) -> bool {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    told.len() < TOLD_MAX && told.insert(execution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_row_is_told_once() {
        assert!(is_new("exec_of_a_test".to_owned()));
        assert!(!is_new("exec_of_a_test".to_owned()));
        assert!(is_new("exec_of_another_test".to_owned()));
        for n in 0..TOLD_MAX {
            is_new(format!("exec_{n}"));
        }
        assert!(!is_new("exec_beyond".to_owned()), "enough is said");
    }
}
