//! What a step does when its turn comes: one file for each step type, and the match that finds it.
//!
//! Preparing fills templates in. It is the only place that sees secrets; they leave it inside the
//! call and nowhere else. When a call is made, and what its outcome means, is decided elsewhere.

mod http;
pub(crate) mod local;
mod scope;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use refire_core::callback::token::TokenFor;
use refire_core::definition::{StepKind, Workflow};
use refire_core::execution::Execution;
use refire_core::execution::state::Origin;
use refire_core::failure::{ErrorClass, Failure};
use refire_core::json::Json;
use refire_core::template::{RenderError, Scope, Tree};
use refire_core::time::Timestamp;
use refire_store::WorkRow;

use crate::callback::{Issued, Issuer};
use crate::caller::Caller;
use crate::secret::{SECRET_BYTES_MIN, Secrets};
use crate::target::{Guard, Redactor, Taken, without_secrets};
use local::{LocalTasks, OwnTask};
use scope::CallScope;

/// A step type that is called, by the settings that core has read.
pub(crate) trait Callable {
    /// The host whose limits count, if it is known before templates are filled in.
    fn host(&self) -> Option<&str> {
        None
    }

    /// Whether it calls a host at all.
    fn has_host(&self) -> bool {
        self.host().is_some()
    }

    /// How long one call may take.
    fn timeout(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether the attempt's beginning must be durable before the call, also on a store of one node:
    /// for calls that can end this process, or that must not be repeated uncounted.
    fn begins_durably(&self) -> bool {
        false
    }

    /// The call of this attempt, with its templates filled in. Does no I/O.
    fn prepare(&self, attempt: &Attempt<'_>) -> Result<Box<dyn Call>, Failure>;
}

/// One call that can be made.
#[async_trait]
pub(crate) trait Call: Send {
    /// The host whose limits count.
    fn host(&self) -> Option<&str> {
        None
    }

    /// Makes it, once. Secrets must be cut from whatever is given back.
    async fn make(self: Box<Self>, clients: &Clients, redact: Redactor) -> Result<Answer, Failure>;
}

/// How steps of this kind are called; none if nobody calls them, because others fetch their work.
pub(crate) fn of(kind: &StepKind) -> Option<&dyn Callable> {
    match kind {
        StepKind::Http(http) => Some(http),
        StepKind::Local(local) => Some(local),
        StepKind::ExternalTask(_) => None,
    }
}

/// What calls are made with.
pub(crate) struct Clients {
    pub(crate) http: Arc<dyn Caller>,
    pub(crate) local: LocalTasks,
    pub(crate) secrets: Arc<dyn Secrets>,
    /// Makes what targets call back with.
    pub(crate) issuer: Issuer,
    /// What the server runs for itself.
    pub(crate) own: OnceLock<OwnTask>,
    /// Which addresses may be called by what is not HTTP.
    pub(crate) guard: Guard,
}

/// What a call came to.
pub(crate) struct Answer {
    pub(crate) output: Json,
    /// What it takes of the room for long answers, until it is recorded.
    pub(crate) room: Option<Taken>,
}

impl Answer {
    fn new(output: Json) -> Self {
        Self { output, room: None }
    }
}

/// The attempt that a call is prepared for.
pub(crate) struct Attempt<'a> {
    row: &'a WorkRow,
    state: &'a Execution,
    origin: &'a Origin,
    scope: &'a CallScope<'a>,
    /// What its target calls back with, if it does.
    token: Option<&'a str>,
    now: Timestamp,
}

impl Attempt<'_> {
    /// The same for every attempt of a step, and across dead-letter retries that repeat the same
    /// work: `<root execution>:<step>:<generation>`.
    fn idempotency_key(&self) -> String {
        let lineage = &self.origin.lineage;
        format!("{}:{}:{}", lineage.root, self.row.step, lineage.generation)
    }

    /// The execution's input.
    fn input(&self) -> Result<Json, Failure> {
        let input = self.state.payloads.get(self.origin.input.sequence);
        let missing = || internal("the execution's input is not at hand");
        input.cloned().ok_or_else(missing)
    }
}

/// A call, and the secrets that went into it.
pub(crate) struct Prepared {
    pub(crate) call: Box<dyn Call>,
    pub(crate) redact: Redactor,
}

impl Prepared {
    /// Whom it calls, without what is secret of that: it is shown, and kept in rows.
    pub(crate) fn host(&self) -> Option<String> {
        let host = self.call.host()?;
        Some(self.redact.text(host).into_owned())
    }
}

/// The call that the row's step means for this execution.
pub(crate) fn prepare(
    clients: &Clients,
    row: &WorkRow,
    state: &Execution,
    workflow: &Workflow,
    now: Timestamp,
) -> Result<Prepared, Failure> {
    let (at, step) = workflow
        .step(&row.step)
        .ok_or_else(|| internal("the definition has no such step"))?;
    let origin = state
        .origin
        .as_ref()
        .ok_or_else(|| internal("the execution has no first event"))?;
    let issued = match step.callback {
        Some(_) => Some(issue(clients, row, at)?),
        None => None,
    };
    let scope = CallScope::new(
        state,
        clients.secrets.as_ref(),
        (row.attempt, issued.as_ref()),
    );
    let callable = of(&step.kind).ok_or_else(|| internal("workers do this step, and no node"))?;
    let mut call = callable.prepare(&Attempt {
        row,
        state,
        origin,
        scope: &scope,
        token: issued.as_ref().map(|issued| issued.token.as_str()),
        now,
    });
    if let Some(name) = scope.too_short() {
        call = Err(too_short(&name));
    }
    let redact = Redactor::new(scope.into_used());
    match call {
        Ok(call) => Ok(Prepared { call, redact }),
        Err(failure) => Err(without_secrets(failure, &redact)),
    }
}

/// What the target of an attempt calls back with.
fn issue(clients: &Clients, row: &WorkRow, at: usize) -> Result<Issued, Failure> {
    let of = TokenFor {
        execution: row.execution,
        step_no: u16::try_from(at).unwrap_or(u16::MAX),
        attempt: row.attempt,
    };
    let no_key = || Failure::new(ErrorClass::Template, format!("`callback`: {NO_MASTER_KEY}"));
    clients.issuer.issue(of).ok_or_else(no_key)
}

/// Why there are no callbacks.
pub(crate) const NO_MASTER_KEY: &str = "tokens for callbacks are made with the master key, and this server has none; set REFIRE_MASTER_KEY";

fn internal(what: &str) -> Failure {
    Failure::new(ErrorClass::Internal, what.to_owned())
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
