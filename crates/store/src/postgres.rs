//! The PostgreSQL backend: a database that several nodes share.
//!
//! Commits have connections of their own (`writer`), and so do the committer's reads, the leases
//! of nodes and the news between them: none of these ever waits behind a query. Queries share a few
//! connections.

mod backoff;
mod backup;
mod cell;
mod columns;
mod connect;
mod failure;
mod import;
mod migrate;
mod news;
mod nodes;
mod options;
mod pool;
mod read;
#[cfg(feature = "conformance")]
mod scratch;
mod settings;
mod tls;
mod write;
mod writer;

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::execution::{EventRow, Execution};
use refire_core::id::{DlqId, ExecutionId, NodeId, RequestId, TriggerId, WebhookId};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_core::trigger::State;

use backoff::Backoff;
pub use connect::ConnectError;
pub use migrate::Pending;
pub use options::{BadOptions, Options};
#[cfg(feature = "conformance")]
pub use scratch::Scratch;

use crate::{
    Batch, CommitError, DueTrigger, EventFilter, ExecutionFilter, Joining, Lease, LetterFilter,
    LetterRow, LetterSummary, News, NodeRow, OpenCounts, PartOutcome, ReadError, RequestFilter,
    RequestRow, RetryRow, SlotRow, SlotStatus, Store, Stored, Summary, TriggerFilter, TriggerRow,
    VersionRow, WorkKey, WorkRow, WorkflowRow,
};
use news::Wire;
use pool::Pool;
use writer::Writer;

/// Connections for the committer's reads: as many as batches that may be in flight.
const LOADERS: usize = 2;
/// Connections for what attempts begin with.
const DISPATCH: usize = 3;
/// Connections for leases: who waits for a dead node's commit must not keep others from renewing.
const LEASES: usize = 2;
/// For a query.
const READ_WITHIN: Duration = Duration::from_secs(30);
/// For a query that commits or leases wait for.
const URGENT_WITHIN: Duration = Duration::from_secs(6);

/// Waits between attempts to open a database that is not there yet.
const AGAIN_FIRST: Duration = Duration::from_millis(200);
/// See [`AGAIN_FIRST`].
const AGAIN_MAX: Duration = Duration::from_secs(2);

/// A store in a PostgreSQL database.
pub struct Postgres {
    options: Options,
    writer: Writer,
    readers: Pool,
    /// For what attempts begin with: never behind somebody's list.
    dispatch: Pool,
    /// The committer's.
    loaders: Pool,
    leases: Pool,
    wire: Wire,
}

impl Postgres {
    /// Connects to a database and brings its tables up to date.
    ///
    /// # Errors
    /// When it cannot be reached, when the server is too old or its encoding is not UTF-8, when the
    /// database was made by a newer Refire, or when its tables are not up to date and the options
    /// say to leave them.
    pub async fn open(options: &Options) -> Result<Self, ReadError> {
        migrate::ensure(options).await?;
        Ok(Self {
            options: options.clone(),
            writer: Writer::new(options.clone()),
            readers: Pool::new(options, "reader", options.readers, READ_WITHIN)?,
            dispatch: Pool::along_indexes(options, "dispatch", DISPATCH, URGENT_WITHIN)?,
            loaders: Pool::along_indexes(options, "loader", LOADERS, URGENT_WITHIN)?,
            leases: Pool::new(options, "lease", LEASES, URGENT_WITHIN)?,
            wire: Wire::open(options).await?,
        })
    }

    /// As [`Postgres::open`], but a database that is not there yet is waited for: databases are often
    /// started together with those who use them.
    ///
    /// # Errors
    /// As [`Postgres::open`]; at once for what waiting does not mend.
    pub async fn open_within(options: &Options, patience: Duration) -> Result<Self, ReadError> {
        let give_up = Instant::now() + patience;
        let mut backoff = Backoff::new(AGAIN_FIRST, AGAIN_MAX);
        let mut is_told = false;
        loop {
            let error = match Self::open(options).await {
                Ok(store) => return Ok(store),
                Err(error) => error,
            };
            let wait = backoff.next();
            if !may_come_yet(&error) || Instant::now() + wait > give_up {
                return Err(error);
            }
            if !is_told {
                is_told = true;
                tracing::warn!(
                    error = &error as &dyn Error,
                    "the database is not there yet; trying again for up to {} s",
                    patience.as_secs()
                );
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// The migrations that opening would apply.
    ///
    /// # Errors
    /// As [`Postgres::open`].
    pub async fn pending(options: &Options) -> Result<Vec<Pending>, ReadError> {
        let client = migrate::checked(options).await?;
        migrate::pending(&client).await
    }

    /// Brings the tables up to date, and says which migrations that took.
    ///
    /// # Errors
    /// As [`Postgres::open`].
    pub async fn migrate(options: &Options) -> Result<Vec<String>, ReadError> {
        let mut client = migrate::checked(options).await?;
        migrate::migrate(&mut client).await
    }

    /// Carries everything in an SQLite file into a database that is empty, or nothing; its tables are
    /// made if need be. `progress` hears (done, all) in rows; the answer is how many there were.
    ///
    /// # Errors
    /// When the database is not empty, when another process has the file open, or when either
    /// cannot be used.
    pub async fn import(
        options: &Options,
        from: &Path,
        progress: &(dyn Fn(u64, u64) + Send + Sync),
    ) -> Result<u64, ReadError> {
        import::import(options, from, progress).await
    }

    /// A setting that all nodes share.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn setting(&self, name: &str) -> Result<Option<Vec<u8>>, ReadError> {
        let reader = self.readers.reader().await?;
        reader.read(settings::setting(&reader, name)).await
    }

    /// Changes a setting that all nodes share.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn put_setting(&self, name: &str, value: &[u8]) -> Result<(), ReadError> {
        let reader = self.readers.reader().await?;
        reader.read(settings::put(&reader, name, value)).await
    }

    /// Chooses a setting unless another node has, and says what stands.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn put_setting_if_absent(
        &self,
        name: &str,
        value: &[u8],
    ) -> Result<Vec<u8>, ReadError> {
        let reader = self.readers.reader().await?;
        reader
            .read(settings::put_if_absent(&reader, name, value))
            .await
    }
}

/// Whether a database that could not be opened may be there a moment later.
fn may_come_yet(error: &ReadError) -> bool {
    let ReadError::Unavailable(source) = error else {
        return false;
    };
    if let Some(error) = source.downcast_ref::<ConnectError>() {
        return error.may_heal();
    }
    source.downcast_ref().is_some_and(connect::may_heal)
}

#[async_trait]
impl Store for Postgres {
    async fn commit(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError> {
        self.writer.commit(batch).await
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        let reader = self.readers.reader().await?;
        reader.read(read::execution::stored(&reader, id)).await
    }

    async fn values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        let reader = self.readers.reader().await?;
        reader
            .read(read::execution::values(&reader, id, sequences))
            .await
    }

    async fn states(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Execution>>, ReadError> {
        let reader = self.dispatch.reader().await?;
        reader
            .read(read::execution::with_values(&reader, ids))
            .await
    }

    async fn load(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        let reader = self.loaders.reader().await?;
        reader.read(read::execution::stored(&reader, id)).await
    }

    async fn load_values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        let reader = self.loaders.reader().await?;
        reader
            .read(read::execution::values(&reader, id, sequences))
            .await
    }

    async fn history(
        &self,
        id: ExecutionId,
        filter: &EventFilter,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader
            .read(read::execution::history(&reader, id, filter, after, limit))
            .await
    }

    async fn executions(
        &self,
        filter: &ExecutionFilter,
        before: Option<ExecutionId>,
        limit: u32,
    ) -> Result<Vec<Summary>, ReadError> {
        let reader = self.readers.reader().await?;
        reader
            .read(read::list::list(&reader, filter, before, limit))
            .await
    }

    async fn summaries(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Summary>>, ReadError> {
        let reader = self.readers.reader().await?;
        reader.read(read::list::summaries(&reader, ids)).await
    }

    async fn ready_workflows(&self, now: Timestamp) -> Result<Vec<WorkflowId>, ReadError> {
        let reader = self.dispatch.reader().await?;
        reader.read(read::work::ready_workflows(&reader, now)).await
    }

    async fn orphans(
        &self,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError> {
        let reader = self.dispatch.reader().await?;
        reader
            .read(read::work::orphans(&reader, after, limit))
            .await
    }

    async fn owned_due(
        &self,
        node: NodeId,
        now: Timestamp,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError> {
        let reader = self.dispatch.reader().await?;
        reader
            .read(read::work::owned_due(&reader, node, now, (after, limit)))
            .await
    }

    async fn open_counts(&self, workflow: Option<&WorkflowId>) -> Result<OpenCounts, ReadError> {
        let reader = self.readers.reader().await?;
        reader
            .read(read::work::open_counts(&reader, workflow))
            .await
    }

    async fn letters(
        &self,
        filter: &LetterFilter,
        before: Option<DlqId>,
        limit: u32,
    ) -> Result<Vec<LetterRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader
            .read(read::letter::list(&reader, filter, before, limit))
            .await
    }

    async fn letter(&self, id: DlqId) -> Result<Option<LetterRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader.read(read::letter::one(&reader, id)).await
    }

    async fn letter_retries(&self, id: DlqId, limit: u32) -> Result<Vec<RetryRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader.read(read::letter::retries(&reader, id, limit)).await
    }

    async fn letter_summary(&self, filter: &LetterFilter) -> Result<LetterSummary, ReadError> {
        let reader = self.readers.reader().await?;
        reader
            .read(read::letter_summary::summary(&reader, filter))
            .await
    }

    async fn workflow(&self, id: &WorkflowId) -> Result<Option<WorkflowRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader.read(read::catalog::workflow(&reader, id)).await
    }

    async fn workflows(
        &self,
        after: Option<&WorkflowId>,
        limit: u32,
    ) -> Result<Vec<WorkflowRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader
            .read(read::catalog::workflows(&reader, after, limit))
            .await
    }

    async fn version(
        &self,
        id: &WorkflowId,
        version: u32,
    ) -> Result<Option<VersionRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader
            .read(read::catalog::version(&reader, id, version))
            .await
    }

    async fn versions(&self, id: &WorkflowId) -> Result<Vec<VersionRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader.read(read::catalog::versions(&reader, id)).await
    }

    async fn trigger(&self, id: TriggerId) -> Result<Option<TriggerRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader.read(read::trigger::trigger(&reader, id)).await
    }

    async fn webhook(&self, id: WebhookId) -> Result<Option<TriggerRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader.read(read::trigger::webhook(&reader, id)).await
    }

    async fn triggers(
        &self,
        filter: &TriggerFilter,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<TriggerRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader
            .read(read::trigger::triggers(&reader, filter, after, limit))
            .await
    }

    async fn count_triggers(&self, filter: &TriggerFilter) -> Result<u64, ReadError> {
        let reader = self.readers.reader().await?;
        reader
            .read(read::trigger::count_triggers(&reader, filter))
            .await
    }

    async fn trigger_state(&self, id: TriggerId) -> Result<Option<State>, ReadError> {
        let reader = self.dispatch.reader().await?;
        reader.read(read::trigger::state(&reader, id)).await
    }

    async fn due_triggers(&self, by: Timestamp, limit: u32) -> Result<Vec<DueTrigger>, ReadError> {
        let reader = self.dispatch.reader().await?;
        reader.read(read::trigger::due(&reader, by, limit)).await
    }

    async fn next_trigger_due(&self) -> Result<Option<Timestamp>, ReadError> {
        let reader = self.dispatch.reader().await?;
        reader.read(read::trigger::next_due(&reader)).await
    }

    async fn slots(
        &self,
        trigger: TriggerId,
        statuses: &[SlotStatus],
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<SlotRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader
            .read(read::trigger::slots(
                &reader,
                trigger,
                statuses,
                (before, limit),
            ))
            .await
    }

    async fn slots_between(
        &self,
        trigger: TriggerId,
        from: Timestamp,
        to: Timestamp,
        limit: u32,
    ) -> Result<Vec<SlotRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader
            .read(read::trigger::slots_between(
                &reader,
                trigger,
                (from, to),
                limit,
            ))
            .await
    }

    async fn requests(
        &self,
        trigger: TriggerId,
        filter: &RequestFilter,
        before: Option<RequestId>,
        limit: u32,
    ) -> Result<Vec<RequestRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader
            .read(read::request::list(
                &reader,
                trigger,
                filter,
                (before, limit),
            ))
            .await
    }

    async fn requests_beyond(
        &self,
        newest: u32,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<(TriggerId, Option<RequestId>)>, ReadError> {
        let reader = self.readers.reader().await?;
        let beyond = read::request::beyond(&reader, newest, after, limit);
        reader.read(beyond).await
    }

    async fn request(&self, id: RequestId) -> Result<Option<RequestRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader.read(read::request::one(&reader, id)).await
    }

    async fn backup(
        &self,
        to: &Path,
        progress: &(dyn Fn(u64, u64) + Send + Sync),
    ) -> Result<(), ReadError> {
        backup::backup(&self.options, to, progress).await
    }

    async fn join(&self, node: &Joining, _now: Timestamp) -> Result<Lease, ReadError> {
        let reader = self.leases.reader().await?;
        reader.read(nodes::join(&reader, node)).await
    }

    async fn renew(
        &self,
        node: NodeId,
        lease: Duration,
        _now: Timestamp,
    ) -> Result<Lease, ReadError> {
        let reader = self.leases.reader().await?;
        reader.read(nodes::renew(&reader, node, lease)).await
    }

    async fn reap(&self, by: NodeId, _now: Timestamp) -> Result<Vec<NodeId>, ReadError> {
        let reader = self.leases.reader().await?;
        reader.read(nodes::reap(&reader, by)).await
    }

    async fn leave(&self, node: NodeId) -> Result<(), ReadError> {
        let reader = self.leases.reader().await?;
        reader.read(nodes::leave(&reader, node)).await
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, ReadError> {
        let reader = self.readers.reader().await?;
        reader.read(nodes::nodes(&reader)).await
    }

    async fn has_lease(&self, node: NodeId) -> Result<bool, ReadError> {
        let reader = self.dispatch.reader().await?;
        reader.read(nodes::has_lease(&reader, node)).await
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn tell(&self, news: News) {
        self.wire.tell(news);
    }

    async fn news(&self) -> News {
        self.wire.next().await
    }

    async fn close(&self) {
        self.readers.close();
        self.dispatch.close();
        self.loaders.close();
        self.wire.close();
        self.writer.close().await;
        self.leases.close();
    }
}
