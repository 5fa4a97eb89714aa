//! One kept connection to the server, as light as HTTP can be: HTTP/1.1 without a pool,
//! redirects or cookies, so that a measurement is of the server and not of its client.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::ConfigVerifierExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use crate::cli::version::VERSION;

/// How long a connection may take.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// A connection that was silent for so long is made anew: the server closes idle ones after ten
/// seconds, and a request must not meet the closing.
const IDLE_MAX: Duration = Duration::from_secs(8);

/// The server, and what every request to it carries.
pub(super) struct Origin {
    host: String,
    port: u16,
    /// In front of every path, for a server behind a proxy.
    base: String,
    headers: HeaderMap,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    answer_within: Duration,
}

impl Origin {
    /// The server at this address.
    pub(super) fn new(
        url: &str,
        key: Option<&str>,
        answer_within: Duration,
    ) -> anyhow::Result<Self> {
        let uri: Uri = url.trim_end_matches('/').parse().context("--url")?;
        let authority = uri.authority().context("--url has no host")?;
        let is_tls = uri.scheme_str() == Some("https");
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        let tls = match is_tls {
            true => Some(tls(&host)?),
            false => None,
        };
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(authority.as_str())?);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let agent = format!("refire-bench/{VERSION}");
        headers.insert(USER_AGENT, HeaderValue::from_str(&agent)?);
        if let Some(key) = key {
            let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
                .map_err(|_| anyhow!("the API key cannot be sent in a header"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(Self {
            port: authority
                .port_u16()
                .unwrap_or(if is_tls { 443 } else { 80 }),
            host,
            base: uri.path().trim_end_matches('/').to_owned(),
            headers,
            tls,
            answer_within,
        })
    }

    /// A path of the API as this server has it.
    pub(super) fn uri(&self, path: &str) -> anyhow::Result<Uri> {
        let uri = format!("{}{path}", self.base);
        uri.parse()
            .with_context(|| format!("{uri} cannot be asked for"))
    }

    /// A request with all that is sent each time.
    pub(super) fn post(&self, uri: Uri, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = uri;
        *request.headers_mut() = self.headers.clone();
        request
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, String> {
        let address = (self.host.as_str(), self.port);
        let stream = TcpStream::connect(address)
            .await
            .map_err(|error| said(&error))?;
        // A request is one write; waiting to fill a packet only delays it.
        let _ = stream.set_nodelay(true);
        match &self.tls {
            None => greet(stream).await,
            Some((tls, name)) => {
                let stream = tls
                    .connect(name.clone(), stream)
                    .await
                    .map_err(|error| said(&error))?;
                greet(stream).await
            }
        }
    }
}

fn tls(host: &str) -> anyhow::Result<(TlsConnector, ServerName<'static>)> {
    let config = ClientConfig::with_platform_verifier()
        .context("the certificates of this machine cannot be used")?;
    let name = ServerName::try_from(host.to_owned()).context("--url")?;
    Ok((TlsConnector::from(Arc::new(config)), name))
}

async fn greet(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> Result<SendRequest<Full<Bytes>>, String> {
    let (sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| deepest(&error))?;
    // It ends with its sender; what went wrong is told to the request.
    tokio::spawn(connection);
    Ok(sender)
}

/// What a request came to when there is no answer.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Nothing was sent.
    NotConnected(String),
    /// It was sent, and nobody knows what became of it.
    Unanswered(String),
}

/// The server's answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    /// Whether it said when to come back.
    pub(super) retry_after: bool,
    pub(super) body: Bytes,
}

/// A connection that is made when it is needed, and again when it broke.
pub(super) struct Line {
    origin: Arc<Origin>,
    sender: Option<SendRequest<Full<Bytes>>>,
    used: Instant,
}

impl Line {
    /// A connection to be made.
    pub(super) fn new(origin: Arc<Origin>) -> Self {
        Self {
            origin,
            sender: None,
            used: Instant::now(),
        }
    }

    /// Makes the connection, unless there is one that can be used.
    pub(super) async fn open(&mut self) -> Result<(), Trouble> {
        let idle = self.used.elapsed() > IDLE_MAX;
        if let Some(sender) = &mut self.sender
            && !idle
            && sender.ready().await.is_ok()
        {
            return Ok(());
        }
        self.sender = None;
        let connected = tokio::time::timeout(CONNECT_WITHIN, self.origin.connect())
            .await
            .unwrap_or_else(|_| Err("no connection in time".to_owned()));
        self.sender = Some(connected.map_err(Trouble::NotConnected)?);
        self.used = Instant::now();
        Ok(())
    }

    /// Sends a request and reads the whole answer.
    pub(super) async fn ask(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, Trouble> {
        self.open().await?;
        let Some(sender) = &mut self.sender else {
            return Err(Trouble::NotConnected("no connection".to_owned()));
        };
        let answered = async {
            let answer = sender.send_request(request).await?;
            let (head, body) = answer.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok(Answer {
                status: head.status,
                retry_after: head.headers.contains_key(RETRY_AFTER),
                body,
            })
        };
        let answer = match tokio::time::timeout(self.origin.answer_within, answered).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(deepest(&error)),
            Err(_) => Err("no answer in time".to_owned()),
        };
        self.used = Instant::now();
        answer.map_err(|why| {
            // Whatever else comes on this connection belongs to the request that was given up.
            self.sender = None;
            Trouble::Unanswered(why)
        })
    }
}

fn said(error: &std::io::Error) -> String {
    match error.kind() {
        // The number of the error says nothing to a person.
        std::io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        std::io::ErrorKind::ConnectionReset => "connection reset".to_owned(),
        _ => error.to_string(),
    }
}

/// The innermost cause; the errors around it say only that there is one.
fn deepest(error: &hyper::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    match cause.downcast_ref::<std::io::Error>() {
        Some(io) => said(&std::io::Error::from(io.kind())),
        None => cause.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let wait = Duration::from_secs(1);
        let plain = Origin::new("http://127.0.0.1:7373/", Some("k"), wait).unwrap();
        assert_eq!((plain.host.as_str(), plain.port), ("127.0.0.1", 7373));
        assert_eq!(plain.uri("/api/x").unwrap(), "/api/x");
        assert_eq!(plain.headers[AUTHORIZATION], "Bearer k");
        let six = Origin::new("http://[::1]/refire/", None, wait).unwrap();
        assert_eq!((six.host.as_str(), six.port), ("::1", 80));
        assert_eq!(six.uri("/api/x").unwrap(), "/refire/api/x");
        assert!(six.tls.is_none() && !six.headers.contains_key(AUTHORIZATION));
        assert!(Origin::new("http://a", Some("line\nbreak"), wait).is_err());
    }
}
