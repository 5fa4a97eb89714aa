//! The read-only connections: a query takes one, runs on a blocking thread and gives it back. One
//! more is nobody's but the committer's: results must not wait behind people who read lists.
//!
//! No read may last longer than a second: as long as it does, the log cannot start again.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{CachedStatement, Connection, Params};
use tokio::sync::Semaphore;

use super::connect;
use crate::ReadError;
use crate::column::{Field, read_at};
use crate::error::off_thread;

/// How long one read transaction may last.
const READ_MAX: Duration = Duration::from_secs(1);
/// How often a running query looks at the time, in steps of SQLite's virtual machine.
const STEPS_PER_LOOK: i32 = 4_000;

const CLOSED: &str = "the database is closed";

/// A read-only connection.
pub(super) struct Reader {
    connection: Connection,
    /// When the current read has to be over, in microseconds after `since`.
    until_us: Arc<AtomicU64>,
    since: Instant,
}

impl Reader {
    fn open(path: &Path) -> Result<Self, ReadError> {
        let mut connection = connect::reader(path)?;
        let since = Instant::now();
        let until_us = Arc::new(AtomicU64::new(u64::MAX));
        let limit = Arc::clone(&until_us);
        connection.progress_handler(
            STEPS_PER_LOOK,
            Some(move || since.elapsed().as_micros() > u128::from(limit.load(Ordering::Relaxed))),
        )?;
        Ok(Self {
            connection,
            until_us,
            since,
        })
    }

    /// A statement. A read of its own unless it stands in a [`Reader::transaction`].
    pub(super) fn prepare(&self, sql: &str) -> rusqlite::Result<CachedStatement<'_>> {
        self.connection.prepare_cached(sql)
    }

    /// All rows of an answer.
    pub(super) fn rows<T: Field>(
        &self,
        sql: &str,
        params: impl Params,
    ) -> Result<Vec<T>, ReadError> {
        let mut select = self.prepare(sql)?;
        let rows = select.query_and_then(params, |row| read_at(row, 0))?;
        rows.collect()
    }

    /// The first row of an answer.
    pub(super) fn row<T: Field>(
        &self,
        sql: &str,
        params: impl Params,
    ) -> Result<Option<T>, ReadError> {
        let mut select = self.prepare(sql)?;
        let mut rows = select.query(params)?;
        rows.next()?.map(|row| read_at(row, 0)).transpose()
    }

    /// Starts the clock of a read anew; for walks that make one short read after the other.
    pub(super) fn restart_clock(&self) {
        let until = self.since.elapsed() + READ_MAX;
        let until_us = u64::try_from(until.as_micros()).unwrap_or(u64::MAX);
        self.until_us.store(until_us, Ordering::Relaxed);
    }

    /// The same, unless the next statement belongs to a [`Reader::transaction`].
    pub(super) fn restart_clock_between_reads(&self) {
        if self.connection.is_autocommit() {
            self.restart_clock();
        }
    }

    /// Whether half of the time of this read has passed: a walk goes on in another one.
    pub(super) fn is_half_over(&self) -> bool {
        let end = self.since.elapsed() + READ_MAX / 2;
        end.as_micros() > u128::from(self.until_us.load(Ordering::Relaxed))
    }

    /// Reads several things as they were at one moment.
    pub(super) fn transaction<T>(
        &self,
        read: impl FnOnce() -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        self.restart_clock();
        // Dropping it ends the transaction, whatever happened; there is nothing to commit.
        let _transaction = self.connection.unchecked_transaction()?;
        read()
    }
}

/// The connection of one caller that reads on its own thread.
pub(super) struct OwnReader(Mutex<Option<Reader>>);

impl OwnReader {
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        Ok(Self(Mutex::new(Some(Reader::open(path)?))))
    }

    /// Runs a query on the calling thread.
    pub(super) fn read<T>(
        &self,
        query: impl FnOnce(&Reader) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = reader
            .as_ref()
            .ok_or_else(|| ReadError::Unavailable(CLOSED.into()))?;
        reader.restart_clock();
        query(reader)
    }

    /// Waits for the query under way and closes the connection.
    pub(super) fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// All read-only connections that queries share.
pub(super) struct Readers {
    idle: Mutex<Vec<Reader>>,
    permits: Arc<Semaphore>,
    count: u32,
}

impl Readers {
    pub(super) fn open(path: &Path, count: usize) -> Result<Self, ReadError> {
        let count = count.max(1);
        let idle = (0..count)
            .map(|_| Reader::open(path))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            idle: Mutex::new(idle),
            permits: Arc::new(Semaphore::new(count)),
            count: u32::try_from(count).unwrap_or(u32::MAX),
        })
    }

    /// Runs a query on a blocking thread, as soon as a connection is free.
    pub(super) async fn read<T, F>(self: &Arc<Self>, query: F) -> Result<T, ReadError>
    where
        F: FnOnce(&Reader) -> Result<T, ReadError> + Send + 'static,
        T: Send + 'static,
    {
        let unavailable = |why: &'static str| ReadError::Unavailable(why.into());
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(|_| unavailable(CLOSED))?;
        let readers = Arc::clone(self);
        // Whoever waits may go away: the connection and the permit come back all the same.
        off_thread(move || {
            let reader = readers.idle().pop();
            let reader = reader.ok_or_else(|| unavailable("a query broke its connection"))?;
            reader.restart_clock();
            let answer = query(&reader);
            readers.idle().push(reader);
            drop(permit);
            answer
        })
        .await
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Reader>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the queries under way and closes all connections.
    pub(super) async fn close(&self) {
        let all = self.permits.acquire_many(self.count).await;
        self.permits.close();
        self.idle().clear();
        drop(all);
    }
}

#[cfg(test)]
mod tests {
    use refire_core::id::ExecutionId;
    use refire_core::time::Timestamp;

    use super::super::read::list;
    use super::super::{Options, Sqlite};
    use super::*;
    use crate::Store;

    #[tokio::test]
    async fn a_list_goes_on_in_another_read_before_its_time_is_over() {
        let directory = tempfile::tempdir().unwrap();
        let options = Options::new(Timestamp::from_millis(1_800_000_000_000));
        let store = Sqlite::open_in(directory.path(), &options).unwrap();
        let reader = Reader::open(&directory.path().join("refire.db")).unwrap();
        let ids = [3, 2, 1].map(|n| ExecutionId::from_bytes([n; 16]));
        reader.restart_clock();
        assert_eq!(list::load(&reader, &ids).unwrap().1, 3);
        let little = reader.since.elapsed() + READ_MAX / 3;
        let until_us = u64::try_from(little.as_micros()).unwrap();
        reader.until_us.store(until_us, Ordering::Relaxed);
        assert_eq!(list::load(&reader, &ids).unwrap().1, 1);
        drop(reader);
        store.close().await;
    }
}
