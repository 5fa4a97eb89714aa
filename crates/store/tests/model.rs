//! The conformance suite on the model, on a disk of one process and on a shared one, and what only
//! the model has.

#![expect(clippy::unwrap_used, reason = "these are tests, their setup included")]

#[path = "model/own.rs"]
mod own;
#[path = "model/shared.rs"]
mod shared;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use refire_core::time::Timestamp;
use refire_store::Store;
use refire_store::conformance::Lab;
use refire_store::model::{Disk, DiskClock, NoFaults};

/// A disk in memory, and a directory for the files that backups make.
struct ModelLab {
    disk: Arc<Disk>,
    directory: tempfile::TempDir,
}

impl ModelLab {
    fn new() -> Self {
        Self::on(Disk::new())
    }

    fn shared() -> Self {
        Self::on(Disk::shared(restless_clock()))
    }

    fn on(disk: Arc<Disk>) -> Self {
        Self {
            disk,
            directory: tempfile::tempdir().unwrap(),
        }
    }
}

/// A clock that is a little later each time it is asked.
fn restless_clock() -> DiskClock {
    let asked = AtomicI64::new(0);
    Arc::new(move || {
        let asked = asked.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_millis(1_800_000_000_000 + asked)
    })
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

mod on_a_shared_disk {
    use super::*;

    refire_store::conformance!(ModelLab::shared());
}
