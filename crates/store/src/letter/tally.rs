//! The overview of dead letters, as it is counted.

use std::collections::BTreeMap;

use refire_core::definition::WorkflowId;
use refire_core::time::Timestamp;

use super::{LetterGroup, LetterSummary};
use crate::ReadError;

/// Workflow, error type, error code.
type Group = (String, String, Option<String>);

/// See the module.
#[derive(Default)]
pub(crate) struct Tally {
    groups: BTreeMap<Group, u64>,
    oldest: Option<Timestamp>,
    newest: Option<Timestamp>,
}

impl Tally {
    /// So many letters of a workflow with an error. An empty code is none.
    pub(crate) fn add(
        &mut self,
        workflow: &str,
        error_type: &str,
        error_code: Option<&str>,
        count: u64,
    ) {
        let code = error_code.filter(|code| !code.is_empty());
        let group = (
            workflow.to_owned(),
            error_type.to_owned(),
            code.map(ToOwned::to_owned),
        );
        *self.groups.entry(group).or_default() += count;
    }

    /// Those that were counted there are not counted here.
    pub(crate) fn less(&mut self, other: &Self) {
        for (group, count) in &other.groups {
            if let Some(own) = self.groups.get_mut(group) {
                *own = own.saturating_sub(*count);
            }
        }
        self.groups.retain(|_, count| *count > 0);
    }

    /// A letter failed then.
    pub(crate) fn widen(&mut self, failed_at: Timestamp) {
        let oldest = self.oldest.unwrap_or(failed_at);
        let newest = self.newest.unwrap_or(failed_at);
        self.oldest = Some(oldest.min(failed_at));
        self.newest = Some(newest.max(failed_at));
    }

    /// The largest groups first.
    pub(crate) fn summary(self) -> Result<LetterSummary, ReadError> {
        let mut groups = Vec::with_capacity(self.groups.len());
        for ((workflow, error_type, error_code), count) in self.groups {
            let workflow = WorkflowId::new(workflow).map_err(|error| ReadError::Corrupt {
                what: "the workflow of a dead letter".to_owned(),
                source: error.into(),
            })?;
            groups.push(LetterGroup {
                workflow,
                error_type,
                error_code,
                count,
            });
        }
        // Equal ones stay in the order of their names.
        groups.sort_by_key(|group| std::cmp::Reverse(group.count));
        Ok(LetterSummary {
            count: groups.iter().map(|group| group.count).sum(),
            groups,
            oldest: self.oldest,
            newest: self.newest,
        })
    }
}
