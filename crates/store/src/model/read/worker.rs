//! Workers.

use std::collections::BTreeMap;
use std::ops::Bound;

use async_trait::async_trait;
use refire_core::task::TaskStatus;

use super::page;
use crate::model::Model;
use crate::model::image::Image;
use crate::{ReadError, TaskRow, WorkerRow, Workers};

impl Image {
    /// Tasks that workers have.
    fn held(&self) -> impl Iterator<Item = &TaskRow> {
        let tasks = self.tasks.values().map(|task| &**task);
        tasks.filter(|task| task.status == TaskStatus::Locked)
    }
}

#[async_trait]
impl Workers for Model {
    async fn workers(&self, after: Option<&str>, limit: u32) -> Result<Vec<WorkerRow>, ReadError> {
        self.read("workers", |image| {
            let start = after.map_or(Bound::Unbounded, Bound::Excluded);
            let rows = image.workers.range::<str, _>((start, Bound::Unbounded));
            let rows = rows.map(|(_, row)| (**row).clone());
            Ok(rows.take(page(limit)).collect())
        })
        .await
    }

    async fn held_counts(&self) -> Result<Vec<(String, u64)>, ReadError> {
        self.read("held_counts", |image| {
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            for worker in image.held().filter_map(|task| task.worker.as_ref()) {
                *counts.entry(worker.clone()).or_default() += 1;
            }
            Ok(counts.into_iter().collect())
        })
        .await
    }

    async fn held_tasks(&self, worker: &str) -> Result<Vec<TaskRow>, ReadError> {
        self.read("held_tasks", |image| {
            let tasks = image.held();
            let tasks = tasks.filter(|task| task.worker.as_deref() == Some(worker));
            Ok(tasks.cloned().collect())
        })
        .await
    }
}
