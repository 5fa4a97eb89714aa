//! Workers: what nodes have seen of them.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Pen;
use crate::model::change::Change;
use crate::worker::WORKERS_MAX;
use crate::{PartOutcome, WorkerRow};

impl Pen<'_> {
    pub(super) fn see_workers(&mut self, seen: &[WorkerRow]) -> PartOutcome {
        for seen in seen {
            let row = match self.image.workers.get(&seen.id) {
                Some(known) => {
                    let mut row = (**known).clone();
                    row.add(seen);
                    row
                }
                None => seen.clone(),
            };
            self.change(Change::Worker(seen.id.clone(), Some(Arc::new(row))));
        }
        if self.image.workers.len() > WORKERS_MAX {
            let mut rows: Vec<_> = self.image.workers.values().cloned().collect();
            rows.sort_by_key(|row| (Reverse(row.updated_at), row.id.clone()));
            for row in &rows[WORKERS_MAX..] {
                self.change(Change::Worker(row.id.clone(), None));
            }
        }
        PartOutcome::Done
    }

    pub(super) fn forget_worker(&mut self, id: &str) -> PartOutcome {
        let was = self.image.workers.contains_key(id);
        self.change(Change::Worker(id.to_owned(), None));
        PartOutcome::pruned(usize::from(was))
    }
}
