//! The right to run one attempt.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use refire_core::breaker::Verdict;
use refire_core::definition::WorkflowId;
use refire_core::id::ExecutionId;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::time::Timestamp;

use super::slots::{Blocked, Slots};

/// The right to run one attempt; released when dropped.
pub(crate) struct Permit {
    slots: Arc<Slots>,
    terms: Terms,
    /// The start of the workflow's rate that came with it.
    start: Option<Start>,
    /// Whether the attempt began; if not, its start of the rate is free for another.
    began: bool,
    /// Whether it counts just now.
    counts: AtomicBool,
    /// Whether it tries a target that failed, and nobody knows yet what came of it.
    tries: bool,
}

/// A start of a rate.
#[derive(Debug, Clone)]
pub(super) struct Start {
    pub(super) key: String,
    pub(super) limit: (u32, Duration),
}

/// What a permit stands for.
pub(super) struct Terms {
    pub(super) workflow: WorkflowId,
    pub(super) execution: ExecutionId,
    pub(super) step: String,
    pub(super) key: Option<String>,
    pub(super) host: Option<String>,
    pub(super) is_retry: bool,
}

impl std::fmt::Debug for Permit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Permit({} {})",
            self.terms.workflow, self.terms.execution
        )
    }
}

impl Permit {
    pub(super) fn new(
        slots: Arc<Slots>,
        (terms, tries): (Terms, bool),
        start: Option<Start>,
    ) -> Self {
        Self {
            slots,
            terms,
            start,
            began: false,
            counts: AtomicBool::new(true),
            tries,
        }
    }

    /// Adds the host of a call whose address came from a template.
    pub(crate) fn add_host(&mut self, host: &str, now: Timestamp) -> Result<(), Blocked> {
        if self.terms.host.is_none() {
            self.tries = self.slots.take_host(&self.terms, host, now)?;
            self.terms.host = Some(host.to_owned());
        }
        Ok(())
    }

    /// The target, if the call has one.
    pub(crate) fn host(&self) -> Option<&str> {
        self.terms.host.as_deref()
    }

    /// The attempt begins: what it took of the rate is used. Not if its target is left alone by now.
    pub(crate) fn begin(&mut self, now: Timestamp) -> Result<(), Blocked> {
        if let Some(host) = &self.terms.host
            && !self.terms.workflow.is_system()
        {
            self.slots.may_still(host, self.tries, now)?;
        }
        self.began = true;
        Ok(())
    }

    /// The call has ended. How long its target is to be left alone at least, if most of them fail.
    pub(crate) fn note(
        &mut self,
        verdict: Verdict,
        cause: &str,
        now: Timestamp,
    ) -> Option<Duration> {
        let host = self.terms.host.as_deref()?;
        if self.terms.workflow.is_system() {
            return None;
        }
        let tries = std::mem::take(&mut self.tries);
        #[cfg(feature = "planted")]
        if tries && planted::is(Defect::ProbeNeverReported) {
            return None;
        }
        self.slots.note((host, tries), (verdict, cause), now)
    }

    /// Frees the slot while its result is being committed, so that what follows from the result
    /// can take it.
    pub(crate) fn suspend(&self) {
        if self.counts.swap(false, Ordering::AcqRel) {
            self.slots.leave(&self.terms);
        }
    }

    /// Takes the slot again, full or not: the commit failed and the result still waits, which
    /// must keep a slot busy.
    pub(crate) fn resume(&self) {
        if !self.counts.swap(true, Ordering::AcqRel) {
            self.slots.enter(&self.terms);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(start) = self.start.take()
            && !self.began
        {
            self.slots.release_start(&self.terms.workflow, &start);
        }
        if self.tries
            && let Some(host) = &self.terms.host
        {
            self.slots.give_back(host);
        }
        self.suspend();
    }
}
