//! Triggers: made, changed and deleted, and what the end of executions means for them. The commit holds
//! the workflow's lock alone when a trigger changes, so that nobody admits by it meanwhile; where it
//! stands is locked before anything else.

use refire_core::id::{ExecutionId, TriggerId, WebhookId};
use refire_core::time::Timestamp;
use uuid::Uuid;

use super::catalog::LIVE;
use super::link::{Link, Query, values};
use super::{Failed, Order, ledger};
use crate::checksum;
use crate::postgres::columns::{count, get, signed, small, uuid};
use crate::{
    Batch, ChangeTrigger, CreateTrigger, NewState, Part, PartOutcome, TriggerEnd, TriggerPlan,
};

/// In the order of the keys, before an execution is locked: commits that meet never wait crosswise.
const LOCK: &str = "SELECT 1 FROM trigger_state WHERE trigger = ANY($1::uuid[]) ORDER BY trigger
    FOR NO KEY UPDATE";

const INSERT: &str =
    "INSERT INTO workflow_triggers (id, workflow, kind, enabled, version, settings,
        crc, secrets, webhook, created_at, updated_at)
    VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $8, $9, $9)
    ON CONFLICT DO NOTHING RETURNING 1";

const INSERT_STATE: &str = "INSERT INTO trigger_state (trigger, rev, cursor, due_at, running,
        buffered, watched_from, alarmed_at)
    VALUES ($1, 1, $2, $3, $4, $5, $6, $7)";

const VERSION: &str =
    "SELECT version FROM workflow_triggers WHERE id = $1 AND deleted_at IS NULL FOR UPDATE";

const REV: &str = "SELECT rev FROM trigger_state WHERE trigger = $1 FOR NO KEY UPDATE";

const CHANGE: &str = "UPDATE workflow_triggers SET enabled = $2, version = version + 1,
        settings = $3, crc = $4, secrets = $5, updated_at = $6
     WHERE id = $1";

const CHANGE_STATE: &str = "UPDATE trigger_state SET rev = rev + 1, cursor = $2, due_at = $3,
        running = $4, buffered = $5, watched_from = $6, alarmed_at = $7
     WHERE trigger = $1";

const TOUCH_STATE: &str = "UPDATE trigger_state SET rev = rev + 1,
        due_at = CASE WHEN $2::boolean THEN due_at END
     WHERE trigger = $1";

const DELETE: &str = "UPDATE workflow_triggers SET enabled = false, version = version + 1,
        secrets = NULL, updated_at = $2, deleted_at = $2
     WHERE id = $1 AND deleted_at IS NULL RETURNING 1";

const DELETE_STATE: &str = "DELETE FROM trigger_state WHERE trigger = $1";

const DISABLE: &str = "WITH disabled AS (
        UPDATE workflow_triggers SET enabled = false, version = version + 1, updated_at = $2
         WHERE workflow = $1 AND enabled AND deleted_at IS NULL
        RETURNING id
     )
     UPDATE trigger_state SET rev = rev + 1, due_at = NULL, watched_from = NULL,
        alarmed_at = NULL
      WHERE trigger IN (SELECT id FROM disabled)";

/// Whether somebody waits for an end, and is not to look by now anyway.
macro_rules! is_due {
    () => {
        "((buffered IS NOT NULL AND running = ANY(ended.executions))
                OR (alarmed_at IS NOT NULL AND ended.success_at IS NOT NULL))
            AND (due_at IS NULL OR due_at > $8)
            AND (SELECT enabled FROM workflow_triggers WHERE id = trigger_state.trigger)"
    };
}

/// Ends count if the execution's last move is the one that they came with. The revision grows with what
/// was waited for and with the moment of the next look, each by one, as it would end by end.
const ENDS: &str = concat!(
    "WITH ended AS MATERIALIZED (
        SELECT given.trigger, array_agg(given.execution) AS executions,
            max(given.at) FILTER (WHERE given.success) AS success_at,
            max(given.slot) FILTER (WHERE given.success) AS success_slot
          FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::boolean[], $5::bigint[],
                $6::bigint[]) AS given (trigger, execution, version, success, slot, at)
         WHERE (SELECT version = given.version AND commit_id = $7 FROM executions
                 WHERE id = given.execution)
         GROUP BY given.trigger ORDER BY given.trigger
     )
     UPDATE trigger_state SET rev = rev
            + CASE WHEN running = ANY(ended.executions) THEN 1 ELSE 0 END
            + CASE WHEN ",
    is_due!(),
    " THEN 1 ELSE 0 END,
        success_at = greatest(trigger_state.success_at, ended.success_at),
        success_slot = greatest(trigger_state.success_slot, ended.success_slot),
        due_at = CASE WHEN ",
    is_due!(),
    " THEN $8 ELSE due_at END,
        running = CASE WHEN running = ANY(ended.executions) THEN NULL ELSE running END
       FROM ended
      WHERE trigger_state.trigger = ended.trigger AND trigger_state.trigger = ANY($1)"
);

/// Locks the state of every trigger that a batch is about, unless one statement changes all of them
/// before it does anything else.
pub(super) fn lock(batch: &Batch, is_one_group: bool) -> Option<Query<'_>> {
    let mut triggers: Vec<Uuid> = Vec::new();
    let mut is_needed = !is_one_group;
    for part in &batch.parts {
        let (trigger, end) = match part {
            Part::Admit(admit) => (None, admit.end),
            Part::Advance(advance) => (None, advance.end),
            Part::Fire(fire) => {
                let end = fire.admission.as_ref().and_then(|admit| admit.end);
                (Some(fire.trigger), end)
            }
            Part::ChangeTrigger(change) => (Some(change.id), None),
            Part::DeleteTrigger { id, .. } => (Some(*id), None),
            _ => continue,
        };
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
    let workflow: i64 = get(row, 0)?;
    let values = values![
        uuid(create.id.as_bytes()),
        workflow,
        create.kind.name(),
        create.enabled,
        create.settings.as_slice(),
        i64::from(checksum::settings(create.id, &create.settings)),
        create.secrets.as_deref(),
        create.webhook.as_ref().map(WebhookId::as_bytes).map(uuid),
        order.now.as_micros(),
    ];
    if link.ask(Query::new(INSERT, values)).await?.is_empty() {
        return Ok(PartOutcome::Conflict);
    }
    if let Some(plan) = &create.plan {
        write_state(link, INSERT_STATE, create.id, create.enabled, plan).await?;
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
    let rev = link.ask(Query::new(REV, values![id])).await?;
    let rev = rev.first().map(|row| count(row, 0)).transpose()?;
    let is_moved = |state: &NewState| state.rev != rev.unwrap_or(0);
    if small(version, 0)? != change.version || change.state.as_ref().is_some_and(is_moved) {
        return Ok(PartOutcome::TriggerMoved);
    }
    let values = values![
        id,
        change.enabled,
        change.settings.as_slice(),
        i64::from(checksum::settings(change.id, &change.settings)),
        change.secrets.as_deref(),
        order.now.as_micros(),
    ];
    link.ask(Query::new(CHANGE, values)).await?;
    match &change.state {
        Some(state) => {
            let sql = if rev.is_some() {
                CHANGE_STATE
            } else {
                INSERT_STATE
            };
            write_state(link, sql, change.id, change.enabled, &state.plan).await?;
            let now = (change.id, state.rev + 1);
            ledger::write(link, now, &state.slots, state.extends).await?;
        }
        None => {
            let touch = Query::new(TOUCH_STATE, values![id, change.enabled]);
            link.ask(touch).await?;
        }
    }
    Ok(PartOutcome::Done)
}

async fn write_state(
    link: &mut Link,
    sql: &'static str,
    id: TriggerId,
    enabled: bool,
    plan: &TriggerPlan,
) -> Result<(), Failed> {
    let values = values![
        uuid(id.as_bytes()),
        plan.cursor.map(Timestamp::as_micros),
        plan.due_at.filter(|_| enabled).map(Timestamp::as_micros),
        plan.running.as_ref().map(ExecutionId::as_bytes).map(uuid),
        plan.buffered.map(Timestamp::as_micros),
        plan.watched_from.map(Timestamp::as_micros),
        plan.alarmed_at.map(Timestamp::as_micros),
    ];
    link.ask(Query::new(sql, values)).await?;
    Ok(())
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
    link.ask(Query::new(DISABLE, values)).await?;
    Ok(())
}

/// What ends of executions mean for their triggers.
#[derive(Default)]
pub(super) struct Ends {
    ends: Vec<(ExecutionId, u64, TriggerEnd)>,
}

impl Ends {
    /// The end of an execution that has this version then.
    pub(super) fn push(&mut self, execution: ExecutionId, version: u64, end: Option<TriggerEnd>) {
        self.ends.extend(end.map(|end| (execution, version, end)));
    }

    /// Its answer says nothing.
    pub(super) fn query<'a>(&self, order: &Order) -> Option<Query<'a>> {
        if self.ends.is_empty() {
            return None;
        }
        let (mut triggers, mut executions, mut versions) = (Vec::new(), Vec::new(), Vec::new());
        let (mut successes, mut slots, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for (execution, version, end) in &self.ends {
            triggers.push(uuid(end.trigger.as_bytes()));
            executions.push(uuid(execution.as_bytes()));
            versions.push(signed(*version));
            successes.push(end.success);
            slots.push(end.slot.map(Timestamp::as_micros));
            times.push(end.at.as_micros());
        }
        let (commit, now) = (order.commit, order.now.as_micros());
        let values = values![
            triggers, executions, versions, successes, slots, times, commit, now
        ];
        Some(Query::new(ENDS, values))
    }

    pub(super) async fn write(&self, link: &mut Link, order: &Order) -> Result<(), Failed> {
        if let Some(query) = self.query(order) {
            link.ask(query).await?;
        }
        Ok(())
    }
}
