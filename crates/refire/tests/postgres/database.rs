//! The database of a test's servers: a new one on the server of the tests, or on one of its own.

use std::path::Path;

use refire_store::postgres::Scratch;
use tokio_postgres::NoTls;

/// What the server calls it.
pub(crate) const KIND: &str = "postgres";

/// The shortest lease there is: some tests wait until one is over.
const LEASE: &str = "5s";

/// A database that goes with this value.
pub(crate) struct Database {
    url: String,
    /// Absent = somebody else removes it.
    _scratch: Option<Scratch>,
}

impl Database {
    pub(crate) fn new() -> Self {
        Self::of(Scratch::new())
    }

    /// One without tables, as an administrator makes it.
    pub(crate) fn empty() -> Self {
        Self::of(Scratch::empty())
    }

    fn of(scratch: Scratch) -> Self {
        Self {
            url: scratch.url(),
            _scratch: Some(scratch),
        }
    }

    /// The database at this address.
    pub(crate) fn at(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            _scratch: None,
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Settings of the server, as variables.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("REFIRE_DATABASE_URL", self.url.clone()),
            ("REFIRE_LEASE", LEASE.to_owned()),
        ]
    }

    /// Changes rows behind the server's back; how many.
    pub(crate) async fn change(&self, _: &Path, statement: &str) -> usize {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        let driving = tokio::spawn(connection);
        let changed = client.execute(statement, &[]).await.unwrap();
        drop(client);
        driving.await.unwrap().unwrap();
        usize::try_from(changed).unwrap()
    }
}
