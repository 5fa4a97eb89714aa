//! What a dead letter says when it is made. What people do with it later is the store's row.

use serde::{Deserialize, Serialize};

use crate::definition::{StepId, WorkflowId};
use crate::failure::Failure;
use crate::id::{DlqId, ExecutionId};
use crate::time::Timestamp;

/// Why an execution was dead-lettered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Every retry of the policy failed, or its time limit is over.
    Exhausted,
    /// The failure is of a kind that is not retried.
    NonRetryable,
    /// An external task ran out of time.
    Timeout,
    /// The node died too often during this step.
    NodeLost,
    /// A worker's lock ran out.
    LockExpired,
    /// A worker stopped sending heartbeats.
    HeartbeatMissed,
    /// A completed step could not be undone.
    CompensationFailed,
    /// The history reached its limit.
    HistoryLimit,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 8] = [
        Self::Exhausted,
        Self::NonRetryable,
        Self::Timeout,
        Self::NodeLost,
        Self::LockExpired,
        Self::HeartbeatMissed,
        Self::CompensationFailed,
        Self::HistoryLimit,
    ];

    /// The word used everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::NonRetryable => "non_retryable",
            Self::Timeout => "timeout",
            Self::NodeLost => "node_lost",
            Self::LockExpired => "lock_expired",
            Self::HeartbeatMissed => "heartbeat_missed",
            Self::CompensationFailed => "compensation_failed",
            Self::HistoryLimit => "history_limit",
        }
    }

    /// The reason of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

/// Where a dead letter stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LetterStatus {
    /// Waits for a person.
    #[default]
    Pending,
    /// An execution that retries it is open.
    Retrying,
    /// A retry succeeded.
    Resolved,
    /// A person gave it up; still readable.
    Deleted,
}

impl LetterStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Retrying, Self::Resolved, Self::Deleted];

    /// Whether a person may still need it, with its execution and those that retried it.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Retrying)
    }

    /// The word used everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Retrying => "retrying",
            Self::Resolved => "resolved",
            Self::Deleted => "deleted",
        }
    }

    /// The status of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// Where a person's retry begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryFrom {
    /// From the start, with the newest definition: people fix the workflow, then retry.
    #[default]
    Start,
    /// From the failed step, with the original's definition; completed steps do not run again.
    FailedStep,
}

impl RetryFrom {
    /// Every way to begin.
    pub const ALL: [Self; 2] = [Self::Start, Self::FailedStep];

    /// The word used everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::FailedStep => "failed_step",
        }
    }

    /// The way of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|from| from.name() == name)
    }
}

/// A dead letter as it is made, in the commit that ends its execution.
#[derive(Debug, Clone, PartialEq)]
pub struct Letter {
    /// Its id, derived from the execution's so that a replay finds the same.
    pub id: DlqId,
    /// The failed execution.
    pub execution: ExecutionId,
    /// Its workflow.
    pub workflow: WorkflowId,
    /// The workflow's name at the time.
    pub workflow_name: String,
    /// The step that failed, if one did.
    pub step: Option<StepId>,
    /// Why it is here.
    pub reason: Reason,
    /// What went wrong.
    pub failure: Failure,
    /// Equal for failures with the same cause.
    pub fingerprint: u64,
    /// Retries that were made of the failed step.
    pub retry_count: u32,
    /// Retries that its policy allowed.
    pub max_retries: u32,
    /// When it failed.
    pub failed_at: Timestamp,
}

impl Letter {
    /// The id of the letter that `execution` would get at `failed_at`: time-ordered, and the
    /// same whenever it is derived again.
    #[must_use]
    pub fn id_for(execution: ExecutionId, failed_at: Timestamp) -> DlqId {
        use sha2::Digest;
        let digest = sha2::Sha256::digest(execution.as_bytes());
        let mut entropy = [0u8; 10];
        entropy.copy_from_slice(&digest[..10]);
        let unix_ms = u64::try_from(failed_at.as_millis()).unwrap_or(0);
        DlqId::from_bytes(crate::id::time_ordered(unix_ms, entropy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The word that serde writes.
    fn stored(word: &impl Serialize) -> String {
        serde_json::to_string(word).unwrap().replace('"', "")
    }

    #[test]
    fn words_find_their_meaning_again() {
        for reason in Reason::ALL {
            assert_eq!(stored(&reason), reason.name());
            assert_eq!(Reason::from_name(reason.name()), Some(reason));
        }
        for status in LetterStatus::ALL {
            assert_eq!(stored(&status), status.name());
            assert_eq!(LetterStatus::from_name(status.name()), Some(status));
        }
        for from in RetryFrom::ALL {
            assert_eq!(RetryFrom::from_name(from.name()), Some(from));
        }
        assert_eq!(Reason::from_name("pending"), None);
        assert_eq!(LetterStatus::from_name("exhausted"), None);
    }

    #[test]
    fn ids_are_derived_time_ordered_and_different_for_each_execution() {
        let at = Timestamp::from_millis(1_800_000_000_123);
        let id = |byte, at| Letter::id_for(ExecutionId::from_bytes([byte; 16]), at);
        assert_eq!(id(1, at), id(1, at));
        assert_ne!(id(1, at), id(2, at));
        assert_eq!(id(1, at).unix_ms(), 1_800_000_000_123);
        assert!(id(9, at) < id(1, Timestamp::from_millis(1_800_000_000_124)));
        assert_eq!(
            id(1, Timestamp::from_millis(-5)).unix_ms(),
            0,
            "no time before 1970"
        );
    }
}
