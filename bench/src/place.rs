//! Where things are: the programs beside this one, and a directory on a real disk.

use std::path::PathBuf;

use anyhow::Context;
use tempfile::TempDir;

/// The directory of this program, which holds the others of the same build.
fn beside() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("this program does not know where it is")?;
    let parent = own.parent().context("this program is nowhere")?;
    Ok(parent.to_owned())
}

/// A program of the same build.
pub(crate) fn program(name: &str) -> anyhow::Result<PathBuf> {
    let path = beside()?.join(name);
    anyhow::ensure!(
        path.exists(),
        "{} is not there; build it first (`make bench` does)",
        path.display()
    );
    Ok(path)
}

/// Names a directory on the disk to measure.
const DIRECTORY: &str = "REFIRE_BENCH_DIR";

/// An empty directory for one measurement, on the disk that this program is on unless another is
/// named: temporary directories of the system are often in memory.
pub(crate) fn fresh() -> anyhow::Result<TempDir> {
    let above = match std::env::var_os(DIRECTORY) {
        Some(named) => PathBuf::from(named),
        None => beside()?,
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix("refire-bench-");
    builder
        .tempdir_in(&above)
        .with_context(|| format!("no directory could be made in {}", above.display()))
}
