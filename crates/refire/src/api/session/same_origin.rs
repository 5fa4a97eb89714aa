//! Whether a browser's request was made by the console itself. A cookie alone does not say that: the browser
//! adds it to whatever a page asks for.

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::api::Problem;
use crate::codes;
use crate::config::Outside;

/// What only a page of this origin can send along without asking us first.
const CONSOLE: HeaderName = HeaderName::from_static("x-refire-console");
/// The browser's own word; no page can write it.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses a change that the console did not ask for.
pub(super) fn require(outside: &Outside, headers: &HeaderMap) -> Result<(), Problem> {
    if headers.get(CONSOLE).map(HeaderValue::as_bytes) != Some(b"1") {
        return Err(refused(
            "send `X-Refire-Console: 1` with changes that a cookie allows",
        ));
    }
    if !headers.contains_key(ORIGIN) && !headers.contains_key(FETCH_SITE) {
        return Err(refused(
            "neither Origin nor Sec-Fetch-Site says where it comes from",
        ));
    }
    refuse_foreign(outside, headers)
}

/// Refuses what comes from another site by its own word.
pub(super) fn refuse_foreign(outside: &Outside, headers: &HeaderMap) -> Result<(), Problem> {
    let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
    if site.is_some_and(|site| site != b"same-origin") {
        return Err(refused("another site asks for it (Sec-Fetch-Site)"));
    }
    let origin = headers.get(ORIGIN);
    if origin.is_some_and(|origin| !is_own(outside, headers, origin)) {
        return Err(refused(
            "another site asks for it (Origin); behind a proxy, --public-url says what the own one is",
        ));
    }
    Ok(())
}

/// Whether an origin is this server's: the public one, or the host that the request names.
fn is_own(outside: &Outside, headers: &HeaderMap, origin: &HeaderValue) -> bool {
    let Ok(origin) = origin.to_str() else {
        return false;
    };
    let public = outside.public_url.as_deref().map(Url::parse);
    let public = public.and_then(Result::ok).map(|url| url.origin());
    if public.is_some_and(|public| public.ascii_serialization() == origin) {
        return true;
    }
    // The proxy in front may do TLS, so either scheme may be right.
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let authority = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    host.is_some() && authority == host
}

fn refused(detail: &str) -> Problem {
    Problem::new(&codes::NOT_FROM_CONSOLE, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_console_itself_may_change_something() {
        const HOST: (&str, &str) = ("host", "127.0.0.1:7373");
        const OURS: (&str, &str) = ("x-refire-console", "1");
        const OWN: (&str, &str) = ("origin", "http://127.0.0.1:7373");
        const PUBLIC: (&str, &str) = ("origin", "https://refire.example.com");
        const SITE: (&str, &str) = ("sec-fetch-site", "same-origin");
        let outside = Outside {
            public_url: Some("https://refire.example.com/sub".to_owned()),
            ..Outside::default()
        };
        for (headers, is_allowed) in [
            (vec![HOST, OURS, OWN], true),
            (vec![HOST, OURS, OWN, SITE], true),
            (vec![HOST, OURS, PUBLIC], true),
            (vec![HOST, OURS, SITE], true),
            (vec![HOST, OWN, SITE], false),
            (vec![HOST, ("x-refire-console", "2"), OWN], false),
            (vec![HOST, OURS], false),
            (vec![HOST, OURS, ("origin", "null")], false),
            (vec![HOST, OURS, ("origin", "http://127.0.0.1:7374")], false),
            (vec![HOST, OURS, ("origin", "https://evil.example")], false),
            (
                vec![HOST, OURS, ("origin", "https://evil.example"), SITE],
                false,
            ),
            (
                vec![HOST, OURS, OWN, ("sec-fetch-site", "same-site")],
                false,
            ),
            (
                vec![HOST, OURS, OWN, ("sec-fetch-site", "cross-site")],
                false,
            ),
            (vec![OURS, OWN], false),
        ] {
            let pairs = headers.iter().map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            });
            let found = require(&outside, &pairs.collect()).is_ok();
            assert_eq!(found, is_allowed, "{headers:?}");
        }
        // A program that logs in says nothing of a site.
        assert!(refuse_foreign(&outside, &HeaderMap::new()).is_ok());
    }
}
