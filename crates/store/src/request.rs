//! Requests to webhooks as they are kept. What started an execution is a row beside it; all others
//! are kept in a ring of each trigger, so that nobody outside can fill the disk.

use std::collections::BTreeMap;

use refire_core::definition::WorkflowId;
use refire_core::id::{ExecutionId, RequestId, TriggerId};
use refire_core::time::Timestamp;
use refire_core::webhook::RequestStatus;

use crate::column::read_from;
use crate::layer::store_trait;

store_trait! {
    /// Requests to webhooks.
    pub trait Requests {
        /// Requests to a trigger's address that are older than `before`, newest first, without bodies.
        async fn requests(
            &self,
            trigger: TriggerId,
            filter: &RequestFilter,
            before: Option<RequestId>,
            limit: u32,
        ) -> Result<Vec<RequestRow>, ReadError>;

        /// Webhooks after `after`, oldest first, and of each the newest request that is not among its newest
        /// so many.
        async fn requests_beyond(
            &self,
            newest: u32,
            after: Option<TriggerId>,
            limit: u32,
        ) -> Result<Vec<(TriggerId, Option<RequestId>)>, ReadError>;

        /// What became of the newest so many of the requests that pass, by their status.
        async fn request_tally(
            &self,
            trigger: TriggerId,
            filter: &RequestFilter,
            max: u32,
        ) -> Result<Vec<RequestTally>, ReadError>;

        /// Webhooks, oldest first, that have such requests of others than testers since then, each counted
        /// up to `max`. Only the first `limit` webhooks are looked at.
        async fn refused_requests(
            &self,
            statuses: &[RequestStatus],
            since: Timestamp,
            max: u32,
            limit: u32,
        ) -> Result<Vec<RefusedRequests>, ReadError>;

        /// One request with its body.
        async fn request(&self, id: RequestId) -> Result<Option<RequestRow>, ReadError>;
    }
}

/// A request to a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRow {
    /// Its id.
    pub id: RequestId,
    /// The trigger whose address it came to.
    pub trigger: TriggerId,
    /// When it came.
    pub at: Timestamp,
    /// What became of it.
    pub status: RequestStatus,
    /// Where it came from.
    pub source: String,
    /// Its headers, as the caller writes them.
    pub headers: Vec<u8>,
    /// The beginning of its body; absent where the body is the execution's input, and in lists.
    pub body: Option<Vec<u8>>,
    /// How long the body was, in bytes.
    pub body_bytes: u64,
    /// The execution that it started, or that an equal request had started.
    pub execution: Option<ExecutionId>,
    /// What was wrong with it.
    pub error: Option<String>,
    /// Whether a person sent it to try the trigger.
    pub is_test: bool,
}

read_from! {
    RequestRow {
        id: "id",
        trigger: "trigger",
        at: "at",
        status: "status",
        source: "source",
        headers: "headers",
        body_bytes: "body_bytes",
        execution: "execution",
        error: "error",
        is_test: "is_test";
        body = None
    }
}

impl RequestRow {
    /// What it weighs in its ring, in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        let body = self.body.as_ref().map_or(0, Vec::len);
        let error = self.error.as_ref().map_or(0, String::len);
        (self.headers.len() + body + error) as u64
    }

    /// Whether it is in its trigger's ring.
    pub(crate) fn is_in_ring(&self) -> bool {
        self.status != RequestStatus::Triggered
    }
}

/// Requests that came to the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestTally {
    /// What became of them.
    pub status: RequestStatus,
    /// How many.
    pub count: u64,
    /// When the first of them came.
    pub oldest: Timestamp,
    /// When the last of them came.
    pub newest: Timestamp,
}

read_from! {
    RequestTally {
        status: "status",
        count: "count(*)",
        oldest: "min(at)",
        newest: "max(at)"
    }
}

/// A webhook with requests that were refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRequests {
    /// The webhook.
    pub trigger: TriggerId,
    /// Its workflow.
    pub workflow: WorkflowId,
    /// How many.
    pub count: u64,
    /// When the first of them came.
    pub since: Timestamp,
}

/// Which requests to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// With one of these statuses; empty = all.
    pub statuses: Vec<RequestStatus>,
    /// Only tests, or only others.
    pub is_test: Option<bool>,
    /// From this millisecond on, by their ids.
    pub from: Option<Timestamp>,
    /// Before this millisecond, by their ids.
    pub to: Option<Timestamp>,
}

impl RequestFilter {
    /// Whether a request passes.
    #[must_use]
    pub fn passes(&self, row: &RequestRow) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&row.status))
            && self.is_test.is_none_or(|test| test == row.is_test)
            && self.from.is_none_or(|from| row.id >= first_id_at(from))
            && self.to.is_none_or(|to| row.id < first_id_at(to))
    }
}

/// How much a ring may hold before it is cut, and how much is left then: not every request cuts.
pub(crate) struct Ring;

impl Ring {
    /// Requests that are left.
    pub(crate) const ROWS: u64 = 1_000;
    /// Bytes that are left, at most.
    pub(crate) const BYTES: u64 = 16 * 1024 * 1024;
    /// Requests beyond [`Self::ROWS`] that are borne.
    const ROWS_SLACK: u64 = 100;
    /// Bytes beyond [`Self::BYTES`] that are borne.
    const BYTES_SLACK: u64 = 1024 * 1024;

    /// What the rings of triggers get: requests, and their bytes.
    pub(crate) fn added(requests: &[RequestRow]) -> BTreeMap<TriggerId, (u64, u64)> {
        let mut added: BTreeMap<TriggerId, (u64, u64)> = BTreeMap::new();
        for request in requests.iter().filter(|request| request.is_in_ring()) {
            let (rows, bytes) = added.entry(request.trigger).or_default();
            *rows += 1;
            *bytes += request.size();
        }
        added
    }

    /// Whether so much must be cut.
    pub(crate) fn is_too_long(rows: u64, bytes: u64) -> bool {
        rows > Self::ROWS + Self::ROWS_SLACK || bytes > Self::BYTES + Self::BYTES_SLACK
    }
}

/// Where a ring ends, for a walk from the newest request to the oldest.
#[derive(Default)]
pub(crate) struct Cut {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

impl Cut {
    /// Whether a request of this size stays; the first that does not ends the walk.
    pub(crate) fn keeps(&mut self, size: u64) -> bool {
        let stays = self.rows < Ring::ROWS && self.bytes + size <= Ring::BYTES;
        if stays {
            self.rows += 1;
            self.bytes += size;
        }
        stays
    }
}

/// The first id of a millisecond.
pub(crate) fn first_id_at(at: Timestamp) -> RequestId {
    RequestId::from_bytes(first_bytes_at(at))
}

/// What no time-ordered id of a millisecond, or of a later one, is before.
pub(crate) fn first_bytes_at(at: Timestamp) -> [u8; 16] {
    let millis = u64::try_from(at.as_millis()).unwrap_or(0);
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
    bytes
}
