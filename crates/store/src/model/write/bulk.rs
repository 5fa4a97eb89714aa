//! Bulk jobs: made, steered, and moved on by what became of the things that they are about.

use std::sync::Arc;

use refire_core::bulk::{JobState, LetterEnd};
use refire_core::id::{BulkId, DlqId, ItemId};
use refire_core::time::Timestamp;

use super::Pen;
use crate::model::change::Change;
use crate::model::image::Job;
use crate::{BulkItem, BulkItemRow, BulkLetters, BulkPart, BulkStep, NewBulk, PartOutcome};

impl Pen<'_> {
    pub(super) fn bulk(&mut self, part: &BulkPart) -> PartOutcome {
        match part {
            BulkPart::Create(new) => self.create_bulk(new),
            BulkPart::Change { id, rev, state } => self.change_bulk(*id, *rev, *state),
            BulkPart::Step(step) => self.step_bulk(step),
        }
    }

    /// Also for what carries a job with it.
    pub(super) fn create_bulk(&mut self, new: &NewBulk) -> PartOutcome {
        if self.image.bulk_jobs.contains_key(&new.id) {
            return PartOutcome::Conflict;
        }
        let job = Job {
            row: new.row(self.now),
            wish: new.wish.clone(),
        };
        self.change(Change::Bulk(new.id, Some(Arc::new(job))));
        PartOutcome::Done
    }

    fn change_bulk(&mut self, id: BulkId, rev: u64, state: JobState) -> PartOutcome {
        let job = self.image.bulk_jobs.get(&id);
        let is_so = job.is_some_and(|job| job.row.rev == rev && job.row.ended_at.is_none());
        if is_so {
            let now = self.now;
            self.move_bulk(id, |row| {
                row.state = state;
                row.rev += 1;
                row.updated_at = now;
                row.ended_at = state.is_over().then_some(now);
            });
        }
        PartOutcome::Touched(is_so)
    }

    fn step_bulk(&mut self, step: &BulkStep) -> PartOutcome {
        let job = self.image.bulk_jobs.get(&step.job);
        let runs = |job: &Arc<Job>| job.row.rev == step.rev && job.row.state == JobState::Running;
        if !job.is_some_and(runs) {
            return PartOutcome::Touched(false);
        }
        for row in &step.items {
            self.keep_item(step.job, row.clone());
        }
        if let Some(letters) = &step.letters {
            self.bulk_letters(step.job, letters);
        }
        if let Some(cursor) = step.cursor {
            self.count_items(step.job, cursor);
        }
        let state = match step.ends {
            true => JobState::Completed,
            false => JobState::Running,
        };
        self.change_bulk(step.job, step.rev, state)
    }

    fn bulk_letters(&mut self, job: BulkId, letters: &BulkLetters) {
        for id in &letters.ids {
            let item = BulkItem {
                job,
                item: (*id).into(),
            };
            if self.has_item(item) {
                continue;
            }
            let state = self.image.letters.get(id).map(|filed| filed.state.clone());
            let (end, verdict) = letters.work.on(state, &letters.by, self.now);
            match end {
                Some(LetterEnd::Stays(state)) => {
                    self.change_letter(*id, |filed| filed.state = state);
                }
                Some(LetterEnd::Goes) => self.purge_letter(*id),
                None => {}
            }
            let row = BulkItemRow::judged(item.item, verdict, self.now);
            self.keep_item(job, row);
        }
    }

    fn purge_letter(&mut self, id: DlqId) {
        let execution = self.image.letters.get(&id).map(|it| it.letter.execution);
        self.change(Change::Letter(id, None));
        if let Some(execution) = execution {
            self.remove_execution(execution);
        }
    }

    pub(super) fn has_item(&self, item: BulkItem) -> bool {
        self.image.bulk_items.contains_key(&(item.job, item.item))
    }

    /// One that has its row keeps it.
    pub(super) fn keep_item(&mut self, job: BulkId, row: BulkItemRow) {
        let key = (job, row.item);
        if !self.image.bulk_items.contains_key(&key) {
            self.change(Change::BulkItem(key, Some(Arc::new(row))));
        }
    }

    /// Moves a job's cursor, and counts what it passes.
    fn count_items(&mut self, id: BulkId, cursor: ItemId) {
        let Some(job) = self.image.bulk_jobs.get(&id) else {
            return;
        };
        let behind = self.image.items_behind(id, job.row.cursor);
        let passed = behind.filter(|row| row.item >= cursor);
        let outcomes: Vec<_> = passed.map(|row| row.outcome).collect();
        let now = self.now;
        self.move_bulk(id, |row| {
            row.cursor = Some(cursor);
            row.updated_at = row.updated_at.max(now);
            outcomes.into_iter().for_each(|it| row.counts.add(it, 1));
        });
    }

    fn move_bulk(&mut self, id: BulkId, how: impl FnOnce(&mut crate::BulkRow)) {
        let Some(mut job) = self.image.bulk_jobs.get(&id).cloned() else {
            return;
        };
        how(&mut Arc::make_mut(&mut job).row);
        self.change(Change::Bulk(id, Some(job)));
    }

    /// The jobs that ended before, in the order of their ends.
    fn bulk_over(&self, before: Timestamp) -> Vec<BulkId> {
        let jobs = self.image.bulk_jobs.values();
        let mut over: Vec<_> = jobs
            .filter_map(|job| Some((job.row.ended_at?, job.row.id)))
            .filter(|(ended, _)| *ended < before)
            .collect();
        over.sort_unstable();
        over.into_iter().map(|(_, id)| id).collect()
    }

    /// One job after the other: its things are counted, and go.
    pub(super) fn prune_bulk_items(&mut self, before: Timestamp, limit: usize) -> usize {
        let mut removed = 0;
        for job in self.bulk_over(before) {
            let items = self.image.items_behind(job, None).take(limit - removed);
            let items: Vec<ItemId> = items.map(|row| row.item).collect();
            if items.is_empty() {
                continue;
            }
            self.count_items(job, ItemId::END);
            removed += items.len();
            for item in items {
                self.change(Change::BulkItem((job, item), None));
            }
        }
        removed
    }

    pub(super) fn prune_bulk_jobs(&mut self, before: Timestamp, limit: usize) -> usize {
        let mut over = self.bulk_over(before);
        over.retain(|job| self.image.items_behind(*job, None).next().is_none());
        over.truncate(limit);
        for job in &over {
            self.change(Change::Bulk(*job, None));
        }
        over.len()
    }
}
