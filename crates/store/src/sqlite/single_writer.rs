//! The one place where commits are made, and who has the writer at the moment.
//!
//! A backup needs the writer's own connection: on any other it would begin again with every
//! commit. So the writer is lent to it, and commits that come meanwhile are handed over and made
//! between two steps of the copy.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::checkpoint::{self, Gauge, Mode};
use super::failure;
use super::write::{self, Memory};
use crate::{Batch, CommitError, PartOutcome, ReadError};

type Outcome = Result<Vec<PartOutcome>, CommitError>;

const CLOSED: &str = "the database is closed";
const POISONED: &str = "an earlier commit may or may not be on disk; only a restart can tell";

/// The connection that writes, and what it knows.
pub(super) struct Writer {
    pub(super) connection: Connection,
    scribe: Scribe,
}

/// What a writer knows beside its connection; apart, so that a backup can hold the connection
/// while commits are made on it.
pub(super) struct Scribe {
    memory: Memory,
    gauge: Arc<Gauge>,
    /// Set when the outcome of a commit is not known, or a transaction cannot be left: what is in
    /// memory may not be what is on disk, so nothing may be built on it.
    is_poisoned: bool,
}

impl Writer {
    pub(super) fn new(connection: Connection, gauge: Arc<Gauge>) -> Self {
        let scribe = Scribe {
            memory: Memory::default(),
            gauge,
            is_poisoned: false,
        };
        Self { connection, scribe }
    }

    /// Copies the whole log into the file. After a commit whose end is not known the log stays as
    /// it is on disk: the next start reads from it what became durable.
    fn finish_log(&self) {
        if !self.scribe.is_poisoned {
            checkpoint::stall(&self.connection, &self.scribe.gauge, Mode::Truncate);
            return;
        }
        let keep = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        if let Err(error) = self.connection.set_db_config(keep, true) {
            tracing::warn!(%error, "closing will copy the log");
        }
    }
}

impl Scribe {
    /// Makes a commit.
    pub(super) fn commit(&mut self, connection: &Connection, batch: &Batch) -> Outcome {
        if self.is_poisoned {
            return Err(failure::unavailable(POISONED));
        }
        execute(connection, "BEGIN IMMEDIATE").map_err(failure::before_commit)?;
        let outcomes = match write::parts(connection, &mut self.memory, batch) {
            Ok(outcomes) => outcomes,
            Err(error) => {
                self.roll_back(connection)?;
                return Err(failure::before_commit(error));
            }
        };
        if let Err(error) = execute(connection, "COMMIT") {
            let certain = failure::at_commit(&error);
            self.roll_back(connection)?;
            return Err(match certain {
                Some(reason) => CommitError::NotWritten {
                    reason,
                    source: error.into(),
                },
                None => {
                    self.is_poisoned = true;
                    CommitError::Unknown(error.into())
                }
            });
        }
        if self.gauge.is_too_long() {
            checkpoint::stall(connection, &self.gauge, Mode::Restart);
        }
        Ok(outcomes)
    }

    /// Undoes a transaction. If even that fails, the connection is stuck in it: nothing can be
    /// written any more, and only a new process gets out of that, so the end is not known.
    fn roll_back(&mut self, connection: &Connection) -> Result<(), CommitError> {
        self.memory = Memory::default();
        if connection.is_autocommit() {
            // SQLite has rolled back by itself, as it does after most errors of the disk.
            return Ok(());
        }
        execute(connection, "ROLLBACK").map_err(|error| {
            tracing::error!(%error, "a transaction could not be rolled back");
            self.is_poisoned = true;
            CommitError::Unknown(error.into())
        })
    }
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// A commit that came while the writer was lent.
pub(super) struct Guest {
    batch: Batch,
    answer: Sender<Outcome>,
}

/// What the borrower of the writer serves between its steps.
pub(super) struct Guests(Receiver<Guest>);

impl Guests {
    /// Makes the commits that wait; when there are none, waits for one so long.
    pub(super) fn serve(
        &self,
        connection: &Connection,
        scribe: &mut Scribe,
        wait: std::time::Duration,
    ) {
        let mut next = self.0.recv_timeout(wait).ok();
        while let Some(guest) = next {
            let outcome = scribe.commit(connection, &guest.batch);
            // Whoever asked is gone only if its thread is.
            let _ = guest.answer.send(outcome);
            next = self.0.try_recv().ok();
        }
    }
}

/// Who has the writer.
pub(super) enum Place {
    Here(Box<Writer>),
    Lent(Sender<Guest>),
    Closed,
}

/// Where commits are made.
pub(super) struct SingleWriter {
    place: Mutex<Place>,
    returned: Condvar,
    is_closing: AtomicBool,
}

impl SingleWriter {
    pub(super) fn new(writer: Writer) -> Self {
        Self {
            place: Mutex::new(Place::Here(Box::new(writer))),
            returned: Condvar::new(),
            is_closing: AtomicBool::new(false),
        }
    }

    pub(super) fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a commit, or has it made by whoever has the writer.
    pub(super) fn commit(&self, batch: &Batch) -> Outcome {
        let mut place = self.place();
        let (answer, outcome) = mpsc::channel();
        match &mut *place {
            Place::Here(writer) => return writer.scribe.commit(&writer.connection, batch),
            Place::Closed => return Err(failure::unavailable(CLOSED)),
            Place::Lent(guests) => {
                if guests
                    .send(Guest {
                        batch: batch.clone(),
                        answer,
                    })
                    .is_err()
                {
                    return Err(failure::unavailable(CLOSED));
                }
            }
        }
        drop(place);
        outcome
            .recv()
            .unwrap_or_else(|gone| Err(CommitError::Unknown(gone.into())))
    }

    /// Finishes a checkpoint that is nearly done.
    pub(super) fn idle(&self) {
        if let Place::Here(writer) = &mut *self.place()
            && writer.scribe.gauge.is_nearly_done()
        {
            checkpoint::stall(&writer.connection, &writer.scribe.gauge, Mode::Passive);
        }
    }

    /// Lends the writer, until the loan is dropped.
    pub(super) fn borrow(&self) -> Result<Loan<'_>, ReadError> {
        let (sender, receiver) = mpsc::channel();
        let mut place = self.place();
        match std::mem::replace(&mut *place, Place::Lent(sender)) {
            Place::Here(writer) => {
                let guests = Guests(receiver);
                Ok(Loan {
                    desk: self,
                    writer: Some(writer),
                    guests,
                })
            }
            other => {
                let is_closed = matches!(other, Place::Closed);
                *place = other;
                let why = if is_closed {
                    CLOSED
                } else {
                    "a backup is under way"
                };
                Err(ReadError::Unavailable(why.into()))
            }
        }
    }

    /// Whether a borrower should stop and give the writer back.
    pub(super) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Relaxed)
    }

    /// Copies the whole log into the file and closes the connection. Later commits are refused.
    pub(super) fn close(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
        let mut place = self
            .returned
            .wait_while(self.place(), |place| matches!(place, Place::Lent(_)))
            .unwrap_or_else(PoisonError::into_inner);
        if let Place::Here(writer) = std::mem::replace(&mut *place, Place::Closed) {
            writer.finish_log();
            if let Err((_, error)) = writer.connection.close() {
                tracing::warn!(%error, "the writer's connection did not close cleanly");
            }
        }
    }
}

/// The writer in the hands of somebody else. Dropping it gives the writer back.
pub(super) struct Loan<'a> {
    desk: &'a SingleWriter,
    /// Taken only by dropping.
    writer: Option<Box<Writer>>,
    guests: Guests,
}

impl Loan<'_> {
    /// The writer, and who waits for it.
    pub(super) fn parts(&mut self) -> Option<(&Connection, &mut Scribe, &Guests)> {
        let writer = self.writer.as_mut()?;
        Some((&writer.connection, &mut writer.scribe, &self.guests))
    }
}

impl Drop for Loan<'_> {
    /// Makes the commits that still wait. With the lock held nobody can add to them any more.
    fn drop(&mut self) {
        let mut place = self.desk.place();
        let Some(mut writer) = self.writer.take() else {
            return;
        };
        self.guests.serve(
            &writer.connection,
            &mut writer.scribe,
            std::time::Duration::ZERO,
        );
        *place = Place::Here(writer);
        self.desk.returned.notify_all();
    }
}
