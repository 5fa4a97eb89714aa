//! Connections that may hold more than the answers that were asked for, such as the body that a
//! target sends with 204 all the same. What is left over would be read as the answer to the next
//! request.
//!
//! The client closes a connection when it finds such bytes before the next request. Here is what it
//! cannot know: bytes that are announced but not there yet, and those that come too late.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{Extensions, Response, StatusCode, Version};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::CaptureConnection;

/// Whether a connection has answered before. It travels with the connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Answered(Arc<AtomicBool>);

impl Answered {
    /// Notes the answer. A connection on which more is to come than is read is not used again.
    pub(super) fn note<B>(response: &Response<B>, connection: &CaptureConnection) {
        if let Some(answered) = response.extensions().get::<Self>() {
            answered.0.store(true, Ordering::Relaxed);
        }
        if announces_unread(response)
            && let Some(connection) = connection.connection_metadata().as_ref()
        {
            connection.poison();
        }
    }

    /// Whether the connection that failed had answered before.
    pub(super) fn before(error: &legacy::Error) -> bool {
        let mut extensions = Extensions::new();
        if let Some(connection) = error.connect_info() {
            connection.get_extras(&mut extensions);
        }
        let answered = extensions.get::<Self>();
        answered.is_some_and(|answered| answered.0.load(Ordering::Relaxed))
    }
}

/// Answers with these statuses have no body, whatever their headers say, so none is read.
fn announces_unread<B>(response: &Response<B>) -> bool {
    let bodiless = matches!(
        response.status(),
        StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED
    );
    let headers = response.headers();
    let length = headers.get(CONTENT_LENGTH);
    // HTTP/2 keeps the bodies of its answers apart.
    bodiless
        && response.version() < Version::HTTP_2
        && (headers.contains_key(TRANSFER_ENCODING) || length.is_some_and(|length| length != "0"))
}
