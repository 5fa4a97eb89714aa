//! The parts of a commit that are about triggers and the requests to them.

use refire_core::definition::WorkflowId;
use refire_core::execution::TriggerKind;
use refire_core::id::{TriggerId, WebhookId};
use refire_core::trigger::{End, Entry, State};

use super::Admit;
use crate::notice::NewNotice;

/// A new trigger. Refused if its workflow is not there, or its id or address is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateTrigger {
    /// Its id.
    pub id: TriggerId,
    /// The workflow that it starts.
    pub workflow: WorkflowId,
    /// What kind of trigger it is.
    pub kind: TriggerKind,
    /// Whether it starts anything at first.
    pub enabled: bool,
    /// What it was told.
    pub settings: Vec<u8>,
    /// Its sealed secrets.
    pub secrets: Option<Vec<u8>>,
    /// The name in its address.
    pub webhook: Option<WebhookId>,
    /// Where it begins; absent = it has no slots and nobody watches it.
    pub state: Option<State>,
}

/// A trigger as it is to be from now on. Its version and its state's revision grow by one. Refused if
/// it has another version or revision, or if it is to be enabled and its workflow is deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeTrigger {
    /// The trigger.
    pub id: TriggerId,
    /// Its workflow.
    pub workflow: WorkflowId,
    /// The version it must have.
    pub version: u32,
    /// Whether it starts anything.
    pub enabled: bool,
    /// What it is told.
    pub settings: Vec<u8>,
    /// Its sealed secrets.
    pub secrets: Option<Vec<u8>>,
    /// Where it goes on; absent = where it was, except that a disabled trigger is not due.
    pub state: Option<NewState>,
}

/// A state that takes the place of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewState {
    /// The revision that the state must have; 0 = there must be none.
    pub rev: u64,
    /// Where the trigger stands then. Its revision is the one after `rev`, and it has the successes that
    /// there are by then, whatever this says.
    pub state: State,
    /// What the ledger gets, in order.
    pub slots: Vec<Entry>,
    /// Whether the first of `slots` goes on with the newest stretch, as that of a [`Fire`] does.
    pub extends: bool,
}

/// A step of a trigger's plan: what is written down, and the execution that it starts. Refused unless
/// the trigger is enabled, or somebody asks for it, and has this version and its state this revision,
/// or if the execution is refused.
#[derive(Debug, Clone)]
pub struct Fire {
    /// The trigger.
    pub trigger: TriggerId,
    /// The version it must have.
    pub version: u32,
    /// The revision its state must have.
    pub rev: u64,
    /// Where it stands then, as in [`NewState`].
    pub state: State,
    /// What the ledger gets, in order.
    pub slots: Vec<Entry>,
    /// Whether the first of `slots` goes on with the newest stretch instead of making a row, if that
    /// has the same outcome and neither has an execution.
    pub extends: bool,
    /// Whether somebody asks for it: then a disabled trigger may be fired, too.
    pub by_hand: bool,
    /// The execution.
    pub admission: Option<Box<Admit>>,
    /// What people are to be told of it.
    pub notices: Vec<NewNotice>,
}

/// What the end of an execution means for the trigger that started it. It never keeps the execution
/// from ending, and a trigger that is gone is no matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TriggerEnd {
    /// The trigger.
    pub trigger: TriggerId,
    /// How the execution ended.
    pub end: End,
}

/// A trigger as it was when something was decided by it. Refused unless it still is that version, and
/// enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TriggerVersion {
    /// The trigger.
    pub id: TriggerId,
    /// Its version.
    pub version: u32,
}
