//! Work: what a decision changes in it, and who takes it.

use std::collections::HashMap;

use refire_core::execution::Status;
use refire_core::id::{ExecutionId, NodeId};
use rusqlite::{OptionalExtension, Result, Rows, params};

use super::Pen;
use crate::sqlite::columns::{WORK, work_row};
use crate::{Claim, ClaimTimers, PartOutcome, Release, Want, WorkChange, WorkKey, WorkRow};

/// Writes a row over the step's earlier one.
const PUT: &str = "INSERT INTO work (execution, step, attempt, is_retry, workflow, priority, \
     due_at, limit_key, owner, begun) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) \
     ON CONFLICT (execution, step) DO UPDATE SET attempt = excluded.attempt, \
     is_retry = excluded.is_retry, workflow = excluded.workflow, priority = excluded.priority, \
     due_at = excluded.due_at, limit_key = excluded.limit_key, owner = excluded.owner, \
     begun = excluded.begun";
/// What makes a put a restore: the very attempt that is running stays as it is.
const UNLESS_RUNNING: &str = " WHERE NOT (work.begun AND work.attempt = excluded.attempt)";

/// The next priority of a workflow that has unowned work.
pub(in crate::sqlite) const NEXT_PRIORITY: &str = "SELECT priority FROM work \
     WHERE owner IS NULL AND workflow = ?1 AND priority > ?2 ORDER BY priority LIMIT 1";
/// Unowned work of one priority that may run at once, oldest first.
pub(in crate::sqlite) const AT_ONCE: &str = "FROM work JOIN workflows ON workflows.key = work.workflow \
     WHERE work.owner IS NULL AND work.workflow = ?1 AND work.priority = ?2 \
     AND work.due_at IS NULL ORDER BY work.due_at, work.execution, work.step LIMIT ?3";
/// Unowned work of one priority whose time has come, in the order of that time.
pub(in crate::sqlite) const DUE: &str = "FROM work JOIN workflows ON workflows.key = work.workflow \
     WHERE work.owner IS NULL AND work.workflow = ?1 AND work.priority = ?2 \
     AND work.due_at <= ?4 ORDER BY work.due_at, work.execution, work.step LIMIT ?3";
/// Unowned timers that are due between now and then, in that order.
pub(in crate::sqlite) const TIMERS: &str = "FROM work JOIN workflows ON workflows.key = work.workflow \
     WHERE work.owner IS NULL AND work.due_at IS NOT NULL AND work.due_at <= ?1 \
     AND work.due_at > ?3 ORDER BY work.due_at, work.execution, work.step LIMIT ?2";

/// Rows that one claim looks at; those whose key or retry has no room are passed over.
const ROWS_LOOKED_AT_MAX: i64 = 2_000;

/// Rows picked for a claim so far.
struct Picked<'a> {
    want: &'a Want,
    rows: Vec<WorkRow>,
    retries: u32,
    keys: HashMap<String, u32>,
    looked_at: i64,
}

impl<'a> Picked<'a> {
    fn new(want: &'a Want) -> Self {
        let keys = want
            .keys
            .as_ref()
            .map(|room| room.in_flight.clone())
            .unwrap_or_default();
        Self {
            want,
            rows: Vec::new(),
            retries: 0,
            keys,
            looked_at: 0,
        }
    }

    fn wants_more(&self) -> bool {
        self.rows.len() < self.want.up_to as usize && self.looked_at < ROWS_LOOKED_AT_MAX
    }

    fn pick(&mut self, rows: &mut Rows<'_>) -> Result<()> {
        while self.wants_more() {
            let Some(row) = rows.next()? else {
                return Ok(());
            };
            self.looked_at += 1;
            let row = work_row(row)?;
            if self.has_room(&row) {
                self.rows.push(row);
            }
        }
        Ok(())
    }

    /// Whether the row's retry and key have room; takes that room if so.
    fn has_room(&mut self, row: &WorkRow) -> bool {
        if row.is_retry && self.retries >= self.want.retries_up_to {
            return false;
        }
        if let (Some(room), Some(key)) = (&self.want.keys, &row.limit_key) {
            let in_flight = self.keys.entry(key.clone()).or_default();
            if *in_flight >= room.max {
                return false;
            }
            *in_flight += 1;
        }
        self.retries += u32::from(row.is_retry);
        true
    }
}

impl Pen<'_> {
    pub(super) fn change_work(&mut self, id: ExecutionId, changes: &[WorkChange]) -> Result<()> {
        for change in changes {
            match change {
                WorkChange::Put(row) => self.put_work(row, PUT)?,
                WorkChange::Restore(row) => {
                    self.put_work(row, &format!("{PUT}{UNLESS_RUNNING}"))?;
                }
                WorkChange::Remove { step } => {
                    self.prepare("DELETE FROM work WHERE execution = ?1 AND step = ?2")?
                        .execute(params![id.as_bytes(), step])?;
                }
                WorkChange::RemoveUnbegun => {
                    self.prepare("DELETE FROM work WHERE execution = ?1 AND begun = 0")?
                        .execute([id.as_bytes()])?;
                }
                WorkChange::RemoveAll => self.remove_work(id)?,
            }
        }
        Ok(())
    }

    pub(super) fn remove_work(&self, id: ExecutionId) -> Result<()> {
        self.prepare("DELETE FROM work WHERE execution = ?1")?
            .execute([id.as_bytes()])
            .map(drop)
    }

    fn put_work(&mut self, row: &WorkRow, sql: &str) -> Result<()> {
        // Without the workflow there is no execution either, so this cannot be: the statement
        // fails on the missing key instead of inventing one.
        let workflow = self.workflow_key(&row.workflow)?;
        self.prepare(sql)?
            .execute(params![
                row.execution.as_bytes(),
                row.step,
                row.attempt,
                row.is_retry,
                workflow,
                row.priority,
                row.due_at.map(|at| at.as_micros()),
                row.limit_key,
                row.owner.as_ref().map(NodeId::as_bytes),
                row.begun,
            ])
            .map(drop)
    }

    pub(super) fn claim(&mut self, claim: &Claim) -> Result<PartOutcome> {
        let mut claimed = Vec::new();
        for want in &claim.wants {
            for mut row in self.ready_work(want)? {
                self.own(&row, claim.node, true)?;
                row.owner = Some(claim.node);
                row.begun = true;
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
        let mut picked = Picked::new(want);
        let Some(key) = self.workflow_key(&want.workflow)? else {
            return Ok(picked.rows);
        };
        let now = self.now.as_micros();
        let mut priority = -1_i64;
        while picked.wants_more() {
            let next = self
                .prepare(NEXT_PRIORITY)?
                .query_row([key, priority], |row| row.get(0))
                .optional()?;
            let Some(found) = next else { break };
            priority = found;
            let mut at_once = self.prepare(&format!("SELECT {WORK} {AT_ONCE}"))?;
            picked.pick(&mut at_once.query([key, priority, ROWS_LOOKED_AT_MAX])?)?;
            let mut due = self.prepare(&format!("SELECT {WORK} {DUE}"))?;
            picked.pick(&mut due.query([key, priority, ROWS_LOOKED_AT_MAX, now])?)?;
        }
        Ok(picked.rows)
    }

    pub(super) fn claim_timers(&mut self, claim: &ClaimTimers) -> Result<PartOutcome> {
        let mut rows = self
            .prepare(&format!("SELECT {WORK} {TIMERS}"))?
            .query_map(params![claim.until.as_micros(), claim.up_to, self.now.as_micros()], work_row)?
            .collect::<Result<Vec<_>>>()?;
        for row in &mut rows {
            self.own(row, claim.node, false)?;
            row.owner = Some(claim.node);
        }
        Ok(PartOutcome::Claimed(rows))
    }

    fn own(&self, row: &WorkRow, node: NodeId, begun: bool) -> Result<()> {
        self.prepare("UPDATE work SET owner = ?3, begun = ?4 WHERE execution = ?1 AND step = ?2")?
            .execute(params![
                row.execution.as_bytes(),
                row.step,
                node.as_bytes(),
                begun
            ])
            .map(drop)
    }

    pub(super) fn begin(&self, work: &[(WorkKey, u32)]) -> Result<PartOutcome> {
        let mut begin = self.prepare(
            "UPDATE work SET begun = 1
             WHERE execution = ?1 AND step = ?2 AND attempt = ?3 AND owner IS NOT NULL",
        )?;
        for (key, attempt) in work {
            begin.execute(params![key.execution.as_bytes(), key.step, attempt])?;
        }
        Ok(PartOutcome::Done)
    }

    pub(super) fn release(&self, release: &Release) -> Result<PartOutcome> {
        let mut drop_paused = self.prepare(
            "DELETE FROM work WHERE execution = ?1 AND step = ?2 AND owner = ?3 \
             AND EXISTS (SELECT 1 FROM executions WHERE id = ?1 AND status = ?4)",
        )?;
        let mut give = self.prepare(
            "UPDATE work SET owner = NULL, begun = 0, due_at = coalesce(?4, due_at)
             WHERE execution = ?1 AND step = ?2 AND owner = ?3",
        )?;
        for (key, due_at) in &release.work {
            let (execution, node) = (key.execution.as_bytes(), release.node.as_bytes());
            let paused = Status::Paused.name();
            drop_paused.execute(params![execution, key.step, node, paused])?;
            give.execute(params![
                execution,
                key.step,
                node,
                due_at.map(|at| at.as_micros())
            ])?;
        }
        Ok(PartOutcome::Done)
    }
}
