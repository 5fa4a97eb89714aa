//! What is durable: the [`Store`] trait in core's words, and the backends that keep it.
//!
//! A store never judges. It keeps what a decision says, all of it or nothing, and finds it again.
//! It never looks inside an event and never reads a clock: `now` is an argument.

mod batch;
mod catalog;
mod checksum;
mod error;
mod layer;
mod letter;
mod node;
mod page;
mod picked;
pub mod postgres;
mod request;
mod row;
pub mod sqlite;
mod table;
mod trigger;
mod unreadable;
mod words;

#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(feature = "model")]
pub mod model;

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::execution::{EventRow, Execution};
use refire_core::id::{DlqId, ExecutionId, NodeId, RequestId, TriggerId, WebhookId};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_core::trigger::State;

pub use refire_core::trigger::SlotStatus;
pub use refire_core::webhook::RequestStatus;

pub use batch::{
    Admit, Advance, Batch, Begin, Bounds, ChangeTrigger, Claim, ClaimTimers, CreateTrigger,
    ExecutionRow, Fire, IdempotencyClaim, LetterRetry, NewState, Part, PartOutcome, Prune,
    PutWorkflow, Release, RowUpdate, SettleLetter, TriggerEnd, TriggerVersion, Want, WorkChange,
    WorkKey,
};
pub use catalog::{VersionRow, WorkflowRow};
pub use error::{CommitError, NotWritten, ReadError};
pub use layer::Layer;
pub use letter::{LetterFilter, LetterGroup, LetterRow, LetterSummary, RetryRow};
pub use node::{Joining, Lease, News, NodeRow};
pub use page::{EventFilter, ExecutionFilter, LIMIT_MAX};
pub use request::{RequestFilter, RequestRow};
pub use row::{OpenCounts, Stored, Summary, WorkRow};
pub use trigger::{DueTrigger, SlotRow, TriggerFilter, TriggerRow};

/// Everything durable. Writes go through [`Store::commit`] and nothing else.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Writes a batch in one transaction, durably, before it returns.
    ///
    /// Every reason to refuse a part is read before that part's first write, so that one refused
    /// part does not disturb the others. The outcomes stand in the order of the parts.
    async fn commit(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError>;

    /// An execution's state (snapshot plus the events after it) and its work rows.
    async fn execution(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError>;

    /// The foreign values kept by these events of an execution.
    async fn values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError>;

    /// The states of these executions, in the order of the ids, each with the values that its steps
    /// may yet read if these are short ([`Execution::missing_short_values`]). For attempts that
    /// begin together.
    async fn states(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Execution>>, ReadError>;

    /// As [`Store::execution`], for the committer: never waits behind other readers.
    async fn load(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError>;

    /// As [`Store::values`], for the committer: never waits behind other readers.
    async fn load_values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError>;

    /// Events after `after`, oldest first, at most `limit`.
    async fn history(
        &self,
        id: ExecutionId,
        filter: &EventFilter,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRow>, ReadError>;

    /// Executions older than `before`, newest first.
    async fn executions(
        &self,
        filter: &ExecutionFilter,
        before: Option<ExecutionId>,
        limit: u32,
    ) -> Result<Vec<Summary>, ReadError>;

    /// These executions as a list shows them, in the order of the ids, each with the values that
    /// [`Store::states`] gives.
    async fn summaries(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Summary>>, ReadError>;

    /// Workflows that have unowned work due by `now`, for the claims to go round.
    async fn ready_workflows(&self, now: Timestamp) -> Result<Vec<WorkflowId>, ReadError>;

    /// Work whose owner is not among the nodes, after the given key: what a dead one left behind.
    async fn orphans(&self, after: Option<&WorkKey>, limit: u32)
    -> Result<Vec<WorkRow>, ReadError>;

    /// Work of this node that is due by `now`, after the given key: what it is at, and what it may
    /// have forgotten.
    async fn owned_due(
        &self,
        node: NodeId,
        now: Timestamp,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError>;

    /// How many executions of a workflow (or of all) are open, by what their work rows say.
    async fn open_counts(&self, workflow: Option<&WorkflowId>) -> Result<OpenCounts, ReadError>;

    /// Dead letters older than `before`, newest first.
    async fn letters(
        &self,
        filter: &LetterFilter,
        before: Option<DlqId>,
        limit: u32,
    ) -> Result<Vec<LetterRow>, ReadError>;

    /// One dead letter.
    async fn letter(&self, id: DlqId) -> Result<Option<LetterRow>, ReadError>;

    /// The last retries of a letter by people, oldest first.
    async fn letter_retries(&self, id: DlqId, limit: u32) -> Result<Vec<RetryRow>, ReadError>;

    /// Counts by workflow, error type and cause; from counters, not by walking the letters,
    /// wherever the filter allows it.
    async fn letter_summary(&self, filter: &LetterFilter) -> Result<LetterSummary, ReadError>;

    /// A workflow's newest version, deleted ones too.
    async fn workflow(&self, id: &WorkflowId) -> Result<Option<WorkflowRow>, ReadError>;

    /// Workflows by name after `after`, not the deleted ones.
    async fn workflows(
        &self,
        after: Option<&WorkflowId>,
        limit: u32,
    ) -> Result<Vec<WorkflowRow>, ReadError>;

    /// One version of a definition.
    async fn version(&self, id: &WorkflowId, version: u32)
    -> Result<Option<VersionRow>, ReadError>;

    /// All versions of a definition, newest first, without their text.
    async fn versions(&self, id: &WorkflowId) -> Result<Vec<VersionRow>, ReadError>;

    /// One trigger, unless it was deleted.
    async fn trigger(&self, id: TriggerId) -> Result<Option<TriggerRow>, ReadError>;

    /// The trigger that has this address, unless it was deleted.
    async fn webhook(&self, id: WebhookId) -> Result<Option<TriggerRow>, ReadError>;

    /// Triggers after `after`, oldest first, not the deleted ones.
    async fn triggers(
        &self,
        filter: &TriggerFilter,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<TriggerRow>, ReadError>;

    /// How many triggers there are, without the deleted ones.
    async fn count_triggers(&self, filter: &TriggerFilter) -> Result<u64, ReadError>;

    /// Where a trigger stands; absent = it has no slots and nobody watches it.
    async fn trigger_state(&self, id: TriggerId) -> Result<Option<State>, ReadError>;

    /// Triggers that are due by then, the earliest first. Those that cannot be read are left out, and
    /// `limit` counts the others.
    async fn due_triggers(&self, by: Timestamp, limit: u32) -> Result<Vec<DueTrigger>, ReadError>;

    /// When the first trigger that can be read is due.
    async fn next_trigger_due(&self) -> Result<Option<Timestamp>, ReadError>;

    /// Rows of a trigger's ledger before the one with this number, newest first. Empty `statuses` =
    /// all.
    async fn slots(
        &self,
        trigger: TriggerId,
        statuses: &[SlotStatus],
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

    /// Requests to a trigger's address that are older than `before`, newest first, without bodies.
    async fn requests(
        &self,
        trigger: TriggerId,
        filter: &RequestFilter,
        before: Option<RequestId>,
        limit: u32,
    ) -> Result<Vec<RequestRow>, ReadError>;

    /// Webhooks after `after`, oldest first, and of each the newest request that is not among its newest
    /// so many.
    async fn requests_beyond(
        &self,
        newest: u32,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<(TriggerId, Option<RequestId>)>, ReadError>;

    /// One request with its body.
    async fn request(&self, id: RequestId) -> Result<Option<RequestRow>, ReadError>;

    /// Copies the whole store to a new file while it is in use. `progress` hears (done, all) in
    /// pages or rows.
    async fn backup(
        &self,
        to: &Path,
        progress: &(dyn Fn(u64, u64) + Send + Sync),
    ) -> Result<(), ReadError>;

    /// A process becomes a node. `now` is the caller's clock, for a store without one.
    async fn join(&self, node: &Joining, now: Timestamp) -> Result<Lease, ReadError>;

    /// A node says that it is alive.
    async fn renew(
        &self,
        node: NodeId,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Lease, ReadError>;

    /// Removes the nodes other than `by` whose lease is over. When this returns, none of their
    /// commits is in flight, and none can succeed any more.
    async fn reap(&self, by: NodeId, now: Timestamp) -> Result<Vec<NodeId>, ReadError>;

    /// A node leaves in order: what it still owns is for the others.
    async fn leave(&self, node: NodeId) -> Result<(), ReadError>;

    /// All nodes, the oldest first.
    async fn nodes(&self) -> Result<Vec<NodeRow>, ReadError>;

    /// Whether a node has its lease: a small question, for whoever asks often whether the store
    /// answers.
    async fn has_lease(&self, node: NodeId) -> Result<bool, ReadError> {
        let nodes = self.nodes().await?;
        Ok(nodes.iter().any(|row| row.id == node))
    }

    /// Whether other processes may use the store at the same time.
    fn is_shared(&self) -> bool {
        false
    }

    /// Tells the other nodes, soon and without waiting. The same news within a moment is told once.
    fn tell(&self, news: News) {
        let _ = news;
    }

    /// The next news from another node; never ends where there is none.
    async fn news(&self) -> News {
        std::future::pending().await
    }

    /// Says that no commit waits: a moment for chores that would otherwise delay one. Called on the
    /// thread that commits; returns soon, and mostly at once.
    fn idle(&self) {}

    /// Finishes what is in flight and closes. Nothing may be called afterwards.
    async fn close(&self);
}
