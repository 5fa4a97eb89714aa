//! Reading an answer within its bounds and turning it into a step's output or a failure.
//!
//! Never more than the allowed bytes are held, whatever the target declares or sends, and nothing
//! is decompressed: what is counted is what arrives.

use std::time::Duration;

use http::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use http::response::Parts;
use http::{HeaderMap, HeaderName, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::json::{Json, ObjectBuilder};
use refire_core::limit::RESPONSE_EXCERPT_BYTES_MAX;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::classify::{self, Place};
use super::redact::Redactor;
use super::redirect;
use super::request::HttpRequest;
use super::retry_after::retry_after_ms;
use super::room::{FREE_BYTES, Room, Taken};

/// How long the text of a failed answer may take; its status is already known.
const EXCERPT_TIME_MAX: Duration = Duration::from_secs(5);

/// Characters of a target's header that are repeated in a message.
const SHOWN_CHARS_MAX: usize = 32;

/// Whose answer it is and what it may cost.
pub(super) struct Call<'a> {
    pub(super) request: &'a HttpRequest,
    pub(super) url: &'a Url,
    pub(super) place: &'a Place,
    pub(super) room: &'a Room,
    pub(super) deadline: Instant,
    /// Redirects that were followed before it.
    pub(super) followed: u8,
}

/// How reading a body ended.
enum End {
    Complete,
    /// There was more than may be held; the rest stays unread.
    TooLong,
    Broken(hyper::Error),
    Late,
}

/// What was read of a body, and the room it takes.
struct Held {
    bytes: Vec<u8>,
    taken: Option<Taken>,
}

/// Reads at most `bytes_max` of the body.
async fn read(
    mut body: Incoming,
    bytes_max: usize,
    deadline: Instant,
    call: &Call<'_>,
) -> (Held, End) {
    let declared = body.size_hint().exact().unwrap_or(u64::MAX);
    let bytes_expected = usize::try_from(declared)
        .unwrap_or(usize::MAX)
        .min(bytes_max);
    let mut held = Held {
        bytes: Vec::new(),
        taken: None,
    };
    loop {
        let chunk = match timeout_at(deadline, body.frame()).await {
            Err(_) => return (held, End::Late),
            Ok(Some(Err(error))) => return (held, End::Broken(error)),
            Ok(None) => return (held, End::Complete),
            // Whatever follows the body is not asked for.
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
        };
        let room = bytes_max - held.bytes.len();
        let fits = chunk.len().min(room);
        if held.taken.is_none() && held.bytes.len() + fits > FREE_BYTES {
            let taking = call.room.take(call.place.host(), bytes_expected);
            match timeout_at(deadline, taking).await {
                Ok(taken) => held.taken = Some(taken),
                Err(_) => return (held, End::Late),
            }
            // All at once, because growing step by step would need up to twice as much.
            held.bytes.reserve_exact(bytes_expected - held.bytes.len());
        }
        held.bytes.extend_from_slice(&chunk[..fits]);
        if fits < chunk.len() {
            return (held, End::TooLong);
        }
        // Chunks that are always ready would keep the timer above from ever being asked.
        if Instant::now() >= deadline {
            return (held, End::Late);
        }
    }
}

/// The answer with an expected status, as `{"status", "headers", "body"}`, and the room it takes.
pub(super) async fn expected(
    response: Response<Incoming>,
    call: &Call<'_>,
) -> Result<(Json, Option<Taken>), Failure> {
    let request = call.request;
    let limit = request.max_response_bytes;
    let bytes_max = usize::try_from(limit).unwrap_or(usize::MAX);
    let (head, body) = response.into_parts();
    // A body that says it is too long is read only for the excerpt.
    let declared = body.size_hint().exact();
    let bytes_read_max = match declared.is_some_and(|declared| declared > limit) {
        true => bytes_max.min(RESPONSE_EXCERPT_BYTES_MAX),
        false => bytes_max,
    };
    let (held, end) = read(body, bytes_read_max, call.deadline, call).await;
    let failure = match end {
        End::Complete => {
            let body = body_json(held.bytes, &head.headers, &request.redact)?;
            let output = output(&head, &body, call);
            return Ok((output, held.taken));
        }
        End::TooLong => Failure::new(
            ErrorClass::ResponseTooLarge,
            format!("the answer is longer than maxResponseBytes ({limit} bytes)"),
        ),
        End::Broken(error) => classify::broken_off(&error, call.place),
        End::Late => classify::body_timeout(request.timeout),
    };
    Err(Failure {
        response: excerpt(&held.bytes, true, &request.redact),
        ..failure
    })
}

/// The failure that an answer with another status is.
pub(super) async fn unexpected(response: Response<Incoming>, call: &Call<'_>) -> Failure {
    let (head, body) = response.into_parts();
    let status = head.status;
    let is_redirect = status.is_redirection() && status != StatusCode::NOT_MODIFIED;
    let mut failure = match is_redirect {
        true => Failure::new(ErrorClass::Redirect, redirect_message(&head, call)),
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
    failure.retry_after_ms = retry_after_ms(&head.headers, call.request.now);
    // The status is known; that its text breaks off or never ends does not change what happened.
    let deadline = call.deadline.min(Instant::now() + EXCERPT_TIME_MAX);
    let (held, end) = read(body, RESPONSE_EXCERPT_BYTES_MAX, deadline, call).await;
    let cut = !matches!(end, End::Complete);
    failure.response = excerpt(&held.bytes, cut, &call.request.redact);
    failure
}

fn status_words(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

fn redirect_message(head: &Parts, call: &Call<'_>) -> String {
    let words = match call.followed {
        0 => status_words(head.status),
        1 => format!("{} after 1 redirect", status_words(head.status)),
        followed => format!("{} after {followed} redirects", status_words(head.status)),
    };
    let location = head.headers.get(LOCATION);
    let location = location.map(|value| String::from_utf8_lossy(value.as_bytes()));
    let to = location.and_then(|location| match call.url.join(&location) {
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
    let end = recorded_end(&text, RESPONSE_EXCERPT_BYTES_MAX);
    (!text.is_empty()).then(|| text[..end].to_owned())
}

/// Where a text must end to take at most so many bytes in the log: U+FFFD is longer than the byte it
/// stands for, and six bytes are written for a control character.
fn recorded_end(text: &str, bytes_max: usize) -> usize {
    let mut bytes = 0;
    for (at, character) in text.char_indices() {
        bytes += match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..' ' => 6,
            other => other.len_utf8(),
        };
        if bytes > bytes_max {
            return at;
        }
    }
    text.len()
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

fn output(head: &Parts, body: &Json, call: &Call<'_>) -> Json {
    let redact = &call.request.redact;
    let mut headers = ObjectBuilder::new();
    for name in head.headers.keys() {
        if let Some(value) = joined(&head.headers, name) {
            headers.push(name.as_str(), &Json::string(&redact.output(&value)));
        }
    }
    let output = ObjectBuilder::new()
        .number("status", u64::from(head.status.as_u16()))
        .json("headers", &headers.build())
        .json("body", body);
    match call.followed {
        0 => output.build(),
        _ => {
            let url = redirect::shown(call.url);
            output
                .json("url", &Json::string(&redact.text(&url)))
                .build()
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_as_long_in_the_log_as_allowed() {
        for text in [
            "a",
            "€",
            "\u{1}",
            "\0\u{fffd}",
            "\"\\\n\r\t\u{8}\u{c}",
            "\u{1b}[2Jé",
        ] {
            let long = text.repeat(1_000);
            for bytes_max in [0, 1, 7, 100, 999, 1_000_000] {
                let end = recorded_end(&long, bytes_max);
                let recorded = |end: usize| Json::string(&long[..end]).as_str().len() - 2;
                assert!(recorded(end) <= bytes_max, "{text:?} {bytes_max}");
                if let Some(next) = long[end..].chars().next() {
                    assert!(recorded(end + next.len_utf8()) > bytes_max, "{text:?}");
                }
            }
        }
    }
}
