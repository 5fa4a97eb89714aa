//! The conformance suite on SQLite, and what only SQLite has.

#![expect(clippy::unwrap_used, reason = "these are tests, their setup included")]

#[path = "sqlite/damage.rs"]
mod damage;
#[path = "sqlite/moment.rs"]
mod moment;
#[path = "sqlite/own.rs"]
mod own;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use refire_core::time::Timestamp;
use refire_store::Store;
use refire_store::conformance::Lab;
use refire_store::sqlite::{Options, Sqlite};

/// A database in a directory of its own.
struct SqliteLab(tempfile::TempDir);

impl SqliteLab {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

fn options() -> Options {
    Options::new(Timestamp::from_millis(1_800_000_000_000))
}

#[async_trait]
impl Lab for SqliteLab {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(Sqlite::open_in(self.0.path(), &options()).unwrap())
    }

    async fn open_backup(&self, path: &Path) -> Arc<dyn Store> {
        Arc::new(Sqlite::open(path, &options()).unwrap())
    }

    fn directory(&self) -> &Path {
        self.0.path()
    }
}

refire_store::conformance!(SqliteLab::new());
