//! Triggers, where they stand, the ledger of their slots, and the requests to webhooks.

use refire_core::execution::TriggerKind;
use refire_core::id::{RequestId, TriggerId, WebhookId};
use refire_core::time::Timestamp;
use refire_core::trigger::State;

use super::page;
use crate::model::image::{Image, Told};
use crate::request::first_id_at;
use crate::{
    DueTrigger, RequestFilter, RequestRow, SlotRow, SlotStatus, TriggerFilter, TriggerRow,
};

impl Image {
    pub(in crate::model) fn trigger(&self, id: TriggerId) -> Option<TriggerRow> {
        let told = self.triggers.get(&id)?;
        told.deleted_at.is_none().then(|| told.row.clone())
    }

    pub(in crate::model) fn webhook(&self, id: WebhookId) -> Option<TriggerRow> {
        let mut live = self.live_triggers();
        live.find(|told| told.row.webhook == Some(id))
            .map(|told| told.row.clone())
    }

    fn live_triggers(&self) -> impl Iterator<Item = &Told> {
        let all = self.triggers.values().map(|told| &**told);
        all.filter(|told| told.deleted_at.is_none())
    }

    fn triggers_that<'a>(
        &'a self,
        filter: &'a TriggerFilter,
    ) -> impl Iterator<Item = &'a TriggerRow> {
        let rows = self.live_triggers().map(|told| &told.row);
        rows.filter(|row| {
            let of = filter.workflow.as_ref();
            of.is_none_or(|of| *of == row.workflow)
                && (filter.kinds.is_empty() || filter.kinds.contains(&row.kind))
                && filter.enabled.is_none_or(|enabled| enabled == row.enabled)
                && filter.is_alarmed.is_none_or(|asked| {
                    let state = self.trigger_states.get(&row.id);
                    let alarmed = state.and_then(|standing| standing.state.alarmed_at);
                    asked == alarmed.is_some()
                })
        })
    }

    pub(in crate::model) fn trigger_page(
        &self,
        filter: &TriggerFilter,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Vec<TriggerRow> {
        self.triggers_that(filter)
            .filter(|row| after.is_none_or(|after| row.id > after))
            .take(page(limit))
            .cloned()
            .collect()
    }

    pub(in crate::model) fn count_triggers(&self, filter: &TriggerFilter) -> u64 {
        self.triggers_that(filter).count() as u64
    }

    pub(in crate::model) fn trigger_state(&self, id: TriggerId) -> Option<State> {
        Some(self.trigger_states.get(&id)?.state)
    }

    pub(in crate::model) fn due_triggers(&self, by: Timestamp, limit: u32) -> Vec<DueTrigger> {
        let states = self.trigger_states.iter();
        let mut due: Vec<(Timestamp, DueTrigger)> = states
            .filter_map(|(id, standing)| {
                let due_at = standing.state.due_at.filter(|due_at| *due_at <= by)?;
                let due = DueTrigger {
                    row: self.triggers.get(id)?.row.clone(),
                    state: standing.state,
                };
                Some((due_at, due))
            })
            .collect();
        due.sort_by_key(|(due_at, due)| (*due_at, due.row.id));
        due.truncate(page(limit));
        due.into_iter().map(|(_, due)| due).collect()
    }

    pub(in crate::model) fn next_trigger_due(&self) -> Option<Timestamp> {
        let states = self.trigger_states.values();
        states.filter_map(|standing| standing.state.due_at).min()
    }

    /// A trigger's ledger, oldest first.
    pub(in crate::model) fn ledger(
        &self,
        trigger: TriggerId,
    ) -> impl DoubleEndedIterator<Item = &SlotRow> {
        let rows = self.slots.range((trigger, 0)..=(trigger, u64::MAX));
        rows.map(|(_, row)| &**row)
    }

    pub(in crate::model) fn slot_page(
        &self,
        trigger: TriggerId,
        statuses: &[SlotStatus],
        before: Option<u64>,
        limit: u32,
    ) -> Vec<SlotRow> {
        self.ledger(trigger)
            .rev()
            .filter(|row| before.is_none_or(|before| row.seq < before))
            .filter(|row| statuses.is_empty() || statuses.contains(&row.slot.outcome.status()))
            .take(page(limit))
            .cloned()
            .collect()
    }

    pub(in crate::model) fn slots_between(
        &self,
        trigger: TriggerId,
        from: Timestamp,
        to: Timestamp,
        limit: u32,
    ) -> Vec<SlotRow> {
        self.ledger(trigger)
            .filter(|row| row.slot.to >= from && row.slot.nominal < to)
            .take(page(limit))
            .cloned()
            .collect()
    }

    pub(in crate::model) fn request_page(
        &self,
        trigger: TriggerId,
        filter: &RequestFilter,
        before: Option<RequestId>,
        limit: u32,
    ) -> Vec<RequestRow> {
        let is_asked = |row: &&RequestRow| {
            row.trigger == trigger
                && before.is_none_or(|before| row.id < before)
                && (filter.statuses.is_empty() || filter.statuses.contains(&row.status))
                && filter.is_test.is_none_or(|test| test == row.is_test)
                && filter.from.is_none_or(|from| row.id >= first_id_at(from))
                && filter.to.is_none_or(|to| row.id < first_id_at(to))
        };
        let rows = self.requests.values().rev().map(|row| &**row);
        rows.filter(is_asked)
            .take(page(limit))
            .map(|row| RequestRow {
                body: None,
                ..row.clone()
            })
            .collect()
    }

    pub(in crate::model) fn requests_beyond(
        &self,
        newest: u32,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Vec<(TriggerId, Option<RequestId>)> {
        let webhooks = TriggerFilter {
            kinds: vec![TriggerKind::Webhook],
            ..TriggerFilter::default()
        };
        let beyond = |row: TriggerRow| {
            let own = self.requests.values().rev();
            let mut own = own.filter(|request| request.trigger == row.id);
            (row.id, own.nth(newest as usize).map(|request| request.id))
        };
        let rows = self.trigger_page(&webhooks, after, limit);
        rows.into_iter().map(beyond).collect()
    }

    pub(in crate::model) fn request(&self, id: RequestId) -> Option<RequestRow> {
        self.requests.get(&id).map(|row| (**row).clone())
    }
}
