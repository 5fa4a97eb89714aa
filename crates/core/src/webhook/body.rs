//! The body of a request as JSON: kept byte for byte, or made of a form.
//!
//! `application/json` and everything `+json` is JSON, and so is a body whose type is not said. A form
//! becomes an object. An empty body is `{}`; `null` is refused, as it nearly always is a
//! mistake of the sender. Other types, other character sets and packed bodies are not supported: a
//! signature covers the bytes that came, so they are never changed before they are read.

use super::form;
use super::request::{HeaderTrouble, Headers};
use crate::json::Json;

/// The longest content type that is read, in bytes.
const CONTENT_TYPE_BYTES_MAX: usize = 256;

/// Why a body cannot be an input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is of a type that is not read.
    #[error("{0}")]
    Unsupported(String),
    /// It is not what its type says.
    #[error("{0}")]
    Invalid(String),
}

enum Format {
    Json,
    Form,
}

/// Reads a body.
///
/// # Errors
/// When its type is not supported, or it is not what its type says; with the place.
pub fn read(headers: Headers<'_>, body: &[u8]) -> Result<Json, BodyError> {
    plain(headers)?;
    let format = format(headers)?;
    if body.trim_ascii().is_empty() {
        return Ok(Json::empty_object());
    }
    match format {
        Format::Form => form::read(body).map_err(BodyError::Invalid),
        Format::Json => match Json::from_bytes(body) {
            Ok(json) if json.is_null() => Err(BodyError::Invalid(
                "the body is null; send a JSON value, or an empty body for {}".to_owned(),
            )),
            Ok(json) => Ok(json),
            Err(error) => Err(BodyError::Invalid(format!("the body is not JSON: {error}"))),
        },
    }
}

/// What to say of a body that was read as a form, as its type says, but is JSON.
pub const JSON_AS_FORM: &str =
    "the body was read as a form but looks like JSON; send it with Content-Type: application/json";

/// Whether an input was JSON that was read as a form: the name of its first field begins like JSON. `curl
/// -d` sends everything as a form unless it is told otherwise.
#[must_use]
pub fn is_json_as_form(input: &Json) -> bool {
    let first = input.members().next();
    first.is_some_and(|(name, _)| name.trim_start().starts_with(['{', '[']))
}

fn plain(headers: Headers<'_>) -> Result<(), BodyError> {
    let packed = headers
        .all("content-encoding")
        .any(|value| !value.trim_ascii().eq_ignore_ascii_case(b"identity"));
    if packed {
        let message = "a packed body (Content-Encoding) is not supported";
        return Err(BodyError::Unsupported(message.to_owned()));
    }
    Ok(())
}

fn format(headers: Headers<'_>) -> Result<Format, BodyError> {
    let unsupported = |what: String| Err(BodyError::Unsupported(what));
    let value = match headers.one("content-type", CONTENT_TYPE_BYTES_MAX) {
        Ok(value) => value.to_ascii_lowercase(),
        Err(HeaderTrouble::Missing) => return Ok(Format::Json),
        Err(trouble) => return unsupported(format!("the header Content-Type {trouble}")),
    };
    let mut parts = value.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default();
    let charset = parts.find_map(|part| part.strip_prefix("charset="));
    let charset = charset.map(|name| name.trim_matches('"'));
    if charset.is_some_and(|name| !["utf-8", "utf8", "us-ascii"].contains(&name)) {
        return unsupported("only the character set UTF-8 is supported".to_owned());
    }
    match kind {
        "" | "application/json" => Ok(Format::Json),
        "application/x-www-form-urlencoded" => Ok(Format::Form),
        // Such as application/cloudevents+json.
        other if other.contains('/') && other.ends_with("+json") => Ok(Format::Json),
        other => unsupported(format!(
            "the content type {other:?} is not supported; send application/json or \
             application/x-www-form-urlencoded"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(kind: Option<&str>, body: &[u8]) -> Result<String, BodyError> {
        let pairs: Vec<(&str, &[u8])> = kind
            .iter()
            .map(|kind| ("Content-Type", kind.as_bytes()))
            .collect();
        read(Headers(&pairs), body).map(|json| json.as_str().to_owned())
    }

    #[test]
    fn json_is_kept_byte_for_byte() {
        let text = r#"{"n":12345678901234567890123, "a" : "\u0000","a":1e5}"#;
        for kind in [
            None,
            Some("application/json"),
            Some("Application/JSON; charset=UTF-8"),
            Some("application/json;charset=\"utf-8\""),
            Some("application/cloudevents+json"),
            Some("application/vnd.github.v3+json ; x=y"),
        ] {
            assert_eq!(body(kind, text.as_bytes()).as_deref(), Ok(text), "{kind:?}");
        }
        assert_eq!(body(None, b" [1] \r\n").as_deref(), Ok("[1]"));
    }

    #[test]
    fn an_empty_body_is_an_empty_object() {
        for kind in [
            None,
            Some("application/json"),
            Some("application/x-www-form-urlencoded"),
        ] {
            for empty in [&b""[..], b" \r\n"] {
                assert_eq!(body(kind, empty).as_deref(), Ok("{}"));
            }
        }
    }

    #[test]
    fn what_is_not_read_is_told_apart_from_what_is_wrong() {
        for kind in [
            "text/plain",
            "multipart/form-data; boundary=x",
            "+json",
            "json",
            "a/b",
        ] {
            let error = body(Some(kind), b"{}").expect_err(kind);
            assert!(
                matches!(error, BodyError::Unsupported(_)),
                "{kind}: {error}"
            );
            assert!(
                error.to_string().contains("send application/json"),
                "{error}"
            );
        }
        let latin = body(Some("application/json; charset=iso-8859-1"), b"{}").unwrap_err();
        assert!(latin.to_string().contains("UTF-8"), "{latin}");
        let pairs: [(&str, &[u8]); 1] = [("Content-Encoding", b"gzip")];
        let packed = read(Headers(&pairs), b"{}").unwrap_err();
        assert!(packed.to_string().contains("Content-Encoding"), "{packed}");
        let pairs: [(&str, &[u8]); 2] = [
            ("content-type", b"application/json"),
            ("Content-Type", b"text/plain"),
        ];
        let twice = read(Headers(&pairs), b"{}").unwrap_err();
        assert!(twice.to_string().contains("more than once"), "{twice}");
        let deep = "[".repeat(200);
        for (text, expected) in [
            (&b"{\"a\":1,}"[..], "line 1, column 8"),
            (b"{\"a\":\n tru}", "line 2"),
            (b"null", "is null"),
            (b"\xEF\xBB\xBF{}", "line 1, column 1"),
            (b"{\"a\":\"\xFF\"}", "bad byte at offset 6"),
            (deep.as_bytes(), "nested deeper than 128"),
        ] {
            let error = body(None, text).expect_err(expected);
            assert!(matches!(error, BodyError::Invalid(_)), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
