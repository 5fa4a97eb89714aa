//! Which notices go to a channel: of these kinds, about these workflows.

use serde::{Deserialize, Serialize};

use super::kind::NoticeKind;
use crate::definition::WorkflowId;

/// What a channel is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Of these kinds; empty = all.
    pub kinds: Vec<NoticeKind>,
    /// About these workflows; empty = all, and what is about none.
    pub workflows: Vec<WorkflowPattern>,
}

/// A workflow's name, or with `*` at its end all that begin so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkflowPattern(pub String);

impl WorkflowPattern {
    /// Whether a workflow is meant.
    #[must_use]
    pub fn is(&self, workflow: &WorkflowId) -> bool {
        match self.0.strip_suffix('*') {
            Some(beginning) => workflow.as_str().starts_with(beginning),
            None => workflow.as_str() == self.0,
        }
    }
}

impl Choice {
    /// Whether a notice goes there. What the server runs for itself is told to nobody.
    #[must_use]
    pub fn wants(&self, kind: NoticeKind, workflow: Option<&WorkflowId>) -> bool {
        let is_own = workflow.is_some_and(WorkflowId::is_system);
        let is_of = |workflow| self.workflows.iter().any(|one| one.is(workflow));
        !is_own
            && (self.kinds.is_empty() || self.kinds.contains(&kind))
            && (self.workflows.is_empty() || workflow.is_some_and(is_of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_is_told_what_it_chose() {
        let kind = NoticeKind::DeadLetterCreated;
        let id = |id: &str| WorkflowId::kept(id).unwrap();
        let all = Choice::default();
        assert!(all.wants(kind, None) && all.wants(kind, Some(&id("orders"))));
        assert!(
            !all.wants(kind, Some(&id(".notify"))),
            "nothing about itself"
        );
        let some = Choice {
            kinds: vec![kind],
            workflows: ["orders", "pay*"]
                .map(|one| WorkflowPattern(one.to_owned()))
                .into(),
        };
        assert!(some.wants(kind, Some(&id("orders"))));
        assert!(some.wants(kind, Some(&id("payments"))));
        assert!(!some.wants(kind, Some(&id("orders2"))));
        assert!(!some.wants(kind, None));
        assert!(!some.wants(NoticeKind::TriggerMissed, Some(&id("orders"))));
    }
}
