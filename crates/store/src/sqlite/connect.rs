//! Connections and their settings.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{Options, Synchronous, failure, private};
use crate::ReadError;

/// The oldest library that is used: earlier ones could lose commits when a checkpoint and a
/// write met.
const LIBRARY_MIN: i32 = 3_051_003;
/// What marks a file as ours ("RFIR").
const APPLICATION_ID: i32 = 0x5246_4952;
/// Bytes of a page.
pub(super) const PAGE_BYTES: u64 = 4_096;
/// Pages kept in memory by the writer, in KiB (negative in SQLite's own notation).
const WRITER_CACHE_KIB: i64 = 16_384;
/// The same for each of the others.
const READER_CACHE_KIB: i64 = 8_192;
/// How long a connection waits for a lock that another one holds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Prepared statements kept by a connection; more than there are.
const STATEMENTS_MAX: usize = 128;

/// Refuses a library that is too old, whatever it was linked from.
pub(super) fn check_library() -> Result<(), ReadError> {
    if rusqlite::version_number() >= LIBRARY_MIN {
        return Ok(());
    }
    Err(ReadError::Unavailable(
        format!(
            "SQLite {} is too old: 3.51.3 or later is needed",
            rusqlite::version()
        )
        .into(),
    ))
}

/// The connection that writes. Makes the file if there is none.
pub(super) fn writer(path: &Path, options: &Options) -> Result<Connection, ReadError> {
    refuse_log_without_file(path)?;
    private::make(path)?;
    let connection = open(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
    )?;
    // The size of a page is fixed by the first write, and that is what comes next.
    connection.pragma_update(None, "page_size", PAGE_BYTES as i64)?;
    claim_file(&connection, path)?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(ReadError::File {
            what: format!(
                "{} cannot be used: its file system has no WAL",
                path.display()
            ),
            source: format!("the journal mode is {mode}").into(),
        });
    }
    let synchronous = match options.synchronous {
        Synchronous::Full => "full",
        Synchronous::Normal => "normal",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    if let Some(pages) = options.pages_max {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    Ok(connection)
}

/// A connection that only reads.
pub(super) fn reader(path: &Path) -> Result<Connection, ReadError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
    Ok(connection)
}

/// A connection to a whole file that nobody changes: SQLite makes nothing beside it.
pub(super) fn unchanging(path: &Path) -> Result<Connection, ReadError> {
    let mut uri = "file:".to_owned();
    for letter in path.to_string_lossy().chars() {
        match letter {
            '%' => uri.push_str("%25"),
            '?' => uri.push_str("%3f"),
            '#' => uri.push_str("%23"),
            letter => uri.push(letter),
        }
    }
    uri.push_str("?immutable=1");
    open(
        Path::new(&uri),
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
    )
}

/// Whether a file is marked as ours.
pub(super) fn is_ours(connection: &Connection) -> rusqlite::Result<bool> {
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    Ok(id == APPLICATION_ID)
}

/// The connection that copies the log back into the file.
pub(super) fn checkpointer(path: &Path) -> Result<Connection, ReadError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "synchronous", "full")?;
    Ok(connection)
}

/// The empty file that a backup is written to. It is synced once, at the end, by the caller.
pub(super) fn copy(path: &Path) -> Result<Connection, ReadError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "synchronous", "off")?;
    Ok(connection)
}

/// Makes a database of ours of a file that is empty, and that nobody reads before it is whole: what
/// fails is made again, so nothing is logged.
pub(super) fn claim_new(connection: &Connection) -> Result<(), ReadError> {
    connection.pragma_update(None, "page_size", PAGE_BYTES as i64)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update_and_check(None, "journal_mode", "off", |_| Ok(()))?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    Ok(())
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, ReadError> {
    // A connection is used by one thread at a time, so SQLite need not lock it itself.
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failure::file(format!(
        "{} cannot be opened",
        path.display()
    )))?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // Plans do not depend on what is bound. Otherwise SQLite prepares a statement anew whenever a
    // limit or an end of a range changes, which is with almost every use.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", false)?;
    connection
        .pragma_update_and_check(None, "mmap_size", 0, |_| Ok(()))
        .or_else(no_row)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    Ok(connection)
}

/// A library that was built without memory mapping answers the pragma with no row.
fn no_row(error: rusqlite::Error) -> rusqlite::Result<()> {
    match error {
        rusqlite::Error::QueryReturnedNoRows => Ok(()),
        other => Err(other),
    }
}

/// SQLite takes a file that is empty or missing for a new database and throws away what its log
/// holds. We never leave a log without a file, so somebody else has taken the file away.
fn refuse_log_without_file(path: &Path) -> Result<(), ReadError> {
    let bytes = |path: &Path| path.metadata().map_or(0, |found| found.len());
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if bytes(path) > 0 || bytes(log.as_ref()) == 0 {
        return Ok(());
    }
    Err(ReadError::File {
        what: format!("{} is missing or empty, but its log is not", path.display()),
        source: format!("{} would be lost", Path::new(&log).display()).into(),
    })
}

/// Marks a new file as ours and refuses the database of another program.
fn claim_file(connection: &Connection, path: &Path) -> Result<(), ReadError> {
    let refuse = |source: String| ReadError::File {
        what: format!("{} is not a Refire database", path.display()),
        source: source.into(),
    };
    let id: i32 = connection
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(|error| refuse(error.to_string()))?;
    if id == APPLICATION_ID {
        return Ok(());
    }
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if id != 0 || tables > 0 {
        return Err(refuse(format!(
            "its application id is {id:#x}, it has {tables} tables"
        )));
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    Ok(())
}
