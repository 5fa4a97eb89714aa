//! Trying a webhook: a request that is signed here and goes the way of every other.

use std::net::{IpAddr, Ipv4Addr};

use axum::Json;
use axum::extract::Extension;
use http::{HeaderMap, HeaderName, HeaderValue};
use refire_client::model::{
    FieldProblem, RequestHeader, RequestStatus, SentRequest, TestResult, TestWebhook, TestedWebhook,
};
use refire_core::id::TriggerId;
use refire_core::webhook::headers::HEADERS_SHOWN_MAX;
use refire_engine::trigger::{Received, Sample, SignedSample, Tested, TriggerError};

use super::find;
use crate::api::execute::no_idempotency_key;
use crate::api::listen::Peer;
use crate::api::problem::wrong;
use crate::api::webhook::{self, Reader};
use crate::api::{Answer, App, Content, Id, Origin, Params, Problem};
use crate::codes;

/// The body of a test that says nothing of it.
const BODY_DEFAULT: &str = "{}";

/// Where a key of the request that is tried belongs.
const NO_KEY: &str = "put an idempotency key for the test request into `headers` in the body";

/// Tests a webhook: creates a request, signs it with the live secret as the sender would, and handles
/// it as if it came from outside.
///
/// Signature, filters, idempotency and limits are checked as usual; the log marks it as a test. With
/// `dry_run` it is signed and nothing is sent. The secret itself is never in the answer. A key of the
/// sender's request is one of `headers`; an `Idempotency-Key` of this request is refused.
#[utoipa::path(
    post,
    path = "/api/triggers/{id}/test",
    request_body(
        content = TestWebhook,
        description = "Everything is optional",
        example = json!({"body": {"event_type": "incident.created", "incident_id": "INC0010001"}}),
    ),
    responses(
        (status = 200, description = "What was sent and what happened, also if it was refused", body = TestedWebhook),
        (status = 400, description = "The body is wrong, or there is an `Idempotency-Key`"),
        (status = 404, description = "There is no such trigger"),
        (status = 409, description = "It is not a webhook"),
        (status = 500, description = "Its secret cannot be read"),
    ),
)]
pub(crate) async fn test_webhook(
    app: App,
    id: Id<TriggerId>,
    _: Params<()>,
    origin: Origin,
    headers: HeaderMap,
    peer: Option<Extension<Peer>>,
    body: Content,
) -> Answer<TestedWebhook> {
    no_idempotency_key(&headers, NO_KEY)?;
    let wish: TestWebhook = body.read()?;
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.0);
    let source = webhook::source(&app, peer, &webhook::pairs(&headers));
    let dry_run = wish.dry_run;
    let (sample, text) = sample(wish, source)?;
    let row = find(&app, &id).await?.row;
    let path = row.webhook.map(|webhook| format!("/webhooks/{webhook}"));
    let url = origin.address(&path.unwrap_or_default());
    let known = id.known()?;
    let refuse = |error| refused(&id, error);
    if dry_run {
        let signed = app.engine.webhooks().sign_sample(known, &sample).await;
        let sent = sent(&app, url, text, signed.map_err(refuse)?);
        return Ok(Json(TestedWebhook { result: None, sent }));
    }
    let tested = app.engine.webhooks().test(known, sample).await;
    let tested = tested.map_err(refuse)?;
    let result = Some(result(&app, &tested));
    let sent = sent(&app, url, text, tested.sent);
    Ok(Json(TestedWebhook { result, sent }))
}

/// What has no requests has another way to be tried.
fn refused(id: &Id<TriggerId>, error: TriggerError) -> Problem {
    match error {
        TriggerError::Without { kind, .. } => {
            let detail = format!(
                "a trigger of type `{kind}` gets no requests; start it now with POST \
                 /api/triggers/{id}/run, or `refire trigger run {id}`"
            );
            Problem::new(&codes::NOT_OF_THIS_TRIGGER, detail)
        }
        other => id.named(other),
    }
}

/// The request that is wished for, and its body as text.
pub(super) fn sample(wish: TestWebhook, source: IpAddr) -> Result<(Sample, String), Problem> {
    let mut errors = Vec::new();
    let text = match (wish.body, wish.body_text) {
        (Some(_), Some(_)) => {
            errors.push(wrong("body_text", "`body` is already given"));
            String::new()
        }
        (Some(body), None) => body.get().to_owned(),
        (None, Some(text)) => text,
        (None, None) => BODY_DEFAULT.to_owned(),
    };
    if let Some(content_type) = &wish.content_type
        && HeaderValue::from_str(content_type).is_err()
    {
        errors.push(wrong("content_type", "cannot be sent in a header"));
    }
    let headers: Vec<(String, String)> = wish.headers.into_iter().collect();
    errors.extend(headers.iter().filter_map(wrong_header));
    if headers.len() > HEADERS_SHOWN_MAX {
        let most = format!("there are {}, at most {HEADERS_SHOWN_MAX}", headers.len());
        errors.push(wrong("headers", most));
    }
    let source = match wish.source_ip.as_deref().map(str::parse) {
        None => source,
        Some(Ok(source)) => source,
        Some(Err(_)) => {
            errors.push(wrong("source_ip", "is not an IP address"));
            source
        }
    };
    if !errors.is_empty() {
        return Err(Problem::fields(&codes::INVALID_BODY, errors));
    }
    let sample = Sample {
        body: text.clone().into_bytes(),
        content_type: wish.content_type,
        headers,
        source,
    };
    Ok((sample, text))
}

fn wrong_header((name, value): &(String, String)) -> Option<FieldProblem> {
    let field = || format!("headers.{name}");
    if HeaderName::try_from(name.as_str()).is_err() {
        return Some(wrong(&field(), "is not the name of a header"));
    }
    let value = HeaderValue::from_str(value);
    value
        .is_err()
        .then(|| wrong(&field(), "cannot be sent in a header"))
}

fn result(app: &App, tested: &Tested) -> TestResult {
    let received = &tested.received;
    let execution = match received {
        Received::Triggered(id) => Some(id),
        Received::AlreadyProcessed { execution, .. } => Some(execution),
        _ => None,
    };
    let (http_status, said) =
        match webhook::answer(received.clone(), app.body_bytes_max, Reader::Any) {
            Ok(response) => (response.status(), None),
            Err(problem) => (problem.status(), Some(problem.detail().to_owned())),
        };
    // Whoever tests holds the API key and may know what strangers are not told.
    let reason = match received {
        Received::Triggered(_) => None,
        Received::Filtered(reason) | Received::Refused { reason, .. } => Some(reason.clone()),
        Received::AlreadyProcessed { body_differs, .. } => Some(match body_differs {
            true => "a request with this key, and another body, was taken before".to_owned(),
            false => "a request with this key was accepted before".to_owned(),
        }),
        Received::Challenge(answer) => {
            Some(format!("a handshake; it was answered with {answer:?}"))
        }
        Received::NotFound => Some("the trigger is disabled, or its workflow is gone".to_owned()),
        Received::RateLimited(_) | Received::TooLarge | Received::Broken => said,
    };
    TestResult {
        http_status: http_status.as_u16(),
        status: RequestStatus::from_name(received.logged_as().name()),
        reason,
        execution_id: execution.map(ToString::to_string),
        request_id: tested.request.to_string(),
    }
}

fn sent(app: &App, url: String, body: String, signed: SignedSample) -> SentRequest {
    let header = |(name, value)| RequestHeader { name, value };
    let until = |length| app.engine.now().plus(length).to_string();
    SentRequest {
        method: "POST".to_owned(),
        url,
        headers: signed.headers.into_iter().map(header).collect(),
        key_header: signed.key_header,
        body,
        valid_until: signed.valid_for.map(until),
    }
}
