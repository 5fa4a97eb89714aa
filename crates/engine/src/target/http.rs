//! The HTTP client: one request out, one answer or one failure back, within its deadline.
//!
//! It sends each request once. The client library's own retries, redirects, proxies, cookies and
//! decompression are off, so what the log counts as an attempt is what the target saw.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use refire_core::failure::Failure;
use refire_core::json::Json;
use refire_core::limit::MESSAGE_BYTES_MAX;
use reqwest::{Certificate, Client, ClientBuilder};
use tokio::time::{Instant, timeout_at};

use super::answer;
use super::classify::{self, Place};
use super::guard::Guard;
use super::phase::{Connecting, WatchLayer};
use super::redact::Redactor;
use super::request::HttpRequest;
use super::resolve::{GuardedResolver, Lookup, SystemLookup};

/// The default for resolving, connecting and the TLS handshake together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longer timeouts are taken as this one.
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Shorter than the keep-alive of common servers, so that few reused connections are stale.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// The default for connections kept open to one host.
const POOL_IDLE_PER_HOST: usize = 16;
/// Headers of one answer.
const RESPONSE_HEADERS_MAX: usize = 100;
/// Bytes of all headers of one HTTP/2 answer.
const HTTP2_HEADER_BYTES_MAX: u32 = 64 * 1024;
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
    Certificate(usize, #[source] reqwest::Error),
    /// The client cannot be built.
    #[error("the HTTP client cannot be built from its settings")]
    Client(#[source] reqwest::Error),
}

/// An answer with an expected status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// `{"status": 200, "headers": {…}, "body": …}`
    pub output: Json,
}

/// Makes calls. Cheap to clone; all clones share their connections.
#[derive(Debug, Clone)]
pub struct HttpTarget {
    client: Client,
    guard: Guard,
    connect_timeout: Duration,
}

impl HttpTarget {
    /// A client with these settings.
    ///
    /// # Errors
    /// When a certificate is not PEM or the user agent is not a header value.
    pub fn new(settings: HttpSettings) -> Result<Self, TargetError> {
        // Another part of the process may have installed it; then there is nothing to do.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let mut roots = Vec::with_capacity(settings.extra_roots_pem.len());
        for (at, pem) in settings.extra_roots_pem.iter().enumerate() {
            let bundle = Certificate::from_pem_bundle(pem);
            roots.extend(bundle.map_err(|error| TargetError::Certificate(at + 1, error))?);
        }
        let with_system_roots = builder(&settings).tls_certs_merge(roots.clone()).build();
        let client = with_system_roots.or_else(|error| {
            // Most often a container image without certificates. If it was anything else, the
            // second attempt fails for the same reason.
            tracing::warn!(%error, "no system root certificates; using the built-in ones");
            let built_in = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
            roots.extend(built_in.filter_map(|der| Certificate::from_der(der).ok()));
            builder(&settings).tls_certs_only(roots).build()
        });
        let client = client.map_err(TargetError::Client)?;
        let HttpSettings {
            guard,
            connect_timeout,
            ..
        } = settings;
        Ok(Self {
            client,
            guard,
            connect_timeout,
        })
    }

    /// Sends the request once and reads the answer.
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
        let prepared = request.prepare(&self.guard)?;
        let place = Place::of(prepared.url());
        let connecting = Connecting::default();
        let sending = connecting.watch(self.client.execute(prepared));
        let response = match timeout_at(deadline, sending).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                return Err(classify::unanswered(error, &place, self.connect_timeout));
            }
            Err(_) if connecting.is_under_way() => {
                return Err(classify::connect_timeout(&place, request.timeout));
            }
            Err(_) => return Err(classify::answer_timeout(request.timeout)),
        };
        let status = response.status().as_u16();
        if !request.expects(status) {
            return Err(answer::unexpected(response, &request, deadline).await);
        }
        let output = answer::expected(response, &request, &place, deadline).await?;
        Ok(HttpAnswer { status, output })
    }
}

fn builder(settings: &HttpSettings) -> ClientBuilder {
    let resolver = GuardedResolver::new(settings.guard.clone(), Arc::clone(&settings.lookup));
    Client::builder()
        .user_agent(&settings.user_agent)
        .connect_timeout(settings.connect_timeout)
        .dns_resolver(resolver)
        .connector_layer(WatchLayer)
        // A redirect could lead past the guard, and would be a request that nobody counted.
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        // A proxy would connect for us, to addresses that nobody checked.
        .no_proxy()
        .pool_idle_timeout(POOL_IDLE_TIMEOUT)
        .pool_max_idle_per_host(settings.pool_idle_per_host)
        .http1_max_headers(RESPONSE_HEADERS_MAX)
        .http2_max_header_list_size(HTTP2_HEADER_BYTES_MAX)
        .http2_initial_stream_window_size(HTTP2_STREAM_WINDOW_BYTES)
        .http2_initial_connection_window_size(HTTP2_CONNECTION_WINDOW_BYTES)
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
