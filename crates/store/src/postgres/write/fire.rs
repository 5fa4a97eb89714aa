//! Steps of triggers' plans, many in one statement: the state and the ledger. Their executions are
//! admitted with all others, if the state says that they were fired.

use std::collections::{HashMap, HashSet};

use refire_core::id::TriggerId;
use refire_core::time::Timestamp;
use tokio_postgres::{Error, Row};
use uuid::Uuid;

use super::advance::ids;
use super::ledger::{Extending, Ledger, Shares, with_ledger};
use super::link::{Link, Query, values};
use crate::postgres::columns::{signed, signed_small, uuid};
use crate::table::column::{Id, columns};
use crate::table::rows::{Slots, Stretches};
use crate::table::statement::statements;
use crate::{Admit, Fire, PartOutcome};

statements! {
    /// Whatever may keep an execution from being admitted is asked for here, too.
    FIRE: postgres(slots_kept, got_max, longer: Stretches, new: Slots, extending: Extending,
        shares: Shares, fires: Columns) = with_ledger!(
        "UPDATE trigger_state SET rev = trigger_state.rev + 1, cursor = given.cursor,
            due_at = CASE WHEN NOT given.by_hand OR (SELECT enabled FROM workflow_triggers
                 WHERE id = given.trigger) THEN given.due_at END, running = given.running, buffered = given.buffered,
            watched_from = given.watched_from, alarmed_at = given.alarmed_at,
            cycles = given.cycles, fired = given.execution,
            slots = CASE WHEN trigger_state.slots + given.slots > {got_max} THEN {slots_kept}
                ELSE trigger_state.slots + given.slots END
          FROM {fires}
         WHERE trigger_state.trigger = given.trigger
           AND trigger_state.trigger = ANY({fires.trigger}) AND trigger_state.rev = given.rev
           AND (SELECT (enabled OR given.by_hand) AND deleted_at IS NULL
                    AND version = given.version FROM workflow_triggers
                 WHERE id = given.trigger)
           AND (NOT given.is_new OR (
                (SELECT deleted_at IS NULL
                    AND (NOT given.only_newest OR version = given.workflow_version)
                   FROM workflows WHERE key = given.workflow)
                AND (SELECT true FROM executions WHERE id = given.execution) IS NULL))
        RETURNING trigger_state.trigger,
            given.slots > 0 AND trigger_state.slots = {slots_kept} AS is_cut"
    );
}

/// Where triggers stand, and whether they are enabled.
const STANDING: &str = "SELECT trigger_state.trigger, trigger_state.rev, workflow_triggers.version,
        workflow_triggers.enabled
      FROM trigger_state JOIN workflow_triggers ON workflow_triggers.id = trigger_state.trigger
     WHERE trigger_state.trigger = ANY($1::uuid[]) AND workflow_triggers.deleted_at IS NULL";

/// Fires of one statement. A join in it may cost the square of this.
const FIRES_MAX: usize = 128;

/// Fires of different triggers.
#[derive(Default)]
pub(super) struct Fires<'a> {
    parts: Vec<(usize, &'a Fire)>,
}

impl<'a> Fires<'a> {
    pub(super) fn push(&mut self, place: usize, fire: &'a Fire) {
        self.parts.push((place, fire));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// One statement for some of them, and one that tells where they stand afterwards. Their answers
    /// are for [`Self::read`].
    pub(super) fn queries(&mut self, link: &Link) -> Vec<Query<'a>> {
        self.parts.sort_unstable_by_key(|(_, fire)| fire.trigger);
        let mut queries = Vec::new();
        for parts in self.parts.chunks(FIRES_MAX) {
            queries.push(query(parts.iter().map(|(_, fire)| *fire), Some(link)));
        }
        if !self.parts.is_empty() {
            let triggers = self.parts.iter().map(|(_, fire)| fire.trigger);
            queries.push(standing(triggers));
        }
        queries
    }

    /// What became of the parts, except for those whose admission has the last word.
    pub(super) fn read(
        &self,
        answers: &mut impl Iterator<Item = Vec<Row>>,
        outcomes: &mut [Option<PartOutcome>],
    ) -> Result<(), Error> {
        let mut fired: HashSet<Uuid> = HashSet::new();
        for _ in self.parts.chunks(FIRES_MAX) {
            fired.extend(ids(&answers.next().unwrap_or_default())?);
        }
        let standing = match self.parts.is_empty() {
            true => Standing::new(),
            false => read_standing(&answers.next().unwrap_or_default())?,
        };
        for (place, fire) in &self.parts {
            let is_fired = fired.contains(&uuid(fire.trigger.as_bytes()));
            if !is_fired && !is_as_expected(fire, &standing) {
                outcomes[*place] = Some(PartOutcome::TriggerMoved);
            } else if fire.admission.is_none() {
                outcomes[*place] = Some(PartOutcome::Done);
            }
        }
        Ok(())
    }
}

/// By the trigger: the revision of its state, its version, and whether it is enabled.
type Standing = HashMap<Uuid, (i64, i32, bool)>;

/// Asks where triggers stand; for [`read_standing`].
fn standing<'a>(triggers: impl Iterator<Item = TriggerId>) -> Query<'a> {
    let triggers: Vec<Uuid> = triggers.map(|id| uuid(id.as_bytes())).collect();
    Query::new(STANDING, values![triggers])
}

fn read_standing(rows: &[Row]) -> Result<Standing, Error> {
    rows.iter()
        .map(|row| {
            let standing = (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
            Ok((row.try_get(0)?, standing))
        })
        .collect()
}

fn is_as_expected(fire: &Fire, standing: &Standing) -> bool {
    let found = standing.get(&uuid(fire.trigger.as_bytes()));
    found.is_some_and(|(rev, version, is_enabled)| {
        *rev == signed(fire.rev)
            && *version == signed_small(fire.version)
            && (*is_enabled || fire.by_hand)
    })
}

/// Whether a trigger stands as a fire expects it.
pub(super) async fn is_still(link: &mut Link, fire: &Fire) -> Result<bool, Error> {
    let rows = link.ask(standing(std::iter::once(fire.trigger))).await?;
    Ok(is_as_expected(fire, &read_standing(&rows)?))
}

/// A fire whose execution, if there is one, is admitted already.
pub(super) async fn fire(link: &mut Link, fire: &Fire) -> Result<bool, Error> {
    let fired = link.ask(query(std::iter::once(fire), None)).await?;
    Ok(!fired.is_empty())
}

/// Executions are asked about only where the connection that knows the workflows is given.
fn query<'a>(fires: impl Iterator<Item = &'a Fire>, link: Option<&Link>) -> Query<'a> {
    let (mut columns, mut ledger) = (Columns::default(), Ledger::default());
    for fire in fires {
        columns.push(fire, fire.admission.as_deref(), link);
        ledger.push(fire.trigger, fire.rev + 1, &fire.slots, fire.extends);
    }
    Query::of(&FIRE, [ledger.values(), columns.values()])
}

columns! {
    /// Fires, with the executions that are admitted by them.
    struct Columns(fire: &'a Fire, admit: Option<&'a Admit>, link: Option<&Link>) {
        trigger: Id = fire.trigger.into(),
        rev: i64 = signed(fire.rev),
        version: i32 = signed_small(fire.version),
        cursor: i64 = fire.state.cursor.as_micros(),
        due_at: Option<i64> = fire.state.due_at.map(Timestamp::as_micros),
        running: Option<Id> = fire.state.running.map(Id::from),
        buffered: Option<i64> = fire.state.buffered.map(Timestamp::as_micros),
        watched_from: Option<i64> = fire.state.watched_from.map(Timestamp::as_micros),
        alarmed_at: Option<i64> = fire.state.alarmed_at.map(Timestamp::as_micros),
        cycles: i64 = signed(fire.state.cycles),
        by_hand: bool = fire.by_hand,
        slots: i64 = signed(fire.slots.len() as u64),
        execution: Option<Id> = admit.map(|admit| admit.row.id.into()),
        is_new: bool = admit.is_some() && link.is_some(),
        workflow: Option<i64> = admit.and_then(|admit| link?.key(&admit.row.workflow)),
        workflow_version: Option<i32> = admit.map(|admit| signed_small(admit.row.workflow_version)),
        only_newest: bool = admit.is_some_and(|admit| admit.only_newest),
    }
}
