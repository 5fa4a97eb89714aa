//! Reading a request's body: bounded in bytes and in time, before anything looks at it.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::extract::{FromRequest, Request};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use http::{HeaderMap, HeaderValue};
use refire_client::model::FieldProblem;
use refire_core::json::{Json, Kind};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::problem::wrong;
use super::{App, Problem};
use crate::codes;

/// How long a whole body may take.
const BODY_WITHIN: Duration = Duration::from_secs(30);
/// How long a body may stand still.
const CHUNK_WITHIN: Duration = Duration::from_secs(10);
/// So long a body may come as slowly as it likes.
const SLOW_FOR: Duration = Duration::from_secs(10);
/// From then on so many bytes per second are asked for, counted over all its time: who sends a byte
/// now and then holds a socket for seconds and not for the time of a whole body.
const BYTES_PER_SECOND_MIN: usize = 1024;
/// The beginning of a body that is refused by its length is waited for at most this long.
const HEAD_WITHIN: Duration = Duration::from_secs(1);

/// A request's body.
pub(super) struct Content {
    bytes: Bytes,
    /// Whether the client says that it is JSON.
    said_json: bool,
}

/// A body as it came.
pub(super) enum Whole {
    /// All of it.
    Read(Bytes),
    /// It is longer than the limit.
    TooLarge(TooLarge),
}

/// A body that is longer than the limit, and was not read on since that is known.
pub(super) struct TooLarge {
    /// It has at least so many bytes.
    length: u64,
    /// What was read of it.
    begun: BytesMut,
    stream: BodyDataStream,
    began: Instant,
    /// The client has sent nothing yet: it waits to be invited.
    asks: bool,
}

/// Reads a body of at most `max` bytes, bounded in time.
pub(super) async fn whole(headers: &HeaderMap, body: Body, max: usize) -> Result<Whole, Problem> {
    let stream = body.into_data_stream();
    let (began, begun) = (Instant::now(), BytesMut::new());
    if let Some(length) = announced(headers).filter(|length| *length > max as u64) {
        return Ok(Whole::TooLarge(TooLarge {
            length,
            begun,
            stream,
            began,
            asks: headers.contains_key(EXPECT),
        }));
    }
    read(stream, begun, max, began).await
}

impl TooLarge {
    /// It has at least so many bytes.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Its beginning, as much as comes soon.
    pub(super) async fn head(mut self, bytes: usize) -> Bytes {
        // Reading would invite a client that asks first.
        if !self.asks {
            let until = Instant::now() + HEAD_WITHIN;
            while self.begun.len() < bytes
                && let Ok(Some(Ok(chunk))) =
                    tokio::time::timeout_at(until, self.stream.next()).await
            {
                self.begun.extend_from_slice(&chunk);
            }
        }
        // What was read beyond it is let go of.
        Bytes::copy_from_slice(&self.begun[..self.begun.len().min(bytes)])
    }

    /// Reads on, up to a larger limit.
    pub(super) async fn rest(self, max: usize) -> Result<Whole, Problem> {
        read(self.stream, self.begun, max, self.began).await
    }
}

impl FromRequest<App> for Content {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let max = app.body_bytes_max;
        let (parts, body) = request.into_parts();
        match whole(&parts.headers, body, max).await? {
            Whole::TooLarge(_) => Err(too_large(max)),
            Whole::Read(bytes) => Ok(Self {
                bytes,
                said_json: says_json(&parts.headers),
            }),
        }
    }
}

impl Content {
    /// The body as text, YAML or JSON. What is sent as JSON must be JSON: read as YAML, a comma
    /// too many would pass here and nowhere else.
    pub(super) fn text(&self) -> Result<&str, Problem> {
        let text = std::str::from_utf8(&self.bytes).map_err(|error| {
            let offset = error.valid_up_to();
            let detail = format!("the body is not UTF-8: bad byte at offset {offset}");
            Problem::new(&codes::INVALID_BODY, detail)
        })?;
        if self.said_json && !self.is_blank() {
            self.json()?;
        }
        Ok(text)
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is nothing but what JSON and YAML take for white space.
    pub(super) fn is_blank(&self) -> bool {
        self.bytes.iter().all(|byte| b" \t\r\n".contains(byte))
    }

    /// The body as JSON.
    pub(super) fn json(&self) -> Result<Json, Problem> {
        Ok(Json::from_bytes(&self.bytes)?)
    }

    /// The body as the JSON that a call takes; an empty one is `{}`.
    pub(super) fn read<T: serde::de::DeserializeOwned>(&self) -> Result<T, Problem> {
        let json = if self.is_blank() {
            Json::empty_object()
        } else {
            self.json()?
        };
        decode(&json)
    }
}

/// A checked JSON object as a type.
pub(super) fn decode<T: serde::de::DeserializeOwned>(json: &Json) -> Result<T, Problem> {
    let refuse = |detail: String| Problem::new(&codes::INVALID_BODY, detail);
    // Left to itself, serde would take a list for the fields in their order.
    if json.kind() != Kind::Object {
        return Err(refuse(
            "the body is not valid: expected an object".to_owned(),
        ));
    }
    serde_json::from_str(json.as_str()).map_err(|error| {
        let detail = format!("the body is not valid: {error}");
        Problem::new(&codes::INVALID_BODY, detail).with_errors(wrong_fields::<T>(json, &error))
    })
}

/// All fields that are wrong, where the first one was found. Each is read alone.
fn wrong_fields<T: serde::de::DeserializeOwned>(
    json: &Json,
    first: &serde_json::Error,
) -> Vec<FieldProblem> {
    let said = |error: &serde_json::Error| {
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        text.strip_suffix(&place).unwrap_or(&text).to_owned()
    };
    let missing = |said: &str| {
        let name = said.strip_prefix("missing field `")?;
        Some(wrong(name.strip_suffix('`')?, "is missing"))
    };
    let fields: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(json.as_str()).unwrap_or_default();
    let alone = |(name, value): (String, Box<RawValue>)| {
        let one = serde_json::to_string(&BTreeMap::from([(&name, &value)])).ok()?;
        let said = said(&serde_json::from_str::<T>(&one).err()?);
        missing(&said).is_none().then(|| wrong(&name, said))
    };
    let mut found: Vec<FieldProblem> = fields.into_iter().filter_map(alone).collect();
    found.extend(missing(&said(first)));
    found
}

/// `application/json` or anything `+json`.
fn says_json(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map(|kind| kind.trim().to_ascii_lowercase());
    kind.is_some_and(|kind| kind == "application/json" || kind.ends_with("+json"))
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn read(
    mut stream: BodyDataStream,
    mut whole: BytesMut,
    max: usize,
    began: Instant,
) -> Result<Whole, Problem> {
    let late = began + BODY_WITHIN;
    while whole.len() <= max {
        let still = Instant::now() + CHUNK_WITHIN;
        let slow = began + time_for(whole.len());
        let until = still.min(slow).min(late);
        let next = tokio::time::timeout_at(until, stream.next()).await;
        let next = next.map_err(|_| match until {
            until if until == late => too_slow("the body did not arrive within 30 s"),
            until if until == still => too_slow("nothing of the body arrived for 10 s"),
            _ => too_slow("the body arrived at less than 1 KiB/s"),
        });
        match next? {
            None => return Ok(Whole::Read(whole.freeze())),
            Some(Ok(chunk)) => whole.extend_from_slice(&chunk),
            Some(Err(error)) => {
                let detail = format!("the body ended too early: {error}");
                return Err(Problem::new(&codes::INVALID_BODY, detail));
            }
        }
    }
    Ok(Whole::TooLarge(TooLarge {
        length: whole.len() as u64,
        begun: whole,
        stream,
        began,
        asks: false,
    }))
}

/// How long a body may have taken that has come so far.
fn time_for(bytes: usize) -> Duration {
    SLOW_FOR.max(Duration::from_secs((bytes / BYTES_PER_SECOND_MIN) as u64))
}

pub(super) fn too_large(max: usize) -> Problem {
    Problem::new(
        &codes::BODY_TOO_LARGE,
        format!("the body is larger than {max} bytes"),
    )
}

fn too_slow(detail: &str) -> Problem {
    Problem::new(&codes::BODY_TOO_SLOW, detail)
        .with_header(CONNECTION, HeaderValue::from_static("close"))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    const BYTES_MAX: usize = 1024 * 1024;

    async fn read_all(body: Body) -> Result<Whole, Problem> {
        whole(&HeaderMap::new(), body, BYTES_MAX).await
    }

    /// So many parts, one each second.
    fn body(parts: usize, bytes: usize) -> Body {
        let parts = futures_util::stream::iter(0..parts).then(move |_| async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok::<_, Infallible>(Bytes::from(vec![b'a'; bytes]))
        });
        Body::from_stream(parts)
    }

    async fn refusal(body: Body) -> (String, Duration) {
        let began = Instant::now();
        let Err(problem) = read_all(body).await else {
            panic!("it is too slow");
        };
        assert_eq!(problem.code(), &codes::BODY_TOO_SLOW);
        (problem.detail().to_owned(), began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_drips_is_given_up_after_ten_seconds() {
        let (detail, after) = refusal(body(60, 512)).await;
        assert_eq!(detail, "the body arrived at less than 1 KiB/s");
        assert_eq!(after.as_secs(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn a_good_beginning_pays_for_a_while() {
        let beginning = futures_util::stream::iter([Ok::<_, Infallible>(Bytes::from(vec![
            b'a';
            15 * BYTES_PER_SECOND_MIN
        ]))]);
        let stalling = body(60, 1).into_data_stream();
        let stalling = stalling.map(|part| Ok::<_, Infallible>(part.unwrap()));
        let (_, after) = refusal(Body::from_stream(beginning.chain(stalling))).await;
        assert_eq!(after.as_secs(), 15);
    }

    #[tokio::test(start_paused = true)]
    async fn of_what_is_too_large_the_beginning_is_kept() {
        let announced: HeaderMap = [(CONTENT_LENGTH, HeaderValue::from_static("5000"))]
            .into_iter()
            .collect();
        let mut asks = announced.clone();
        asks.insert(EXPECT, HeaderValue::from_static("100-continue"));
        let parts = || {
            let parts = (0..50).map(|n| Ok::<_, Infallible>(Bytes::from(vec![n; 100])));
            Body::from_stream(futures_util::stream::iter(parts))
        };
        let beginning = [[0; 100].as_slice(), &[1; 20]].concat();
        let pending = || {
            let never = futures_util::stream::pending::<Result<Bytes, Infallible>>();
            Body::from_stream(never)
        };
        for (headers, body, expected) in [
            (HeaderMap::new(), parts(), (300, beginning.clone())),
            (announced.clone(), parts(), (5_000, beginning)),
            (asks, parts(), (5_000, Vec::new())),
            (announced, pending(), (5_000, Vec::new())),
        ] {
            let began = Instant::now();
            let Ok(Whole::TooLarge(body)) = whole(&headers, body, 250).await else {
                panic!("it is too large");
            };
            let length = body.length();
            assert_eq!((length, body.head(120).await.to_vec()), expected);
            assert!(began.elapsed() <= HEAD_WITHIN);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_too_large_can_be_read_on_up_to_another_limit() {
        let announced: HeaderMap = [(CONTENT_LENGTH, HeaderValue::from_static("300"))]
            .into_iter()
            .collect();
        for headers in [HeaderMap::new(), announced] {
            for (max, is_read) in [(299, false), (300, true)] {
                let Ok(Whole::TooLarge(begun)) = whole(&headers, body(3, 100), 150).await else {
                    panic!("it is too large");
                };
                match begun.rest(max).await {
                    Ok(Whole::Read(bytes)) if is_read => assert_eq!(bytes.len(), 300),
                    Ok(Whole::TooLarge(begun)) if !is_read => assert_eq!(begun.length(), 300),
                    _ => panic!("{max}"),
                }
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_but_steady_body_is_read() {
        let whole = read_all(body(25, 2 * BYTES_PER_SECOND_MIN)).await;
        let Ok(Whole::Read(whole)) = whole else {
            panic!("it is not too large");
        };
        assert_eq!(whole.len(), 50 * BYTES_PER_SECOND_MIN);
    }
}
