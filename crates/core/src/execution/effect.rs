//! What a decision asks the shell to do, in the same commit as its events.

use std::time::Duration;

use crate::callback::CallbackPut;
use crate::dead_letter::Letter;
use crate::definition::StepId;
use crate::id::DlqId;
use crate::time::Timestamp;

/// One thing to do. Effects are rows in the commit, never calls made on the side.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// An attempt may run, at once or when it is due. Replaces the step's earlier work.
    Schedule(Work),
    /// As `Schedule`, unless that very attempt is still running (resume).
    Restore(Work),
    /// As `Restore`, of work that waited and is due now: who waits for its time must not.
    Hasten(Work),
    /// The step has no work any more: its attempt ended, or its timer is dropped.
    Withdraw {
        /// The step.
        step: StepId,
    },
    /// Workers may fetch the step's task. Replaces its earlier attempt.
    Offer(Offer),
    /// Workers may fetch the task now that waited for its time; one that has it keeps it.
    OfferNow(Offer),
    /// Workers may fetch the task again that was held back by a pause, unless one has it.
    OfferAgain {
        /// The step.
        step: StepId,
        /// How much later its time is over, since the pause does not count.
        later: Duration,
    },
    /// Nobody shall begin the task any more (the execution is failing); a worker that has it may finish.
    Retire {
        /// The step.
        step: StepId,
    },
    /// The task is over.
    Close {
        /// The step.
        step: StepId,
        /// How it ended.
        end: TaskEnd,
    },
    /// The row of an attempt's callback is to be so.
    Callback {
        /// The step.
        step: StepId,
        /// The attempt.
        attempt: u32,
        /// The row.
        put: CallbackPut,
    },
    /// Drop all work that no node has begun, and hold back tasks that no worker has; running
    /// attempts finish (pause).
    Hold,
    /// Drop all work, withdraw all tasks, wait for no callback and abort running attempts (the execution ended).
    Abort,
    /// Keep a dead letter.
    DeadLetter(Box<Letter>),
    /// The execution retried this dead letter and ended.
    SettleLetter {
        /// The letter.
        letter: DlqId,
        /// True: resolved. False: pending again.
        resolved: bool,
    },
}

/// Work that may be dispatched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// The step to run.
    pub step: StepId,
    /// The attempt to make.
    pub attempt: u32,
    /// Not before; absent = at once.
    pub due_at: Option<Timestamp>,
    /// Whether the attempt is a retry; concurrent retries have limits of their own.
    pub is_retry: bool,
}

/// A task that workers may fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The step whose task it is.
    pub step: StepId,
    /// The attempt.
    pub attempt: u32,
    /// Not before.
    pub available_at: Timestamp,
    /// Until when it must be done, whether somebody has it or not.
    pub timeout_at: Timestamp,
    /// Attempts in all.
    pub attempts_max: u32,
    /// Whether the execution is paused, so that nobody may fetch it yet.
    pub is_held: bool,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskEnd {
    /// A worker did it.
    Completed,
    /// Its last attempt failed.
    Failed,
    /// Nobody needs it any more.
    Cancelled,
}
