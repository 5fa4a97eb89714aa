//! The SQLite backend: one file, one writer, group commits that are on disk before they answer.
//!
//! One connection writes, and only [`Store::commit`] uses it; a few read-only connections answer
//! queries on blocking threads, and one more belongs to the thread that commits; one thread copies
//! the log back into the file. It never decides when to write: the caller makes the batches, and
//! one thread makes all the commits.

mod backup;
mod checkpoint;
mod columns;
mod connect;
mod failure;
mod lock;
mod migrate;
mod new_file;
mod nodes;
mod private;
mod read;
mod readers;
mod restore;
mod rows;
mod single_writer;
#[cfg(test)]
mod tests;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use refire_core::time::Timestamp;

pub use checkpoint::Stats;
pub use restore::{Restored, restore};
pub(crate) use rows::{NewCopy, Original};

use crate::sql::{Database, Query};
use crate::{Batch, CommitError, PartOutcome, ReadError, Store};
use checkpoint::{Checkpointer, Gauge};
use lock::FileLock;
use nodes::OwnNodes;
use readers::{OwnReader, Readers};
use single_writer::{SingleWriter, Writer};

/// Read-only connections unless told otherwise; each may keep one thread busy.
const READERS: usize = 4;
/// The database's name in a data directory.
const FILE_NAME: &str = "refire.db";

/// How a database is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// The clock's word, for the migrations that opening may apply.
    pub now: Timestamp,
    /// How a commit reaches the disk.
    pub synchronous: Synchronous,
    /// Read-only connections.
    pub readers: usize,
    /// The file's largest size in pages of 4 KiB; a commit beyond it finds the disk full.
    pub pages_max: Option<u32>,
}

impl Options {
    /// What a server uses.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self {
            now,
            synchronous: Synchronous::Full,
            readers: READERS,
            pages_max: None,
        }
    }
}

/// How a commit reaches the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronous {
    /// Each commit is on disk before it is answered.
    Full,
    /// The system may keep commits in memory for a while: a power cut loses answered ones. Only
    /// for the control run of a power-cut test, which must see that loss to be worth anything.
    Normal,
}

/// A store in one SQLite file.
pub struct Sqlite {
    path: PathBuf,
    desk: Arc<SingleWriter>,
    readers: Arc<Readers>,
    /// The committer's.
    loader: Arc<OwnReader>,
    gauge: Arc<Gauge>,
    checkpointer: Arc<Checkpointer>,
    lock: Arc<FileLock>,
    nodes: OwnNodes,
}

impl Sqlite {
    /// Opens a database, makes it if there is none, and brings its tables up to date.
    ///
    /// # Errors
    /// When another process has it open, when it is not a Refire database, when it was made by a
    /// newer Refire, or when the file cannot be used.
    pub fn open(path: &Path, options: &Options) -> Result<Self, ReadError> {
        connect::check_library()?;
        let lock = FileLock::take(path)?;
        restore::refuse_unfinished(path)?;
        let mut connection = connect::writer(path, options)?;
        migrate::migrate(&mut connection, options.now)?;
        let gauge = Arc::new(Gauge::default());
        let checkpointer = Checkpointer::start(path, Arc::clone(&gauge))?;
        checkpointer.watch(&mut connection)?;
        let readers = Readers::open(path, options.readers)?;
        let loader = OwnReader::open(path)?;
        Ok(Self {
            path: path.to_owned(),
            desk: Arc::new(SingleWriter::new(Writer::new(
                connection,
                Arc::clone(&gauge),
            ))),
            readers: Arc::new(readers),
            loader: Arc::new(loader),
            gauge,
            checkpointer: Arc::new(checkpointer),
            lock: Arc::new(lock),
            nodes: OwnNodes::default(),
        })
    }

    /// Opens `refire.db` in a data directory, which is made if it is missing.
    ///
    /// # Errors
    /// As [`Sqlite::open`].
    pub fn open_in(directory: &Path, options: &Options) -> Result<Self, ReadError> {
        std::fs::create_dir_all(directory).map_err(failure::file(format!(
            "{} cannot be made",
            directory.display()
        )))?;
        Self::open(&directory.join(FILE_NAME), options)
    }

    /// How the log and its checkpoints stand.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.gauge.stats()
    }
}

#[async_trait]
impl Store for Sqlite {
    /// Writes on the calling thread, which is to be one thread for all commits: it waits for
    /// the disk, so it must not be one that drives other futures.
    async fn commit(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError> {
        if let Some(node) = batch.lease {
            self.nodes.require(node)?;
        }
        self.desk.commit(batch)
    }

    async fn size(&self) -> Result<Option<u64>, ReadError> {
        const SIZE: &str =
            "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
        Database::row(self, Query::new(SIZE)).await
    }

    async fn backup(
        &self,
        to: &Path,
        progress: &(dyn Fn(u64, u64) + Send + Sync),
    ) -> Result<(), ReadError> {
        backup::backup(Arc::clone(&self.desk), to, progress).await
    }

    /// Finishes a checkpoint that is nearly done, so that the log starts again from its beginning.
    fn idle(&self) {
        self.desk.idle();
    }

    async fn close(&self) {
        self.readers.close().await;
        let loader = Arc::clone(&self.loader);
        let desk = Arc::clone(&self.desk);
        let checkpointer = Arc::clone(&self.checkpointer);
        let lock = Arc::clone(&self.lock);
        let closing = tokio::task::spawn_blocking(move || {
            // The other connections go first, so that the writer's is the last one and leaves a
            // single file behind.
            loader.close();
            checkpointer.stop();
            desk.close();
            lock.release();
        });
        if closing.await.is_err() {
            tracing::error!(path = %self.path.display(), "closing the database failed");
        }
    }
}
