//! The parts of a batch. What a part may be refused for is read before its first change.

mod alert;
mod breaker;
mod bulk;
mod callback;
mod catalog;
mod claim;
mod execution;
mod letter;
mod minute;
mod notice;
mod prune;
mod request;
mod scheduled;
mod session;
mod task;
mod trigger;
mod work;
mod worker;

use std::collections::BTreeSet;

use refire_core::time::Timestamp;

use super::change::Change;
use super::image::Image;
use crate::{Batch, Part, PartOutcome, WorkKey};

/// A change that the data forbids: no decision makes one. It takes the batch with it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Failed(&'static str);

/// Applies a batch; its claims leave out what others are at. The changes take back whatever was
/// done, also when it failed on the way.
pub(super) fn parts(
    image: &mut Image,
    batch: &Batch,
    locked: &BTreeSet<WorkKey>,
) -> (Result<Vec<PartOutcome>, Failed>, Vec<Change>) {
    let mut pen = Pen {
        image,
        locked,
        back: Vec::new(),
        commit_id: batch.commit_id,
        now: batch.now,
    };
    let outcomes = batch.parts.iter().map(|part| pen.part(part)).collect();
    let mut back = pen.back;
    back.reverse();
    (outcomes, back)
}

/// Applies the parts of one batch.
struct Pen<'a> {
    image: &'a mut Image,
    /// Rows that other batches in flight touch.
    locked: &'a BTreeSet<WorkKey>,
    /// What takes back each change so far.
    back: Vec<Change>,
    commit_id: [u8; 16],
    now: Timestamp,
}

impl Pen<'_> {
    fn part(&mut self, part: &Part) -> Result<PartOutcome, Failed> {
        Ok(match part {
            Part::Admit(admit) => self.admit(admit)?,
            Part::Advance(advance) => self.advance(advance)?,
            Part::Claim(claim) => self.claim(claim),
            Part::ClaimTimers(claim) => self.claim_timers(claim),
            Part::Begin(begin) => self.begin(begin),
            Part::Release(release) => self.release(release),
            Part::LockTasks(lock) => self.lock_tasks(lock),
            Part::TouchTask(touch) => self.touch_task(touch),
            Part::TouchCallback(touch) => self.touch_callback(touch),
            Part::SeeWorkers(seen) => self.see_workers(seen),
            Part::ForgetWorker { id } => self.forget_worker(id),
            Part::ChangeSession(change) => self.change_session(change),
            Part::ChangeBreaker(change) => self.change_breaker(change)?,
            Part::AddMinutes(minutes) => self.add_minutes(minutes),
            Part::ChangeAlerts(changes) => self.change_alerts(changes)?,
            Part::ChangeAlertRule(change) => self.change_alert_rule(change),
            Part::PutSilence(row) => self.put_silence(row),
            Part::RemoveSilence { id } => self.remove_silence(*id),
            Part::DeleteLetter { id, by } => self.delete_letter(*id, by),
            Part::PutWorkflow(put) => self.put_workflow(put),
            Part::DeleteWorkflow { id } => self.delete_workflow(id),
            Part::CreateTrigger(create) => self.create_trigger(create),
            Part::ChangeTrigger(change) => self.change_trigger(change),
            Part::DeleteTrigger { id, .. } => self.delete_trigger(*id),
            Part::Fire(fire) => self.fire(fire)?,
            Part::PutScheduled(put) => self.put_scheduled(put)?,
            Part::MoveGroups(moved) => self.move_groups(moved)?,
            Part::ChangeChannel(change) => self.change_channel(change),
            Part::LogRequests(requests) => self.log_requests(requests),
            Part::Bulk(part) => self.bulk(part),
            Part::Prune(prune) => self.prune(prune),
        })
    }

    fn change(&mut self, change: Change) {
        let back = self.image.change(change);
        self.back.push(back);
    }
}
