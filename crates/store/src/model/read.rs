//! The queries: plain walks over an image.

mod alert;
mod breaker;
mod bulk;
mod callback;
mod catalog;
mod execution;
mod letter;
mod minute;
mod notice;
mod request;
mod scheduled;
mod session;
mod task;
mod trigger;
mod work;
mod worker;

use crate::LIMIT_MAX;

/// Rows of one page.
fn page(limit: u32) -> usize {
    limit.min(LIMIT_MAX) as usize
}
