//! Steps of triggers' plans: the execution, the ledger and the state, or nothing of it.

use refire_core::id::TriggerId;
use refire_core::trigger::ledger::{got, surplus};
use refire_core::trigger::{Entry, Outcome};
use rusqlite::{Result, params};

use super::Pen;
use super::trigger::Standing;
use crate::sqlite::columns::{count, outcome, signed};
use crate::table::rows::{Slots, Stretches};
use crate::table::statement::statements;
use crate::trigger::slot_seq;
use crate::{Fire, PartOutcome};

statements! {
    EXTEND: sqlite(slot: Stretches) =
        "UPDATE trigger_slots SET until = {slot.until}, count = count + {slot.count}, at = {slot.at}
     WHERE trigger = {slot.trigger}
       AND seq = (SELECT max(seq) FROM trigger_slots WHERE trigger = {slot.trigger})
       AND execution IS NULL AND status = {slot.status} AND reason IS {slot.reason}";

    INSERT: sqlite(slot: Slots) =
        "INSERT INTO trigger_slots ({slot.names}) VALUES ({slot.values})";
}

impl Pen<'_> {
    pub(super) fn fire(&mut self, fire: &Fire) -> Result<PartOutcome> {
        let standing = self.standing(fire.trigger)?;
        let is_planned_on = |standing: &Standing| {
            standing.state.rev == fire.rev
                && standing.version == Some(fire.version)
                && (standing.is_enabled || fire.by_hand)
        };
        let Some(mut standing) = standing.filter(is_planned_on) else {
            return Ok(PartOutcome::TriggerMoved);
        };
        if let Some(admit) = &fire.admission {
            let outcome = self.admit_rows(admit)?;
            if outcome != PartOutcome::Done {
                return Ok(outcome);
            }
        }
        standing.state = standing.state.moved_to(fire.state, standing.is_enabled);
        standing.fired = fire.admission.as_ref().map(|admit| admit.row.id);
        self.write_slots(fire.trigger, &mut standing, &fire.slots, fire.extends)?;
        self.put_standing(fire.trigger, &standing)?;
        self.append_notices(&fire.notices)?;
        if let Some(admit) = &fire.admission {
            self.end_of(admit.end.as_ref())?;
        }
        Ok(PartOutcome::Done)
    }

    /// Writes what the ledger gets with the revision that the trigger has now, and whether that goes on
    /// with the newest stretch.
    pub(super) fn write_slots(
        &mut self,
        trigger: TriggerId,
        standing: &mut Standing,
        slots: &[Entry],
        extends: bool,
    ) -> Result<()> {
        let (got, is_cut) = got(standing.slots, slots.len() as u64);
        standing.slots = got;
        if is_cut {
            self.cut_ledger(trigger)?;
        }
        let mut new = slots.iter().enumerate();
        if extends
            && let Some(first) = slots.first()
            && self.extend_newest(trigger, first)?
        {
            new.next();
        }
        for (place, slot) in new {
            self.insert_slot(trigger, slot_seq(standing.state.rev, place), slot)?;
        }
        Ok(())
    }

    /// Before the new rows come.
    fn cut_ledger(&self, trigger: TriggerId) -> Result<()> {
        let mut select = self.prepare(
            "SELECT seq, status, reason FROM trigger_slots WHERE trigger = ?1 ORDER BY seq DESC",
        )?;
        let rows = select.query_map([trigger.as_bytes()], |row| {
            // What cannot be read is cut with the others.
            Ok((count(row, 0)?, outcome(row, 1).unwrap_or(Outcome::Fired)))
        })?;
        let mut delete =
            self.prepare("DELETE FROM trigger_slots WHERE trigger = ?1 AND seq = ?2")?;
        for seq in surplus(rows.collect::<Result<Vec<_>>>()?) {
            delete.execute(params![trigger.as_bytes(), signed(seq)])?;
        }
        Ok(())
    }

    /// Whether the newest row is a stretch that goes on with this one.
    fn extend_newest(&mut self, trigger: TriggerId, slot: &Entry) -> Result<bool> {
        if slot.execution.is_some() {
            return Ok(false);
        }
        let rows = self.write(&EXTEND, |to| Stretches::bind(to, 1, trigger, slot))?;
        Ok(rows == 1)
    }

    fn insert_slot(&mut self, trigger: TriggerId, seq: u64, slot: &Entry) -> Result<()> {
        self.write(&INSERT, |to| Slots::bind(to, 1, trigger, seq, slot))
            .map(drop)
    }
}
