//! Steps of triggers' plans: the execution, the ledger and the state, or nothing of it.

use refire_core::id::{ExecutionId, TriggerId};
use rusqlite::{OptionalExtension, Result, params};

use super::Pen;
use crate::sqlite::columns::{count, signed};
use crate::trigger::{BACKFILLS_KEPT, SKIPS_KEPT, SLOTS_KEPT, SLOTS_SLACK, slot_seq};
use crate::{Fire, PartOutcome, Slot};

/// Where a trigger stands, as far as a step of its plan asks for it.
const STANDING: &str = "SELECT rev, slots,
         (SELECT version FROM workflow_triggers WHERE id = ?1 AND enabled = 1)
     FROM trigger_state WHERE trigger = ?1";

/// Removes what a share of a ledger has too much.
const CUT: &str = "DELETE FROM trigger_slots WHERE trigger = ?1 AND share = ?2 AND seq <=
     (SELECT seq FROM trigger_slots WHERE trigger = ?1 AND share = ?2
       ORDER BY seq DESC LIMIT 1 OFFSET ?3)";

/// The share of a ledger that a row belongs to.
const SHARE: &str = "(CASE WHEN status = 'skipped' AND reason IS NOT 'dst' THEN 1
     WHEN status = 'late' AND reason = 'backfill' THEN 2 ELSE 0 END)";

impl Pen<'_> {
    pub(super) fn fire(&mut self, fire: &Fire) -> Result<PartOutcome> {
        let standing: Option<(u64, u64, Option<u32>)> = self
            .prepare(STANDING)?
            .query_row([fire.trigger.as_bytes()], |row| {
                Ok((count(row, 0)?, count(row, 1)?, row.get(2)?))
            })
            .optional()?;
        let slots = match standing {
            Some((rev, slots, Some(version))) if rev == fire.rev && version == fire.version => {
                slots
            }
            _ => return Ok(PartOutcome::TriggerMoved),
        };
        if let Some(admit) = &fire.admission {
            let outcome = self.admit_rows(admit)?;
            if outcome != PartOutcome::Done {
                return Ok(outcome);
            }
        }
        let rev = fire.rev + 1;
        let slots = self.write_slots(fire.trigger, rev, (&fire.slots, fire.extends), slots)?;
        self.move_on(fire, slots)?;
        if let Some(admit) = &fire.admission {
            self.end_of(admit.row.id, admit.end.as_ref())?;
        }
        Ok(PartOutcome::Done)
    }

    /// Writes the plan. The ledger has got so many rows since it was cut.
    fn move_on(&self, fire: &Fire, slots: u64) -> Result<()> {
        let plan = &fire.plan;
        self.prepare(
            "UPDATE trigger_state SET rev = rev + 1, cursor = ?2, due_at = ?3, running = ?4,
                 buffered = ?5, watched_from = ?6, alarmed_at = ?7, fired = ?8, slots = ?9
             WHERE trigger = ?1",
        )?
        .execute(params![
            fire.trigger.as_bytes(),
            plan.cursor.map(|at| at.as_micros()),
            plan.due_at.map(|at| at.as_micros()),
            plan.running.as_ref().map(ExecutionId::as_bytes),
            plan.buffered.map(|at| at.as_micros()),
            plan.watched_from.map(|at| at.as_micros()),
            plan.alarmed_at.map(|at| at.as_micros()),
            fire.admission.as_ref().map(|admit| admit.row.id.as_bytes()),
            signed(slots),
        ])
        .map(drop)
    }

    /// Writes what the ledger gets with a revision of the state, and whether that goes on with the
    /// newest stretch. It has got so many rows since it was cut; the answer says how many then.
    pub(super) fn write_slots(
        &self,
        trigger: TriggerId,
        rev: u64,
        (slots, extends): (&[Slot], bool),
        written: u64,
    ) -> Result<u64> {
        let mut written = written + slots.len() as u64;
        if written > SLOTS_KEPT + SLOTS_SLACK {
            self.cut_ledger(trigger)?;
            written = SLOTS_KEPT;
        }
        let mut new = slots.iter().enumerate();
        if extends
            && let Some(first) = slots.first()
            && self.extend_newest(trigger, first)?
        {
            new.next();
        }
        for (place, slot) in new {
            self.insert_slot(trigger, slot_seq(rev, place), slot)?;
        }
        Ok(written)
    }

    /// Before the new rows come.
    fn cut_ledger(&self, trigger: TriggerId) -> Result<()> {
        let cut = CUT.replace("share", SHARE);
        for (share, kept) in (0_i64..).zip([SLOTS_KEPT, SKIPS_KEPT, BACKFILLS_KEPT]) {
            let values = params![trigger.as_bytes(), share, signed(kept)];
            self.prepare(&cut)?.execute(values)?;
        }
        Ok(())
    }

    /// Whether the newest row is a stretch that goes on with this one.
    fn extend_newest(&self, trigger: TriggerId, slot: &Slot) -> Result<bool> {
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
                slot.until.as_micros(),
                signed(slot.count),
                slot.at.as_micros(),
                slot.status.name(),
                slot.reason,
            ])?;
        Ok(rows == 1)
    }

    fn insert_slot(&self, trigger: TriggerId, seq: u64, slot: &Slot) -> Result<()> {
        self.prepare(
            "INSERT INTO trigger_slots
                 (trigger, seq, nominal, until, count, status, reason, execution, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            trigger.as_bytes(),
            signed(seq),
            slot.nominal.as_micros(),
            slot.until.as_micros(),
            signed(slot.count),
            slot.status.name(),
            slot.reason,
            slot.execution.as_ref().map(ExecutionId::as_bytes),
            slot.at.as_micros(),
        ])
        .map(drop)
    }
}
