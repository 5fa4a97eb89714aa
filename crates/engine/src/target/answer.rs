//! Reading an answer within its bounds and turning it into a step's output or a failure.
//!
//! Never more than the allowed bytes are held, whatever the target declares or sends, and nothing
//! is decompressed: what is counted is what arrives.

use std::time::Duration;

use http::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderName, StatusCode};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::json::{Json, ObjectBuilder};
use refire_core::limit::RESPONSE_EXCERPT_BYTES_MAX;
use reqwest::{Response, Url};
use tokio::time::{Instant, timeout_at};

use super::classify::{self, Place};
use super::redact::Redactor;
use super::request::HttpRequest;
use super::retry_after::retry_after_ms;

/// How long the text of a failed answer may take; its status is already known.
const EXCERPT_TIME_MAX: Duration = Duration::from_secs(5);

/// Characters of a target's header that are repeated in a message.
const SHOWN_CHARS_MAX: usize = 32;

/// How reading a body ended.
enum End {
    Complete,
    /// There was more than may be held; the rest stays unread.
    TooLong,
    Broken(reqwest::Error),
    Late,
}

/// Reads at most `bytes_max` of the body.
async fn read(response: &mut Response, bytes_max: usize, deadline: Instant) -> (Vec<u8>, End) {
    let mut held = Vec::new();
    loop {
        let chunk = match timeout_at(deadline, response.chunk()).await {
            Err(_) => return (held, End::Late),
            Ok(Err(error)) => return (held, End::Broken(error)),
            Ok(Ok(None)) => return (held, End::Complete),
            Ok(Ok(Some(chunk))) => chunk,
        };
        let room = bytes_max - held.len();
        if chunk.len() > room {
            held.extend_from_slice(&chunk[..room]);
            return (held, End::TooLong);
        }
        held.extend_from_slice(&chunk);
        // Chunks that are always ready would keep the timer above from ever being asked.
        if Instant::now() >= deadline {
            return (held, End::Late);
        }
    }
}

/// The answer with an expected status, as `{"status", "headers", "body"}`.
pub(super) async fn expected(
    mut response: Response,
    request: &HttpRequest,
    place: &Place,
    deadline: Instant,
) -> Result<Json, Failure> {
    let limit = request.max_response_bytes;
    let bytes_max = usize::try_from(limit).unwrap_or(usize::MAX);
    // A body that says it is too long is read only for the excerpt.
    let declared_too_long = response
        .content_length()
        .is_some_and(|declared| declared > limit);
    let bytes_read_max = match declared_too_long {
        true => bytes_max.min(RESPONSE_EXCERPT_BYTES_MAX),
        false => bytes_max,
    };
    let (body, end) = read(&mut response, bytes_read_max, deadline).await;
    let failure = match end {
        End::Complete => {
            return match body_json(body, response.headers(), &request.redact) {
                Ok(body) => Ok(output(&response, &body, &request.redact)),
                Err(not_text) => Err(not_text),
            };
        }
        End::TooLong => Failure::new(
            ErrorClass::ResponseTooLarge,
            format!("the answer is longer than maxResponseBytes ({limit} bytes)"),
        ),
        End::Broken(error) => classify::broken_off(error, place),
        End::Late => classify::body_timeout(request.timeout),
    };
    Err(Failure {
        response: excerpt(&body, true, &request.redact),
        ..failure
    })
}

/// The failure that an answer with another status is.
pub(super) async fn unexpected(
    mut response: Response,
    request: &HttpRequest,
    deadline: Instant,
) -> Failure {
    let status = response.status();
    let is_redirect = status.is_redirection() && status != StatusCode::NOT_MODIFIED;
    let mut failure = match is_redirect {
        true => Failure::new(ErrorClass::Redirect, redirect_message(&response)),
        false => Failure::new(
            ErrorClass::HttpStatus,
            match status.is_success() {
                true => format!(
                    "the target answered {}, which is not an expected status",
                    status_words(status)
                ),
                false => format!("the target answered {}", status_words(status)),
            },
        ),
    };
    failure.code = Some(status.as_u16().to_string());
    failure.retry_after_ms = retry_after_ms(response.headers(), request.now);
    // The status is known; that its text breaks off or never ends does not change what happened.
    let deadline = deadline.min(Instant::now() + EXCERPT_TIME_MAX);
    let (body, end) = read(&mut response, RESPONSE_EXCERPT_BYTES_MAX, deadline).await;
    let cut = !matches!(end, End::Complete);
    failure.response = excerpt(&body, cut, &request.redact);
    failure
}

fn status_words(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

fn redirect_message(response: &Response) -> String {
    let words = status_words(response.status());
    let location = response.headers().get(LOCATION);
    let location = location.map(|value| String::from_utf8_lossy(value.as_bytes()));
    let to = location.and_then(|location| match response.url().join(&location) {
        Ok(to) => Some(host_and_scheme(&to)),
        Err(_) => None,
    });
    match to {
        Some(to) => format!("the target answered {words}; the redirect to {to} is not followed"),
        None => format!("the target answered {words}; redirects are not followed"),
    }
}

/// The path and the query stay out: targets put tokens there.
fn host_and_scheme(url: &Url) -> String {
    match url.host_str() {
        Some(host) => format!("{}://{host}", url.scheme()),
        None => format!("a {}: address", url.scheme()),
    }
}

/// The first bytes of an answer as text, without secrets.
fn excerpt(body: &[u8], cut: bool, redact: &Redactor) -> Option<String> {
    let more = body.len() > RESPONSE_EXCERPT_BYTES_MAX;
    let body = &body[..body.len().min(RESPONSE_EXCERPT_BYTES_MAX)];
    let whole = match std::str::from_utf8(body) {
        // A character that the cut divided goes; bytes that are wrong become U+FFFD.
        Err(error) if error.error_len().is_none() => &body[..error.valid_up_to()],
        _ => body,
    };
    let text = String::from_utf8_lossy(whole);
    let text = if cut || more {
        redact.cut_text(&text)
    } else {
        redact.text(&text)
    };
    // U+FFFD is longer than the byte it stands for.
    let end = text.floor_char_boundary(RESPONSE_EXCERPT_BYTES_MAX);
    (!text.is_empty()).then(|| text[..end].to_owned())
}

/// The body as a value: JSON if it is, `null` if there is none, otherwise its text.
fn body_json(body: Vec<u8>, headers: &HeaderMap, redact: &Redactor) -> Result<Json, Failure> {
    if body.is_empty() {
        return Ok(Json::null());
    }
    let text = String::from_utf8(body).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let encoded = match joined(headers, &CONTENT_ENCODING) {
            Some(encoding) => {
                let shown: String = encoding.chars().take(SHOWN_CHARS_MAX).collect();
                format!(" (it is encoded with {shown})")
            }
            None => String::new(),
        };
        let message = format!("the answer's body is not UTF-8 text from byte {at} on{encoded}");
        let mut failure = Failure::new(ErrorClass::InvalidResponse, message);
        failure.response = excerpt(error.as_bytes(), false, redact);
        failure
    })?;
    let says_json = joined(headers, &CONTENT_TYPE).is_none_or(|kind| is_json(&kind));
    let parsed = says_json.then(|| Json::parse(text.as_str()).ok()).flatten();
    Ok(match parsed {
        Some(json) => redact.json(&json),
        None => Json::string(&redact.output(&text)),
    })
}

fn is_json(content_type: &str) -> bool {
    let kind = content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    kind == "application/json" || kind == "text/json" || kind.ends_with("+json")
}

fn output(response: &Response, body: &Json, redact: &Redactor) -> Json {
    let mut headers = ObjectBuilder::new();
    for name in response.headers().keys() {
        if let Some(value) = joined(response.headers(), name) {
            headers.push(name.as_str(), &Json::string(&redact.output(&value)));
        }
    }
    ObjectBuilder::new()
        .number("status", u64::from(response.status().as_u16()))
        .json("headers", &headers.build())
        .json("body", body)
        .build()
}

/// All values of a header as one text; bytes that are not UTF-8 become U+FFFD.
fn joined(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values: Vec<_> = headers
        .get_all(name)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    (!values.is_empty()).then(|| values.join(", "))
}
