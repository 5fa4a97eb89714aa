//! The store in memory, as plain as it can be: the measure for other backends, and the disk of
//! simulations, which decide what goes wrong and when.
//!
//! A [`Disk`] outlives processes; a [`Model`] is the store as one process has it open. A disk is of
//! one process at a time, as a file is, or shared by several, as a database server is. Nothing here
//! depends on chance, on a clock or on a thread.

mod change;
mod disk;
mod faults;
mod image;
mod news;
mod node;
mod read;
mod shared;
mod write;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use refire_core::time::Timestamp;
use tokio::sync::{Mutex, Notify};

pub use disk::{Disk, DiskClock};
pub use faults::{Faults, Finding, Moment, NoFaults, Verdict};
pub use image::{
    AlertKey, Definition, Filed, Image, Job, KeyName, MinuteKey, Record, RingLength, Snapshot,
    Standing, Told, UsedKey,
};

use crate::{Batch, CommitError, News, NotWritten, PartOutcome, ReadError, Store};
use change::Change;
use disk::Platter;

/// What the file of a backup says: the copy itself is found with [`Disk::copy`].
const COPY: &str = "A copy of a store in memory. It lives as long as its process.\n";

/// The process may read and commit.
const OPEN: u8 = 0;
/// A commit ended and nobody knows how: nothing may be built on it.
const UNSURE: u8 = 1;
/// The store was closed.
const CLOSED: u8 = 2;

/// The store as one process has it open.
pub struct Model {
    disk: Arc<Disk>,
    /// Its number among those that have had the disk open.
    process: u64,
    /// Rings when somebody has told it something.
    bell: Arc<Notify>,
    faults: Arc<dyn Faults>,
    /// Commits are made one after the other, unless the disk is shared.
    turn: Mutex<()>,
    standing: AtomicU8,
}

impl Model {
    fn new(disk: Arc<Disk>, process: u64, bell: Arc<Notify>, faults: Arc<dyn Faults>) -> Self {
        Self {
            disk,
            process,
            bell,
            faults,
            turn: Mutex::new(()),
            standing: AtomicU8::new(OPEN),
        }
    }

    /// The process dies: nothing of it returns from now on. Others that share the disk go on.
    pub fn die(&self) {
        self.disk.platter().end(self.process);
    }

    /// Uses the disk. Nothing ever returns to a dead process.
    async fn with<T>(&self, usage: impl FnOnce(&mut Platter) -> T) -> T {
        match self.disk.with(self.process, usage) {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    async fn read<T>(
        &self,
        what: &'static str,
        query: impl FnOnce(&Image) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        self.ask(what, |image| query(image)).await
    }

    /// As a read goes: it may fail before or after it was done.
    async fn ask<T>(
        &self,
        what: &'static str,
        query: impl FnOnce(&mut Image) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        self.with(|_| ()).await;
        if self.standing.load(Ordering::Relaxed) == CLOSED {
            return Err(ReadError::Unavailable("the store is closed".into()));
        }
        let fault = self.faults.read(what).await;
        let answer = self
            .with(|platter| fault.and_then(|()| query(&mut platter.image)))
            .await?;
        self.faults.answer(what).await?;
        Ok(answer)
    }

    /// The time by which leases are judged: the disk's own, where it has one.
    fn now_or(&self, callers: Timestamp) -> Timestamp {
        self.disk.now().unwrap_or(callers)
    }

    async fn verdict(&self, moment: Moment, batch: &Batch) -> Verdict {
        let verdict = self.faults.commit(moment, batch).await;
        self.with(|_| ()).await;
        verdict
    }

    /// The end of a commit that nobody knows; what comes later is refused.
    fn lose_track(&self) -> CommitError {
        self.standing.store(UNSURE, Ordering::Relaxed);
        CommitError::Unknown("the disk did not say how it ended".into())
    }

    /// Makes a drafted batch durable, unless its faults say otherwise.
    async fn finish(
        &self,
        verdict: Verdict,
        batch: &Batch,
        changes: Vec<Change>,
    ) -> Result<(), CommitError> {
        let verdict = match verdict {
            Verdict::Go => self.verdict(Moment::Applied, batch).await,
            other => other,
        };
        match verdict {
            Verdict::Go => {}
            Verdict::Refuse(reason) => return Err(not_written(reason, "the disk refuses it")),
            Verdict::Unknown { durable } => {
                if durable {
                    self.with(|platter| platter.hide(changes)).await;
                }
                return Err(self.lose_track());
            }
        }
        self.with(|platter| self.disk.keep(platter, changes)).await;
        match self.verdict(Moment::Durable, batch).await {
            Verdict::Go => Ok(()),
            Verdict::Unknown { durable: true } => Err(self.lose_track()),
            other => panic!("what is durable stays so: {other:?}"),
        }
    }
}

fn not_written(
    reason: NotWritten,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> CommitError {
    CommitError::NotWritten {
        reason,
        source: source.into(),
    }
}

/// Makes the file that stands for a copy, and refuses what a file system refuses.
fn make_file(to: &Path) -> Result<(), ReadError> {
    let made = File::create_new(to).and_then(|mut file| file.write_all(COPY.as_bytes()));
    made.map_err(|error| {
        let mut what = format!("{} cannot be written", to.display());
        if let (ErrorKind::NotFound, Some(directory)) = (error.kind(), to.parent()) {
            what += &format!(": the directory {} does not exist", directory.display());
        }
        ReadError::File {
            what,
            source: error.into(),
        }
    })
}

#[async_trait]
impl Store for Model {
    async fn commit(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError> {
        let _turn = match self.disk.is_shared() {
            true => None,
            false => Some(self.turn.lock().await),
        };
        self.with(|_| ()).await;
        match self.standing.load(Ordering::Relaxed) {
            OPEN => {}
            CLOSED => return Err(not_written(NotWritten::Unavailable, "the store is closed")),
            _ => {
                return Err(not_written(
                    NotWritten::Unavailable,
                    "an earlier commit is unsure",
                ));
            }
        }
        if self.disk.is_shared() {
            return self.send(batch).await;
        }
        let verdict = self.verdict(Moment::Arrived, batch).await;
        if let Verdict::Refuse(reason) = verdict {
            return Err(not_written(reason, "the disk refuses it"));
        }
        if let Some(node) = batch.lease
            && !self.with(|platter| platter.image.has_lease(node)).await
        {
            return Err(not_written(NotWritten::LeaseLost, "the lease is gone"));
        }
        let (outcomes, changes) = self
            .with(|platter| platter.draft(batch, &BTreeSet::new()))
            .await
            .map_err(|failed| not_written(NotWritten::Statement, failed))?;
        self.finish(verdict, batch, changes).await?;
        Ok(outcomes)
    }

    /// Keeps the copy on the disk, in memory; the file only stands for it. See [`Disk::copy`].
    async fn backup(
        &self,
        to: &Path,
        progress: &(dyn Fn(u64, u64) + Send + Sync),
    ) -> Result<(), ReadError> {
        let rows = self.read("backup", |image| Ok(image.rows())).await?;
        make_file(to)?;
        self.with(|platter| platter.copy(to)).await;
        progress(rows, rows);
        Ok(())
    }

    fn is_shared(&self) -> bool {
        self.disk.is_shared()
    }

    fn tell(&self, news: News) {
        self.tell_others(&news);
    }

    async fn news(&self) -> News {
        match self.disk.is_shared() {
            true => self.hear().await,
            false => std::future::pending().await,
        }
    }

    async fn close(&self) {
        let _turn = self.turn.lock().await;
        self.with(Platter::sync).await;
        self.standing.store(CLOSED, Ordering::Relaxed);
    }
}
