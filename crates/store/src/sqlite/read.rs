//! The queries. Each runs on a read-only connection, for less than a second at a time.

pub(super) mod catalog;
pub(super) mod execution;
pub(super) mod letter;
mod letter_scan;
pub(super) mod letter_summary;
pub(super) mod list;
pub(super) mod request;
pub(super) mod trigger;
pub(super) mod work;

use refire_core::definition::WorkflowId;
use rusqlite::OptionalExtension;

use super::readers::Reader;

/// Rows that a walk looks at in one read before it starts another: a few tens of milliseconds.
const ROWS_PER_READ: u32 = 20_000;
/// Comes after every id.
const LAST_ID: [u8; 16] = [0xff; 16];

/// The short key of a workflow, if it was ever saved.
fn workflow_key(reader: &Reader, id: &WorkflowId) -> rusqlite::Result<Option<i64>> {
    reader
        .prepare("SELECT key FROM workflows WHERE ns = 1 AND id = ?1")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()
}
