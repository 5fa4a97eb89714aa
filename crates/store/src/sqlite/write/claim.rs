//! Claims: which unowned work a node gets, and in which order.
//!
//! The index of unowned work holds everything that a claim asks for, so that whatever has no room
//! is passed over inside SQLite and without touching the table.

use std::collections::HashMap;

use refire_core::definition::WorkflowId;
use refire_core::id::{ExecutionId, NodeId};
use refire_core::time::Timestamp;
use rusqlite::{OptionalExtension, Result, Row, params};

use super::Pen;
use crate::sqlite::columns::{WORK, execution_id, maybe_time, work_row};
use crate::{Claim, ClaimTimers, KeyRoom, PartOutcome, Want, WorkRow};

/// The next priority of a workflow that has unowned work, and the earliest time of that work
/// (null = at once, which comes first).
pub(in crate::sqlite) const NEXT_PRIORITY: &str = "SELECT priority, due_at FROM work \
     WHERE owner IS NULL AND workflow = ?1 AND priority > ?2 ORDER BY priority, due_at LIMIT 1";

/// What [`candidate`] reads.
const CANDIDATES: &str = "SELECT execution, step, attempt, is_retry, priority, due_at, limit_key \
     FROM work WHERE owner IS NULL AND workflow = ?1 AND priority = ?2";
/// Leaves out what has no room: retries unless there is room for one, and rows of full keys.
const WITH_ROOM: &str = "(?8 OR is_retry = 0) AND (?9 IS NULL OR limit_key IS NULL \
     OR limit_key NOT IN (SELECT value FROM json_each(?9)))";

/// Unowned timers that are due between now and then, in that order.
pub(in crate::sqlite) const TIMERS: &str = "FROM work JOIN workflows ON workflows.key = work.workflow \
     WHERE work.owner IS NULL AND work.due_at IS NOT NULL AND work.due_at <= ?1 \
     AND work.due_at > ?3 ORDER BY work.due_at, work.execution, work.step LIMIT ?2";

/// What the bounds over all nodes count.
const IN_FLIGHT: &str = "SELECT execution, limit_key FROM work \
     WHERE owner IS NOT NULL AND workflow = ?1 AND (begun OR due_at IS NULL OR due_at <= ?2)";

/// Rows that one query may show in vain: a key that fills up on the way is walked over so far
/// before a query with the longer list goes on.
const PASSED_OVER_MAX: u32 = 100;

/// Unowned work of one priority that may run at once, oldest first.
pub(in crate::sqlite) fn at_once() -> String {
    format!(
        "{CANDIDATES} AND due_at IS NULL AND (execution, step) > (?4, ?5) AND {WITH_ROOM} \
         ORDER BY due_at, execution, step LIMIT ?3"
    )
}

/// Unowned work of one priority whose time has come, in the order of that time.
pub(in crate::sqlite) fn due() -> String {
    format!(
        "{CANDIDATES} AND due_at <= ?7 AND (due_at, execution, step) > (?6, ?4, ?5) \
         AND {WITH_ROOM} ORDER BY due_at, execution, step LIMIT ?3"
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
    })
}

/// How far a walk along the index has come.
struct Place {
    due_at: i64,
    execution: [u8; 16],
    step: String,
}

impl Place {
    /// Before every row.
    fn start() -> Self {
        Self {
            due_at: i64::MIN,
            execution: [0; 16],
            step: String::new(),
        }
    }

    fn of(row: &WorkRow) -> Self {
        Self {
            due_at: row.due_at.map_or(i64::MIN, Timestamp::as_micros),
            execution: *row.execution.as_bytes(),
            step: row.step.clone(),
        }
    }
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

    fn has_room_for_a_retry(&self) -> bool {
        self.retries < self.want.retries_up_to
    }

    fn is_full(&self, room: &KeyRoom, key: &str) -> bool {
        let before = room.in_flight.get(key).copied().unwrap_or(0);
        let picked = self.keys.get(key).copied().unwrap_or(0);
        before.saturating_add(picked) >= room.max
    }

    /// The keys without room as a JSON array; absent = there are none.
    fn full_keys(&self) -> Result<Option<String>> {
        let Some(room) = &self.want.keys else {
            return Ok(None);
        };
        if room.max == 0 {
            // Nothing is known to differ from null, so this leaves out every row with a key.
            return Ok(Some("[null]".to_owned()));
        }
        let full: Vec<&String> = room
            .in_flight
            .keys()
            .chain(
                self.keys
                    .keys()
                    .filter(|key| !room.in_flight.contains_key(*key)),
            )
            .filter(|key| self.is_full(room, key))
            .collect();
        if full.is_empty() {
            return Ok(None);
        }
        serde_json::to_string(&full)
            .map(Some)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
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
        let bounded = match want.everywhere {
            Some(bounds) => &want.beside(bounds, self.in_flight(key)?),
            None => want,
        };
        let mut picked = Picked::new(bounded);
        let now = self.now.as_micros();
        let mut priority = -1_i64;
        while picked.missing() > 0 {
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
        Ok(picked.rows)
    }

    /// Work of a workflow that is owned and has begun or is due.
    fn in_flight(&self, workflow: i64) -> Result<Vec<(ExecutionId, Option<String>)>> {
        self.prepare(IN_FLIGHT)?
            .query_map([workflow, self.now.as_micros()], |row| {
                Ok((execution_id(row, 0)?, row.get(1)?))
            })?
            .collect()
    }

    /// Picks along one range. A query shows only what has room when it begins, so that no number
    /// of rows without room hides one that has some; what fills up later is left out by the next.
    fn pick(&self, picked: &mut Picked<'_>, sql: &str, key: i64, priority: i64) -> Result<()> {
        let mut place = Place::start();
        while picked.missing() > 0 {
            let limit = picked.missing().saturating_add(PASSED_OVER_MAX);
            let mut select = self.prepare(sql)?;
            let mut rows = select.query(params![
                key,
                priority,
                limit,
                place.execution,
                place.step,
                place.due_at,
                self.now.as_micros(),
                picked.has_room_for_a_retry(),
                picked.full_keys()?,
            ])?;
            let mut seen = 0;
            while picked.missing() > 0 {
                let Some(row) = rows.next()? else {
                    break;
                };
                let row = candidate(row, &picked.want.workflow)?;
                seen += 1;
                if seen == limit {
                    place = Place::of(&row);
                }
                picked.offer(row);
            }
            if seen < limit {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn claim_timers(&mut self, claim: &ClaimTimers) -> Result<PartOutcome> {
        let mut rows = self
            .prepare(&format!("SELECT {WORK} {TIMERS}"))?
            .query_map(
                params![claim.until.as_micros(), claim.up_to, self.now.as_micros()],
                work_row,
            )?
            .collect::<Result<Vec<_>>>()?;
        for row in &mut rows {
            self.own(row, claim.node)?;
        }
        Ok(PartOutcome::Claimed(rows))
    }

    /// The row is the node's and has not begun.
    fn own(&self, row: &mut WorkRow, node: NodeId) -> Result<()> {
        row.owner = Some(node);
        row.begun = false;
        self.prepare("UPDATE work SET owner = ?3, begun = 0 WHERE execution = ?1 AND step = ?2")?
            .execute(params![row.execution.as_bytes(), row.step, node.as_bytes()])
            .map(drop)
    }
}
