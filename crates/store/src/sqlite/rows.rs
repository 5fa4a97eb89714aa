//! Whole tables in and out, for carrying a store to another backend and back.

use std::path::Path;

use refire_core::time::Timestamp;
use rusqlite::types::{ToSqlOutput, Value as Sql, ValueRef};
use rusqlite::{Connection, ToSql};

use super::lock::FileLock;
use super::new_file::NewFile;
use super::{Options, connect, failure, migrate};
use crate::ReadError;
use crate::table::{Load, Rows, Table, Value};

/// A new database file that is being filled from elsewhere. It is there when it is finished, or not
/// at all.
pub(crate) struct NewCopy {
    // Closed before the file is removed.
    connection: Connection,
    file: NewFile,
}

impl NewCopy {
    pub(crate) fn begin(target: &Path, now: Timestamp) -> Result<Self, ReadError> {
        let file = NewFile::begin(target)?;
        let mut connection = connect::copy(file.path())?;
        connect::claim_new(&connection)?;
        migrate::migrate(&mut connection, now)?;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        Ok(Self { connection, file })
    }

    pub(crate) fn put(&self, table: &Table, rows: &Rows) -> Result<(), ReadError> {
        let places = vec!["?"; table.columns().count()].join(", ");
        let sql = format!(
            "INSERT INTO {} ({}) VALUES ({places})",
            table.name,
            table.column_list()
        );
        let mut insert = self.connection.prepare_cached(&sql)?;
        for row in rows {
            insert
                .execute(rusqlite::params_from_iter(row))
                .map_err(failure::file(format!(
                    "{}: a row of {} cannot be written",
                    self.file.path().display(),
                    table.name
                )))?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<(), ReadError> {
        let Self { connection, file } = self;
        connection.execute_batch("COMMIT")?;
        connection.close().map_err(|(_, error)| {
            failure::file(format!("{} cannot be closed", file.path().display()))(error)
        })?;
        file.publish()
    }
}

/// A database file that is being read as a whole. Nobody else has it open meanwhile.
pub(crate) struct Original {
    connection: Connection,
    _lock: FileLock,
}

impl Original {
    /// Changes nothing in it. A file that is no database of ours is refused, and one of a newer
    /// program.
    pub(crate) fn open(path: &Path, now: Timestamp) -> Result<Self, ReadError> {
        let refuse = |why: &str| ReadError::File {
            what: format!("{} cannot be opened", path.display()),
            source: why.into(),
        };
        if !path.is_file() {
            return Err(refuse("there is no such file"));
        }
        if path.metadata().is_ok_and(|file| file.len() == 0) {
            return Err(refuse("the file is empty"));
        }
        let lock = FileLock::take(path)?;
        let connection = connect::writer(path, &Options::new(now))?;
        if !migrate::has_history(&connection)? {
            return Err(refuse("there is no Refire database in it"));
        }
        migrate::refuse_newer(&connection)?;
        Ok(Self {
            connection,
            _lock: lock,
        })
    }

    pub(crate) fn bring_up_to_date(&mut self, now: Timestamp) -> Result<(), ReadError> {
        migrate::migrate(&mut self.connection, now)
    }

    pub(crate) fn count(&self, table: &Table) -> Result<u64, ReadError> {
        let sql = format!("SELECT count(*) FROM {}", table.name);
        let count: i64 = self.connection.query_row(&sql, [], |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Gives away all rows of a table, in loads, until `carry` refuses one.
    pub(crate) fn rows(
        &self,
        table: &Table,
        mut carry: impl FnMut(Rows) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let sql = format!("SELECT {} FROM {}", table.column_list(), table.name);
        let mut select = self.connection.prepare(&sql)?;
        let mut rows = select.query([])?;
        let mut load = Load::default();
        while let Some(row) = rows.next()? {
            if let Some(full) = load.add(table.values(row)?) {
                carry(full)?;
            }
        }
        carry(load.take())
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Owned(Sql::Null),
            Self::Number(number) => ToSqlOutput::Owned(Sql::Integer(*number)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}
