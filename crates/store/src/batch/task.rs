//! What changes tasks: decisions, workers that fetch them and say something about them, and clocks. The
//! changes are made here, on a row, for all backends.

use std::time::Duration;

use refire_core::definition::{StepId, Workflow};
use refire_core::execution::{Effect, Execution, Offer, TaskEnd};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{LockToken, TaskId};
use refire_core::task::TaskStatus;
use refire_core::time::Timestamp;

use crate::task::{TaskCall, TaskRow};

/// Bytes of an error that a task's row keeps.
const ERROR_BYTES_MAX: usize = 500;

/// A change of an execution's tasks, written with its move.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskChange {
    /// Write this row for the step's next attempt.
    Put {
        /// The row.
        row: Box<TaskRow>,
        /// The call that ended the attempt before, if a worker's.
        by: Option<TaskCall>,
    },
    /// Whoever stands at `from` stands at `to` now; what a worker has stands there when it comes back.
    Turn {
        /// Of this step; absent = of all.
        step: Option<u16>,
        /// From where.
        from: TaskStatus,
        /// To where.
        to: TaskStatus,
        /// How much later the time of those is over that stood at `from`, in milliseconds.
        later_ms: u64,
    },
    /// The step's attempt, which waited for its time, may be fetched now. Who has it keeps it: the clocks of
    /// two nodes may differ by a moment.
    Hasten {
        /// Of this step.
        step: u16,
        /// Since when it may be fetched.
        available_at: Timestamp,
        /// When its time is over.
        timeout_at: Timestamp,
    },
    /// What is not over is now.
    Close {
        /// Of this step; absent = of all.
        step: Option<u16>,
        /// How it ended.
        status: TaskStatus,
        /// The call that did it, if a worker's.
        by: Option<TaskCall>,
        /// What its last attempt failed with.
        error: Option<String>,
    },
}

impl TaskChange {
    /// The step that it is about; none if it is about all.
    pub(crate) fn step(&self) -> Option<u16> {
        match self {
            Self::Put { row, .. } => Some(row.step_no),
            Self::Hasten { step, .. } => Some(*step),
            Self::Turn { step, .. } | Self::Close { step, .. } => *step,
        }
    }

    /// What an effect changes in an execution's tasks; none if it is about something else.
    #[must_use]
    pub fn of(
        effect: &Effect,
        workflow: &Workflow,
        state: &Execution,
        now: Timestamp,
    ) -> Option<Self> {
        let number = |step: &StepId| {
            let (at, _) = workflow.step(step.as_ref())?;
            u16::try_from(at).ok()
        };
        let failure = |step: &StepId| state.step(step)?.failure.as_ref();
        let failed_by = |step: &StepId| {
            let is_worker = |failure: &&Failure| failure.class == ErrorClass::Worker;
            failure(step).filter(is_worker).map(|_| TaskCall::Fail)
        };
        let turn = |step: Option<&StepId>, (from, to), later: Duration| {
            let step = match step {
                Some(step) => Some(number(step)?),
                None => None,
            };
            let later_ms = u64::try_from(later.as_millis()).unwrap_or(u64::MAX);
            Some(Self::Turn {
                step,
                from,
                to,
                later_ms,
            })
        };
        let (pending, held) = (TaskStatus::Pending, TaskStatus::Held);
        if state.steps.values().all(|step| !step.is_task()) {
            return None;
        }
        match effect {
            Effect::Offer(offer) => Some(Self::Put {
                row: Box::new(TaskRow::offered(offer, workflow, state, now)?),
                by: failed_by(&offer.step),
            }),
            Effect::OfferNow(offer) => Some(Self::Hasten {
                step: number(&offer.step)?,
                available_at: offer.available_at,
                timeout_at: offer.timeout_at,
            }),
            Effect::OfferAgain { step, later } => turn(Some(step), (held, pending), *later),
            Effect::Retire { step } => {
                turn(Some(step), (pending, TaskStatus::Retired), Duration::ZERO)
            }
            Effect::Hold => turn(None, (pending, held), Duration::ZERO),
            Effect::Close { step, end } => {
                let (status, by) = match end {
                    TaskEnd::Completed => (TaskStatus::Completed, Some(TaskCall::Complete)),
                    TaskEnd::Failed => (TaskStatus::Failed, failed_by(step)),
                    TaskEnd::Cancelled => (TaskStatus::Cancelled, None),
                };
                Some(Self::Close {
                    step: Some(number(step)?),
                    status,
                    by,
                    error: failure(step).map(shortened),
                })
            }
            Effect::Abort => Some(Self::Close {
                step: None,
                status: TaskStatus::Cancelled,
                by: None,
                error: None,
            }),
            Effect::Schedule(_)
            | Effect::Restore(_)
            | Effect::Hasten(_)
            | Effect::Withdraw { .. }
            | Effect::Callback { .. }
            | Effect::DeadLetter(_)
            | Effect::SettleLetter { .. } => None,
        }
    }
}

/// What a row keeps of a failure; the rest is in the log.
fn shortened(failure: &Failure) -> String {
    let text = &failure.message;
    let end = text.floor_char_boundary(ERROR_BYTES_MAX.min(text.len()));
    text[..end].to_owned()
}

impl TaskRow {
    /// The row of an offer.
    fn offered(
        offer: &Offer,
        workflow: &Workflow,
        state: &Execution,
        now: Timestamp,
    ) -> Option<Self> {
        let (at, step) = workflow.step(offer.step.as_ref())?;
        let task = step.kind.external_task()?;
        let origin = state.origin.as_ref()?;
        let known = state.step(&offer.step)?;
        let input = known.task_input?;
        let ms = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let mut row = Self {
            execution: origin.id,
            step_no: u16::try_from(at).ok()?,
            step: offer.step.to_string(),
            workflow: origin.workflow.clone(),
            task_type: task.task_type.clone(),
            priority: task.priority.unwrap_or(origin.priority),
            status: TaskStatus::Pending,
            returns_to: TaskStatus::Pending,
            rev: 1,
            attempt: offer.attempt,
            attempts_max: offer.attempts_max,
            available_at: offer.available_at,
            timeout_at: offer.timeout_at,
            wake_at: None,
            lock_ms: ms(task.lock_duration),
            heartbeat_ms: task.heartbeat.map(|beat| ms(beat.interval)),
            silence_ms: task.heartbeat.map(|beat| ms(beat.silence_max())),
            require_token: task.require_lock_token,
            input_sequence: input.sequence,
            input_bytes: input.len,
            token: None,
            worker: None,
            worker_type: None,
            locked_at: None,
            lock_until: None,
            heartbeat_until: None,
            heartbeat_at: None,
            progress: None,
            message: None,
            ended_token: None,
            ended_by: None,
            releases: 0,
            error: known.failure.as_ref().map(shortened),
            created_at: now,
            updated_at: now,
            completed_at: None,
        };
        let status = match offer.is_held {
            true => TaskStatus::Held,
            false => TaskStatus::Pending,
        };
        row.returns_to = status;
        row.stand(status, now);
        Some(row)
    }
}

/// A task as whoever changes its execution has seen it: another one now means that nothing is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenTask {
    /// The place of its step.
    pub step: u16,
    /// Its number of changes.
    pub rev: u64,
}

/// Who gets a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskHolder {
    /// By which lock.
    pub token: LockToken,
    /// The worker, if it has said who it is.
    pub worker: Option<String>,
    /// What kind of worker it says it is.
    pub worker_type: Option<String>,
}

/// Gives tasks that anybody may fetch to workers that wait, by priority, then age.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockTasks {
    /// Workers that want the same types; each type belongs to one of them.
    pub wanted: Vec<WantedTasks>,
    /// Their place among those who ask on this node: whoever puts several into a batch puts the lowest first.
    pub place: u64,
}

/// Workers that want tasks of the same types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedTasks {
    /// The types.
    pub types: Vec<String>,
    /// A place for each task, in the order in which they are filled.
    pub holders: Vec<TaskHolder>,
}

/// A worker's word about a task that it has, or a look at its clocks. Nothing happens unless the task is
/// as it says; the outcome tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchTask {
    /// The task.
    pub id: TaskId,
    /// How it is known.
    pub known: KnownBy,
    /// What changes.
    pub touch: Touch,
}

/// How somebody knows a task that a worker has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownBy {
    /// By its lock.
    Token(LockToken),
    /// Only by its name, which is enough where no token is required.
    Name,
    /// By its number of changes.
    Rev(u64),
}

/// What changes of a task that a worker has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touch {
    /// The worker is there: its lock and its heartbeats count from now, unless they last longer anyway.
    Heartbeat {
        /// How far it is, in percent.
        progress: Option<u8>,
        /// How far it is, in words.
        message: Option<String>,
    },
    /// The lock lasts until then at least, but not beyond the attempt's time.
    Extend {
        /// Until then.
        until: Timestamp,
    },
    /// It goes back to where it returns to.
    Unlock,
    /// Its clocks are looked at again when the first of them runs out.
    Rearm,
}

impl TaskRow {
    /// Whether a worker has it who knows it so.
    pub(crate) fn is_known(&self, by: KnownBy) -> bool {
        let is_known = match by {
            KnownBy::Token(token) => self.token == Some(token),
            KnownBy::Name => !self.require_token,
            KnownBy::Rev(rev) => self.rev == rev,
        };
        self.status == TaskStatus::Locked && is_known
    }

    /// Changes it.
    pub(crate) fn touch(&mut self, touch: &Touch, now: Timestamp) {
        let later = |ms| now.plus(Duration::from_millis(ms));
        match touch {
            Touch::Heartbeat { progress, message } => {
                // What a worker has asked for beyond that it keeps; so no clock comes before `wake_at`.
                self.lock_until = self.lock_until.max(Some(later(self.lock_ms)));
                self.heartbeat_until = self.heartbeat_until.max(self.silence_ms.map(later));
                // Nodes agree on the time within a little, and a touch may arrive after a later one.
                self.heartbeat_at = self.heartbeat_at.max(Some(now));
                self.progress = progress.or(self.progress);
                self.message = message.clone().or_else(|| self.message.take());
            }
            Touch::Extend { until } => {
                self.lock_until = self.lock_until.max(Some((*until).min(self.timeout_at)));
            }
            Touch::Unlock => {
                self.unlock(Some(TaskCall::Unlock), now);
                self.stand(self.returns_to, now);
                self.releases += 1;
                return;
            }
            Touch::Rearm => self.wake_at = Some(self.clocks().next()),
        }
        self.rev += 1;
        self.updated_at = self.updated_at.max(now);
    }

    /// Changes it with its execution; whether anything did.
    pub(crate) fn change(&mut self, change: &TaskChange, now: Timestamp) -> bool {
        match change {
            TaskChange::Put { row, by } => {
                if row.step_no != self.step_no {
                    return false;
                }
                self.unlock(*by, now);
                *self = Self {
                    rev: self.rev,
                    ended_token: self.ended_token,
                    ended_by: self.ended_by,
                    releases: self.releases,
                    created_at: self.created_at,
                    ..(**row).clone()
                };
            }
            TaskChange::Turn {
                step,
                from,
                to,
                later_ms,
            } => {
                let is_meant = step.is_none_or(|step| step == self.step_no);
                if !is_meant || !(self.status == *from || self.status == TaskStatus::Locked) {
                    return false;
                }
                self.returns_to = *to;
                if self.status == *from {
                    let later = Duration::from_millis(*later_ms);
                    self.timeout_at = self.timeout_at.plus(later);
                    self.stand(*to, now);
                }
                self.rev += 1;
                self.updated_at = now;
            }
            TaskChange::Hasten {
                step,
                available_at,
                timeout_at,
            } => {
                if *step != self.step_no || self.status.is_over() {
                    return false;
                }
                (self.available_at, self.timeout_at) = (*available_at, *timeout_at);
                match self.status {
                    TaskStatus::Locked => self.wake_at = Some(self.clocks().next()),
                    status => self.stand(status, now),
                }
                self.rev += 1;
                self.updated_at = now;
            }
            TaskChange::Close {
                step,
                status,
                by,
                error,
            } => {
                if step.is_some_and(|step| step != self.step_no) || self.status.is_over() {
                    return false;
                }
                self.unlock(*by, now);
                self.stand(*status, now);
                self.error = error.clone().or_else(|| self.error.take());
                self.completed_at = Some(now);
            }
        }
        true
    }
}
