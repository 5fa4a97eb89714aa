//! Triggers: made, changed, deleted, and what the end of an execution means for them.

use refire_core::id::{ExecutionId, TriggerId};
use refire_core::trigger::State;
use rusqlite::{OptionalExtension, Result, Statement, params};

use super::{Pen, TRIGGERS_KNOWN_MAX};
use crate::sqlite::columns::{signed, taken};
use crate::table::column::Id;
use crate::table::rows::{States, TriggerChanges, Triggers};
use crate::table::statement::statements;
use crate::{ChangeTrigger, CreateTrigger, NewState, PartOutcome, TriggerEnd, TriggerVersion};

/// Begins with the state, as all reads have it.
const STANDING: &str = "SELECT rev, cursor, due_at, running, buffered, watched_from, alarmed_at,
         success_at, success_slot, cycles, fired, slots,
         (SELECT version FROM workflow_triggers WHERE id = ?1 AND deleted_at IS NULL),
         (SELECT enabled FROM workflow_triggers WHERE id = ?1)
     FROM trigger_state WHERE trigger = ?1";

statements! {
    INSERT: sqlite(trigger: Triggers) =
        "INSERT INTO workflow_triggers ({trigger.names}) VALUES ({trigger.values})
     ON CONFLICT DO NOTHING";

    CHANGE: sqlite(change: TriggerChanges) =
        "UPDATE workflow_triggers SET {change.set!id}, version = version + 1
     WHERE id = {change.id}";

    PUT_STANDING: sqlite(state: States, fired, slots) =
        "REPLACE INTO trigger_state ({state.names}, fired, slots)
     VALUES ({state.values}, {fired}, {slots})";
}

/// Where a trigger stands.
#[derive(Default)]
pub(super) struct Standing {
    pub(super) state: State,
    /// The execution that its last step started.
    pub(super) fired: Option<ExecutionId>,
    /// What its ledger has got since it was cut.
    pub(super) slots: u64,
    /// Its version, unless it is deleted.
    pub(super) version: Option<u32>,
    pub(super) is_enabled: bool,
}

impl Pen<'_> {
    pub(super) fn create_trigger(&mut self, create: &CreateTrigger) -> Result<PartOutcome> {
        let known = self.workflow(&create.workflow)?;
        let Some(known) = known.filter(|known| !known.is_deleted) else {
            return Ok(PartOutcome::NoSuchWorkflow);
        };
        let now = self.now;
        let rows = self.write(&INSERT, |to| Triggers::bind(to, 1, known.key, create, now))?;
        if rows == 0 {
            return Ok(PartOutcome::Conflict);
        }
        if let Some(state) = create.state {
            let mut standing = Standing::default();
            standing.state = standing.state.moved_to(state, create.enabled);
            self.put_standing(create.id, &standing)?;
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
        let now = self.now;
        self.write(&CHANGE, |to| TriggerChanges::bind(to, 1, change, now))?;
        self.change_state(change, standing)?;
        Ok(PartOutcome::Done)
    }

    fn change_state(&mut self, change: &ChangeTrigger, standing: Option<Standing>) -> Result<()> {
        let new = change.state.as_ref().map(|new| new.state);
        let before = standing.as_ref().map(|standing| standing.state);
        let Some(planned) = new.or(before) else {
            return Ok(());
        };
        let mut standing = standing.unwrap_or_default();
        standing.state = standing.state.moved_to(planned, change.enabled);
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
        let disabled = self
            .prepare(
                "UPDATE workflow_triggers SET enabled = 0, version = version + 1, updated_at = ?2
                 WHERE workflow = ?1 AND enabled = 1 AND deleted_at IS NULL RETURNING id",
            )?
            .query_map([workflow, self.now.as_micros()], |row| {
                row.get(0).map(TriggerId::from_bytes)
            })?
            .collect::<Result<Vec<_>>>()?;
        for id in disabled {
            if let Some(mut standing) = self.standing(id)? {
                standing.state = standing.state.without_workflow();
                self.put_standing(id, &standing)?;
            }
        }
        Ok(())
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
                let (state, (fired, slots, (version, enabled))) = taken(row, 0)?;
                let is_enabled: Option<bool> = enabled;
                Ok(Standing {
                    state,
                    fired,
                    slots,
                    version,
                    is_enabled: is_enabled.unwrap_or(false),
                })
            })
            .optional()
    }

    pub(super) fn put_standing(&mut self, id: TriggerId, standing: &Standing) -> Result<()> {
        let bind = |to: &mut Statement<'_>| {
            let next = States::bind(to, 1, id.into(), &standing.state)?;
            to.raw_bind_parameter(next, standing.fired.map(Id::from))?;
            to.raw_bind_parameter(next + 1, signed(standing.slots))?;
            Ok(next)
        };
        self.write(&PUT_STANDING, bind).map(drop)
    }

    /// An execution that a trigger started has ended.
    pub(super) fn end_of(&mut self, end: Option<&TriggerEnd>) -> Result<()> {
        let Some(TriggerEnd { trigger, end }) = end else {
            return Ok(());
        };
        let Some(mut standing) = self.standing(*trigger)? else {
            return Ok(());
        };
        standing.state = standing.state.ended(*end, standing.is_enabled, self.now);
        self.put_standing(*trigger, &standing)
    }
}
