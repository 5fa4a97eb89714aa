//! The right to run one attempt.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use refire_core::definition::WorkflowId;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;

use super::counts::{Held, HostCall};
use super::slots::{Blocked, Slots};

/// The right to run one attempt; given back when dropped.
pub struct Permit {
    slots: Arc<Slots>,
    workflow: WorkflowId,
    execution: ExecutionId,
    step: String,
    key: Option<String>,
    host: Option<String>,
    is_retry: bool,
    /// The start of the workflow's rate that came with it.
    start: Option<Start>,
    /// Whether the attempt began; if not, its start of the rate is free for another.
    began: bool,
    /// Whether it counts just now.
    counts: AtomicBool,
}

/// A start of a rate.
#[derive(Debug, Clone)]
pub(super) struct Start {
    pub(super) key: String,
    pub(super) limit: (u32, Duration),
}

/// What a permit is made of.
pub(super) struct Terms {
    pub(super) workflow: WorkflowId,
    pub(super) execution: ExecutionId,
    pub(super) step: String,
    pub(super) key: Option<String>,
    pub(super) host: Option<String>,
    pub(super) is_retry: bool,
    pub(super) start: Option<Start>,
}

impl std::fmt::Debug for Permit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Permit({} {})", self.workflow, self.execution)
    }
}

impl Permit {
    pub(super) fn new(slots: Arc<Slots>, terms: Terms) -> Self {
        let Terms {
            workflow,
            execution,
            step,
            key,
            host,
            is_retry,
            start,
        } = terms;
        Self {
            slots,
            workflow,
            execution,
            step,
            key,
            host,
            is_retry,
            start,
            began: false,
            counts: AtomicBool::new(true),
        }
    }

    /// Adds the host of a call whose address came from a template.
    pub fn add_host(&mut self, host: &str, now: Timestamp) -> Result<(), Blocked> {
        if self.host.is_some() {
            return Ok(());
        }
        let call = HostCall {
            host,
            execution: self.execution,
            step: &self.step,
            is_retry: self.is_retry,
        };
        self.slots.take_host(&call, now)?;
        self.host = Some(host.to_owned());
        Ok(())
    }

    /// The attempt begins: what it took of the rate is used.
    pub fn begin(&mut self) {
        self.began = true;
    }

    /// Frees the slot while its result is being committed, so that what follows from the result
    /// can take it.
    pub fn suspend(&self) {
        if self.counts.swap(false, Ordering::AcqRel) {
            self.slots.leave(&self.held());
        }
    }

    /// Takes the slot again, full or not: the commit failed and the result still waits, which
    /// must keep a slot busy.
    pub fn resume(&self) {
        if !self.counts.swap(true, Ordering::AcqRel) {
            self.slots.enter(&self.held());
        }
    }

    fn held(&self) -> Held<'_> {
        Held {
            workflow: &self.workflow,
            execution: self.execution,
            key: self.key.as_deref(),
            host: self.host.as_deref(),
            is_retry: self.is_retry,
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(start) = self.start.take()
            && !self.began
        {
            self.slots.return_start(&self.workflow, &start);
        }
        self.suspend();
    }
}
