//! Questions that are the same statement in every database: they are written once, and a database says
//! how it runs them.

mod alert;
mod breaker;
mod bulk;
mod callback;
mod catalog;
mod history;
mod key;
mod letter;
mod list;
mod minute;
mod notice;
mod request;
mod scheduled;
mod session;
mod task;
mod trigger;
mod work;
mod worker;

use refire_core::definition::WorkflowId;
use refire_core::id::{
    AlertId, AlertRuleId, BulkId, ChannelId, DlqId, ExecutionId, GroupId, ItemId, RequestId,
    ScheduledTaskId, TriggerId, WebhookId,
};
use refire_core::time::Timestamp;

use crate::ReadError;
use crate::column::{Columns, Field, read_at};
use crate::table::Value;

pub(crate) use history::history;
pub(crate) use key::executions_by_key;
pub(crate) use letter::{
    count_letters, find_letters, letter_retries, letters_of_target, letters_since, tally_letters,
};
pub(crate) use list::{Lists, count, list};
pub(crate) use work::{open_counts, open_executions, waiting_work};

/// The condition that a row is of the workflow with this id.
const OF_WORKFLOW: &str =
    "workflow = (SELECT key FROM workflows WHERE ns = 1 AND workflows.id = ?)";

/// Comes after the names of what the server runs for itself, and before all that people give.
const AFTER_SYSTEM: &str = "/";

/// A database that these questions can be put to.
pub(crate) trait Database: Send + Sync + 'static {
    /// How a table is told which index to go along; empty where the database decides that itself.
    fn along(index: &str) -> String;

    /// The condition that a column of yes or no says yes, as the partial indexes have it.
    fn says_yes(column: &str) -> String;

    /// The column by which executions with those statuses that are not everybody's are indexed, and the
    /// condition of that index.
    fn listed_by() -> (&'static str, String);

    /// Executions along that index, up to what the status is compared with.
    fn listed() -> String {
        let (column, condition) = Self::listed_by();
        let along = Self::along("executions_by_status");
        format!("{along} WHERE {condition} AND {column}")
    }

    /// Joins each row with the execution that it names, and never the other way round.
    fn executions_of(id: &str) -> String;

    /// All rows of an answer.
    fn rows<T: Field + Send + 'static>(
        &self,
        query: Query,
    ) -> impl Future<Output = Result<Vec<T>, ReadError>> + Send;

    /// The first row of an answer.
    fn row<T: Field + Send + 'static>(
        &self,
        query: Query,
    ) -> impl Future<Output = Result<Option<T>, ReadError>> + Send {
        async { Ok(self.rows(query).await?.into_iter().next()) }
    }
}

/// A connection of a database, for what takes several statements.
pub(crate) trait Connection {
    type Of: Database;

    /// Shows the rows of an answer until `see` says that it has enough, and says how many those were.
    fn each(
        &self,
        query: Query,
        see: &mut (dyn FnMut(&dyn Columns) -> Result<bool, ReadError> + Send),
    ) -> impl Future<Output = Result<usize, ReadError>>;
}

/// All rows of an answer.
async fn all<T: Field + Send>(
    connection: &impl Connection,
    query: Query,
) -> Result<Vec<T>, ReadError> {
    let mut found = Vec::new();
    let mut see = |row: &dyn Columns| {
        found.push(read_at(&row, 0)?);
        Ok(true)
    };
    connection.each(query, &mut see).await?;
    Ok(found)
}

/// The short key of the workflow that a filter names, if it names one; none at all where it was never
/// saved, so that there is nothing to find.
pub(crate) async fn workflow_key(
    connection: &impl Connection,
    asked: Option<&WorkflowId>,
) -> Result<Option<Option<i64>>, ReadError> {
    let Some(id) = asked else {
        return Ok(Some(None));
    };
    let query = Query::new("SELECT key FROM workflows WHERE ns = 1");
    let mut keys = all(connection, query.with("AND id = ?", id.as_str())).await?;
    Ok(keys.pop().map(Some))
}

/// A statement with its values. Each `?` in its text is one of them, in their order.
pub(crate) struct Query {
    pub(crate) sql: String,
    pub(crate) values: Vec<Value>,
    /// Whether it must not wait behind people who read lists.
    pub(crate) is_urgent: bool,
}

impl Query {
    pub(crate) fn new(sql: impl Into<String>) -> Self {
        Self {
            sql: sql.into(),
            values: Vec::new(),
            is_urgent: false,
        }
    }

    /// For what attempts begin with.
    pub(crate) fn urgent(mut self) -> Self {
        self.is_urgent = true;
        self
    }

    /// The next part of the statement, with its value.
    pub(crate) fn with(mut self, sql: &str, value: impl Into<Value>) -> Self {
        self.sql.push(' ');
        self.sql.push_str(sql);
        self.values.push(value.into());
        self
    }

    /// A condition, if there is something to compare with.
    pub(crate) fn and<V: Into<Value>>(self, condition: &str, value: Option<V>) -> Self {
        match value {
            Some(value) => self.with(&format!("AND {condition}"), value),
            None => self,
        }
    }

    /// The condition that a column has one of these words; none = any.
    pub(crate) fn and_in<'a>(self, column: &str, words: impl IntoIterator<Item = &'a str>) -> Self {
        self.and_one_of(column, words)
    }

    /// The condition that a column has one of these values; none = any.
    pub(crate) fn and_one_of<V: Into<Value>>(
        mut self,
        column: &str,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        let before = self.values.len();
        self.values.extend(values.into_iter().map(Into::into));
        let places = vec!["?"; self.values.len() - before].join(", ");
        if !places.is_empty() {
            self.sql.push_str(&format!(" AND {column} IN ({places})"));
        }
        self
    }

    /// The last part of the statement.
    pub(crate) fn end(mut self, sql: &str) -> Self {
        self.sql.push(' ');
        self.sql.push_str(sql);
        self
    }

    /// The order of the rows, and how many at most.
    pub(crate) fn page(self, order: &str, limit: u32) -> Self {
        let limit = limit.min(crate::LIMIT_MAX);
        self.with(&format!("ORDER BY {order} LIMIT ?"), limit)
    }
}

macro_rules! values_of_ids {
    ($($type:ty),*) => {
        $(impl From<$type> for Value {
            fn from(id: $type) -> Self {
                Self::Bytes(id.as_bytes().to_vec())
            }
        })*
    };
}
values_of_ids!(
    AlertId,
    AlertRuleId,
    BulkId,
    ChannelId,
    DlqId,
    ExecutionId,
    GroupId,
    ItemId,
    RequestId,
    ScheduledTaskId,
    TriggerId,
    WebhookId
);

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

/// Versions, sequences and waits stay far below 2⁶³.
impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value {
    fn from(is_so: bool) -> Self {
        Self::Number(is_so.into())
    }
}

impl From<Timestamp> for Value {
    fn from(at: Timestamp) -> Self {
        Self::Number(at.as_micros())
    }
}
