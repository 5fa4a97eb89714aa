//! The console: a page and its files, out of the binary, at every address that is no call of the API.
//!
//! It is a client without privileges: the page is the same for everybody, and whatever it shows it asks the
//! API for. The browser is told to load nothing from anywhere else.

mod file;

use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, VARY,
};
use http::{HeaderMap, HeaderValue, Method, Uri};
use refire_engine::entropy::{Entropy, SystemEntropy};

use super::{App, Problem, no_route, sub_path};

/// The page that every address of the console begins with.
const PAGE: &str = "index.html";
/// In the page, what this request's number used once stands in for.
const NONCE: &str = "__CSP_NONCE__";
/// In the page, what the path that the console lies below stands in for.
const BASE: &str = "__BASE_HREF__";
/// Random bytes of a nonce.
const NONCE_BYTES: usize = 16;

const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
/// Asked for again each time: it names the files of the newest version.
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// Whatever no call answers.
pub(super) async fn fallback(app: App, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    if method != Method::GET && method != Method::HEAD {
        return no_route(&uri);
    }
    let name = path.trim_start_matches('/');
    if let Some(file) = file::find(name).filter(|_| name != PAGE) {
        return with_policy(file.answer(&headers));
    }
    if is_page(path) && wants_page(&headers) {
        return page(&app);
    }
    no_route(&uri)
}

/// Whether a browser wants to show this address. Scripts, styles and pictures are asked for otherwise.
pub(super) fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter();
    let mut words = accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split([',', ';']));
    words.any(|word| word.trim().eq_ignore_ascii_case("text/html"))
}

/// Whether the console may have something to show at a path. What lies below the API's own paths and is not
/// there is missing; so is a file. Names of workflows may have dots, so only the first level has files.
fn is_page(path: &str) -> bool {
    let path = path.trim_start_matches('/');
    match path.split_once('/') {
        None => !path.contains('.') && !sub_path::is_own(path),
        Some((first, _)) => first != "assets" && !sub_path::is_own(first),
    }
}

/// The page, with a nonce by which the browser knows the styles that its own script writes.
pub(super) fn page(app: &App) -> Response {
    let Some(page) = file::find(PAGE).and_then(|file| str::from_utf8(file.plain).ok()) else {
        return Problem::internal("the console has no page").into_response();
    };
    let mut bytes = [0; NONCE_BYTES];
    SystemEntropy::default().fill(&mut bytes);
    let nonce = BASE64_STANDARD.encode(bytes);
    let base = attribute(&format!("{}/", app.outside.sub_path()));
    let text = page.replace(NONCE, &nonce).replace(BASE, &base);
    // `base-uri` is this server and not nobody: the page says itself which path it lies below.
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; \
         font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
    );
    let Ok(policy) = HeaderValue::from_str(&policy) else {
        return Problem::internal("a nonce that is no header").into_response();
    };
    let mut response = text.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HTML);
    headers.insert(CACHE_CONTROL, NO_CACHE);
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    headers.insert(VARY, HeaderValue::from_name(ACCEPT));
    with_policy(response)
}

/// What the page links to elsewhere hears nothing of where in the console it was.
fn with_policy(mut response: Response) -> Response {
    response.headers_mut().insert(REFERRER_POLICY, SAME_ORIGIN);
    response
}

/// A text as the value of an attribute.
fn attribute(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_what_is_neither_a_call_nor_a_file() {
        for page in [
            "/",
            "/login",
            "/executions/exec_1",
            "/workflows/my.flow",
            "/apis",
        ] {
            assert!(is_page(page), "{page}");
        }
        for other in [
            "/api",
            "/api/nothing",
            "/webhooks/wh_1",
            "/task-callback/cb_1",
            "/docs/nothing",
            "/assets/gone.js",
            "/assets/gone",
            "/favicon.ico",
            "/theme.js",
        ] {
            assert!(!is_page(other), "{other}");
        }
    }

    #[test]
    fn a_browser_that_navigates_says_so() {
        let asks = |text: &'static str| {
            wants_page(&HeaderMap::from_iter([(
                ACCEPT,
                HeaderValue::from_static(text),
            )]))
        };
        assert!(asks(
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
        ));
        assert!(asks("text/html; charset=utf-8"));
        assert!(!asks("*/*") && !asks("text/css,*/*;q=0.1") && !asks("application/json"));
        assert!(!wants_page(&HeaderMap::new()));
    }

    #[test]
    fn a_path_is_no_markup() {
        assert_eq!(attribute("/a&b\"c<d/"), "/a&amp;b&quot;c&lt;d/");
    }
}
