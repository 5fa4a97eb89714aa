//! The path that the server lies below, such as `/refire` of `https://example.com/refire`.
//!
//! Most proxies take it off before they pass a request on. Those that do not work as well.

use axum::extract::Request;
use http::Uri;
use http::uri::PathAndQuery;

use super::App;

/// What the paths of the server itself begin with. Nothing of the console lies below them.
const OWN: [&str; 12] = [
    "api",
    "assets",
    "docs",
    "healthz",
    "livez",
    "openapi.json",
    "readyz",
    "schedule-task",
    "task-callback",
    "task-history",
    "version",
    "webhooks",
];

/// Whether a path that begins with this is the server's own.
pub(super) fn is_own(first: &str) -> bool {
    OWN.contains(&first)
}

/// The request as if the server lay below nothing.
pub(super) fn within(app: &App, mut request: Request) -> Request {
    if let Some(uri) = stripped(app.outside.sub_path(), request.uri()) {
        *request.uri_mut() = uri;
    }
    request
}

/// The address without the path, if it begins with it. A path that is called as one of the server's own
/// would be ambiguous: there, the proxy must take it off.
fn stripped(below: &str, uri: &Uri) -> Option<Uri> {
    let first = below.split('/').nth(1)?;
    let rest = uri.path_and_query()?.as_str().strip_prefix(below)?;
    if is_own(first) || !(rest.is_empty() || rest.starts_with(['/', '?'])) {
        return None;
    }
    let rest = match rest.starts_with('/') {
        true => PathAndQuery::try_from(rest),
        false => PathAndQuery::try_from(format!("/{rest}")),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(rest.ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_below_which_the_server_lies_is_taken_off() {
        for (below, asked, found) in [
            ("", "/api/executions", None),
            ("/refire", "/refire", Some("/")),
            ("/refire", "/refire/", Some("/")),
            ("/refire", "/refire?a=b", Some("/?a=b")),
            (
                "/refire",
                "/refire/api/executions?limit=1",
                Some("/api/executions?limit=1"),
            ),
            ("/refire", "http://h/refire/login", Some("http://h/login")),
            ("/refire", "/refires", None),
            ("/refire", "/api/executions", None),
            ("/a/b", "/a/b/assets/x.js", Some("/assets/x.js")),
            ("/a/b", "/a/c", None),
            ("/api", "/api/executions", None),
        ] {
            let stripped = stripped(below, &asked.parse().unwrap());
            let stripped = stripped.map(|uri| uri.to_string());
            assert_eq!(stripped.as_deref(), found, "{below} {asked}");
        }
    }

    /// A call at a new first segment would be hidden by the console.
    #[test]
    fn every_call_lies_below_what_is_the_servers_own() {
        let document = include_str!("../../../../openapi.json");
        let document: serde_json::Value = serde_json::from_str(document).unwrap();
        for path in document["paths"].as_object().unwrap().keys() {
            let first = path.split('/').nth(1).unwrap();
            assert!(is_own(first), "{path}");
        }
    }
}
