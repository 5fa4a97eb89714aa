//! Claims: which unowned work a node gets, and in which order. What another node is just claiming is
//! passed over, never waited for.

use std::collections::{BTreeSet, HashMap, HashSet};

use refire_core::definition::WorkflowId;
use refire_core::id::{ExecutionId, NodeId};
use sha2::{Digest, Sha256};
use tokio_postgres::Row;
use uuid::Uuid;

use super::link::{Link, Query, values};
use super::{Failed, Order, lock_name};
use crate::postgres::columns::{
    AT_ONCE, due, execution_id, get, kept_due, maybe_foreign, priority, small, uuid, work_row,
    work_row_at,
};
use crate::{Claim, ClaimTimers, KeyRoom, PartOutcome, Want, WorkRow};

/// Takes due work of several workflows: per workflow and priority one short range of the index, so
/// that it does not matter how much waits for a later time. Rows are locked as they are taken.
const CLAIM: &str = "WITH picked AS MATERIALIZED (
        SELECT wanted.place, ready.execution, ready.step
          FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS wanted (workflow, up_to, place)
         CROSS JOIN LATERAL (
            SELECT next.execution, next.step
              FROM generate_series(1, 10) AS level (priority)
             CROSS JOIN LATERAL (
                SELECT work.execution, work.step FROM work
                 WHERE work.owner IS NULL AND work.workflow = wanted.workflow
                   AND work.priority = level.priority::smallint AND work.due_at <= $4
                 ORDER BY work.due_at, work.execution, work.step
                 LIMIT wanted.up_to FOR UPDATE SKIP LOCKED
             ) AS next
             LIMIT wanted.up_to
         ) AS ready
     )
     UPDATE work SET owner = $5, begun = false, claim = $6
       FROM picked, workflows
      WHERE work.execution = picked.execution AND work.step = picked.step
        AND work.execution = ANY(ARRAY(SELECT execution FROM picked))
        AND workflows.key = work.workflow
    RETURNING picked.place, work.execution, work.step, work.attempt, work.is_retry, workflows.id,
        work.priority, work.due_at, work.limit_key, work.owner, work.begun";

/// Takes unowned timers that are due between now and then, in that order.
const CLAIM_TIMERS: &str = "WITH picked AS MATERIALIZED (
        SELECT execution, step FROM work
         WHERE owner IS NULL AND due_at > -9223372036854775808
           AND due_at > $1 AND due_at <= $2
         ORDER BY due_at, execution, step LIMIT $3 FOR UPDATE SKIP LOCKED
     )
     UPDATE work SET owner = $4, begun = false, claim = $5
       FROM picked, workflows
      WHERE work.execution = picked.execution AND work.step = picked.step
        AND work.execution = ANY(ARRAY(SELECT execution FROM picked))
        AND workflows.key = work.workflow
    RETURNING work.execution, work.step, work.attempt, work.is_retry, workflows.id, work.priority,
        work.due_at, work.limit_key, work.owner, work.begun";

/// What has room, of one priority and from a place on. Locked, also what is passed over in the end:
/// others find it again as soon as this commit is over.
const WITH_ROOM: &str = "SELECT execution, step, attempt, is_retry, priority, due_at, limit_key
      FROM work
     WHERE owner IS NULL AND workflow = $1 AND priority = $2 AND due_at <= $3
       AND (due_at, execution, step) > ($4, $5, $6)
       AND ($7 OR NOT is_retry)
       AND (limit_key IS NULL OR NOT ($8 OR limit_key = ANY($9::bytea[])))
     ORDER BY due_at, execution, step LIMIT $10 FOR UPDATE SKIP LOCKED";

/// The next priority of a workflow that has unowned work.
const NEXT_PRIORITY: &str = "SELECT priority FROM work
     WHERE owner IS NULL AND workflow = $1 AND priority > $2 ORDER BY priority LIMIT 1";

const OWN: &str = "UPDATE work SET owner = $3, begun = false, claim = $4
      FROM unnest($1::uuid[], $2::text[]) AS given (execution, step)
     WHERE work.execution = given.execution AND work.step = given.step
       AND work.execution = ANY($1)";

/// Bounds over all nodes are counted by one node at a time: from its count to the end of its commit
/// nobody else claims of the same workflow under such bounds. Not the locks of admissions.
const COUNT_ALONE: &str = "SELECT pg_advisory_xact_lock(21063, given.name)
      FROM unnest($1::integer[]) AS given (name)";

/// Work of a workflow that is owned and has begun or is due.
const IN_FLIGHT: &str = "SELECT execution, limit_key FROM work
     WHERE owner IS NOT NULL AND workflow = $1 AND (begun OR due_at <= $2)";

/// What a claim whose answer was lost had taken.
const CLAIMED: &str = "SELECT work.execution, work.step, work.attempt, work.is_retry, workflows.id,
        work.priority, work.due_at, work.limit_key, work.owner, work.begun
      FROM work JOIN workflows ON workflows.key = work.workflow
     WHERE work.owner = $1 AND work.claim = $2";

/// Rows that one query may show in vain: a key that fills up on the way is walked over so far
/// before a query with the longer list goes on.
const PASSED_OVER_MAX: u32 = 100;

/// The name under which a part claims: other claims of the same commit have others.
pub(super) fn claim_name(order: &Order, place: usize) -> Uuid {
    let mut hash = Sha256::new();
    hash.update(order.commit.as_bytes());
    hash.update(place.to_be_bytes());
    let mut name = [0; 16];
    name.copy_from_slice(&hash.finalize()[..16]);
    uuid(&name)
}

/// Whether one statement can do it: no workflow twice, no key to mind, and as many retries as rows.
pub(super) fn is_plain(claim: &Claim) -> bool {
    let mut seen = HashSet::new();
    claim.wants.iter().all(|want| {
        seen.insert(&want.workflow)
            && want.keys.is_none()
            && want.everywhere.is_none()
            && want.retries_up_to >= want.up_to
    })
}

/// A claim that [`is_plain`].
pub(super) fn query<'a>(link: &Link, order: &Order, place: usize, claim: &Claim) -> Query<'a> {
    let (mut workflows, mut up_to, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (place, want) in (0_i64..).zip(&claim.wants) {
        if let Some(key) = link.key(&want.workflow).filter(|_| want.up_to > 0) {
            workflows.push(key);
            up_to.push(i64::from(want.up_to));
            places.push(place);
        }
    }
    let owner = uuid(claim.node.as_bytes());
    let name = claim_name(order, place);
    let now = order.now.as_micros();
    Query::new(CLAIM, values![workflows, up_to, places, now, owner, name])
}

/// The answer to [`query`], in the order of the wants.
pub(super) fn read(rows: &[Row]) -> Result<PartOutcome, Failed> {
    let mut claimed = Vec::with_capacity(rows.len());
    for row in rows {
        claimed.push((get::<i64>(row, 0)?, work_row_at(row, 1)?));
    }
    claimed.sort_unstable_by(|(want, row), (other_want, other)| {
        (want, in_queue(row)).cmp(&(other_want, in_queue(other)))
    });
    let rows = claimed.into_iter().map(|(_, row)| row).collect();
    Ok(PartOutcome::Claimed(rows))
}

/// The order of claims within a workflow.
fn in_queue(row: &WorkRow) -> (u8, i64, ExecutionId, &str) {
    (row.priority, kept_due(row.due_at), row.execution, &row.step)
}

pub(super) fn timers_query<'a>(order: &Order, place: usize, claim: &ClaimTimers) -> Query<'a> {
    Query::new(
        CLAIM_TIMERS,
        values![
            order.now.as_micros(),
            claim.until.as_micros(),
            i64::from(claim.up_to),
            uuid(claim.node.as_bytes()),
            claim_name(order, place),
        ],
    )
}

/// The answer to [`timers_query`], the earliest first.
pub(super) fn read_timers(rows: &[Row]) -> Result<PartOutcome, Failed> {
    let mut claimed = rows.iter().map(work_row).collect::<Result<Vec<_>, _>>()?;
    sort_timers(&mut claimed);
    Ok(PartOutcome::Claimed(claimed))
}

fn sort_timers(rows: &mut [WorkRow]) {
    rows.sort_unstable_by(|row, other| {
        let of = |row: &WorkRow| (kept_due(row.due_at), row.execution);
        (of(row), &row.step).cmp(&(of(other), &other.step))
    });
}

/// Takes work want by want, minding keys and retries.
pub(super) async fn claim(
    link: &mut Link,
    order: &Order,
    place: usize,
    claim: &Claim,
) -> Result<PartOutcome, Failed> {
    let bounded = claim.wants.iter().filter(|want| want.everywhere.is_some());
    let names: BTreeSet<i32> = bounded.map(|want| lock_name(&want.workflow)).collect();
    if !names.is_empty() {
        let names: Vec<i32> = names.into_iter().collect();
        link.ask(Query::new(COUNT_ALONE, values![names])).await?;
    }
    let mut claimed = Vec::new();
    for want in &claim.wants {
        let mut rows = ready_work(link, order, want).await?;
        own(link, claim.node, claim_name(order, place), &mut rows).await?;
        claimed.append(&mut rows);
    }
    Ok(PartOutcome::Claimed(claimed))
}

/// What a claim of an earlier commit has taken; for one whose answer was lost.
pub(super) async fn claimed_before(
    link: &mut Link,
    order: &Order,
    place: usize,
    node: NodeId,
) -> Result<Vec<WorkRow>, Failed> {
    let values = values![uuid(node.as_bytes()), claim_name(order, place)];
    let rows = link.ask(Query::new(CLAIMED, values)).await?;
    Ok(rows.iter().map(work_row).collect::<Result<Vec<_>, _>>()?)
}

/// Puts rows into the order in which a claim tells them.
pub(super) fn sort_by_wants(rows: &mut [WorkRow], wants: &[Want]) {
    let place = |row: &WorkRow| wants.iter().position(|want| want.workflow == row.workflow);
    rows.sort_by(|row, other| (place(row), in_queue(row)).cmp(&(place(other), in_queue(other))));
}

/// Puts rows into the order in which a claim of timers tells them.
pub(super) fn sort_by_time(rows: &mut [WorkRow]) {
    sort_timers(rows);
}

/// Unowned work of a workflow that is due: by priority, then due time, then age.
async fn ready_work(link: &mut Link, order: &Order, want: &Want) -> Result<Vec<WorkRow>, Failed> {
    let Some(key) = link.key(&want.workflow) else {
        return Ok(Vec::new());
    };
    let bounded = match want.everywhere {
        Some(bounds) => &want.beside(bounds, in_flight(link, order, key).await?),
        None => want,
    };
    let mut picked = Picked::new(bounded);
    let mut priority = -1_i16;
    while picked.missing() > 0 {
        let next = link
            .ask(Query::new(NEXT_PRIORITY, values![key, priority]))
            .await?;
        let Some(next) = next.first() else { break };
        priority = get(next, 0)?;
        pick(link, order, &mut picked, key, priority).await?;
    }
    Ok(picked.rows)
}

async fn in_flight(
    link: &mut Link,
    order: &Order,
    workflow: i64,
) -> Result<Vec<(ExecutionId, Option<String>)>, Failed> {
    let values = values![workflow, order.now.as_micros()];
    let rows = link.ask(Query::new(IN_FLIGHT, values)).await?;
    rows.iter()
        .map(|row| Ok((execution_id(row, 0)?, maybe_foreign(row, 1)?)))
        .collect()
}

/// Picks along one priority. A query shows only what has room when it begins, so that no number of
/// rows without room hides one that has some; what fills up later is left out by the next.
async fn pick(
    link: &mut Link,
    order: &Order,
    picked: &mut Picked<'_>,
    key: i64,
    priority: i16,
) -> Result<(), Failed> {
    let (mut due_at, mut execution, mut step) = (AT_ONCE, Uuid::nil(), String::new());
    while picked.missing() > 0 {
        let limit = picked.missing().saturating_add(picked.passed_over_max());
        let (no_key_has_room, full) = picked.full_keys();
        let values = values![
            key,
            priority,
            order.now.as_micros(),
            due_at,
            execution,
            step.clone(),
            picked.has_room_for_a_retry(),
            no_key_has_room,
            full,
            i64::from(limit),
        ];
        let rows = link.ask(Query::new(WITH_ROOM, values)).await?;
        let seen = rows.len();
        for row in &rows {
            if picked.missing() == 0 {
                break;
            }
            let row = candidate(row, &picked.want.workflow)?;
            due_at = kept_due(row.due_at);
            execution = uuid(row.execution.as_bytes());
            step = row.step.clone();
            picked.offer(row);
        }
        if seen < limit as usize {
            break;
        }
    }
    Ok(())
}

/// A row of [`WITH_ROOM`]: unowned work of a known workflow.
fn candidate(row: &Row, workflow: &WorkflowId) -> Result<WorkRow, Failed> {
    Ok(WorkRow {
        execution: execution_id(row, 0)?,
        step: get(row, 1)?,
        attempt: small(row, 2)?,
        is_retry: get(row, 3)?,
        workflow: workflow.clone(),
        priority: priority(row, 4)?,
        due_at: due(get(row, 5)?),
        limit_key: maybe_foreign(row, 6)?,
        owner: None,
        begun: false,
    })
}

/// The rows are the node's and have not begun.
async fn own(
    link: &mut Link,
    node: NodeId,
    name: Uuid,
    rows: &mut [WorkRow],
) -> Result<(), Failed> {
    if rows.is_empty() {
        return Ok(());
    }
    let (mut executions, mut steps) = (Vec::new(), Vec::new());
    for row in rows.iter() {
        executions.push(uuid(row.execution.as_bytes()));
        steps.push(row.step.clone());
    }
    let values = values![executions, steps, uuid(node.as_bytes()), name];
    link.ask(Query::new(OWN, values)).await?;
    for row in rows {
        row.owner = Some(node);
    }
    Ok(())
}

/// Rows picked for a want so far.
struct Picked<'a> {
    want: &'a Want,
    rows: Vec<WorkRow>,
    retries: u32,
    /// Rows by key, beside those that were in flight before.
    keys: HashMap<String, u32>,
}

impl<'a> Picked<'a> {
    fn new(want: &'a Want) -> Self {
        Self {
            want,
            rows: Vec::new(),
            retries: 0,
            keys: HashMap::new(),
        }
    }

    fn missing(&self) -> u32 {
        let picked = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        self.want.up_to.saturating_sub(picked)
    }

    /// Rows are locked in vain only where keys may fill up on the way.
    fn passed_over_max(&self) -> u32 {
        if self.want.keys.is_some() {
            PASSED_OVER_MAX
        } else {
            0
        }
    }

    fn has_room_for_a_retry(&self) -> bool {
        self.retries < self.want.retries_up_to
    }

    fn is_full(&self, room: &KeyRoom, key: &str) -> bool {
        let before = room.in_flight.get(key).copied().unwrap_or(0);
        let picked = self.keys.get(key).copied().unwrap_or(0);
        before.saturating_add(picked) >= room.max
    }

    /// Whether no key has room, and else those that have none.
    fn full_keys(&self) -> (bool, Vec<Vec<u8>>) {
        let Some(room) = &self.want.keys else {
            return (false, Vec::new());
        };
        let new = self.keys.keys();
        let new = new.filter(|key| !room.in_flight.contains_key(*key));
        let full = room.in_flight.keys().chain(new);
        let full = full.filter(|key| self.is_full(room, key));
        let full = full.map(|key| key.as_bytes().to_vec()).collect();
        (room.max == 0, full)
    }

    /// Takes a row if its retry and its key have room.
    fn offer(&mut self, row: WorkRow) {
        if row.is_retry && !self.has_room_for_a_retry() {
            return;
        }
        if let (Some(room), Some(key)) = (&self.want.keys, &row.limit_key) {
            if self.is_full(room, key) {
                return;
            }
            *self.keys.entry(key.clone()).or_default() += 1;
        }
        self.retries += u32::from(row.is_retry);
        self.rows.push(row);
    }
}
