//! The queries: plain walks over an image.

mod catalog;
mod execution;
mod letter;
mod trigger;
mod work;

use std::error::Error;

use crate::{LIMIT_MAX, ReadError};

/// Rows of one page.
fn page(limit: u32) -> usize {
    limit.min(LIMIT_MAX) as usize
}

/// Something unreadable among the rows, for `map_err`.
fn corrupt<E: Into<Box<dyn Error + Send + Sync>>>(
    what: impl FnOnce() -> String,
) -> impl FnOnce(E) -> ReadError {
    move |source| ReadError::Corrupt {
        what: what(),
        source: source.into(),
    }
}
