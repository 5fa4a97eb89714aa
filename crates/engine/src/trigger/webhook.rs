//! Requests to webhooks: from the bytes that came to a durable execution, or a reason why not.
//!
//! They are judged by webhooks that are kept compiled. The commit that starts an execution compares the trigger's
//! version, so an old copy can start nothing; what it refuses may be refused for a moment longer on a
//! node that has not heard of the change.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use refire_core::id::{ExecutionId, RequestId, TriggerId, WebhookId};
use refire_core::trace::Trace;
use refire_core::webhook::{Admission, Headers, Key, Method, Started, enter, judge, may_enter};
use refire_store::{IdempotencyClaim, News, RequestStatus, TriggerRow, TriggerVersion};

use super::compiled::{Compiled, Ready, Who};
use super::request_log::{RequestLog, log_loop, request_log};
use super::request_row::{Sent, pairs, request};
use super::same_request::SameRequest;
use super::unlogged::Unlogged;
use super::{TriggerError, rows};
use crate::commit::{Admitted, Cause, CommitFailure};
use crate::context::{Context, Listener};
use crate::entropy;
use crate::intake;
use crate::vital::Vital;

/// Times a request is judged again because its trigger was changed meanwhile.
pub(super) const AGAIN_MAX: u32 = 5;

/// Characters of an address that no webhook has which are told.
const ADDRESS_CHARS_MAX: usize = 64;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// Where it comes from, after trusted proxies.
    pub source: IpAddr,
    /// The part of the address after `?`.
    pub query: String,
    /// Its headers, in their order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Its body; if it was not read, as much of its beginning as there is.
    pub body: Vec<u8>,
    /// Why it was not.
    pub unread: Option<Unread>,
    /// Whether a person tries the trigger.
    pub is_test: bool,
}

/// Why a body was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// It is longer than may be sent: at least so many bytes.
    TooLarge(u64),
    /// It is longer than may be sent, but all of it is here, to be kept if its sender signed it.
    Oversized,
    /// It did not come, or too slowly; in words.
    Broken(String),
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Received {
    /// It started this execution, which is durable.
    Triggered(ExecutionId),
    /// An equal one had started this execution.
    AlreadyProcessed {
        /// The execution.
        execution: ExecutionId,
        /// Whether its body was another one, under a key that the sender chose.
        body_differs: bool,
    },
    /// It is not what the trigger waits for: the reason for the log, which the sender is not told.
    Filtered(String),
    /// A handshake: this is sent back as plain text.
    Challenge(String),
    /// There is no such webhook, or it is disabled.
    NotFound,
    /// There were too many; again after so long.
    RateLimited(Duration),
    /// It is longer than may be sent.
    TooLarge,
    /// Its body did not come.
    Broken,
    /// It was refused: the HTTP status, and the reason for the log.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The reason, without secrets.
        reason: String,
        /// Whether the sender is not told the reason.
        is_private: bool,
    },
}

impl Received {
    /// The word of the log.
    #[must_use]
    pub fn logged_as(&self) -> RequestStatus {
        match self {
            Self::Triggered(_) => RequestStatus::Triggered,
            Self::AlreadyProcessed { .. } => RequestStatus::Duplicate,
            Self::Filtered(_) | Self::Challenge(_) => RequestStatus::Filtered,
            Self::NotFound => RequestStatus::Disabled,
            Self::RateLimited(_) => RequestStatus::RateLimited,
            Self::TooLarge => RequestStatus::TooLarge,
            Self::Refused { status: 401, .. } => RequestStatus::AuthFailed,
            Self::Refused { status: 403, .. } => RequestStatus::IpRefused,
            Self::Refused { .. } | Self::Broken => RequestStatus::Error,
        }
    }
}

/// What is known of a request from one look at it to the next.
#[derive(Debug, Default)]
struct Look {
    /// It counts once for the limit.
    is_counted: bool,
    /// See [`Sent`].
    verified_by: Option<Method>,
}

impl Look {
    fn sent<'a>(&self, incoming: &'a Incoming) -> Sent<'a> {
        // Where nothing is checked, nothing is known of who sent it.
        let verified_by = self.verified_by.filter(|method| *method != Method::None);
        Sent {
            incoming,
            verified_by,
        }
    }
}

/// Takes requests to webhooks, and keeps the log of them.
pub struct Webhooks {
    pub(super) context: Arc<Context>,
    pub(super) log: RequestLog,
    compiled: Compiled,
    pub(super) unlogged: Unlogged,
    /// Held by whoever looks for repetitions of a request: that reads much, and claims read the same way.
    pub(super) looking: tokio::sync::Mutex<()>,
}

impl Listener for Webhooks {
    fn hear(&self, news: &News) {
        match news {
            News::Trigger(trigger) => self.compiled.forget(*trigger),
            // A deleted workflow's triggers are disabled.
            News::Definition(_) | News::Missed => self.compiled.forget_all(),
            News::Work
            | News::Withdrawn(_)
            | News::Task(_)
            | News::Breaker(_)
            | News::Due
            | News::Channel
            | News::Notice => {}
        }
    }
}

impl Webhooks {
    pub(crate) fn open(context: &Arc<Context>, vital: &Vital) -> Arc<Self> {
        let (log, logged) = request_log();
        let webhooks = Arc::new(Self {
            context: Arc::clone(context),
            log,
            compiled: Compiled::default(),
            unlogged: Unlogged::default(),
            looking: tokio::sync::Mutex::default(),
        });
        context.listen(&webhooks);
        let (queue, stopping) = (context.queue.clone(), context.stopping.clone());
        vital.spawn(log_loop(logged, queue, stopping));
        webhooks
    }

    pub(super) async fn row_of_trigger(&self, id: TriggerId) -> Result<TriggerRow, TriggerError> {
        rows::read(&*self.context.store, id).await
    }

    /// Counts a request to an address that no webhook can have.
    pub fn receive_nowhere(&self, address: &str, source: IpAddr) {
        let beginning: String = address.chars().take(ADDRESS_CHARS_MAX).collect();
        let unlogged = &self.unlogged;
        // Anybody may have written it: what is no letter is escaped.
        unlogged.to_nowhere(&beginning.escape_debug(), source);
    }

    /// Takes a request to a webhook. When this says that it triggered, the execution is durable.
    pub async fn receive(
        &self,
        webhook: WebhookId,
        incoming: &Incoming,
    ) -> Result<Received, TriggerError> {
        self.receive_as(self.new_request(), webhook, incoming).await
    }

    /// Whether a body that is too large is worth reading to its end: if its sender signed it, it is kept
    /// whole. Strangers are left with its beginning as far as the headers tell them apart.
    pub async fn keeps_oversized(
        &self,
        webhook: WebhookId,
        source: IpAddr,
        headers: &[(String, Vec<u8>)],
    ) -> bool {
        let Ok(Some(ready)) = self.compiled.get(&self.context, webhook).await else {
            return false;
        };
        let pairs = pairs(headers);
        let request = refire_core::webhook::Request {
            source,
            query: "",
            headers: Headers(&pairs),
            body: &[],
        };
        may_enter(
            &ready.settings,
            ready.secrets.as_ref(),
            &request,
            self.context.now(),
        )
    }

    pub(super) fn new_request(&self) -> RequestId {
        RequestId::from_bytes(entropy::fresh(&*self.context.entropy, self.context.now()))
    }

    /// Takes a request under an id of the log. What goes wrong on our side is in the log, too.
    pub(super) async fn receive_as(
        &self,
        id: RequestId,
        webhook: WebhookId,
        incoming: &Incoming,
    ) -> Result<Received, TriggerError> {
        // Nobody could write down what becomes of it.
        self.context.is_open()?;
        let mut look = Look::default();
        for _ in 0..AGAIN_MAX {
            let ready = match self.compiled.get(&self.context, webhook).await {
                Ok(Some(ready)) => ready,
                Ok(None) => {
                    self.unlogged.to_nowhere(&webhook, incoming.source);
                    return Ok(Received::NotFound);
                }
                Err((trigger, error)) => {
                    if let Some(trigger) = trigger {
                        self.log_unreadable(trigger, id, incoming, &error);
                    }
                    return Err(error);
                }
            };
            match self.take(&ready, id, incoming, &mut look).await {
                Ok(Some(received)) => return Ok(received),
                Ok(None) => self.compiled.forget(ready.trigger.id),
                Err(error) => return Err(self.log_error(&ready, id, look.sent(incoming), error)),
            }
        }
        let error = TriggerError::Contended;
        Err(match self.compiled.get(&self.context, webhook).await {
            Ok(Some(ready)) => self.log_error(&ready, id, look.sent(incoming), error),
            _ => error,
        })
    }

    /// None: the trigger was changed meanwhile.
    async fn take(
        &self,
        ready: &Ready,
        id: RequestId,
        incoming: &Incoming,
        look: &mut Look,
    ) -> Result<Option<Received>, TriggerError> {
        let now = self.context.now();
        let pairs = pairs(&incoming.headers);
        let request = request(incoming, &pairs);
        // Of what was not read nobody knows who signed it.
        let entered = match &incoming.unread {
            None | Some(Unread::Oversized) => Some(enter(
                &ready.settings,
                ready.secrets.as_ref(),
                &request,
                now,
            )),
            Some(Unread::TooLarge(_) | Unread::Broken(_)) => None,
        };
        let (who, verified_by) = match &entered {
            Some(Ok(_)) => (Who::Sender, Some(ready.settings.authentication.method())),
            Some(Err(_)) | None => (Who::Stranger, None),
        };
        look.verified_by = verified_by;
        let sent = look.sent(incoming);
        let is_new = !std::mem::replace(&mut look.is_counted, true);
        let again_after = is_new.then(|| ready.over_limit(who, now)).flatten();
        if !ready.trigger.enabled {
            let is_kept = who == Who::Sender && again_after.is_none();
            self.log_disabled(ready, id, sent, is_kept);
            return Ok(Some(Received::NotFound));
        }
        if let Some(again_after) = again_after {
            let reason = Some(ready.too_many(who));
            self.log_request(ready, id, sent, RequestStatus::RateLimited, reason);
            return Ok(Some(Received::RateLimited(again_after)));
        }
        let admission = match (entered, &incoming.unread) {
            (Some(Ok(verified)), None) => judge(&ready.settings, &request, verified),
            (Some(Err(refused)), None) => refused,
            (_, unread) => {
                let (received, reason) = not_read(unread.as_ref(), sent);
                self.log_request(ready, id, sent, received.logged_as(), Some(reason));
                return Ok(Some(received));
            }
        };
        if let Admission::Start(started) = admission {
            return self.start(ready, id, incoming, *started, Time::First).await;
        }
        let status = admission.status();
        let reason = admission.reason().map(str::to_owned);
        self.log_request(ready, id, sent, status, reason);
        Ok(Some(received(&admission)))
    }

    /// The name that is taken with the start. A request that is judged again and has none shares one with
    /// all that are equal to it.
    fn claim(
        &self,
        ready: &Ready,
        key: Option<&Key>,
        body_hash: [u8; 32],
        time: &Time,
    ) -> Option<IdempotencyClaim> {
        if let Time::Equal(name) = time {
            return Some(self.equal_claim(ready, body_hash, name));
        }
        let key = key?;
        Some(IdempotencyClaim {
            scope: ready.trigger.id.to_string(),
            key_hash: intake::key_hash(&key.text),
            body_hash: intake::hash(&body_hash),
            expires_at: self.context.now().plus(ready.settings.idempotency_window),
            over: None,
        })
    }

    /// None: the trigger was changed meanwhile.
    pub(super) async fn start(
        &self,
        ready: &Ready,
        id: RequestId,
        incoming: &Incoming,
        started: Started,
        time: Time,
    ) -> Result<Option<Received>, TriggerError> {
        let Started {
            input,
            key,
            body_hash,
            ..
        } = started;
        let claim = self.claim(ready, key.as_ref(), body_hash, &time);
        let mut submission = rows::submission(&ready.trigger, None, None, None);
        submission.input = input;
        submission.idempotency_key = key.as_ref().map(|key| key.text.clone());
        submission.trace = trace(incoming);
        let draft = self.context.draft(submission).await?;
        let execution = draft.id;
        let draft = draft.claiming(claim);
        let mut row = self.row(ready, id, incoming.into(), RequestStatus::Triggered, None);
        row.execution = Some(execution);
        let cause = Cause::Request {
            trigger: TriggerVersion {
                id: ready.trigger.id,
                version: ready.trigger.version,
            },
            row: Some(Box::new(row)),
        };
        match self.context.commit_draft(draft.caused_by(cause)).await? {
            Admitted::New(_) => Ok(Some(Received::Triggered(execution))),
            Admitted::Duplicate {
                execution,
                body_differs,
            } => {
                if matches!(time, Time::First) {
                    let sent = incoming.into();
                    let mut row = self.row(ready, id, sent, RequestStatus::Duplicate, None);
                    row.execution = Some(execution);
                    self.log.write(row);
                }
                let is_chosen = key.is_some_and(|key| key.explicit);
                Ok(Some(Received::AlreadyProcessed {
                    execution,
                    body_differs: body_differs && is_chosen,
                }))
            }
            Admitted::TriggerMoved => Ok(None),
            Admitted::NoSuchWorkflow => {
                let workflow = ready.trigger.workflow.clone();
                Err(TriggerError::NoSuchWorkflow(workflow))
            }
            other => Err(CommitFailure::unexpected("answer", &other).into()),
        }
    }
}

/// Whether a request has just come, or is judged again.
pub(super) enum Time {
    First,
    /// Judged again, under its own name.
    Again,
    /// Judged again without one.
    Equal(SameRequest),
}

/// What a request without a body is answered with, and the reason for the log.
fn not_read(unread: Option<&Unread>, sent: Sent<'_>) -> (Received, String) {
    let too_large = |kept: &str, least: &str, length: u64| {
        let reason = format!("the body has {least}{length} bytes, more than may be sent; {kept}");
        (Received::TooLarge, reason)
    };
    let beginning = "only its beginning was kept, so it cannot be run";
    match unread {
        Some(Unread::TooLarge(length)) => too_large(beginning, "at least ", *length),
        Some(Unread::Oversized) => {
            let kept = match sent.is_of_sender() {
                true => "it was kept and can be run once the limit is raised",
                false => beginning,
            };
            too_large(kept, "", sent.incoming.body.len() as u64)
        }
        Some(Unread::Broken(reason)) => (Received::Broken, reason.clone()),
        None => (Received::Broken, "the body was not read".to_owned()),
    }
}

/// What a request that starts nothing is answered with.
pub(super) fn received(admission: &Admission) -> Received {
    match admission {
        Admission::Filtered { reason, .. } => Received::Filtered(reason.clone()),
        Admission::Challenge { answer } => Received::Challenge(answer.clone()),
        other => Received::Refused {
            status: other.http_status(),
            reason: other.reason().unwrap_or_default().to_owned(),
            is_private: other.is_private(),
        },
    }
}

/// The sender's trace.
fn trace(incoming: &Incoming) -> Option<Trace> {
    let all = |wanted: &'static str| {
        let headers = incoming.headers.iter();
        let found = headers.filter(move |(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.as_slice())
    };
    Trace::read(all("traceparent"), all("tracestate"))
}
