//! Work: what a decision changes in it, how attempts begin and are given back.

use refire_core::execution::Status;
use refire_core::id::ExecutionId;
use rusqlite::{Result, Statement, params};

use super::Pen;
use crate::table::rows::{Beginnings, GivenBack, Work};
use crate::table::statement::statements;
use crate::{Begin, PartOutcome, Release, WorkChange, WorkRow};

/// Writes a row over the step's earlier one.
macro_rules! put {
    ($unless:literal) => {
        concat!(
            "INSERT INTO work ({work.names}) VALUES ({work.values})
     ON CONFLICT (execution, step) DO UPDATE SET {work.replaced!execution,step}",
            $unless
        )
    };
}

statements! {
    PUT: sqlite(work: Work) = put!("");

    /// The same, but the very attempt that is running stays as it is.
    RESTORE: sqlite(work: Work) =
        put!(" WHERE NOT (work.begun AND work.attempt = excluded.attempt)");

    BEGIN: sqlite(work: Beginnings, now) =
        "UPDATE work SET begun = 1, begun_at = coalesce(begun_at, {now})
     WHERE execution = {work.execution} AND step = {work.step} AND attempt = {work.attempt}
       AND owner = {work.owner}";

    DROP_PAUSED: sqlite(work: GivenBack, now, paused) =
        "DELETE FROM work
     WHERE execution = {work.execution} AND step = {work.step} AND owner = {work.owner}
       AND EXISTS (SELECT 1 FROM executions WHERE id = {work.execution} AND status = {paused})";

    GIVE: sqlite(work: GivenBack, now) =
        "UPDATE work SET owner = NULL, begun = 0, begun_at = NULL,
         due_at = coalesce({work.due_at}, due_at, {now})
     WHERE execution = {work.execution} AND step = {work.step} AND owner = {work.owner}";
}

impl Pen<'_> {
    pub(super) fn change_work(&mut self, id: ExecutionId, changes: &[WorkChange]) -> Result<()> {
        for change in changes {
            match change {
                WorkChange::Put(row) => self.put_work(row, &PUT)?,
                WorkChange::Restore(row) => self.put_work(row, &RESTORE)?,
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
        let workflow = self.workflow_key(&row.workflow)?;
        self.write(sql, |to| Work::bind(to, 1, workflow, row))
            .map(drop)
    }

    /// The work of an execution that has begun and its tasks that workers have, in order of the steps.
    pub(super) fn begun_of(&self, id: ExecutionId) -> Result<Vec<(String, u32)>> {
        self.prepare(
            "SELECT step, attempt FROM work WHERE execution = ?1 AND begun = 1
             UNION ALL
             SELECT step, attempt FROM workflow_external_tasks WHERE execution = ?1 AND status = 1
             ORDER BY step",
        )?
        .query_map([id.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
    }

    pub(super) fn begin(&mut self, Begin { node, work }: &Begin) -> Result<PartOutcome> {
        let now = self.now.as_micros();
        let begin = self.hold(&BEGIN)?;
        let mut begun = Vec::with_capacity(work.len());
        for (key, attempt) in work {
            let next = Beginnings::bind(begin, 1, key.execution, &key.step, *attempt, *node)?;
            begin.raw_bind_parameter(next, now)?;
            begun.push(begin.raw_execute()? == 1);
        }
        Ok(PartOutcome::Begun(begun))
    }

    pub(super) fn release(&mut self, release: &Release) -> Result<PartOutcome> {
        let (now, paused) = (self.now.as_micros(), Status::Paused.name());
        for (key, due_at) in &release.work {
            let bind = |to: &mut Statement<'_>| {
                let next = GivenBack::bind(to, 1, key.execution, &key.step, release.node, *due_at)?;
                to.raw_bind_parameter(next, now)?;
                Ok(next + 1)
            };
            self.write(&DROP_PAUSED, |to| {
                let next = bind(to)?;
                to.raw_bind_parameter(next, paused)?;
                Ok(next)
            })?;
            self.write(&GIVE, bind)?;
        }
        Ok(PartOutcome::Done)
    }
}
