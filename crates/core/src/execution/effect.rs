//! What a decision asks the shell to do, in the same commit as its events.

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
    /// The step has no work any more: its attempt ended, or its timer is dropped.
    Withdraw {
        /// The step.
        step: StepId,
    },
    /// Drop all work that no node has begun; running attempts finish (pause).
    Hold,
    /// Drop all work and abort running attempts (the execution ended).
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
