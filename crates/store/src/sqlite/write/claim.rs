//! Claims: which unowned work a node gets, and in which order.
//!
//! The index of unowned work holds everything that a claim asks for, so that whatever has no room
//! is passed over inside SQLite and without touching the table.

use refire_core::definition::WorkflowId;
use refire_core::id::{ExecutionId, NodeId};
use refire_core::time::Timestamp;
use rusqlite::{OptionalExtension, Result, Row, params};

use super::Pen;
use crate::column::Named;
use crate::picked::{FullKeys, Picked};
use crate::sqlite::columns::{execution_id, hex, maybe_time, name_of_execution, readable_work};
use crate::unreadable::readable;
use crate::{Claim, ClaimTimers, PartOutcome, Want, WorkRow};

/// The next priority of a workflow that has unowned work, and the earliest time of that work
/// (null = at once, which comes first).
pub(in crate::sqlite) const NEXT_PRIORITY: &str = "SELECT priority, due_at FROM work \
     WHERE owner IS NULL AND workflow = ?1 AND priority > ?2 ORDER BY priority, due_at LIMIT 1";

/// What [`candidate`] reads.
const CANDIDATES: &str = "SELECT execution, step, attempt, is_retry, priority, due_at, limit_key \
     FROM work WHERE owner IS NULL AND workflow = ?1 AND priority = ?2";
/// Leaves out what has no room: retries unless there is room for one, and rows of full keys but for
/// those of executions in flight.
const WITH_ROOM: &str = "(?8 OR is_retry = 0) AND (?9 IS NULL OR limit_key IS NULL \
     OR limit_key NOT IN (SELECT value FROM json_each(?9)) \
     OR execution IN (SELECT unhex(value) FROM json_each(?3)))";

/// What is due of these executions, in the order of the queue. They are looked up one by one: the plus
/// keeps SQLite from reading all that waits of the workflow for each.
pub(in crate::sqlite) const OF_EXECUTIONS: &str = "SELECT work.execution, step, attempt, is_retry, \
     priority, due_at, limit_key \
     FROM json_each(?1) AS given CROSS JOIN work ON work.execution = unhex(given.value) \
     WHERE owner IS NULL AND +workflow = ?2 AND (due_at IS NULL OR due_at <= ?3) \
     ORDER BY priority, due_at, work.execution, step";

/// Unowned timers that are due between now and then, in that order.
pub(in crate::sqlite) const TIMERS: &str = "FROM work JOIN workflows ON workflows.key = work.workflow \
     WHERE work.owner IS NULL AND work.due_at IS NOT NULL AND work.due_at <= ?1 \
     AND work.due_at > ?2 ORDER BY work.due_at, work.execution, work.step";

/// What bounds count.
const IN_FLIGHT: &str = "SELECT execution, limit_key FROM work \
     WHERE owner IS NOT NULL AND workflow = ?1 AND (begun OR due_at IS NULL OR due_at <= ?2)";

/// Rows that one query may show in vain: a key that fills up on the way is walked over so far
/// before a query with the longer list goes on.
const PASSED_OVER_MAX: u32 = 100;

/// Unowned work of one priority that may run at once, oldest first.
pub(in crate::sqlite) fn at_once() -> String {
    format!(
        "{CANDIDATES} AND due_at IS NULL AND (execution, step) > (?4, ?5) AND {WITH_ROOM} \
         ORDER BY due_at, execution, step"
    )
}

/// Unowned work of one priority whose time has come, in the order of that time.
pub(in crate::sqlite) fn due() -> String {
    format!(
        "{CANDIDATES} AND due_at <= ?7 AND (due_at, execution, step) > (?6, ?4, ?5) \
         AND {WITH_ROOM} ORDER BY due_at, execution, step"
    )
}

/// A row of [`CANDIDATES`]: unowned work of a known workflow.
fn candidate(row: &Row<'_>, workflow: &WorkflowId) -> Result<WorkRow> {
    Ok(WorkRow {
        execution: execution_id(row, 0)?,
        step: row.get(1)?,
        attempt: row.get(2)?,
        is_retry: row.get(3)?,
        workflow: workflow.clone(),
        priority: row.get(4)?,
        due_at: maybe_time(row, 5)?,
        limit_key: row.get(6)?,
        owner: None,
        begun: false,
        begun_at: None,
    })
}

/// The keys without room as a JSON array; absent = there are none.
fn listed(full: &FullKeys<'_>) -> Result<Option<String>> {
    match full {
        // Nothing is known to differ from null, so this leaves out every row with a key.
        FullKeys::All => Ok(Some("[null]".to_owned())),
        FullKeys::Some(keys) if keys.is_empty() => Ok(None),
        FullKeys::Some(keys) => serde_json::to_string(keys).map(Some).map_err(unsendable),
    }
}

/// Ids as a JSON array of hexadecimal numbers.
fn hexes(ids: impl Iterator<Item = ExecutionId>) -> Result<String> {
    let ids: Vec<String> = ids.map(|id| hex(id.as_bytes())).collect();
    serde_json::to_string(&ids).map_err(unsendable)
}

fn unsendable(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(error.into())
}

impl Pen<'_> {
    pub(super) fn claim(&mut self, claim: &Claim) -> Result<PartOutcome> {
        let mut claimed = Vec::new();
        for want in &claim.wants {
            for mut row in self.ready_work(want)? {
                self.own(&mut row, claim.node)?;
                claimed.push(row);
            }
        }
        Ok(PartOutcome::Claimed(claimed))
    }

    /// Unowned work of a workflow that is due: by priority, then due time, then age.
    ///
    /// One short range of the index per priority, so that it does not matter how many timers of
    /// the same workflow wait for a later time.
    fn ready_work(&mut self, want: &Want) -> Result<Vec<WorkRow>> {
        let Some(key) = self.workflow_key(&want.workflow)? else {
            return Ok(Vec::new());
        };
        let in_flight = match want.bounds {
            Some(_) => self.in_flight(key)?,
            None => Vec::new(),
        };
        let mut picked = Picked::new(want, in_flight);
        let now = self.now.as_micros();
        let mut priority = -1_i64;
        while picked.takes_any() {
            let next: Option<(i64, Option<i64>)> = self
                .prepare(NEXT_PRIORITY)?
                .query_row([key, priority], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((found, earliest)) = next else { break };
            priority = found;
            if earliest.is_none() {
                self.pick(&mut picked, &at_once(), key, priority)?;
            }
            if earliest.is_none_or(|earliest| earliest <= now) {
                self.pick(&mut picked, &due(), key, priority)?;
            }
        }
        if picked.takes_only_of_those_in_flight() {
            let rest = self.of_executions(&picked, key)?;
            picked.offer_rest(rest);
        }
        Ok(picked.into_rows())
    }

    /// Work of a workflow that is owned and has begun or is due.
    fn in_flight(&self, workflow: i64) -> Result<Vec<(ExecutionId, Option<String>)>> {
        let mut select = self.prepare(IN_FLIGHT)?;
        let mut rows = select.query([workflow, self.now.as_micros()])?;
        let mut in_flight = Vec::new();
        while let Some(row) = rows.next()? {
            let read = execution_id(row, 0).and_then(|id| Ok((id, row.get(1)?)));
            in_flight.extend(readable(read, name_of_execution(row)));
        }
        Ok(in_flight)
    }

    /// What is due of the executions in flight.
    fn of_executions(&self, picked: &Picked<'_>, key: i64) -> Result<Vec<WorkRow>> {
        let mut select = self.prepare(OF_EXECUTIONS)?;
        let ids = hexes(picked.in_flight())?;
        let mut rows = select.query(params![ids, key, self.now.as_micros()])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let read = candidate(row, &picked.want().workflow);
            found.extend(readable(read, name_of_execution(row)));
        }
        Ok(found)
    }

    /// Picks along one range. A query shows only what has room when it begins, so that no number
    /// of rows without room hides one that has some; what fills up later is left out by the next.
    fn pick(&self, picked: &mut Picked<'_>, sql: &str, key: i64, priority: i64) -> Result<()> {
        // How far the walk along the index has come.
        let (mut due_at, mut execution, mut step) = (i64::MIN, [0; 16], String::new());
        while picked.takes_any() {
            let in_flight = picked.in_flight().filter(|_| picked.minds_keys());
            let in_flight = hexes(in_flight)?;
            let limit = picked.missing().saturating_add(PASSED_OVER_MAX);
            let mut select = self.prepare(sql)?;
            let mut rows = select.query(params![
                key,
                priority,
                in_flight,
                execution,
                step,
                due_at,
                self.now.as_micros(),
                picked.has_room_for_a_retry(),
                listed(&picked.full_keys())?,
            ])?;
            let mut seen = 0;
            while picked.takes_any() && seen < limit {
                let Some(row) = rows.next()? else {
                    return Ok(());
                };
                let read = candidate(row, &picked.want().workflow);
                let Some(row) = readable(read, name_of_execution(row)) else {
                    continue;
                };
                seen += 1;
                if seen == limit {
                    due_at = row.due_at.map_or(i64::MIN, Timestamp::as_micros);
                    (execution, step) = (*row.execution.as_bytes(), row.step.clone());
                }
                picked.offer(row);
            }
        }
        Ok(())
    }

    pub(super) fn claim_timers(&mut self, claim: &ClaimTimers) -> Result<PartOutcome> {
        let mut select = self.prepare(&format!("SELECT {} {TIMERS}", WorkRow::COLUMNS))?;
        let mut rows = select.query(params![claim.until.as_micros(), self.now.as_micros()])?;
        let mut claimed = Vec::new();
        while claimed.len() < claim.up_to as usize {
            let Some(row) = rows.next()? else { break };
            claimed.extend(readable_work(row));
        }
        for row in &mut claimed {
            self.own(row, claim.node)?;
        }
        Ok(PartOutcome::Claimed(claimed))
    }

    /// The row is the node's and has not begun.
    fn own(&self, row: &mut WorkRow, node: NodeId) -> Result<()> {
        row.owner = Some(node);
        (row.begun, row.begun_at) = (false, None);
        self.prepare(
            "UPDATE work SET owner = ?3, begun = 0, begun_at = NULL
             WHERE execution = ?1 AND step = ?2",
        )?
        .execute(params![row.execution.as_bytes(), row.step, node.as_bytes()])
        .map(drop)
    }
}
