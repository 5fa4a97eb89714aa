//! From a step's definition to the call it means: templates filled in, headers added. The only
//! place that sees secrets; they leave it inside the request and nowhere else.

use std::time::Duration;

use refire_core::definition::{Http, Local, StepKind, Workflow};
use refire_core::execution::Execution;
use refire_core::execution::state::Origin;
use refire_core::failure::{ErrorClass, Failure};
use refire_core::json::{Json, Kind};
use refire_core::template::{RenderError, Scope, Tree};
use refire_core::trace::Trace;
use refire_store::WorkRow;
use sha2::{Digest, Sha256};

use super::Dispatcher;
use super::attempt::input_of;
use super::scope::CallScope;
use super::url;
use crate::local::TaskContext;
use crate::secret::SECRET_BYTES_MIN;
use crate::target::{HttpRequest, Redactor, without_secrets};

/// A call that can be made.
pub(super) enum Prepared {
    /// An HTTP request, and the host whose limit it counts for.
    Http {
        request: Box<HttpRequest>,
        host: String,
    },
    /// A task of this program.
    Local(LocalCall),
}

/// A call of a registered task.
pub(super) struct LocalCall {
    pub(super) task: String,
    pub(super) context: TaskContext,
    pub(super) input: Json,
    pub(super) timeout: Option<Duration>,
    /// The secrets that went into the input: cut from whatever the task gives back.
    pub(super) redact: Redactor,
}

/// The call that the row's step means for this execution.
pub(super) fn prepare(
    dispatcher: &Dispatcher,
    row: &WorkRow,
    state: &Execution,
    workflow: &Workflow,
) -> Result<Prepared, Failure> {
    let internal = |what: &str| Failure::new(ErrorClass::Internal, what.to_owned());
    let (_, step) = workflow
        .step(&row.step)
        .ok_or_else(|| internal("the definition has no such step"))?;
    let origin = state
        .origin
        .as_ref()
        .ok_or_else(|| internal("the execution has no first event"))?;
    let scope = CallScope::new(state, dispatcher.secrets.as_ref());
    let mut prepared = match &step.kind {
        StepKind::Http(http) => http_request(http, &scope, row, origin).map(|mut request| {
            request.now = dispatcher.clock.now();
            let host = host_of(&request.url);
            Prepared::Http {
                request: Box::new(request),
                host,
            }
        }),
        StepKind::Local(local) => local_input(local, &scope, state).map(|input| {
            Prepared::Local(LocalCall {
                task: local.task.clone(),
                context: TaskContext {
                    execution: row.execution,
                    step: row.step.clone(),
                    attempt: row.attempt,
                    idempotency_key: idempotency_key(origin, &row.step),
                },
                input,
                timeout: local.timeout,
                redact: Redactor::default(),
            })
        }),
    };
    if let Some(name) = scope.too_short() {
        prepared = Err(too_short(&name));
    }
    let redact = Redactor::new(scope.into_used());
    match &mut prepared {
        Ok(Prepared::Http { request, .. }) => request.redact = redact,
        Ok(Prepared::Local(call)) => call.redact = redact,
        Err(failure) => *failure = without_secrets(failure.clone(), &redact),
    }
    prepared
}

/// A secret that could not be kept secret is not used at all.
fn too_short(name: &str) -> Failure {
    let message = format!(
        "the secret `{name}` has fewer than {SECRET_BYTES_MIN} characters, so it could not be cut \
         out of what is recorded; set a longer one in REFIRE_SECRET_{name}"
    );
    let mut failure = Failure::new(ErrorClass::Template, message);
    failure.code = Some("secret_too_short".to_owned());
    failure
}

/// The same for every attempt of a step, and across dead-letter retries that repeat the same
/// work: `<root execution>:<step>:<generation>`.
fn idempotency_key(origin: &Origin, step: &str) -> String {
    format!(
        "{}:{step}:{}",
        origin.lineage.root, origin.lineage.generation
    )
}

fn http_request(
    http: &Http,
    scope: &CallScope<'_>,
    row: &WorkRow,
    origin: &Origin,
) -> Result<HttpRequest, Failure> {
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
    let body = body.map(|body| encode_body(&body, &mut headers));
    add_own_headers(&mut headers, row, origin);
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
        now: refire_core::time::Timestamp::default(),
    })
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
fn add_own_headers(headers: &mut Vec<(String, String)>, row: &WorkRow, origin: &Origin) {
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
        ("Idempotency-Key", idempotency_key(origin, &row.step)),
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

fn local_input(local: &Local, scope: &CallScope<'_>, state: &Execution) -> Result<Json, Failure> {
    match &local.input {
        Some(tree) => render(tree, scope, "input"),
        None => input_of(state).ok_or_else(|| {
            Failure::new(ErrorClass::Internal, "the execution's input is not at hand")
        }),
    }
}

fn render(tree: &Tree, scope: &dyn Scope, part: &str) -> Result<Json, Failure> {
    tree.render(scope).map_err(in_part(part))
}

fn in_part(part: &str) -> impl Fn(RenderError) -> Failure {
    let part = part.to_owned();
    move |error| Failure::new(ErrorClass::Template, format!("`{part}`: {error}"))
}

/// A string as its text, anything else as its JSON.
fn text(value: &Json) -> String {
    value
        .as_text()
        .map_or_else(|| value.as_str().to_owned(), std::borrow::Cow::into_owned)
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
