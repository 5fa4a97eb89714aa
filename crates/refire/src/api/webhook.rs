//! Requests to webhooks: `POST /webhooks/{webhook_id}`. Nobody needs an API key here; each trigger
//! says how its sender is known. The body is read whole and bounded, and judged as the bytes it is.

use std::net::{IpAddr, Ipv4Addr};

use axum::extract::{Path, Request};
use axum::response::{IntoResponse, Response};
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method};
use refire_client::model::{Input, WebhookAnswer, WebhookStatus};
use refire_core::webhook::Headers;
use refire_engine::trigger::{
    BODY_HEAD_BYTES, BODY_KEPT_BYTES_MAX, Incoming, Received, TriggerError, Unread,
};
use refire_engine::{CommitFailure, IntakeError};
use refire_store::ReadError;

use super::body::{self, TooLarge, Whole};
use super::listen::Peer;
use super::{App, Problem};
use crate::codes;

/// What a sender hears of a request that was filtered; which filter it was is not its business.
const FILTERED: &str = "the request was received and is not one that this webhook waits for";

/// Receives a request from a sender.
///
/// The answer is `triggered` only when the execution is on disk. A repeated request with the same key
/// gets `already_processed` and the execution of the first.
#[utoipa::path(
    post,
    path = "/webhooks/{webhook_id}",
    params(
        ("webhook_id" = String, Path, description = "The id in the webhook's address", example = "wh_01kb2m8x0c7q2t5v9w3y4z6a8d"),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key never starts a second execution of this webhook"),
        ("traceparent" = Option<String>, Header, description = "The sender's trace (W3C); the calls of the steps belong to it"),
    ),
    request_body(
        content = inline(Input), content_type = "application/json",
        description = "What the sender sends: JSON, or a form, which becomes JSON",
    ),
    responses(
        (status = 200, description = "It started an execution, or there was no need to", body = WebhookAnswer,
            example = json!({"status": "triggered", "execution_id": "exec_01kb2m8x0c7q2t5v9w3y4z6a8d", "message": "the execution is saved and will run"})),
        (status = 400, description = "The body cannot be read"),
        (status = 401, description = "The signature or key is missing or wrong"),
        (status = 403, description = "Requests from this address are not accepted"),
        (status = 404, description = "There is no such webhook, or it is disabled"),
        (status = 413, description = "The body is too large"),
        (status = 415, description = "The content type is not supported"),
        (status = 429, description = "Too many requests: try again after `Retry-After` seconds"),
        (status = 503, description = "Nothing was started: send it again"),
    ),
    security(()),
)]
pub(super) async fn receive_webhook(
    app: App,
    Path(webhook): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    take(&app, &webhook, request).await
}

/// The webhook that a request is for, if that is plain to see. Senders send a great many of these, and the
/// router costs each of them a few microseconds.
pub(super) fn plainly_for(request: &Request) -> Option<&str> {
    let webhook = request.uri().path().strip_prefix("/webhooks/")?;
    let is_plain = !webhook.is_empty()
        && webhook
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_plain && request.method() == Method::POST).then_some(webhook)
}

/// A request that was refused whatever it is for. If it was for a webhook, and is not sent again by itself,
/// its log has it: the sender's headers may have grown.
pub(super) async fn refused(app: &App, request: Request, problem: &Problem) {
    if problem.code() != &codes::HEADERS_TOO_LARGE {
        return;
    }
    let Some(Ok(webhook)) = plainly_for(&request).map(str::parse) else {
        return;
    };
    let (parts, _) = request.into_parts();
    let unread = Unread::Broken(problem.detail().to_owned());
    let incoming = incoming(&parts, sender(app, &parts), Vec::new(), Some(unread));
    // Its sender hears what is wrong with the headers, whatever is said of it here.
    let _ = app.engine.webhooks().receive(webhook, &incoming).await;
}

pub(super) async fn take(app: &App, webhook: &str, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let sender = sender(app, &parts);
    let Ok(webhook) = webhook.parse() else {
        app.engine.webhooks().receive_nowhere(webhook, sender.0);
        return Err(no_webhook());
    };
    let read = body::whole(&parts.headers, body, app.body_bytes_max).await;
    // Held until the request is handed to the log, which bounds what waits there by itself.
    let mut _room = None;
    let (body, unread, problem) = match read {
        Ok(Whole::Read(bytes)) => (bytes.into(), None, None),
        Ok(Whole::TooLarge(begun)) => {
            let keeps = app
                .engine
                .webhooks()
                .keeps_oversized(webhook, sender.0, &sender.1);
            // Only what may be kept takes room: a stranger must not be able to fill it.
            if keeps.await {
                _room = app.oversized.try_acquire().ok();
            }
            match _room {
                Some(_) => oversized(begun).await,
                None => beginning(begun).await,
            }
        }
        Err(problem) => broken(problem),
    };
    let incoming = incoming(&parts, sender, body, unread);
    let received = app.engine.webhooks().receive(webhook, &incoming).await;
    // It was written down; what its sender hears is what was wrong with the body.
    problem.map_or(Ok(()), Err)?;
    let reader = Reader::of(&parts.headers);
    answer(received.map_err(trouble)?, app.body_bytes_max, reader)
}

/// Who reads an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// Any sender.
    Any,
    /// Microsoft Teams: it takes only messages, and shows them.
    Teams,
}

impl Reader {
    /// Teams is known by how it signs; what an answer says more for it harms nobody else.
    fn of(headers: &HeaderMap) -> Self {
        match headers.get(AUTHORIZATION) {
            Some(value) if value.as_bytes().starts_with(b"HMAC ") => Self::Teams,
            _ => Self::Any,
        }
    }

    /// The answer in the form that it takes.
    fn form(self, answer: WebhookAnswer) -> WebhookAnswer {
        let text = match (self, &answer.execution_id) {
            (Self::Any, _) => return answer,
            (Self::Teams, Some(id)) => format!("{} ({id})", answer.message),
            (Self::Teams, None) => answer.message.clone(),
        };
        WebhookAnswer {
            kind: Some("message".to_owned()),
            text: Some(text),
            ..answer
        }
    }
}

/// A body, why it was not read, and what its sender hears then.
type Taken = (Vec<u8>, Option<Unread>, Option<Problem>);

/// All of a body that is too large, if the log may keep it, else its beginning.
async fn oversized(begun: TooLarge) -> Taken {
    let length = begun.length();
    match begun.rest(BODY_KEPT_BYTES_MAX).await {
        Ok(Whole::Read(bytes)) => (bytes.into(), Some(Unread::Oversized), None),
        Ok(Whole::TooLarge(begun)) => beginning(begun).await,
        // It would have been refused all the same.
        Err(_) => (Vec::new(), Some(Unread::TooLarge(length)), None),
    }
}

async fn beginning(begun: TooLarge) -> Taken {
    let unread = Unread::TooLarge(begun.length());
    (begun.head(BODY_HEAD_BYTES).await.into(), Some(unread), None)
}

fn broken(problem: Problem) -> Taken {
    let unread = Unread::Broken(problem.detail().to_owned());
    (Vec::new(), Some(unread), Some(problem))
}

/// Where a request comes from, and its headers.
type Sender = (IpAddr, Vec<(String, Vec<u8>)>);

pub(super) fn sender(app: &App, parts: &Parts) -> Sender {
    let headers = pairs(&parts.headers);
    let peer = parts.extensions.get::<Peer>();
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
    (source(app, peer, &headers), headers)
}

fn incoming(
    parts: &Parts,
    (source, headers): Sender,
    body: Vec<u8>,
    unread: Option<Unread>,
) -> Incoming {
    Incoming {
        source,
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers,
        body,
        unread,
        is_test: false,
    }
}

pub(super) fn pairs(headers: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    let pair = |(name, value): (&http::HeaderName, &HeaderValue)| {
        (name.as_str().to_owned(), value.as_bytes().to_vec())
    };
    headers.iter().map(pair).collect()
}

/// Where it comes from, as far as trusted proxies tell.
pub(super) fn source(app: &App, peer: IpAddr, headers: &[(String, Vec<u8>)]) -> IpAddr {
    let pairs: Vec<(&str, &[u8])> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_slice()))
        .collect();
    app.outside.proxies.client(peer, Headers(&pairs))
}

/// What the sender hears.
pub(super) fn answer(
    received: Received,
    body_bytes_max: usize,
    reader: Reader,
) -> Result<Response, Problem> {
    let said = |status, execution: Option<String>, message: String| WebhookAnswer {
        status,
        execution_id: execution,
        message,
        body_differs: None,
        kind: None,
        text: None,
    };
    let answer = match received {
        Received::Triggered(id) => said(
            WebhookStatus::Triggered,
            Some(id.to_string()),
            "the execution is saved and will run".to_owned(),
        ),
        Received::AlreadyProcessed {
            execution,
            body_differs,
        } => WebhookAnswer {
            body_differs: body_differs.then_some(true),
            ..said(
                WebhookStatus::AlreadyProcessed,
                Some(execution.to_string()),
                "a request with this key was accepted before".to_owned(),
            )
        },
        Received::Filtered(_) => said(WebhookStatus::Filtered, None, FILTERED.to_owned()),
        Received::Challenge(answer) => return Ok(plain(answer)),
        Received::NotFound => return Err(no_webhook()),
        Received::TooLarge => return Err(body::too_large(body_bytes_max)),
        Received::Broken => return Err(Problem::internal("a body that was not read was answered")),
        Received::RateLimited(after) => {
            let seconds = after.as_secs() + u64::from(after.subsec_nanos() > 0);
            let detail = format!("too many requests to this webhook; try again in {seconds} s");
            return Err(Problem::new(&codes::WEBHOOK_RATE, detail)
                .with_header(RETRY_AFTER, HeaderValue::from(seconds.max(1))));
        }
        Received::Refused {
            status,
            reason,
            is_private,
        } => return Err(refusal(status, (!is_private).then_some(reason))),
    };
    Ok(axum::Json(reader.form(answer)).into_response())
}

/// Strangers hear that a signature is wrong, and no more: the log has the reason. The same goes for
/// every reason that tells something of the trigger's settings.
fn refusal(status: u16, reason: Option<String>) -> Problem {
    match status {
        401 => Problem::new(
            &codes::WEBHOOK_SIGNATURE,
            "the signature or key is missing or wrong",
        ),
        403 => Problem::new(
            &codes::WEBHOOK_ADDRESS,
            "requests from this address are not accepted",
        ),
        415 => Problem::new(&codes::WEBHOOK_TYPE, reason.unwrap_or_default()),
        _ => Problem::new(
            &codes::INVALID_BODY,
            reason.unwrap_or_else(|| "the body could not be looked through".to_owned()),
        ),
    }
}

fn plain(text: String) -> Response {
    ([(CONTENT_TYPE, "text/plain")], text).into_response()
}

fn no_webhook() -> Problem {
    Problem::new(
        &codes::NO_WEBHOOK,
        "there is no such webhook, or it is disabled",
    )
}

/// What went wrong on our side; a sender shall try again.
fn trouble(error: TriggerError) -> Problem {
    match error {
        TriggerError::Start(IntakeError::NoSuchWorkflow(_)) | TriggerError::NoSuchWorkflow(_) => {
            no_webhook()
        }
        TriggerError::Commit(failure) | TriggerError::Start(IntakeError::Commit(failure)) => {
            match failure {
                CommitFailure::Unavailable
                | CommitFailure::DiskFull
                | CommitFailure::Overloaded
                | CommitFailure::Stopping
                | CommitFailure::Unknown => failure.into(),
                CommitFailure::Gone => no_webhook(),
                other => unusable(&other),
            }
        }
        TriggerError::Read(error @ ReadError::Unavailable(_)) => error.into(),
        // What is wrong with a stored trigger is not a stranger's business.
        other => unusable(&other),
    }
}

/// The log of the server and that of the webhook have the reason.
fn unusable(cause: &dyn std::error::Error) -> Problem {
    Problem::new(
        &codes::UNAVAILABLE,
        "the webhook cannot take requests at the moment; send it again later",
    )
    .caused_by(cause)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn only_what_is_plainly_for_a_webhook_goes_past_the_router() {
        for (method, path, expected) in [
            ("POST", "/webhooks/wh_01", Some("wh_01")),
            ("POST", "/webhooks/wh_01?a=b", Some("wh_01")),
            ("POST", "/webhooks/WH", Some("WH")),
            ("GET", "/webhooks/wh_01", None),
            ("POST", "/webhooks/wh_01/", None),
            ("POST", "/webhooks/wh%5f01", None),
            ("POST", "/webhooks", None),
            ("POST", "/api/webhooks/wh_01", None),
        ] {
            let request = Request::builder().method(method).uri(path);
            let request = request.body(Body::empty()).unwrap();
            assert_eq!(plainly_for(&request), expected, "{method} {path}");
        }
    }
}
