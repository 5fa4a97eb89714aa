//! The log of requests to webhooks. What started an execution is logged in its commit; everything else
//! goes through here, in crowds and without anybody waiting for it: a flood of refused requests costs
//! no more than a bounded queue, and what does not fit is counted and left out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use refire_store::{Part, RequestRow};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::commit::{CommitFailure, Queue};

/// Refused requests that wait to be logged.
const WAITING_MAX: usize = 2_048;
/// Bytes that they may weigh together, with those that are being written.
const WAITING_BYTES_MAX: usize = 16 * 1_024 * 1_024;
/// What a request weighs in memory beside what it holds, in bytes.
const ROW_BYTES: usize = 512;
/// Requests that are logged together.
const TOGETHER_MAX: usize = 200;
/// No more are taken to those that weigh so much together, in bytes.
const TOGETHER_BYTES_MAX: usize = 1_024 * 1_024;
/// Those that come within this are.
const TOGETHER: Duration = Duration::from_millis(50);
/// When the store takes nothing, it is asked again after this.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// Whoever wants to read the log waits at most this long for what is not yet in it.
const FLUSH_WITHIN: Duration = Duration::from_secs(2);
/// Wishes to know when all is written that stand in the queue beside the requests; others wait for their
/// turn. While the store is away, those who gave up still stand there.
const FLUSHES_MAX: usize = 64;
/// What could not be logged is told at most this often.
const TOLD_EVERY: Duration = Duration::from_secs(60);
/// A request that waits, with the room that it takes.
type Waiting = (RequestRow, OwnedSemaphorePermit);

/// What is handed to the loop of a log.
enum Note {
    Write(Box<Waiting>),
    /// Whoever wants to know when all before this is written.
    Flush(Flush),
}

/// A wish to know when all is written, with its place in the queue.
struct Flush {
    reply: oneshot::Sender<()>,
    _place: OwnedSemaphorePermit,
}

/// The way into the log.
pub(crate) struct RequestLog {
    sender: mpsc::Sender<Note>,
    /// One permit is one byte.
    room: Arc<Semaphore>,
    /// One permit is one flush.
    flushes: Arc<Semaphore>,
    left_out: Arc<AtomicU64>,
    hurry: Arc<Notify>,
}

/// What the loop of a log reads.
pub(crate) struct Logged {
    notes: mpsc::Receiver<Note>,
    left_out: Arc<AtomicU64>,
    /// Somebody waits: no others are waited for.
    hurry: Arc<Notify>,
}

/// A log, and what its loop reads.
pub(crate) fn request_log() -> (RequestLog, Logged) {
    let (sender, notes) = mpsc::channel(WAITING_MAX + FLUSHES_MAX);
    let left_out = Arc::new(AtomicU64::new(0));
    let hurry = Arc::new(Notify::new());
    let logged = Logged {
        notes,
        left_out: Arc::clone(&left_out),
        hurry: Arc::clone(&hurry),
    };
    let log = RequestLog {
        sender,
        room: Arc::new(Semaphore::new(WAITING_BYTES_MAX)),
        flushes: Arc::new(Semaphore::new(FLUSHES_MAX)),
        left_out,
        hurry,
    };
    (log, logged)
}

impl RequestLog {
    /// Logs it, if there is room.
    pub(super) fn write(&self, row: RequestRow) {
        if !self.try_write(row) {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn try_write(&self, row: RequestRow) -> bool {
        let Ok(bytes) = u32::try_from(weight(&row)) else {
            return false;
        };
        match Arc::clone(&self.room).try_acquire_many_owned(bytes) {
            Ok(room) => {
                let note = Note::Write(Box::new((row, room)));
                self.sender.try_send(note).is_ok()
            }
            Err(_) => false,
        }
    }

    /// Waits until what was logged before is written, for a while: whoever reads then finds it, and
    /// whoever reads while the store is away is not held up by it.
    pub(super) async fn flush(&self) {
        if self.room.available_permits() == WAITING_BYTES_MAX {
            return;
        }
        let flushed = async {
            let Ok(place) = Arc::clone(&self.flushes).acquire_owned().await else {
                return;
            };
            let (reply, answer) = oneshot::channel();
            let flush = Flush {
                reply,
                _place: place,
            };
            if self.sender.send(Note::Flush(flush)).await.is_ok() {
                self.hurry.notify_one();
                let _ = answer.await;
            }
        };
        let _ = tokio::time::timeout(FLUSH_WITHIN, flushed).await;
    }
}

/// What a request weighs while it waits, in bytes.
fn weight(row: &RequestRow) -> usize {
    let held = usize::try_from(row.size()).unwrap_or(usize::MAX);
    held.saturating_add(ROW_BYTES)
}

/// Says now and then how many requests are missing from the log.
struct LeftOut {
    count: Arc<AtomicU64>,
    told: u64,
    told_at: Option<tokio::time::Instant>,
}

impl LeftOut {
    /// How many are new since the last time, if it is time to say so.
    fn news(&mut self) -> Option<u64> {
        let count = self.count.load(Ordering::Relaxed);
        let is_soon = self.told_at.is_some_and(|at| at.elapsed() < TOLD_EVERY);
        if count == self.told || is_soon {
            return None;
        }
        let new = count - self.told;
        self.told = count;
        self.told_at = Some(tokio::time::Instant::now());
        Some(new)
    }
}

/// Writes what waits, until the node stops. The next crowd is taken when the last one is written, so
/// that never more than one stands in the way of other chores.
pub(crate) async fn log_loop(logged: Logged, queue: Queue, stopping: CancellationToken) {
    let Logged {
        mut notes,
        left_out,
        hurry,
    } = logged;
    let mut news = LeftOut {
        count: Arc::clone(&left_out),
        told: 0,
        told_at: None,
    };
    loop {
        if let Some(count) = news.news() {
            tracing::warn!(
                count,
                "refused requests to webhooks came faster than they can be logged; these are not in the log"
            );
        }
        let first = tokio::select! {
            biased;
            note = notes.recv() => note,
            () = stopping.cancelled() => return,
        };
        let first = match first {
            None => return,
            Some(Note::Write(first)) => *first,
            Some(Note::Flush(flush)) => {
                let _ = flush.reply.send(());
                continue;
            }
        };
        tokio::select! {
            biased;
            () = hurry.notified() => {}
            () = tokio::time::sleep(TOGETHER) => {}
        }
        let Crowd {
            rows,
            flush,
            room: _room,
        } = together(first, &mut notes);
        let count = rows.len() as u64;
        match write(rows, &queue, &stopping).await {
            Ok(()) => {}
            Err(CommitFailure::Stopping) => return,
            // The store does not take this, now or later.
            Err(_) => {
                left_out.fetch_add(count, Ordering::Relaxed);
            }
        }
        if let Some(flush) = flush {
            let _ = flush.reply.send(());
        }
    }
}

/// Requests that are logged together.
struct Crowd {
    rows: Vec<RequestRow>,
    room: Vec<OwnedSemaphorePermit>,
    /// Who waits for them.
    flush: Option<Flush>,
}

/// One request and those that came with it.
fn together(first: Waiting, notes: &mut mpsc::Receiver<Note>) -> Crowd {
    let mut bytes = weight(&first.0);
    let mut crowd = Crowd {
        rows: vec![first.0],
        room: vec![first.1],
        flush: None,
    };
    while crowd.rows.len() < TOGETHER_MAX
        && bytes < TOGETHER_BYTES_MAX
        && let Ok(note) = notes.try_recv()
    {
        match note {
            Note::Write(waiting) => {
                let (row, taken) = *waiting;
                bytes += weight(&row);
                crowd.rows.push(row);
                crowd.room.push(taken);
            }
            Note::Flush(flush) => {
                crowd.flush = Some(flush);
                break;
            }
        }
    }
    crowd
}

/// Writes a crowd; while the store is away it waits for it.
async fn write(
    crowd: Vec<RequestRow>,
    queue: &Queue,
    stopping: &CancellationToken,
) -> Result<(), CommitFailure> {
    loop {
        match queue.chore(Part::LogRequests(crowd.clone())).await {
            Err(
                CommitFailure::Unavailable | CommitFailure::DiskFull | CommitFailure::Overloaded,
            ) => {
                tokio::select! {
                    biased;
                    () = stopping.cancelled() => return Err(CommitFailure::Stopping),
                    () = tokio::time::sleep(AGAIN_AFTER) => {}
                }
            }
            other => return other.map(drop),
        }
    }
}

#[cfg(test)]
mod tests {
    use refire_core::id::{RequestId, TriggerId};
    use refire_core::time::Timestamp;
    use refire_store::{PartOutcome, RequestStatus};

    use super::*;
    use crate::commit::{Request, lanes};

    const BODY_BYTES: usize = 64 * 1_024;

    fn row(n: u16) -> RequestRow {
        let mut id = [0; 16];
        id[..2].copy_from_slice(&n.to_be_bytes());
        RequestRow {
            id: RequestId::from_bytes(id),
            trigger: TriggerId::from_bytes([1; 16]),
            at: Timestamp::from_millis(0),
            status: RequestStatus::Filtered,
            source: "192.0.2.7".to_owned(),
            headers: Vec::new(),
            body: Some(vec![b'x'; BODY_BYTES]),
            body_bytes: BODY_BYTES as u64,
            execution: None,
            error: None,
            is_test: false,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_waits_is_bounded_in_bytes_and_written_crowd_by_crowd() {
        let (log, logged) = request_log();
        for n in 0..1_000 {
            log.write(row(n));
        }
        let fits = WAITING_BYTES_MAX / (BODY_BYTES + ROW_BYTES);
        let left_out = || log.left_out.load(Ordering::Relaxed);
        assert_eq!(left_out(), 1_000 - fits as u64);
        let (queue, mut lanes) = lanes();
        let stopping = CancellationToken::new();
        let running = tokio::spawn(log_loop(logged, queue.clone(), stopping.clone()));
        let mut written = 0;
        let mut is_away = true;
        while written < fits {
            let batch = lanes.next(false).await.unwrap();
            let Ok([Request::Part { part, reply }]) = <[Request; 1]>::try_from(batch) else {
                panic!("one crowd at a time");
            };
            let Part::LogRequests(rows) = part else {
                panic!("{part:?}");
            };
            let bytes: usize = rows.iter().map(weight).sum();
            assert!(
                bytes < TOGETHER_BYTES_MAX + BODY_BYTES + ROW_BYTES,
                "{bytes}"
            );
            let waits = tokio::time::timeout(AGAIN_AFTER * 2, lanes.next(false)).await;
            assert!(waits.is_err(), "the next crowd waits for the answer");
            // What the store does not take at first is not lost.
            let is_lost = std::mem::take(&mut is_away);
            let answer = if is_lost {
                Err(CommitFailure::Unavailable)
            } else {
                written += rows.len();
                Ok(PartOutcome::Done)
            };
            assert!(reply.unwrap().send(answer).is_ok());
        }
        assert_eq!(written, fits);
        // There is room again.
        let before = left_out();
        tokio::task::yield_now().await;
        log.write(row(1_000));
        assert_eq!(left_out(), before);
        stopping.cancel();
        queue.close();
        drop(lanes);
        running.await.unwrap();
    }

    /// Takes a crowd and answers it.
    async fn settle(lanes: &mut crate::commit::Lanes, answer: Result<PartOutcome, CommitFailure>) {
        let batch = lanes.next(false).await.unwrap();
        let Ok([Request::Part { reply, .. }]) = <[Request; 1]>::try_from(batch) else {
            panic!("one crowd at a time");
        };
        assert!(reply.unwrap().send(answer).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_waits_for_what_is_being_logged_but_not_for_ever() {
        let (log, logged) = request_log();
        let (queue, mut lanes) = lanes();
        let stopping = CancellationToken::new();
        let running = tokio::spawn(log_loop(logged, queue.clone(), stopping.clone()));
        let begin = tokio::time::Instant::now();
        log.flush().await;
        assert_eq!(begin.elapsed(), Duration::ZERO, "nothing waits");
        log.write(row(1));
        let flushed = async {
            log.flush().await;
            begin.elapsed()
        };
        let (took, ()) = tokio::join!(flushed, settle(&mut lanes, Ok(PartOutcome::Done)));
        assert!(took < TOGETHER, "{took:?}");
        // The store is away.
        log.write(row(2));
        let begin = tokio::time::Instant::now();
        log.flush().await;
        assert_eq!(begin.elapsed(), FLUSH_WITHIN);
        // However many read meanwhile, there is room for requests.
        for _ in 0..WAITING_MAX {
            log.flush().await;
        }
        let room = log.sender.capacity();
        assert!(room >= WAITING_MAX, "{room}");
        log.write(row(3));
        assert_eq!(log.left_out.load(Ordering::Relaxed), 0);
        stopping.cancel();
        queue.close();
        drop(lanes);
        running.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_waits_also_for_a_long_queue() {
        let (log, logged) = request_log();
        let light = |n| RequestRow {
            body: None,
            ..row(n)
        };
        let waiting = u16::try_from(WAITING_MAX).unwrap() - 1;
        for n in 0..waiting {
            log.write(light(n));
        }
        let (queue, mut lanes) = lanes();
        let stopping = CancellationToken::new();
        let running = tokio::spawn(log_loop(logged, queue.clone(), stopping.clone()));
        let written = async {
            let mut written = 0;
            while written < usize::from(waiting) {
                let batch = lanes.next(false).await.unwrap();
                let Ok([Request::Part { part, reply }]) = <[Request; 1]>::try_from(batch) else {
                    panic!("one crowd at a time");
                };
                let Part::LogRequests(rows) = part else {
                    panic!("{part:?}");
                };
                written += rows.len();
                assert!(reply.unwrap().send(Ok(PartOutcome::Done)).is_ok());
            }
        };
        let mut is_written = false;
        let both = async {
            tokio::pin!(written);
            let flushed = log.flush();
            tokio::pin!(flushed);
            loop {
                tokio::select! {
                    biased;
                    () = &mut written, if !is_written => is_written = true,
                    () = &mut flushed => break,
                }
            }
        };
        both.await;
        assert!(is_written, "all that came before");
        stopping.cancel();
        queue.close();
        drop(lanes);
        running.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_left_out_is_told_now_and_then() {
        let count = Arc::new(AtomicU64::new(0));
        let mut left_out = LeftOut {
            count: Arc::clone(&count),
            told: 0,
            told_at: None,
        };
        assert_eq!(left_out.news(), None);
        count.store(7, Ordering::Relaxed);
        assert_eq!(left_out.news(), Some(7));
        count.store(9, Ordering::Relaxed);
        assert_eq!(left_out.news(), None, "not yet");
        tokio::time::advance(TOLD_EVERY).await;
        assert_eq!(left_out.news(), Some(2));
        tokio::time::advance(TOLD_EVERY).await;
        assert_eq!(left_out.news(), None, "nothing new");
    }
}
