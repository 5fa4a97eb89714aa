//! `/docs`: the API to read and to try, from files inside the binary.
//!
//! The page loads nothing from anywhere else, and the browser is told to see to that.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderValue, Uri};
use utoipa_swagger_ui::Config;

use super::{App, no_route};

const PAGE: &str = include_str!("docs/index.html");
const SCRIPT: &str = include_str!("docs/page.js");
const STYLE: &str = include_str!("docs/page.css");

/// The files of Swagger UI that the page needs; the others are for pages that we do not have.
const PARTS: [&str; 2] = ["swagger-ui.css", "swagger-ui-bundle.js"];

/// Styles may stand in the page because the library writes them there.
const ONLY_FROM_HERE: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

/// The files are the same for everybody, and change only with the server.
const FOR_AN_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");

pub(super) fn router() -> Router<App> {
    Router::new()
        // Relative, so that a proxy may put the server below a path.
        .route("/docs", get(|| async { Redirect::to("docs/") }))
        .route("/docs/", get(page))
        .route("/docs/{file}", get(file))
}

async fn page() -> Response {
    let mut response = text("text/html; charset=utf-8", PAGE);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, ONLY_FROM_HERE);
    response
}

async fn file(uri: Uri, Path(name): Path<String>) -> Response {
    match name.as_str() {
        "page.js" => text("text/javascript; charset=utf-8", SCRIPT),
        "page.css" => text("text/css; charset=utf-8", STYLE),
        part if PARTS.contains(&part) => embedded(part).unwrap_or_else(|| no_route(&uri)),
        _ => no_route(&uri),
    }
}

fn text(kind: &'static str, text: &'static str) -> Response {
    let mut response = text.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, FOR_AN_HOUR);
    response
}

/// A file of Swagger UI.
fn embedded(name: &str) -> Option<Response> {
    let config: Config<'static> = Config::from("/openapi.json");
    let file = utoipa_swagger_ui::serve(name, Arc::new(config)).ok()??;
    let bytes = match file.bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => Bytes::from(bytes),
    };
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, file.content_type.parse().ok()?);
    headers.insert(CACHE_CONTROL, FOR_AN_HOUR);
    if file.gzpipped {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Some(response)
}
