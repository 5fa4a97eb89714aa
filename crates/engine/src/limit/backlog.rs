//! What is known about unowned work in the store: which workflows have some, and when work that
//! was put off comes due. Knowing too little here costs only time: a look now and then is the net.

use std::collections::{BTreeSet, HashSet};

use refire_core::definition::WorkflowId;
use refire_core::time::Timestamp;

/// Moments kept; with more, the latest are left to the net.
const MOMENTS_MAX: usize = 10_000;

#[derive(Default)]
pub(crate) struct Backlog {
    workflows: HashSet<WorkflowId>,
    /// Grows with every mark, so that clearing never loses one.
    marks: u64,
    /// When work that was put off comes due.
    moments: BTreeSet<Timestamp>,
}

impl Backlog {
    pub(crate) fn mark(&mut self, workflow: &WorkflowId) {
        self.workflows.insert(workflow.clone());
        self.marks += 1;
    }

    /// Whether older work of this workflow waits in the store: then new work queues behind it.
    pub(crate) fn has(&self, workflow: &WorkflowId) -> bool {
        self.workflows.contains(workflow)
    }

    /// Whether no work is known to wait.
    pub(crate) fn is_empty(&self) -> bool {
        self.workflows.is_empty()
    }

    /// How often work was marked; for [`Backlog::clear`].
    pub(crate) fn marks(&self) -> u64 {
        self.marks
    }

    /// Keeps only these workflows marked, unless a mark came in since.
    pub(crate) fn clear(&mut self, marks: u64, still: &[WorkflowId]) {
        if self.marks == marks {
            self.workflows = still.iter().cloned().collect();
        }
    }

    pub(crate) fn look_at(&mut self, at: Timestamp) {
        self.moments.insert(at);
        if self.moments.len() > MOMENTS_MAX {
            self.moments.pop_last();
        }
    }

    /// Whether a moment has come (those that have are taken), and the next one.
    pub(crate) fn looks(&mut self, now: Timestamp) -> (bool, Option<Timestamp>) {
        let before = self.moments.len();
        while self.moments.first().is_some_and(|first| *first <= now) {
            self.moments.pop_first();
        }
        (self.moments.len() < before, self.moments.first().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_moment_is_remembered() {
        let at = Timestamp::from_millis;
        let mut backlog = Backlog::default();
        for ms in [800, 500, 500] {
            backlog.look_at(at(ms));
        }
        assert_eq!(backlog.looks(at(100)), (false, Some(at(500))));
        assert_eq!(backlog.looks(at(600)), (true, Some(at(800))));
        assert_eq!(backlog.looks(at(900)), (true, None));
        assert_eq!(backlog.looks(at(900)), (false, None));
    }

    #[test]
    fn a_mark_that_came_in_since_is_not_cleared() {
        let workflow = WorkflowId::new("w").unwrap();
        let mut backlog = Backlog::default();
        backlog.mark(&workflow);
        let seen = backlog.marks();
        backlog.mark(&workflow);
        backlog.clear(seen, &[]);
        assert!(backlog.has(&workflow));
        backlog.clear(backlog.marks(), &[]);
        assert!(backlog.is_empty());
    }
}
