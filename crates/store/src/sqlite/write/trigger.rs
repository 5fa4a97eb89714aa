//! Triggers: made, changed, deleted, and what the end of an execution means for them.

use refire_core::id::{ExecutionId, TriggerId, WebhookId};
use rusqlite::{OptionalExtension, Result, params};

use super::{Pen, TRIGGERS_KNOWN_MAX};
use crate::checksum;
use crate::sqlite::columns::{count, signed};
use crate::{
    ChangeTrigger, CreateTrigger, NewState, PartOutcome, TriggerEnd, TriggerPlan, TriggerVersion,
};

impl Pen<'_> {
    pub(super) fn create_trigger(&mut self, create: &CreateTrigger) -> Result<PartOutcome> {
        let known = self.workflow(&create.workflow)?;
        let Some(known) = known.filter(|known| !known.is_deleted) else {
            return Ok(PartOutcome::NoSuchWorkflow);
        };
        let rows = self
            .prepare(
                "INSERT INTO workflow_triggers (id, workflow, kind, enabled, version, settings, crc,
                     secrets, webhook, created_at, updated_at)
                 VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8, ?9, ?9)
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![
                create.id.as_bytes(),
                known.key,
                create.kind.name(),
                create.enabled,
                create.settings,
                checksum::settings(create.id, &create.settings),
                create.secrets,
                create.webhook.as_ref().map(WebhookId::as_bytes),
                self.now.as_micros(),
            ])?;
        if rows == 0 {
            return Ok(PartOutcome::Conflict);
        }
        if let Some(plan) = &create.plan {
            self.insert_state(create.id, create.enabled, plan, 0)?;
        }
        Ok(PartOutcome::Done)
    }

    pub(super) fn change_trigger(&mut self, change: &ChangeTrigger) -> Result<PartOutcome> {
        let Some(version) = self.trigger_version(change.id)? else {
            return Ok(PartOutcome::NoSuchTrigger);
        };
        let known = self.workflow(&change.workflow)?;
        if change.enabled && known.is_none_or(|known| known.is_deleted) {
            return Ok(PartOutcome::NoSuchWorkflow);
        }
        let standing = self.rev_and_slots(change.id)?;
        let rev = standing.map_or(0, |(rev, _)| rev);
        let is_moved = |state: &NewState| state.rev != rev;
        if version != change.version || change.state.as_ref().is_some_and(is_moved) {
            return Ok(PartOutcome::TriggerMoved);
        }
        self.forget_trigger(change.id);
        self.prepare(
            "UPDATE workflow_triggers SET enabled = ?2, version = version + 1, settings = ?3,
                 crc = ?4, secrets = ?5, updated_at = ?6
             WHERE id = ?1",
        )?
        .execute(params![
            change.id.as_bytes(),
            change.enabled,
            change.settings,
            checksum::settings(change.id, &change.settings),
            change.secrets,
            self.now.as_micros(),
        ])?;
        match &change.state {
            Some(state) => self.change_state(change, state, standing.map(|(_, slots)| slots))?,
            None => self
                .prepare(
                    "UPDATE trigger_state SET rev = rev + 1,
                         due_at = CASE WHEN ?2 THEN due_at END
                     WHERE trigger = ?1",
                )?
                .execute(params![change.id.as_bytes(), change.enabled])
                .map(drop)?,
        }
        Ok(PartOutcome::Done)
    }

    /// What the ledger has got since it was cut is absent if there was no state yet.
    fn change_state(
        &self,
        change: &ChangeTrigger,
        state: &NewState,
        slots: Option<u64>,
    ) -> Result<()> {
        let rows = (&state.slots[..], state.extends);
        let written = self.write_slots(change.id, state.rev + 1, rows, slots.unwrap_or(0))?;
        match slots {
            Some(_) => self.update_state(change.id, change.enabled, &state.plan, written),
            None => self.insert_state(change.id, change.enabled, &state.plan, written),
        }
    }

    pub(super) fn delete_trigger(&mut self, id: TriggerId) -> Result<PartOutcome> {
        self.forget_trigger(id);
        let rows = self
            .prepare(
                "UPDATE workflow_triggers SET enabled = 0, version = version + 1, secrets = NULL,
                     updated_at = ?2, deleted_at = ?2
                 WHERE id = ?1 AND deleted_at IS NULL",
            )?
            .execute(params![id.as_bytes(), self.now.as_micros()])?;
        if rows == 0 {
            return Ok(PartOutcome::NoSuchTrigger);
        }
        self.prepare("DELETE FROM trigger_state WHERE trigger = ?1")?
            .execute([id.as_bytes()])?;
        Ok(PartOutcome::Done)
    }

    /// Whoever deletes a workflow keeps its triggers from starting it. Nobody waits for a success any more.
    pub(super) fn disable_triggers(&mut self, workflow: i64) -> Result<()> {
        // Rare enough to forget those of other workflows, too.
        self.memory.triggers.clear();
        self.prepare(
            "UPDATE trigger_state SET rev = rev + 1, due_at = NULL, watched_from = NULL,
                 alarmed_at = NULL
             WHERE trigger IN (SELECT id FROM workflow_triggers
                 WHERE workflow = ?1 AND enabled = 1 AND deleted_at IS NULL)",
        )?
        .execute([workflow])?;
        self.prepare(
            "UPDATE workflow_triggers SET enabled = 0, version = version + 1, updated_at = ?2
             WHERE workflow = ?1 AND enabled = 1 AND deleted_at IS NULL",
        )?
        .execute(params![workflow, self.now.as_micros()])
        .map(drop)
    }

    /// The version of a trigger that is not deleted.
    fn trigger_version(&self, id: TriggerId) -> Result<Option<u32>> {
        self.prepare("SELECT version FROM workflow_triggers WHERE id = ?1 AND deleted_at IS NULL")?
            .query_row([id.as_bytes()], |row| row.get(0))
            .optional()
    }

    /// Whether a trigger is enabled and what it was. Every request to a webhook asks this.
    pub(super) fn is_current(&mut self, trigger: &TriggerVersion) -> Result<bool> {
        if let Some(version) = self.memory.triggers.get(&trigger.id) {
            return Ok(*version == trigger.version);
        }
        let version: Option<u32> = self
            .prepare("SELECT version FROM workflow_triggers WHERE id = ?1 AND enabled = 1")?
            .query_row([trigger.id.as_bytes()], |row| row.get(0))
            .optional()?;
        if let Some(version) = version {
            let known = &mut self.memory.triggers;
            if known.len() >= TRIGGERS_KNOWN_MAX {
                known.clear();
            }
            known.insert(trigger.id, version);
        }
        Ok(version == Some(trigger.version))
    }

    /// The revision of a state, and what its ledger has got since it was cut.
    fn rev_and_slots(&self, id: TriggerId) -> Result<Option<(u64, u64)>> {
        self.prepare("SELECT rev, slots FROM trigger_state WHERE trigger = ?1")?
            .query_row([id.as_bytes()], |row| Ok((count(row, 0)?, count(row, 1)?)))
            .optional()
    }

    fn insert_state(
        &self,
        id: TriggerId,
        enabled: bool,
        plan: &TriggerPlan,
        slots: u64,
    ) -> Result<()> {
        self.prepare(
            "INSERT INTO trigger_state (trigger, rev, cursor, due_at, running, buffered,
                 watched_from, alarmed_at, slots)
             VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            id.as_bytes(),
            plan.cursor.map(|at| at.as_micros()),
            plan.due_at.filter(|_| enabled).map(|at| at.as_micros()),
            plan.running.as_ref().map(ExecutionId::as_bytes),
            plan.buffered.map(|at| at.as_micros()),
            plan.watched_from.map(|at| at.as_micros()),
            plan.alarmed_at.map(|at| at.as_micros()),
            signed(slots),
        ])
        .map(drop)
    }

    fn update_state(
        &self,
        id: TriggerId,
        enabled: bool,
        plan: &TriggerPlan,
        slots: u64,
    ) -> Result<()> {
        self.prepare(
            "UPDATE trigger_state SET rev = rev + 1, cursor = ?2, due_at = ?3, running = ?4,
                 buffered = ?5, watched_from = ?6, alarmed_at = ?7, slots = ?8
             WHERE trigger = ?1",
        )?
        .execute(params![
            id.as_bytes(),
            plan.cursor.map(|at| at.as_micros()),
            plan.due_at.filter(|_| enabled).map(|at| at.as_micros()),
            plan.running.as_ref().map(ExecutionId::as_bytes),
            plan.buffered.map(|at| at.as_micros()),
            plan.watched_from.map(|at| at.as_micros()),
            plan.alarmed_at.map(|at| at.as_micros()),
            signed(slots),
        ])
        .map(drop)
    }

    /// An execution that a trigger started has ended. Whoever waits for that looks at once, unless the
    /// trigger is disabled: a slot that was kept, or a person who was told that a success is missing. The
    /// revision grows with what was waited for and with the moment of the next look, each by one.
    pub(super) fn end_of(&self, execution: ExecutionId, end: Option<&TriggerEnd>) -> Result<()> {
        let Some(end) = end else { return Ok(()) };
        self.prepare(
            "UPDATE trigger_state SET
                 success_at = CASE WHEN ?3 THEN max(coalesce(success_at, ?4), ?4)
                     ELSE success_at END,
                 success_slot = CASE WHEN ?3 THEN max(coalesce(success_slot, ?5),
                     coalesce(?5, success_slot)) ELSE success_slot END,
                 rev = rev + (running IS ?2) + is_due, due_at = CASE WHEN is_due THEN ?6 ELSE due_at END,
                 running = CASE WHEN running = ?2 THEN NULL ELSE running END
              FROM (SELECT trigger AS ended,
                  ((buffered IS NOT NULL AND running IS ?2) OR (alarmed_at IS NOT NULL AND ?3))
                     AND (due_at IS NULL OR due_at > ?6)
                     AND EXISTS (SELECT 1 FROM workflow_triggers WHERE id = ?1 AND enabled = 1)
                     AS is_due
                  FROM trigger_state WHERE trigger = ?1)
             WHERE trigger = ended",
        )?
        .execute(params![
            end.trigger.as_bytes(),
            execution.as_bytes(),
            end.success,
            end.at.as_micros(),
            end.slot.map(|at| at.as_micros()),
            self.now.as_micros(),
        ])
        .map(drop)
    }
}
