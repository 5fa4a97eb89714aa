//! Values of whole tables, as PostgreSQL keeps them.

use std::error::Error;

use refire_core::time::Timestamp;
use tokio_postgres::Client;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type};
use uuid::Uuid;

use super::columns::{self, AT_ONCE, moment};
use crate::ReadError;
use crate::table::{Kind, Table, Value};

/// The type of a column.
pub(crate) fn type_of(kind: Kind) -> Type {
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

/// A value on its way into a column of this kind.
#[derive(Debug)]
pub(super) struct Cell<'a>(pub(super) &'a Value, pub(super) Kind);

impl ToSql for Cell<'_> {
    fn to_sql(
        &self,
        column: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self(Value::Null, Kind::Due) => AT_ONCE.to_sql(column, out),
            Self(value, _) => value.to_sql(column, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

/// In the form of the column, or of what it is compared with.
impl ToSql for Value {
    fn to_sql(
        &self,
        column: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self, column.clone()) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Bytes(bytes), Type::UUID) => Uuid::from_slice(bytes)?.to_sql(column, out),
            (Self::Bytes(bytes), Type::BYTEA) => bytes.to_sql(column, out),
            (Self::Text(text), Type::BYTEA) => text.as_bytes().to_sql(column, out),
            (Self::Text(text), Type::TEXT) => text.to_sql(column, out),
            (Self::Number(number), Type::INT8) => number.to_sql(column, out),
            (Self::Number(number), Type::INT4) => i32::try_from(*number)?.to_sql(column, out),
            (Self::Number(number), Type::INT2) => i16::try_from(*number)?.to_sql(column, out),
            (Self::Number(number), Type::BOOL) => (*number != 0).to_sql(column, out),
            (value, column) => Err(format!("{value:?} is no {column}").into()),
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
