//! The way of a commit to the database: a few connections, each with one commit at a time.
//!
//! A commit whose answer was lost is looked for on a new connection. Looking waits for it while it is
//! under way, and makes sure that it never arrives later; so it is either told as it was written, or
//! sent again.

use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::error::SqlState;
use uuid::Uuid;

use super::backoff::Backoff;
use super::columns::uuid;
use super::failure::unavailable;
use super::options::Options;
use super::write::link::{Link, Query, values};
use super::write::resolve::{self, Found};
use super::write::{self, Ended, Failed, Mark, Order};
use crate::{Batch, CommitError, NotWritten, PartOutcome, ReadError};

/// Connections that commit.
const LANES: usize = 2;
/// [`LANES`] as a number of permits.
const ALL_LANES: u32 = 2;
/// Silence for longer than this counts as a lost answer.
const ANSWER_MAX: Duration = Duration::from_secs(7);
/// How long a lost commit is looked for.
const LOST_MAX: Duration = Duration::from_secs(10);
/// How often a commit is sent when others were in its way, or its connection was gone.
const SENT_MAX: u32 = 4;
/// Waits before it is sent again.
const AGAIN_FIRST: Duration = Duration::from_millis(10);
/// See [`AGAIN_FIRST`].
const AGAIN_MAX: Duration = Duration::from_millis(500);
/// Pauses between attempts to connect.
const RECONNECT_FIRST: Duration = Duration::from_millis(50);
/// See [`RECONNECT_FIRST`].
const RECONNECT_MAX: Duration = Duration::from_secs(1);
/// What closing may wait for.
const CLOSING_MAX: Duration = Duration::from_secs(2);
/// Shards of the counts of letters.
const SHARDS: u8 = 16;

const NEW_MARK: &str = "INSERT INTO commit_marks (writer, serial, marked_at)
    VALUES (gen_random_uuid(), 0, clock_timestamp()) RETURNING writer";
const REMOVE_MARK: &str = "DELETE FROM commit_marks WHERE writer = $1";

/// The lease of the committing node is gone.
const LEASE_LOST: &str = "RF001";
/// The commit's mark is gone or has moved on.
const GIVEN_UP: &str = "RF002";

/// The connections that commit.
pub(super) struct Writer {
    options: Options,
    free: Semaphore,
    /// Those that are free: at least as many as permits.
    lanes: Mutex<Vec<Lane>>,
}

impl Writer {
    pub(super) fn new(options: Options) -> Self {
        Self {
            options,
            free: Semaphore::new(LANES),
            lanes: Mutex::new((0..LANES).map(|_| Lane::default()).collect()),
        }
    }

    pub(super) async fn commit(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError> {
        let Ok(_permit) = self.free.acquire().await else {
            return Err(unavailable("the store is closed"));
        };
        let mut taken = self.take();
        taken.lane.commit(&self.options, batch).await
    }

    fn lanes(&self) -> MutexGuard<'_, Vec<Lane>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Taken<'_> {
        Taken {
            lane: self.lanes().pop().unwrap_or_default(),
            writer: self,
        }
    }

    /// Waits for what is under way; nothing is written afterwards.
    pub(super) async fn close(&self) {
        // Not for ever: who is left behind by a silent database finds its answer lost.
        let _all = timeout(CLOSING_MAX, self.free.acquire_many(ALL_LANES)).await;
        self.free.close();
        let lanes = std::mem::take(&mut *self.lanes());
        for lane in lanes {
            // Marks that stay behind are removed by others, much later.
            let _ = timeout(CLOSING_MAX, lane.close()).await;
        }
    }
}

/// A lane that is in use. Its connection does not come back from a commit that was broken off.
struct Taken<'a> {
    lane: Lane,
    writer: &'a Writer,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let lane = std::mem::take(&mut self.lane);
        self.writer.lanes().push(lane);
    }
}

/// A connection that commits, and the numbers of its commits.
#[derive(Default)]
struct Lane {
    link: Option<Link>,
    writer: Option<Uuid>,
    serial: i64,
    /// Set while the database is away.
    away: Option<Away>,
}

/// A database that could not be connected to: it is left alone for a while, longer each time.
struct Away {
    until: Instant,
    backoff: Backoff,
    /// What was said last, in words.
    why: String,
}

/// What to do after a commit that was not written.
enum Verdict {
    /// Nobody is to blame: the same again.
    Again,
    /// The same again under a new mark.
    NewMark,
    /// For good.
    End(NotWritten),
}

impl Lane {
    async fn commit(
        &mut self,
        options: &Options,
        batch: &Batch,
    ) -> Result<Vec<PartOutcome>, CommitError> {
        let mut backoff = Backoff::new(AGAIN_FIRST, AGAIN_MAX);
        let mut sent = 0;
        let mut lost_until = None;
        loop {
            sent += 1;
            let (order, mark) = self.begin(options, batch).await?;
            let failed = match self.send(&order, mark, batch).await {
                Ended::Committed(outcomes) => return Ok(outcomes),
                Ended::Unreadable(error) => return Err(CommitError::Unknown(error.into())),
                Ended::Lost(error) => {
                    self.link = None;
                    let until = *lost_until.get_or_insert_with(|| Instant::now() + LOST_MAX);
                    if let Some(outcomes) = self
                        .find(options, &order, mark, batch, until, error)
                        .await?
                    {
                        return Ok(outcomes);
                    }
                    if Instant::now() < until {
                        continue;
                    }
                    return Err(unavailable("the database does not answer in time"));
                }
                Ended::NotWritten(error) => error,
            };
            let is_last = sent >= SENT_MAX;
            match self.judge(&failed) {
                Verdict::Again if !is_last => {}
                Verdict::NewMark if !is_last => self.writer = None,
                Verdict::Again | Verdict::NewMark => return Err(unavailable(failed)),
                Verdict::End(reason) => {
                    return Err(CommitError::NotWritten {
                        reason,
                        source: failed.into(),
                    });
                }
            }
            tokio::time::sleep(backoff.next()).await;
        }
    }

    /// A new connection. While the database is away it is tried for only now and then: a thousand
    /// requests a second must not become a thousand attempts to connect.
    async fn connect(&mut self, options: &Options) -> Result<Link, CommitError> {
        if let Some(away) = &self.away
            && Instant::now() < away.until
        {
            return Err(unavailable(away.why.clone()));
        }
        match Link::open(options).await {
            Ok(link) => Ok(link),
            Err(error) => {
                self.rest(&error);
                Err(unavailable(error))
            }
        }
    }

    /// The database cannot be used: it is left alone for a while.
    fn rest(&mut self, error: &(dyn Error + 'static)) {
        let away = self.away.get_or_insert_with(|| Away {
            until: Instant::now(),
            backoff: Backoff::new(RECONNECT_FIRST, RECONNECT_MAX),
            why: String::new(),
        });
        away.until = Instant::now() + away.backoff.next();
        away.why = chain(error);
    }

    /// A connection, a mark, and the next number.
    async fn begin(
        &mut self,
        options: &Options,
        batch: &Batch,
    ) -> Result<(Order, Mark), CommitError> {
        let mut link = match self.link.take().filter(Link::is_fit) {
            Some(link) => link,
            None => self.connect(options).await?,
        };
        let writer = match self.writer {
            Some(writer) => writer,
            None => match new_mark(&mut link).await {
                Ok(writer) => {
                    self.serial = 0;
                    writer
                }
                Err(error) => {
                    self.rest(&error);
                    return Err(error);
                }
            },
        };
        self.away = None;
        self.writer = Some(writer);
        self.link = Some(link);
        // The number after a lost one is its fence.
        self.serial += 2;
        let shard = writer.as_bytes()[0] % SHARDS;
        let order = Order {
            commit: uuid(&batch.commit_id),
            now: batch.now,
            shard: shard.into(),
        };
        let serial = self.serial;
        Ok((order, Mark { writer, serial }))
    }

    /// Sends a batch. The connection is kept if it can be used again.
    async fn send(&mut self, order: &Order, mark: Mark, batch: &Batch) -> Ended {
        let Some(mut link) = self.link.take() else {
            return Ended::NotWritten(Failed::silence());
        };
        let writing = write::write(&mut link, order, mark, batch);
        let Ok(ended) = timeout(ANSWER_MAX, Box::pin(writing)).await else {
            return Ended::Lost(Failed::silence());
        };
        self.link = Some(link).filter(Link::is_fit);
        ended
    }

    /// Looks for a commit whose answer was lost. Absent = it is not there and never will be.
    async fn find(
        &mut self,
        options: &Options,
        order: &Order,
        mark: Mark,
        batch: &Batch,
        until: Instant,
        lost: Failed,
    ) -> Result<Option<Vec<PartOutcome>>, CommitError> {
        let mut backoff = Backoff::new(AGAIN_FIRST, AGAIN_MAX);
        let mut trouble = lost;
        loop {
            match timeout_at(until, self.look(options, order, mark, batch)).await {
                Ok(Ok(Found::Written(outcomes))) => return Ok(Some(outcomes)),
                Ok(Ok(Found::Never)) => return Ok(None),
                Ok(Ok(Found::Forgotten)) => {
                    self.writer = None;
                    return Err(CommitError::Unknown(trouble.into()));
                }
                Ok(Err(error)) => trouble = error,
                Err(_) => return Err(CommitError::Unknown(trouble.into())),
            }
            if timeout_at(until, tokio::time::sleep(backoff.next()))
                .await
                .is_err()
            {
                return Err(CommitError::Unknown(trouble.into()));
            }
        }
    }

    async fn look(
        &mut self,
        options: &Options,
        order: &Order,
        mark: Mark,
        batch: &Batch,
    ) -> Result<Found, Failed> {
        let mut link = Link::open(options).await.map_err(ReadError::from)?;
        let found = resolve::find(&mut link, order, mark, batch).await?;
        self.link = Some(link);
        Ok(found)
    }

    /// What a commit that was not written means.
    fn judge(&mut self, failed: &Failed) -> Verdict {
        let Failed::Database(error) = failed else {
            return Verdict::End(NotWritten::Unavailable);
        };
        let Some(code) = error.code() else {
            // Either the connection broke, or a value could not be sent.
            return if error.is_closed() {
                Verdict::Again
            } else {
                Verdict::End(NotWritten::Statement)
            };
        };
        match code {
            &SqlState::T_R_SERIALIZATION_FAILURE
            | &SqlState::T_R_DEADLOCK_DETECTED
            | &SqlState::LOCK_NOT_AVAILABLE => Verdict::Again,
            // This connection is done for: ended from outside, or what it prepared is gone.
            &SqlState::ADMIN_SHUTDOWN
            | &SqlState::CRASH_SHUTDOWN
            | &SqlState::INVALID_SQL_STATEMENT_NAME
            | &SqlState::READ_ONLY_SQL_TRANSACTION
            | &SqlState::FEATURE_NOT_SUPPORTED => {
                self.link = None;
                Verdict::Again
            }
            &SqlState::DISK_FULL => Verdict::End(NotWritten::Full),
            other => match other.code() {
                LEASE_LOST => Verdict::End(NotWritten::LeaseLost),
                GIVEN_UP => Verdict::NewMark,
                word if is_about_data(word) => Verdict::End(NotWritten::Statement),
                _ => Verdict::End(NotWritten::Unavailable),
            },
        }
    }

    async fn close(mut self) {
        if let (Some(link), Some(writer)) = (&mut self.link, self.writer) {
            let _ = link.ask(Query::new(REMOVE_MARK, values![writer])).await;
        }
    }
}

/// Makes the row by which commits of a connection are found.
async fn new_mark(link: &mut Link) -> Result<Uuid, CommitError> {
    let new = timeout(ANSWER_MAX, link.ask(Query::new(NEW_MARK, Vec::new())));
    let rows = new.await.map_err(unavailable)?.map_err(unavailable)?;
    let row = rows.first();
    let row = row.ok_or_else(|| unavailable("a mark was not written"))?;
    row.try_get(0).map_err(unavailable)
}

/// An error with its causes: the driver's own words are only in these.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        said = format!("{said}: {error}");
        cause = error.source();
    }
    said
}

/// Errors that the same data would meet again: their classes.
fn is_about_data(code: &str) -> bool {
    ["21", "22", "23", "42", "44", "54", "P0"].contains(&&code[..2])
}
