//! Callbacks that attempts wait for, or waited for: their rows, and how they are found. What the target has
//! said last is in the log; how far it is, is only here, since that changes too often for a log.

use refire_core::callback::{CallbackPut, CallbackStatus, Noted};
use refire_core::definition::{StepId, Workflow, WorkflowId};
use refire_core::execution::{Effect, Execution};
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::column::read_from;
use crate::layer::store_trait;
use crate::task::numbered;

/// The name of a callback's row: the attempt that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallbackKey {
    /// The execution.
    pub execution: ExecutionId,
    /// The place of the step in its definition.
    pub step_no: u16,
    /// The attempt.
    pub attempt: u32,
}

/// The row of an attempt's callback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackRow {
    /// The execution.
    pub execution: ExecutionId,
    /// The place of the step in its definition.
    pub step_no: u16,
    /// The attempt.
    pub attempt: u32,
    /// The step's name.
    pub step: String,
    /// The workflow.
    pub workflow: WorkflowId,
    /// What the target has said last.
    pub status: CallbackStatus,
    /// Until when the attempt waits, or waited.
    pub until: Timestamp,
    /// The same while it waits; absent when nothing is to be said any more.
    pub wake_at: Option<Timestamp>,
    /// How far the target is, in percent.
    pub progress: Option<u8>,
    /// How far it is, in words.
    pub message: Option<String>,
    /// The other fields of its last callback, as JSON.
    pub extra: Option<String>,
    /// How it can be asked, sealed.
    pub query_config: Option<Vec<u8>>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
}

read_from! {
    CallbackRow {
        execution: "execution",
        step_no: "step_no",
        attempt: "attempt",
        step: "step",
        workflow: "workflow",
        status: "status",
        until: "until",
        wake_at: "wake_at",
        progress: "progress",
        message: "message",
        extra: "extra",
        query_config: "query_config",
        created_at: "created_at",
        updated_at: "updated_at";
    }
}

numbered!(CallbackStatus);

/// A change of an execution's callbacks, written with its move.
#[derive(Debug, Clone, PartialEq)]
pub enum CallbackChange {
    /// The row of this attempt is so now.
    Put(Box<CallbackRow>),
    /// No attempt waits any more.
    CloseAll,
}

/// A change of a row that no log knows of; the outcome tells whether it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct TouchCallback {
    /// Which.
    pub key: CallbackKey,
    /// What is new.
    pub touch: CallbackTouch,
}

/// See [`TouchCallback`].
#[derive(Debug, Clone, PartialEq)]
pub enum CallbackTouch {
    /// The target says how far it is. It must have said before that it is at it, and its attempt must wait
    /// still.
    Noted(Noted),
    /// What was sealed so is sealed anew, with another key.
    Sealed {
        /// It must be this.
        from: Vec<u8>,
        /// It is this now.
        to: Vec<u8>,
    },
}

impl CallbackRow {
    /// Its name.
    #[must_use]
    pub fn key(&self) -> CallbackKey {
        CallbackKey {
            execution: self.execution,
            step_no: self.step_no,
            attempt: self.attempt,
        }
    }

    /// What is new replaces what was there.
    fn note(&mut self, noted: &Noted) {
        self.progress = noted.progress.or(self.progress);
        if noted.message.is_some() {
            self.message.clone_from(&noted.message);
        }
        if let Some(extra) = &noted.extra {
            self.extra = Some(extra.as_str().to_owned());
        }
        if noted.query_config.is_some() {
            self.query_config.clone_from(&noted.query_config);
        }
    }

    /// Whether a target that is at it may say how far.
    fn is_at_it(&self) -> bool {
        self.wake_at.is_some() && self.status == CallbackStatus::Processing
    }

    /// Changes it; whether anything did.
    pub(crate) fn touch(&mut self, touch: &CallbackTouch, now: Timestamp) -> bool {
        match touch {
            CallbackTouch::Noted(noted) => self.hear(noted, now),
            CallbackTouch::Sealed { from, to } => {
                let is_it = self.query_config.as_ref() == Some(from);
                if is_it {
                    self.query_config = Some(to.clone());
                }
                is_it
            }
        }
    }

    /// Changes it by the target's word; whether anything did.
    fn hear(&mut self, noted: &Noted, now: Timestamp) -> bool {
        #[cfg(feature = "planted")]
        let is_at_it = self.is_at_it()
            || refire_core::planted::is(refire_core::planted::Defect::ProgressAfterEnd);
        #[cfg(not(feature = "planted"))]
        let is_at_it = self.is_at_it();
        if is_at_it {
            self.note(noted);
            self.updated_at = now;
        }
        is_at_it
    }

    /// Changes it with its execution; whether anything did.
    pub(crate) fn change(&mut self, change: &CallbackChange, now: Timestamp) -> bool {
        match change {
            CallbackChange::Put(row) if row.key() != self.key() => return false,
            CallbackChange::Put(row) => {
                let mut row = (**row).clone();
                row.created_at = self.created_at;
                row.progress = row.progress.or(self.progress);
                row.message = row.message.or_else(|| self.message.take());
                row.extra = row.extra.or_else(|| self.extra.take());
                row.query_config = row.query_config.or_else(|| self.query_config.take());
                *self = row;
            }
            CallbackChange::CloseAll if self.wake_at.is_none() => return false,
            CallbackChange::CloseAll => {
                self.wake_at = None;
                self.updated_at = now;
            }
        }
        true
    }
}

impl CallbackChange {
    /// What an effect changes in an execution's callbacks; none if it is about something else.
    #[must_use]
    pub fn of(
        effect: &Effect,
        workflow: &Workflow,
        state: &Execution,
        now: Timestamp,
    ) -> Option<Self> {
        match effect {
            Effect::Callback { step, attempt, put } => {
                let row = row(workflow, state, (step, *attempt), put, now)?;
                Some(Self::Put(Box::new(row)))
            }
            Effect::Abort => {
                let mut steps = workflow.with_callbacks();
                steps.next().map(|_| Self::CloseAll)
            }
            _ => None,
        }
    }
}

fn row(
    workflow: &Workflow,
    state: &Execution,
    (step, attempt): (&StepId, u32),
    put: &CallbackPut,
    now: Timestamp,
) -> Option<CallbackRow> {
    let (at, _) = workflow.step(step.as_ref())?;
    let origin = state.origin.as_ref()?;
    let mut row = CallbackRow {
        execution: origin.id,
        step_no: u16::try_from(at).ok()?,
        attempt,
        step: step.to_string(),
        workflow: origin.workflow.clone(),
        status: put.status,
        until: put.until,
        wake_at: put.is_open.then_some(put.until),
        progress: None,
        message: None,
        extra: None,
        query_config: None,
        created_at: now,
        updated_at: now,
    };
    row.note(&put.noted);
    Some(row)
}

store_trait! {
    /// Callbacks of targets.
    pub trait Callbacks {
        /// The row of one attempt.
        async fn callback(&self, key: CallbackKey) -> Result<Option<CallbackRow>, ReadError>;

        /// All rows of an execution, by step and attempt.
        async fn callbacks(&self, of: ExecutionId) -> Result<Vec<CallbackRow>, ReadError>;

        /// Those whose attempts have waited long enough by then, the earliest first.
        async fn due_callbacks(
            &self,
            by: Timestamp,
            limit: u32,
        ) -> Result<Vec<CallbackRow>, ReadError>;

        /// Those that keep something sealed, in the order of their keys.
        async fn sealed_callbacks(
            &self,
            after: Option<CallbackKey>,
            limit: u32,
        ) -> Result<Vec<CallbackRow>, ReadError>;

        /// When the first attempt has waited long enough.
        async fn next_callback_due(&self) -> Result<Option<Timestamp>, ReadError>;
    }
}
