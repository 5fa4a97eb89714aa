//! One process per database file: an advisory lock on a file beside it.
//!
//! SQLite itself would let a second process in, and both would then run the same work. The lock
//! file is never removed: whoever removes one can take a lock that nobody else sees.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{failure, private};
use crate::ReadError;

/// The lock, held until it is released or dropped.
pub(super) struct FileLock(Mutex<Option<File>>);

impl FileLock {
    /// Takes the lock of a database, or says that it is in use.
    pub(super) fn take(database: &Path) -> Result<Self, ReadError> {
        let path = path_for(database);
        let file = private::options()
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failure::file(format!(
                "{} cannot be opened",
                path.display()
            )))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(Mutex::new(Some(file)))),
            Err(TryLockError::WouldBlock) => Err(ReadError::File {
                what: format!(
                    "{} is in use by another process; stop that one, or choose another place",
                    database.display()
                ),
                source: std::io::Error::new(
                    ErrorKind::WouldBlock,
                    format!("{} is locked", path.display()),
                )
                .into(),
            }),
            Err(TryLockError::Error(error)) => Err(failure::file(format!(
                "{} cannot be locked",
                path.display()
            ))(error)),
        }
    }

    /// Lets the next process in.
    pub(super) fn release(&self) {
        // Closing the file releases the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Whether a process has this database open. Makes no lock where there is none.
pub(super) fn is_held(database: &Path) -> bool {
    let lock = File::open(path_for(database));
    lock.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

fn path_for(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}
