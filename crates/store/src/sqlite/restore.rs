//! A backup in place of the database. Copying the file by hand is dangerous: SQLite would replay a log
//! that the old database left beside it into the new one.
//!
//! A copy is made and checked beside the database under the name `.restored`. While that name is there
//! no server starts, so an interruption between the steps is noticed and not taken for a new database.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use refire_core::time::Timestamp;
use rusqlite::backup::Backup;
use rusqlite::{Connection, ErrorCode};

use super::lock::FileLock;
use super::new_file::{NewFile, remove_if_there, sync_directory_of};
use super::{connect, failure, lock, migrate};
use crate::ReadError;

/// Pages copied in one step (1 MB).
const PAGES_PER_STEP: i32 = 256;

/// A database that was replaced by a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Where the old one is now, if there was one. Its log, if it had one, is beside it.
    pub previous: Option<PathBuf>,
    /// Bytes of the new one.
    pub bytes: u64,
}

/// Puts a copy of a backup in the place of a database that no process uses. The old one is kept under
/// another name.
///
/// # Errors
/// When a process uses the database or the backup, when the backup is not a whole database of ours or was
/// made by a newer Refire, or when a file cannot be written. The old database is then still in its place, or
/// (after a failure between two steps) a server refuses to start until this has been done again.
pub fn restore(from: &Path, database: &Path, now: Timestamp) -> Result<Restored, ReadError> {
    connect::check_library()?;
    let _lock = FileLock::take(database)?;
    let refused = |source: &str| ReadError::File {
        what: format!("{} cannot be restored", from.display()),
        source: source.into(),
    };
    let canonical = |path: &Path| path.canonicalize().ok();
    if canonical(from).is_some_and(|from| canonical(database) == Some(from)) {
        return Err(refused("it is the database itself"));
    }
    if lock::is_held(from) {
        return Err(refused(
            "a server uses it; copy it with `refire backup` and restore the copy",
        ));
    }
    let copy = beside(database, ".restored");
    // Left behind by an interruption; it is only a copy.
    remove_if_there(&copy)?;
    let file = NewFile::begin(&copy)?;
    copy_whole(from, file.path())?;
    check(from, file.path())?;
    file.publish()?;
    let previous = set_aside(database, now)?;
    let failed = failure::file(format!("{} cannot be replaced", database.display()));
    let size = copy.metadata().and_then(|found| {
        std::fs::rename(&copy, database)?;
        Ok(found.len())
    });
    let bytes = size.map_err(failed)?;
    sync_directory_of(database)?;
    Ok(Restored { previous, bytes })
}

/// Refuses to open a database while a restore of it is not complete.
pub(super) fn refuse_unfinished(database: &Path) -> Result<(), ReadError> {
    let copy = beside(database, ".restored");
    if !copy.exists() {
        return Ok(());
    }
    Err(ReadError::File {
        what: format!("a restore of {} was interrupted", database.display()),
        source: format!(
            "run `refire restore` again; {} is what it left behind",
            copy.display()
        )
        .into(),
    })
}

fn copy_whole(from: &Path, to: &Path) -> Result<(), ReadError> {
    let failed = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => not_ours(from),
        _ => not_whole(from, &error.to_string()),
    };
    let log = beside(from, "-wal");
    let has_log = log.metadata().is_ok_and(|found| found.len() > 0);
    // Without a log nothing need be made beside it: its directory may be read-only.
    let source = match has_log {
        true => connect::reader(from)?,
        false => connect::unchanging(from)?,
    };
    let mut destination = connect::copy(to)?;
    {
        let backup = Backup::new(&source, &mut destination).map_err(failed)?;
        backup
            .run_to_completion(PAGES_PER_STEP, Duration::ZERO, None)
            .map_err(failed)?;
    }
    destination
        .close()
        .map_err(|(_, error)| failure::file(format!("{} cannot be closed", to.display()))(error))
}

/// Whether the copy is a whole database of ours.
fn check(from: &Path, copy: &Path) -> Result<(), ReadError> {
    let connection = connect::unchanging(copy)?;
    if !connect::is_ours(&connection).unwrap_or(false) || !migrate::has_history(&connection)? {
        return Err(not_ours(from));
    }
    migrate::refuse_newer(&connection)?;
    migrate::refuse_other(&connection)?;
    match integrity(&connection) {
        Ok(verdict) if verdict == "ok" => Ok(()),
        Ok(verdict) => Err(not_whole(from, &verdict)),
        Err(error) => Err(not_whole(from, &error.to_string())),
    }
}

fn integrity(connection: &Connection) -> rusqlite::Result<String> {
    connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
}

fn not_ours(from: &Path) -> ReadError {
    ReadError::File {
        what: format!("{} is not a Refire database", from.display()),
        source: "nothing was changed".into(),
    }
}

fn not_whole(from: &Path, why: &str) -> ReadError {
    ReadError::File {
        what: format!(
            "{} is damaged or incomplete, and nothing was changed",
            from.display()
        ),
        source: why.into(),
    }
}

/// Gives the old database and its log another name; where it is now.
fn set_aside(database: &Path, now: Timestamp) -> Result<Option<PathBuf>, ReadError> {
    let log = beside(database, "-wal");
    let mut previous = None;
    if database.exists() || log.exists() {
        let aside = free_name(database, now);
        for (name, new) in [
            (database.to_owned(), aside.clone()),
            (log, beside(&aside, "-wal")),
        ] {
            if name.exists() {
                std::fs::rename(&name, &new).map_err(failure::file(format!(
                    "{} cannot be renamed to {}",
                    name.display(),
                    new.display()
                )))?;
            }
        }
        previous = Some(aside);
    }
    // SQLite makes this one again from the log.
    remove_if_there(&beside(database, "-shm"))?;
    sync_directory_of(database)?;
    Ok(previous)
}

/// `refire.db.before-restore-20261118T031519Z`
fn free_name(database: &Path, now: Timestamp) -> PathBuf {
    let moment = now.to_string();
    let seconds = moment.split('.').next().unwrap_or_default();
    let date: String = seconds
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let name = format!(".before-restore-{date}Z");
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    let free = names.find(|name| !beside(database, name).exists());
    beside(database, &free.unwrap_or(name))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(ending);
    PathBuf::from(name)
}
