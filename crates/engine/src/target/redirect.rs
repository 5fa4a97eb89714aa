//! Where a redirect leads, and what goes along: by the rules of browsers for methods and bodies, and
//! stricter ones for what is secret.
//!
//! It only turns one request into the next. Whether that may be called is checked as for the first
//! one, and how often a redirect is followed is not decided here.

use bytes::Bytes;
use http::header::LOCATION;
use http::{HeaderMap, StatusCode};
use url::Url;

use super::request::{self, HttpRequest};

/// What describes a body and goes when it does.
const OF_THE_BODY: [&str; 4] = [
    "content-type",
    "content-encoding",
    "content-language",
    "content-location",
];

/// All that another host gets to see: the others may be credentials, or tell it who calls.
const FOR_STRANGERS: [&str; 6] = [
    "accept",
    "accept-language",
    "content-type",
    "content-language",
    "user-agent",
    "traceparent",
];

/// Where an answer sends its caller, if it is a redirect that can be followed.
pub(super) fn target(status: StatusCode, headers: &HeaderMap, from: &Url) -> Option<Url> {
    let leads_on = matches!(
        status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let location = headers.get(LOCATION).filter(|_| leads_on)?;
    from.join(std::str::from_utf8(location.as_bytes()).ok()?)
        .ok()
}

/// Turns the request into the one that the redirect asks for.
///
/// # Errors
/// Why it is not followed, in words that repeat nothing of the address.
pub(super) fn follow(
    request: &mut HttpRequest,
    body: &mut Bytes,
    status: StatusCode,
    from: &Url,
    to: &Url,
) -> Result<(), String> {
    if request::url(to.as_str()).is_err() {
        return Err("it is no address that can be called".to_owned());
    }
    if from.scheme() == "https" && to.scheme() != "https" {
        return Err("it leads from https to http".to_owned());
    }
    if becomes_get(status, &request.method) {
        request.method = "GET".to_owned();
        *body = Bytes::new();
        request
            .headers
            .retain(|(name, _)| !is_one_of(name, &OF_THE_BODY));
    }
    if from.origin() != to.origin() {
        let redact = &request.redact;
        if redact.is_in(to.as_str()) || redact.is_in(&String::from_utf8_lossy(body)) {
            return Err("it would take a secret to another host".to_owned());
        }
        request
            .headers
            .retain(|(name, value)| is_one_of(name, &FOR_STRANGERS) && !redact.is_in(value));
    }
    request.url = to.to_string();
    Ok(())
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// As in browsers: a form that was sent is not sent a second time.
fn becomes_get(status: StatusCode, method: &str) -> bool {
    match status {
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => method == "POST",
        StatusCode::SEE_OTHER => !matches!(method, "GET" | "HEAD"),
        _ => false,
    }
}

/// An address as it is recorded: without its query, in which targets put tokens.
pub(super) fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_fragment(None);
    shown.set_query(url.query().map(|_| "***"));
    shown.to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use refire_core::time::Timestamp;

    use super::*;
    use crate::target::Redactor;

    fn request() -> HttpRequest {
        HttpRequest {
            method: "POST".to_owned(),
            url: String::new(),
            headers: vec![("Authorization".to_owned(), "Bearer x".to_owned())],
            body: None,
            timeout: Duration::from_secs(1),
            expected: Vec::new(),
            max_response_bytes: 1024,
            follow_redirects: 1,
            redact: Redactor::default(),
            now: Timestamp::default(),
        }
    }

    /// Whether the credentials go along, or why it is not followed.
    fn followed(from: &str, to: &str) -> Result<bool, String> {
        let (from, to) = (Url::parse(from).unwrap(), Url::parse(to).unwrap());
        let (mut next, mut body) = (request(), Bytes::from_static(b"{}"));
        let status = StatusCode::TEMPORARY_REDIRECT;
        follow(&mut next, &mut body, status, &from, &to)?;
        assert_eq!((next.url.as_str(), &body[..]), (to.as_str(), &b"{}"[..]));
        Ok(!next.headers.is_empty())
    }

    #[test]
    fn a_host_is_a_scheme_a_name_and_a_port() {
        for (to, same) in [
            ("https://a.example/y", true),
            ("https://a.example:443/y", true),
            ("https://A.Example/y", true),
            ("https://a.example:444/", false),
            ("https://b.a.example/", false),
            ("https://example/", false),
        ] {
            assert_eq!(followed("https://a.example/x", to), Ok(same), "{to}");
        }
        let down = followed("https://a.example/", "http://a.example/").unwrap_err();
        assert_eq!(down, "it leads from https to http");
        let up = followed("http://a.example/", "https://a.example/");
        assert_eq!(up, Ok(false), "another port, so another host");
    }

    #[test]
    fn only_redirects_with_an_address_lead_on() {
        let from = Url::parse("https://a.example/b/c").unwrap();
        let mut headers = HeaderMap::new();
        assert_eq!(target(StatusCode::FOUND, &headers, &from), None);
        headers.insert(LOCATION, "../d?e".parse().unwrap());
        let to = target(StatusCode::FOUND, &headers, &from).unwrap();
        assert_eq!(to.as_str(), "https://a.example/d?e");
        for status in [
            StatusCode::OK,
            StatusCode::CREATED,
            StatusCode::MULTIPLE_CHOICES,
            StatusCode::NOT_MODIFIED,
            StatusCode::USE_PROXY,
        ] {
            assert_eq!(target(status, &headers, &from), None, "{status}");
        }
    }
}
