//! Around every request: its id, the way out when the server stops, problems as text, the log.
//!
//! The log never holds a body, a key or a query; an error is logged here and nowhere else.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HOST, X_CONTENT_TYPE_OPTIONS};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version};
use tower::Service;

use super::{App, Problem, callback, webhook, workflow};
use crate::codes;

/// Headers of one request.
const HEADERS_MAX: usize = 100;
/// Bytes of all headers of one request, names and values.
const HEADERS_BYTES_MAX: usize = 32 * 1024;
/// Bytes of a request id that is taken over from a client.
const REQUEST_ID_BYTES_MAX: usize = 128;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// Carries a request through, whatever becomes of it. Not a layer of the router: each of those costs
/// every request two allocations and a copy of the service below it.
pub(super) async fn observe(app: &App, router: &Router, request: Request) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let path = callback::shown(request.uri().path()).to_owned();
    let id = request_id(app, request.headers());
    let _in_flight = app.gate.enter();
    let mut response = match admit(app, &request) {
        Ok(()) => caught(route(app, router, request)).await,
        Err(problem) => {
            let told = async {
                Box::pin(webhook::refused(app, request, &problem)).await;
                problem.into_response()
            };
            caught(told).await
        }
    };
    let problem = response.extensions_mut().remove::<Problem>();
    if let Some(mut problem) = problem.or_else(|| foreign(&response)) {
        if problem.code() == &codes::NO_WORKFLOW {
            problem = workflow::suggesting(app, problem, &path).await;
        }
        log(&problem, &method, &path, &id, began);
        *response.status_mut() = problem.status();
        response = render(&problem, response, &path);
    }
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    guard(headers);
    if method == Method::HEAD {
        // The router sees to this for what it answers, but not for problems.
        *response.body_mut() = Body::empty();
    }
    response
}

/// What a browser or a proxy must know of every answer. Only files that are the same for everybody
/// say that they may be kept.
fn guard(headers: &mut HeaderMap) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
    headers.entry(CACHE_CONTROL).or_insert(NO_STORE);
}

async fn route(app: &App, router: &Router, request: Request) -> Response {
    if let Some(webhook) = webhook::plainly_for(&request).map(str::to_owned) {
        // In a box of its own, so that every other request, and above all a poll that waits, stays small.
        let taken = Box::pin(webhook::take(app, &webhook, request)).await;
        return taken.into_response();
    }
    // A router is always ready; it needs to be its own only while it is being called.
    let Ok(response) = router.clone().call(request).await;
    response
}

/// The answer, also if whoever makes it panics.
async fn caught(answer: impl Future<Output = Response>) -> Response {
    // The hook of the log has told where it was.
    let answer = AssertUnwindSafe(answer).catch_unwind().await;
    answer.unwrap_or_else(|_| Problem::internal("a handler panicked").into_response())
}

/// What parts that are not ours (the path's decoding, the documentation's files) refuse with a
/// plain text.
fn foreign(response: &Response) -> Option<Problem> {
    let is_json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"application/json"));
    match response.status() {
        status if status.as_u16() < 400 || is_json => None,
        StatusCode::NOT_FOUND => Some(Problem::new(
            &codes::NO_ROUTE,
            "there is nothing at this address",
        )),
        status if status.is_client_error() => Some(Problem::new(
            &codes::INVALID_PARAMETER,
            "the path cannot be read",
        )),
        status => Some(Problem::internal(format_args!(
            "answered {status} without a problem"
        ))),
    }
}

/// What is refused whatever the request is.
fn admit(app: &App, request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let count = headers.len();
    if count > HEADERS_MAX {
        let detail = format!("the request has {count} headers, at most {HEADERS_MAX} are allowed");
        return Err(Problem::new(&codes::HEADERS_TOO_LARGE, detail));
    }
    let bytes: usize = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum();
    if bytes > HEADERS_BYTES_MAX {
        let detail =
            format!("the headers have {bytes} bytes, at most {HEADERS_BYTES_MAX} are allowed");
        return Err(Problem::new(&codes::HEADERS_TOO_LARGE, detail));
    }
    one_host(request.version(), headers)?;
    let path = request.uri().path();
    if app.gate.is_stopping()
        && (path.starts_with("/api/")
            || path.starts_with("/webhooks/")
            || path.starts_with("/task-callback/"))
    {
        return Err(Problem::new(
            &codes::STOPPING,
            "the server is stopping; nothing was written",
        ));
    }
    Ok(())
}

/// A request names one host: with none or two, a proxy may have read another one than we do.
fn one_host(version: Version, headers: &HeaderMap) -> Result<(), Problem> {
    let refuse = |message| Err(Problem::field(&codes::INVALID_PARAMETER, "Host", message));
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        // HTTP/2 has it elsewhere, and HTTP/1.0 does not ask for it.
        (None, _) if version != Version::HTTP_11 => Ok(()),
        (None, _) => refuse("is missing; HTTP/1.1 asks for it"),
        (Some(_), Some(_)) => refuse("is given more than once"),
        (Some(host), None) => {
            let host = host.as_bytes();
            let is_valid =
                host.is_empty() || (!host.contains(&b'@') && Authority::try_from(host).is_ok());
            if is_valid {
                Ok(())
            } else {
                refuse("is not a host")
            }
        }
    }
}

/// The client's own id if it is a plain one, else a new one.
fn request_id(app: &App, headers: &HeaderMap) -> HeaderValue {
    let plain = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        !bytes.is_empty()
            && bytes.len() <= REQUEST_ID_BYTES_MAX
            && bytes.iter().all(u8::is_ascii_graphic)
    };
    if let Some(own) = headers.get(REQUEST_ID).filter(plain) {
        return own.clone();
    }
    let number = app.requests.fetch_add(1, Ordering::Relaxed);
    let text = format!("{}-{number:x}", app.request_prefix);
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("-"))
}

fn render(problem: &Problem, response: Response, path: &str) -> Response {
    let (mut parts, _) = response.into_parts();
    let body = serde_json::to_vec(&problem.to_model(Some(path))).unwrap_or_default();
    parts.headers.insert(CONTENT_TYPE, PROBLEM_JSON);
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(body))
}

fn log(problem: &Problem, method: &Method, path: &str, id: &HeaderValue, began: Instant) {
    let status = problem.code().status;
    let code = problem.code().code;
    let request = id.to_str().unwrap_or_default();
    let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let detail = problem.detail();
    if problem.code() == &codes::STOPPING {
        // Part of every orderly stop, and nobody's fault.
        tracing::info!(%method, path, request, status, code, duration_ms, "{detail}");
    } else if status >= 500 {
        let cause = problem.cause();
        tracing::error!(%method, path, request, status, code, duration_ms, cause, "{detail}");
    } else {
        tracing::debug!(%method, path, request, status, code, duration_ms, "{detail}");
    }
}
