//! The conformance suite on the model, and what only the model has.

#![expect(clippy::unwrap_used, reason = "these are tests, their setup included")]

#[path = "model/own.rs"]
mod own;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use refire_store::Store;
use refire_store::conformance::Lab;
use refire_store::model::{Disk, NoFaults};

/// A disk in memory, and a directory for the files that backups make.
struct ModelLab {
    disk: Arc<Disk>,
    directory: tempfile::TempDir,
}

impl ModelLab {
    fn new() -> Self {
        Self {
            disk: Disk::new(),
            directory: tempfile::tempdir().unwrap(),
        }
    }
}

#[async_trait]
impl Lab for ModelLab {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(self.disk.open(Arc::new(NoFaults)))
    }

    async fn open_backup(&self, path: &Path) -> Arc<dyn Store> {
        let copy = self.disk.copy(path).expect("a copy was made");
        Arc::new(copy.open(Arc::new(NoFaults)))
    }

    fn directory(&self) -> &Path {
        self.directory.path()
    }
}

refire_store::conformance!(ModelLab::new());
