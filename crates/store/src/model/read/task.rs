//! Tasks.

use std::collections::BTreeMap;

use async_trait::async_trait;
use refire_core::id::{ExecutionId, LockToken, TaskId};
use refire_core::task::TaskStatus;
use refire_core::time::Timestamp;

use super::page;
use crate::model::Model;
use crate::model::image::Image;
use crate::{ReadError, TaskFilter, TaskRow, Tasks};

impl Image {
    pub(in crate::model) fn tasks_of(&self, id: ExecutionId) -> impl Iterator<Item = &TaskRow> {
        let of = |step| TaskId {
            execution: id,
            step,
        };
        let tasks = self.tasks.range(of(0)..=of(u16::MAX));
        tasks.map(|(_, task)| &**task)
    }

    /// Tasks whose clocks run, the earliest first.
    fn woken_tasks(&self) -> Vec<&TaskRow> {
        let tasks = self.tasks.values().map(|task| &**task);
        let mut tasks: Vec<&TaskRow> = tasks.filter(|task| task.wake_at.is_some()).collect();
        tasks.sort_by_key(|task| (task.wake_at, task.id()));
        tasks
    }
}

#[async_trait]
impl Tasks for Model {
    async fn task(&self, id: TaskId) -> Result<Option<TaskRow>, ReadError> {
        self.read("task", |image| {
            Ok(image.tasks.get(&id).map(|task| (**task).clone()))
        })
        .await
    }

    async fn tasks(
        &self,
        filter: &TaskFilter,
        before: Option<TaskId>,
        limit: u32,
    ) -> Result<Vec<TaskRow>, ReadError> {
        self.read("tasks", |image| {
            let tasks = image.tasks.iter().rev();
            let tasks = tasks.filter(|(id, _)| before.is_none_or(|before| **id < before));
            let tasks = tasks.map(|(_, task)| &**task);
            let tasks = tasks.filter(|task| filter.has(task));
            Ok(tasks.take(page(limit)).cloned().collect())
        })
        .await
    }

    async fn due_tasks(&self, by: Timestamp, limit: u32) -> Result<Vec<TaskRow>, ReadError> {
        self.read("due_tasks", |image| {
            let due = image.woken_tasks().into_iter();
            let due = due.filter(|task| task.wake_at <= Some(by));
            Ok(due.take(page(limit)).cloned().collect())
        })
        .await
    }

    async fn next_task_due(&self) -> Result<Option<Timestamp>, ReadError> {
        self.read("next_task_due", |image| {
            let first = image.woken_tasks().into_iter().next();
            Ok(first.and_then(|task| task.wake_at))
        })
        .await
    }

    async fn open_task_types(&self) -> Result<Vec<(String, Timestamp)>, ReadError> {
        self.read("open_task_types", |image| {
            let mut types: BTreeMap<String, Timestamp> = BTreeMap::new();
            let tasks = image.tasks.values();
            for task in tasks.filter(|task| task.status == TaskStatus::Pending) {
                let first = types.entry(task.task_type.clone());
                let first = first.or_insert(task.available_at);
                *first = (*first).min(task.available_at);
            }
            Ok(types.into_iter().collect())
        })
        .await
    }

    async fn task_tally(&self, max: u32) -> Result<Vec<(String, TaskStatus, u64)>, ReadError> {
        self.read("task_tally", |image| {
            let mut counts: BTreeMap<(String, TaskStatus), u64> = BTreeMap::new();
            for task in image.woken_tasks().into_iter().take(max as usize) {
                let group = (task.task_type.clone(), task.status);
                *counts.entry(group).or_default() += 1;
            }
            let counts = counts.into_iter();
            Ok(counts
                .map(|((kind, status), count)| (kind, status, count))
                .collect())
        })
        .await
    }

    async fn locked_tasks(&self, token: LockToken) -> Result<Vec<TaskRow>, ReadError> {
        self.read("locked_tasks", |image| {
            let tasks = image.tasks.values().map(|task| &**task);
            let tasks = tasks.filter(|task| task.token == Some(token));
            Ok(tasks.cloned().collect())
        })
        .await
    }
}
