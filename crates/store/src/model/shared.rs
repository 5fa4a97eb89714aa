//! Commits on a disk that several processes have open at once, as on a database server: several are
//! under way, each counts from the moment it is applied, and its answer may be lost.

use std::collections::{BTreeMap, BTreeSet};

use refire_core::id::NodeId;

use super::change::Change;
use super::disk::{Disk, Platter};
use super::faults::{Finding, Moment, Verdict};
use super::image::Image;
use super::write::Failed;
use super::{Model, not_written};
use crate::{Batch, CommitError, NotWritten, Part, PartOutcome, WorkKey};

/// What is on its way.
#[derive(Default)]
pub(super) struct Traffic {
    /// The rows that batches in flight touch. Claims of others pass them by.
    touched: BTreeMap<u64, BTreeSet<WorkKey>>,
    /// Batches that nobody waits for any more.
    late: BTreeMap<u64, Late>,
    /// The number of the last batch.
    last: u64,
}

impl Traffic {
    fn enter(&mut self) -> u64 {
        self.last += 1;
        self.touched.insert(self.last, BTreeSet::new());
        self.last
    }

    /// What the others touch.
    fn locked(&self, but: u64) -> BTreeSet<WorkKey> {
        let others = self.touched.iter().filter(|(number, _)| **number != but);
        others.flat_map(|(_, keys)| keys.iter().cloned()).collect()
    }
}

/// Takes a batch off the list when it has ended, however it ends.
struct InFlight<'a> {
    disk: &'a Disk,
    number: u64,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let mut platter = self.disk.platter();
        platter.traffic.touched.remove(&self.number);
    }
}

/// A batch that nobody waits for any more.
enum Late {
    OnItsWay(Batch),
    Written(Vec<PartOutcome>),
}

/// What became of a batch that was sent.
enum Sent {
    Answered(Vec<PartOutcome>),
    /// The answer is lost. The outcomes, if it was written.
    Lost(Option<Vec<PartOutcome>>),
    /// The answer is lost, and the batch has not arrived yet.
    Late(u64),
}

impl Platter {
    /// Judges a batch as of this moment: the lease first, then part after part.
    fn judge(
        &mut self,
        batch: &Batch,
        number: u64,
    ) -> Result<(Vec<PartOutcome>, Vec<Change>), CommitError> {
        if batch.lease.is_some_and(|node| !self.image.has_lease(node)) {
            return Err(not_written(NotWritten::LeaseLost, "the lease is gone"));
        }
        let locked = self.traffic.locked(number);
        let drafted = self.draft(batch, &locked);
        drafted.map_err(|failed: Failed| not_written(NotWritten::Statement, failed))
    }
}

impl Platter {
    /// The outcomes of a batch that was written. One that is still on its way will not be: whoever
    /// asks makes sure of that.
    fn find_out(&mut self, sent: Sent) -> Option<Vec<PartOutcome>> {
        match sent {
            Sent::Answered(outcomes) => Some(outcomes),
            Sent::Lost(outcomes) => outcomes,
            Sent::Late(number) => match self.traffic.late.remove(&number)? {
                Late::Written(outcomes) => Some(outcomes),
                Late::OnItsWay(_) => None,
            },
        }
    }
}

impl Disk {
    /// What nobody waits for any more arrives now, if its node still has its lease. For whoever
    /// planned it so (see [`Verdict::Unknown`]); the batches that were written.
    pub fn arrive(&self) -> Vec<Batch> {
        std::iter::from_fn(|| self.arrive_next()).collect()
    }

    /// The same with the oldest that is written by that, so that each can be looked at by itself.
    pub fn arrive_next(&self) -> Option<Batch> {
        let mut platter = self.platter();
        loop {
            let late = platter.traffic.late.iter();
            let mut coming = late.filter(|(_, late)| matches!(late, Late::OnItsWay(_)));
            let number = *coming.next()?.0;
            let Some(Late::OnItsWay(batch)) = platter.traffic.late.remove(&number) else {
                return None;
            };
            if let Ok((outcomes, changes)) = platter.judge(&batch, number) {
                self.keep(&mut platter, changes);
                let written = Late::Written(outcomes);
                platter.traffic.late.insert(number, written);
                return Some(batch);
            }
        }
    }
}

impl Model {
    /// Sends a batch until its outcome is known, or until the process gives up.
    pub(super) async fn send(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError> {
        loop {
            let sent = self.send_once(batch).await?;
            if let Sent::Answered(outcomes) = sent {
                return Ok(outcomes);
            }
            if self.faults.lost(batch).await == Finding::Nothing {
                self.with(|_| ()).await;
                let gave_up = "the answer was lost, and nothing could be found out";
                return Err(CommitError::Unknown(gave_up.into()));
            }
            let written = self
                .with(|platter| {
                    let mut outcomes = platter.find_out(sent)?;
                    read_again(&platter.image, batch, &mut outcomes);
                    Some(outcomes)
                })
                .await;
            if let Some(outcomes) = written {
                return Ok(outcomes);
            }
        }
    }

    async fn send_once(&self, batch: &Batch) -> Result<Sent, CommitError> {
        match self.verdict(Moment::Arrived, batch).await {
            Verdict::Go => {}
            Verdict::Refuse(reason) => return Err(not_written(reason, "it is refused")),
            Verdict::Unknown { durable } => return Ok(self.lose(batch, durable).await),
        }
        let number = self.with(|platter| platter.traffic.enter()).await;
        let _in_flight = InFlight {
            disk: &self.disk,
            number,
        };
        let (_, changes) = self.with(|platter| platter.judge(batch, number)).await?;
        self.with(|platter| platter.traffic.touched.insert(number, touched(&changes)))
            .await;
        match self.faults.commit(Moment::Applied, batch).await {
            Verdict::Go => {}
            Verdict::Refuse(reason) => return Err(not_written(reason, "it is refused")),
            Verdict::Unknown { durable } => return Ok(self.lose(batch, durable).await),
        }
        // It is under way: that its process has died meanwhile does not hold it up.
        let kept = {
            let mut platter = self.disk.platter();
            let judged = platter.judge(batch, number);
            judged.map(|(outcomes, changes)| {
                self.disk.keep(&mut platter, changes);
                platter.traffic.touched.remove(&number);
                outcomes
            })
        };
        let outcomes = match kept {
            Ok(outcomes) => outcomes,
            Err(error) => {
                self.with(|_| ()).await;
                return Err(error);
            }
        };
        match self.verdict(Moment::Durable, batch).await {
            Verdict::Go => Ok(Sent::Answered(outcomes)),
            Verdict::Unknown { durable: true } => Ok(Sent::Lost(Some(outcomes))),
            other => panic!("what is durable stays so: {other:?}"),
        }
    }

    /// The answer is lost before the batch is durable.
    async fn lose(&self, batch: &Batch, arrives: bool) -> Sent {
        if !arrives {
            return Sent::Lost(None);
        }
        let number = self
            .with(|platter| {
                let number = platter.traffic.enter();
                platter.traffic.touched.remove(&number);
                platter
                    .traffic
                    .late
                    .insert(number, Late::OnItsWay(batch.clone()));
                number
            })
            .await;
        Sent::Late(number)
    }
}

/// The work rows among changes.
fn touched(changes: &[Change]) -> BTreeSet<WorkKey> {
    let keys = changes.iter().filter_map(|change| match change {
        Change::Work(key, _) => Some(key.clone()),
        _ => None,
    });
    keys.collect()
}

/// What can be found of a batch that was written a while ago: meanwhile others may have taken what
/// it claimed.
fn read_again(image: &Image, batch: &Batch, outcomes: &mut [PartOutcome]) {
    let is_still = |key: &WorkKey, attempt: u32, node: NodeId, begun: bool| {
        let row = image.work.get(key);
        row.is_some_and(|row| {
            row.owner == Some(node) && row.attempt == attempt && row.begun == begun
        })
    };
    for (part, outcome) in batch.parts.iter().zip(outcomes) {
        match (part, outcome) {
            (Part::Claim(claim), PartOutcome::Claimed(rows)) => {
                rows.retain(|row| is_still(&row.key(), row.attempt, claim.node, false));
            }
            (Part::ClaimTimers(claim), PartOutcome::Claimed(rows)) => {
                rows.retain(|row| is_still(&row.key(), row.attempt, claim.node, false));
            }
            (Part::Begin(begin), PartOutcome::Begun(begun)) => {
                for ((key, attempt), begun) in begin.work.iter().zip(begun) {
                    *begun = is_still(key, *attempt, begin.node, true);
                }
            }
            _ => {}
        }
    }
}
