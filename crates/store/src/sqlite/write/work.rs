//! Work: what a decision changes in it, how attempts begin and are given back.

use refire_core::execution::Status;
use refire_core::id::{ExecutionId, NodeId};
use rusqlite::{Result, params};

use super::Pen;
use crate::{Begin, PartOutcome, Release, WorkChange, WorkRow};

/// Writes a row over the step's earlier one.
macro_rules! put {
    () => {
        "INSERT INTO work (execution, step, attempt, is_retry, workflow, priority, due_at, \
             limit_key, owner, begun, begun_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
         ON CONFLICT (execution, step) DO UPDATE SET attempt = excluded.attempt, \
             is_retry = excluded.is_retry, workflow = excluded.workflow, \
             priority = excluded.priority, due_at = excluded.due_at, \
             limit_key = excluded.limit_key, owner = excluded.owner, begun = excluded.begun, \
             begun_at = excluded.begun_at"
    };
}

const PUT: &str = put!();
/// The same, but the very attempt that is running stays as it is.
const RESTORE: &str = concat!(
    put!(),
    " WHERE NOT (work.begun AND work.attempt = excluded.attempt)"
);

impl Pen<'_> {
    pub(super) fn change_work(&mut self, id: ExecutionId, changes: &[WorkChange]) -> Result<()> {
        for change in changes {
            match change {
                WorkChange::Put(row) => self.put_work(row, PUT)?,
                WorkChange::Restore(row) => self.put_work(row, RESTORE)?,
                WorkChange::Remove { step } => {
                    self.hold("DELETE FROM work WHERE execution = ?1 AND step = ?2")?
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

    fn put_work(&mut self, row: &WorkRow, sql: &'static str) -> Result<()> {
        // Without the workflow there is no execution either, so this cannot be: the statement
        // fails on the missing key instead of inventing one.
        let workflow = self.workflow_key(&row.workflow)?;
        self.hold(sql)?
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
                row.begun_at.map(|at| at.as_micros()),
            ])
            .map(drop)
    }

    /// The work of an execution that has begun, in order of the steps.
    pub(super) fn begun_of(&self, id: ExecutionId) -> Result<Vec<(String, u32)>> {
        self.prepare(
            "SELECT step, attempt FROM work WHERE execution = ?1 AND begun = 1 ORDER BY step",
        )?
        .query_map([id.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
    }

    pub(super) fn begin(&self, Begin { node, work }: &Begin) -> Result<PartOutcome> {
        let mut begin = self.prepare(
            "UPDATE work SET begun = 1, begun_at = coalesce(begun_at, ?5)
             WHERE execution = ?1 AND step = ?2 AND attempt = ?3 AND owner = ?4",
        )?;
        let mut begun = Vec::with_capacity(work.len());
        for (key, attempt) in work {
            let rows = begin.execute(params![
                key.execution.as_bytes(),
                key.step,
                attempt,
                node.as_bytes(),
                self.now.as_micros(),
            ])?;
            begun.push(rows == 1);
        }
        Ok(PartOutcome::Begun(begun))
    }

    pub(super) fn release(&self, release: &Release) -> Result<PartOutcome> {
        let mut drop_paused = self.prepare(
            "DELETE FROM work WHERE execution = ?1 AND step = ?2 AND owner = ?3 \
             AND EXISTS (SELECT 1 FROM executions WHERE id = ?1 AND status = ?4)",
        )?;
        let mut give = self.prepare(
            "UPDATE work SET owner = NULL, begun = 0, begun_at = NULL,
                 due_at = coalesce(?4, due_at, ?5)
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
                due_at.map(|at| at.as_micros()),
                self.now.as_micros(),
            ])?;
        }
        Ok(PartOutcome::Done)
    }
}
