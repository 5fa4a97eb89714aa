//! Tasks for workers outside: their rows, and how they are found. What changes them is in `batch/task.rs`.

use std::time::Duration;

use refire_core::definition::WorkflowId;
use refire_core::id::{ExecutionId, LockToken, TaskId};
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::task::{Clocks, TaskStatus};
use refire_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::TaskHolder;
use crate::column::read_from;
use crate::layer::store_trait;

/// A task's row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRow {
    /// The execution.
    pub execution: ExecutionId,
    /// The place of the step in its definition.
    pub step_no: u16,
    /// The step's name.
    pub step: String,
    /// The workflow.
    pub workflow: WorkflowId,
    /// What workers ask for.
    pub task_type: String,
    /// 1 (first) to 10 (last).
    pub priority: u8,
    /// Where it stands.
    pub status: TaskStatus,
    /// Where it will stand when a worker that has it gives it back.
    pub returns_to: TaskStatus,
    /// Counts its changes, so that nobody changes what he has not seen.
    pub rev: u64,
    /// The attempt.
    pub attempt: u32,
    /// Attempts in all.
    pub attempts_max: u32,
    /// Nobody may fetch it before. It is as old as this says.
    pub available_at: Timestamp,
    /// When the attempt's time is over.
    pub timeout_at: Timestamp,
    /// When the first of its clocks runs out, or ran out before a heartbeat; absent while nobody may
    /// fetch it, and when it is over.
    pub wake_at: Option<Timestamp>,
    /// How long a worker holds it without a word, in milliseconds.
    pub lock_ms: u64,
    /// How often its worker must send a heartbeat, in milliseconds.
    pub heartbeat_ms: Option<u64>,
    /// How long its worker may be silent, in milliseconds.
    pub silence_ms: Option<u64>,
    /// Whether a worker must say by which lock it has it.
    pub require_token: bool,
    /// The event that keeps what the worker is given, and how long that is in bytes.
    pub input_sequence: u64,
    /// See `input_sequence`.
    pub input_bytes: u64,
    /// The lock of the worker that has it.
    pub token: Option<LockToken>,
    /// That worker, if it has said who it is.
    pub worker: Option<String>,
    /// What kind of worker it says it is.
    pub worker_type: Option<String>,
    /// Since when it has it.
    pub locked_at: Option<Timestamp>,
    /// Until when it has it.
    pub lock_until: Option<Timestamp>,
    /// Until when it must send a heartbeat.
    pub heartbeat_until: Option<Timestamp>,
    /// When it was heard of last.
    pub heartbeat_at: Option<Timestamp>,
    /// How far it is, in percent.
    pub progress: Option<u8>,
    /// How far it is, in words.
    pub message: Option<String>,
    /// The lock that ended last, and by which call.
    pub ended_token: Option<LockToken>,
    /// See `ended_token`.
    pub ended_by: Option<TaskCall>,
    /// How often workers gave it back without a word on its result.
    pub releases: u32,
    /// What its last attempt failed with.
    pub error: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// When it was over.
    pub completed_at: Option<Timestamp>,
}

read_from! {
    TaskRow {
        execution: "execution",
        step_no: "step_no",
        step: "step",
        workflow: "workflow",
        task_type: "task_type",
        priority: "priority",
        status: "status",
        returns_to: "returns_to",
        rev: "rev",
        attempt: "attempt",
        attempts_max: "attempts_max",
        available_at: "available_at",
        timeout_at: "timeout_at",
        wake_at: "wake_at",
        lock_ms: "lock_ms",
        heartbeat_ms: "heartbeat_ms",
        silence_ms: "silence_ms",
        require_token: "require_token",
        input_sequence: "input_sequence",
        input_bytes: "input_bytes",
        token: "token",
        worker: "worker",
        worker_type: "worker_type",
        locked_at: "locked_at",
        lock_until: "lock_until",
        heartbeat_until: "heartbeat_until",
        heartbeat_at: "heartbeat_at",
        progress: "progress",
        message: "message",
        ended_token: "ended_token",
        ended_by: "ended_by",
        releases: "releases",
        error: "error",
        created_at: "created_at",
        updated_at: "updated_at",
        completed_at: "completed_at";
    }
}

impl TaskRow {
    /// Its name.
    #[must_use]
    pub fn id(&self) -> TaskId {
        TaskId {
            execution: self.execution,
            step: self.step_no,
        }
    }

    /// Whose turn comes first when workers fetch: by priority, then age.
    pub(crate) fn turn(&self) -> (u8, Timestamp, TaskId) {
        (self.priority, self.available_at, self.id())
    }

    /// Its clocks.
    #[must_use]
    pub fn clocks(&self) -> Clocks {
        Clocks {
            timeout_at: self.timeout_at,
            lock_until: self.lock_until,
            heartbeat_until: self.heartbeat_until,
        }
    }

    /// How long a worker has had it, in milliseconds.
    #[must_use]
    pub fn held_ms(&self, now: Timestamp) -> u64 {
        let since = self.locked_at.map(|at| now.since(at).as_millis());
        u64::try_from(since.unwrap_or_default()).unwrap_or(u64::MAX)
    }

    /// Gives it to a worker.
    pub fn lock(&mut self, holder: &TaskHolder, now: Timestamp) {
        let later = |ms| now.plus(Duration::from_millis(ms));
        self.status = TaskStatus::Locked;
        self.token = Some(holder.token);
        self.worker.clone_from(&holder.worker);
        self.worker_type.clone_from(&holder.worker_type);
        self.locked_at = Some(now);
        self.lock_until = Some(later(self.lock_ms));
        self.heartbeat_until = self.silence_ms.map(later);
        self.wake_at = Some(self.clocks().next());
        (self.heartbeat_at, self.progress, self.message) = (None, None, None);
        self.rev += 1;
        self.updated_at = now;
    }

    /// Nobody has it any more.
    pub(crate) fn unlock(&mut self, by: Option<TaskCall>, now: Timestamp) {
        // If nobody had it, the lock before is still the one that ended last. If nobody's call did it,
        // whoever had the task finds that it has not.
        if let Some(token) = self.token.take() {
            (self.ended_token, self.ended_by) = (by.map(|_| token), by);
        }
        #[cfg(feature = "planted")]
        if planted::is(Defect::PrevTokenForgotten) {
            (self.ended_token, self.ended_by) = (None, None);
        }
        (self.lock_until, self.heartbeat_until) = (None, None);
        self.rev += 1;
        self.updated_at = now;
    }

    /// Nobody may fetch it before then, and its time begins then.
    pub fn put_off(&mut self, until: Timestamp) {
        if until <= self.available_at {
            return;
        }
        let later = until.since(self.available_at);
        self.available_at = until;
        self.timeout_at = self.timeout_at.plus(later);
        self.wake_at = self.wake_at.map(|at| at.plus(later));
    }

    /// It stands elsewhere now, and nobody has it.
    pub(crate) fn stand(&mut self, status: TaskStatus, now: Timestamp) {
        self.status = status;
        self.wake_at = match status {
            TaskStatus::Pending => Some(self.timeout_at),
            TaskStatus::Retired => Some(now),
            _ => None,
        };
        #[cfg(feature = "planted")]
        if planted::is(Defect::RetiredForgotten) && status == TaskStatus::Retired {
            self.wake_at = None;
        }
    }
}

/// A call that may end a worker's lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TaskCall {
    /// It is done.
    Complete,
    /// It failed.
    Fail,
    /// The worker gives it back.
    Unlock,
}

impl TaskCall {
    /// In the order of their stored numbers.
    pub(crate) const ALL: [Self; 3] = [Self::Complete, Self::Fail, Self::Unlock];
}

/// Numbers of closed lists.
macro_rules! numbered {
    ($($type:ty),*) => {
        $(impl $crate::column::Column for $type {
            fn read(
                row: &impl $crate::column::Columns,
                at: usize,
            ) -> Result<Option<Self>, $crate::ReadError> {
                let unknown = || $crate::column::damaged("a number that stands for nothing");
                let number = <u8 as $crate::column::Column>::read(row, at)?;
                let found = number.map(|number| Self::ALL.get(usize::from(number)).copied());
                found.map(|found| found.ok_or_else(unknown)).transpose()
            }
        })*
    };
}
pub(crate) use numbered;

numbered!(TaskCall, TaskStatus);

/// Which tasks are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// One of these; empty = any.
    pub statuses: Vec<TaskStatus>,
    /// Of this type.
    pub task_type: Option<String>,
    /// That this worker has, or had last.
    pub worker: Option<String>,
    /// Of this execution.
    pub execution: Option<ExecutionId>,
}

impl TaskFilter {
    /// Whether a task is among those.
    #[cfg(feature = "model")]
    pub(crate) fn has(&self, task: &TaskRow) -> bool {
        let is = |wanted: &Option<String>, found: Option<&String>| {
            wanted.is_none() || wanted.as_ref() == found
        };
        (self.statuses.is_empty() || self.statuses.contains(&task.status))
            && is(&self.task_type, Some(&task.task_type))
            && is(&self.worker, task.worker.as_ref())
            && self
                .execution
                .is_none_or(|execution| execution == task.execution)
    }
}

store_trait! {
    /// Tasks for workers.
    pub trait Tasks {
        /// One task.
        async fn task(&self, id: TaskId) -> Result<Option<TaskRow>, ReadError>;

        /// Tasks older than `before`, newest first.
        async fn tasks(
            &self,
            filter: &TaskFilter,
            before: Option<TaskId>,
            limit: u32,
        ) -> Result<Vec<TaskRow>, ReadError>;

        /// Tasks whose clocks are to be looked at by then, the earliest first.
        async fn due_tasks(&self, by: Timestamp, limit: u32) -> Result<Vec<TaskRow>, ReadError>;

        /// When the first clock is to be looked at.
        async fn next_task_due(&self) -> Result<Option<Timestamp>, ReadError>;

        /// The types that workers may fetch, now or later, each with the time of its first task.
        async fn open_task_types(&self) -> Result<Vec<(String, Timestamp)>, ReadError>;

        /// Tasks whose clocks run, by type and status. The first so many by their clocks are counted: what
        /// workers have comes before what has long to wait.
        async fn task_tally(&self, max: u32) -> Result<Vec<(String, TaskStatus, u64)>, ReadError>;

        /// The tasks of a lock.
        async fn locked_tasks(&self, token: LockToken) -> Result<Vec<TaskRow>, ReadError>;
    }
}
