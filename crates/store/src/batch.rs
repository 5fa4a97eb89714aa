//! What a commit is made of: parts that become durable together.

mod about;
mod bulk;
mod prune;
mod scheduled;
mod task;
mod trigger;

use refire_core::dead_letter::{Letter, LetterStatus, RetryFrom};
use refire_core::definition::WorkflowId;
use refire_core::execution::{EventRow, Status};
use refire_core::id::{DlqId, ExecutionId, NodeId, SilenceId, TriggerId};
use refire_core::minute::OfWorkflow;
use refire_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::alert::{AlertChange, AlertRuleChange, SilenceRow};
use crate::breaker::ChangeBreaker;
use crate::callback::{CallbackChange, TouchCallback};
use crate::notice::{ChannelChange, MoveGroups, NewNotice};
use crate::request::RequestRow;
use crate::session::SessionChange;
use crate::task::TaskRow;
use crate::work::WorkRow;
use crate::worker::WorkerRow;

pub(crate) use about::About;
pub use bulk::{BulkItem, BulkLetters, BulkPart, BulkStep};
pub(crate) use prune::Candidate;
pub use prune::{OldExecutions, Prune};
pub use scheduled::{PutScheduled, ScheduledTrigger};
pub use task::{
    KnownBy, LockTasks, SeenTask, TaskChange, TaskHolder, Touch, TouchTask, WantedTasks,
};
pub use trigger::{ChangeTrigger, CreateTrigger, Fire, NewState, TriggerEnd, TriggerVersion};

/// One transaction's worth of parts.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Tells this batch from any other; written with every execution it changes, so that a
    /// commit whose answer was lost can be recognised.
    pub commit_id: [u8; 16],
    /// The node that commits: nothing is written unless it has its lease. Absent for tools, which
    /// own nothing.
    pub lease: Option<NodeId>,
    /// The clock's word for everything in it.
    pub now: Timestamp,
    /// What to write, in order.
    pub parts: Vec<Part>,
}

/// A unit of a batch: written whole or refused whole.
#[derive(Debug, Clone)]
pub enum Part {
    /// A new execution.
    Admit(Box<Admit>),
    /// An execution moves on.
    Advance(Box<Advance>),
    /// Take unowned due work.
    Claim(Claim),
    /// Take unowned timers that are due soon.
    ClaimTimers(ClaimTimers),
    /// Attempts of owned work have begun.
    Begin(Begin),
    /// Give owned work back.
    Release(Release),
    /// Give tasks to workers that wait.
    LockTasks(LockTasks),
    /// A worker's word about a task that it has.
    TouchTask(TouchTask),
    /// A target's word on how far it is.
    TouchCallback(TouchCallback),
    /// What was seen of workers since it was last written, each once. Only the newest of all stay.
    SeeWorkers(Vec<WorkerRow>),
    /// A worker's row goes; the outcome says whether there was one.
    ForgetWorker {
        /// The worker.
        id: String,
    },
    /// A session of the console begins, goes on or ends.
    ChangeSession(SessionChange),
    /// The circuit breaker of a target moves.
    ChangeBreaker(Box<ChangeBreaker>),
    /// What happened since it was last written, added to what is there; no minute of a workflow twice. What is
    /// of a workflow that was never saved is dropped.
    AddMinutes(Vec<OfWorkflow>),
    /// Alerts change, each by itself; none twice.
    ChangeAlerts(Vec<AlertChange>),
    /// A rule of alerts changes.
    ChangeAlertRule(AlertRuleChange),
    /// A silence is made or changed; those that are over go if there are too many.
    PutSilence(SilenceRow),
    /// A silence goes; the outcome says whether there was one.
    RemoveSilence {
        /// The silence.
        id: SilenceId,
    },
    /// A person gives a dead letter up.
    DeleteLetter {
        /// The letter; refused unless it is pending.
        id: DlqId,
        /// Who.
        by: String,
    },
    /// Save a definition; equal content makes no new version.
    PutWorkflow(Box<PutWorkflow>),
    /// Mark a workflow deleted and disable its triggers; refused while executions are open.
    DeleteWorkflow {
        /// The workflow.
        id: WorkflowId,
    },
    /// A new trigger.
    CreateTrigger(Box<CreateTrigger>),
    /// A trigger is told otherwise.
    ChangeTrigger(Box<ChangeTrigger>),
    /// A trigger goes. Its ledger and its requests go with a later [`Prune::Triggers`].
    DeleteTrigger {
        /// The trigger.
        id: TriggerId,
        /// Its workflow.
        workflow: WorkflowId,
    },
    /// A step of a trigger's plan.
    Fire(Box<Fire>),
    /// A scheduled task is made or changed.
    PutScheduled(Box<PutScheduled>),
    /// Notices are taken into groups, or groups are told of.
    MoveGroups(Box<MoveGroups>),
    /// A channel is made, changed or removed.
    ChangeChannel(Box<ChannelChange>),
    /// Requests that started nothing; what has started something meanwhile stays as it is. Each
    /// trigger keeps the newest of them.
    LogRequests(Vec<RequestRow>),
    /// A bulk job is made or moves on.
    Bulk(BulkPart),
    /// Remove a chunk of what is old.
    Prune(Prune),
}

/// A new execution with everything that becomes true with it.
#[derive(Debug, Clone)]
pub struct Admit {
    /// The execution's row.
    pub row: ExecutionRow,
    /// Its first events.
    pub events: Vec<EventRow>,
    /// Its first work.
    pub work: Vec<WorkChange>,
    /// Its first tasks.
    pub tasks: Vec<TaskChange>,
    /// The key that must not have been used yet.
    pub claim: Option<IdempotencyClaim>,
    /// The dead letter it retries, which must be pending.
    pub letter: Option<LetterRetry>,
    /// Refused unless the version it was decided by is the workflow's newest: another node may
    /// have saved a newer one.
    pub only_newest: bool,
    /// The trigger that it was decided by, which must not have changed.
    pub trigger: Option<TriggerVersion>,
    /// The request that started it. One with the same id that had been refused is
    /// replaced; one that had started something stays.
    pub request: Option<Box<RequestRow>>,
    /// What an execution that ended at once did to letters.
    pub new_letter: Option<Box<Letter>>,
    /// See `new_letter`.
    pub settle: Option<SettleLetter>,
    /// What an execution that ended at once means for its trigger.
    pub end: Option<TriggerEnd>,
    /// What of a bulk job it is for: refused if that has been done.
    pub bulk: Option<BulkItem>,
    /// What people are to be told of it.
    pub notices: Vec<NewNotice>,
}

/// An execution that moves on.
#[derive(Debug, Clone)]
pub struct Advance {
    /// The execution.
    pub id: ExecutionId,
    /// The version it must have.
    pub expected_version: u64,
    /// The work that must have begun and the tasks that workers must have, by step and attempt, in order of the
    /// steps; absent = whatever is so.
    pub begun: Option<Vec<(String, u32)>>,
    /// The task that it was decided on.
    pub seen: Option<SeenTask>,
    /// Its row afterwards.
    pub update: RowUpdate,
    /// The new events.
    pub events: Vec<EventRow>,
    /// What changes in its work, in order.
    pub work: Vec<WorkChange>,
    /// What changes in its tasks, in order.
    pub tasks: Vec<TaskChange>,
    /// What changes in its callbacks, in order.
    pub callbacks: Vec<CallbackChange>,
    /// The dead letter it became.
    pub new_letter: Option<Box<Letter>>,
    /// The dead letter it was a retry of.
    pub settle: Option<SettleLetter>,
    /// What its end means for its trigger.
    pub end: Option<TriggerEnd>,
    /// What people are to be told of it.
    pub notices: Vec<NewNotice>,
}

/// An execution's row when it is new.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutionRow {
    /// Its id.
    pub id: ExecutionId,
    /// The workflow.
    pub workflow: WorkflowId,
    /// The version of its definition.
    pub workflow_version: u32,
    /// How it was started, in the API's word.
    pub trigger: &'static str,
    /// The trigger that started it, if one did.
    pub trigger_id: Option<TriggerId>,
    /// 1 (first) to 10 (last).
    pub priority: u8,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// The execution it repeats.
    pub parent: Option<ExecutionId>,
    /// The first of its line.
    pub root: ExecutionId,
    /// The part that later commits change.
    pub update: RowUpdate,
}

/// The part of an execution's row that every commit rewrites.
#[derive(Debug, Clone, PartialEq)]
pub struct RowUpdate {
    /// The number of its last event.
    pub version: u64,
    /// As far as its log knows.
    pub status: Status,
    /// Whether completed steps are being undone.
    pub compensating: bool,
    /// The last event's time.
    pub updated_at: Timestamp,
    /// Retries so far of the step that failed last.
    pub retry_count: u32,
    /// When that step's next attempt is due.
    pub next_retry_at: Option<Timestamp>,
    /// The state as text; absent = the row keeps the older one and the events after it fill in.
    pub snapshot: Option<Vec<u8>>,
}

/// The name of a work row.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkKey {
    /// The execution.
    pub execution: ExecutionId,
    /// The step.
    pub step: String,
}

/// A change of an execution's work.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkChange {
    /// Write this row, replacing the step's earlier one.
    Put(WorkRow),
    /// Write this row unless one with the same attempt that has begun is there.
    Restore(WorkRow),
    /// Remove the step's row.
    Remove {
        /// The step.
        step: String,
    },
    /// Remove the rows that have not begun.
    RemoveUnbegun,
    /// Remove all rows.
    RemoveAll,
}

/// A use of an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyClaim {
    /// What the key is unique in: the workflow's or the trigger's name.
    pub scope: String,
    /// The first sixteen bytes of the key's SHA-256.
    pub key_hash: [u8; 16],
    /// The first eight bytes of the body's SHA-256.
    pub body_hash: [u8; 8],
    /// When the key may be used again.
    pub expires_at: Timestamp,
    /// The execution that it may be taken from before that, as the caller has seen it: refused if
    /// another one has it by now.
    pub over: Option<ExecutionId>,
}

/// The retry of a dead letter by a new execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LetterRetry {
    /// The letter; refused unless it is pending.
    pub id: DlqId,
    /// Who.
    pub by: String,
    /// The highest generation that its retries have used, as the caller has seen it: refused if
    /// another retry came in between.
    pub expected_generation: u32,
    /// The highest generation with this retry.
    pub generation: u32,
    /// Where it begins.
    pub from: RetryFrom,
    /// Whether its input is another than the original's.
    pub edited: bool,
}

/// How the retry of a dead letter ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettleLetter {
    /// The letter.
    pub id: DlqId,
    /// Resolved, or pending again.
    pub resolved: bool,
    /// The execution that retried it.
    pub execution: ExecutionId,
}

/// A claim of unowned work that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Who takes it; the rows become owned, not begun.
    pub node: NodeId,
    /// From which workflows, and how many at most; by priority, then due time, then age.
    pub wants: Vec<Want>,
}

/// How much to claim of one workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want {
    /// The workflow.
    pub workflow: WorkflowId,
    /// At most so many.
    pub up_to: u32,
    /// At most so many retries among them; the others stay.
    pub retries_up_to: u32,
    /// How many executions of it may be in flight; absent = any number.
    pub bounds: Option<Bounds>,
}

/// How many executions of a workflow may have work in flight, whoever owns it. Work is in flight
/// when it is owned and has begun or is due. An execution counts once, so work of one that is in
/// flight has room. Two claims of one workflow on two nodes must not see the same room: a store that
/// several nodes share makes one wait for the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    /// In all.
    pub max: Option<u32>,
    /// With the same concurrency key.
    pub max_per_key: Option<u32>,
}

impl Want {
    /// So many of a workflow, whatever they are.
    #[must_use]
    pub fn any(workflow: WorkflowId, up_to: u32) -> Self {
        Self {
            workflow,
            up_to,
            retries_up_to: up_to,
            bounds: None,
        }
    }
}

/// A claim of unowned timers that are still to come due; the rows become owned, not begun. What
/// is due already is ready work, and goes by priority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimTimers {
    /// Who takes them.
    pub node: NodeId,
    /// Those due by then.
    pub until: Timestamp,
    /// At most so many, the earliest first.
    pub up_to: u32,
}

/// Attempts that begin. Nothing happens where the row is gone, another node's, or for another
/// attempt; the outcome says which there were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begin {
    /// Who begins them.
    pub node: NodeId,
    /// Which rows, and which attempts.
    pub work: Vec<(WorkKey, u32)>,
}

/// Owned work given back. Work of a paused execution is removed instead: nothing of it may be
/// claimed, and resuming makes it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Whose it was; rows of others are left alone.
    pub node: NodeId,
    /// Which rows, and from when they may be claimed again. Absent = as before, and at once where
    /// there was no time: unowned work always has a due time, so that claims go by it.
    pub work: Vec<(WorkKey, Option<Timestamp>)>,
}

/// A definition to save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutWorkflow {
    /// The workflow.
    pub id: WorkflowId,
    /// Its name for people.
    pub name: String,
    /// Equal for equal content.
    pub content_hash: [u8; 32],
    /// The text as it was sent.
    pub source: String,
    /// Who.
    pub by: String,
    /// The version that it takes the place of; 0 = there must be none. Absent = whatever is there.
    pub expected: Option<u32>,
}

impl PutWorkflow {
    /// Whether it may be saved over this newest version; none if there is no workflow, or a deleted one.
    pub(crate) fn may_follow(&self, live: Option<u32>) -> bool {
        self.expected
            .is_none_or(|expected| expected == live.unwrap_or(0))
    }
}

/// What became of a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PartOutcome {
    /// Written.
    Done,
    /// Refused: the execution has another version, or its task is not as it was seen.
    Conflict,
    /// Refused: the idempotency key belongs to this execution already.
    Duplicate {
        /// The execution that has the key.
        execution: ExecutionId,
        /// Whether the bodies differ.
        body_differs: bool,
    },
    /// Refused: the dead letter is not pending (absent = there is none).
    LetterNotPending(Option<LetterStatus>),
    /// The work that is now owned. It is never kept: the rows say it.
    #[serde(skip)]
    Claimed(Vec<WorkRow>),
    /// Which rows are marked as begun, in order.
    Begun(Vec<bool>),
    /// The tasks that workers have now.
    Locked(Vec<TaskRow>),
    /// Whether the task, the callback, the session or the breaker was as it was said to be.
    Touched(bool),
    /// Which alerts are changed, in order; the others were not as they were said to be.
    Changed(Vec<bool>),
    /// Refused: the name belongs to another.
    NameTaken,
    /// The definition is saved.
    Saved {
        /// Its version.
        version: u32,
        /// Whether the content is new.
        created: bool,
    },
    /// Refused: so many executions are open.
    OpenExecutions(u64),
    /// Refused: no such workflow, or it was deleted.
    NoSuchWorkflow,
    /// Refused: the workflow has a newer version, or another one than was expected.
    NotNewest,
    /// Refused: the bulk job has done this already.
    ItemDone,
    /// Refused: the trigger was changed, disabled or deleted, or its state has moved on.
    TriggerMoved,
    /// Refused: no such trigger, or it was deleted.
    NoSuchTrigger,
    /// A chunk of retention is done.
    Pruned {
        /// Executions, or rows of other kinds, that were removed.
        removed: u64,
        /// Where to go on; absent = there are no more executions. Of other kinds there may be more if
        /// as many as the limit were removed.
        next: Option<ExecutionId>,
    },
}

impl PartOutcome {
    /// So many rows were removed that no walk finds.
    pub(crate) fn pruned(removed: usize) -> Self {
        Self::Pruned {
            removed: removed as u64,
            next: None,
        }
    }
}
