//! A request as a step wants it, and the checks that make it one that may be sent.
//!
//! Everything here comes out of templates and so, in part, out of payloads. What cannot be sent
//! as it was written is refused; nothing is silently repaired. Refusals never repeat a value.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, COOKIE, HOST, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::Full;
use refire_core::definition::StatusRange;
use refire_core::failure::{ErrorClass, Failure};
use refire_core::time::Timestamp;
use url::Url;

use super::guard::Guard;
use super::redact::Redactor;

/// Longer URLs are refused by many servers and proxies in ways that are hard to understand.
const URL_BYTES_MAX: usize = 8 * 1024;

/// Headers that describe the connection and not the request; the client sets them itself.
const CONNECTION_HEADERS: [HeaderName; 11] = [
    CONNECTION,
    CONTENT_LENGTH,
    TRANSFER_ENCODING,
    TE,
    TRAILER,
    UPGRADE,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("http2-settings"),
];

/// One call, with every template resolved.
#[derive(Clone)]
pub struct HttpRequest {
    /// Such as `POST`.
    pub method: String,
    /// With its query; `http` or `https`.
    pub url: String,
    /// In the order to send them; a name may come twice.
    pub headers: Vec<(String, String)>,
    /// The body as it goes out. Its `Content-Type` is among the headers.
    pub body: Option<Vec<u8>>,
    /// For everything: resolving, connecting, sending, and reading the whole answer.
    pub timeout: Duration,
    /// The statuses that are a success; none means every 2xx.
    pub expected: Vec<StatusRange>,
    /// A longer body fails the call.
    pub max_response_bytes: u64,
    /// How many redirects are followed, all within the same time.
    pub follow_redirects: u8,
    /// The secrets that went into this request.
    pub redact: Redactor,
    /// The moment of the call, for a `Retry-After` that is a date.
    pub now: Timestamp,
}

impl fmt::Debug for HttpRequest {
    /// Without URL, headers and body, because any of them can hold a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl HttpRequest {
    /// Whether the status is one that the step wants.
    pub(super) fn expects(&self, status: u16) -> bool {
        match self.expected.as_slice() {
            [] => StatusRange::SUCCESS.contains(status),
            ranges => ranges.iter().any(|range| range.contains(status)),
        }
    }

    /// The client's form of the request with this body, and its URL.
    pub(super) fn prepare(
        &self,
        body: Bytes,
        guard: &Guard,
        user_agent: &HeaderValue,
    ) -> Result<(Request<Full<Bytes>>, Url), Failure> {
        let url = url(&self.url)?;
        if let Some(host) = url.host() {
            let check = guard.check_host(&host);
            check
                .map_err(|refused| Failure::new(ErrorClass::AddressRefused, refused.to_string()))?;
        }
        let uri = Uri::try_from(url.as_str()).map_err(|error| {
            let message = format!("the URL is not valid: {error}");
            Failure::new(ErrorClass::InvalidUrl, message)
        })?;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method(&self.method)?;
        *request.uri_mut() = uri;
        let mut headers = headers(&self.headers, &self.redact)?;
        let agent = headers.entry(USER_AGENT);
        agent.or_insert_with(|| user_agent.clone());
        let accept = headers.entry(ACCEPT);
        accept.or_insert(HeaderValue::from_static("*/*"));
        *request.headers_mut() = headers;
        Ok((request, url))
    }
}

pub(super) fn url(text: &str) -> Result<Url, Failure> {
    let invalid = |why: &str| Failure::new(ErrorClass::InvalidUrl, format!("the URL {why}"));
    if text.len() > URL_BYTES_MAX {
        return Err(invalid(&format!("is longer than {URL_BYTES_MAX} bytes")));
    }
    // The parser would drop some of these silently and call another address than was written.
    if text.chars().any(char::is_control) {
        return Err(invalid("has a control character in it"));
    }
    let url = Url::parse(text).map_err(|error| match error {
        url::ParseError::RelativeUrlWithoutBase => {
            invalid("does not begin with http:// or https://")
        }
        url::ParseError::EmptyHost => invalid("has no host"),
        other => invalid(&format!("is not valid: {other}")),
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("does not begin with http:// or https://"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(invalid("has no host"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let why = "has a user name or a password in front of its host; send them in an \
                   Authorization header";
        return Err(invalid(why));
    }
    Ok(url)
}

fn method(text: &str) -> Result<Method, Failure> {
    match Method::from_bytes(text.as_bytes()) {
        // CONNECT would make a tunnel out of the connection.
        Ok(method) if method != Method::CONNECT => Ok(method),
        _ => {
            let shown: String = text
                .chars()
                .take(32)
                .flat_map(char::escape_default)
                .collect();
            let message = format!("the method \"{shown}\" cannot be sent");
            Err(Failure::new(ErrorClass::Template, message))
        }
    }
}

fn headers(given: &[(String, String)], redact: &Redactor) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::with_capacity(given.len());
    for (name, value) in given {
        let shown: String = name
            .chars()
            .take(128)
            .flat_map(char::escape_default)
            .collect();
        let refuse = |why: &str| {
            Failure::new(
                ErrorClass::Template,
                format!("the header \"{shown}\" {why}"),
            )
        };
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| refuse("has a name that is not a header name"))?;
        if CONNECTION_HEADERS.contains(&name) {
            return Err(refuse(
                "describes the connection and is set by Refire itself",
            ));
        }
        if name == HOST && headers.contains_key(HOST) {
            return Err(refuse("may be given only once"));
        }
        // Only these are white space around a value; a line break at its end is no less a break.
        let text = value.trim_matches([' ', '\t']);
        let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| {
            refuse("has a value with a line break, a NUL or another control character")
        })?;
        // Sensitive values stay out of the client's own logs and of HTTP/2's header tables.
        value.set_sensitive(name == AUTHORIZATION || name == COOKIE || redact.is_in(text));
        let added = headers.try_append(name, value);
        added.map_err(|_| refuse("is one too many"))?;
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Allow;

    const AGENT: HeaderValue = HeaderValue::from_static("test");

    fn request(url: &str) -> HttpRequest {
        HttpRequest {
            method: "GET".to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: None,
            timeout: Duration::from_secs(1),
            expected: Vec::new(),
            max_response_bytes: 1024,
            follow_redirects: 0,
            redact: Redactor::default(),
            now: Timestamp::default(),
        }
    }

    fn refusal(request: &HttpRequest) -> (ErrorClass, String) {
        let failure = request
            .prepare(Bytes::new(), &Guard::new(Allow::All), &AGENT)
            .unwrap_err();
        assert!(!failure.retryable);
        (failure.class, failure.message)
    }

    #[test]
    fn urls_that_cannot_be_called_are_refused_in_words() {
        for (url, words) in [
            ("", "http:// or https://"),
            ("/path", "http:// or https://"),
            ("example.com/path", "http:// or https://"),
            ("ftp://example.com/", "http:// or https://"),
            ("file:///etc/passwd", "http:// or https://"),
            ("gopher://example.com/", "http:// or https://"),
            ("javascript:alert(1)", "http:// or https://"),
            ("http://", "no host"),
            ("https:///", "no host"),
            ("http://user:pass@example.com/", "Authorization"),
            ("http://user@example.com/", "Authorization"),
            ("http://:pass@example.com/", "Authorization"),
            ("http://1.1.1.1 &@2.2.2.2# @3.3.3.3/", "Authorization"),
            ("http://exam\nple.com/", "control character"),
            ("http://example.com/\0", "control character"),
            ("http://example.com:99999/", "port"),
            ("http://a b/", "not valid"),
            ("http://[::1/", "not valid"),
        ] {
            let (class, message) = refusal(&request(url));
            assert_eq!(class, ErrorClass::InvalidUrl, "{url}");
            assert!(message.contains(words), "{url}: {message}");
            assert!(!message.contains("pass@"), "{url}: {message}");
        }
        let long = format!("http://example.com/{}", "a".repeat(URL_BYTES_MAX));
        assert_eq!(refusal(&request(&long)).0, ErrorClass::InvalidUrl);
    }

    #[test]
    fn header_values_cannot_smuggle_lines() {
        for value in [
            "a\r\nX-Admin: 1",
            "a\r\n",
            "\na",
            "a\nb",
            "a\rb",
            "a\0b",
            "a\u{7f}b",
            "\u{1}x",
        ] {
            let mut bad = request("http://example.com/");
            bad.headers.push(("X-Note".to_owned(), value.to_owned()));
            let (class, message) = refusal(&bad);
            assert_eq!(class, ErrorClass::Template, "{value:?}");
            assert!(
                message.starts_with("the header \"X-Note\" has a value"),
                "{message}"
            );
            assert!(
                !message.contains("Admin"),
                "the value is not repeated: {message}"
            );
        }
        for name in ["", "a b", "a:b", "a\r\nb", "é"] {
            let mut bad = request("http://example.com/");
            bad.headers.push((name.to_owned(), "1".to_owned()));
            let (class, message) = refusal(&bad);
            assert_eq!(class, ErrorClass::Template, "{name:?}");
            assert!(!message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn headers_of_the_connection_are_refused_and_host_may_be_given_once() {
        for name in [
            "Content-Length",
            "transfer-encoding",
            "Connection",
            "Keep-Alive",
            "TE",
        ] {
            let mut bad = request("http://example.com/");
            bad.headers.push((name.to_owned(), "1".to_owned()));
            let (class, message) = refusal(&bad);
            assert_eq!(
                (class, message.contains(name)),
                (ErrorClass::Template, true),
                "{message}"
            );
        }
        let mut good = request("http://example.com/");
        good.headers
            .push(("Host".to_owned(), "other.example".to_owned()));
        good.headers.push(("X-Emoji".to_owned(), "✓ é".to_owned()));
        assert!(
            good.prepare(Bytes::new(), &Guard::default(), &AGENT)
                .is_ok()
        );
        good.headers
            .push(("host".to_owned(), "third.example".to_owned()));
        assert_eq!(refusal(&good).0, ErrorClass::Template);
    }

    #[test]
    fn methods_are_tokens_and_never_connect() {
        for bad in ["", "GE T", "GET / HTTP/1.1\r\n", "CONNECT", "É"] {
            let mut request = request("http://example.com/");
            request.method = bad.to_owned();
            let (class, message) = refusal(&request);
            assert_eq!(class, ErrorClass::Template, "{bad:?}");
            assert!(!message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn values_with_secrets_are_marked_and_never_shown() {
        let mut request = request("http://example.com/?key=sesame-open");
        request.redact = Redactor::new(["sesame-open"]);
        request
            .headers
            .push(("X-Key".to_owned(), "Bearer sesame-open".to_owned()));
        assert!(!format!("{request:?}").contains("sesame"));
        let (prepared, _) = request
            .prepare(Bytes::new(), &Guard::default(), &AGENT)
            .unwrap();
        assert!(prepared.headers()["x-key"].is_sensitive());
    }
}
