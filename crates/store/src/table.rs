//! What every backend keeps, column by column, so that rows can be carried from one to another.

use refire_core::time::Timestamp;

use crate::ReadError;
use crate::column::{Columns, read_at};
use Kind::{Big, Bytes, Due, Flag, Foreign, Id, Int, Small, Text};

/// A table and its columns.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [(&'static str, Kind)],
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Sixteen bytes.
    Id,
    /// Bytes of ours.
    Bytes,
    /// A text from outside, which may hold any character.
    Foreign,
    /// A word or name of ours.
    Text,
    /// A number of 64 bits.
    Big,
    /// A number of 32 bits.
    Int,
    /// A number of 16 bits.
    Small,
    /// Yes or no.
    Flag,
    /// A time, or nothing for at once.
    Due,
}

/// What a row holds in one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Value {
    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Null | Self::Number(_) => size_of::<i64>(),
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }
}

/// Some rows of a table.
pub(crate) type Rows = Vec<Vec<Value>>;

/// Rows that are carried together, at most.
pub(crate) const ROWS_TOGETHER_MAX: usize = 500;
/// Bytes that are carried together, at most, but for one row.
pub(crate) const BYTES_TOGETHER_MAX: usize = 1024 * 1024;

/// Rows on their way, as many as may travel together.
#[derive(Default)]
pub(crate) struct Load {
    rows: Rows,
    bytes: usize,
}

impl Load {
    /// Adds a row, and gives the whole load when it is full.
    pub(crate) fn add(&mut self, row: Vec<Value>) -> Option<Rows> {
        self.bytes += row.iter().map(Value::bytes).sum::<usize>();
        self.rows.push(row);
        let is_full = self.rows.len() >= ROWS_TOGETHER_MAX || self.bytes >= BYTES_TOGETHER_MAX;
        is_full.then(|| self.take())
    }

    /// What there is.
    pub(crate) fn take(&mut self) -> Rows {
        self.bytes = 0;
        std::mem::take(&mut self.rows)
    }
}

/// Everything that a store remembers, except which nodes there are.
pub(crate) const TABLES: &[Table] = &[
    WORKFLOWS,
    WORKFLOW_VERSIONS,
    EXECUTIONS,
    WORKFLOW_EVENTS,
    WORK,
    IDEMPOTENCY,
    DEAD_LETTER_QUEUE,
    DEAD_LETTER_RETRIES,
    DLQ_COUNTS,
    WORKFLOW_TRIGGERS,
    TRIGGER_STATE,
    TRIGGER_SLOTS,
    WEBHOOK_REQUESTS,
    REQUEST_RINGS,
];

const WORKFLOWS: Table = Table {
    name: "workflows",
    columns: &[
        ("key", Big),
        ("ns", Int),
        ("id", Text),
        ("name", Foreign),
        ("version", Int),
        ("created_at", Big),
        ("updated_at", Big),
        ("deleted_at", Big),
    ],
};

const WORKFLOW_VERSIONS: Table = Table {
    name: "workflow_versions",
    columns: &[
        ("workflow", Big),
        ("version", Int),
        ("content_hash", Bytes),
        ("created_at", Big),
        ("created_by", Foreign),
        ("crc", Big),
        ("source", Foreign),
    ],
};

const EXECUTIONS: Table = Table {
    name: "executions",
    columns: &[
        ("id", Id),
        ("ns", Int),
        ("workflow", Big),
        ("workflow_version", Int),
        ("version", Big),
        ("commit_id", Id),
        ("status", Text),
        ("phase", Text),
        ("trigger", Text),
        ("priority", Small),
        ("created_at", Big),
        ("updated_at", Big),
        ("retry_count", Int),
        ("next_retry_at", Big),
        ("parent", Id),
        ("root", Id),
        ("snapshot_version", Big),
        ("snapshot_crc", Big),
        ("snapshot", Bytes),
    ],
};

const WORKFLOW_EVENTS: Table = Table {
    name: "workflow_events",
    columns: &[
        ("execution", Id),
        ("sequence", Big),
        ("type", Text),
        ("v", Int),
        ("at", Big),
        ("step", Text),
        ("attempt", Int),
        ("backoff_ms", Big),
        ("reason", Foreign),
        ("crc", Big),
        ("payload", Bytes),
    ],
};

const WORK: Table = Table {
    name: "work",
    columns: &[
        ("execution", Id),
        ("step", Text),
        ("attempt", Int),
        ("is_retry", Flag),
        ("workflow", Big),
        ("priority", Small),
        ("due_at", Due),
        ("limit_key", Foreign),
        ("owner", Id),
        ("begun", Flag),
        ("begun_at", Big),
    ],
};

const IDEMPOTENCY: Table = Table {
    name: "idempotency",
    columns: &[
        ("ns", Int),
        ("scope", Text),
        ("key_hash", Bytes),
        ("body_hash", Bytes),
        ("execution", Id),
        ("expires_at", Big),
    ],
};

const DEAD_LETTER_QUEUE: Table = Table {
    name: "dead_letter_queue",
    columns: &[
        ("id", Id),
        ("execution", Id),
        ("workflow", Big),
        ("workflow_name", Foreign),
        ("step", Text),
        ("reason", Text),
        ("error_type", Text),
        ("error_code", Foreign),
        ("error_message", Foreign),
        ("fingerprint", Big),
        ("retry_count", Int),
        ("max_retries", Int),
        ("generation", Int),
        ("status", Text),
        ("retry_attempted_at", Big),
        ("retry_attempted_by", Foreign),
        ("resolution_execution", Id),
        ("resolved_at", Big),
        ("resolved_by", Foreign),
        ("deleted_at", Big),
        ("deleted_by", Foreign),
        ("failed_at", Big),
        ("created_at", Big),
        ("failure", Bytes),
    ],
};

const DEAD_LETTER_RETRIES: Table = Table {
    name: "dead_letter_retries",
    columns: &[
        ("letter", Id),
        ("execution", Id),
        ("retried_at", Big),
        ("retried_by", Foreign),
        ("retried_from", Text),
        ("edited", Flag),
        ("ended_as", Text),
        ("ended_at", Big),
    ],
};

const DLQ_COUNTS: Table = Table {
    name: "dlq_counts",
    columns: &[
        ("workflow", Big),
        ("error_type", Text),
        ("error_code", Foreign),
        ("status", Text),
        ("n", Big),
    ],
};

const WORKFLOW_TRIGGERS: Table = Table {
    name: "workflow_triggers",
    columns: &[
        ("id", Id),
        ("ns", Int),
        ("workflow", Big),
        ("kind", Text),
        ("enabled", Flag),
        ("version", Int),
        ("settings", Bytes),
        ("crc", Big),
        ("secrets", Bytes),
        ("webhook", Id),
        ("created_at", Big),
        ("updated_at", Big),
        ("deleted_at", Big),
    ],
};

const TRIGGER_STATE: Table = Table {
    name: "trigger_state",
    columns: &[
        ("trigger", Id),
        ("rev", Big),
        ("cursor", Big),
        ("due_at", Big),
        ("running", Id),
        ("buffered", Big),
        ("success_at", Big),
        ("success_slot", Big),
        ("watched_from", Big),
        ("alarmed_at", Big),
        ("fired", Id),
        ("slots", Big),
    ],
};

const TRIGGER_SLOTS: Table = Table {
    name: "trigger_slots",
    columns: &[
        ("trigger", Id),
        ("seq", Big),
        ("nominal", Big),
        ("until", Big),
        ("count", Big),
        ("status", Text),
        ("reason", Foreign),
        ("execution", Id),
        ("at", Big),
    ],
};

const WEBHOOK_REQUESTS: Table = Table {
    name: "webhook_requests",
    columns: &[
        ("id", Id),
        ("trigger", Id),
        ("at", Big),
        ("status", Text),
        ("source", Foreign),
        ("headers", Bytes),
        ("body", Bytes),
        ("body_bytes", Big),
        ("execution", Id),
        ("error", Foreign),
        ("is_test", Flag),
        ("size", Big),
    ],
};

const REQUEST_RINGS: Table = Table {
    name: "request_rings",
    columns: &[("trigger", Id), ("n", Big), ("bytes", Big)],
};

impl Table {
    /// A row of it, as it is carried.
    pub(crate) fn values(&self, row: &impl Columns) -> Result<Vec<Value>, ReadError> {
        let columns = self.columns.iter().enumerate();
        let value = |(at, (_, kind)): (usize, &(&str, Kind))| {
            Ok(match kind {
                Id | Bytes => row.bytes(at)?.map(|bytes| Value::Bytes(bytes.to_vec())),
                Foreign | Text => row.text(at)?.map(|text| Value::Text(text.to_owned())),
                Due => read_at::<Option<Timestamp>>(row, at)?.map(Value::from),
                Big | Int | Small | Flag => row.number(at)?.map(Value::Number),
            }
            .unwrap_or(Value::Null))
        };
        columns.map(value).collect()
    }

    /// The names of its columns, as SQL lists them.
    pub(crate) fn column_list(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }
}
