//! What the ledgers of triggers get, in the statement that moves their state on.

use std::sync::LazyLock;

use refire_core::id::{ExecutionId, TriggerId};
use refire_core::trigger::ledger::{GOT_MAX, SLOTS_KEPT};
use refire_core::trigger::{Entry, Outcome};
use tokio_postgres::Error;
use uuid::Uuid;

use super::arrays::{Parameter, columns, statement};
use super::link::{Link, Query, Value, values};
use crate::postgres::columns::{signed, uuid};
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
        INSERT INTO trigger_slots ({new.names!extends}) SELECT {new.given!extends} FROM {new}
         WHERE (given.trigger IN (SELECT trigger FROM moved)) IS TRUE
           AND NOT (given.extends AND given.trigger IN (SELECT trigger FROM extended))
     )
     SELECT trigger FROM moved"
        )
    };
}
pub(super) use with_ledger;

/// Such a statement, with parameters of its own behind those of [`Ledger::values`].
pub(super) fn ledger_statement(text: &str, own: Vec<Parameter>) -> String {
    let mut parameters = vec![
        Parameter::One("slots_kept"),
        Parameter::One("got_max"),
        Parameter::Arrays("longer", Stretches::COLUMNS),
        Parameter::Arrays("new", Slots::COLUMNS),
        Parameter::Arrays("shares", Shares::COLUMNS),
    ];
    parameters.extend(own);
    statement(text, &parameters)
}

/// For a state that has moved on already.
static WRITE: LazyLock<String> = LazyLock::new(|| {
    let text = with_ledger!(
        "UPDATE trigger_state SET slots = CASE WHEN slots + {count} > {got_max} THEN {slots_kept}
                ELSE slots + {count} END
         WHERE trigger = {trigger}
        RETURNING trigger, slots = {slots_kept} AS is_cut"
    );
    ledger_statement(
        text,
        vec![Parameter::One("trigger"), Parameter::One("count")],
    )
});

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
    let mut values = ledger.values();
    values.extend(values![
        uuid(trigger.as_bytes()),
        signed(slots.len() as u64)
    ]);
    link.ask(Query::new(&WRITE, values)).await?;
    Ok(())
}

/// What ledgers get, as columns.
#[derive(Default)]
pub(super) struct Ledger<'a> {
    longer: Stretches<'a>,
    new: Slots<'a>,
}

impl<'a> Ledger<'a> {
    /// What the ledger of a trigger gets with a revision of its state.
    pub(super) fn push(&mut self, trigger: TriggerId, rev: u64, slots: &'a [Entry], extends: bool) {
        let trigger = uuid(trigger.as_bytes());
        for (place, slot) in slots.iter().enumerate() {
            let extends = place == 0 && extends && slot.execution.is_none();
            if extends {
                self.longer.push(trigger, slot);
            }
            self.new.push(trigger, slot_seq(rev, place), slot, extends);
        }
    }

    /// The first parameters of a [`ledger_statement`].
    pub(super) fn values(self) -> Vec<Value<'a>> {
        let mut values = values![signed(SLOTS_KEPT), signed(GOT_MAX)];
        values.extend(self.longer.values());
        values.extend(self.new.values());
        let mut shares = Shares::default();
        Outcome::ALL
            .into_iter()
            .for_each(|outcome| shares.push(outcome));
        values.extend(shares.values());
        values
    }
}

pub(super) fn id_of(id: &ExecutionId) -> Uuid {
    uuid(id.as_bytes())
}

columns! {
    /// What is kept of each outcome, with its share.
    struct Shares(outcome: Outcome) {
        status: &'static str = outcome.status().name(),
        reason: Option<&'static [u8]> = outcome.reason().map(str::as_bytes),
        share: i32 = outcome.share() as i32,
        kept: i64 = signed(outcome.share().kept()),
    }
}

columns! {
    /// What may go on with the newest row of a ledger.
    struct Stretches(trigger: Uuid, slot: &'a Entry) {
        trigger: Uuid = trigger,
        until: i64 = slot.to.as_micros(),
        count: i64 = signed(slot.count),
        status: &'static str = slot.outcome.status().name(),
        reason: Option<&'a [u8]> = slot.outcome.reason().map(str::as_bytes),
        at: i64 = slot.at.as_micros(),
    }
}

columns! {
    /// New rows of ledgers.
    struct Slots(trigger: Uuid, seq: u64, slot: &'a Entry, extends: bool) {
        trigger: Uuid = trigger,
        seq: i64 = signed(seq),
        nominal: i64 = slot.nominal.as_micros(),
        until: i64 = slot.to.as_micros(),
        count: i64 = signed(slot.count),
        status: &'static str = slot.outcome.status().name(),
        reason: Option<&'a [u8]> = slot.outcome.reason().map(str::as_bytes),
        execution: Option<Uuid> = slot.execution.as_ref().map(id_of),
        at: i64 = slot.at.as_micros(),
        extends: bool = extends,
    }
}
