//! Triggers as they are kept: what they are, where they stand, and the ledger of their slots.

use refire_core::definition::WorkflowId;
use refire_core::execution::TriggerKind;
use refire_core::id::{TriggerId, WebhookId};
use refire_core::time::Timestamp;
use refire_core::trigger::{Entry, SlotStatus, State};

use crate::column::{Columns, Cursor, Field, read_from};
use crate::error::corrupt;
use crate::layer::store_trait;
use crate::{ReadError, checksum};

store_trait! {
    /// Triggers, where they stand, and the ledger of their slots.
    pub trait Triggers {
        /// One trigger, unless it was deleted.
        async fn trigger(&self, id: TriggerId) -> Result<Option<TriggerRow>, ReadError>;

        /// The trigger that has this address, unless it was deleted.
        async fn webhook(&self, id: WebhookId) -> Result<Option<TriggerRow>, ReadError>;

        /// Triggers after `after`, oldest first, not the deleted ones, and those of scheduled tasks only by
        /// their workflow.
        async fn triggers(
            &self,
            filter: &TriggerFilter,
            after: Option<TriggerId>,
            limit: u32,
        ) -> Result<Vec<TriggerRow>, ReadError>;

        /// How many triggers there are, without those that are not listed.
        async fn count_triggers(&self, filter: &TriggerFilter) -> Result<u64, ReadError>;

        /// Where a trigger stands; absent = it has no slots and nobody watches it.
        async fn trigger_state(&self, id: TriggerId) -> Result<Option<State>, ReadError>;

        /// Triggers that are due by then, the earliest first. Those that cannot be read are left out, and
        /// `limit` counts the others.
        async fn due_triggers(&self, by: Timestamp, limit: u32) -> Result<Vec<DueTrigger>, ReadError>;

        /// When the first trigger that can be read is due.
        async fn next_trigger_due(&self) -> Result<Option<Timestamp>, ReadError>;

        /// Enabled triggers of a workflow that stand somewhere, oldest first.
        async fn standing_triggers(
            &self,
            workflow: &WorkflowId,
            limit: u32,
        ) -> Result<Vec<DueTrigger>, ReadError>;

        /// Rows of a trigger's ledger before the one with this number, newest first.
        async fn slots(
            &self,
            trigger: TriggerId,
            filter: &SlotFilter,
            before: Option<u64>,
            limit: u32,
        ) -> Result<Vec<SlotRow>, ReadError>;

        /// Rows of a trigger's ledger that have a slot from `from` on and one before `to`, oldest first.
        async fn slots_between(
            &self,
            trigger: TriggerId,
            from: Timestamp,
            to: Timestamp,
            limit: u32,
        ) -> Result<Vec<SlotRow>, ReadError>;
    }
}

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

read_from! {
    TriggerRow {
        id: "t.id",
        workflow: "workflows.id",
        kind: "t.kind",
        enabled: "t.enabled",
        version: "t.version",
        settings: "t.settings",
        secrets: "t.secrets",
        webhook: "t.webhook",
        created_at: "t.created_at",
        updated_at: "t.updated_at"
    } checked by "t.crc" with fits
}

fn fits(row: &TriggerRow, crc: u32) -> Result<(), ReadError> {
    checksum::verify(crc, checksum::settings(row.id, &row.settings))
        .map_err(corrupt(|| format!("the settings of {}", row.id)))
}

read_from! {
    State {
        rev: "s.rev",
        cursor: "s.cursor" or_default,
        due_at: "s.due_at",
        running: "s.running",
        buffered: "s.buffered",
        watched_from: "s.watched_from",
        alarmed_at: "s.alarmed_at",
        success_at: "s.success_at",
        success_slot: "s.success_slot",
        cycles: "s.cycles"
    }
}

/// A trigger that is to be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueTrigger {
    /// The trigger.
    pub row: TriggerRow,
    /// Where it stands.
    pub state: State,
}

impl Field for DueTrigger {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        let (row, state) = cursor.next()?;
        Ok(Self { row, state })
    }
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

impl TriggerFilter {
    /// Whether a trigger passes of which an expected success is missing or not.
    #[must_use]
    pub fn passes(&self, row: &TriggerRow, is_alarmed: bool) -> bool {
        self.workflow.as_ref().is_none_or(|of| *of == row.workflow)
            && (self.kinds.is_empty() || self.kinds.contains(&row.kind))
            && self.enabled.is_none_or(|enabled| enabled == row.enabled)
            && self.is_alarmed.is_none_or(|asked| asked == is_alarmed)
    }
}

/// Which rows of a ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlotFilter {
    /// With one of these statuses; empty = all.
    pub statuses: Vec<SlotStatus>,
    /// With a slot from then on.
    pub from: Option<Timestamp>,
    /// With a slot before then.
    pub to: Option<Timestamp>,
}

impl SlotFilter {
    /// Whether a row passes.
    #[must_use]
    pub fn passes(&self, slot: &Entry) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&slot.outcome.status()))
            && self.from.is_none_or(|from| slot.to >= from)
            && self.to.is_none_or(|to| slot.nominal < to)
    }
}

/// A row of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotRow {
    /// Its place among those of its trigger: later ones are higher.
    pub seq: u64,
    /// What it says.
    pub slot: Entry,
}

read_from! {
    Entry {
        nominal: "nominal",
        to: "until",
        count: "count",
        outcome: "status, reason",
        execution: "execution",
        at: "at"
    }
}

impl Field for SlotRow {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        let (seq, slot) = cursor.next()?;
        Ok(Self { seq, slot })
    }
}

/// Rows that one fire, or one change, may write.
const SLOTS_PER_REV: u64 = 1 << 16;

/// The place of a row in the ledger: by the revision that the state has with it, then in its order.
pub(crate) fn slot_seq(rev: u64, place: usize) -> u64 {
    rev * SLOTS_PER_REV + (place as u64).min(SLOTS_PER_REV - 1)
}
