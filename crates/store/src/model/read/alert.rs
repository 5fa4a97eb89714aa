//! Alerts, their rules, and silences.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use async_trait::async_trait;
use refire_core::alert::LongHeld;
use refire_core::definition::WorkflowId;
use refire_core::id::AlertId;
use refire_core::task::TaskStatus;
use refire_core::time::Timestamp;

use crate::alert::{AlertFilter, AlertRow, AlertRuleRow, Alerts, SilenceRow};
use crate::model::{Image, Model};
use crate::{LIMIT_MAX, ReadError};

#[async_trait]
impl Alerts for Model {
    async fn alert_rules(&self) -> Result<Vec<AlertRuleRow>, ReadError> {
        self.read("alert_rules", |image| {
            let rows = image.alert_rules.values();
            Ok(rows.map(|row| (**row).clone()).collect())
        })
        .await
    }

    async fn alert_states(&self) -> Result<Vec<AlertRow>, ReadError> {
        self.read("alert_states", |image| {
            Ok(image.alerts.values().map(|row| (**row).clone()).collect())
        })
        .await
    }

    async fn alerts(
        &self,
        filter: &AlertFilter,
        before: Option<AlertId>,
        limit: u32,
    ) -> Result<Vec<AlertRow>, ReadError> {
        self.read("alerts", |image| {
            let rows = image.alerts.values().filter(|row| filter.passes(row));
            let rows = rows.filter(|row| before.is_none_or(|before| row.alert.id < before));
            let mut rows: Vec<AlertRow> = rows.map(|row| (**row).clone()).collect();
            rows.sort_by_key(|row| Reverse(row.alert.id));
            rows.truncate(limit.min(LIMIT_MAX) as usize);
            Ok(rows)
        })
        .await
    }

    async fn alert(&self, id: AlertId) -> Result<Option<AlertRow>, ReadError> {
        self.read("alert", |image| {
            let mut rows = image.alerts.values();
            Ok(rows
                .find(|row| row.alert.id == id)
                .map(|row| (**row).clone()))
        })
        .await
    }

    async fn silences(&self) -> Result<Vec<SilenceRow>, ReadError> {
        self.read("silences", |image| {
            let mut rows: Vec<SilenceRow> =
                image.silences.values().map(|row| (**row).clone()).collect();
            rows.sort_by_key(|row| (Reverse(row.ends_at), row.id));
            Ok(rows)
        })
        .await
    }

    async fn held_longest(&self, looked_at: u32) -> Result<Vec<LongHeld>, ReadError> {
        self.read("held_longest", |image| {
            let mut oldest: BTreeMap<WorkflowId, Timestamp> = BTreeMap::new();
            for (workflow, since) in held(image, looked_at as usize) {
                let known = oldest.entry(workflow).or_insert(since);
                *known = since.min(*known);
            }
            let held = |(workflow, since)| LongHeld { workflow, since };
            Ok(oldest.into_iter().map(held).collect())
        })
        .await
    }
}

fn held(image: &Image, looked_at: usize) -> Vec<(WorkflowId, Timestamp)> {
    let mut tasks: Vec<_> = image
        .tasks
        .values()
        .filter(|it| it.wake_at.is_some())
        .collect();
    tasks.sort_by_key(|it| it.wake_at);
    let tasks = tasks.into_iter().take(looked_at);
    let tasks = tasks.filter(|it| it.status == TaskStatus::Locked);
    let tasks = tasks.filter_map(|it| Some((it.workflow.clone(), it.locked_at?)));
    let mut callbacks: Vec<_> = image.callbacks.values().collect();
    callbacks.retain(|it| it.wake_at.is_some());
    callbacks.sort_by_key(|it| it.wake_at);
    let callbacks = callbacks.into_iter().take(looked_at);
    let callbacks = callbacks.map(|it| (it.workflow.clone(), it.created_at));
    tasks.chain(callbacks).collect()
}
