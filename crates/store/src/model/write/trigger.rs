//! Triggers: made, changed, deleted, fired, and what the end of an execution means for them.

use std::sync::Arc;

use refire_core::definition::WorkflowId;
use refire_core::id::{ExecutionId, TriggerId};
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};

use super::{Failed, Pen};
use crate::model::change::Change;
use crate::model::image::{Standing, Told};
use crate::trigger::{BACKFILLS_KEPT, SKIPS_KEPT, SLOTS_KEPT, SLOTS_SLACK, slot_seq};
use crate::{
    ChangeTrigger, CreateTrigger, Fire, NewState, PartOutcome, Slot, SlotRow, TriggerEnd,
    TriggerPlan, TriggerRow, TriggerState, TriggerVersion,
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
        if let Some(plan) = create.plan {
            self.leave_state(create.id, create.enabled, begun(plan));
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
        let mut standing = match (standing, &change.state) {
            (Some(mut standing), state) => {
                standing.state.rev += 1;
                standing.state.plan = state.as_ref().map_or(standing.state.plan, |it| it.plan);
                standing
            }
            (None, Some(state)) => begun(state.plan),
            (None, None) => return,
        };
        if let Some(state) = &change.state {
            self.write_slots(&mut standing, change.id, &state.slots, state.extends);
        }
        self.leave_state(change.id, change.enabled, standing);
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

    /// Whoever deletes a workflow keeps its triggers from starting it. Nobody waits for a success any more.
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
                standing.state.rev += 1;
                let plan = &mut standing.state.plan;
                (plan.due_at, plan.watched_from, plan.alarmed_at) = (None, None, None);
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
        let version = TriggerVersion {
            id: fire.trigger,
            version: fire.version,
        };
        let standing = self.standing(fire.trigger);
        let is_planned_on = |standing: &Standing| standing.state.rev == fire.rev;
        #[cfg(feature = "planted")]
        let is_planned_on =
            |standing: &Standing| planted::is(Defect::FireUncompared) || is_planned_on(standing);
        let standing = standing.filter(is_planned_on);
        let Some(mut standing) = standing.filter(|_| self.is_current(version)) else {
            return Ok(PartOutcome::TriggerMoved);
        };
        if let Some(admit) = &fire.admission {
            let outcome = self.admit_rows(admit)?;
            if outcome != PartOutcome::Done {
                return Ok(outcome);
            }
        }
        standing.state.rev += 1;
        standing.state.plan = fire.plan;
        self.write_slots(&mut standing, fire.trigger, &fire.slots, fire.extends);
        self.put_state(fire.trigger, Some(standing));
        if let Some(admit) = &fire.admission {
            self.end_of(admit.row.id, admit.end);
        }
        Ok(PartOutcome::Done)
    }

    fn cut_ledger(&mut self, trigger: TriggerId) {
        let mut room = [SLOTS_KEPT, SKIPS_KEPT, BACKFILLS_KEPT];
        let is_gone = |row: &&SlotRow| {
            let room = &mut room[row.slot.share()];
            let is_gone = *room == 0;
            *room = room.saturating_sub(1);
            is_gone
        };
        let rows = self.image.ledger(trigger).rev();
        let gone: Vec<u64> = rows.filter(is_gone).map(|row| row.seq).collect();
        for seq in gone {
            self.change(Change::Slot((trigger, seq), None));
        }
    }

    /// What the ledger gets with the revision that the trigger has now.
    fn write_slots(
        &mut self,
        standing: &mut Standing,
        trigger: TriggerId,
        slots: &[Slot],
        extends: bool,
    ) {
        standing.slots += slots.len() as u64;
        if standing.slots > SLOTS_KEPT + SLOTS_SLACK {
            self.cut_ledger(trigger);
            standing.slots = SLOTS_KEPT;
        }
        let newest = self.image.ledger(trigger).next_back().cloned();
        for (place, slot) in slots.iter().enumerate() {
            let row = match &newest {
                Some(newest) if place == 0 && extends && slot.extends(&newest.slot) => {
                    let mut longer = newest.clone();
                    longer.slot.until = slot.until;
                    longer.slot.count += slot.count;
                    longer.slot.at = slot.at;
                    longer
                }
                _ => SlotRow {
                    seq: slot_seq(standing.state.rev, place),
                    slot: slot.clone(),
                },
            };
            self.change(Change::Slot((trigger, row.seq), Some(Arc::new(row))));
        }
    }

    /// An execution that a trigger started has ended. Whoever waits for that looks at once, unless the
    /// trigger is disabled: a slot that was kept, or a person who was told that a success is missing.
    pub(super) fn end_of(&mut self, execution: ExecutionId, end: Option<TriggerEnd>) {
        let Some(end) = end else { return };
        let Some(mut standing) = self.standing(end.trigger) else {
            return;
        };
        let told = self.image.triggers.get(&end.trigger);
        let is_enabled = told.is_some_and(|told| told.row.enabled);
        let state = &mut standing.state;
        let was_waited_for = state.plan.running == Some(execution);
        let is_awaited = (was_waited_for && state.plan.buffered.is_some())
            || (end.success && state.plan.alarmed_at.is_some());
        if end.success {
            state.success_at = state.success_at.max(Some(end.at));
            state.success_slot = state.success_slot.max(end.slot);
        }
        let is_due = state.plan.due_at.is_some_and(|due| due <= self.now);
        if is_awaited && is_enabled && !is_due {
            state.plan.due_at = Some(self.now);
            state.rev += 1;
        }
        if was_waited_for {
            state.plan.running = None;
            state.rev += 1;
        }
        self.put_state(end.trigger, Some(standing));
    }

    fn is_live(&self, workflow: &WorkflowId) -> bool {
        let known = self.image.workflows.get(workflow);
        known.is_some_and(|known| known.deleted_at.is_none())
    }

    fn standing(&self, id: TriggerId) -> Option<Standing> {
        self.image.trigger_states.get(&id).map(|it| (**it).clone())
    }

    /// A disabled trigger is not due.
    fn leave_state(&mut self, id: TriggerId, enabled: bool, mut standing: Standing) {
        let due_at = standing.state.plan.due_at;
        standing.state.plan.due_at = due_at.filter(|_| enabled);
        self.put_state(id, Some(standing));
    }

    fn put_state(&mut self, id: TriggerId, standing: Option<Standing>) {
        self.change(Change::TriggerState(id, standing.map(Arc::new)));
    }

    fn put_trigger(&mut self, told: Told) {
        self.change(Change::Trigger(told.row.id, Some(Arc::new(told))));
    }
}

/// Where a trigger stands at first.
fn begun(plan: TriggerPlan) -> Standing {
    let state = TriggerState {
        rev: 1,
        plan,
        success_at: None,
        success_slot: None,
    };
    Standing { state, slots: 0 }
}
