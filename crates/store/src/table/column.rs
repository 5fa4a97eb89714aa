//! What columns hold, and lists of columns with what a row has in each. Both backends write by the same
//! list: PostgreSQL many rows as one array per column, SQLite row by row. Nobody counts parameters.

use std::error::Error;

use refire_core::id::{
    AlertId, AlertRuleId, BulkId, ChannelId, DlqId, ExecutionId, GroupId, ItemId, LockToken,
    NodeId, NoticeId, RequestId, ScheduledTaskId, SilenceId, TriggerId, WebhookId,
};
use refire_core::time::Timestamp;
use rusqlite::types::ToSqlOutput;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, Type};
use uuid::Uuid;

use super::Kind;
use crate::postgres::kept_due;

/// The names of columns, and what they hold.
pub(crate) type Columns = &'static [(&'static str, Kind)];

/// Sixteen bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Id([u8; 16]);

/// A text from outside, which may hold any character.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Foreign<'a>(pub(crate) &'a str);

/// A time, or nothing for at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due(pub(crate) Option<Timestamp>);

macro_rules! ids {
    ($($id:ty),*) => {
        $(impl From<$id> for Id {
            fn from(id: $id) -> Self {
                Self(*id.as_bytes())
            }
        })*
    };
}

ids!(
    AlertId,
    AlertRuleId,
    BulkId,
    ChannelId,
    DlqId,
    ExecutionId,
    GroupId,
    ItemId,
    LockToken,
    NodeId,
    NoticeId,
    RequestId,
    ScheduledTaskId,
    SilenceId,
    TriggerId,
    WebhookId,
    Uuid
);

/// What a column can hold.
pub(crate) trait Element {
    const KIND: Kind;
}

macro_rules! elements {
    ($($element:ty = $kind:ident),* $(,)?) => {
        $(impl Element for $element { const KIND: Kind = Kind::$kind; })*
    };
}

elements! {
    Id = Id,
    Uuid = Id,
    i64 = Big,
    i32 = Int,
    i16 = Small,
    bool = Flag,
    &str = Text,
    String = Text,
    Foreign<'_> = Foreign,
    &[u8] = Bytes,
    Vec<u8> = Bytes,
    Due = Due,
}

impl<T: Element> Element for Option<T> {
    const KIND: Kind = T::KIND;
}

/// How the kinds that the backends keep differently are kept: by PostgreSQL as the first, by SQLite as
/// the second says.
macro_rules! kept {
    ($($element:ty: $kept:ty = |$it:ident| $in_postgres:expr, $in_sqlite:expr;)*) => {$(
        impl tokio_postgres::types::ToSql for $element {
            fn to_sql(
                &self,
                kind: &Type,
                out: &mut BytesMut,
            ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
                let $it = self;
                <$kept as tokio_postgres::types::ToSql>::to_sql(&$in_postgres, kind, out)
            }

            fn accepts(kind: &Type) -> bool {
                <$kept as tokio_postgres::types::ToSql>::accepts(kind)
            }

            tokio_postgres::types::to_sql_checked!();
        }

        impl rusqlite::ToSql for $element {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                let $it = self;
                Ok($in_sqlite)
            }
        }
    )*};
}

kept! {
    Id: Uuid = |id| Uuid::from_bytes(id.0), id.0.as_slice().into();
    Foreign<'_>: &[u8] = |text| text.0.as_bytes(), text.0.into();
    Due: i64 = |due| kept_due(due.0), ToSqlOutput::Owned(due.0.map(Timestamp::as_micros).into());
}

/// A word of Rust that is a column's name is written with a mark.
pub(crate) const fn plain(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', rest @ ..] => match std::str::from_utf8(rest) {
            Ok(rest) => rest,
            Err(_) => name,
        },
        _ => name,
    }
}

/// Rows as columns: each field is a column of that name, and says what a row has in it.
macro_rules! columns {
    ($(#[$about:meta])* $see:vis struct $name:ident($($given:ident: $kind:ty),*) {
        $($(#[$why:meta])* $column:ident: $element:ty = $value:expr,)*
    }) => {
        $(#[$about])*
        #[derive(Default)]
        $see struct $name<'a> {
            $($(#[$why])* $column: Vec<$element>,)*
            rows: std::marker::PhantomData<&'a ()>,
        }

        impl<'a> $name<'a> {
            /// In the order of [`Self::values`].
            $see const COLUMNS: $crate::table::column::Columns = &[$((
                $crate::table::column::plain(stringify!($column)),
                <$element as $crate::table::column::Element>::KIND,
            )),*];

            $see fn push(&mut self, $($given: $kind),*) {
                $(self.$column.push($value);)*
            }

            $see fn values(self) -> Vec<$crate::postgres::Value<'a>> {
                $crate::postgres::values![$(self.$column),*]
            }
        }
    };
}
pub(crate) use columns;

/// The same for both backends.
macro_rules! rows {
    ($(#[$about:meta])* $see:vis struct $name:ident($($given:ident: $kind:ty),*) {
        $($(#[$why:meta])* $column:ident: $element:ty = $value:expr,)*
    }) => {
        $crate::table::column::columns! {
            $(#[$about])*
            $see struct $name($($given: $kind),*) {
                $($(#[$why])* $column: $element = $value,)*
            }
        }

        impl<'a> $name<'a> {
            /// Gives a statement of SQLite a row from this parameter on, and says which comes next.
            $see fn bind(
                to: &mut rusqlite::Statement<'_>,
                mut at: usize,
                $($given: $kind),*
            ) -> rusqlite::Result<usize> {
                $(
                    let value: $element = $value;
                    to.raw_bind_parameter(at, value)?;
                    at += 1;
                )*
                Ok(at)
            }
        }
    };
}
pub(crate) use rows;
