//! Where lists of executions find them.
//!
//! Each status has its own source, because the most common statuses have no index: what is
//! pending is found by its work, what has begun by its owner. The sources are disjoint, so the
//! newest of each, merged, are the newest of all.
//!
//! An execution changes its status and so its source while a walk goes on, but never its id. So a walk
//! goes from an id to older ones in stretches, and each stretch is read from all sources as of one
//! moment: none is missed in between.

use refire_core::execution::Status;
use refire_core::id::ExecutionId;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// All executions, or those of them with this status.
    All(Option<Status>),
    /// Those that have work, none of which has begun.
    Pending,
    /// Those whose work has begun, whatever their log says.
    Begun,
    /// Those whose log says so.
    Logged(Status),
    /// Those of them whose work has not begun.
    Idle(Status),
}

impl Source {
    /// The sources of executions with these statuses; none = all.
    pub(crate) fn of(statuses: &[Status]) -> Vec<Self> {
        if statuses.is_empty() {
            return vec![Self::All(None)];
        }
        let asked = Status::ALL.into_iter().filter(|it| statuses.contains(it));
        asked.flat_map(Self::with_status).collect()
    }

    fn with_status(status: Status) -> Vec<Self> {
        vec![match status {
            Status::Completed => Self::All(Some(status)),
            Status::Pending => Self::Pending,
            // The log itself calls so whose completed steps are being undone.
            Status::Running => return vec![Self::Begun, Self::Logged(status)],
            Status::Retrying | Status::Waiting => Self::Idle(status),
            Status::Paused | Status::Failed | Status::Dlq | Status::Cancelled => {
                Self::Logged(status)
            }
        }]
    }
}

/// What one source gave, newest first.
pub(crate) struct Found {
    pub(crate) ids: Vec<ExecutionId>,
    /// The last id it came to, unless it came to its end.
    pub(crate) reached: Option<ExecutionId>,
}

/// The newest of all sources, down to where the shortest of them came to; the next stretch begins there.
pub(crate) fn merged(sources: Vec<Found>) -> Found {
    let reached = sources.iter().filter_map(|source| source.reached).max();
    let mut ids: Vec<ExecutionId> = sources.into_iter().flat_map(|source| source.ids).collect();
    ids.retain(|id| reached.is_none_or(|reached| *id >= reached));
    ids.sort_unstable_by(|a, b| b.cmp(a));
    Found { ids, reached }
}
