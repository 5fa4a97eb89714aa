//! The data directory: ours alone.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use anyhow::Context;

use crate::config::{Database, ServeConfig};

/// Nobody else on the machine may look inside.
const MODE: u32 = 0o700;

/// Makes the directories that are missing.
pub(super) fn prepare(config: &ServeConfig) -> anyhow::Result<()> {
    make(&config.data_dir)?;
    let Database::Sqlite(file) = &config.database else {
        return Ok(());
    };
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !is_same(parent, &config.data_dir) => {
            make(parent)
        }
        _ => Ok(()),
    }
}

/// The database is in the data directory unless somebody says otherwise: that is told of once.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Makes a directory that only its owner can read, unless it is there.
pub(crate) fn make(directory: &Path) -> anyhow::Result<()> {
    if directory.is_file() {
        anyhow::bail!("{} is a file; it must be a directory", directory.display());
    }
    DirBuilder::new()
        .recursive(true)
        .mode(MODE)
        .create(directory)
        .with_context(|| format!("the directory {} cannot be created", directory.display()))?;
    warn_if_open(directory);
    Ok(())
}

/// A directory that was there before may be open to others; it holds every input and output.
fn warn_if_open(directory: &Path) {
    let Ok(found) = directory.metadata() else {
        return;
    };
    if found.permissions().mode() & 0o077 != 0 {
        tracing::warn!(
            directory = %directory.display(),
            "other users of this machine can read the data directory; run chmod 700 on it"
        );
    }
}
