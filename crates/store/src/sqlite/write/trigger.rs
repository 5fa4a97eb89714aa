//! Triggers: made, changed, deleted, and what the end of an execution means for them.

use refire_core::id::{ExecutionId, TriggerId, WebhookId};
use refire_core::time::Timestamp;
use refire_core::trigger::State;
use rusqlite::{OptionalExtension, Result, params};

use super::{Pen, TRIGGERS_KNOWN_MAX};
use crate::checksum;
use crate::sqlite::columns::{signed, taken};
use crate::{ChangeTrigger, CreateTrigger, NewState, PartOutcome, TriggerEnd, TriggerVersion};

/// Begins with the state, as all reads have it.
const STANDING: &str = "SELECT rev, cursor, due_at, running, buffered, watched_from, alarmed_at,
         success_at, success_slot, fired, slots,
         (SELECT version FROM workflow_triggers WHERE id = ?1 AND enabled = 1)
     FROM trigger_state WHERE trigger = ?1";

const PUT_STANDING: &str = "REPLACE INTO trigger_state (trigger, rev, cursor, due_at, running,
         buffered, watched_from, alarmed_at, success_at, success_slot, fired, slots)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";

/// Where a trigger stands.
pub(super) struct Standing {
    pub(super) state: State,
    /// The execution that its last step started.
    pub(super) fired: Option<ExecutionId>,
    /// What its ledger has got since it was cut.
    pub(super) slots: u64,
    /// Its version, if it is enabled.
    pub(super) enabled: Option<u32>,
}

impl Standing {
    /// The first one of a trigger.
    fn new(state: State, enabled: bool) -> Self {
        let before = Self {
            state: State::default(),
            fired: None,
            slots: 0,
            enabled: None,
        };
        before.moved_to(state, enabled)
    }

    /// The next one.
    pub(super) fn moved_to(self, planned: State, enabled: bool) -> Self {
        let state = self.state.moved_to(planned, enabled);
        Self { state, ..self }
    }
}

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
        if let Some(state) = create.state {
            self.put_standing(create.id, &Standing::new(state, create.enabled))?;
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
        let standing = self.standing(change.id)?;
        let rev = standing.as_ref().map_or(0, |standing| standing.state.rev);
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
        self.change_state(change, standing)?;
        Ok(PartOutcome::Done)
    }

    fn change_state(&self, change: &ChangeTrigger, standing: Option<Standing>) -> Result<()> {
        let mut standing = match (standing, &change.state) {
            (Some(standing), Some(new)) => standing.moved_to(new.state, change.enabled),
            (Some(standing), None) => {
                let state = standing.state;
                standing.moved_to(state, change.enabled)
            }
            (None, Some(new)) => Standing::new(new.state, change.enabled),
            (None, None) => return Ok(()),
        };
        if let Some(new) = &change.state {
            self.write_slots(change.id, &mut standing, &new.slots, new.extends)?;
        }
        self.put_standing(change.id, &standing)
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

    /// Whoever deletes a workflow keeps its triggers from starting it.
    pub(super) fn disable_triggers(&mut self, workflow: i64) -> Result<()> {
        // Rare enough to forget those of other workflows, too.
        self.memory.triggers.clear();
        let enabled = self
            .prepare(
                "SELECT id FROM workflow_triggers
                 WHERE workflow = ?1 AND enabled = 1 AND deleted_at IS NULL",
            )?
            .query_map([workflow], |row| row.get(0).map(TriggerId::from_bytes))?
            .collect::<Result<Vec<_>>>()?;
        for id in enabled {
            if let Some(mut standing) = self.standing(id)? {
                standing.state = standing.state.without_workflow();
                self.put_standing(id, &standing)?;
            }
        }
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

    pub(super) fn standing(&self, id: TriggerId) -> Result<Option<Standing>> {
        self.prepare(STANDING)?
            .query_row([id.as_bytes()], |row| {
                let (state, (fired, slots, enabled)) = taken(row, 0)?;
                Ok(Standing {
                    state,
                    fired,
                    slots,
                    enabled,
                })
            })
            .optional()
    }

    pub(super) fn put_standing(&self, id: TriggerId, standing: &Standing) -> Result<()> {
        let state = &standing.state;
        self.prepare(PUT_STANDING)?
            .execute(params![
                id.as_bytes(),
                signed(state.rev),
                state.cursor.as_micros(),
                state.due_at.map(Timestamp::as_micros),
                state.running.as_ref().map(ExecutionId::as_bytes),
                state.buffered.map(Timestamp::as_micros),
                state.watched_from.map(Timestamp::as_micros),
                state.alarmed_at.map(Timestamp::as_micros),
                state.success_at.map(Timestamp::as_micros),
                state.success_slot.map(Timestamp::as_micros),
                standing.fired.as_ref().map(ExecutionId::as_bytes),
                signed(standing.slots),
            ])
            .map(drop)
    }

    /// An execution that a trigger started has ended.
    pub(super) fn end_of(&self, end: Option<&TriggerEnd>) -> Result<()> {
        let Some(TriggerEnd { trigger, end }) = end else {
            return Ok(());
        };
        let Some(mut standing) = self.standing(*trigger)? else {
            return Ok(());
        };
        standing.state = standing
            .state
            .ended(*end, standing.enabled.is_some(), self.now);
        self.put_standing(*trigger, &standing)
    }
}
