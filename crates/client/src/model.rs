//! Requests and answers of the API, as they stand on the wire.

/// What every request and answer is: read, written, and described in OpenAPI.
macro_rules! shapes {
    ($($shape:item)*) => { $(
        #[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        $shape
    )* };
}

mod alert;
mod bulk;
mod callback;
mod dead_letter;
mod execution;
mod notification;
mod overview;
mod preview;
mod problem;
mod retry;
mod scheduled;
mod search;
mod server;
mod session;
mod stats;
mod status;
mod target;
mod task;
mod trigger;
mod trouble;
mod webhook;
#[cfg(feature = "openapi")]
mod words;
mod workflow;

pub use alert::*;
pub use bulk::*;
pub use callback::*;
pub use dead_letter::*;
pub use execution::*;
pub use notification::*;
pub use overview::*;
pub use preview::*;
pub use problem::*;
pub use retry::*;
pub use scheduled::*;
pub use search::*;
pub use server::*;
pub use session::*;
pub use stats::*;
pub use status::*;
pub use target::*;
pub use task::*;
pub use trigger::*;
pub use trouble::*;
pub use webhook::*;
#[cfg(feature = "openapi")]
pub use words::*;
pub use workflow::*;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// JSON that belongs to the user, byte for byte.
pub type Raw = Box<RawValue>;

/// One page of a list.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Page<T> {
    /// The entries, in the list's order.
    pub items: Vec<T>,
    /// Pass it as `cursor` to get the next page; null on the last.
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// The same page with other entries in place of its own.
    #[must_use]
    pub fn with<U>(self, items: Vec<U>) -> Page<U> {
        Page {
            items,
            next_cursor: self.next_cursor,
        }
    }
}

/// A field that is there, even if it says `null`: an input of `null` is not an absent one.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Raw>, D::Error> {
    Raw::deserialize(deserializer).map(Some)
}
