//! What the ledgers of triggers get, in the statement that moves their state on.

use refire_core::id::{ExecutionId, TriggerId};
use refire_core::trigger::ledger::{GOT_MAX, SLOTS_KEPT};
use refire_core::trigger::{Entry, Outcome};
use tokio_postgres::Error;
use uuid::Uuid;

use super::link::{Link, Query, Value, values};
use crate::postgres::columns::{signed, uuid};
use crate::trigger::slot_seq;

/// A statement that moves states on, with what their ledgers get. The part that is given tells the
/// triggers, and whether the ledger of each is cut, which is known from what it has got since the last
/// time; its own parameters come after those of [`Ledger::values`], of which it uses the first two. A
/// ledger is cut before the new rows come.
macro_rules! with_ledger {
    ($moved:literal) => {
        concat!(
            "WITH moved AS (",
            $moved,
            "), cut AS (
        DELETE FROM trigger_slots USING (
            SELECT slot.trigger, slot.seq, outcome.kept, row_number() OVER (
                PARTITION BY slot.trigger, outcome.share ORDER BY slot.seq DESC) AS place
              FROM moved JOIN trigger_slots AS slot ON slot.trigger = moved.trigger
              JOIN unnest($19::text[], $20::bytea[], $21::integer[], $22::bigint[])
                AS outcome (status, reason, share, kept)
                ON outcome.status = slot.status
                AND outcome.reason IS NOT DISTINCT FROM slot.reason
             WHERE moved.is_cut
         ) AS old
         WHERE trigger_slots.trigger = old.trigger AND trigger_slots.seq = old.seq
           AND old.place > old.kept
     ), extended AS (
        UPDATE trigger_slots SET until = given.until, count = trigger_slots.count + given.count,
            at = given.at
          FROM unnest($3::uuid[], $4::bigint[], $5::bigint[], $6::text[], $7::bytea[],
                $8::bigint[]) AS given (trigger, until, count, status, reason, at)
         WHERE trigger_slots.trigger = given.trigger AND trigger_slots.trigger = ANY($3)
           AND trigger_slots.seq = (SELECT max(seq) FROM trigger_slots AS newest
                 WHERE newest.trigger = given.trigger)
           AND trigger_slots.execution IS NULL AND trigger_slots.status = given.status
           AND trigger_slots.reason IS NOT DISTINCT FROM given.reason
           AND (given.trigger IN (SELECT trigger FROM moved)) IS TRUE
        RETURNING trigger_slots.trigger
     ), written AS (
        INSERT INTO trigger_slots (trigger, seq, nominal, until, count, status, reason, execution,
            at)
        SELECT given.trigger, given.seq, given.nominal, given.until, given.count, given.status,
            given.reason, given.execution, given.at
          FROM unnest($9::uuid[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[],
                $14::text[], $15::bytea[], $16::uuid[], $17::bigint[], $18::boolean[])
            AS given (trigger, seq, nominal, until, count, status, reason, execution, at, extends)
         WHERE (given.trigger IN (SELECT trigger FROM moved)) IS TRUE
           AND NOT (given.extends AND given.trigger IN (SELECT trigger FROM extended))
     )
     SELECT trigger FROM moved"
        )
    };
}
pub(super) use with_ledger;

/// For a state that has moved on already.
const WRITE: &str = with_ledger!(
    "UPDATE trigger_state SET slots = CASE WHEN slots + $24 > $2 THEN $1 ELSE slots + $24 END
         WHERE trigger = $23
        RETURNING trigger, slots = $1 AS is_cut"
);

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
    link.ask(Query::new(WRITE, values)).await?;
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

    /// The first 22 parameters of a statement.
    pub(super) fn values(self) -> Vec<Value<'a>> {
        let mut values = values![signed(SLOTS_KEPT), signed(GOT_MAX)];
        values.extend(self.longer.values());
        values.extend(self.new.values());
        values.extend(shares());
        values
    }
}

/// What is kept of each outcome, with its share: four columns.
fn shares<'a>() -> Vec<Value<'a>> {
    let all = Outcome::ALL.map(|outcome| (outcome, outcome.share()));
    values![
        all.map(|(outcome, _)| outcome.status().name()).to_vec(),
        all.map(|(outcome, _)| outcome.reason().map(str::as_bytes))
            .to_vec(),
        all.map(|(_, share)| share as i32).to_vec(),
        all.map(|(_, share)| signed(share.kept())).to_vec(),
    ]
}

pub(super) fn id_of(id: &ExecutionId) -> Uuid {
    uuid(id.as_bytes())
}

/// What may go on with the newest row of a ledger.
#[derive(Default)]
struct Stretches<'a> {
    trigger: Vec<Uuid>,
    until: Vec<i64>,
    count: Vec<i64>,
    status: Vec<&'static str>,
    reason: Vec<Option<&'a [u8]>>,
    at: Vec<i64>,
}

impl<'a> Stretches<'a> {
    fn push(&mut self, trigger: Uuid, slot: &'a Entry) {
        self.trigger.push(trigger);
        self.until.push(slot.to.as_micros());
        self.count.push(signed(slot.count));
        self.status.push(slot.outcome.status().name());
        self.reason.push(slot.outcome.reason().map(str::as_bytes));
        self.at.push(slot.at.as_micros());
    }

    /// Six columns.
    fn values(self) -> Vec<Value<'a>> {
        values![
            self.trigger,
            self.until,
            self.count,
            self.status,
            self.reason,
            self.at,
        ]
    }
}

/// New rows of ledgers.
#[derive(Default)]
struct Slots<'a> {
    trigger: Vec<Uuid>,
    seq: Vec<i64>,
    nominal: Vec<i64>,
    until: Vec<i64>,
    count: Vec<i64>,
    status: Vec<&'static str>,
    reason: Vec<Option<&'a [u8]>>,
    execution: Vec<Option<Uuid>>,
    at: Vec<i64>,
    extends: Vec<bool>,
}

impl<'a> Slots<'a> {
    fn push(&mut self, trigger: Uuid, seq: u64, slot: &'a Entry, extends: bool) {
        self.trigger.push(trigger);
        self.seq.push(signed(seq));
        self.nominal.push(slot.nominal.as_micros());
        self.until.push(slot.to.as_micros());
        self.count.push(signed(slot.count));
        self.status.push(slot.outcome.status().name());
        self.reason.push(slot.outcome.reason().map(str::as_bytes));
        self.execution.push(slot.execution.as_ref().map(id_of));
        self.at.push(slot.at.as_micros());
        self.extends.push(extends);
    }

    /// Ten columns.
    fn values(self) -> Vec<Value<'a>> {
        values![
            self.trigger,
            self.seq,
            self.nominal,
            self.until,
            self.count,
            self.status,
            self.reason,
            self.execution,
            self.at,
            self.extends,
        ]
    }
}
