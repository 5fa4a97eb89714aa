//! Triggers as they are kept: what they are, where they stand, and the ledger of their slots.

use refire_core::definition::WorkflowId;
use refire_core::execution::TriggerKind;
use refire_core::id::{ExecutionId, TriggerId, WebhookId};
use refire_core::time::Timestamp;

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

/// The kind that a word in a row means.
pub(crate) fn kind_of(word: &str) -> Option<TriggerKind> {
    let kinds = [
        TriggerKind::Cron,
        TriggerKind::Schedule,
        TriggerKind::Webhook,
        TriggerKind::Amqp,
    ];
    kinds.into_iter().find(|kind| kind.name() == word)
}

/// What whoever plans a trigger's slots wrote down last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TriggerPlan {
    /// The last nominal time that was handled.
    pub cursor: Option<Timestamp>,
    /// When it must be looked at next; absent = never. A disabled trigger is never due.
    pub due_at: Option<Timestamp>,
    /// The execution that the next slot waits for.
    pub running: Option<ExecutionId>,
    /// The nominal time that is kept until that execution has ended.
    pub buffered: Option<Timestamp>,
    /// Since when a success is expected.
    pub watched_from: Option<Timestamp>,
    /// When it was said that a success is missing.
    pub alarmed_at: Option<Timestamp>,
}

/// Where a trigger stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TriggerState {
    /// Counted from 1; grows with everything that happens to the state, except that a success alone does
    /// not count: a plan never writes over it.
    pub rev: u64,
    /// What was planned.
    pub plan: TriggerPlan,
    /// When an execution of it last ended well.
    pub success_at: Option<Timestamp>,
    /// The latest slot whose execution ended well.
    pub success_slot: Option<Timestamp>,
}

/// A trigger that is to be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueTrigger {
    /// The trigger.
    pub row: TriggerRow,
    /// Where it stands.
    pub state: TriggerState,
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

/// What became of a slot, or of a stretch of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotStatus {
    /// It started an execution in time.
    Fired,
    /// It started an execution, but late.
    Late,
    /// It started nothing.
    Skipped,
    /// A success was expected by then, and there was none.
    Overdue,
    /// The success that had been missing is there.
    Recovered,
}

impl SlotStatus {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Fired,
        Self::Late,
        Self::Skipped,
        Self::Overdue,
        Self::Recovered,
    ];

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fired => "fired",
            Self::Late => "late",
            Self::Skipped => "skipped",
            Self::Overdue => "overdue",
            Self::Recovered => "recovered",
        }
    }

    /// What a word means.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// A slot, or a stretch of slots that had the same end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// The planned time, or the first one of the stretch.
    pub nominal: Timestamp,
    /// The last planned time of the stretch.
    pub until: Timestamp,
    /// How many slots it is.
    pub count: u64,
    /// What became of it.
    pub status: SlotStatus,
    /// Why, in one word.
    pub reason: Option<String>,
    /// The execution that it started.
    pub execution: Option<ExecutionId>,
    /// When that was written down.
    pub at: Timestamp,
}

impl Slot {
    /// Its place among [`SLOTS_KEPT`], [`SKIPS_KEPT`] and [`BACKFILLS_KEPT`]: the share of the ledger that
    /// its row belongs to.
    #[cfg(feature = "model")]
    pub(crate) fn share(&self) -> usize {
        match (self.status, self.reason.as_deref()) {
            (SlotStatus::Skipped, Some("dst")) => 0,
            (SlotStatus::Skipped, _) => 1,
            (SlotStatus::Late, Some("backfill")) => 2,
            _ => 0,
        }
    }

    /// Whether it goes on with a stretch of this kind instead of making a row.
    #[cfg(feature = "model")]
    pub(crate) fn extends(&self, newest: &Self) -> bool {
        self.execution.is_none()
            && newest.execution.is_none()
            && self.status == newest.status
            && self.reason == newest.reason
    }
}

/// A row of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotRow {
    /// Its place among those of its trigger: later ones are higher.
    pub seq: u64,
    /// What it says.
    pub slot: Slot,
}

/// Rows of the ledger that each trigger keeps, at least, apart from those that follow.
pub const SLOTS_KEPT: u64 = 200;
/// Stretches that were skipped are kept apart, so that what was missed is not pushed out by what went
/// well. Local times that do not exist are none of them.
pub const SKIPS_KEPT: u64 = 100;
/// And so are the slots of them that were run after all: without these, they would be run once more.
pub const BACKFILLS_KEPT: u64 = 2_000;
/// Rows that may come before the oldest are removed: not each commit does that.
pub(crate) const SLOTS_SLACK: u64 = 50;
/// Rows that one fire, or one change, may write.
const SLOTS_PER_REV: u64 = 1 << 16;

/// The place of a row in the ledger: by the revision that the state has with it, then in its order.
pub(crate) fn slot_seq(rev: u64, place: usize) -> u64 {
    rev * SLOTS_PER_REV + (place as u64).min(SLOTS_PER_REV - 1)
}
