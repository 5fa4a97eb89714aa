//! Rows as columns: what many parts write goes into one statement as one array per column.

use refire_core::execution::EventRow;
use refire_core::id::{ExecutionId, NodeId};
use uuid::Uuid;

use super::link::{Link, Value, values};
use crate::checksum;
use crate::postgres::columns::{kept_due, signed, signed_small, uuid};
use crate::{RowUpdate, WorkRow};

/// The phase of an execution whose completed steps are being undone.
const COMPENSATING: &str = "compensating";

/// The part of executions that every commit rewrites.
#[derive(Default)]
pub(super) struct Updates<'a> {
    version: Vec<i64>,
    status: Vec<&'static str>,
    phase: Vec<Option<&'static str>>,
    updated_at: Vec<i64>,
    retry_count: Vec<i32>,
    next_retry_at: Vec<Option<i64>>,
    snapshot_crc: Vec<Option<i64>>,
    snapshot: Vec<Option<&'a [u8]>>,
}

impl<'a> Updates<'a> {
    pub(super) fn push(&mut self, id: ExecutionId, update: &'a RowUpdate) {
        let snapshot = update.snapshot.as_deref();
        self.version.push(signed(update.version));
        self.status.push(update.status.name());
        self.phase.push(update.compensating.then_some(COMPENSATING));
        self.updated_at.push(update.updated_at.as_micros());
        self.retry_count.push(signed_small(update.retry_count));
        self.next_retry_at
            .push(update.next_retry_at.map(|at| at.as_micros()));
        self.snapshot_crc
            .push(snapshot.map(|snapshot| checksum::snapshot(id, update.version, snapshot).into()));
        self.snapshot.push(snapshot);
    }

    /// Eight columns.
    pub(super) fn values(self) -> Vec<Value<'a>> {
        values![
            self.version,
            self.status,
            self.phase,
            self.updated_at,
            self.retry_count,
            self.next_retry_at,
            self.snapshot_crc,
            self.snapshot,
        ]
    }
}

/// Events.
#[derive(Default)]
pub(super) struct Events<'a> {
    execution: Vec<Uuid>,
    sequence: Vec<i64>,
    name: Vec<&'a str>,
    v: Vec<i32>,
    at: Vec<i64>,
    step: Vec<Option<&'a str>>,
    attempt: Vec<Option<i32>>,
    backoff_ms: Vec<Option<i64>>,
    reason: Vec<Option<&'a [u8]>>,
    crc: Vec<i64>,
    payload: Vec<&'a [u8]>,
}

impl<'a> Events<'a> {
    pub(super) fn push(&mut self, id: ExecutionId, events: &'a [EventRow]) {
        for event in events {
            self.execution.push(uuid(id.as_bytes()));
            self.sequence.push(signed(event.sequence));
            self.name.push(&event.name);
            self.v.push(event.v.into());
            self.at.push(event.at.as_micros());
            self.step.push(event.step.as_deref());
            self.attempt.push(event.attempt.map(signed_small));
            self.backoff_ms.push(event.backoff_ms.map(signed));
            self.reason.push(event.reason.as_deref().map(str::as_bytes));
            self.crc.push(checksum::event(id, event).into());
            self.payload.push(&event.payload);
        }
    }

    /// Eleven columns.
    pub(super) fn values(self) -> Vec<Value<'a>> {
        values![
            self.execution,
            self.sequence,
            self.name,
            self.v,
            self.at,
            self.step,
            self.attempt,
            self.backoff_ms,
            self.reason,
            self.crc,
            self.payload,
        ]
    }
}

/// Work to be put.
#[derive(Default)]
pub(super) struct Puts<'a> {
    execution: Vec<Uuid>,
    step: Vec<&'a str>,
    attempt: Vec<i32>,
    is_retry: Vec<bool>,
    workflow: Vec<Option<i64>>,
    priority: Vec<i16>,
    due_at: Vec<i64>,
    limit_key: Vec<Option<&'a [u8]>>,
    owner: Vec<Option<Uuid>>,
    begun: Vec<bool>,
    begun_at: Vec<Option<i64>>,
}

impl<'a> Puts<'a> {
    /// Without the workflow there is no execution either, so that cannot be: the statement fails on
    /// the missing key instead of inventing one.
    pub(super) fn push(&mut self, link: &Link, row: &'a WorkRow) {
        self.execution.push(uuid(row.execution.as_bytes()));
        self.step.push(&row.step);
        self.attempt.push(signed_small(row.attempt));
        self.is_retry.push(row.is_retry);
        self.workflow.push(link.key(&row.workflow));
        self.priority.push(row.priority.into());
        self.due_at.push(kept_due(row.due_at));
        self.limit_key
            .push(row.limit_key.as_deref().map(str::as_bytes));
        self.owner
            .push(row.owner.as_ref().map(NodeId::as_bytes).map(uuid));
        self.begun.push(row.begun);
        self.begun_at.push(row.begun_at.map(|at| at.as_micros()));
    }

    /// Eleven columns.
    pub(super) fn values(self) -> Vec<Value<'a>> {
        values![
            self.execution,
            self.step,
            self.attempt,
            self.is_retry,
            self.workflow,
            self.priority,
            self.due_at,
            self.limit_key,
            self.owner,
            self.begun,
            self.begun_at,
        ]
    }
}
