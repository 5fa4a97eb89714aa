//! What is durable: the [`Store`] trait in core's words, and the backends that keep it.
//!
//! A store never judges. It keeps what a decision says, all of it or nothing, and finds it again.
//! It never looks inside an event and never reads a clock: `now` is an argument.

mod alert;
mod batch;
mod breaker;
mod bulk;
mod callback;
mod catalog;
mod checksum;
mod column;
mod error;
mod execution;
mod layer;
mod letter;
mod minute;
mod node;
mod notice;
mod picked;
pub mod postgres;
mod request;
mod scheduled;
mod session;
mod sql;
pub mod sqlite;
mod table;
mod task;
mod trigger;
mod unreadable;
mod words;
mod work;
mod worker;

#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(feature = "model")]
pub mod model;

use std::path::Path;

use async_trait::async_trait;

pub use refire_core::trigger::SlotStatus;
pub use refire_core::webhook::RequestStatus;

pub use alert::{
    AlertChange, AlertFilter, AlertRow, AlertRuleChange, AlertRuleRow, Alerts, SilenceRow,
};
pub use batch::{
    Admit, Advance, Batch, Begin, Bounds, BulkItem, BulkLetters, BulkPart, BulkStep, ChangeTrigger,
    Claim, ClaimTimers, CreateTrigger, ExecutionRow, Fire, IdempotencyClaim, KnownBy, LetterRetry,
    LockTasks, NewState, OldExecutions, Part, PartOutcome, Prune, PutScheduled, PutWorkflow,
    Release, RowUpdate, ScheduledTrigger, SeenTask, SettleLetter, TaskChange, TaskHolder, Touch,
    TouchTask, TriggerEnd, TriggerVersion, Want, WantedTasks, WorkChange, WorkKey,
};
pub use breaker::{BREAKERS_MAX, Breakers, ChangeBreaker};
pub use bulk::{BulkItemRow, BulkJobs, BulkOptions, BulkRow, BulkWish, NewBulk, Selection};
pub use callback::{
    CallbackChange, CallbackKey, CallbackRow, CallbackTouch, Callbacks, TouchCallback,
};
pub use catalog::{Catalog, VersionRow, WorkflowRow};
pub use error::{CommitError, NotWritten, ReadError};
pub use execution::{
    COUNTED_MAX, Counted, EventFilter, ExecutionFilter, Executions, LOOKED_AT_MAX, Listed,
    OfWorkflow, Stored, Stretch, Summary,
};
pub use layer::{Layer, Layered};
pub use letter::{LetterFilter, LetterGroup, LetterRow, LetterSummary, Letters, RetryRow};
pub use minute::{MINUTES_READ_MAX, MinuteFilter, MinutePoint, Minutes};
pub use node::{Joining, Lease, News, NodeRow, Nodes};
pub use notice::{
    CHANNELS_MAX, ChannelChange, ChannelRow, GroupChange, GroupRow, MoveGroups, NewNotice, Notices,
};
pub use request::{RefusedRequests, RequestFilter, RequestRow, RequestTally, Requests};
pub use scheduled::{Scheduled, ScheduledFilter, ScheduledRow, ScheduledTasks};
pub use session::{SESSIONS_MAX, SecretHash, SessionChange, SessionRow, Sessions};
pub use task::{TaskCall, TaskFilter, TaskRow, Tasks};
pub use trigger::{DueTrigger, SlotFilter, SlotRow, TriggerFilter, TriggerRow, Triggers};
pub use work::{OpenCounts, Work, WorkRow};
pub use worker::{PolledTypes, WORKERS_MAX, WorkerRow, Workers};

/// Rows of one page, at most.
pub const LIMIT_MAX: u32 = 1_000;

/// Everything durable. Writes go through [`Store::commit`] and nothing else; each entity has its
/// questions beside its rows.
#[async_trait]
pub trait Store:
    Executions
    + Work
    + Tasks
    + Workers
    + Callbacks
    + Letters
    + Catalog
    + Triggers
    + ScheduledTasks
    + Requests
    + Sessions
    + Breakers
    + Minutes
    + Alerts
    + BulkJobs
    + Notices
    + Nodes
{
    /// Writes a batch in one transaction, durably, before it returns.
    ///
    /// Every reason to refuse a part is read before that part's first write, so that one refused
    /// part does not disturb the others. The outcomes stand in the order of the parts.
    async fn commit(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError>;

    /// Copies the whole store to a new file while it is in use. `progress` hears (done, all) in
    /// pages or rows.
    async fn backup(
        &self,
        to: &Path,
        progress: &(dyn Fn(u64, u64) + Send + Sync),
    ) -> Result<(), ReadError>;

    /// How large the store is, in bytes; none where that cannot be said.
    async fn size(&self) -> Result<Option<u64>, ReadError> {
        Ok(None)
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
