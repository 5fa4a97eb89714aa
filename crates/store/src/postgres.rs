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

use backoff::Backoff;
pub(crate) use cell::type_of;
pub(crate) use columns::kept_due;
pub use connect::ConnectError;
pub use migrate::Pending;
pub use options::{BadOptions, Options};
#[cfg(feature = "conformance")]
pub use scratch::Scratch;
pub(crate) use write::link::{Value, values};

use crate::sql::{Database, Query};
use crate::{Batch, CommitError, News, PartOutcome, ReadError, Store};
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

    async fn size(&self) -> Result<Option<u64>, ReadError> {
        let size = Query::new("SELECT pg_database_size(current_database())");
        Database::row(self, size).await
    }

    async fn backup(
        &self,
        to: &Path,
        progress: &(dyn Fn(u64, u64) + Send + Sync),
    ) -> Result<(), ReadError> {
        backup::backup(&self.options, to, progress).await
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
