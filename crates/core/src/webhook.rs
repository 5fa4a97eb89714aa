//! Webhooks: whether a received request starts something, and with what.
//!
//! Everything is a function of the trigger's [`Settings`], its [`Secrets`], the request as it came
//! and a moment. Nothing here reads a clock, opens a socket or remembers anything: how many requests
//! there were, which keys are taken and what is written down is the shell's business.
//!
//! The stations of a request, in this order:
//!
//! | station | file | answers |
//! |---|---|---|
//! | where from | [`source`] | the client's address, and whether it may |
//! | who | [`verify`](mod@verify) | signature or key, on the raw bytes and before anything is parsed |
//! | handshake | [`challenge`] | what a sender asks before it sends |
//! | what | [`body`] | the bytes as JSON |
//! | wanted | [`filter`] | whether the trigger is interested |
//! | again | [`key`] | by what name the request is known |
//!
//! [`preview()`] shows what the last two make of a sample.
//!
//! [`admit()`] walks them. [`enter`] and [`judge`] are its halves, for who counts what strangers send
//! apart from what the sender does.

pub mod admit;
pub mod body;
pub mod challenge;
mod decimal;
pub mod filter;
mod form;
pub mod headers;
pub mod key;
pub mod preview;
pub mod request;
mod scheme;
mod secret;
pub mod settings;
mod sign;
mod signature;
mod signed_text;
pub mod source;
mod status;
pub mod verify;

pub use admit::{Admission, Started, admit, admit_verified, enter, judge, may_enter};
pub use key::Key;
pub use preview::{Preview, preview};
pub use request::{Headers, Request};
pub use scheme::{Encoding, HeaderName, Method, Scheme};
pub use secret::{Previous, SECRET_BYTES_MIN, SECRET_RANDOM_BYTES, Secret, Secrets};
pub use settings::{Authentication, RateLimit, Settings};
pub use sign::sign;
pub use status::RequestStatus;
pub use verify::verify;

/// A text as it is quoted in messages, cut where it is long.
fn excerpt(text: &str) -> String {
    /// Characters of a value that a message quotes.
    const EXCERPT_CHARS: usize = 60;
    let mut characters = text.chars();
    let mut head: String = characters.by_ref().take(EXCERPT_CHARS).collect();
    if characters.next().is_some() {
        head.push('…');
    }
    format!("{head:?}")
}

#[cfg(test)]
mod tests;
