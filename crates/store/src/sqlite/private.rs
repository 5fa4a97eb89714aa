//! Files that only their owner may read: they hold every input and output.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

use super::failure;
use crate::ReadError;

/// Nobody but the owner reads or writes.
#[cfg(unix)]
const OWNER_ONLY: u32 = 0o600;

/// How such a file is opened for writing.
pub(super) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, OWNER_ONLY);
    options
}

/// Makes an empty file, which must be new.
pub(super) fn make_new(path: &Path) -> Result<File, ReadError> {
    create(path).map_err(failure::file(format!("{} cannot be made", path.display())))
}

/// The same, unless it is there: a file keeps the mode that it was given. SQLite gives the files that
/// it makes beside it the same mode.
pub(super) fn make(path: &Path) -> Result<(), ReadError> {
    match create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(failure::file(format!(
            "{} cannot be opened",
            path.display()
        ))(error)),
        _ => Ok(()),
    }
}

fn create(path: &Path) -> io::Result<File> {
    options().create_new(true).open(path)
}
