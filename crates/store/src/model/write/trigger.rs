//! Triggers: made, changed, deleted, fired, and what the end of an execution means for them.

use std::sync::Arc;

use refire_core::definition::WorkflowId;
use refire_core::id::TriggerId;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::trigger::Entry;
use refire_core::trigger::ledger::{got, surplus};

use super::{Failed, Pen};
use crate::model::change::Change;
use crate::model::image::{Standing, Told};
use crate::trigger::slot_seq;
use crate::{
    ChangeTrigger, CreateTrigger, Fire, NewState, PartOutcome, SlotRow, TriggerEnd, TriggerRow,
    TriggerVersion,
};

impl Pen<'_> {
    pub(super) fn create_trigger(&mut self, create: &CreateTrigger) -> PartOutcome {
        if !self.is_live(&create.workflow) {
            return PartOutcome::NoSuchWorkflow;
        }
        let has_address =
            |told: &Arc<Told>| create.webhook.is_some() && told.row.webhook == create.webhook;
        if self.image.triggers.contains_key(&create.id)
            || self.image.triggers.values().any(has_address)
        {
            return PartOutcome::Conflict;
        }
        let row = TriggerRow {
            id: create.id,
            workflow: create.workflow.clone(),
            kind: create.kind,
            enabled: create.enabled,
            version: 1,
            settings: create.settings.clone(),
            secrets: create.secrets.clone(),
            webhook: create.webhook,
            created_at: self.now,
            updated_at: self.now,
        };
        self.put_trigger(Told {
            row,
            deleted_at: None,
        });
        if let Some(state) = create.state {
            let mut standing = Standing::default();
            standing.state = standing.state.moved_to(state, create.enabled);
            self.put_state(create.id, Some(standing));
        }
        PartOutcome::Done
    }

    pub(super) fn change_trigger(&mut self, change: &ChangeTrigger) -> PartOutcome {
        let Some(row) = self.image.trigger(change.id) else {
            return PartOutcome::NoSuchTrigger;
        };
        if change.enabled && !self.is_live(&change.workflow) {
            return PartOutcome::NoSuchWorkflow;
        }
        let standing = self.standing(change.id);
        let rev = standing.as_ref().map_or(0, |standing| standing.state.rev);
        let is_moved = |state: &NewState| state.rev != rev;
        if row.version != change.version || change.state.as_ref().is_some_and(is_moved) {
            return PartOutcome::TriggerMoved;
        }
        let row = TriggerRow {
            enabled: change.enabled,
            version: row.version + 1,
            settings: change.settings.clone(),
            secrets: change.secrets.clone(),
            updated_at: self.now,
            ..row
        };
        self.put_trigger(Told {
            row,
            deleted_at: None,
        });
        self.change_state(change, standing);
        PartOutcome::Done
    }

    fn change_state(&mut self, change: &ChangeTrigger, standing: Option<Standing>) {
        let new = change.state.as_ref().map(|new| new.state);
        let before = standing.as_ref().map(|standing| standing.state);
        let Some(planned) = new.or(before) else {
            return;
        };
        let mut standing = standing.unwrap_or_default();
        standing.state = standing.state.moved_to(planned, change.enabled);
        if let Some(state) = &change.state {
            self.write_slots(&mut standing, change.id, &state.slots, state.extends);
        }
        self.put_state(change.id, Some(standing));
    }

    pub(super) fn delete_trigger(&mut self, id: TriggerId) -> PartOutcome {
        let Some(row) = self.image.trigger(id) else {
            return PartOutcome::NoSuchTrigger;
        };
        let row = TriggerRow {
            enabled: false,
            version: row.version + 1,
            secrets: None,
            updated_at: self.now,
            ..row
        };
        let deleted_at = Some(self.now);
        self.put_trigger(Told { row, deleted_at });
        self.put_state(id, None);
        PartOutcome::Done
    }

    /// Whoever deletes a workflow keeps its triggers from starting it.
    pub(super) fn disable_triggers(&mut self, workflow: &WorkflowId) {
        let all = self.image.triggers.values();
        let enabled: Vec<Arc<Told>> = all
            .filter(|told| told.row.workflow == *workflow && told.row.enabled)
            .cloned()
            .collect();
        for told in enabled {
            let mut told = (*told).clone();
            told.row.enabled = false;
            told.row.version += 1;
            told.row.updated_at = self.now;
            let id = told.row.id;
            self.put_trigger(told);
            if let Some(mut standing) = self.standing(id) {
                standing.state = standing.state.without_workflow();
                self.put_state(id, Some(standing));
            }
        }
    }

    /// Whether a trigger is enabled and what it was.
    pub(super) fn is_current(&self, trigger: TriggerVersion) -> bool {
        let told = self.image.triggers.get(&trigger.id);
        told.is_some_and(|told| told.row.enabled && told.row.version == trigger.version)
    }

    pub(super) fn fire(&mut self, fire: &Fire) -> Result<PartOutcome, Failed> {
        let told = self.image.trigger(fire.trigger);
        let is_enabled = told.as_ref().is_some_and(|row| row.enabled);
        let is_current =
            told.is_some_and(|row| row.version == fire.version) && (is_enabled || fire.by_hand);
        let standing = self.standing(fire.trigger);
        let is_planned_on = |standing: &Standing| standing.state.rev == fire.rev;
        #[cfg(feature = "planted")]
        let is_planned_on = |standing: &Standing| {
            let is_twice = fire.by_hand && planted::is(Defect::CycleTwice);
            is_twice || planted::is(Defect::FireUncompared) || is_planned_on(standing)
        };
        let standing = standing.filter(is_planned_on);
        let Some(mut standing) = standing.filter(|_| is_current) else {
            return Ok(PartOutcome::TriggerMoved);
        };
        if let Some(admit) = &fire.admission {
            let outcome = self.admit_rows(admit)?;
            if outcome != PartOutcome::Done {
                return Ok(outcome);
            }
        }
        standing.state = standing.state.moved_to(fire.state, is_enabled);
        self.write_slots(&mut standing, fire.trigger, &fire.slots, fire.extends);
        self.put_state(fire.trigger, Some(standing));
        self.append_notices(&fire.notices)?;
        if let Some(admit) = &fire.admission {
            self.end_of(admit.end);
        }
        Ok(PartOutcome::Done)
    }

    fn cut_ledger(&mut self, trigger: TriggerId) {
        let rows = self.image.ledger(trigger).rev();
        let gone = surplus(rows.map(|row| (row.seq, row.slot.outcome)));
        for seq in gone {
            self.change(Change::Slot((trigger, seq), None));
        }
    }

    /// What the ledger gets with the revision that the trigger has now.
    fn write_slots(
        &mut self,
        standing: &mut Standing,
        trigger: TriggerId,
        slots: &[Entry],
        extends: bool,
    ) {
        let (got, is_cut) = got(standing.slots, slots.len() as u64);
        standing.slots = got;
        if is_cut {
            self.cut_ledger(trigger);
        }
        let newest = self.image.ledger(trigger).next_back().copied();
        for (place, slot) in slots.iter().enumerate() {
            let row = match &newest {
                Some(newest) if place == 0 && extends && slot.goes_on_with(&newest.slot) => {
                    SlotRow {
                        slot: newest.slot.longer_by(slot),
                        ..*newest
                    }
                }
                _ => SlotRow {
                    seq: slot_seq(standing.state.rev, place),
                    slot: *slot,
                },
            };
            self.change(Change::Slot((trigger, row.seq), Some(Arc::new(row))));
        }
    }

    /// An execution that a trigger started has ended.
    pub(super) fn end_of(&mut self, end: Option<TriggerEnd>) {
        let Some(TriggerEnd { trigger, end }) = end else {
            return;
        };
        let Some(mut standing) = self.standing(trigger) else {
            return;
        };
        let told = self.image.triggers.get(&trigger);
        let is_enabled = told.is_some_and(|told| told.row.enabled);
        standing.state = standing.state.ended(end, is_enabled, self.now);
        self.put_state(trigger, Some(standing));
    }

    fn is_live(&self, workflow: &WorkflowId) -> bool {
        let known = self.image.workflows.get(workflow);
        known.is_some_and(|known| known.deleted_at.is_none())
    }

    fn standing(&self, id: TriggerId) -> Option<Standing> {
        self.image.trigger_states.get(&id).map(|it| (**it).clone())
    }

    fn put_state(&mut self, id: TriggerId, standing: Option<Standing>) {
        self.change(Change::TriggerState(id, standing.map(Arc::new)));
    }

    fn put_trigger(&mut self, told: Told) {
        self.change(Change::Trigger(told.row.id, Some(Arc::new(told))));
    }
}
