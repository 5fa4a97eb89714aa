//! Connections for queries: taken from a few, given back, and replaced when they break.
//!
//! Every call ends: waiting for a free connection, making one, and the query itself each have a
//! deadline. What was cut off in the middle never comes back to the others.

use std::error::Error;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::{
    ClientWrapper, Connect, Manager, ManagerConfig, Object, PoolError, RecyclingMethod, Runtime,
    TimeoutType,
};
use futures_util::FutureExt;
use futures_util::future::join;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_postgres::error::Severity;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Row};

use super::backoff::Backoff;
use super::connect;
use super::options::Options;
use crate::ReadError;

/// For a free connection, and for a new one.
const CONNECTION_WITHIN: Duration = Duration::from_secs(5);
/// A database that refuses connections may be starting: so long it is asked again.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two such attempts, at first.
const RECONNECT_FIRST: Duration = Duration::from_millis(50);
/// Between two such attempts, at most.
const RECONNECT_MAX: Duration = Duration::from_secs(2);
/// Reads that find everything by an index, whatever the planner thinks of a table that was small when it
/// was analysed: a plan that reads it from end to end would be kept while it grows.
const ALONG_INDEXES: &str = "SET enable_seqscan = off;
    SET enable_hashjoin = off;
    SET enable_mergejoin = off;
    SET enable_bitmapscan = off";
/// What a query is given.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A few connections.
pub(super) struct Pool {
    connections: deadpool_postgres::Pool,
    /// For a whole read. The server ends each of its statements earlier; this is for a server that
    /// says nothing any more.
    within: Duration,
}

/// Makes connections for a pool.
struct Maker {
    options: Options,
    purpose: &'static str,
    /// Settings beyond those of all sessions.
    session: &'static str,
}

type Making<'a> = Pin<
    Box<dyn Future<Output = Result<(Client, JoinHandle<()>), tokio_postgres::Error>> + Send + 'a>,
>;

impl Connect for Maker {
    fn connect(&self, _config: &Config) -> Making<'_> {
        Box::pin(async {
            let connected = connect::driven(&self.options, self.purpose).await?;
            if !self.session.is_empty() {
                connected.0.batch_execute(self.session).await?;
            }
            Ok(connected)
        })
    }
}

impl Pool {
    /// Nothing is connected yet.
    pub(super) fn new(
        options: &Options,
        purpose: &'static str,
        size: usize,
        within: Duration,
    ) -> Result<Self, ReadError> {
        Self::with_session(options, purpose, (size, within), "")
    }

    /// The same for reads that never need a whole table.
    pub(super) fn along_indexes(
        options: &Options,
        purpose: &'static str,
        size: usize,
        within: Duration,
    ) -> Result<Self, ReadError> {
        Self::with_session(options, purpose, (size, within), ALONG_INDEXES)
    }

    fn with_session(
        options: &Options,
        purpose: &'static str,
        (size, within): (usize, Duration),
        session: &'static str,
    ) -> Result<Self, ReadError> {
        let maker = Maker {
            options: options.clone(),
            purpose,
            session,
        };
        let config = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let manager = Manager::from_connect(options.config.clone(), maker, config);
        deadpool_postgres::Pool::builder(manager)
            .max_size(size.max(1))
            .wait_timeout(Some(CONNECTION_WITHIN))
            .create_timeout(Some(CONNECTION_WITHIN))
            .runtime(Runtime::Tokio1)
            .build()
            .map(|connections| Self {
                connections,
                within,
            })
            .map_err(|error| ReadError::Unavailable(error.into()))
    }

    /// A connection that works as far as one knows.
    pub(super) async fn reader(&self) -> Result<Reader, ReadError> {
        let mut backoff = Backoff::new(RECONNECT_FIRST, RECONNECT_MAX);
        let give_up = Instant::now() + PATIENCE;
        loop {
            match self.connections.get().await {
                Ok(client) => {
                    return Ok(Reader {
                        client: Some(client),
                        within: self.within,
                        is_unfit: AtomicBool::new(false),
                    });
                }
                Err(PoolError::Backend(error)) if connect::may_heal(&error) => {
                    let wait = backoff.next();
                    if Instant::now() + wait > give_up {
                        return Err(error.into());
                    }
                    tokio::time::sleep(wait).await;
                }
                Err(PoolError::Backend(error)) => return Err(error.into()),
                Err(PoolError::Timeout(TimeoutType::Wait)) => {
                    return Err(ReadError::Unavailable("all connections are busy".into()));
                }
                Err(PoolError::Closed) => {
                    return Err(ReadError::Unavailable("the database is closed".into()));
                }
                Err(error) => return Err(ReadError::Unavailable(error.into())),
            }
        }
    }

    /// The rows of a read that is one statement.
    pub(super) async fn rows(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, ReadError> {
        let reader = self.reader().await?;
        reader.read(reader.rows(sql, params)).await
    }

    pub(super) fn close(&self) {
        self.connections.close();
    }
}

/// Whether only a statement failed. Anything else means that the connection is gone or going.
fn is_of_a_statement(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    error
        .downcast_ref::<tokio_postgres::Error>()
        .and_then(tokio_postgres::Error::as_db_error)
        .is_some_and(|error| error.parsed_severity() == Some(Severity::Error))
}

/// A connection that is this caller's until it is dropped.
pub(super) struct Reader {
    client: Option<Object>,
    within: Duration,
    /// Broken, or cut off in the middle of something: nobody may use it again.
    is_unfit: AtomicBool,
}

impl Deref for Reader {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
        match &self.client {
            Some(client) => client,
            // Taken out only when dropped.
            None => unreachable!("a reader without a connection"),
        }
    }
}

impl Reader {
    /// Runs a read within its deadline.
    pub(super) async fn read<T>(
        &self,
        read: impl Future<Output = Result<T, ReadError>>,
    ) -> Result<T, ReadError> {
        let read = timeout(self.within, Box::pin(read)).await;
        let read = read.unwrap_or_else(|_| {
            let silent = "the database does not answer";
            Err(ReadError::Unavailable(silent.into()))
        });
        if let Err(ReadError::Unavailable(source)) = &read
            && !is_of_a_statement(source.as_ref())
        {
            self.is_unfit.store(true, Ordering::Relaxed);
        }
        read
    }

    /// The same, with all its statements seeing one moment.
    pub(super) async fn snapshot<T>(
        &self,
        read: impl Future<Output = Result<T, ReadError>>,
    ) -> Result<T, ReadError> {
        self.read(async {
            // Until the end is sent, whoever drops this leaves an open transaction behind.
            self.is_unfit.store(true, Ordering::Relaxed);
            // Sent together with the first statement of the read.
            let begin = self.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
            let (begun, read) = join(begin, Box::pin(read)).await;
            begun?;
            // Sent, not waited for: there is nothing that could be lost.
            if let Some(Err(error)) = self.batch_execute("ROLLBACK").now_or_never() {
                return Err(error.into());
            }
            self.is_unfit.store(false, Ordering::Relaxed);
            read
        })
        .await
    }

    /// The rows of a statement, which is prepared once per connection.
    pub(super) async fn rows(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, ReadError> {
        let statement = self.prepare_cached(sql).await?;
        Ok(self.query(&statement, params).await?)
    }

    /// The only row of a statement, if there is one.
    pub(super) async fn row(
        &self,
        sql: &str,
        params: Params<'_>,
    ) -> Result<Option<Row>, ReadError> {
        let statement = self.prepare_cached(sql).await?;
        Ok(self.query_opt(&statement, params).await?)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(client) = self.client.take()
            && self.is_unfit.load(Ordering::Relaxed)
        {
            drop(Object::take(client));
        }
    }
}
