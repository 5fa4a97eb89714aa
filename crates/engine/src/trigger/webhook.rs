//! Requests to webhooks: from the bytes that came to a durable execution, or a reason why not.
//!
//! Compiled webhooks are kept at hand. The commit that starts an execution compares the trigger's
//! version, so an old copy can start nothing; what it refuses may be refused for a moment longer on a
//! node that has not heard of the change.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use refire_core::id::{ExecutionId, RequestId, TriggerId, WebhookId};
use refire_core::time::Timestamp;
use refire_core::trigger::{Kind, Trigger};
use refire_core::webhook::headers::{pack, shown};
use refire_core::webhook::{
    self, Admission, Headers, Secrets, Settings, Started, Status, admit, recheck,
};
use refire_store::{IdempotencyClaim, RequestRow, RequestStatus, TriggerVersion};

use super::request_log::{BODY_HEAD_BYTES, LoggedHeaders};
use super::{TriggerError, rows};
use crate::commit::{Admitted, Cause, CommitFailure};
use crate::engine::Engine;
use crate::entropy;
use crate::intake;
use crate::limit::Rate;

/// Webhooks kept compiled; with more, all are compiled again when they are needed.
const KEPT_MAX: usize = 10_000;
/// How long a copy counts where other nodes change triggers too, and their news may be lost: what is
/// refused by an old one asks no store.
const KEPT_FOR: Duration = Duration::from_secs(2);
/// Times a request is judged again because its trigger was changed meanwhile.
const AGAIN_MAX: u32 = 5;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// Where it comes from, after trusted proxies.
    pub source: IpAddr,
    /// The part of the address after `?`.
    pub query: String,
    /// Its headers, in their order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Its body, or the beginning of it.
    pub body: Vec<u8>,
    /// How long the body is said to be, if that is more than may be sent.
    pub too_large: Option<u64>,
    /// Whether a person tries the trigger.
    pub is_test: bool,
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
    /// It is not what the trigger waits for.
    Filtered(String),
    /// A handshake: this is sent back as plain text.
    Challenge(String),
    /// There is no such webhook, or it is disabled.
    NotFound,
    /// There were too many; again after so long.
    RateLimited(Duration),
    /// It is longer than may be sent.
    TooLarge,
    /// It was refused: the HTTP status, and the reason for the log.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The reason, without secrets.
        reason: String,
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
            Self::Refused { .. } => RequestStatus::Error,
        }
    }
}

/// A webhook ready to judge requests.
pub(super) struct Ready {
    trigger: Trigger,
    pub(super) settings: Settings,
    pub(super) secrets: Option<Secrets>,
    /// Shared with the copies before and after it.
    rate: Arc<Mutex<Rate>>,
    read_at: Timestamp,
}

/// Compiled webhooks.
#[derive(Default)]
pub(crate) struct Webhooks {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    ready: HashMap<WebhookId, Arc<Ready>>,
    /// Grows with every change, so that what was read before one is not kept after it.
    changes: u64,
}

impl Webhooks {
    /// A trigger was changed: what is known of it counts no longer.
    pub(crate) fn forget(&self, trigger: TriggerId) {
        let mut known = self.known();
        known.changes += 1;
        known.ready.retain(|_, ready| ready.trigger.id != trigger);
    }

    /// Anything may have changed.
    pub(crate) fn forget_all(&self) {
        let mut known = self.known();
        known.changes += 1;
        known.ready.clear();
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Takes a request to a webhook. When this says that it triggered, the execution is durable.
    pub async fn receive(
        &self,
        webhook: WebhookId,
        incoming: &Incoming,
    ) -> Result<Received, TriggerError> {
        self.receive_as(self.new_request(), webhook, incoming).await
    }

    pub(super) fn new_request(&self) -> RequestId {
        RequestId::from_bytes(entropy::fresh(self.entropy(), self.now()))
    }

    /// Takes a request under an id of the log.
    pub(super) async fn receive_as(
        &self,
        id: RequestId,
        webhook: WebhookId,
        incoming: &Incoming,
    ) -> Result<Received, TriggerError> {
        for _ in 0..AGAIN_MAX {
            let Some(ready) = self.webhook(webhook).await? else {
                return Ok(Received::NotFound);
            };
            let now = self.now();
            if !ready.trigger.enabled {
                self.log_request(&ready, id, incoming, RequestStatus::Disabled, None);
                return Ok(Received::NotFound);
            }
            if let Some(again_after) = self.is_over_limit(&ready, now) {
                self.log_request(&ready, id, incoming, RequestStatus::RateLimited, None);
                return Ok(Received::RateLimited(again_after));
            }
            if let Some(length) = incoming.too_large {
                let reason = format!("the body has {length} bytes, more than may be sent");
                self.log_request(&ready, id, incoming, RequestStatus::TooLarge, Some(reason));
                return Ok(Received::TooLarge);
            }
            let admission = self.judge(&ready, incoming, now);
            match self.settle(&ready, id, incoming, admission).await? {
                Some(received) => return Ok(received),
                None => self.webhooks().forget(ready.trigger.id),
            }
        }
        Err(TriggerError::Contended)
    }

    /// Judges a refused request again by what the trigger is now, and starts its execution if it
    /// passes. The log has it as triggered then.
    pub async fn recheck_request(
        &self,
        trigger: TriggerId,
        id: RequestId,
    ) -> Result<Received, TriggerError> {
        let row = self.store().request(id).await?;
        let row = row.filter(|row| row.trigger == trigger);
        let row = row.ok_or(TriggerError::NoSuchRequest)?;
        if let (RequestStatus::Triggered, Some(execution)) = (row.status, row.execution) {
            let body_differs = false;
            return Ok(Received::AlreadyProcessed {
                execution,
                body_differs,
            });
        }
        let body = row.body.clone().ok_or(TriggerError::NotKept)?;
        if body.len() as u64 != row.body_bytes {
            return Err(TriggerError::NotKept);
        }
        let logged = LoggedHeaders::read(&row).ok_or(TriggerError::NotKept)?;
        let incoming = Incoming {
            source: row.source.parse().map_err(|_| TriggerError::NotKept)?,
            query: String::new(),
            headers: logged.open(self.vault(), id)?,
            body,
            too_large: None,
            is_test: row.is_test,
        };
        for _ in 0..AGAIN_MAX {
            let view = self.trigger(trigger).await?;
            let ready = self.ready(&view.row)?;
            let pairs = pairs(&incoming);
            let request = request(&incoming, &pairs);
            let secrets = ready.secrets.as_ref();
            let admission = recheck(&ready.settings, secrets, &request, row.at);
            if let Admission::Start(started) = admission {
                if !ready.trigger.enabled {
                    return Err(TriggerError::Disabled);
                }
                if let Some(received) = self.start(&ready, id, &incoming, *started).await? {
                    return Ok(received);
                }
            } else {
                return Ok(received(&admission));
            }
        }
        Err(TriggerError::Contended)
    }

    /// Requests to webhooks that were not logged because there were too many.
    #[must_use]
    pub fn requests_not_logged(&self) -> u64 {
        self.request_log().left_out()
    }

    async fn webhook(&self, id: WebhookId) -> Result<Option<Arc<Ready>>, TriggerError> {
        let (before, changes) = {
            let known = self.webhooks().known();
            (known.ready.get(&id).cloned(), known.changes)
        };
        let is_old = |ready: &Ready| self.now().since(ready.read_at) >= KEPT_FOR;
        if let Some(ready) = &before
            && !(self.store().is_shared() && is_old(ready))
        {
            return Ok(before);
        }
        let Some(row) = self.store().webhook(id).await? else {
            return Ok(None);
        };
        let mut ready = self.ready(&row)?;
        let mut known = self.webhooks().known();
        // Others may have read it at the same moment: all count together.
        if let Some(before) = known.ready.get(&id).or(before.as_ref()) {
            ready.rate = Arc::clone(&before.rate);
        }
        let ready = Arc::new(ready);
        if known.ready.len() >= KEPT_MAX {
            known.ready.clear();
        }
        if known.changes == changes {
            known.ready.insert(id, Arc::clone(&ready));
        }
        Ok(Some(ready))
    }

    pub(super) fn ready(&self, row: &refire_store::TriggerRow) -> Result<Ready, TriggerError> {
        let trigger = rows::trigger(row).map_err(TriggerError::Invalid)?;
        let Kind::Webhook(settings) = &trigger.settings.kind else {
            let kind = trigger.settings.kind.name();
            return Err(TriggerError::Without {
                kind,
                what: "requests",
            });
        };
        Ok(Ready {
            settings: (**settings).clone(),
            secrets: self.secrets_of(row, &trigger)?,
            rate: Arc::default(),
            read_at: self.now(),
            trigger,
        })
    }

    fn is_over_limit(&self, ready: &Ready, now: Timestamp) -> Option<Duration> {
        let limit = ready.settings.rate_limit?;
        let per = Duration::from_secs(1) * limit.burst / limit.per_second.max(1);
        let mut rate = ready.rate.lock().unwrap_or_else(PoisonError::into_inner);
        rate.take(limit.burst, per, now).err()
    }

    fn judge(&self, ready: &Ready, incoming: &Incoming, now: Timestamp) -> Admission {
        let pairs = pairs(incoming);
        let request = request(incoming, &pairs);
        admit(&ready.settings, ready.secrets.as_ref(), &request, now)
    }

    /// None: the trigger was changed meanwhile.
    async fn settle(
        &self,
        ready: &Ready,
        id: RequestId,
        incoming: &Incoming,
        admission: Admission,
    ) -> Result<Option<Received>, TriggerError> {
        if let Admission::Start(started) = admission {
            return self.start(ready, id, incoming, *started).await;
        }
        let status = log_status(admission.status());
        let reason = admission.reason().map(str::to_owned);
        self.log_request(ready, id, incoming, status, reason);
        Ok(Some(received(&admission)))
    }

    async fn start(
        &self,
        ready: &Ready,
        id: RequestId,
        incoming: &Incoming,
        started: Started,
    ) -> Result<Option<Received>, TriggerError> {
        let Started {
            input,
            key,
            body_hash,
            ..
        } = started;
        let now = self.now();
        let claim = key.as_ref().map(|key| IdempotencyClaim {
            scope: ready.trigger.id.to_string(),
            key_hash: intake::hash(key.text.as_bytes()),
            body_hash: intake::hash(&body_hash),
            expires_at: now.plus(ready.settings.idempotency_window),
        });
        let mut submission = rows::submission(&ready.trigger, None, None);
        submission.input = input;
        submission.idempotency_key = key.as_ref().map(|key| key.text.clone());
        let draft = self.draft(submission).await?;
        let execution = draft.id;
        let draft = draft.claiming(claim);
        let mut row = self.row(ready, id, incoming, RequestStatus::Triggered, None);
        row.execution = Some(execution);
        let cause = Cause::Request {
            trigger: TriggerVersion {
                id: ready.trigger.id,
                version: ready.trigger.version,
            },
            row: Some(Box::new(row)),
        };
        match self.intake().commit(draft.caused_by(cause)).await? {
            Admitted::New(_) => Ok(Some(Received::Triggered(execution))),
            Admitted::Duplicate {
                execution,
                body_differs,
            } => {
                let mut row = self.row(ready, id, incoming, RequestStatus::Duplicate, None);
                row.execution = Some(execution);
                self.request_log().write(row);
                let is_chosen = key.is_some_and(|key| key.explicit);
                Ok(Some(Received::AlreadyProcessed {
                    execution,
                    body_differs: body_differs && is_chosen,
                }))
            }
            Admitted::TriggerMoved => Ok(None),
            Admitted::NoSuchWorkflow => Ok(Some(Received::NotFound)),
            other => {
                let what = format!("unexpected answer {other:?}");
                Err(CommitFailure::Internal(what).into())
            }
        }
    }

    fn log_request(
        &self,
        ready: &Ready,
        id: RequestId,
        incoming: &Incoming,
        status: RequestStatus,
        error: Option<String>,
    ) {
        self.request_log()
            .write(self.row(ready, id, incoming, status, error));
    }

    /// The row of a request. The body of one that started an execution is that execution's input;
    /// of what may be checked again the headers are kept, sealed.
    fn row(
        &self,
        ready: &Ready,
        id: RequestId,
        incoming: &Incoming,
        status: RequestStatus,
        error: Option<String>,
    ) -> RequestRow {
        let pairs = pairs(incoming);
        let headers = Headers(&pairs);
        let mut logged =
            LoggedHeaders::new(shown(&ready.settings, ready.secrets.as_ref(), headers));
        let is_accepted = matches!(status, RequestStatus::Triggered | RequestStatus::Duplicate);
        if !is_accepted {
            let packed = pack(&ready.settings, headers);
            logged = logged.with_sealed(self.vault(), self.entropy(), id, packed);
        }
        let head = &incoming.body[..incoming.body.len().min(BODY_HEAD_BYTES)];
        let length = incoming.body.len() as u64;
        RequestRow {
            id,
            trigger: ready.trigger.id,
            at: self.now(),
            status,
            source: incoming.source.to_string(),
            headers: logged.to_bytes(),
            body: (status != RequestStatus::Triggered).then(|| head.to_vec()),
            body_bytes: incoming.too_large.unwrap_or(length),
            execution: None,
            error,
            is_test: incoming.is_test,
        }
    }
}

fn pairs(incoming: &Incoming) -> Vec<(&str, &[u8])> {
    let headers = incoming.headers.iter();
    headers
        .map(|(name, value)| (name.as_str(), value.as_slice()))
        .collect()
}

fn request<'a>(incoming: &'a Incoming, pairs: &'a [(&'a str, &'a [u8])]) -> webhook::Request<'a> {
    webhook::Request {
        source: incoming.source,
        query: &incoming.query,
        headers: Headers(pairs),
        body: &incoming.body,
    }
}

/// What a request that starts nothing is answered with.
fn received(admission: &Admission) -> Received {
    match admission {
        Admission::Filtered { reason, .. } => Received::Filtered(reason.clone()),
        Admission::Challenge { answer } => Received::Challenge(answer.clone()),
        other => Received::Refused {
            status: other.http_status(),
            reason: other.reason().unwrap_or_default().to_owned(),
        },
    }
}

fn log_status(status: Status) -> RequestStatus {
    RequestStatus::from_name(status.as_str()).unwrap_or(RequestStatus::Error)
}
