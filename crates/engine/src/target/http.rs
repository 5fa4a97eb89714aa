//! The HTTP client: one request out, one answer or one failure back, within its deadline.
//!
//! It sends each request once, and knows no proxies, cookies or decompression, so what the log counts
//! as an attempt is what the target saw. Redirects are followed only as often as the request says. Only a request that has not begun, because
//! the connection it was to use turned out to be closed, goes over another one.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::capture_connection;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use refire_core::failure::Failure;
use refire_core::json::Json;
use refire_core::limit::MESSAGE_BYTES_MAX;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::answer;
use super::classify::{self, Place};
use super::connect::Connector;
use super::guard::Guard;
use super::hints::Hints;
use super::leftover::Answered;
use super::phase::Connecting;
use super::redact::Redactor;
use super::redirect;
use super::request::HttpRequest;
use super::resolve::{GuardedResolver, Lookup, SystemLookup};
use super::room::{Room, Taken};
use super::tether::Tether;
use super::trust;

/// The default for resolving, connecting and the TLS handshake together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longer timeouts are taken as this one.
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Shorter than the keep-alive of common servers, so that few reused connections are stale.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// The default for connections kept open to one host: as many as may be called at once, or they
/// would be opened anew under load.
const POOL_IDLE_PER_HOST: usize = 128;
/// Headers of one answer.
const RESPONSE_HEADERS_MAX: usize = 100;
/// Bytes of all headers of one answer, and of what a connection holds while it reads.
const RESPONSE_HEADER_BYTES_MAX: u32 = 64 * 1024;
/// Bytes that an HTTP/2 target may send ahead on one stream.
const HTTP2_STREAM_WINDOW_BYTES: u32 = 256 * 1024;
/// Bytes that an HTTP/2 target may send ahead on one connection.
const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 1024 * 1024;

/// How to make calls.
#[derive(Clone)]
pub struct HttpSettings {
    /// Which addresses may be called.
    pub guard: Guard,
    /// For resolving, connecting and the TLS handshake together.
    pub connect_timeout: Duration,
    /// Sent when a request has no `User-Agent` of its own.
    pub user_agent: String,
    /// Connections kept open to one host.
    pub pool_idle_per_host: usize,
    /// Root certificates (PEM) to trust besides the system's.
    pub extra_roots_pem: Vec<Vec<u8>>,
    /// Finds the addresses of names.
    pub lookup: Arc<dyn Lookup>,
    /// What every connection hangs on.
    pub tether: Tether,
}

impl HttpSettings {
    /// The defaults behind this guard.
    #[must_use]
    pub fn new(guard: Guard) -> Self {
        Self {
            guard,
            connect_timeout: CONNECT_TIMEOUT,
            user_agent: concat!("refire/", env!("CARGO_PKG_VERSION")).to_owned(),
            pool_idle_per_host: POOL_IDLE_PER_HOST,
            extra_roots_pem: Vec::new(),
            lookup: Arc::new(SystemLookup::default()),
            tether: Tether::default(),
        }
    }
}

impl fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSettings")
            .field("guard", &self.guard)
            .field("connect_timeout", &self.connect_timeout)
            .field("user_agent", &self.user_agent)
            .field("pool_idle_per_host", &self.pool_idle_per_host)
            .finish_non_exhaustive()
    }
}

/// Settings with which no client can be made.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// A root certificate cannot be read.
    #[error("extra root certificate number {0} is not PEM")]
    Certificate(usize, #[source] rustls::pki_types::pem::Error),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
    /// The user agent is not a header value.
    #[error("the user agent is not a header value")]
    UserAgent(#[source] http::header::InvalidHeaderValue),
}

/// An answer with an expected status.
#[derive(Debug)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// `{"status": 200, "headers": {…}, "body": …}`, and `"url"` if a redirect was followed
    pub output: Json,
    /// What it takes of the room for long answers, until it is recorded.
    pub(crate) room: Option<Taken>,
}

impl HttpAnswer {
    /// An answer that takes no room.
    #[must_use]
    pub fn new(status: u16, output: Json) -> Self {
        Self {
            status,
            output,
            room: None,
        }
    }
}

/// Makes calls. Cheap to clone; all clones share their connections.
#[derive(Debug, Clone)]
pub struct HttpTarget {
    client: Client<Connector, Full<Bytes>>,
    guard: Guard,
    connect_timeout: Duration,
    user_agent: HeaderValue,
    room: Room,
}

impl HttpTarget {
    /// A client with these settings.
    ///
    /// # Errors
    /// When a certificate is not PEM or the user agent is not a header value.
    pub fn new(settings: HttpSettings) -> Result<Self, TargetError> {
        let tls = trust::tls(&settings.extra_roots_pem)?;
        let resolver = GuardedResolver::new(settings.guard.clone(), settings.lookup);
        let connector = Connector::new(resolver, tls, settings.connect_timeout, settings.tether);
        let user_agent = HeaderValue::from_str(&settings.user_agent);
        Ok(Self {
            client: client(connector, settings.pool_idle_per_host),
            guard: settings.guard,
            connect_timeout: settings.connect_timeout,
            user_agent: user_agent.map_err(TargetError::UserAgent)?,
            room: Room::default(),
        })
    }

    /// Sends the request once, and after redirects as often as it allows, and reads the answer.
    ///
    /// # Errors
    /// Every way in which this can go wrong, as the failure of an attempt, without the request's
    /// secrets. It takes no longer than the request's timeout.
    pub async fn call(&self, request: HttpRequest) -> Result<HttpAnswer, Failure> {
        let redact = request.redact.clone();
        // The client's future is large; callers hold many of these at once.
        let outcome = Box::pin(self.attempt(request)).await;
        outcome.map_err(|failure| without_secrets(failure, &redact))
    }

    async fn attempt(&self, mut request: HttpRequest) -> Result<HttpAnswer, Failure> {
        let deadline = Instant::now() + request.timeout.min(TIMEOUT_MAX);
        let mut body = Bytes::from(request.body.take().unwrap_or_default());
        let mut followed = 0;
        loop {
            let is_last = followed == request.follow_redirects;
            // What may have to be sent again is kept.
            let sent = if is_last {
                std::mem::take(&mut body)
            } else {
                body.clone()
            };
            let (response, url) = self.send(&request, sent, deadline).await?;
            let status = response.status();
            let call = answer::Call {
                request: &request,
                url: &url,
                place: &Place::of(&url),
                room: &self.room,
                deadline,
                followed,
            };
            if request.expects(status.as_u16()) {
                let (output, room) = answer::expected(response, &call).await?;
                return Ok(HttpAnswer {
                    status: status.as_u16(),
                    output,
                    room,
                });
            }
            let to = redirect::target(status, response.headers(), &url);
            let Some(to) = to.filter(|_| !is_last) else {
                return Err(answer::unexpected(response, &call).await);
            };
            let mut next = request.clone();
            if let Err(why) = redirect::follow(&mut next, &mut body, status, &url, &to) {
                let mut failure = answer::unexpected(response, &call).await;
                failure.message = format!("{}: {why}", failure.message);
                return Err(failure);
            }
            request = next;
            followed += 1;
        }
    }

    /// Sends the request once; the head of its answer, and the address.
    async fn send(
        &self,
        request: &HttpRequest,
        body: Bytes,
        deadline: Instant,
    ) -> Result<(Response<Incoming>, Url), Failure> {
        let (mut prepared, url) = request.prepare(body, &self.guard, &self.user_agent)?;
        let place = Place::of(&url);
        let connecting = Connecting::default();
        let hints = Hints::of(&mut prepared);
        let connection = capture_connection(&mut prepared);
        let sending = connecting.watch(self.client.request(prepared));
        let sent = tokio::select! {
            sent = timeout_at(deadline, sending) => sent,
            () = hints.too_many() => return Err(classify::too_many_hints(&place)),
        };
        match sent {
            Ok(Ok(response)) => {
                Answered::note(&response, &connection);
                Ok((response, url))
            }
            Ok(Err(error)) => Err(classify::unanswered(&error, &place, self.connect_timeout)),
            Err(_) if connecting.is_under_way() => {
                Err(classify::connect_timeout(&place, request.timeout))
            }
            Err(_) => Err(classify::answer_timeout(request.timeout)),
        }
    }
}

fn client(connector: Connector, idle_per_host: usize) -> Client<Connector, Full<Bytes>> {
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(POOL_IDLE_TIMEOUT)
        .pool_max_idle_per_host(idle_per_host)
        .http1_max_headers(RESPONSE_HEADERS_MAX)
        .http1_max_buf_size(RESPONSE_HEADER_BYTES_MAX as usize)
        .http2_max_header_list_size(RESPONSE_HEADER_BYTES_MAX)
        .http2_initial_stream_window_size(HTTP2_STREAM_WINDOW_BYTES)
        .http2_initial_connection_window_size(HTTP2_CONNECTION_WINDOW_BYTES)
        .build(connector)
}

/// The one door through which failures leave, so that none can forget it.
pub(crate) fn without_secrets(failure: Failure, redact: &Redactor) -> Failure {
    let clean = |text: &str| {
        let clean = redact.text(text);
        clean[..clean.floor_char_boundary(MESSAGE_BYTES_MAX)].to_owned()
    };
    Failure {
        message: clean(&failure.message),
        causes: failure.causes.iter().map(|cause| clean(cause)).collect(),
        response: failure.response.map(|text| redact.text(&text).into_owned()),
        ..failure
    }
}
