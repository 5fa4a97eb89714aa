//! Cursors: where a list goes on. A cursor belongs to one list and one filter; with another it is
//! refused, because it would silently leave rows out.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use refire_core::definition::WorkflowId;
use refire_core::id::{
    AlertId, BulkId, DlqId, ExecutionId, ItemId, NotificationId, RequestId, ScheduledTaskId,
    TaskId, TriggerId,
};
use refire_core::time::Timestamp;
use sha2::{Digest, Sha256};

use super::Problem;
use crate::codes;

/// Bytes of the filter's hash in a cursor.
const HASH_BYTES: usize = 8;

/// The lists that have pages; the number stands in their cursors and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Workflows = 1,
    Executions = 2,
    Events = 3,
    Retries = 4,
    DeadLetters = 5,
    Triggers = 6,
    Slots = 7,
    Requests = 8,
    Tasks = 9,
    Workers = 10,
    ScheduledTasks = 11,
    TaskHistory = 12,
    Rechecks = 13,
    Alerts = 16,
    BulkJobs = 14,
    BulkItems = 15,
    Notifications = 17,
    Targets = 18,
}

/// The place of a row in a list, as it stands in a cursor.
pub(super) trait Key: Sized {
    fn to_key(&self) -> Vec<u8>;
    fn from_key(key: &[u8]) -> Option<Self>;
}

macro_rules! ids_are_keys {
    ($($id:ty),*) => { $(
        impl Key for $id {
            fn to_key(&self) -> Vec<u8> {
                self.as_bytes().to_vec()
            }

            fn from_key(key: &[u8]) -> Option<Self> {
                Some(Self::from_bytes(key.try_into().ok()?))
            }
        }
    )* };
}

ids_are_keys!(
    AlertId,
    BulkId,
    DlqId,
    ExecutionId,
    ItemId,
    NotificationId,
    RequestId,
    ScheduledTaskId,
    TriggerId
);

/// An attempt of an execution.
impl Key for (ExecutionId, u32) {
    fn to_key(&self) -> Vec<u8> {
        [&self.0.as_bytes()[..], &self.1.to_be_bytes()].concat()
    }

    fn from_key(key: &[u8]) -> Option<Self> {
        let (execution, attempt) = key.split_first_chunk()?;
        let attempt = u32::from_be_bytes(attempt.try_into().ok()?);
        Some((ExecutionId::from_bytes(*execution), attempt))
    }
}

impl Key for TaskId {
    fn to_key(&self) -> Vec<u8> {
        [&self.execution.as_bytes()[..], &self.step.to_be_bytes()].concat()
    }

    fn from_key(key: &[u8]) -> Option<Self> {
        let (execution, step) = key.split_first_chunk()?;
        Some(Self {
            execution: ExecutionId::from_bytes(*execution),
            step: u16::from_be_bytes(step.try_into().ok()?),
        })
    }
}

impl Key for u64 {
    fn to_key(&self) -> Vec<u8> {
        self.to_be_bytes().to_vec()
    }

    fn from_key(key: &[u8]) -> Option<Self> {
        Some(Self::from_be_bytes(key.try_into().ok()?))
    }
}

impl Key for String {
    fn to_key(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn from_key(key: &[u8]) -> Option<Self> {
        Self::from_utf8(key.to_vec()).ok()
    }
}

/// A workflow by when it was saved last.
impl Key for (Timestamp, WorkflowId) {
    fn to_key(&self) -> Vec<u8> {
        [
            &self.0.as_micros().to_be_bytes()[..],
            self.1.as_str().as_bytes(),
        ]
        .concat()
    }

    fn from_key(key: &[u8]) -> Option<Self> {
        let (at, id) = key.split_first_chunk()?;
        let id = WorkflowId::new(std::str::from_utf8(id).ok()?).ok()?;
        Some((Timestamp::from_micros(i64::from_be_bytes(*at)), id))
    }
}

/// One list with one filter.
pub(super) struct Scope {
    list: List,
    hash: [u8; HASH_BYTES],
}

impl Scope {
    /// `filter` is anything that prints every setting of the filter.
    pub(super) fn new(list: List, filter: &impl std::fmt::Debug) -> Self {
        let digest = Sha256::digest(format!("{filter:?}").as_bytes());
        let mut hash = [0; HASH_BYTES];
        hash.copy_from_slice(&digest[..HASH_BYTES]);
        Self { list, hash }
    }

    /// The cursor behind the row with this key.
    pub(super) fn cursor(&self, key: &impl Key) -> String {
        let mut bytes = vec![self.list as u8];
        bytes.extend_from_slice(&self.hash);
        bytes.extend_from_slice(&key.to_key());
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The key that a cursor of this list holds.
    pub(super) fn key<K: Key>(&self, cursor: Option<&str>) -> Result<Option<K>, Problem> {
        let Some(cursor) = cursor else {
            return Ok(None);
        };
        let unreadable = || invalid("the cursor does not come from a list of this server");
        let bytes = BASE64_URL_SAFE_NO_PAD
            .decode(cursor)
            .map_err(|_| unreadable())?;
        let (head, key) = bytes
            .split_at_checked(1 + HASH_BYTES)
            .ok_or_else(unreadable)?;
        if head[0] != self.list as u8 {
            return Err(invalid("the cursor belongs to another list"));
        }
        if head[1..] != self.hash {
            return Err(invalid(
                "the cursor belongs to this list with other filters",
            ));
        }
        K::from_key(key).map(Some).ok_or_else(unreadable)
    }
}

fn invalid(message: &str) -> Problem {
    Problem::field(&codes::INVALID_CURSOR, "cursor", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_good_for_its_own_list_and_filter_only() {
        let mine = Scope::new(List::Executions, &"a");
        let cursor = mine.cursor(&7_u64);
        assert_eq!(mine.key(Some(&cursor)).unwrap(), Some(7_u64));
        assert_eq!(mine.key::<u64>(None).unwrap(), None);
        let said = |scope: Scope, cursor: &str| {
            scope
                .key::<u64>(Some(cursor))
                .expect_err("refused")
                .detail()
                .to_owned()
        };
        let other_list = Scope::new(List::Retries, &"a");
        assert!(said(other_list, &cursor).contains("another list"));
        let other_filter = Scope::new(List::Executions, &"b");
        assert!(said(other_filter, &cursor).contains("other filters"));
        for nonsense in ["", "x", "%%", "AAAA"] {
            let scope = Scope::new(List::Executions, &"a");
            assert!(
                said(scope, nonsense).contains("does not come from"),
                "{nonsense}"
            );
        }
    }
}
