//! Checkpoints: copying the write-ahead log back into the file without making commits wait.
//!
//! A thread copies whatever waits in the background, but the log can only start again from its
//! beginning when nothing waits at all, and while commits arrive something always does. So the
//! writer itself copies the rest when it has nothing else to do, and at the latest when the log
//! has become too long; then commits wait, and the stall is counted.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::connect::{self, PAGE_BYTES};
use super::failure;
use crate::ReadError;

/// Frames that wait before the thread copies them: 8 MB.
pub(super) const FRAMES_TO_COPY: u64 = (8 << 20) / PAGE_BYTES;
/// Frames that the writer copies itself when it is idle, at most (2 MB): more is the thread's.
const FRAMES_WHEN_IDLE_MAX: u64 = (2 << 20) / PAGE_BYTES;
/// Frames in the log at which commits wait until it is empty: 256 MB.
const FRAMES_MAX: u64 = (256 << 20) / PAGE_BYTES;

/// How the log and its checkpoints stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Frames (pages) in the log.
    pub wal_frames: u64,
    /// Those of them that are not in the file yet.
    pub wal_frames_waiting: u64,
    /// Checkpoints made by the thread in the background.
    pub checkpoints: u64,
    /// Checkpoints made by the writer; commits waited for these.
    pub stalls: u64,
    /// How long commits waited for them in all.
    pub stall_total: Duration,
    /// The longest of them.
    pub stall_max: Duration,
}

/// Counts frames and stalls.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    frames: AtomicU64,
    copied: AtomicU64,
    /// The length at which a stall was tried last and did not succeed; 0 = none.
    stalled_at: AtomicU64,
    checkpoints: AtomicU64,
    stalls: AtomicU64,
    stall_us: AtomicU64,
    stall_us_max: AtomicU64,
}

impl Gauge {
    pub(super) fn stats(&self) -> Stats {
        Stats {
            wal_frames: self.frames.load(Ordering::Relaxed),
            wal_frames_waiting: self.waiting(),
            checkpoints: self.checkpoints.load(Ordering::Relaxed),
            stalls: self.stalls.load(Ordering::Relaxed),
            stall_total: Duration::from_micros(self.stall_us.load(Ordering::Relaxed)),
            stall_max: Duration::from_micros(self.stall_us_max.load(Ordering::Relaxed)),
        }
    }

    fn waiting(&self) -> u64 {
        let copied = self.copied.load(Ordering::Relaxed);
        self.frames.load(Ordering::Relaxed).saturating_sub(copied)
    }

    /// A commit left the log this long.
    fn committed(&self, frames: u64) {
        if frames < self.frames.swap(frames, Ordering::Relaxed) {
            // The log began anew.
            self.copied.store(0, Ordering::Relaxed);
            self.stalled_at.store(0, Ordering::Relaxed);
        }
    }

    fn checkpointed(&self, outcome: &Outcome) {
        // The log may have begun anew since the checkpoint looked at it.
        let frames = self.frames.load(Ordering::Relaxed);
        self.copied
            .store(outcome.copied.min(frames), Ordering::Relaxed);
    }

    /// Whether a checkpoint by the idle writer would end with an empty log, and cheaply.
    pub(super) fn is_nearly_done(&self) -> bool {
        let waiting = self.waiting();
        self.frames.load(Ordering::Relaxed) >= FRAMES_TO_COPY
            && (1..=FRAMES_WHEN_IDLE_MAX).contains(&waiting)
    }

    /// Whether commits have to wait for a checkpoint.
    pub(super) fn is_too_long(&self) -> bool {
        let stalled_at = self.stalled_at.load(Ordering::Relaxed);
        let limit = FRAMES_MAX.max(stalled_at.saturating_add(FRAMES_TO_COPY));
        self.frames.load(Ordering::Relaxed) >= limit
    }
}

/// How much a checkpoint copies, and what it waits for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mode {
    /// What can be copied without waiting for anybody.
    Passive,
    /// All; waits for readers, and the next commit starts the log again.
    Restart,
    /// All; and empties the log's file.
    Truncate,
}

struct Outcome {
    is_busy: bool,
    copied: u64,
}

fn checkpoint(connection: &Connection, mode: Mode) -> rusqlite::Result<Outcome> {
    let sql = match mode {
        Mode::Passive => "PRAGMA wal_checkpoint(PASSIVE)",
        Mode::Restart => "PRAGMA wal_checkpoint(RESTART)",
        Mode::Truncate => "PRAGMA wal_checkpoint(TRUNCATE)",
    };
    connection.prepare_cached(sql)?.query_row([], |row| {
        let copied: i64 = row.get(2)?;
        Ok(Outcome {
            is_busy: row.get(0)?,
            copied: u64::try_from(copied).unwrap_or(0),
        })
    })
}

/// A checkpoint on the writer's own connection, during which no commit can be made.
pub(super) fn stall(connection: &Connection, gauge: &Gauge, mode: Mode) {
    let begun = Instant::now();
    let is_done = match checkpoint(connection, mode) {
        Ok(outcome) => {
            gauge.checkpointed(&outcome);
            !outcome.is_busy
        }
        Err(error) => {
            tracing::warn!(%error, ?mode, "a checkpoint failed");
            false
        }
    };
    // Somebody reads from the log: it grows on for a while before commits wait again.
    let stalled_at = if is_done {
        0
    } else {
        gauge.frames.load(Ordering::Relaxed)
    };
    gauge.stalled_at.store(stalled_at, Ordering::Relaxed);
    let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    gauge.stalls.fetch_add(1, Ordering::Relaxed);
    gauge.stall_us.fetch_add(micros, Ordering::Relaxed);
    gauge.stall_us_max.fetch_max(micros, Ordering::Relaxed);
}

/// The thread that copies in the background.
pub(super) struct Checkpointer {
    gauge: Arc<Gauge>,
    running: Mutex<Option<Running>>,
}

struct Running {
    /// At most one call waits; more would say the same.
    wake: SyncSender<Call>,
    thread: JoinHandle<()>,
}

enum Call {
    Copy,
    Stop,
}

impl Checkpointer {
    pub(super) fn start(path: &Path, gauge: Arc<Gauge>) -> Result<Self, ReadError> {
        let connection = connect::checkpointer(path)?;
        let (wake, calls) = mpsc::sync_channel(1);
        let counted = Arc::clone(&gauge);
        let thread = std::thread::Builder::new()
            .name("refire-checkpoint".to_owned())
            .spawn(move || run(&connection, &counted, &calls))
            .map_err(failure::file(
                "the checkpoint thread cannot be started".to_owned(),
            ))?;
        Ok(Self {
            gauge,
            running: Mutex::new(Some(Running { wake, thread })),
        })
    }

    /// Counts the frames of every commit on this connection and wakes the thread when it is time.
    pub(super) fn watch(&self, connection: &mut Connection) -> Result<(), ReadError> {
        let gauge = Arc::clone(&self.gauge);
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let wake = running.as_ref().map(|running| running.wake.clone());
        connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, frames: i32| {
            gauge.committed(u64::try_from(frames).unwrap_or(0));
            if gauge.waiting() >= FRAMES_TO_COPY
                && let Some(wake) = &wake
            {
                // Full means that the thread has been called already.
                let _ = wake.try_send(Call::Copy);
            }
            Ok(())
        }))?;
        Ok(())
    }

    /// Ends the thread and waits for it.
    pub(super) fn stop(&self) {
        let running = self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(Running { wake, thread }) = running {
            let _ = wake.send(Call::Stop);
            if thread.join().is_err() {
                tracing::error!("the checkpoint thread panicked");
            }
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(connection: &Connection, gauge: &Gauge, calls: &Receiver<Call>) {
    while let Ok(Call::Copy) = calls.recv() {
        match checkpoint(connection, Mode::Passive) {
            Ok(outcome) => {
                gauge.checkpointed(&outcome);
                gauge.checkpoints.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => tracing::warn!(%error, "a checkpoint failed"),
        }
    }
}
