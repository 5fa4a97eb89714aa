//! The database of a test's server: an SQLite file in its data directory.

use std::path::Path;

use rusqlite::Connection;

/// What the server calls it.
pub(crate) const KIND: &str = "sqlite";

/// Nothing to make: the server makes the file.
pub(crate) struct Database;

impl Database {
    pub(crate) fn new() -> Self {
        Self
    }

    /// Settings of the server, as variables.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Changes rows behind the server's back; how many.
    #[expect(
        clippy::unused_async,
        reason = "other databases are reached over a network"
    )]
    pub(crate) async fn change(&self, data: &Path, statement: &str) -> usize {
        let database = Connection::open(data.join("refire.db")).unwrap();
        database.execute(statement, []).unwrap()
    }
}
