//! Versions in headers: `ETag` says which one is shown, `If-Match` which one is to be changed. The commit
//! compares, so that of two who saw the same version only one changes it.

use http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue};

use super::Problem;
use crate::codes;

/// The version that a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Whichever there is.
    Any,
    /// This one.
    Version(u32),
}

/// A version as `ETag` names it.
pub(super) fn value(version: u32) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("\"{version}\"")).ok()
}

/// Says which version is shown.
pub(super) fn tag(headers: &mut HeaderMap, version: u32) {
    if let Some(tag) = value(version) {
        headers.insert(ETAG, tag);
    }
}

/// The version that `If-Match` names, if it is there.
pub(super) fn wanted(headers: &HeaderMap) -> Result<Option<Wanted>, Problem> {
    let Some(value) = headers.get(IF_MATCH) else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(Some(Wanted::Any));
    }
    let version = text.trim_matches('"').parse().ok();
    let version = version.map(|version| Some(Wanted::Version(version)));
    version.ok_or_else(|| {
        let message = "is a version such as \"3\", or *";
        Problem::field(&codes::INVALID_PARAMETER, "If-Match", message)
    })
}

/// Whether `If-None-Match: *` asks that there be none yet.
pub(super) fn must_be_new(headers: &HeaderMap) -> Result<bool, Problem> {
    match headers.get(IF_NONE_MATCH).map(HeaderValue::as_bytes) {
        None => Ok(false),
        Some(b"*") => Ok(true),
        Some(_) => {
            let message = "is *, which saves nothing over what is there";
            let field = "If-None-Match";
            Err(Problem::field(&codes::INVALID_PARAMETER, field, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_name_a_version_or_any() {
        let read = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(IF_MATCH, HeaderValue::from_str(text).unwrap());
            wanted(&headers).ok()
        };
        for (text, expected) in [
            ("\"3\"", Some(Some(Wanted::Version(3)))),
            ("3", Some(Some(Wanted::Version(3)))),
            ("*", Some(Some(Wanted::Any))),
            ("\"x\"", None),
            ("\"3\", \"4\"", None),
            ("", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        assert_eq!(wanted(&HeaderMap::new()).unwrap(), None);
        let mut headers = HeaderMap::new();
        tag(&mut headers, 7);
        assert_eq!(headers[ETAG], "\"7\"");
        assert!(!must_be_new(&headers).unwrap());
        headers.insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
        assert!(must_be_new(&headers).unwrap());
        headers.insert(IF_NONE_MATCH, HeaderValue::from_static("\"3\""));
        assert!(must_be_new(&headers).is_err());
    }
}
