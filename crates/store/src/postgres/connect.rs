//! One connection: made within a deadline, with the session that everything here relies on.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::options::Options;
use crate::ReadError;

/// From the first packet to a session that is ready, all hosts tried.
const READY_WITHIN: Duration = Duration::from_secs(5);

/// Nothing waits for long: not for a lock, not for a statement, and no transaction stays open while
/// its client is silent. What is answered as committed is on disk. No statement here is long enough
/// to be compiled or shared among workers.
pub(super) const SESSION: &str = "SET lock_timeout = '2s';
    SET statement_timeout = '5s';
    SET idle_in_transaction_session_timeout = '5s';
    SET synchronous_commit = on;
    SET client_min_messages = warning;
    SET jit = off;
    SET max_parallel_workers_per_gather = 0;
    SET default_transaction_isolation = 'read committed';
    SET TimeZone = 'UTC'";

/// What reads and writes the socket of a connection.
pub(super) type Driver = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// A connection that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nobody answered in time.
    #[error("the database at {place} did not answer within {} s", READY_WITHIN.as_secs())]
    Deadline {
        /// Which.
        place: String,
    },
    /// The server, or the way to it, refused.
    #[error("the database at {place} cannot be connected to")]
    Refused {
        /// Which.
        place: String,
        /// What was said.
        #[source]
        source: tokio_postgres::Error,
    },
}

impl ConnectError {
    /// Whether the next attempt may succeed, without anybody changing a setting.
    #[must_use]
    pub fn may_heal(&self) -> bool {
        match self {
            Self::Deadline { .. } => true,
            Self::Refused { source, .. } => may_heal(source),
        }
    }
}

/// Whether the next attempt may find the database: it may be starting, or the way to it may be.
/// Names and passwords that are refused stay so, and so does a certificate.
pub(super) fn may_heal(error: &tokio_postgres::Error) -> bool {
    if let Some(code) = error.code() {
        return [
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::TOO_MANY_CONNECTIONS,
        ]
        .contains(code);
    }
    let source = error.source().and_then(|source| source.downcast_ref());
    // TLS tells what it refuses as data that makes no sense.
    let is_of_network =
        source.is_some_and(|error: &io::Error| error.kind() != io::ErrorKind::InvalidData);
    error.is_closed() || is_of_network
}

impl From<ConnectError> for ReadError {
    fn from(error: ConnectError) -> Self {
        Self::Unavailable(error.into())
    }
}

/// A connection with its session set, driven by a task of its own, which ends with the connection.
pub(super) async fn connect(
    options: &Options,
    purpose: &'static str,
) -> Result<Client, ConnectError> {
    within(options, driven(options, purpose))
        .await
        .map(|(client, _)| client)
}

/// The same for a pool, which has deadlines of its own.
pub(super) async fn driven(
    options: &Options,
    purpose: &'static str,
) -> Result<(Client, JoinHandle<()>), tokio_postgres::Error> {
    let (client, driver) = open(options, purpose).await?;
    let driving = tokio::spawn(async move {
        if let Err(error) = driver.await {
            tracing::debug!(purpose, error = ?error, "a database connection broke");
        }
    });
    client.batch_execute(SESSION).await?;
    Ok((client, driving))
}

/// A connection that nobody drives yet and whose session is not set.
pub(super) async fn open(
    options: &Options,
    purpose: &'static str,
) -> Result<(Client, Driver), tokio_postgres::Error> {
    let mut config = options.config.clone();
    config.application_name(format!("refire {purpose}"));
    config.connect(options.tls.clone()).await
}

/// Does something with a new connection within the deadline.
pub(super) async fn within<T>(
    options: &Options,
    connecting: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, ConnectError> {
    match tokio::time::timeout(READY_WITHIN, connecting).await {
        Ok(Ok(connected)) => Ok(connected),
        Ok(Err(source)) => Err(ConnectError::Refused {
            place: options.place(),
            source,
        }),
        Err(_) => Err(ConnectError::Deadline {
            place: options.place(),
        }),
    }
}
