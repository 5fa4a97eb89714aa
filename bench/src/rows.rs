//! Rows in SQLite as the limits write them: small tables that only grow at their right edge, in
//! a database that is durable with every transaction, as a server's must be.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{CachedStatement, Connection, params};

/// Tables, so that several rows for one request go to several places, as they do in a product.
const TABLES: usize = 6;
/// Bytes of the rows beside the body.
const SMALL_BYTES: usize = 64;
/// Bytes of a request's body.
pub(crate) const BODY_BYTES: usize = 500;

/// A JSON body of the usual size.
pub(crate) fn body() -> Vec<u8> {
    let frame = r#"{"order":4711,"text":""}"#.len();
    let text = "x".repeat(BODY_BYTES - frame);
    format!(r#"{{"order":4711,"text":"{text}"}}"#).into_bytes()
}

/// Makes a database whose commits are on disk before they return.
pub(crate) fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "full")?;
    for table in 0..TABLES {
        connection.execute_batch(&format!(
            "CREATE TABLE rows{table} (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL)"
        ))?;
    }
    Ok(connection)
}

/// Makes durable transactions for so long; how many per second.
pub(crate) fn transactions_s(
    dir: &Path,
    wanted: Duration,
    mut write: impl FnMut(&mut Scribe<'_>) -> rusqlite::Result<()>,
) -> anyhow::Result<f64> {
    let dir = tempfile::tempdir_in(dir)?;
    let connection = open(&dir.path().join("rows.db"))?;
    let mut scribe = Scribe::new(&connection)?;
    let began = Instant::now();
    let mut done = 0_u32;
    while began.elapsed() < wanted {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        write(&mut scribe)?;
        connection.execute_batch("COMMIT")?;
        done += 1;
    }
    Ok(f64::from(done) / began.elapsed().as_secs_f64())
}

/// Writes rows with prepared statements, one table after the other.
pub(crate) struct Scribe<'a> {
    inserts: Vec<CachedStatement<'a>>,
    written: usize,
}

impl<'a> Scribe<'a> {
    pub(crate) fn new(connection: &'a Connection) -> rusqlite::Result<Self> {
        let inserts = (0..TABLES).map(|table| {
            connection.prepare_cached(&format!(
                "INSERT INTO rows{table} (at, body) VALUES (?1, ?2)"
            ))
        });
        Ok(Self {
            inserts: inserts.collect::<rusqlite::Result<_>>()?,
            written: 0,
        })
    }

    /// One row with this body.
    pub(crate) fn insert(&mut self, body: &[u8]) -> rusqlite::Result<()> {
        let table = self.written % TABLES;
        self.written += 1;
        self.inserts[table].execute(params![self.written as i64, body])?;
        Ok(())
    }

    /// The rows of one request: its body, and small ones beside it.
    pub(crate) fn request(&mut self, body: &[u8], rows: usize) -> rusqlite::Result<()> {
        self.insert(body)?;
        for _ in 1..rows {
            self.insert(&[0x5a; SMALL_BYTES])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_so_many_rows_in_a_full_sync_database() {
        let dir = tempfile::tempdir().unwrap();
        let connection = open(&dir.path().join("rows.db")).unwrap();
        let mut scribe = Scribe::new(&connection).unwrap();
        scribe.request(&body(), 6).unwrap();
        let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        for table in 0..TABLES {
            let sql = format!("SELECT count(*) FROM rows{table}");
            assert_eq!(count(&sql).unwrap(), 1, "{table}");
        }
        assert_eq!(
            count("SELECT length(body) FROM rows0").unwrap(),
            BODY_BYTES as i64
        );
        assert_eq!(count("PRAGMA synchronous").unwrap(), 2);
    }
}
