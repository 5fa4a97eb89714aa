//! Work: what a decision changes in it, how attempts begin and are given back.

use std::sync::Arc;

use refire_core::execution::Status;
use refire_core::id::ExecutionId;

use super::{Failed, Pen};
use crate::model::change::Change;
use crate::{Begin, PartOutcome, Release, WorkChange, WorkKey, WorkRow};

impl Pen<'_> {
    pub(super) fn change_work(
        &mut self,
        id: ExecutionId,
        changes: &[WorkChange],
    ) -> Result<(), Failed> {
        for change in changes {
            match change {
                WorkChange::Put(row) => self.put_work(row, |_| true)?,
                WorkChange::Restore(row) => {
                    self.put_work(row, |known| !(known.begun && known.attempt == row.attempt))?;
                }
                WorkChange::Remove { step } => self.remove_work(WorkKey {
                    execution: id,
                    step: step.clone(),
                }),
                WorkChange::RemoveUnbegun => self.remove_work_where(id, |row| !row.begun),
                WorkChange::RemoveAll => self.remove_work_where(id, |_| true),
            }
        }
        Ok(())
    }

    fn put_work(
        &mut self,
        row: &WorkRow,
        may_replace: impl FnOnce(&WorkRow) -> bool,
    ) -> Result<(), Failed> {
        if !self.image.workflows.contains_key(&row.workflow) {
            return Err(Failed("work of a workflow that was never saved"));
        }
        let known = self.image.work.get(&row.key());
        if known.is_none_or(|known| may_replace(known)) {
            self.write_work(row.clone());
        }
        Ok(())
    }

    pub(super) fn write_work(&mut self, row: WorkRow) {
        self.change(Change::Work(row.key(), Some(Arc::new(row))));
    }

    fn remove_work(&mut self, key: WorkKey) {
        self.change(Change::Work(key, None));
    }

    pub(super) fn remove_work_where(&mut self, id: ExecutionId, goes: impl Fn(&WorkRow) -> bool) {
        let rows = self.image.work_of(id).filter(|row| goes(row));
        let keys: Vec<WorkKey> = rows.map(WorkRow::key).collect();
        for key in keys {
            self.remove_work(key);
        }
    }

    pub(super) fn begin(&mut self, Begin { node, work }: &Begin) -> PartOutcome {
        let mut begun = Vec::with_capacity(work.len());
        for (key, attempt) in work {
            let row = self.image.work.get(key).cloned();
            let row = row.filter(|row| row.attempt == *attempt && row.owner == Some(*node));
            begun.push(row.is_some());
            if let Some(row) = row {
                self.write_work(WorkRow {
                    begun: true,
                    begun_at: row.begun_at.or(Some(self.now)),
                    ..(*row).clone()
                });
            }
        }
        PartOutcome::Begun(begun)
    }

    pub(super) fn release(&mut self, release: &Release) -> PartOutcome {
        for (key, due_at) in &release.work {
            let row = self.image.work.get(key).cloned();
            let Some(row) = row.filter(|row| row.owner == Some(release.node)) else {
                continue;
            };
            let execution = self.image.executions.get(&key.execution);
            if execution.is_some_and(|it| it.row.update.status == Status::Paused) {
                self.remove_work(key.clone());
                continue;
            }
            self.write_work(WorkRow {
                owner: None,
                begun: false,
                begun_at: None,
                due_at: due_at.or(row.due_at).or(Some(self.now)),
                ..(*row).clone()
            });
        }
        PartOutcome::Done
    }
}
