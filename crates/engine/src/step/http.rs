//! `http` steps: the request that a step means, and its call.

mod url;

use std::time::Duration;

use async_trait::async_trait;
use refire_core::definition::Http;
use refire_core::execution::state::Origin;
use refire_core::failure::{ErrorClass, Failure};
use refire_core::json::{Json, Kind};
use refire_core::trace::Trace;
use refire_store::WorkRow;
use sha2::{Digest, Sha256};

use super::{Answer, Attempt, Call, Callable, Clients, in_part, render, text};
use crate::target::{HttpRequest, Redactor};

impl Callable for Http {
    fn host(&self) -> Option<&str> {
        self.static_host.as_deref()
    }

    fn has_host(&self) -> bool {
        true
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn prepare(&self, attempt: &Attempt<'_>) -> Result<Box<dyn Call>, Failure> {
        let request = request(self, attempt)?;
        let host = host_of(&request.url);
        Ok(Box::new(HttpCall { request, host }))
    }
}

struct HttpCall {
    request: HttpRequest,
    host: String,
}

#[async_trait]
impl Call for HttpCall {
    fn host(&self) -> Option<&str> {
        Some(&self.host)
    }

    async fn make(
        mut self: Box<Self>,
        clients: &Clients,
        redact: Redactor,
    ) -> Result<Answer, Failure> {
        self.request.redact = redact;
        let answer = clients.http.call(self.request).await?;
        Ok(Answer {
            output: answer.output,
            room: answer.room,
        })
    }
}

fn request(http: &Http, attempt: &Attempt<'_>) -> Result<HttpRequest, Failure> {
    let scope = attempt.scope;
    let mut url = url::render(&http.url, scope)
        .map_err(|error| Failure::new(ErrorClass::Template, format!("`url`: {error}")))?;
    for (name, value) in &http.query {
        let value = render(value, scope, &format!("query.{name}"))?;
        append_query(&mut url, name, &value);
    }
    let mut headers = Vec::with_capacity(http.headers.len() + 6);
    for (name, value) in &http.headers {
        let value = value
            .render(scope)
            .map_err(in_part(&format!("headers.{name}")))?;
        headers.push((name.clone(), text(&value)));
    }
    let body = http
        .body
        .as_ref()
        .map(|body| render(body, scope, "body"))
        .transpose()?;
    let mut body = body.map(|body| encode_body(&body, &mut headers));
    if let Some(token) = attempt.token {
        put_token(token, &mut url, &mut headers, &mut body);
    }
    add_own_headers(&mut headers, attempt);
    Ok(HttpRequest {
        method: http.method.clone(),
        url,
        headers,
        body,
        timeout: http.timeout,
        expected: http.expected.clone(),
        max_response_bytes: http.max_response_bytes,
        follow_redirects: http.follow_redirects,
        redact: Redactor::default(),
        now: attempt.now,
    })
}

/// What stands for the token in values that come from elsewhere, such as the execution's input.
const TOKEN_PLACE: &str = "{callback_token}";

/// Puts the token in its place, wherever that is in what is sent.
fn put_token(
    token: &str,
    url: &mut String,
    headers: &mut [(String, String)],
    body: &mut Option<Vec<u8>>,
) {
    for place in [TOKEN_PLACE, "%7Bcallback_token%7D"] {
        if url.contains(place) {
            *url = url.replace(place, token);
        }
    }
    for (_, value) in headers
        .iter_mut()
        .filter(|(_, value)| value.contains(TOKEN_PLACE))
    {
        *value = value.replace(TOKEN_PLACE, token);
    }
    // A body is JSON or a text.
    if let Some(body) = body
        && let Ok(text) = std::str::from_utf8(body)
        && text.contains(TOKEN_PLACE)
    {
        *body = text.replace(TOKEN_PLACE, token).into_bytes();
    }
}

/// JSON, unless the body is a string and the step says that it is something else.
fn encode_body(body: &Json, headers: &mut Vec<(String, String)>) -> Vec<u8> {
    let content_type = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-type"))
        .map(|(_, value)| value.to_ascii_lowercase());
    match content_type {
        Some(other) if !other.contains("json") && body.kind() == Kind::String => {
            text(body).into_bytes()
        }
        Some(_) => body.as_str().as_bytes().to_vec(),
        None => {
            headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
            body.as_str().as_bytes().to_vec()
        }
    }
}

/// What every call carries; a header of the step's own with the same name counts instead.
fn add_own_headers(headers: &mut Vec<(String, String)>, attempt: &Attempt<'_>) {
    let (row, origin) = (attempt.row, attempt.origin);
    let is_given = |headers: &[(String, String)], name: &str| {
        let mut names = headers.iter().map(|(given, _)| given);
        names.any(|given| given.eq_ignore_ascii_case(name))
    };
    // What others noted belongs to the caller's trace, and not to one of the step's own.
    let state = origin.trace.as_ref().and_then(Trace::state);
    if let Some(state) = state.filter(|_| !is_given(headers, "traceparent"))
        && !is_given(headers, "tracestate")
    {
        headers.push(("tracestate".to_owned(), state.to_owned()));
    }
    let own = [
        ("Idempotency-Key", attempt.idempotency_key()),
        ("traceparent", traceparent(row, origin)),
        ("X-Refire-Execution", row.execution.to_string()),
        ("X-Refire-Step", row.step.clone()),
        ("X-Refire-Attempt", row.attempt.to_string()),
    ];
    for (name, value) in own {
        if !is_given(headers, name) {
            headers.push((name.to_owned(), value));
        }
    }
}

/// W3C trace context: the caller's trace, else the line of executions; the attempt is the span.
fn traceparent(row: &WorkRow, origin: &Origin) -> String {
    let mut hash = Sha256::new();
    hash.update(row.execution.as_bytes());
    hash.update(row.step.as_bytes());
    hash.update(row.attempt.to_be_bytes());
    let digest = hash.finalize();
    let span: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    match &origin.trace {
        Some(trace) => trace.parent_of_call(&span),
        None => format!("00-{}-{span}-01", origin.trace_id()),
    }
}

/// A list repeats the name; anything else is one value.
fn append_query(url: &mut String, name: &str, value: &Json) {
    let values: Vec<String> = match value.kind() {
        Kind::Array => value.elements().map(decoded).collect(),
        Kind::Null => return,
        _ => vec![text(value)],
    };
    let (base, fragment) = match url.split_once('#') {
        Some((base, fragment)) => (base.to_owned(), Some(fragment.to_owned())),
        None => (std::mem::take(url), None),
    };
    *url = base;
    for value in values {
        url.push(if url.contains('?') { '&' } else { '?' });
        let pair = ::url::form_urlencoded::Serializer::new(String::new())
            .append_pair(name, &value)
            .finish();
        url.push_str(&pair);
    }
    if let Some(fragment) = fragment {
        url.push('#');
        url.push_str(&fragment);
    }
}

fn decoded(raw: &str) -> String {
    Json::parse(raw).map_or_else(|_| raw.to_owned(), |value| text(&value))
}

/// The host and, where it is not the scheme's own, the port.
fn host_of(url: &str) -> String {
    let Ok(url) = ::url::Url::parse(url) else {
        return String::new();
    };
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => String::new(),
    }
}
