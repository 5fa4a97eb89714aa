//! Work: which workflows have some, what dead nodes left, what a node has, how much is open.

use std::collections::BTreeSet;

use refire_core::definition::WorkflowId;
use refire_core::id::NodeId;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::time::Timestamp;

use super::page;
use crate::model::image::Image;
use crate::{OpenCounts, WorkKey, WorkRow};

impl Image {
    /// Those with unowned work that is due, in the order in which they were first saved.
    pub(in crate::model) fn ready_workflows(&self, now: Timestamp) -> Vec<WorkflowId> {
        let is_ready =
            |row: &WorkRow| row.owner.is_none() && row.due_at.is_none_or(|due_at| due_at <= now);
        let rows = self.work.values().filter(|row| is_ready(row));
        let ready: BTreeSet<&WorkflowId> = rows.map(|row| &row.workflow).collect();
        let mut ready: Vec<WorkflowId> = ready.into_iter().cloned().collect();
        ready.sort_by_key(|id| self.workflows.get(id).map(|definition| definition.serial));
        ready
    }

    /// Work of whoever is not among the nodes, in the order of its key.
    pub(in crate::model) fn orphans(&self, after: Option<&WorkKey>, limit: u32) -> Vec<WorkRow> {
        let is_there = |owner| self.nodes.contains_key(&owner);
        #[cfg(feature = "planted")]
        let is_there = |owner| is_there(owner) && !planted::is(Defect::LivingOrphaned);
        let rows = self.work.iter();
        rows.filter(|(key, row)| {
            row.owner.is_some_and(|owner| !is_there(owner))
                && after.is_none_or(|after| *key > after)
        })
        .take(page(limit))
        .map(|(_, row)| (**row).clone())
        .collect()
    }

    /// Work of one node that is due, in the order of its key.
    pub(in crate::model) fn owned_due(
        &self,
        node: NodeId,
        now: Timestamp,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Vec<WorkRow> {
        let rows = self.work.iter();
        rows.filter(|(key, row)| {
            row.owner == Some(node)
                && row.due_at.is_none_or(|due_at| due_at <= now)
                && after.is_none_or(|after| *key > after)
        })
        .take(page(limit))
        .map(|(_, row)| (**row).clone())
        .collect()
    }

    pub(in crate::model) fn open_counts(&self, workflow: Option<&WorkflowId>) -> OpenCounts {
        let is_asked = |id: &WorkflowId| workflow.is_none_or(|workflow| workflow == id);
        let mut counts = OpenCounts::default();
        for record in self.executions.values() {
            let is_open = !record.row.update.status.is_terminal();
            counts.executions += u64::from(is_open && is_asked(&record.row.workflow));
        }
        for row in self.work.values().filter(|row| is_asked(&row.workflow)) {
            counts.running += u64::from(row.begun);
            counts.waiting += u64::from(!row.begun);
        }
        counts
    }
}
