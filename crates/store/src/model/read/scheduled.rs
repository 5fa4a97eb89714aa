//! Scheduled tasks, with the triggers that start them.

use async_trait::async_trait;
use refire_core::id::ScheduledTaskId;

use super::page;
use crate::model::Model;
use crate::model::image::Image;
use crate::{ReadError, Scheduled, ScheduledFilter, ScheduledRow, ScheduledTasks};

#[async_trait]
impl ScheduledTasks for Model {
    async fn scheduled_task(&self, id: ScheduledTaskId) -> Result<Option<Scheduled>, ReadError> {
        self.read("scheduled_task", |image| {
            let row = image.scheduled.get(&id);
            Ok(row.and_then(|row| image.scheduled(row)))
        })
        .await
    }

    async fn scheduled_task_by_key(&self, key: [u8; 16]) -> Result<Option<Scheduled>, ReadError> {
        self.read("scheduled_task_by_key", |image| {
            let mut rows = image.scheduled.values();
            let row = rows.find(|row| row.key_hash == Some(key));
            Ok(row.and_then(|row| image.scheduled(row)))
        })
        .await
    }

    async fn scheduled_tasks(
        &self,
        filter: &ScheduledFilter,
        before: Option<ScheduledTaskId>,
        limit: u32,
    ) -> Result<Vec<Scheduled>, ReadError> {
        self.read("scheduled_tasks", |image| {
            let rows = image.scheduled.values().rev();
            let rows = rows.filter(|row| before.is_none_or(|before| row.id < before));
            let tasks = rows.filter_map(|row| image.scheduled(row));
            let tasks = tasks.filter(|task| filter.passes(task));
            Ok(tasks.take(page(limit)).collect())
        })
        .await
    }
}

impl Image {
    /// A task that is not deleted, with its trigger.
    fn scheduled(&self, row: &ScheduledRow) -> Option<Scheduled> {
        let trigger = row.trigger();
        row.deleted_at.is_none().then_some(())?;
        Some(Scheduled {
            row: row.clone(),
            trigger: self.triggers.get(&trigger)?.row.clone(),
            state: self.trigger_states.get(&trigger)?.state,
        })
    }
}
