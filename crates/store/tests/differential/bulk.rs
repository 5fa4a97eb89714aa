//! What happens to bulk jobs.

use refire_core::bulk::{Action, ItemOutcome, JobState, LetterWork, Verdict};
use refire_core::id::{BulkId, DlqId, ItemId};
use refire_store::{
    BulkItem, BulkItemRow, BulkLetters, BulkOptions, BulkPart, BulkStep, BulkWish, NewBulk, Part,
    Prune, Selection,
};

use crate::history::History;

impl History {
    pub(crate) fn any_job(&mut self) -> BulkId {
        BulkId::from_bytes([u8::try_from(1 + self.dice.below(4)).unwrap(); 16])
    }

    /// A letter, an execution, or neither.
    pub(crate) fn any_item(&mut self) -> ItemId {
        match self.dice.below(4) {
            0 => ItemId::from_bytes([u8::try_from(self.dice.below(256)).unwrap(); 16]),
            1 => {
                let ids: Vec<ItemId> = self
                    .known
                    .executions
                    .keys()
                    .map(|id| (*id).into())
                    .collect();
                let found = self.dice.pick_from(ids.iter()).copied();
                found.unwrap_or(ItemId::END)
            }
            _ => self.letter_item(),
        }
    }

    fn letter_item(&mut self) -> ItemId {
        let ids: Vec<ItemId> = self.known.letters.keys().map(|id| (*id).into()).collect();
        let found = self.dice.pick_from(ids.iter()).copied();
        found.unwrap_or(ItemId::from_bytes([0xff; 16]))
    }

    /// What a new execution may be for.
    pub(crate) fn for_job(&mut self) -> Option<BulkItem> {
        let (job, item) = (self.any_job(), self.any_item());
        self.dice.one_in(4).then_some(BulkItem { job, item })
    }

    /// The number of a job's last change, mostly.
    fn rev(&mut self, id: BulkId) -> u64 {
        let known = self.known.bulk_jobs.get(&id).map_or(1, |job| job.row.rev);
        match self.dice.one_in(6) {
            true => known + self.dice.below(3),
            false => known,
        }
    }

    pub(crate) fn bulk_part(&mut self) -> Part {
        let id = self.any_job();
        let rev = self.rev(id);
        let (before, limit) = (self.about_now(60), self.dice.small(4));
        match self.dice.below(12) {
            0..3 => self.new_job(id),
            3 => {
                let state = *self.dice.pick_from(JobState::ALL.iter()).unwrap();
                Part::Bulk(BulkPart::Change { id, rev, state })
            }
            4 => Part::Prune(Prune::BulkItems { before, limit }),
            5 => Part::Prune(Prune::BulkJobs { before, limit }),
            _ => Part::Bulk(BulkPart::Step(Box::new(self.step(id, rev)))),
        }
    }

    fn new_job(&mut self, id: BulkId) -> Part {
        let ids = (0..self.dice.below(4)).map(|_| self.any_item()).collect();
        let total = self.dice.below(9);
        let new = NewBulk {
            id,
            action: *self.dice.pick_from(Action::ALL.iter()).unwrap(),
            wish: BulkWish {
                selection: Selection::of(ids),
                options: BulkOptions::default(),
            },
            total: self.dice.maybe(total),
            rate: self.dice.small(100),
            by: self.dice.pick(&["admin", "ü\"\u{0}"]).to_owned(),
        };
        Part::Bulk(BulkPart::Create(Box::new(new)))
    }

    fn step(&mut self, job: BulkId, rev: u64) -> BulkStep {
        let at = self.now;
        let items = (0..self.dice.below(4)).map(|_| {
            let verdict = Verdict {
                outcome: *self.dice.pick_from(ItemOutcome::ALL.iter()).unwrap(),
                detail: self.dice.one_in(2).then(|| "why\u{0}".to_owned()),
            };
            BulkItemRow::judged(self.any_item(), verdict, at)
        });
        let items = items.collect();
        let mut ids: Vec<DlqId> = Vec::new();
        for _ in 0..self.dice.below(3) {
            let id = self.letter_item().letter();
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let work = match self.dice.below(3) {
            0 => LetterWork::Purge {
                pending: self.dice.one_in(2),
            },
            _ => LetterWork::Delete,
        };
        let letters = BulkLetters {
            ids,
            work,
            by: "ada".to_owned(),
        };
        let cursor = self.any_item();
        // A cursor only goes down.
        let before = self.known.bulk_jobs.get(&job);
        let before = before.and_then(|job| job.row.cursor);
        let cursor = before.map_or(cursor, |before| before.min(cursor));
        BulkStep {
            job,
            rev,
            items,
            letters: self.dice.one_in(2).then_some(letters),
            cursor: self.dice.maybe(cursor),
            ends: self.dice.one_in(5),
        }
    }
}
