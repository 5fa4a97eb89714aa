//! A lock that outlives a panic: what it guards is whole between any two holders, and a panic is told of
//! elsewhere.

use std::sync::{MutexGuard, PoisonError};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(guarded: T) -> Self {
        Self(std::sync::Mutex::new(guarded))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
