//! Three lanes into the commit queue, so that results are never stuck behind admissions, nor
//! admissions behind maintenance.

use std::sync::Arc;
use std::time::Duration;

use refire_store::{Part, PartOutcome};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use super::request::{CommitFailure, Request};

/// Requests that may wait in one lane.
const LANE_REQUESTS_MAX: usize = 4_096;
/// Bytes of admissions that may wait, in KiB.
const ADMISSION_KIB_MAX: usize = 64 * 1_024;
/// How long an admission waits for room before it is refused.
const ADMISSION_WAIT: Duration = Duration::from_secs(1);
/// Requests of one lane in one batch.
pub(super) const BATCH_REQUESTS_MAX: usize = 512;
/// Bytes of one lane in one batch: what is written is held several times while it is.
pub(super) const BATCH_BYTES_MAX: usize = 16 * 1024 * 1024;
/// A maintenance chunk is let in at least this often, however busy the other lanes are.
const CHORE_EVERY: Duration = Duration::from_millis(100);

type Queued = (Request, Option<OwnedSemaphorePermit>);

/// The senders' side.
#[derive(Clone)]
pub(crate) struct Queue {
    results: Sender<Queued>,
    admissions: Sender<Queued>,
    chores: Sender<Queued>,
    room: Arc<Semaphore>,
    closed: CancellationToken,
}

/// The queue is full or closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overloaded {
    /// Full for a second.
    Full,
    /// The committer has stopped.
    Closed,
}

impl From<Overloaded> for CommitFailure {
    fn from(overloaded: Overloaded) -> Self {
        match overloaded {
            Overloaded::Full => Self::Overloaded,
            Overloaded::Closed => Self::Stopping,
        }
    }
}

impl Queue {
    /// Results, timers, claims: waits for room, which keeps the sender's slot busy.
    pub(crate) async fn result(&self, request: Request) -> Result<(), Overloaded> {
        self.results
            .send((request, None))
            .await
            .map_err(|_| Overloaded::Closed)
    }

    /// Something that nobody waits for and that may be left out when the lane is full.
    pub(crate) fn try_result(&self, request: Request) -> Result<(), Overloaded> {
        self.results
            .try_send((request, None))
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => Overloaded::Full,
                mpsc::error::TrySendError::Closed(_) => Overloaded::Closed,
            })
    }

    /// New executions: refused when there is no room for a second.
    pub(crate) async fn admission(&self, request: Request) -> Result<(), Overloaded> {
        let kib = request.bytes().div_ceil(1_024).clamp(1, ADMISSION_KIB_MAX);
        let kib = u32::try_from(kib).unwrap_or(u32::MAX);
        // Mostly there is room, and nothing to wait for.
        let request = match Arc::clone(&self.room).try_acquire_many_owned(kib) {
            Ok(room) => match self.admissions.try_send((request, Some(room))) {
                Ok(()) => return Ok(()),
                Err(mpsc::error::TrySendError::Closed(_)) => return Err(Overloaded::Closed),
                Err(mpsc::error::TrySendError::Full((request, _))) => request,
            },
            Err(_) => request,
        };
        let enter = async {
            let room = Arc::clone(&self.room).acquire_many_owned(kib).await;
            let room = room.map_err(|_| Overloaded::Closed)?;
            self.admissions
                .send((request, Some(room)))
                .await
                .map_err(|_| Overloaded::Closed)
        };
        tokio::time::timeout(ADMISSION_WAIT, enter)
            .await
            .unwrap_or(Err(Overloaded::Full))
    }

    /// Ends the committer once everything that waits is committed.
    pub(crate) fn close(&self) {
        self.closed.cancel();
    }

    /// Commits a part, in the lane of results.
    pub(crate) async fn part(&self, part: Part) -> Result<PartOutcome, CommitFailure> {
        commit(&self.results, part).await
    }

    /// New executions that nobody waits for: they have the place of a chunk of maintenance.
    pub(crate) async fn late_admission(&self, request: Request) -> Result<(), Overloaded> {
        let sent = self.chores.send((request, None)).await;
        sent.map_err(|_| Overloaded::Closed)
    }

    /// Commits a part of maintenance: one chunk per batch.
    pub(crate) async fn chore(&self, part: Part) -> Result<PartOutcome, CommitFailure> {
        commit(&self.chores, part).await
    }
}

async fn commit(lane: &Sender<Queued>, part: Part) -> Result<PartOutcome, CommitFailure> {
    let (reply, answer) = oneshot::channel();
    let reply = Some(reply);
    let sent = lane.send((Request::Part { part, reply }, None)).await;
    sent.map_err(|_| Overloaded::Closed)?;
    // No answer: the committer died in the middle, and what it wrote is not known.
    answer.await.unwrap_or(Err(CommitFailure::Unknown))
}

/// The committer's side.
pub(crate) struct Lanes {
    results: Receiver<Queued>,
    admissions: Receiver<Queued>,
    chores: Receiver<Queued>,
    last_chore: tokio::time::Instant,
    closed: CancellationToken,
}

/// A queue and its lanes.
pub(crate) fn lanes() -> (Queue, Lanes) {
    let (results, results_in) = mpsc::channel(LANE_REQUESTS_MAX);
    let (admissions, admissions_in) = mpsc::channel(LANE_REQUESTS_MAX);
    let (chores, chores_in) = mpsc::channel(LANE_REQUESTS_MAX);
    let room = Arc::new(Semaphore::new(ADMISSION_KIB_MAX));
    let closed = CancellationToken::new();
    let lanes = Lanes {
        results: results_in,
        admissions: admissions_in,
        chores: chores_in,
        last_chore: tokio::time::Instant::now(),
        closed: closed.clone(),
    };
    (
        Queue {
            results,
            admissions,
            chores,
            room,
            closed,
        },
        lanes,
    )
}

impl Lanes {
    /// All that waits, as far as it fits into one batch; waits only if nothing does. None when
    /// the queue was closed and is empty. Maintenance has to wait longer while the store is busy.
    pub(crate) async fn next(&mut self, is_busy: bool) -> Option<Vec<Request>> {
        let mut batch: Vec<Queued> = Vec::new();
        let is_time = self.last_chore.elapsed() >= CHORE_EVERY;
        tokio::select! {
            biased;
            Some(first) = self.results.recv() => batch.push(first),
            Some(first) = self.admissions.recv() => batch.push(first),
            Some(first) = self.chores.recv(), if is_time || !is_busy => {
                self.last_chore = tokio::time::Instant::now();
                batch.push(first);
            }
            () = self.closed.cancelled() => return None,
            else => return None,
        }
        drain(&mut self.results, &mut batch);
        drain(&mut self.admissions, &mut batch);
        // Under load maintenance gets one chunk each 100 ms; without, as fast as it comes.
        if (is_time || batch.len() <= 1 && !is_busy)
            && let Ok(chore) = self.chores.try_recv()
        {
            self.last_chore = tokio::time::Instant::now();
            batch.push(chore);
        }
        Some(batch.into_iter().map(|(request, _room)| request).collect())
    }

    /// Whether nothing waits: a moment for what must not hold anybody up.
    pub(crate) fn is_empty(&self) -> bool {
        self.results.is_empty() && self.admissions.is_empty() && self.chores.is_empty()
    }

    /// Answers everything that waits, without committing it.
    pub(crate) fn refuse_all(&mut self, failure: impl Fn() -> CommitFailure) {
        for lane in [&mut self.results, &mut self.admissions, &mut self.chores] {
            lane.close();
            while let Ok((request, _)) = lane.try_recv() {
                request.refuse(&failure());
            }
        }
    }
}

/// Takes what waits in a lane, until the batch has enough; a request that is large by itself
/// still gets in.
fn drain(lane: &mut Receiver<Queued>, batch: &mut Vec<Queued>) {
    let (mut taken, mut bytes) = (0, 0);
    while taken < BATCH_REQUESTS_MAX && bytes < BATCH_BYTES_MAX {
        match lane.try_recv() {
            Ok(queued) => {
                taken += queued.0.weight();
                bytes += queued.0.bytes();
                batch.push(queued);
            }
            Err(_) => break,
        }
    }
}
