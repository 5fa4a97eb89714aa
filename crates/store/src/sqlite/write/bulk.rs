//! Bulk jobs: made, steered, and moved on by what became of the things that they are about.

use refire_core::bulk::{Counts, ItemOutcome, JobState, LetterEnd};
use refire_core::id::{BulkId, ExecutionId, ItemId};
use refire_core::time::Timestamp;
use rusqlite::{OptionalExtension, Result, params};

use super::Pen;
use crate::sqlite::columns::{signed, taken};
use crate::table::rows::{BulkItems, NewBulks};
use crate::table::statement::statements;
use crate::{BulkItem, BulkItemRow, BulkLetters, BulkPart, BulkStep, NewBulk, PartOutcome};

statements! {
    CREATE: sqlite(job: NewBulks) =
        "INSERT INTO bulk_jobs ({job.names}) VALUES ({job.values}) ON CONFLICT (id) DO NOTHING";

    KEEP: sqlite(item: BulkItems) =
        "INSERT INTO bulk_items ({item.names}) VALUES ({item.values}) ON CONFLICT DO NOTHING";
}

const CHANGE: &str =
    "UPDATE bulk_jobs SET state = ?3, rev = rev + 1, updated_at = ?4, ended_at = ?5
     WHERE id = ?1 AND rev = ?2 AND ended_at IS NULL";

/// Those behind the cursor, down to another one.
const COUNTED: &str = "SELECT item.outcome, count(*) FROM bulk_items AS item, bulk_jobs AS job
     WHERE job.id = ?1 AND item.job = job.id AND item.item >= ?2
       AND (job.cursor IS NULL OR item.item < job.cursor) GROUP BY item.outcome";

const MOVE: &str = "UPDATE bulk_jobs SET cursor = ?2, ok = ok + ?3, failed = failed + ?4,
         skipped = skipped + ?5, updated_at = max(updated_at, ?6)
     WHERE id = ?1";

/// The job that ended first and has rows of things.
const OVER: &str = "SELECT id FROM bulk_jobs AS job WHERE ended_at < ?1
       AND EXISTS (SELECT 1 FROM bulk_items AS item WHERE item.job = job.id)
     ORDER BY ended_at, id LIMIT 1";

const REMOVE_ITEMS: &str = "DELETE FROM bulk_items WHERE job = ?1 AND item IN
     (SELECT item FROM bulk_items WHERE job = ?1 ORDER BY item DESC LIMIT ?2)";

const REMOVE_JOBS: &str = "DELETE FROM bulk_jobs WHERE id IN
     (SELECT id FROM bulk_jobs AS job WHERE ended_at < ?1
         AND NOT EXISTS (SELECT 1 FROM bulk_items AS item WHERE item.job = job.id)
       ORDER BY ended_at, id LIMIT ?2)";

impl Pen<'_> {
    pub(super) fn bulk(&mut self, part: &BulkPart) -> Result<PartOutcome> {
        match part {
            BulkPart::Create(new) => self.create_bulk(new),
            BulkPart::Change { id, rev, state } => self.change_bulk(*id, *rev, *state),
            BulkPart::Step(step) => self.step_bulk(step),
        }
    }

    /// Also for what carries a job with it.
    pub(super) fn create_bulk(&mut self, new: &NewBulk) -> Result<PartOutcome> {
        let now = self.now;
        let rows = self.write(&CREATE, |to| NewBulks::bind(to, 1, new, now))?;
        Ok(match rows {
            0 => PartOutcome::Conflict,
            _ => PartOutcome::Done,
        })
    }

    fn change_bulk(&mut self, id: BulkId, rev: u64, state: JobState) -> Result<PartOutcome> {
        let now = self.now.as_micros();
        let ended = state.is_over().then_some(now);
        let values = params![id.as_bytes(), signed(rev), state as u8, now, ended];
        let rows = self.prepare(CHANGE)?.execute(values)?;
        Ok(PartOutcome::Touched(rows > 0))
    }

    fn step_bulk(&mut self, step: &BulkStep) -> Result<PartOutcome> {
        let runs: Option<bool> = self
            .prepare("SELECT state = ?3 FROM bulk_jobs WHERE id = ?1 AND rev = ?2")?
            .query_row(
                params![
                    step.job.as_bytes(),
                    signed(step.rev),
                    JobState::Running as u8
                ],
                |row| row.get(0),
            )
            .optional()?;
        if runs != Some(true) {
            return Ok(PartOutcome::Touched(false));
        }
        for row in &step.items {
            self.keep_item(step.job, row)?;
        }
        if let Some(letters) = &step.letters {
            self.bulk_letters(step.job, letters)?;
        }
        if let Some(cursor) = step.cursor {
            self.count_items(step.job, cursor)?;
        }
        let state = match step.ends {
            true => JobState::Completed,
            false => JobState::Running,
        };
        self.change_bulk(step.job, step.rev, state)
    }

    fn bulk_letters(&mut self, job: BulkId, letters: &BulkLetters) -> Result<()> {
        for id in &letters.ids {
            let item = BulkItem {
                job,
                item: (*id).into(),
            };
            if self.has_item(item)? {
                continue;
            }
            let state = self.letter_state(*id)?;
            let (end, verdict) = letters.work.on(state, &letters.by, self.now);
            match end {
                Some(LetterEnd::Stays(state)) => self.put_letter_state(*id, &state)?,
                Some(LetterEnd::Goes) => self.purge_letter(*id)?,
                None => {}
            }
            let row = BulkItemRow::judged(item.item, verdict, self.now);
            self.keep_item(job, &row)?;
        }
        Ok(())
    }

    pub(super) fn has_item(&self, item: BulkItem) -> Result<bool> {
        self.prepare("SELECT EXISTS (SELECT 1 FROM bulk_items WHERE job = ?1 AND item = ?2)")?
            .query_row([item.job.as_bytes(), item.item.as_bytes()], |row| {
                row.get(0)
            })
    }

    /// The execution that a thing of a job has become.
    pub(super) fn item_done(&mut self, item: BulkItem, execution: ExecutionId) -> Result<()> {
        let row = item.done(execution, self.now);
        self.keep_item(item.job, &row)
    }

    fn keep_item(&mut self, job: BulkId, row: &BulkItemRow) -> Result<()> {
        self.write(&KEEP, |to| BulkItems::bind(to, 1, job, row))
            .map(drop)
    }

    /// Moves a job's cursor, and counts what it passes.
    fn count_items(&mut self, job: BulkId, cursor: ItemId) -> Result<()> {
        let mut counts = Counts::default();
        let mut counted = self.prepare(COUNTED)?;
        let mut rows = counted.query([job.as_bytes(), cursor.as_bytes()])?;
        while let Some(row) = rows.next()? {
            let (outcome, count): (ItemOutcome, u64) = taken(row, 0)?;
            counts.add(outcome, count);
        }
        let [ok, failed, skipped] = [counts.ok, counts.failed, counts.skipped].map(signed);
        let values = params![
            job.as_bytes(),
            cursor.as_bytes(),
            ok,
            failed,
            skipped,
            self.now.as_micros()
        ];
        self.prepare(MOVE)?.execute(values).map(drop)
    }

    /// One job after the other: its things are counted, and go.
    pub(super) fn prune_bulk_items(&mut self, before: Timestamp, limit: usize) -> Result<usize> {
        let mut removed = 0;
        while removed < limit {
            let over: Option<[u8; 16]> = self
                .prepare(OVER)?
                .query_row([before.as_micros()], |row| row.get(0))
                .optional()?;
            let Some(job) = over.map(BulkId::from_bytes) else {
                break;
            };
            self.count_items(job, ItemId::END)?;
            let left = signed((limit - removed) as u64);
            removed += self
                .prepare(REMOVE_ITEMS)?
                .execute(params![job.as_bytes(), left])?;
        }
        Ok(removed)
    }

    pub(super) fn prune_bulk_jobs(&mut self, before: Timestamp, limit: u32) -> Result<usize> {
        self.prepare(REMOVE_JOBS)?
            .execute(params![before.as_micros(), limit])
    }
}
