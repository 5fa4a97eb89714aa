//! Work: which workflows have some, what dead nodes left, what a node has, how much is open.

use std::collections::BTreeSet;

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::id::NodeId;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::time::Timestamp;

use super::page;
use crate::model::Model;
use crate::model::image::Image;
use crate::{OpenCounts, ReadError, Work, WorkKey, WorkRow};

#[async_trait]
impl Work for Model {
    async fn ready_workflows(&self, now: Timestamp) -> Result<Vec<WorkflowId>, ReadError> {
        self.read("ready_workflows", |image| {
            let is_ready = |row: &WorkRow| row.owner.is_none() && is_due(row, now);
            let rows = image.work.values().filter(|row| is_ready(row));
            let ready: BTreeSet<&WorkflowId> = rows.map(|row| &row.workflow).collect();
            let mut ready: Vec<WorkflowId> = ready.into_iter().cloned().collect();
            // In the order in which they were first saved.
            ready.sort_by_key(|id| image.workflows.get(id).map(|definition| definition.serial));
            Ok(ready)
        })
        .await
    }

    async fn orphans(
        &self,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError> {
        self.read("orphans", |image| {
            let is_there = |owner| image.nodes.contains_key(&owner);
            #[cfg(feature = "planted")]
            let is_there = |owner| is_there(owner) && !planted::is(Defect::LivingOrphaned);
            let is_orphan = |row: &WorkRow| row.owner.is_some_and(|owner| !is_there(owner));
            Ok(image.work_that(is_orphan, after, limit))
        })
        .await
    }

    async fn owned_due(
        &self,
        node: NodeId,
        now: Timestamp,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError> {
        self.read("owned_due", |image| {
            let is_asked = |row: &WorkRow| row.owner == Some(node) && is_due(row, now);
            Ok(image.work_that(is_asked, after, limit))
        })
        .await
    }

    async fn open_executions(&self, workflow: &WorkflowId, max: u32) -> Result<u64, ReadError> {
        self.read("open_executions", |image| {
            let open = image.executions.values().filter(|record| {
                record.row.workflow == *workflow && !record.row.update.status.is_terminal()
            });
            Ok((open.count() as u64).min(max.into()))
        })
        .await
    }

    async fn waiting_work(
        &self,
        workflow: &WorkflowId,
        steps: &[&str],
        now: Timestamp,
        max: u32,
    ) -> Result<u64, ReadError> {
        self.read("waiting_work", |image| {
            let waits = |row: &&std::sync::Arc<WorkRow>| {
                row.workflow == *workflow
                    && row.owner.is_none()
                    && is_due(row, now)
                    && steps.contains(&row.step.as_str())
            };
            let waiting = image.work.values().filter(waits).count() as u64;
            Ok(waiting.min(max.into()))
        })
        .await
    }

    async fn open_counts(&self, workflow: Option<&WorkflowId>) -> Result<OpenCounts, ReadError> {
        let is_asked =
            |id: &WorkflowId| !id.is_system() && workflow.is_none_or(|workflow| workflow == id);
        self.read("open_counts", |image| {
            let mut counts = OpenCounts::default();
            for record in image.executions.values() {
                let is_open = !record.row.update.status.is_terminal();
                counts.executions += u64::from(is_open && is_asked(&record.row.workflow));
            }
            for row in image.work.values().filter(|row| is_asked(&row.workflow)) {
                counts.running += u64::from(row.begun);
                counts.waiting += u64::from(!row.begun);
            }
            Ok(counts)
        })
        .await
    }
}

fn is_due(row: &WorkRow, now: Timestamp) -> bool {
    row.due_at.is_none_or(|due_at| due_at <= now)
}

impl Image {
    /// Such work after a key, in the order of its key.
    fn work_that(
        &self,
        is_asked: impl Fn(&WorkRow) -> bool,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Vec<WorkRow> {
        let rows = self.work.iter();
        rows.filter(|(key, row)| after.is_none_or(|after| *key > after) && is_asked(row))
            .take(page(limit))
            .map(|(_, row)| (**row).clone())
            .collect()
    }
}
