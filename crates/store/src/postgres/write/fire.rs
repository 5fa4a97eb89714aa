//! Steps of triggers' plans, many in one statement: the state and the ledger. Their executions are
//! admitted with all others, if the state says that they were fired.

use std::collections::{HashMap, HashSet};

use refire_core::id::TriggerId;
use tokio_postgres::{Error, Row};
use uuid::Uuid;

use super::advance::ids;
use super::ledger::{Ledger, id_of, with_ledger};
use super::link::{Link, Query, values};
use crate::postgres::columns::{signed, signed_small, uuid};
use crate::{Fire, PartOutcome};

/// Whatever may keep an execution from being admitted is asked for here, too.
const FIRE: &str = with_ledger!(
    "UPDATE trigger_state SET rev = trigger_state.rev + 1, cursor = given.cursor,
            due_at = given.due_at, running = given.running, buffered = given.buffered,
            watched_from = given.watched_from, alarmed_at = given.alarmed_at,
            fired = given.execution,
            slots = CASE WHEN trigger_state.slots + given.slots > $2 THEN $1
                ELSE trigger_state.slots + given.slots END
          FROM unnest($23::uuid[], $24::bigint[], $25::integer[], $26::bigint[], $27::bigint[],
                $28::uuid[], $29::bigint[], $30::bigint[], $31::bigint[], $32::bigint[],
                $33::uuid[], $34::boolean[], $35::bigint[], $36::integer[], $37::boolean[])
            AS given (trigger, rev, version, cursor, due_at, running, buffered, watched_from,
                alarmed_at, slots, execution, is_new, workflow, workflow_version, only_newest)
         WHERE trigger_state.trigger = given.trigger AND trigger_state.trigger = ANY($23)
           AND trigger_state.rev = given.rev
           AND (SELECT enabled AND version = given.version FROM workflow_triggers
                 WHERE id = given.trigger)
           AND (NOT given.is_new OR (
                (SELECT deleted_at IS NULL
                    AND (NOT given.only_newest OR version = given.workflow_version)
                   FROM workflows WHERE key = given.workflow)
                AND (SELECT true FROM executions WHERE id = given.execution) IS NULL))
        RETURNING trigger_state.trigger,
            given.slots > 0 AND trigger_state.slots = $1 AS is_cut"
);

/// Where enabled triggers stand.
const STANDING: &str = "SELECT trigger_state.trigger, trigger_state.rev, workflow_triggers.version
      FROM trigger_state JOIN workflow_triggers ON workflow_triggers.id = trigger_state.trigger
     WHERE trigger_state.trigger = ANY($1::uuid[]) AND workflow_triggers.enabled";

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

/// By the trigger: the revision of its state, and its version.
type Standing = HashMap<Uuid, (i64, i32)>;

/// Asks where triggers stand; for [`read_standing`].
fn standing<'a>(triggers: impl Iterator<Item = TriggerId>) -> Query<'a> {
    let triggers: Vec<Uuid> = triggers.map(|id| uuid(id.as_bytes())).collect();
    Query::new(STANDING, values![triggers])
}

fn read_standing(rows: &[Row]) -> Result<Standing, Error> {
    rows.iter()
        .map(|row| Ok((row.try_get(0)?, (row.try_get(1)?, row.try_get(2)?))))
        .collect()
}

fn is_as_expected(fire: &Fire, standing: &Standing) -> bool {
    let expected = (signed(fire.rev), signed_small(fire.version));
    standing.get(&uuid(fire.trigger.as_bytes())) == Some(&expected)
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
    let mut columns = Columns::default();
    for fire in fires {
        columns.push(fire, link);
    }
    columns.query()
}

/// Fires as columns.
#[derive(Default)]
struct Columns<'a> {
    trigger: Vec<Uuid>,
    rev: Vec<i64>,
    version: Vec<i32>,
    cursor: Vec<i64>,
    due_at: Vec<Option<i64>>,
    running: Vec<Option<Uuid>>,
    buffered: Vec<Option<i64>>,
    watched_from: Vec<Option<i64>>,
    alarmed_at: Vec<Option<i64>>,
    slots: Vec<i64>,
    execution: Vec<Option<Uuid>>,
    is_new: Vec<bool>,
    workflow: Vec<Option<i64>>,
    workflow_version: Vec<Option<i32>>,
    only_newest: Vec<bool>,
    ledger: Ledger<'a>,
}

impl<'a> Columns<'a> {
    fn push(&mut self, fire: &'a Fire, link: Option<&Link>) {
        let state = &fire.state;
        self.trigger.push(uuid(fire.trigger.as_bytes()));
        self.rev.push(signed(fire.rev));
        self.version.push(signed_small(fire.version));
        self.cursor.push(state.cursor.as_micros());
        self.due_at.push(state.due_at.map(|at| at.as_micros()));
        self.running.push(state.running.as_ref().map(id_of));
        self.buffered.push(state.buffered.map(|at| at.as_micros()));
        self.watched_from
            .push(state.watched_from.map(|at| at.as_micros()));
        self.alarmed_at
            .push(state.alarmed_at.map(|at| at.as_micros()));
        self.slots.push(signed(fire.slots.len() as u64));
        let row = fire.admission.as_ref().map(|admit| &admit.row);
        let only_newest = fire.admission.as_ref().map(|admit| admit.only_newest);
        self.execution.push(row.map(|row| id_of(&row.id)));
        self.is_new.push(row.is_some() && link.is_some());
        self.workflow
            .push(row.and_then(|row| link?.key(&row.workflow)));
        self.workflow_version
            .push(row.map(|row| signed_small(row.workflow_version)));
        self.only_newest.push(only_newest.unwrap_or(false));
        let rev = fire.rev + 1;
        self.ledger
            .push(fire.trigger, rev, &fire.slots, fire.extends);
    }

    fn query(self) -> Query<'a> {
        let mut values = self.ledger.values();
        values.extend(values![
            self.trigger,
            self.rev,
            self.version,
            self.cursor,
            self.due_at,
            self.running,
            self.buffered,
            self.watched_from,
            self.alarmed_at,
            self.slots,
            self.execution,
            self.is_new,
            self.workflow,
            self.workflow_version,
            self.only_newest,
        ]);
        Query::new(FIRE, values)
    }
}
