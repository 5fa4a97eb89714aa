//! The log of requests to webhooks. What started an execution is logged in its commit; everything else
//! goes through here, in crowds and without anybody waiting for it: a flood of refused requests costs
//! no more than a bounded queue, and what does not fit is counted and left out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use refire_core::id::RequestId;
use refire_core::webhook::headers::{Shown, unpack};
use refire_store::{Part, RequestRow};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use super::TriggerError;
use crate::commit::{Queue, Request};
use crate::entropy::Entropy;
use crate::vault::{Belongs, Vault};

/// Refused requests that wait to be logged.
const WAITING_MAX: usize = 2_048;
/// Requests that are logged together.
const TOGETHER_MAX: usize = 200;
/// Those that come within this are.
const TOGETHER: Duration = Duration::from_millis(50);
/// What could not be logged is told at most this often.
const TOLD_EVERY: Duration = Duration::from_secs(60);
/// Bytes of a refused body that are kept.
pub(super) const BODY_HEAD_BYTES: usize = 64 * 1_024;
/// What the sealed headers are for.
const PURPOSE: &str = "webhook request";

/// The way into the log.
pub(crate) struct RequestLog {
    sender: mpsc::Sender<RequestRow>,
    left_out: Arc<AtomicU64>,
}

/// What the loop of a log reads.
pub(crate) struct Logged {
    rows: mpsc::Receiver<RequestRow>,
    left_out: Arc<AtomicU64>,
}

/// A log, and what its loop reads.
pub(crate) fn request_log() -> (RequestLog, Logged) {
    let (sender, rows) = mpsc::channel(WAITING_MAX);
    let left_out = Arc::new(AtomicU64::new(0));
    let logged = Logged {
        rows,
        left_out: Arc::clone(&left_out),
    };
    (RequestLog { sender, left_out }, logged)
}

impl RequestLog {
    /// Logs it, if there is room.
    pub(super) fn write(&self, row: RequestRow) {
        if self.sender.try_send(row).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Requests that were not logged because there were too many.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }
}

/// Says now and then how many requests are missing from the log.
struct LeftOut {
    count: Arc<AtomicU64>,
    told: u64,
    told_at: Option<tokio::time::Instant>,
}

impl LeftOut {
    /// How many are new since the last time, if it is time to say so.
    fn news(&mut self) -> Option<u64> {
        let count = self.count.load(Ordering::Relaxed);
        let is_soon = self.told_at.is_some_and(|at| at.elapsed() < TOLD_EVERY);
        if count == self.told || is_soon {
            return None;
        }
        let new = count - self.told;
        self.told = count;
        self.told_at = Some(tokio::time::Instant::now());
        Some(new)
    }
}

/// Writes what waits, until the node stops.
pub(crate) async fn log_loop(logged: Logged, queue: Queue, stopping: CancellationToken) {
    let Logged { mut rows, left_out } = logged;
    let mut left_out = LeftOut {
        count: left_out,
        told: 0,
        told_at: None,
    };
    loop {
        if let Some(count) = left_out.news() {
            tracing::warn!(
                count,
                "refused requests to webhooks came faster than they can be logged; these are not in the log"
            );
        }
        let first = tokio::select! {
            biased;
            row = rows.recv() => row,
            () = stopping.cancelled() => return,
        };
        let Some(first) = first else { return };
        tokio::time::sleep(TOGETHER).await;
        let mut crowd = vec![first];
        while crowd.len() < TOGETHER_MAX
            && let Ok(row) = rows.try_recv()
        {
            crowd.push(row);
        }
        let part = Part::LogRequests(crowd);
        if queue
            .chore(Request::Part { part, reply: None })
            .await
            .is_err()
        {
            return;
        }
    }
}

/// The headers of a request, as a row holds them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedHeaders {
    /// Name and value, in their order, without secrets.
    pub headers: Vec<(String, String)>,
    /// How many did not fit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// All of them, sealed, for a later check of what was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks in this way")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl LoggedHeaders {
    /// What the log shows of them.
    pub(super) fn new(shown: Shown) -> Self {
        Self {
            headers: shown.headers,
            left_out: shown.left_out,
            sealed: None,
        }
    }

    /// The same with everything that a later check needs.
    pub(super) fn with_sealed(
        mut self,
        vault: Option<&Vault>,
        entropy: &dyn Entropy,
        request: RequestId,
        packed: Vec<u8>,
    ) -> Self {
        let packed = Zeroizing::new(packed);
        let sealed = vault.and_then(|vault| vault.seal(entropy, belongs(&request), &packed).ok());
        self.sealed = sealed.map(|bytes| STANDARD_NO_PAD.encode(bytes));
        self
    }

    /// What a row holds.
    #[must_use]
    pub fn read(row: &RequestRow) -> Option<Self> {
        serde_json::from_slice(&row.headers).ok()
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The headers as they came.
    pub(super) fn open(
        &self,
        vault: Option<&Vault>,
        request: RequestId,
    ) -> Result<Vec<(String, Vec<u8>)>, TriggerError> {
        let vault = vault.ok_or(TriggerError::NoMasterKey)?;
        let sealed = self.sealed.as_ref().ok_or(TriggerError::NotKept)?;
        let sealed = STANDARD_NO_PAD
            .decode(sealed)
            .map_err(|_| TriggerError::NotKept)?;
        let packed = vault.open(belongs(&request), &sealed)?;
        let headers = unpack(&packed.secret).ok_or(TriggerError::NotKept)?;
        let owned = |(name, value): (&str, &[u8])| (name.to_owned(), value.to_vec());
        Ok(headers.into_iter().map(owned).collect())
    }
}

fn belongs(request: &RequestId) -> Belongs<'_> {
    Belongs {
        purpose: PURPOSE,
        owner: request.as_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_left_out_is_told_now_and_then() {
        let count = Arc::new(AtomicU64::new(0));
        let mut left_out = LeftOut {
            count: Arc::clone(&count),
            told: 0,
            told_at: None,
        };
        assert_eq!(left_out.news(), None);
        count.store(7, Ordering::Relaxed);
        assert_eq!(left_out.news(), Some(7));
        count.store(9, Ordering::Relaxed);
        assert_eq!(left_out.news(), None, "not yet");
        tokio::time::advance(TOLD_EVERY).await;
        assert_eq!(left_out.news(), Some(2));
        tokio::time::advance(TOLD_EVERY).await;
        assert_eq!(left_out.news(), None, "nothing new");
    }
}
