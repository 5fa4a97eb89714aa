//! Claims: which unowned work a node gets, and in which order. What another node is just claiming is
//! passed over, never waited for.

use std::collections::{BTreeSet, HashMap, HashSet};

use refire_core::id::{ExecutionId, NodeId};
use sha2::{Digest, Sha256};
use tokio_postgres::Row;
use uuid::Uuid;

use super::link::{Link, Query, values};
use super::{Failed, Order, lock_name};
use crate::picked::{FullKeys, Picked};
use crate::postgres::columns::{
    AT_ONCE, due, execution_id, get, kept_due, maybe_foreign, name_of_execution, priority,
    readable_work_at, small, uuid,
};
use crate::table::column::{Id, columns};
use crate::table::statement::statements;
use crate::unreadable::readable;
use crate::{Claim, Part, PartOutcome, ReadError, Want, WorkRow};

/// Owns what was picked, where it lies: to look for the rows again, by a join, could cost their square.
macro_rules! claims {
    ($picked:literal) => {
        concat!(
            "WITH picked AS MATERIALIZED (",
            $picked,
            ")
     UPDATE work SET owner = {owner}, begun = false, begun_at = NULL, claim = {claim}
      WHERE work.ctid = ANY(ARRAY(SELECT lies FROM picked))
    RETURNING work.execution, work.step, work.attempt, work.is_retry,
        (SELECT id FROM workflows WHERE workflows.key = work.workflow), work.priority,
        work.due_at, work.limit_key, work.owner, work.begun, work.begun_at"
        )
    };
}

statements! {
    /// Takes due work of several workflows: per workflow and priority one short range of the index, so
    /// that it does not matter how much waits for a later time. Rows are locked as they are taken.
    CLAIM: postgres(wanted: Wanted, now, owner, claim) = claims!(
        "
        SELECT ready.lies FROM {wanted}
         CROSS JOIN LATERAL (
            SELECT next.lies
              FROM generate_series(1, 10) AS level (priority)
             CROSS JOIN LATERAL (
                SELECT work.ctid AS lies FROM work
                 WHERE work.owner IS NULL AND work.workflow = given.workflow
                   AND work.priority = level.priority::smallint AND work.due_at <= {now}
                 ORDER BY work.due_at, work.execution, work.step
                 LIMIT given.up_to FOR UPDATE SKIP LOCKED
             ) AS next
             LIMIT given.up_to
         ) AS ready
     "
    );

    /// Takes unowned timers that are due between now and then, in that order.
    CLAIM_TIMERS: postgres(now, until, up_to, owner, claim) = claims!(
        "
        SELECT ctid AS lies FROM work
         WHERE owner IS NULL AND due_at > -9223372036854775808
           AND due_at > {now} AND due_at <= {until}
         ORDER BY due_at, execution, step LIMIT {up_to} FOR UPDATE SKIP LOCKED
     "
    );
}

statements! {
    /// What has room, of one priority and from a place on. Locked, also what is passed over in the end:
    /// others find it again as soon as this commit is over.
    WITH_ROOM: postgres(workflow, priority, now, due_at, execution, step, has_room_for_a_retry,
        no_key_has_room, full, limit, in_flight) =
        "SELECT execution, step, attempt, is_retry, priority, due_at, limit_key
      FROM work
     WHERE owner IS NULL AND workflow = {workflow} AND priority = {priority} AND due_at <= {now}
       AND (due_at, execution, step) > ({due_at}, {execution}, {step})
       AND ({has_room_for_a_retry} OR NOT is_retry)
       AND (limit_key IS NULL OR NOT ({no_key_has_room} OR limit_key = ANY({full}::bytea[]))
            OR execution = ANY({in_flight}::uuid[]))
     ORDER BY due_at, execution, step LIMIT {limit} FOR UPDATE SKIP LOCKED";

    OWN: postgres(work: Picks, owner, claim) =
        "UPDATE work SET owner = {owner}, begun = false, begun_at = NULL, claim = {claim} FROM {work}
     WHERE work.execution = given.execution AND work.step = given.step
       AND work.execution = ANY({work.execution})";
}

columns! {
    struct Picks(row: &WorkRow) {
        execution: Id = row.execution.into(),
        step: String = row.step.clone(),
    }
}

columns! {
    struct Wanted(workflow: i64, want: &Want) {
        workflow: i64 = workflow,
        up_to: i64 = want.up_to.into(),
    }
}

/// What is due of these executions, in the order of the queue: looked up one by one, by their keys.
/// What the index of ready work knows is asked in a way it does not know, for going along that one
/// would read all that waits, for each of them.
const OF_EXECUTIONS: &str = "SELECT own.execution, own.step, own.attempt, own.is_retry,
        own.priority, own.due_at, own.limit_key
      FROM unnest($1::uuid[]) AS given (execution)
     CROSS JOIN LATERAL (
        SELECT * FROM work
         WHERE work.execution = given.execution AND coalesce(work.owner::text, '') = ''
           AND work.workflow + 0 = $2 AND work.due_at <= $3
         FOR UPDATE SKIP LOCKED
     ) AS own
     ORDER BY own.priority, own.due_at, own.execution, own.step";

/// The next priority of a workflow that has unowned work.
const NEXT_PRIORITY: &str = "SELECT priority FROM work
     WHERE owner IS NULL AND workflow = $1 AND priority > $2 ORDER BY priority LIMIT 1";

/// Bounds over all nodes are counted by one node at a time: from its count to the end of its commit
/// nobody else claims of the same workflow under such bounds. Not the locks of admissions.
const COUNT_ALONE: &str = "SELECT pg_advisory_xact_lock(21063, given.name)
      FROM unnest($1::integer[]) AS given (name)";

/// Work of a workflow that is owned and has begun or is due.
const IN_FLIGHT: &str = "SELECT execution, limit_key FROM work
     WHERE owner IS NOT NULL AND workflow = $1 AND (begun OR due_at <= $2)";

/// What claims whose answers were lost had taken, each with the claim's name at its end.
const CLAIMED: &str = "SELECT work.execution, work.step, work.attempt, work.is_retry, workflows.id,
        work.priority, work.due_at, work.limit_key, work.owner, work.begun,
        work.begun_at, work.claim
      FROM work JOIN workflows ON workflows.key = work.workflow
     WHERE work.owner = ANY($1::uuid[]) AND work.claim = ANY($2::uuid[])";
/// Where [`CLAIMED`] has the claim's name.
const CLAIM_NAME: usize = 11;

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

/// A claim that one statement can make, of work or of timers. Its answer is for [`told`].
pub(super) fn query<'a>(
    link: &Link,
    order: &Order,
    place: usize,
    part: &Part,
) -> Option<Query<'a>> {
    let (name, now) = (claim_name(order, place), order.now.as_micros());
    match part {
        Part::Claim(Claim { node, wants }) => {
            let mut wanted = Wanted::default();
            for want in wants.iter().filter(|want| want.up_to > 0) {
                if let Some(key) = link.key(&want.workflow) {
                    wanted.push(key, want);
                }
            }
            let own = values![now, uuid(node.as_bytes()), name];
            Some(Query::of(&CLAIM, [wanted.values(), own]))
        }
        Part::ClaimTimers(claim) => {
            let (until, up_to) = (claim.until.as_micros(), i64::from(claim.up_to));
            let values = values![now, until, up_to, uuid(claim.node.as_bytes()), name];
            Some(Query::new(&CLAIM_TIMERS, values))
        }
        _ => None,
    }
}

/// The rows of a claim in its order: that of its wants, or the earliest timers first.
pub(super) fn told(part: &Part, mut rows: Vec<WorkRow>) -> PartOutcome {
    if let Part::Claim(Claim { wants, .. }) = part {
        let place = |row: &WorkRow| wants.iter().position(|want| want.workflow == row.workflow);
        rows.sort_by(|row, other| {
            (place(row), in_queue(row)).cmp(&(place(other), in_queue(other)))
        });
    } else {
        rows.sort_unstable_by(|row, other| by_time(row).cmp(&by_time(other)));
    }
    PartOutcome::Claimed(rows)
}

/// The order of claims within a workflow.
fn in_queue(row: &WorkRow) -> (u8, (i64, ExecutionId, &str)) {
    (row.priority, by_time(row))
}

fn by_time(row: &WorkRow) -> (i64, ExecutionId, &str) {
    (kept_due(row.due_at), row.execution, &row.step)
}

/// Takes work want by want, minding keys and retries.
pub(super) async fn claim(
    link: &mut Link,
    order: &Order,
    place: usize,
    claim: &Claim,
) -> Result<PartOutcome, Failed> {
    let bounded = claim.wants.iter().filter(|want| want.bounds.is_some());
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

/// What claims of an earlier commit have taken, by their places; for one whose answer was lost.
pub(super) async fn claimed_before(
    link: &mut Link,
    order: &Order,
    claims: impl Iterator<Item = (usize, NodeId)>,
) -> Result<HashMap<usize, Vec<WorkRow>>, Failed> {
    let (mut places, mut nodes) = (HashMap::new(), HashSet::new());
    for (place, node) in claims {
        places.insert(claim_name(order, place), place);
        nodes.insert(uuid(node.as_bytes()));
    }
    let mut claimed: HashMap<usize, Vec<WorkRow>> = HashMap::new();
    if places.is_empty() {
        return Ok(claimed);
    }
    let nodes: Vec<Uuid> = nodes.into_iter().collect();
    let names: Vec<Uuid> = places.keys().copied().collect();
    let rows = link.ask(Query::new(CLAIMED, values![nodes, names])).await?;
    for row in &rows {
        if let Some(place) = places.get(&get(row, CLAIM_NAME)?) {
            let of_claim = claimed.entry(*place).or_default();
            of_claim.extend(readable_work_at(row, 0));
        }
    }
    Ok(claimed)
}

pub(super) fn readable_rows(rows: &[Row]) -> Vec<WorkRow> {
    rows.iter()
        .filter_map(|row| readable_work_at(row, 0))
        .collect()
}

/// Unowned work of a workflow that is due: by priority, then due time, then age.
async fn ready_work(link: &mut Link, order: &Order, want: &Want) -> Result<Vec<WorkRow>, Failed> {
    let Some(key) = link.key(&want.workflow) else {
        return Ok(Vec::new());
    };
    let in_flight = match want.bounds {
        Some(_) => in_flight(link, order, key).await?,
        None => Vec::new(),
    };
    let mut picked = Picked::new(want, in_flight);
    let mut priority = -1_i16;
    while picked.takes_any() {
        let next = link
            .ask(Query::new(NEXT_PRIORITY, values![key, priority]))
            .await?;
        let Some(next) = next.first() else { break };
        priority = get(next, 0)?;
        pick(link, order, &mut picked, key, priority).await?;
    }
    if picked.takes_only_of_those_in_flight() {
        let values = values![ids_of(&picked), key, order.now.as_micros()];
        let rows = link.ask(Query::new(OF_EXECUTIONS, values)).await?;
        picked.offer_rest(rows.iter().filter_map(|row| candidate(row, want)));
    }
    Ok(picked.into_rows())
}

fn ids_of(picked: &Picked<'_>) -> Vec<Uuid> {
    picked.in_flight().map(|id| uuid(id.as_bytes())).collect()
}

async fn in_flight(
    link: &mut Link,
    order: &Order,
    workflow: i64,
) -> Result<Vec<(ExecutionId, Option<String>)>, Failed> {
    let values = values![workflow, order.now.as_micros()];
    let rows = link.ask(Query::new(IN_FLIGHT, values)).await?;
    let mut in_flight = Vec::with_capacity(rows.len());
    for row in &rows {
        let key = readable(maybe_foreign(row, 1), name_of_execution(row, 0));
        if let Some(key) = key {
            in_flight.push((execution_id(row, 0)?, key));
        }
    }
    Ok(in_flight)
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
    while picked.takes_any() {
        // Rows are locked in vain only where keys may fill up on the way.
        let (passed_over, in_flight) = match picked.minds_keys() {
            true => (PASSED_OVER_MAX, ids_of(picked)),
            false => (0, Vec::new()),
        };
        let limit = picked.missing().saturating_add(passed_over);
        let (no_key_has_room, full) = match picked.full_keys() {
            FullKeys::All => (true, Vec::new()),
            FullKeys::Some(keys) => {
                let keys = keys.iter().map(|key| key.as_bytes().to_vec());
                (false, keys.collect::<Vec<_>>())
            }
        };
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
            in_flight,
        ];
        let rows = link.ask(Query::new(&WITH_ROOM, values)).await?;
        for row in &rows {
            if !picked.takes_any() {
                break;
            }
            (execution, step, due_at) = (get(row, 0)?, get(row, 1)?, get(row, 5)?);
            if let Some(row) = candidate(row, picked.want()) {
                picked.offer(row);
            }
        }
        if rows.len() < limit as usize {
            break;
        }
    }
    Ok(())
}

/// A row of [`WITH_ROOM`]: unowned work of a known workflow.
fn candidate(row: &Row, want: &Want) -> Option<WorkRow> {
    let read = || {
        Ok::<_, ReadError>(WorkRow {
            execution: execution_id(row, 0)?,
            step: get(row, 1)?,
            attempt: small(row, 2)?,
            is_retry: get(row, 3)?,
            workflow: want.workflow.clone(),
            priority: priority(row, 4)?,
            due_at: due(get(row, 5)?),
            limit_key: maybe_foreign(row, 6)?,
            owner: None,
            begun: false,
            begun_at: None,
        })
    };
    readable(read(), name_of_execution(row, 0))
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
    let mut picks = Picks::default();
    for row in rows {
        picks.push(row);
        row.owner = Some(node);
    }
    let own = values![uuid(node.as_bytes()), name];
    link.ask(Query::of(&OWN, [picks.values(), own])).await?;
    Ok(())
}
