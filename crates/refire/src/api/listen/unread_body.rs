//! What a request's body still holds when its answer is ready.
//!
//! hyper ends a connection whose request was not read to its end, and says nothing of it: a client
//! that still sends gets a broken pipe instead of the answer. So a short rest is read first, and the
//! connection goes on. Of a longer one a bounded part is read beside the answer, which says that the
//! connection closes.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use http::header::{CONNECTION, EXPECT};
use http::{HeaderValue, Request, Version};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::Instant;

/// So much is read before the answer, so that the connection can go on.
const SHORT_BYTES_MAX: u64 = 256 * 1024;
/// And it is waited for at most this long.
const SHORT_WITHIN: Duration = Duration::from_millis(500);
/// So much of a longer rest is read and thrown away beside the answer: the largest body that any
/// server takes.
const BESIDE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// And for so long.
const BESIDE_WITHIN: Duration = Duration::from_secs(10);

/// A request's body, which leaves what nobody read of it behind.
pub(super) struct Tracked {
    body: Option<Incoming>,
    is_begun: bool,
    left: Left,
}

/// Where the rest of a body is left.
#[derive(Clone, Default)]
pub(super) struct Left(Arc<Mutex<Option<Rest>>>);

struct Rest {
    body: Incoming,
    /// Whether somebody began to read it, and so invited the client to send it.
    is_begun: bool,
}

/// Watches the body of a request.
pub(super) fn track(request: Request<Incoming>) -> (Request<axum::body::Body>, Finish) {
    let left = Left::default();
    let finish = Finish {
        left: left.clone(),
        version: request.version(),
        asks_first: request.headers().contains_key(EXPECT),
    };
    let request = request.map(|body| {
        axum::body::Body::new(Tracked {
            body: Some(body),
            is_begun: false,
            left,
        })
    });
    (request, finish)
}

impl Body for Tracked {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.is_begun = true;
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(body).poll_frame(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let none = || SizeHint::with_exact(0);
        self.body.as_ref().map_or_else(none, Body::size_hint)
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            let is_begun = self.is_begun;
            *self.left.lock() = Some(Rest { body, is_begun });
        }
    }
}

impl Left {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Rest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is to be done with the rest of a request's body.
pub(super) struct Finish {
    left: Left,
    version: Version,
    asks_first: bool,
}

impl Finish {
    /// Sees to it that the client can read the answer.
    pub(super) async fn with(self, response: &mut Response) {
        let rest = self.left.lock().take();
        let Some(Rest { mut body, is_begun }) = rest else {
            return;
        };
        // A stream of HTTP/2 ends without its connection.
        let is_single = self.version < Version::HTTP_2;
        // Whoever says that it closes has waited long enough for this body.
        if !is_single || response.headers().contains_key(CONNECTION) {
            return;
        }
        // A client that asks first has sent nothing, and reading would invite it to.
        let is_uninvited = self.asks_first && !is_begun;
        let is_short = body.size_hint().lower() <= SHORT_BYTES_MAX;
        if !is_uninvited && is_short && discard(&mut body, SHORT_BYTES_MAX, SHORT_WITHIN).await {
            return;
        }
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
        if !is_uninvited {
            tokio::spawn(async move {
                discard(&mut body, BESIDE_BYTES_MAX, BESIDE_WITHIN).await;
            });
        }
    }
}

/// Reads and throws away; whether there is nothing more to come.
async fn discard(body: &mut Incoming, bytes_max: u64, within: Duration) -> bool {
    let until = Instant::now() + within;
    let mut seen = 0;
    while seen <= bytes_max {
        match tokio::time::timeout_at(until, body.frame()).await {
            Ok(Some(Ok(frame))) => seen += frame.data_ref().map_or(0, |data| data.len() as u64),
            Ok(None) => return true,
            Ok(Some(Err(_))) | Err(_) => return false,
        }
    }
    false
}
