//! The queries. What must be true of one moment is one statement, or one short transaction.

mod execution;
mod letter;
mod list;
mod state;
mod work;

use std::fmt::Write;

use tokio_postgres::types::ToSql;

use super::Postgres;
use super::pool::Reader;
use crate::ReadError;
use crate::column::{Columns, Field, read_at};
use crate::sql::{Connection, Database, Query};

impl Database for Postgres {
    fn along(_: &str) -> String {
        String::new()
    }

    fn says_yes(column: &str) -> String {
        column.to_owned()
    }

    fn listed_by() -> (&'static str, String) {
        ("listed", "executions.listed IS NOT NULL".to_owned())
    }

    fn executions_of(id: &str) -> String {
        format!(
            "CROSS JOIN LATERAL (SELECT * FROM executions WHERE executions.id = {id} OFFSET 0)
                 AS executions"
        )
    }

    async fn rows<T: Field + Send + 'static>(&self, query: Query) -> Result<Vec<T>, ReadError> {
        let pool = match query.is_urgent {
            true => &self.dispatch,
            false => &self.readers,
        };
        let values: Vec<&(dyn ToSql + Sync)> = query.values.iter().map(|it| it as _).collect();
        let rows = pool.rows(&numbered(&query.sql), &values).await?;
        rows.iter().map(|row| read_at(row, 0)).collect()
    }
}

impl Connection for Reader {
    type Of = Postgres;

    async fn each(
        &self,
        query: Query,
        see: &mut (dyn FnMut(&dyn Columns) -> Result<bool, ReadError> + Send),
    ) -> Result<usize, ReadError> {
        let values: Vec<&(dyn ToSql + Sync)> = query.values.iter().map(|it| it as _).collect();
        let rows = Self::rows(self, &numbered(&query.sql), &values).await?;
        for (before, row) in rows.iter().enumerate() {
            if !see(row)? {
                return Ok(before + 1);
            }
        }
        Ok(rows.len())
    }
}

/// A statement whose values are numbered, as the server wants it.
fn numbered(sql: &str) -> String {
    let mut parts = sql.split('?');
    let mut numbered = parts.next().unwrap_or_default().to_owned();
    for (number, part) in (1..).zip(parts) {
        let _ = write!(numbered, "${number}{part}");
    }
    numbered
}
