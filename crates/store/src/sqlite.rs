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
use std::time::Duration;

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::execution::{EventRow, Execution};
use refire_core::id::{DlqId, ExecutionId, NodeId, RequestId, TriggerId, WebhookId};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_core::trigger::State;

pub use checkpoint::Stats;
pub use restore::{Restored, restore};
pub(crate) use rows::{NewCopy, Original};

use crate::{
    Batch, CommitError, DueTrigger, EventFilter, ExecutionFilter, Joining, Lease, LetterFilter,
    LetterRow, LetterSummary, NodeRow, OpenCounts, PartOutcome, ReadError, RequestFilter,
    RequestRow, RetryRow, SlotRow, SlotStatus, Store, Stored, Summary, TriggerFilter, TriggerRow,
    VersionRow, WorkKey, WorkRow, WorkflowRow,
};
use checkpoint::{Checkpointer, Gauge};
use lock::FileLock;
use nodes::Nodes;
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
    nodes: Nodes,
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
            nodes: Nodes::default(),
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

    async fn execution(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        self.readers
            .read(move |reader| read::execution::stored(reader, id))
            .await
    }

    async fn values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        let sequences = sequences.to_vec();
        self.readers
            .read(move |reader| read::execution::values(reader, id, &sequences))
            .await
    }

    async fn states(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Execution>>, ReadError> {
        let ids = ids.to_vec();
        self.readers
            .read(move |reader| {
                let states = ids.iter();
                states
                    .map(|id| read::execution::with_values(reader, *id))
                    .collect()
            })
            .await
    }

    /// Reads on the calling thread, as [`Store::commit`] writes on it.
    async fn load(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        self.loader
            .read(|reader| read::execution::stored(reader, id))
    }

    /// See [`Store::load`].
    async fn load_values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        self.loader
            .read(|reader| read::execution::values(reader, id, sequences))
    }

    async fn history(
        &self,
        id: ExecutionId,
        filter: &EventFilter,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRow>, ReadError> {
        let filter = filter.clone();
        self.readers
            .read(move |reader| read::execution::history(reader, id, &filter, after, limit))
            .await
    }

    async fn executions(
        &self,
        filter: &ExecutionFilter,
        before: Option<ExecutionId>,
        limit: u32,
    ) -> Result<Vec<Summary>, ReadError> {
        let filter = filter.clone();
        self.readers
            .read(move |reader| read::list::list(reader, &filter, before, limit))
            .await
    }

    async fn summaries(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Summary>>, ReadError> {
        let ids = ids.to_vec();
        self.readers
            .read(move |reader| {
                let summaries = ids.iter();
                summaries
                    .map(|id| read::execution::summary(reader, *id))
                    .collect()
            })
            .await
    }

    async fn ready_workflows(&self, now: Timestamp) -> Result<Vec<WorkflowId>, ReadError> {
        self.readers
            .read(move |reader| read::work::ready_workflows(reader, now))
            .await
    }

    async fn orphans(
        &self,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError> {
        let after = after.cloned();
        let living = self.nodes.ids();
        self.readers
            .read(move |reader| read::work::orphans(reader, &living, after.as_ref(), limit))
            .await
    }

    async fn owned_due(
        &self,
        node: NodeId,
        now: Timestamp,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError> {
        let after = after.cloned();
        self.readers
            .read(move |reader| read::work::owned_due(reader, node, now, (after.as_ref(), limit)))
            .await
    }

    async fn open_counts(&self, workflow: Option<&WorkflowId>) -> Result<OpenCounts, ReadError> {
        let workflow = workflow.cloned();
        self.readers
            .read(move |reader| read::work::open_counts(reader, workflow.as_ref()))
            .await
    }

    async fn letters(
        &self,
        filter: &LetterFilter,
        before: Option<DlqId>,
        limit: u32,
    ) -> Result<Vec<LetterRow>, ReadError> {
        let filter = filter.clone();
        self.readers
            .read(move |reader| read::letter::list(reader, &filter, before, limit))
            .await
    }

    async fn letter(&self, id: DlqId) -> Result<Option<LetterRow>, ReadError> {
        self.readers
            .read(move |reader| read::letter::one(reader, id))
            .await
    }

    async fn letter_retries(&self, id: DlqId, limit: u32) -> Result<Vec<RetryRow>, ReadError> {
        self.readers
            .read(move |reader| read::letter::retries(reader, id, limit))
            .await
    }

    async fn letter_summary(&self, filter: &LetterFilter) -> Result<LetterSummary, ReadError> {
        let filter = filter.clone();
        self.readers
            .read(move |reader| read::letter_summary::summary(reader, &filter))
            .await
    }

    async fn workflow(&self, id: &WorkflowId) -> Result<Option<WorkflowRow>, ReadError> {
        let id = id.clone();
        self.readers
            .read(move |reader| read::catalog::workflow(reader, &id))
            .await
    }

    async fn workflows(
        &self,
        after: Option<&WorkflowId>,
        limit: u32,
    ) -> Result<Vec<WorkflowRow>, ReadError> {
        let after = after.cloned();
        self.readers
            .read(move |reader| read::catalog::workflows(reader, after.as_ref(), limit))
            .await
    }

    async fn version(
        &self,
        id: &WorkflowId,
        version: u32,
    ) -> Result<Option<VersionRow>, ReadError> {
        let id = id.clone();
        self.readers
            .read(move |reader| read::catalog::version(reader, &id, version))
            .await
    }

    async fn versions(&self, id: &WorkflowId) -> Result<Vec<VersionRow>, ReadError> {
        let id = id.clone();
        self.readers
            .read(move |reader| read::catalog::versions(reader, &id))
            .await
    }

    async fn trigger(&self, id: TriggerId) -> Result<Option<TriggerRow>, ReadError> {
        self.readers
            .read(move |reader| read::trigger::trigger(reader, id))
            .await
    }

    async fn webhook(&self, id: WebhookId) -> Result<Option<TriggerRow>, ReadError> {
        self.readers
            .read(move |reader| read::trigger::webhook(reader, id))
            .await
    }

    async fn triggers(
        &self,
        filter: &TriggerFilter,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<TriggerRow>, ReadError> {
        let filter = filter.clone();
        self.readers
            .read(move |reader| read::trigger::triggers(reader, &filter, after, limit))
            .await
    }

    async fn count_triggers(&self, filter: &TriggerFilter) -> Result<u64, ReadError> {
        let filter = filter.clone();
        self.readers
            .read(move |reader| read::trigger::count_triggers(reader, &filter))
            .await
    }

    async fn trigger_state(&self, id: TriggerId) -> Result<Option<State>, ReadError> {
        self.readers
            .read(move |reader| read::trigger::state(reader, id))
            .await
    }

    async fn due_triggers(&self, by: Timestamp, limit: u32) -> Result<Vec<DueTrigger>, ReadError> {
        self.readers
            .read(move |reader| read::trigger::due(reader, by, limit))
            .await
    }

    async fn next_trigger_due(&self) -> Result<Option<Timestamp>, ReadError> {
        self.readers.read(read::trigger::next_due).await
    }

    async fn slots(
        &self,
        trigger: TriggerId,
        statuses: &[SlotStatus],
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<SlotRow>, ReadError> {
        let statuses = statuses.to_vec();
        self.readers
            .read(move |reader| read::trigger::slots(reader, trigger, &statuses, (before, limit)))
            .await
    }

    async fn slots_between(
        &self,
        trigger: TriggerId,
        from: Timestamp,
        to: Timestamp,
        limit: u32,
    ) -> Result<Vec<SlotRow>, ReadError> {
        self.readers
            .read(move |reader| read::trigger::slots_between(reader, trigger, (from, to), limit))
            .await
    }

    async fn requests(
        &self,
        trigger: TriggerId,
        filter: &RequestFilter,
        before: Option<RequestId>,
        limit: u32,
    ) -> Result<Vec<RequestRow>, ReadError> {
        let filter = filter.clone();
        self.readers
            .read(move |reader| read::request::list(reader, trigger, &filter, (before, limit)))
            .await
    }

    async fn requests_beyond(
        &self,
        newest: u32,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<(TriggerId, Option<RequestId>)>, ReadError> {
        self.readers
            .read(move |reader| read::request::beyond(reader, newest, after, limit))
            .await
    }

    async fn request(&self, id: RequestId) -> Result<Option<RequestRow>, ReadError> {
        self.readers
            .read(move |reader| read::request::one(reader, id))
            .await
    }

    async fn backup(
        &self,
        to: &Path,
        progress: &(dyn Fn(u64, u64) + Send + Sync),
    ) -> Result<(), ReadError> {
        backup::backup(Arc::clone(&self.desk), to, progress).await
    }

    async fn join(&self, node: &Joining, now: Timestamp) -> Result<Lease, ReadError> {
        Ok(self.nodes.join(node, now))
    }

    async fn renew(
        &self,
        node: NodeId,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Lease, ReadError> {
        Ok(self.nodes.renew(node, lease, now))
    }

    async fn reap(&self, by: NodeId, now: Timestamp) -> Result<Vec<NodeId>, ReadError> {
        Ok(self.nodes.reap(by, now))
    }

    async fn leave(&self, node: NodeId) -> Result<(), ReadError> {
        self.nodes.leave(node);
        Ok(())
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, ReadError> {
        let mut nodes = self.nodes.all();
        let owned = self.readers.read(read::work::owned).await?;
        for node in &mut nodes {
            if let Some((_, running, holding)) = owned.iter().find(|(id, ..)| *id == node.id) {
                (node.running, node.holding) = (*running, *holding);
            }
        }
        Ok(nodes)
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
