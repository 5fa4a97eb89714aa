//! Values of whole tables, as PostgreSQL keeps them.

use std::error::Error;

use refire_core::time::Timestamp;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type};
use tokio_postgres::{Client, Row};
use uuid::Uuid;

use super::columns::{self, AT_ONCE, get, maybe_foreign, moment};
use crate::ReadError;
use crate::table::{Kind, Table, Value};

/// The type of a column.
pub(super) fn type_of(kind: Kind) -> Type {
    match kind {
        Kind::Id => Type::UUID,
        Kind::Bytes | Kind::Foreign => Type::BYTEA,
        Kind::Text => Type::TEXT,
        Kind::Big | Kind::Due => Type::INT8,
        Kind::Int => Type::INT4,
        Kind::Small => Type::INT2,
        Kind::Flag => Type::BOOL,
    }
}

/// A row of a table.
pub(super) fn values(row: &Row, table: &Table) -> Result<Vec<Value>, ReadError> {
    let columns = table.columns.iter().enumerate();
    columns
        .map(|(at, (_, kind))| value(row, at, *kind))
        .collect()
}

fn value(row: &Row, at: usize, kind: Kind) -> Result<Value, ReadError> {
    let number = |number: Option<i64>| number.map_or(Value::Null, Value::Number);
    let bytes = |bytes: Option<Vec<u8>>| bytes.map_or(Value::Null, Value::Bytes);
    let text = |text: Option<String>| text.map_or(Value::Null, Value::Text);
    Ok(match kind {
        Kind::Id => {
            let id: Option<Uuid> = get(row, at)?;
            bytes(id.map(|id| id.as_bytes().to_vec()))
        }
        Kind::Bytes => bytes(get(row, at)?),
        Kind::Foreign => text(maybe_foreign(row, at)?),
        Kind::Text => text(get(row, at)?),
        Kind::Big => number(get(row, at)?),
        Kind::Due => number(get::<Option<i64>>(row, at)?.filter(|due| *due != AT_ONCE)),
        Kind::Int => number(get::<Option<i32>>(row, at)?.map(i64::from)),
        Kind::Small => number(get::<Option<i16>>(row, at)?.map(i64::from)),
        Kind::Flag => number(get::<Option<bool>>(row, at)?.map(i64::from)),
    })
}

/// A value on its way into a column of this kind.
#[derive(Debug)]
pub(super) struct Cell<'a>(pub(super) &'a Value, pub(super) Kind);

impl ToSql for Cell<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let Self(value, column) = self;
        match (value, column) {
            (Value::Null, Kind::Due) => AT_ONCE.to_sql(kind, out),
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Bytes(bytes), Kind::Id) => Uuid::from_slice(bytes)?.to_sql(kind, out),
            (Value::Bytes(bytes), Kind::Bytes) => bytes.to_sql(kind, out),
            (Value::Text(text), Kind::Foreign) => text.as_bytes().to_sql(kind, out),
            (Value::Text(text), Kind::Text) => text.to_sql(kind, out),
            (Value::Number(number), Kind::Big | Kind::Due) => number.to_sql(kind, out),
            (Value::Number(number), Kind::Int) => i32::try_from(*number)?.to_sql(kind, out),
            (Value::Number(number), Kind::Small) => i16::try_from(*number)?.to_sql(kind, out),
            (Value::Number(number), Kind::Flag) => (*number != 0).to_sql(kind, out),
            (value, column) => Err(format!("{value:?} is not of kind {column:?}").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

/// What a table looks like from outside: the shards of its counters are one.
pub(super) fn select(table: &Table) -> String {
    let columns = table.column_list();
    match table.name {
        "dlq_counts" => "SELECT workflow, error_type, error_code, status, sum(n)::bigint
               FROM dlq_counts GROUP BY workflow, error_type, error_code, status
             HAVING sum(n) <> 0"
            .to_owned(),
        name => format!("SELECT {columns} FROM {name}"),
    }
}

/// How many rows [`select`] gives.
pub(super) async fn count(client: &Client, table: &Table) -> Result<u64, ReadError> {
    let sql = format!("SELECT count(*) FROM ({}) AS rows", select(table));
    let row = client.query_one(&sql, &[]).await?;
    columns::count(&row, 0)
}

/// What the server's clock says.
pub(super) async fn now(client: &Client) -> Result<Timestamp, ReadError> {
    let row = client.query_one("SELECT clock_timestamp()", &[]).await?;
    moment(&row, 0)
}
