//! Workers: what nodes have seen of them. A row is read, changed by what all backends share, and written as
//! a whole.

use rusqlite::Result;

use super::Pen;
use crate::column::Named;
use crate::sqlite::columns::{signed, taken};
use crate::table::rows::Workers;
use crate::table::statement::statements;
use crate::worker::WORKERS_MAX;
use crate::{PartOutcome, WorkerRow};

statements! {
    PUT: sqlite(worker: Workers) =
        "INSERT INTO workflow_external_workers ({worker.names}) VALUES ({worker.values})
     ON CONFLICT (worker_id) DO UPDATE SET {worker.replaced!worker_id}";
}

/// Those seen longest ago, if there are too many.
const CUT: &str = "DELETE FROM workflow_external_workers WHERE worker_id IN (
         SELECT worker_id FROM workflow_external_workers
          ORDER BY updated_at DESC, worker_id LIMIT -1 OFFSET ?1)
     AND (SELECT count(*) FROM workflow_external_workers) > ?1";

impl Pen<'_> {
    pub(super) fn see_workers(&mut self, seen: &[WorkerRow]) -> Result<PartOutcome> {
        let columns = WorkerRow::COLUMNS;
        let sql = format!("SELECT {columns} FROM workflow_external_workers WHERE worker_id = ?1");
        for seen in seen {
            let mut select = self.prepare(&sql)?;
            let mut known = select.query_map([&seen.id], |row| taken::<WorkerRow>(row, 0))?;
            let row = match known.next().transpose()? {
                Some(mut row) => {
                    row.add(seen);
                    row
                }
                None => seen.clone(),
            };
            drop(known);
            self.write(&PUT, |to| Workers::bind(to, 1, &row))?;
        }
        self.prepare(CUT)?.execute([signed(WORKERS_MAX as u64)])?;
        Ok(PartOutcome::Done)
    }

    pub(super) fn forget_worker(&mut self, id: &str) -> Result<PartOutcome> {
        let removed = self
            .prepare("DELETE FROM workflow_external_workers WHERE worker_id = ?1")?
            .execute([id])?;
        Ok(PartOutcome::pruned(removed))
    }
}
