//! Triggers, where they stand, and the ledger of their slots.

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::id::{ScheduledTaskId, TriggerId, WebhookId};
use refire_core::time::Timestamp;
use refire_core::trigger::State;

use super::page;
use crate::model::Model;
use crate::model::image::Image;
use crate::{DueTrigger, ReadError, SlotFilter, SlotRow, TriggerFilter, TriggerRow, Triggers};

#[async_trait]
impl Triggers for Model {
    async fn trigger(&self, id: TriggerId) -> Result<Option<TriggerRow>, ReadError> {
        self.read("trigger", |image| Ok(image.trigger(id))).await
    }

    async fn webhook(&self, id: WebhookId) -> Result<Option<TriggerRow>, ReadError> {
        self.read("webhook", |image| {
            let mut live = image.live_triggers();
            Ok(live.find(|row| row.webhook == Some(id)).cloned())
        })
        .await
    }

    async fn triggers(
        &self,
        filter: &TriggerFilter,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<TriggerRow>, ReadError> {
        self.read("triggers", |image| {
            let rows = image.triggers_that(filter, after);
            Ok(rows.take(page(limit)).cloned().collect())
        })
        .await
    }

    async fn count_triggers(&self, filter: &TriggerFilter) -> Result<u64, ReadError> {
        self.read("count_triggers", |image| {
            Ok(image.triggers_that(filter, None).count() as u64)
        })
        .await
    }

    async fn trigger_state(&self, id: TriggerId) -> Result<Option<State>, ReadError> {
        self.read("trigger_state", |image| {
            Ok(image.trigger_states.get(&id).map(|standing| standing.state))
        })
        .await
    }

    async fn due_triggers(&self, by: Timestamp, limit: u32) -> Result<Vec<DueTrigger>, ReadError> {
        self.read("due_triggers", |image| {
            let states = image.trigger_states.iter();
            let mut due: Vec<(Timestamp, DueTrigger)> = states
                .filter_map(|(id, standing)| {
                    let due_at = standing.state.due_at.filter(|due_at| *due_at <= by)?;
                    let due = DueTrigger {
                        row: image.triggers.get(id)?.row.clone(),
                        state: standing.state,
                    };
                    Some((due_at, due))
                })
                .collect();
            due.sort_by_key(|(due_at, due)| (*due_at, due.row.id));
            due.truncate(page(limit));
            Ok(due.into_iter().map(|(_, due)| due).collect())
        })
        .await
    }

    async fn next_trigger_due(&self) -> Result<Option<Timestamp>, ReadError> {
        self.read("next_trigger_due", |image| {
            let states = image.trigger_states.values();
            Ok(states.filter_map(|standing| standing.state.due_at).min())
        })
        .await
    }

    async fn standing_triggers(
        &self,
        workflow: &WorkflowId,
        limit: u32,
    ) -> Result<Vec<DueTrigger>, ReadError> {
        self.read("standing_triggers", |image| {
            let enabled = image.live_triggers().filter(|row| row.enabled);
            let rows = enabled.filter(|row| row.workflow == *workflow);
            let standing = rows.filter_map(|row| {
                Some(DueTrigger {
                    row: row.clone(),
                    state: image.trigger_states.get(&row.id)?.state,
                })
            });
            Ok(standing.take(page(limit)).collect())
        })
        .await
    }

    async fn slots(
        &self,
        trigger: TriggerId,
        filter: &SlotFilter,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<SlotRow>, ReadError> {
        self.read("slots", |image| {
            let rows = image.ledger(trigger).rev().filter(|row| {
                before.is_none_or(|before| row.seq < before) && filter.passes(&row.slot)
            });
            Ok(rows.take(page(limit)).copied().collect())
        })
        .await
    }

    async fn slots_between(
        &self,
        trigger: TriggerId,
        from: Timestamp,
        to: Timestamp,
        limit: u32,
    ) -> Result<Vec<SlotRow>, ReadError> {
        self.read("slots_between", |image| {
            let rows = image.ledger(trigger);
            let rows = rows.filter(|row| row.slot.to >= from && row.slot.nominal < to);
            Ok(rows.take(page(limit)).copied().collect())
        })
        .await
    }
}

impl Image {
    pub(in crate::model) fn trigger(&self, id: TriggerId) -> Option<TriggerRow> {
        let told = self.triggers.get(&id)?;
        told.deleted_at.is_none().then(|| told.row.clone())
    }

    pub(super) fn live_triggers(&self) -> impl Iterator<Item = &TriggerRow> {
        let live = self
            .triggers
            .values()
            .filter(|told| told.deleted_at.is_none());
        live.map(|told| &told.row)
    }

    /// Those after this one that pass a filter.
    pub(super) fn triggers_that(
        &self,
        filter: &TriggerFilter,
        after: Option<TriggerId>,
    ) -> impl Iterator<Item = &TriggerRow> {
        let rows = self.live_triggers();
        let rows = rows.filter(move |row| after.is_none_or(|after| row.id > after));
        let is_listed = |row: &&TriggerRow| {
            let task = ScheduledTaskId::from_bytes(*row.id.as_bytes());
            filter.workflow.is_some() || !self.scheduled.contains_key(&task)
        };
        rows.filter(is_listed).filter(|row| {
            let state = self.trigger_states.get(&row.id);
            let alarmed = state.and_then(|standing| standing.state.alarmed_at);
            filter.passes(row, alarmed.is_some())
        })
    }

    /// A trigger's ledger, oldest first.
    pub(in crate::model) fn ledger(
        &self,
        trigger: TriggerId,
    ) -> impl DoubleEndedIterator<Item = &SlotRow> {
        let rows = self.slots.range((trigger, 0)..=(trigger, u64::MAX));
        rows.map(|(_, row)| &**row)
    }
}
