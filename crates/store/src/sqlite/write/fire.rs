//! Steps of triggers' plans: the execution, the ledger and the state, or nothing of it.

use refire_core::id::{ExecutionId, TriggerId};
use refire_core::trigger::ledger::{got, surplus};
use refire_core::trigger::{Entry, Outcome};
use rusqlite::{Result, params};

use super::Pen;
use super::trigger::Standing;
use crate::sqlite::columns::{count, outcome, signed};
use crate::trigger::slot_seq;
use crate::{Fire, PartOutcome};

impl Pen<'_> {
    pub(super) fn fire(&mut self, fire: &Fire) -> Result<PartOutcome> {
        let standing = self.standing(fire.trigger)?;
        let is_planned_on = |standing: &Standing| {
            standing.state.rev == fire.rev && standing.enabled == Some(fire.version)
        };
        let Some(standing) = standing.filter(is_planned_on) else {
            return Ok(PartOutcome::TriggerMoved);
        };
        if let Some(admit) = &fire.admission {
            let outcome = self.admit_rows(admit)?;
            if outcome != PartOutcome::Done {
                return Ok(outcome);
            }
        }
        let mut standing = standing.moved_to(fire.state, true);
        standing.fired = fire.admission.as_ref().map(|admit| admit.row.id);
        self.write_slots(fire.trigger, &mut standing, &fire.slots, fire.extends)?;
        self.put_standing(fire.trigger, &standing)?;
        if let Some(admit) = &fire.admission {
            self.end_of(admit.end.as_ref())?;
        }
        Ok(PartOutcome::Done)
    }

    /// Writes what the ledger gets with the revision that the trigger has now, and whether that goes on
    /// with the newest stretch.
    pub(super) fn write_slots(
        &self,
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
    fn extend_newest(&self, trigger: TriggerId, slot: &Entry) -> Result<bool> {
        if slot.execution.is_some() {
            return Ok(false);
        }
        let rows = self
            .prepare(
                "UPDATE trigger_slots SET until = ?2, count = count + ?3, at = ?4
                 WHERE trigger = ?1
                   AND seq = (SELECT max(seq) FROM trigger_slots WHERE trigger = ?1)
                   AND execution IS NULL AND status = ?5 AND reason IS ?6",
            )?
            .execute(params![
                trigger.as_bytes(),
                slot.to.as_micros(),
                signed(slot.count),
                slot.at.as_micros(),
                slot.outcome.status().name(),
                slot.outcome.reason(),
            ])?;
        Ok(rows == 1)
    }

    fn insert_slot(&self, trigger: TriggerId, seq: u64, slot: &Entry) -> Result<()> {
        self.prepare(
            "INSERT INTO trigger_slots
                 (trigger, seq, nominal, until, count, status, reason, execution, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            trigger.as_bytes(),
            signed(seq),
            slot.nominal.as_micros(),
            slot.to.as_micros(),
            signed(slot.count),
            slot.outcome.status().name(),
            slot.outcome.reason(),
            slot.execution.as_ref().map(ExecutionId::as_bytes),
            slot.at.as_micros(),
        ])
        .map(drop)
    }
}
