//! Requests to webhooks as the log has them: of each what is needed to judge it again, and no more.

use refire_core::id::{RequestId, TriggerId};
use refire_core::webhook::headers::{pack, shown};
use refire_core::webhook::{self, Headers, Method, Settings};
use refire_store::{RequestRow, RequestStatus};

use super::TriggerError;
use super::compiled::Ready;
use super::logged_headers::{LoggedHeaders, Owner};
use super::webhook::{Incoming, Unread, Webhooks};

/// Bytes of a body that are kept where it is not judged again, or is too long for that.
pub const BODY_HEAD_BYTES: usize = 64 * 1_024;
/// The longest body of the sender that is kept whole: half of what all refused requests of a webhook may
/// hold, and the most that a server may be told to take.
pub const BODY_KEPT_BYTES_MAX: usize = 8 * 1_024 * 1_024;
/// The same where nobody knows who sent it: one stranger's does not push out all others.
const STRANGE_BODY_KEPT_BYTES_MAX: usize = 4 * 1_024 * 1_024;

/// A request, and how its sender was recognised, if that was checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent<'a> {
    pub(super) incoming: &'a Incoming,
    pub(super) verified_by: Option<Method>,
}

impl Sent<'_> {
    pub(super) fn is_of_sender(self) -> bool {
        self.verified_by.is_some()
    }

    fn fits_whole(self) -> bool {
        let bytes_max = match self.is_of_sender() {
            true => BODY_KEPT_BYTES_MAX,
            false => STRANGE_BODY_KEPT_BYTES_MAX,
        };
        self.incoming.body.len() <= bytes_max
    }
}

impl<'a> From<&'a Incoming> for Sent<'a> {
    fn from(incoming: &'a Incoming) -> Self {
        Self {
            incoming,
            verified_by: None,
        }
    }
}

impl Webhooks {
    /// Waits until the log has what came before, for two seconds at most. Whoever reads it then misses
    /// nothing that this node has answered, unless the store is away or slower than that.
    pub async fn flush(&self) {
        self.log.flush().await;
    }

    pub(super) fn log_request(
        &self,
        ready: &Ready,
        id: RequestId,
        sent: Sent<'_>,
        status: RequestStatus,
        error: Option<String>,
    ) {
        let row = self.row(ready, id, sent, status, error);
        self.log.write(row);
    }

    /// Logs a request that failed on our side; the error.
    pub(super) fn log_error(
        &self,
        ready: &Ready,
        id: RequestId,
        sent: Sent<'_>,
        error: TriggerError,
    ) -> TriggerError {
        let reason = Some(error.to_string());
        self.log_request(ready, id, sent, RequestStatus::Error, reason);
        error
    }

    /// Logs a request to a disabled webhook, to be judged again when it is enabled. What a stranger sends,
    /// or too much, must not push that out: it is only counted. What a person tries is in the log, too.
    pub(super) fn log_disabled(&self, ready: &Ready, id: RequestId, sent: Sent<'_>, is_kept: bool) {
        let (kept_like, reason) = match (is_kept, sent.incoming.is_test) {
            (true, _) => (
                RequestStatus::Disabled,
                "the trigger was disabled when it came",
            ),
            (false, true) => (
                RequestStatus::RateLimited,
                "the trigger was disabled when it came, and only what its sender sends is kept then",
            ),
            (false, false) => {
                let unlogged = &self.unlogged;
                unlogged.to_disabled(&ready.trigger.id, sent.incoming.source);
                return;
            }
        };
        let row = self.row(ready, id, sent, kept_like, Some(reason.to_owned()));
        self.log.write(RequestRow {
            status: RequestStatus::Disabled,
            ..row
        });
    }

    /// Logs a request to a trigger that cannot be used, so that it is not known which of its headers are
    /// secret.
    pub(super) fn log_unreadable(
        &self,
        trigger: TriggerId,
        id: RequestId,
        incoming: &Incoming,
        error: &TriggerError,
    ) {
        let status = RequestStatus::Error;
        let hidden = LoggedHeaders::hidden(incoming.headers.len());
        let headers = self.with_sealed(hidden, None, id, incoming.into(), status);
        let mut row = self.row_of_request(trigger, id, incoming.into(), status, &headers);
        row.error = Some(error.to_string());
        self.log.write(row);
    }

    pub(super) fn row(
        &self,
        ready: &Ready,
        id: RequestId,
        sent: Sent<'_>,
        status: RequestStatus,
        error: Option<String>,
    ) -> RequestRow {
        let (settings, secrets) = (&ready.settings, ready.secrets.as_ref());
        let pairs = pairs(&sent.incoming.headers);
        let logged = LoggedHeaders::new(shown(settings, secrets, Headers(&pairs)));
        let headers = self.with_sealed(logged, Some(settings), id, sent, status);
        let mut row = self.row_of_request(ready.trigger.id, id, sent, status, &headers);
        row.error = error;
        row
    }

    /// Of what may be judged again all headers are kept, sealed.
    fn with_sealed(
        &self,
        logged: LoggedHeaders,
        settings: Option<&Settings>,
        id: RequestId,
        sent: Sent<'_>,
        status: RequestStatus,
    ) -> LoggedHeaders {
        let incoming = sent.incoming;
        if keeps(status, sent) != Keeps::Whole {
            return logged;
        }
        let packed = pack(settings, Headers(&pairs(&incoming.headers)));
        let owner = Owner::new(id, sent.verified_by, &incoming.body);
        logged.with_sealed(self.context.vault(), &*self.context.entropy, &owner, packed)
    }

    fn row_of_request(
        &self,
        trigger: TriggerId,
        id: RequestId,
        sent: Sent<'_>,
        status: RequestStatus,
        headers: &LoggedHeaders,
    ) -> RequestRow {
        let incoming = sent.incoming;
        let body = incoming.body.as_slice();
        let head = &body[..body.len().min(BODY_HEAD_BYTES)];
        let body_bytes = match &incoming.unread {
            Some(Unread::TooLarge(length)) => *length,
            Some(Unread::Oversized | Unread::Broken(_)) | None => body.len() as u64,
        };
        RequestRow {
            id,
            trigger,
            at: self.context.now(),
            status,
            source: incoming.source.to_string(),
            headers: headers.to_bytes(),
            body: match keeps(status, sent) {
                Keeps::Nothing => None,
                Keeps::Head => Some(head.to_vec()),
                Keeps::Whole => Some(body.to_vec()),
            },
            body_bytes,
            execution: None,
            error: None,
            is_test: incoming.is_test,
        }
    }
}

/// How much of a body is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeps {
    Nothing,
    Head,
    Whole,
}

fn keeps(status: RequestStatus, sent: Sent<'_>) -> Keeps {
    match status {
        // It is the execution's input.
        RequestStatus::Triggered => Keeps::Nothing,
        // A flood shall not push out what may be judged again.
        RequestStatus::RateLimited => Keeps::Nothing,
        RequestStatus::Duplicate => Keeps::Head,
        RequestStatus::Filtered
        | RequestStatus::AuthFailed
        | RequestStatus::TooLarge
        | RequestStatus::IpRefused
        | RequestStatus::Disabled
        | RequestStatus::Error => match sent.incoming.unread {
            None if sent.fits_whole() => Keeps::Whole,
            None => Keeps::Head,
            Some(Unread::Oversized) if sent.is_of_sender() && sent.fits_whole() => Keeps::Whole,
            Some(_) if status == RequestStatus::TooLarge => Keeps::Head,
            Some(_) => Keeps::Nothing,
        },
    }
}

pub(super) fn pairs(headers: &[(String, Vec<u8>)]) -> Vec<(&str, &[u8])> {
    headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_slice()))
        .collect()
}

pub(super) fn request<'a>(
    incoming: &'a Incoming,
    pairs: &'a [(&'a str, &'a [u8])],
) -> webhook::Request<'a> {
    webhook::Request {
        source: incoming.source,
        query: &incoming.query,
        headers: Headers(pairs),
        body: &incoming.body,
    }
}
