//! Triggers: made, changed and deleted, and what the end of executions means for them. The commit holds
//! the workflow's lock alone when a trigger changes, so that nobody admits by it meanwhile; where it
//! stands is locked before anything else.

use std::collections::BTreeMap;

use refire_core::id::TriggerId;
use refire_core::trigger::State;
use tokio_postgres::Row;
use uuid::Uuid;

use super::catalog::LIVE;
use super::link::{Link, Query, values};
use super::{Failed, Order, ledger};
use crate::batch::About;
use crate::column::read_at;
use crate::postgres::columns::{get, small, uuid};
use crate::table::rows::{States, TriggerChanges, Triggers};
use crate::table::statement::statements;
use crate::{Batch, ChangeTrigger, CreateTrigger, NewState, PartOutcome, TriggerEnd};

/// In the order of the keys, before an execution is locked: commits that meet never wait crosswise.
const LOCK: &str = "SELECT 1 FROM trigger_state WHERE trigger = ANY($1::uuid[]) ORDER BY trigger
    FOR NO KEY UPDATE";

const VERSION: &str =
    "SELECT version FROM workflow_triggers WHERE id = $1 AND deleted_at IS NULL FOR UPDATE";

const DELETE: &str = "UPDATE workflow_triggers SET enabled = false, version = version + 1,
        secrets = NULL, updated_at = $2, deleted_at = $2
     WHERE id = $1 AND deleted_at IS NULL RETURNING 1";

const DELETE_STATE: &str = "DELETE FROM trigger_state WHERE trigger = $1";

const DISABLE: &str = "UPDATE workflow_triggers SET enabled = false, version = version + 1,
        updated_at = $2
     WHERE workflow = $1 AND enabled AND deleted_at IS NULL
    RETURNING id";

/// Where triggers stand, as all reads have it, and whether they are enabled.
const STATES: &str = "SELECT rev, cursor, due_at, running, buffered, watched_from, alarmed_at,
        success_at, success_slot, cycles,
        coalesce((SELECT enabled FROM workflow_triggers WHERE id = trigger_state.trigger), false),
        trigger
      FROM trigger_state WHERE trigger = ANY($1::uuid[])";

statements! {
    INSERT: postgres(triggers: Triggers) =
        "INSERT INTO workflow_triggers ({triggers.names}) SELECT * FROM {triggers}
    ON CONFLICT DO NOTHING RETURNING 1";

    CHANGE: postgres(change: TriggerChanges) =
        "UPDATE workflow_triggers SET {change.set!id}, version = version + 1 FROM {change}
     WHERE workflow_triggers.id = given.id AND workflow_triggers.id = ANY({change.id})";

    PUT_STATES: postgres(states: States) =
        "INSERT INTO trigger_state ({states.names}) SELECT * FROM {states}
    ON CONFLICT (trigger) DO UPDATE SET {states.replaced!trigger}";
}

/// Locks the state of every trigger that a batch is about, unless one statement changes all of them
/// before it does anything else.
pub(super) fn lock(batch: &Batch, is_one_group: bool) -> Option<Query<'_>> {
    let mut triggers: Vec<Uuid> = Vec::new();
    let mut is_needed = !is_one_group;
    for part in &batch.parts {
        let About { trigger, end, .. } = part.about();
        is_needed |= end.is_some();
        let named = trigger.into_iter().chain(end.map(|end| end.trigger));
        triggers.extend(named.map(|id| uuid(id.as_bytes())));
    }
    if triggers.is_empty() || !is_needed {
        return None;
    }
    triggers.sort_unstable();
    triggers.dedup();
    Some(Query::new(LOCK, values![triggers]))
}

pub(super) async fn create(
    link: &mut Link,
    order: &Order,
    create: &CreateTrigger,
) -> Result<PartOutcome, Failed> {
    let live = Query::new(LIVE, values![create.workflow.as_str()]);
    let live = link.ask(live).await?;
    let Some(row) = live.first() else {
        return Ok(PartOutcome::NoSuchWorkflow);
    };
    let mut triggers = Triggers::default();
    triggers.push(get(row, 0)?, create, order.now);
    let insert = Query::new(&INSERT, triggers.values());
    if link.ask(insert).await?.is_empty() {
        return Ok(PartOutcome::Conflict);
    }
    if let Some(state) = create.state {
        put_state(link, create.id, State::default(), state, create.enabled).await?;
    }
    Ok(PartOutcome::Done)
}

pub(super) async fn change(
    link: &mut Link,
    order: &Order,
    change: &ChangeTrigger,
) -> Result<PartOutcome, Failed> {
    let id = uuid(change.id.as_bytes());
    let version = link.ask(Query::new(VERSION, values![id])).await?;
    let Some(version) = version.first() else {
        return Ok(PartOutcome::NoSuchTrigger);
    };
    let live = Query::new(LIVE, values![change.workflow.as_str()]);
    if change.enabled && link.ask(live).await?.is_empty() {
        return Ok(PartOutcome::NoSuchWorkflow);
    }
    let rows = link.ask(states_of([change.id])).await?;
    let before: Option<State> = rows.first().map(|row| read_at(row, 0)).transpose()?;
    let is_moved = |new: &NewState| new.rev != before.map_or(0, |before| before.rev);
    if small(version, 0)? != change.version || change.state.as_ref().is_some_and(is_moved) {
        return Ok(PartOutcome::TriggerMoved);
    }
    let mut changes = TriggerChanges::default();
    changes.push(change, order.now);
    link.ask(Query::new(&CHANGE, changes.values())).await?;
    let planned = change.state.as_ref().map(|new| new.state).or(before);
    if let Some(planned) = planned {
        let before = before.unwrap_or_default();
        put_state(link, change.id, before, planned, change.enabled).await?;
    }
    if let Some(new) = &change.state {
        let now = (change.id, new.rev + 1);
        ledger::write(link, now, &new.slots, new.extends).await?;
    }
    Ok(PartOutcome::Done)
}

async fn put_state(
    link: &mut Link,
    id: TriggerId,
    before: State,
    planned: State,
    enabled: bool,
) -> Result<(), Failed> {
    let state = before.moved_to(planned, enabled);
    let put = put_states([(uuid(id.as_bytes()), state)]);
    link.ask(put).await?;
    Ok(())
}

fn states_of<'a>(triggers: impl IntoIterator<Item = TriggerId>) -> Query<'a> {
    let triggers = triggers.into_iter().map(|id| uuid(id.as_bytes()));
    Query::new(STATES, values![triggers.collect::<Vec<Uuid>>()])
}

fn put_states<'a>(states: impl IntoIterator<Item = (Uuid, State)>) -> Query<'a> {
    let mut columns = States::default();
    for (trigger, state) in states {
        columns.push(trigger.into(), &state);
    }
    Query::new(&PUT_STATES, columns.values())
}

pub(super) async fn delete(
    link: &mut Link,
    order: &Order,
    id: TriggerId,
) -> Result<PartOutcome, Failed> {
    let id = uuid(id.as_bytes());
    let deleted = Query::new(DELETE, values![id, order.now.as_micros()]);
    if link.ask(deleted).await?.is_empty() {
        return Ok(PartOutcome::NoSuchTrigger);
    }
    link.ask(Query::new(DELETE_STATE, values![id])).await?;
    Ok(PartOutcome::Done)
}

/// Whoever deletes a workflow keeps its triggers from starting it.
pub(super) async fn disable(link: &mut Link, order: &Order, workflow: i64) -> Result<(), Failed> {
    let values = values![workflow, order.now.as_micros()];
    let disabled = link.ask(Query::new(DISABLE, values)).await?;
    let mut ids: Vec<Uuid> = disabled
        .iter()
        .map(|row| get(row, 0))
        .collect::<Result<_, _>>()?;
    if ids.is_empty() {
        return Ok(());
    }
    ids.sort_unstable();
    link.ask(Query::new(LOCK, values![ids.clone()])).await?;
    let mut states = Vec::new();
    for row in link.ask(Query::new(STATES, values![ids])).await? {
        let (state, _, trigger): (State, bool, TriggerId) = read_at(&row, 0)?;
        states.push((uuid(trigger.as_bytes()), state.without_workflow()));
    }
    link.ask(put_states(states)).await?;
    Ok(())
}

/// Ends of executions, which their triggers are told: what they stand at is read, and written again.
/// That takes a way there and back more, so that the rule is core's. The commit has locked the states.
#[derive(Default)]
pub(super) struct Ends {
    /// Each with the place of the part that it comes with.
    ends: Vec<(usize, TriggerEnd)>,
}

impl Ends {
    pub(super) fn push(&mut self, place: usize, end: Option<TriggerEnd>) {
        self.ends.extend(end.map(|end| (place, end)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn is_about(&self, trigger: TriggerId) -> bool {
        self.ends.iter().any(|(_, end)| end.trigger == trigger)
    }

    /// Its answer is for [`Self::tell`].
    pub(super) fn query<'a>(&self) -> Query<'a> {
        states_of(self.ends.iter().map(|(_, end)| end.trigger))
    }

    /// What is to be written; ends of parts that were refused are none.
    pub(super) fn tell<'a>(
        &self,
        order: &Order,
        rows: &[Row],
        outcomes: &[Option<PartOutcome>],
    ) -> Result<Option<Query<'a>>, Failed> {
        let mut states = BTreeMap::new();
        for row in rows {
            let (state, enabled, trigger): (State, bool, TriggerId) = read_at(row, 0)?;
            states.insert(uuid(trigger.as_bytes()), (state, enabled));
        }
        for (place, TriggerEnd { trigger, end }) in &self.ends {
            let known = states.get_mut(&uuid(trigger.as_bytes()));
            if let Some((state, enabled)) = known
                && outcomes[*place] == Some(PartOutcome::Done)
            {
                *state = state.ended(*end, *enabled, order.now);
            }
        }
        let states = states.into_iter();
        let states: Vec<_> = states.map(|(id, (state, _))| (id, state)).collect();
        Ok((!states.is_empty()).then(|| put_states(states)))
    }
}

/// The trigger is told of an end that stands alone.
pub(super) async fn end_of(
    link: &mut Link,
    order: &Order,
    end: Option<TriggerEnd>,
) -> Result<(), Failed> {
    let mut ends = Ends::default();
    ends.push(0, end);
    if !ends.is_empty() {
        let rows = link.ask(ends.query()).await?;
        if let Some(put) = ends.tell(order, &rows, &[Some(PartOutcome::Done)])? {
            link.ask(put).await?;
        }
    }
    Ok(())
}
