//! A store that counts what is committed through it and notes when, and is otherwise the one below.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::execution::{EventRow, Execution, Status};
use refire_core::id::{DlqId, ExecutionId, NodeId, RequestId, TriggerId, WebhookId};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_store::{
    Admit, Batch, CommitError, DueTrigger, EventFilter, ExecutionFilter, Joining, Lease,
    LetterFilter, LetterRow, LetterSummary, News, NodeRow, OpenCounts, Part, PartOutcome,
    ReadError, RequestFilter, RequestRow, RetryRow, SlotRow, SlotStatus, Store, Stored, Summary,
    TriggerFilter, TriggerRow, VersionRow, WorkKey, WorkRow, WorkflowRow,
};

use crate::sample::Waits;

/// See the module.
pub(crate) struct Watched {
    below: Arc<dyn Store>,
    transactions: AtomicU64,
    moves: AtomicU64,
    ended: AtomicU64,
    admitted_at: Mutex<Option<Instant>>,
    claims: Mutex<Waits>,
    fires: Mutex<Fires>,
}

/// Triggers that were fired.
#[derive(Debug, Default)]
struct Fires {
    all: u64,
    /// When the crowd that is being fired began, and the last commit of it.
    crowd: Option<(Instant, Instant)>,
}

/// Fires that lie further apart belong to different crowds.
const CROWD_APART: Duration = Duration::from_secs(5);

/// What was counted so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    /// Transactions, each with one fsync.
    pub(crate) transactions: u64,
    /// Commits of executions: how often an execution was written, whoever shared the transaction.
    pub(crate) moves: u64,
    /// Executions that came to their end.
    pub(crate) ended: u64,
}

impl Watched {
    pub(crate) fn new(below: Arc<dyn Store>) -> Self {
        Self {
            below,
            transactions: AtomicU64::new(0),
            moves: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            admitted_at: Mutex::new(None),
            claims: Mutex::default(),
            fires: Mutex::default(),
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            transactions: self.transactions.load(Ordering::Relaxed),
            moves: self.moves.load(Ordering::Relaxed),
            ended: self.ended.load(Ordering::Relaxed),
        }
    }

    /// When an admission was last made durable.
    pub(crate) fn admitted_at(&self) -> Option<Instant> {
        *self
            .admitted_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// How long commits took that claimed work, since the last call.
    pub(crate) fn take_claims(&self) -> Waits {
        std::mem::take(&mut *self.claims())
    }

    /// Triggers that were fired, and how long the last crowd of them took.
    pub(crate) fn fires(&self) -> (u64, Option<Duration>) {
        let fires = self.fires.lock().unwrap_or_else(PoisonError::into_inner);
        (fires.all, fires.crowd.map(|(from, to)| to - from))
    }

    fn note_fires(&self, batch: &Batch, began: Instant) {
        let fired = batch
            .parts
            .iter()
            .filter(|part| matches!(part, Part::Fire(_)));
        let fired = fired.count() as u64;
        if fired == 0 {
            return;
        }
        let mut fires = self.fires.lock().unwrap_or_else(PoisonError::into_inner);
        fires.all += fired;
        let from = match fires.crowd {
            Some((from, to)) if began.saturating_duration_since(to) < CROWD_APART => from,
            _ => began,
        };
        fires.crowd = Some((from, Instant::now()));
    }

    fn claims(&self) -> MutexGuard<'_, Waits> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_admission(&self, admit: &Admit) -> Status {
        let mut admitted_at = self
            .admitted_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *admitted_at = Some(Instant::now());
        admit.row.update.status
    }

    fn note(&self, batch: &Batch, outcomes: &[PartOutcome], took: Duration) {
        let claimed = |outcome: &PartOutcome| matches!(outcome, PartOutcome::Claimed(rows) if !rows.is_empty());
        if outcomes.iter().any(claimed) {
            self.claims().add(took);
        }
        self.transactions.fetch_add(1, Ordering::Relaxed);
        for part in &batch.parts {
            let status = match part {
                Part::Admit(admit) => self.note_admission(admit),
                Part::Fire(fire) => match &fire.admission {
                    Some(admit) => self.note_admission(admit),
                    None => continue,
                },
                Part::Advance(advance) => advance.update.status,
                _ => continue,
            };
            self.moves.fetch_add(1, Ordering::Relaxed);
            if status.is_terminal() {
                self.ended.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

#[async_trait]
impl Store for Watched {
    async fn commit(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError> {
        let began = Instant::now();
        let outcomes = self.below.commit(batch).await?;
        self.note(batch, &outcomes, began.elapsed());
        self.note_fires(batch, began);
        Ok(outcomes)
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        self.below.execution(id).await
    }

    async fn values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        self.below.values(id, sequences).await
    }

    async fn states(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Execution>>, ReadError> {
        self.below.states(ids).await
    }

    async fn load(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        self.below.load(id).await
    }

    async fn load_values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        self.below.load_values(id, sequences).await
    }

    async fn history(
        &self,
        id: ExecutionId,
        filter: &EventFilter,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRow>, ReadError> {
        self.below.history(id, filter, after, limit).await
    }

    async fn executions(
        &self,
        filter: &ExecutionFilter,
        before: Option<ExecutionId>,
        limit: u32,
    ) -> Result<Vec<Summary>, ReadError> {
        self.below.executions(filter, before, limit).await
    }

    async fn summaries(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Summary>>, ReadError> {
        self.below.summaries(ids).await
    }

    async fn ready_workflows(&self, now: Timestamp) -> Result<Vec<WorkflowId>, ReadError> {
        self.below.ready_workflows(now).await
    }

    async fn orphans(
        &self,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError> {
        self.below.orphans(after, limit).await
    }

    async fn owned_due(
        &self,
        node: NodeId,
        now: Timestamp,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError> {
        self.below.owned_due(node, now, after, limit).await
    }

    async fn open_counts(&self, workflow: Option<&WorkflowId>) -> Result<OpenCounts, ReadError> {
        self.below.open_counts(workflow).await
    }

    async fn letters(
        &self,
        filter: &LetterFilter,
        before: Option<DlqId>,
        limit: u32,
    ) -> Result<Vec<LetterRow>, ReadError> {
        self.below.letters(filter, before, limit).await
    }

    async fn letter(&self, id: DlqId) -> Result<Option<LetterRow>, ReadError> {
        self.below.letter(id).await
    }

    async fn letter_retries(&self, id: DlqId, limit: u32) -> Result<Vec<RetryRow>, ReadError> {
        self.below.letter_retries(id, limit).await
    }

    async fn letter_summary(&self, filter: &LetterFilter) -> Result<LetterSummary, ReadError> {
        self.below.letter_summary(filter).await
    }

    async fn workflow(&self, id: &WorkflowId) -> Result<Option<WorkflowRow>, ReadError> {
        self.below.workflow(id).await
    }

    async fn workflows(
        &self,
        after: Option<&WorkflowId>,
        limit: u32,
    ) -> Result<Vec<WorkflowRow>, ReadError> {
        self.below.workflows(after, limit).await
    }

    async fn version(
        &self,
        id: &WorkflowId,
        version: u32,
    ) -> Result<Option<VersionRow>, ReadError> {
        self.below.version(id, version).await
    }

    async fn versions(&self, id: &WorkflowId) -> Result<Vec<VersionRow>, ReadError> {
        self.below.versions(id).await
    }

    async fn trigger(&self, id: TriggerId) -> Result<Option<TriggerRow>, ReadError> {
        self.below.trigger(id).await
    }

    async fn webhook(&self, id: WebhookId) -> Result<Option<TriggerRow>, ReadError> {
        self.below.webhook(id).await
    }

    async fn triggers(
        &self,
        filter: &TriggerFilter,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<TriggerRow>, ReadError> {
        self.below.triggers(filter, after, limit).await
    }

    async fn count_triggers(&self, filter: &TriggerFilter) -> Result<u64, ReadError> {
        self.below.count_triggers(filter).await
    }

    async fn trigger_state(
        &self,
        id: TriggerId,
    ) -> Result<Option<refire_core::trigger::State>, ReadError> {
        self.below.trigger_state(id).await
    }

    async fn due_triggers(&self, by: Timestamp, limit: u32) -> Result<Vec<DueTrigger>, ReadError> {
        self.below.due_triggers(by, limit).await
    }

    async fn next_trigger_due(&self) -> Result<Option<Timestamp>, ReadError> {
        self.below.next_trigger_due().await
    }

    async fn slots(
        &self,
        trigger: TriggerId,
        statuses: &[SlotStatus],
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<SlotRow>, ReadError> {
        self.below.slots(trigger, statuses, before, limit).await
    }

    async fn slots_between(
        &self,
        trigger: TriggerId,
        from: Timestamp,
        to: Timestamp,
        limit: u32,
    ) -> Result<Vec<SlotRow>, ReadError> {
        self.below.slots_between(trigger, from, to, limit).await
    }

    async fn requests(
        &self,
        trigger: TriggerId,
        filter: &RequestFilter,
        before: Option<RequestId>,
        limit: u32,
    ) -> Result<Vec<RequestRow>, ReadError> {
        self.below.requests(trigger, filter, before, limit).await
    }

    async fn requests_beyond(
        &self,
        newest: u32,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<(TriggerId, Option<RequestId>)>, ReadError> {
        self.below.requests_beyond(newest, after, limit).await
    }

    async fn request(&self, id: RequestId) -> Result<Option<RequestRow>, ReadError> {
        self.below.request(id).await
    }

    async fn backup(
        &self,
        to: &Path,
        progress: &(dyn Fn(u64, u64) + Send + Sync),
    ) -> Result<(), ReadError> {
        self.below.backup(to, progress).await
    }

    fn idle(&self) {
        self.below.idle();
    }

    async fn join(&self, node: &Joining, now: Timestamp) -> Result<Lease, ReadError> {
        self.below.join(node, now).await
    }

    async fn renew(
        &self,
        node: NodeId,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Lease, ReadError> {
        self.below.renew(node, lease, now).await
    }

    async fn reap(&self, by: NodeId, now: Timestamp) -> Result<Vec<NodeId>, ReadError> {
        self.below.reap(by, now).await
    }

    async fn leave(&self, node: NodeId) -> Result<(), ReadError> {
        self.below.leave(node).await
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, ReadError> {
        self.below.nodes().await
    }

    fn is_shared(&self) -> bool {
        self.below.is_shared()
    }

    fn tell(&self, news: News) {
        self.below.tell(news);
    }

    async fn news(&self) -> News {
        self.below.news().await
    }

    async fn close(&self) {
        self.below.close().await;
    }
}
