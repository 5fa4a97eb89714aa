//! What every backend keeps, column by column, so that rows can be carried from one to another.

pub(crate) mod column;
pub(crate) mod rows;
pub(crate) mod statement;

use refire_core::time::Timestamp;

use crate::ReadError;
use crate::column::{Columns as Cells, read_at};

use Kind::{Big, Bytes, Due, Flag, Foreign, Id, Int, Small, Text};
use column::Columns;

/// A table and its columns, list by list.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    columns: &'static [Columns],
}

impl Table {
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&'static str, Kind)> {
        self.columns.iter().copied().flatten().copied()
    }

    /// A row of it, as it is carried.
    pub(crate) fn values(&self, row: &impl Cells) -> Result<Vec<Value>, ReadError> {
        let columns = self.columns().enumerate();
        let value = |(at, (_, kind)): (usize, (&str, Kind))| {
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
        let names: Vec<&str> = self.columns().map(|(name, _)| name).collect();
        names.join(", ")
    }
}

/// A count as a number of 64 bits. Versions, sequences and waits stay far below 2⁶³.
pub(crate) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A small count as a number of 32 bits. Attempts and versions of definitions stay far below 2³¹.
pub(crate) fn signed_small(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
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

/// Everything that a store remembers, except which nodes there are and who is logged in.
pub(crate) const TABLES: &[Table] = &[
    Table {
        name: "workflows",
        columns: &[&[
            ("key", Big),
            ("ns", Int),
            ("id", Text),
            ("name", Foreign),
            ("version", Int),
            ("created_at", Big),
            ("updated_at", Big),
            ("deleted_at", Big),
        ]],
    },
    Table {
        name: "workflow_versions",
        columns: &[rows::Versions::COLUMNS],
    },
    Table {
        name: "executions",
        columns: &[
            rows::Starts::COLUMNS,
            rows::Updates::COLUMNS,
            &[("ns", Int), ("commit_id", Id), ("snapshot_version", Big)],
        ],
    },
    Table {
        name: "workflow_events",
        columns: &[rows::Events::COLUMNS],
    },
    Table {
        name: "work",
        columns: &[rows::Work::COLUMNS],
    },
    Table {
        name: "workflow_external_tasks",
        columns: &[rows::Tasks::COLUMNS],
    },
    Table {
        name: "task_callbacks",
        columns: &[rows::CallbackRows::COLUMNS],
    },
    Table {
        name: "workflow_external_workers",
        columns: &[rows::Workers::COLUMNS],
    },
    Table {
        name: "breakers",
        columns: &[rows::BreakerRows::COLUMNS],
    },
    Table {
        name: "idempotency",
        columns: &[rows::KeyClaims::COLUMNS, &[("ns", Int)]],
    },
    Table {
        name: "dead_letter_queue",
        columns: &[
            rows::Letters::COLUMNS,
            &[
                ("generation", Int),
                ("retry_attempted_at", Big),
                ("retry_attempted_by", Foreign),
                ("resolution_execution", Id),
                ("resolved_at", Big),
                ("resolved_by", Foreign),
                ("deleted_at", Big),
                ("deleted_by", Foreign),
            ],
        ],
    },
    Table {
        name: "dead_letter_retries",
        columns: &[
            rows::Retries::COLUMNS,
            &[("ended_as", Text), ("ended_at", Big)],
        ],
    },
    Table {
        name: "dlq_counts",
        columns: &[&[
            ("workflow", Big),
            ("error_type", Text),
            ("error_code", Foreign),
            ("status", Text),
            ("n", Big),
        ]],
    },
    Table {
        name: "workflow_triggers",
        columns: &[rows::Triggers::COLUMNS, &[("ns", Int), ("deleted_at", Big)]],
    },
    Table {
        name: "trigger_state",
        columns: &[rows::States::COLUMNS, &[("fired", Id), ("slots", Big)]],
    },
    Table {
        name: "trigger_slots",
        columns: &[rows::Slots::COLUMNS],
    },
    Table {
        name: "scheduled_tasks",
        columns: &[rows::ScheduledTasks::COLUMNS],
    },
    Table {
        name: "bulk_jobs",
        columns: &[
            rows::NewBulks::COLUMNS,
            &[("cursor", Id), ("ended_at", Big)],
        ],
    },
    Table {
        name: "bulk_items",
        columns: &[rows::BulkItems::COLUMNS],
    },
    Table {
        name: "workflow_minutes",
        columns: &[rows::MinuteRows::COLUMNS],
    },
    Table {
        name: "alert_rules",
        columns: &[rows::AlertRules::COLUMNS],
    },
    Table {
        name: "alert_state",
        columns: &[rows::AlertRows::COLUMNS],
    },
    Table {
        name: "silences",
        columns: &[rows::SilenceRows::COLUMNS],
    },
    Table {
        name: "notify_queue",
        columns: &[rows::Notices::COLUMNS],
    },
    Table {
        name: "notify_groups",
        columns: &[rows::Groups::COLUMNS],
    },
    Table {
        name: "notify_channels",
        columns: &[rows::ChannelRows::COLUMNS],
    },
    Table {
        name: "webhook_requests",
        columns: &[rows::Requests::COLUMNS],
    },
    Table {
        name: "request_rings",
        columns: &[&[("trigger", Id), ("n", Big), ("bytes", Big)]],
    },
];
