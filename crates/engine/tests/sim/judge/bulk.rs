//! Bulk jobs: each thing once, with its row in the very commit, and counts that are those rows.

use std::collections::BTreeMap;

use refire_core::bulk::{Action, Counts, ItemOutcome};
use refire_core::dead_letter::LetterStatus;
use refire_core::id::{BulkId, ItemId};
use refire_store::BulkItemRow;
use refire_store::model::{Filed, Image, Job};

use crate::mark::{Mark, Marks};
use crate::world::Violation;

/// What all jobs have done so far, whenever that is looked at.
pub(super) fn jobs(image: &Image, marks: &mut Marks) -> Result<(), Violation> {
    if image.bulk_jobs.is_empty() {
        return Ok(());
    }
    let mut items: BTreeMap<BulkId, Vec<&BulkItemRow>> = BTreeMap::new();
    for ((job, _), row) in &image.bulk_items {
        items.entry(*job).or_default().push(row);
    }
    for (id, job) in &image.bulk_jobs {
        let rows = items.remove(id).unwrap_or_default();
        counts(job, &rows)?;
        for row in &rows {
            has_done(image, job, row, marks)?;
        }
    }
    if let Some(job) = items.keys().next() {
        return Err(Violation::new(
            "what a job does has its row",
            format!("{job} is not there"),
        ));
    }
    letters(image)
}

/// The counts of a job are its rows.
fn counts(job: &Job, rows: &[&BulkItemRow]) -> Result<(), Violation> {
    let mut counted = job.row.counts;
    let mut all = Counts::default();
    for row in rows {
        all.add(row.outcome, 1);
        if job.row.cursor.is_none_or(|cursor| row.item < cursor) {
            counted.add(row.outcome, 1);
        }
    }
    match counted == all {
        true => Ok(()),
        false => {
            let what = format!("{}: {counted:?}, but there are {all:?}", job.row.by);
            Err(Violation::new("counts are rows", what))
        }
    }
}

/// What a row says was done was done.
fn has_done(
    image: &Image,
    job: &Job,
    row: &BulkItemRow,
    marks: &mut Marks,
) -> Result<(), Violation> {
    if row.outcome != ItemOutcome::Ok {
        marks.reach(Mark::JobSkipped);
        return Ok(());
    }
    let letter = image.letters.get(&row.item.letter());
    let is_so = |filed: &Filed| match job.row.action {
        Action::Retry => {
            let mut retries = filed.retries.iter();
            retries.any(|it| Some(it.execution) == row.execution && it.by == job.row.by)
        }
        _ => {
            let deleted = filed.state.deleted.as_ref();
            filed.state.status == LetterStatus::Deleted
                && deleted.is_some_and(|(_, by)| *by == job.row.by)
        }
    };
    match letter.is_some_and(|filed| is_so(filed)) {
        true => {
            marks.reach(Mark::JobDone);
            Ok(())
        }
        false => {
            let what = format!("{}: {row:?}", job.row.by);
            Err(Violation::new("a row says what was done", what))
        }
    }
}

/// Every letter was retried once at most by each job, and each of those has its row.
fn letters(image: &Image) -> Result<(), Violation> {
    let by_name: BTreeMap<&str, BulkId> = image
        .bulk_jobs
        .iter()
        .map(|(id, job)| (job.row.by.as_str(), *id))
        .collect();
    for (letter, filed) in &image.letters {
        let mut seen = Vec::new();
        for retry in &filed.retries {
            let Some(job) = by_name.get(retry.by.as_str()) else {
                continue;
            };
            if seen.contains(job) {
                let what = format!("{} retried {letter} twice", retry.by);
                return Err(Violation::new("a job does each thing once", what));
            }
            seen.push(*job);
            let row = image.bulk_items.get(&(*job, ItemId::from(*letter)));
            if row.is_none_or(|row| row.execution != Some(retry.execution)) {
                let what = format!("{} retried {letter}, and has {row:?}", retry.by);
                return Err(Violation::new("what a job does has its row", what));
            }
        }
    }
    Ok(())
}
