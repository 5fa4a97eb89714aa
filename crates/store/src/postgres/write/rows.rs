//! The rows of executions, events and work as columns.

use refire_core::execution::EventRow;
use refire_core::id::{ExecutionId, NodeId};
use uuid::Uuid;

use super::arrays::columns;
use super::link::Link;
use crate::checksum;
use crate::postgres::columns::{kept_due, signed, signed_small, uuid};
use crate::{RowUpdate, WorkRow};

/// The phase of an execution whose completed steps are being undone.
const COMPENSATING: &str = "compensating";

columns! {
    /// The part of executions that every commit rewrites.
    pub(super) struct Updates(id: ExecutionId, update: &'a RowUpdate) {
        version: i64 = signed(update.version),
        status: &'static str = update.status.name(),
        phase: Option<&'static str> = update.compensating.then_some(COMPENSATING),
        updated_at: i64 = update.updated_at.as_micros(),
        retry_count: i32 = signed_small(update.retry_count),
        next_retry_at: Option<i64> = update.next_retry_at.map(|at| at.as_micros()),
        snapshot_crc: Option<i64> = update.snapshot.as_deref().map(|snapshot| {
            checksum::snapshot(id, update.version, snapshot).into()
        }),
        snapshot: Option<&'a [u8]> = update.snapshot.as_deref(),
    }
}

columns! {
    /// Events.
    pub(super) struct Events(id: ExecutionId, event: &'a EventRow) {
        execution: Uuid = uuid(id.as_bytes()),
        sequence: i64 = signed(event.sequence),
        r#type: &'a str = &event.name,
        v: i32 = event.v.into(),
        at: i64 = event.at.as_micros(),
        step: Option<&'a str> = event.step.as_deref(),
        attempt: Option<i32> = event.attempt.map(signed_small),
        backoff_ms: Option<i64> = event.backoff_ms.map(signed),
        reason: Option<&'a [u8]> = event.reason.as_deref().map(str::as_bytes),
        crc: i64 = checksum::event(id, event).into(),
        payload: &'a [u8] = &event.payload,
    }
}

impl<'a> Events<'a> {
    pub(super) fn extend(&mut self, id: ExecutionId, events: &'a [EventRow]) {
        for event in events {
            self.push(id, event);
        }
    }
}

columns! {
    /// Work to be put. Without the workflow there is no execution either, so that cannot be: the
    /// statement fails on the missing key instead of inventing one.
    pub(super) struct Puts(link: &Link, row: &'a WorkRow) {
        execution: Uuid = uuid(row.execution.as_bytes()),
        step: &'a str = &row.step,
        attempt: i32 = signed_small(row.attempt),
        is_retry: bool = row.is_retry,
        workflow: Option<i64> = link.key(&row.workflow),
        priority: i16 = row.priority.into(),
        due_at: i64 = kept_due(row.due_at),
        limit_key: Option<&'a [u8]> = row.limit_key.as_deref().map(str::as_bytes),
        owner: Option<Uuid> = row.owner.as_ref().map(NodeId::as_bytes).map(uuid),
        begun: bool = row.begun,
        begun_at: Option<i64> = row.begun_at.map(|at| at.as_micros()),
    }
}
