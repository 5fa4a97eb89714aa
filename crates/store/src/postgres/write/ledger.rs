//! What the ledgers of triggers get, in the statement that moves their state on.

use refire_core::id::TriggerId;
use refire_core::trigger::ledger::{GOT_MAX, SLOTS_KEPT};
use refire_core::trigger::{Entry, Outcome};
use tokio_postgres::Error;

use super::link::{Link, Query, Value, values};
use crate::postgres::columns::signed;
use crate::table::column::{Foreign, Id, columns};
use crate::table::rows::{Slots, Stretches};
use crate::table::statement::statements;
use crate::trigger::slot_seq;

/// A statement that moves states on, with what their ledgers get. The part that is given tells the
/// triggers, and whether the ledger of each is cut, which is known from what it has got since the last
/// time. A ledger is cut before the new rows come.
macro_rules! with_ledger {
    ($moved:literal) => {
        concat!(
            "WITH moved AS (",
            $moved,
            "), cut AS (
        DELETE FROM trigger_slots USING (
            SELECT slot.trigger, slot.seq, given.kept, row_number() OVER (
                PARTITION BY slot.trigger, given.share ORDER BY slot.seq DESC) AS place
              FROM moved JOIN trigger_slots AS slot ON slot.trigger = moved.trigger
              JOIN {shares}
                ON given.status = slot.status AND given.reason IS NOT DISTINCT FROM slot.reason
             WHERE moved.is_cut
         ) AS old
         WHERE trigger_slots.trigger = old.trigger AND trigger_slots.seq = old.seq
           AND old.place > old.kept
     ), extended AS (
        UPDATE trigger_slots SET until = given.until, count = trigger_slots.count + given.count,
            at = given.at
          FROM {longer}
         WHERE trigger_slots.trigger = given.trigger
           AND trigger_slots.trigger = ANY({longer.trigger})
           AND trigger_slots.seq = (SELECT max(seq) FROM trigger_slots AS newest
                 WHERE newest.trigger = given.trigger)
           AND trigger_slots.execution IS NULL AND trigger_slots.status = given.status
           AND trigger_slots.reason IS NOT DISTINCT FROM given.reason
           AND (given.trigger IN (SELECT trigger FROM moved)) IS TRUE
        RETURNING trigger_slots.trigger
     ), written AS (
        INSERT INTO trigger_slots ({new.names}) SELECT {new.given} FROM {new+extending}
         WHERE (given.trigger IN (SELECT trigger FROM moved)) IS TRUE
           AND NOT (given.extends AND given.trigger IN (SELECT trigger FROM extended))
     )
     SELECT trigger FROM moved"
        )
    };
}
pub(super) use with_ledger;

statements! {
    /// For a state that has moved on already. The first parameters are [`Ledger::values`].
    WRITE: postgres(slots_kept, got_max, longer: Stretches, new: Slots, extending: Extending,
        shares: Shares, trigger, count) = with_ledger!(
        "UPDATE trigger_state SET slots = CASE WHEN slots + {count} > {got_max} THEN {slots_kept}
                ELSE slots + {count} END
         WHERE trigger = {trigger}
        RETURNING trigger, slots = {slots_kept} AS is_cut"
    );
}

/// Writes what the ledger of a trigger gets with the revision that its state has now.
pub(super) async fn write(
    link: &mut Link,
    (trigger, rev): (TriggerId, u64),
    slots: &[Entry],
    extends: bool,
) -> Result<(), Error> {
    if slots.is_empty() {
        return Ok(());
    }
    let mut ledger = Ledger::default();
    ledger.push(trigger, rev, slots, extends);
    let own = values![Id::from(trigger), signed(slots.len() as u64)];
    link.ask(Query::of(&WRITE, [ledger.values(), own])).await?;
    Ok(())
}

/// What ledgers get, as columns.
#[derive(Default)]
pub(super) struct Ledger<'a> {
    longer: Stretches<'a>,
    new: Slots<'a>,
    extending: Extending<'a>,
}

impl<'a> Ledger<'a> {
    /// What the ledger of a trigger gets with a revision of its state.
    pub(super) fn push(&mut self, trigger: TriggerId, rev: u64, slots: &'a [Entry], extends: bool) {
        for (place, slot) in slots.iter().enumerate() {
            let extends = place == 0 && extends && slot.execution.is_none();
            if extends {
                self.longer.push(trigger, slot);
            }
            self.new.push(trigger, slot_seq(rev, place), slot);
            self.extending.push(extends);
        }
    }

    /// The first parameters of a statement [`with_ledger`].
    pub(super) fn values(self) -> Vec<Value<'a>> {
        let mut values = values![signed(SLOTS_KEPT), signed(GOT_MAX)];
        values.extend(self.longer.values());
        values.extend(self.new.values());
        values.extend(self.extending.values());
        let mut shares = Shares::default();
        Outcome::ALL
            .into_iter()
            .for_each(|outcome| shares.push(outcome));
        values.extend(shares.values());
        values
    }
}

columns! {
    /// What is kept of each outcome, with its share.
    pub(super) struct Shares(outcome: Outcome) {
        status: &'static str = outcome.status().name(),
        reason: Option<Foreign<'static>> = outcome.reason().map(Foreign),
        share: i32 = outcome.share() as i32,
        kept: i64 = signed(outcome.share().kept()),
    }
}

columns! {
    /// Whether new rows may go on with the newest one instead.
    pub(super) struct Extending(extends: bool) {
        extends: bool = extends,
    }
}
