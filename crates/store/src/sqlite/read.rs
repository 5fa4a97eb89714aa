//! The queries. Each runs on a read-only connection, for less than a second at a time.

pub(super) mod execution;
pub(super) mod letter;
pub(super) mod list;
pub(super) mod work;

use futures_util::FutureExt;

use super::Sqlite;
use super::readers::Reader;
use crate::ReadError;
use crate::column::{Columns, Field};
use crate::sql::{Connection, Database, Query};
use crate::words::{COMMON, in_words};

impl Database for Sqlite {
    fn along(index: &str) -> String {
        format!("INDEXED BY {index}")
    }

    fn says_yes(column: &str) -> String {
        format!("{column} = 1")
    }

    fn listed_by() -> (&'static str, String) {
        let common = in_words(COMMON);
        ("status", format!("executions.status NOT {common}"))
    }

    fn executions_of(id: &str) -> String {
        format!("CROSS JOIN executions ON executions.id = {id}")
    }

    async fn rows<T: Field + Send + 'static>(&self, query: Query) -> Result<Vec<T>, ReadError> {
        let Query { sql, values, .. } = query;
        self.readers
            .read(move |reader| reader.rows(&sql, rusqlite::params_from_iter(&values)))
            .await
    }
}

impl Connection for Reader {
    type Of = Sqlite;

    async fn each(
        &self,
        query: Query,
        see: &mut (dyn FnMut(&dyn Columns) -> Result<bool, ReadError> + Send),
    ) -> Result<usize, ReadError> {
        self.restart_clock_between_reads();
        let mut select = self.prepare(&query.sql)?;
        let mut rows = select.query(rusqlite::params_from_iter(&query.values))?;
        let mut seen = 0;
        while let Some(row) = rows.next()? {
            seen += 1;
            if !see(row)? {
                break;
            }
        }
        Ok(seen)
    }
}

/// What was written for all databases, on the thread of a [`Reader`], which never waits.
fn at_once<T>(read: impl Future<Output = T>) -> T {
    match read.now_or_never() {
        Some(answer) => answer,
        None => unreachable!("a file is read without waiting"),
    }
}
