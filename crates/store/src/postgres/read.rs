//! The queries. What must be true of one moment is one statement, or one short transaction.

pub(super) mod catalog;
pub(super) mod execution;
pub(super) mod letter;
mod letter_scan;
pub(super) mod letter_summary;
pub(super) mod list;
pub(super) mod request;
mod state;
pub(super) mod trigger;
pub(super) mod work;

use refire_core::definition::WorkflowId;

use super::columns;
use super::pool::Reader;
use crate::ReadError;

/// Rows that a walk looks at in one statement before it starts another.
const ROWS_PER_READ: i64 = 20_000;
/// Comes after every id.
const LAST_ID: [u8; 16] = [0xff; 16];

/// The short key of a workflow, if it was ever saved.
async fn workflow_key(reader: &Reader, id: &WorkflowId) -> Result<Option<i64>, ReadError> {
    let row = reader
        .row(
            "SELECT key FROM workflows WHERE ns = 1 AND id = $1",
            &[&id.as_str()],
        )
        .await?;
    row.map(|row| columns::get(&row, 0)).transpose()
}

/// Whether a column of texts can hold this: NUL is the one character that it cannot.
fn can_be_text(text: Option<&str>) -> bool {
    text.is_none_or(|text| !text.contains('\0'))
}
