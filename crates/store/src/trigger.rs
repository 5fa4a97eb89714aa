//! Triggers as they are kept: what they are, where they stand, and the ledger of their slots.

use refire_core::definition::WorkflowId;
use refire_core::execution::TriggerKind;
use refire_core::id::{TriggerId, WebhookId};
use refire_core::time::Timestamp;
use refire_core::trigger::{Entry, State};

/// A trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerRow {
    /// Its id.
    pub id: TriggerId,
    /// The workflow that it starts.
    pub workflow: WorkflowId,
    /// What kind of trigger it is.
    pub kind: TriggerKind,
    /// Whether it starts anything at present.
    pub enabled: bool,
    /// Counted from 1; grows with each change.
    pub version: u32,
    /// What it was told, as the caller writes it.
    pub settings: Vec<u8>,
    /// Its sealed secrets.
    pub secrets: Option<Vec<u8>>,
    /// The name in its address.
    pub webhook: Option<WebhookId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

/// A trigger that is to be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueTrigger {
    /// The trigger.
    pub row: TriggerRow,
    /// Where it stands.
    pub state: State,
}

/// Which triggers to list or count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TriggerFilter {
    /// Of this workflow.
    pub workflow: Option<WorkflowId>,
    /// Of one of these kinds; empty = all.
    pub kinds: Vec<TriggerKind>,
    /// Only enabled ones, or only disabled ones.
    pub enabled: Option<bool>,
    /// Only those of which an expected success is missing, or only the others.
    pub is_alarmed: Option<bool>,
}

/// A row of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotRow {
    /// Its place among those of its trigger: later ones are higher.
    pub seq: u64,
    /// What it says.
    pub slot: Entry,
}

/// Rows that one fire, or one change, may write.
const SLOTS_PER_REV: u64 = 1 << 16;

/// The place of a row in the ledger: by the revision that the state has with it, then in its order.
pub(crate) fn slot_seq(rev: u64, place: usize) -> u64 {
    rev * SLOTS_PER_REV + (place as u64).min(SLOTS_PER_REV - 1)
}
