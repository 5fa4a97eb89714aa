//! Tasks for workers outside, as their rows have them: where one stands, and which of its clocks has
//! run out. What that means for the execution is decided in [`crate::execution`].

use std::time::Duration;

use crate::failure::{ErrorClass, Failure};
use crate::time::Timestamp;

/// Where a task stands.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum TaskStatus {
    /// Workers may fetch it.
    Pending,
    /// A worker has it.
    Locked,
    /// Nobody may fetch it: its execution is paused.
    Held,
    /// Nobody may fetch it any more: its execution is failing.
    Retired,
    /// A worker did it.
    Completed,
    /// Its last attempt failed.
    Failed,
    /// Nobody needs it any more.
    Cancelled,
}

impl TaskStatus {
    /// Every status, in the order of their stored numbers.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Locked,
        Self::Held,
        Self::Retired,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The word that workers see: what is held is pending for them, what is retired is gone.
    #[must_use]
    pub fn shown(self) -> &'static str {
        match self {
            Self::Pending | Self::Held => "PENDING",
            Self::Locked => "LOCKED",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Retired | Self::Cancelled => "CANCELLED",
        }
    }

    /// Whether nothing happens to it any more.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// Whether who asks for these types asks for this one: a `*` at the end stands for any rest of a name.
#[must_use]
pub fn asks_for(types: &[String], task_type: &str) -> bool {
    types.iter().any(|asked| match asked.strip_suffix('*') {
        Some(prefix) => task_type.starts_with(prefix),
        None => asked == task_type,
    })
}

/// How a worker is, by what was last heard of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WorkerStatus {
    /// It has a task, or has just asked for one.
    Active,
    /// It was there a little while ago.
    Idle,
    /// It was not heard of for longer.
    Dead,
}

impl WorkerStatus {
    /// Who has asked for tasks is active for so long.
    const ACTIVE_FOR: Duration = Duration::from_secs(60);
    /// Who was heard of is not dead for so long.
    const IDLE_FOR: Duration = Duration::from_secs(300);

    /// How a worker is that has so many tasks, asked for some then, and was last heard of then.
    #[must_use]
    pub fn of(held: u64, polled_at: Option<Timestamp>, seen_at: Timestamp, now: Timestamp) -> Self {
        if held > 0 || polled_at.is_some_and(|at| at.plus(Self::ACTIVE_FOR) >= now) {
            Self::Active
        } else if seen_at.plus(Self::IDLE_FOR) >= now {
            Self::Idle
        } else {
            Self::Dead
        }
    }

    /// The word for it.
    #[must_use]
    pub fn shown(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Idle => "IDLE",
            Self::Dead => "DEAD",
        }
    }
}

/// The clocks of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// The attempt's time, whether a worker has it or not.
    pub timeout_at: Timestamp,
    /// The lock of the worker that has it.
    pub lock_until: Option<Timestamp>,
    /// Until when that worker must send a heartbeat.
    pub heartbeat_until: Option<Timestamp>,
}

impl Clocks {
    /// When the first of them runs out.
    #[must_use]
    pub fn next(&self) -> Timestamp {
        let worker = self.lock_until.into_iter().chain(self.heartbeat_until);
        worker.fold(self.timeout_at, Timestamp::min)
    }

    /// What the attempt fails with by then; none while all of them run. Of several the first of
    /// timeout, heartbeat and lock counts.
    #[must_use]
    pub fn run_out(&self, by: Timestamp) -> Option<Failure> {
        let is_over = |until: Option<Timestamp>| until.is_some_and(|until| until <= by);
        let (class, message) = if self.timeout_at <= by && self.lock_until.is_some() {
            let message = "the worker did not finish the task within its timeout";
            (ErrorClass::TaskTimeout, message)
        } else if self.timeout_at <= by {
            let message = "no worker fetched the task within its timeout";
            (ErrorClass::TaskTimeout, message)
        } else if is_over(self.heartbeat_until) {
            let message = "the worker that had the task sent no heartbeats";
            (ErrorClass::HeartbeatMissed, message)
        } else if is_over(self.lock_until) {
            let message = "the worker that had the task was not heard of until its lock ran out";
            (ErrorClass::LockExpired, message)
        } else {
            return None;
        };
        Some(Failure::new(class, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_ask_for_types_or_the_beginning_of_types() {
        let asks = |types: &[&str]| {
            let types: Vec<String> = types.iter().map(ToString::to_string).collect();
            asks_for(&types, "n8n-jira")
        };
        assert!(asks(&["x", "n8n-jira"]) && asks(&["n8n-*"]) && asks(&["*"]));
        assert!(!asks(&[]) && !asks(&["n8n"]) && !asks(&["n8n-jira-x", "jira*"]));
    }

    #[test]
    fn a_worker_is_active_idle_or_dead() {
        use WorkerStatus::{Active, Dead, Idle};
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        for (held, polled, seen, status) in [
            (0, Some(940), 940, Active),
            (0, Some(939), 939, Idle),
            (0, Some(939), 990, Idle),
            (0, None, 990, Idle),
            (0, Some(700), 700, Idle),
            (0, Some(699), 699, Dead),
            (0, None, 699, Dead),
            (1, Some(100), 100, Active),
        ] {
            let found = WorkerStatus::of(held, polled.map(at), at(seen), at(1_000));
            assert_eq!(found, status, "{held} {polled:?} {seen}");
        }
    }

    #[test]
    fn the_first_clock_that_runs_out_counts() {
        let at = Timestamp::from_millis;
        let clocks = |timeout, lock: Option<i64>, beat: Option<i64>| Clocks {
            timeout_at: at(timeout),
            lock_until: lock.map(at),
            heartbeat_until: beat.map(at),
        };
        for (clocks, next, class) in [
            (clocks(20, None, None), 20, None),
            (clocks(10, None, None), 10, Some(ErrorClass::TaskTimeout)),
            (clocks(20, Some(9), None), 9, Some(ErrorClass::LockExpired)),
            (
                clocks(20, Some(9), Some(8)),
                8,
                Some(ErrorClass::HeartbeatMissed),
            ),
            (
                clocks(7, Some(9), Some(8)),
                7,
                Some(ErrorClass::TaskTimeout),
            ),
            (clocks(20, Some(19), Some(18)), 18, None),
        ] {
            assert_eq!(clocks.next(), at(next), "{clocks:?}");
            let failure = clocks.run_out(at(10));
            assert_eq!(failure.map(|failure| failure.class), class, "{clocks:?}");
        }
    }
}
