//! The tables, as plain maps in the order of their keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use refire_core::breaker::Breaker;
use refire_core::dead_letter::{Letter, LetterState};
use refire_core::definition::WorkflowId;
use refire_core::execution::EventRow;
use refire_core::id::{
    AlertRuleId, BulkId, ChannelId, DlqId, ExecutionId, GroupId, ItemId, NodeId, NoticeId,
    RequestId, ScheduledTaskId, SilenceId, TaskId, TriggerId,
};
use refire_core::minute::OfWorkflow;
use refire_core::time::Timestamp;
use refire_core::trigger::State;

use crate::{
    AlertRow, AlertRuleRow, BulkItemRow, BulkRow, BulkWish, CallbackKey, CallbackRow, ChannelRow,
    ExecutionRow, GroupRow, NewNotice, NodeRow, RequestRow, RetryRow, ScheduledRow, SecretHash,
    SessionRow, SilenceRow, SlotRow, TaskRow, TriggerRow, VersionRow, WorkKey, WorkRow, WorkerRow,
};

/// Everything that a store holds at one moment. Rows are shared, so a clone copies only the maps.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Image {
    /// Workflows with all their versions.
    pub workflows: BTreeMap<WorkflowId, Arc<Definition>>,
    /// Executions.
    pub executions: BTreeMap<ExecutionId, Arc<Record>>,
    /// Their logs.
    pub events: BTreeMap<(ExecutionId, u64), Arc<EventRow>>,
    /// Their work.
    pub work: BTreeMap<WorkKey, Arc<WorkRow>>,
    /// Their tasks for workers.
    pub tasks: BTreeMap<TaskId, Arc<TaskRow>>,
    /// The callbacks of their targets.
    pub callbacks: BTreeMap<CallbackKey, Arc<CallbackRow>>,
    /// Workers.
    pub workers: BTreeMap<String, Arc<WorkerRow>>,
    /// Sessions of the console.
    pub sessions: BTreeMap<SecretHash, Arc<SessionRow>>,
    /// Circuit breakers of targets.
    pub breakers: BTreeMap<String, Arc<Breaker>>,
    /// The numbers of minutes.
    pub minutes: BTreeMap<MinuteKey, Arc<OfWorkflow>>,
    /// Rules of alerts.
    pub alert_rules: BTreeMap<AlertRuleId, Arc<AlertRuleRow>>,
    /// How far alerts are.
    pub alerts: BTreeMap<AlertKey, Arc<AlertRow>>,
    /// Silences.
    pub silences: BTreeMap<SilenceId, Arc<SilenceRow>>,
    /// Dead letters.
    pub letters: BTreeMap<DlqId, Arc<Filed>>,
    /// Idempotency keys.
    pub keys: BTreeMap<KeyName, Arc<UsedKey>>,
    /// Triggers, deleted ones too.
    pub triggers: BTreeMap<TriggerId, Arc<Told>>,
    /// Where they stand.
    pub trigger_states: BTreeMap<TriggerId, Arc<Standing>>,
    /// The ledger of their slots.
    pub slots: BTreeMap<(TriggerId, u64), Arc<SlotRow>>,
    /// Scheduled tasks, deleted ones too.
    pub scheduled: BTreeMap<ScheduledTaskId, Arc<ScheduledRow>>,
    /// Requests to webhooks.
    pub requests: BTreeMap<RequestId, Arc<RequestRow>>,
    /// How long the rings of those are that started nothing.
    pub rings: BTreeMap<TriggerId, Arc<RingLength>>,
    /// Bulk jobs; their counts are those up to their cursors.
    pub bulk_jobs: BTreeMap<BulkId, Arc<Job>>,
    /// What became of what they are about.
    pub bulk_items: BTreeMap<(BulkId, ItemId), Arc<BulkItemRow>>,
    /// Notices that wait.
    pub notices: BTreeMap<NoticeId, Arc<NewNotice>>,
    /// Groups of notices.
    pub groups: BTreeMap<(ChannelId, GroupId), Arc<GroupRow>>,
    /// Channels.
    pub channels: BTreeMap<ChannelId, Arc<ChannelRow>>,
    /// The nodes that have a lease; what they own is counted when it is asked for.
    pub nodes: BTreeMap<NodeId, NodeRow>,
}

/// A minute of a workflow.
pub type MinuteKey = (Timestamp, WorkflowId);
/// The rule and the subject of an alert.
pub type AlertKey = (AlertRuleId, String);
/// A bulk job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its row.
    pub row: BulkRow,
    /// What it is about, and how.
    pub wish: BulkWish,
}

/// The name of an idempotency key: its scope and the hash of its text.
pub type KeyName = (String, [u8; 16]);

/// A workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The how-manieth it was to be saved first.
    pub serial: u64,
    /// Its name for people.
    pub name: String,
    /// The newest version.
    pub version: u32,
    /// When it was first saved.
    pub created_at: Timestamp,
    /// When the newest version was saved.
    pub updated_at: Timestamp,
    /// When it was deleted.
    pub deleted_at: Option<Timestamp>,
    /// All versions, with their texts.
    pub versions: BTreeMap<u32, Arc<VersionRow>>,
}

/// An execution.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its row. The snapshot is not in here but beside it.
    pub row: ExecutionRow,
    /// The batch that changed it last.
    pub commit_id: [u8; 16],
    /// The newest snapshot.
    pub snapshot: Option<Snapshot>,
}

/// A state as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The last event that is in it.
    pub version: u64,
    /// The text.
    pub bytes: Arc<Vec<u8>>,
}

/// A dead letter, and what people did with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Filed {
    /// What it said when it was made.
    pub letter: Letter,
    /// When it was made.
    pub created_at: Timestamp,
    /// Where it stands.
    pub state: LetterState,
    /// All retries by people, oldest first.
    pub retries: Vec<RetryRow>,
}

/// An idempotency key that was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedKey {
    /// The first eight bytes of the body's SHA-256.
    pub body_hash: [u8; 8],
    /// The execution that has the key.
    pub execution: ExecutionId,
    /// When the key may be used again.
    pub expires_at: Timestamp,
}

/// A trigger, as it was told last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Its row.
    pub row: TriggerRow,
    /// When it was deleted.
    pub deleted_at: Option<Timestamp>,
}

/// Where a trigger stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Its state.
    pub state: State,
    /// What its ledger has got since it was cut.
    pub slots: u64,
}

/// How long a ring of requests is, at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RingLength {
    /// Requests.
    pub rows: u64,
    /// What they weigh, in bytes.
    pub bytes: u64,
}

impl Image {
    /// An execution's log, oldest first.
    pub fn log(&self, id: ExecutionId) -> impl DoubleEndedIterator<Item = &EventRow> {
        self.events
            .range((id, 0)..=(id, u64::MAX))
            .map(|(_, event)| &**event)
    }

    /// An execution's work, by step.
    pub fn work_of(&self, id: ExecutionId) -> impl Iterator<Item = &WorkRow> {
        let first = WorkKey {
            execution: id,
            step: String::new(),
        };
        self.work
            .range(first..)
            .take_while(move |(key, _)| key.execution == id)
            .map(|(_, row)| &**row)
    }

    /// The letter of a failed execution.
    #[must_use]
    pub fn letter_of(&self, id: ExecutionId) -> Option<&Filed> {
        self.letters
            .values()
            .find(|filed| filed.letter.execution == id)
            .map(|filed| &**filed)
    }

    /// How many rows a backup of it has.
    #[must_use]
    pub fn rows(&self) -> u64 {
        let rows = self.workflows.len()
            + self.executions.len()
            + self.events.len()
            + self.work.len()
            + self.workers.len()
            + self.minutes.len()
            + self.alert_rules.len()
            + self.alerts.len()
            + self.silences.len()
            + self.letters.len()
            + self
                .letters
                .values()
                .map(|filed| filed.retries.len())
                .sum::<usize>()
            + self.keys.len()
            + self.triggers.len()
            + self.trigger_states.len()
            + self.slots.len()
            + self.scheduled.len()
            + self.requests.len()
            + self.rings.len()
            + self.bulk_jobs.len()
            + self.bulk_items.len()
            + self.notices.len()
            + self.groups.len()
            + self.channels.len();
        rows as u64
    }
}
