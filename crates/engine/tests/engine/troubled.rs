//! A store that can be brought into trouble.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::execution::{EventRow, Execution};
use refire_core::id::{DlqId, ExecutionId, NodeId, RequestId, TriggerId, WebhookId};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_store::sqlite::{Options, Sqlite};
use refire_store::{
    Batch, CommitError, DueTrigger, EventFilter, ExecutionFilter, Joining, Lease, LetterFilter,
    LetterRow, LetterSummary, NodeRow, NotWritten, OpenCounts, Part, PartOutcome, ReadError,
    RequestFilter, RequestRow, RetryRow, SlotRow, SlotStatus, Store, Stored, Summary,
    TriggerFilter, TriggerRow, VersionRow, WorkKey, WorkRow, WorkflowRow,
};

use crate::fixture::World;

/// A store whose disk can be filled and whose reads can be made to fail.
pub(crate) struct Troubled {
    inner: Sqlite,
    pub(crate) disk_is_full: AtomicBool,
    pub(crate) reads_fail: AtomicBool,
    pub(crate) poison: AtomicU32,
    pub(crate) commits_panic: AtomicBool,
    pub(crate) claims_panic: AtomicBool,
    pub(crate) states_panic: AtomicBool,
    /// Versions of workflows from this one on are not there.
    pub(crate) versions_gone_from: AtomicU32,
    /// This version of a workflow is not there.
    pub(crate) version_gone: AtomicU32,
    /// Nothing that is written or signed off is answered any more.
    pub(crate) is_silent: AtomicBool,
    /// Definitions of the workflow `w` are damaged.
    pub(crate) w_is_damaged: AtomicBool,
}

/// An execution that cannot be read, whatever is stored of it.
pub(crate) fn damaged() -> ExecutionId {
    ExecutionId::from_bytes([0xda; 16])
}

fn corrupt(what: &str) -> ReadError {
    ReadError::Corrupt {
        what: what.to_owned(),
        source: "it is made to be damaged".into(),
    }
}

impl Troubled {
    /// What concerns executions.
    fn read_of<T>(
        &self,
        ids: &[ExecutionId],
        answer: Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        if ids.contains(&damaged()) {
            return Err(corrupt("an execution"));
        }
        self.read(answer)
    }

    /// Does not return while it is silent.
    async fn says_nothing(&self) {
        while self.is_silent.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    fn read<T>(&self, answer: Result<T, ReadError>) -> Result<T, ReadError> {
        if self.reads_fail.load(Ordering::SeqCst) {
            return Err(ReadError::Unavailable("the reads are made to fail".into()));
        }
        answer
    }
}

fn is_poison(part: &Part) -> bool {
    let text = |payload: &[u8]| String::from_utf8_lossy(payload).contains("POISON");
    match part {
        Part::Admit(admit) => admit.events.iter().any(|event| text(&event.payload)),
        Part::Advance(advance) => advance.events.iter().any(|event| text(&event.payload)),
        Part::Fire(fire) => {
            let events = fire.admission.iter().flat_map(|admit| &admit.events);
            events.into_iter().any(|event| text(&event.payload))
        }
        _ => false,
    }
}

#[async_trait]
impl Store for Troubled {
    async fn commit(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError> {
        let fail = |reason, text: &str| {
            Err(CommitError::NotWritten {
                reason,
                source: text.to_owned().into(),
            })
        };
        self.says_nothing().await;
        if self.disk_is_full.load(Ordering::SeqCst) {
            return fail(NotWritten::Full, "no space left");
        }
        if self.commits_panic.load(Ordering::SeqCst) {
            // What it was about to say is lost, but it is written.
            self.inner.commit(batch).await.unwrap();
            panic!("the commit panics");
        }
        if batch.parts.iter().any(is_poison) {
            self.poison.fetch_add(1, Ordering::SeqCst);
            return fail(NotWritten::Statement, "a statement chokes on its data");
        }
        self.inner.commit(batch).await
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        self.read_of(&[id], self.inner.execution(id).await)
    }

    async fn values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        self.read(self.inner.values(id, sequences).await)
    }

    async fn states(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Execution>>, ReadError> {
        assert!(
            !self.states_panic.load(Ordering::SeqCst),
            "reading states panics"
        );
        self.read_of(ids, self.inner.states(ids).await)
    }

    async fn load(&self, id: ExecutionId) -> Result<Option<Stored>, ReadError> {
        self.read_of(&[id], self.inner.load(id).await)
    }

    async fn load_values(
        &self,
        id: ExecutionId,
        sequences: &[u64],
    ) -> Result<Vec<(u64, Json)>, ReadError> {
        self.read(self.inner.load_values(id, sequences).await)
    }

    async fn history(
        &self,
        id: ExecutionId,
        filter: &EventFilter,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRow>, ReadError> {
        self.read(self.inner.history(id, filter, after, limit).await)
    }

    async fn executions(
        &self,
        filter: &ExecutionFilter,
        before: Option<ExecutionId>,
        limit: u32,
    ) -> Result<Vec<Summary>, ReadError> {
        self.read(self.inner.executions(filter, before, limit).await)
    }

    async fn summaries(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Summary>>, ReadError> {
        self.read(self.inner.summaries(ids).await)
    }

    async fn ready_workflows(&self, now: Timestamp) -> Result<Vec<WorkflowId>, ReadError> {
        assert!(
            !self.claims_panic.load(Ordering::SeqCst),
            "the claim panics"
        );
        self.read(self.inner.ready_workflows(now).await)
    }

    async fn orphans(
        &self,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError> {
        self.read(self.inner.orphans(after, limit).await)
    }

    async fn owned_due(
        &self,
        node: NodeId,
        now: Timestamp,
        after: Option<&WorkKey>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, ReadError> {
        self.read(self.inner.owned_due(node, now, after, limit).await)
    }

    async fn open_counts(&self, workflow: Option<&WorkflowId>) -> Result<OpenCounts, ReadError> {
        self.read(self.inner.open_counts(workflow).await)
    }

    async fn letters(
        &self,
        filter: &LetterFilter,
        before: Option<DlqId>,
        limit: u32,
    ) -> Result<Vec<LetterRow>, ReadError> {
        self.read(self.inner.letters(filter, before, limit).await)
    }

    async fn letter(&self, id: DlqId) -> Result<Option<LetterRow>, ReadError> {
        self.read(self.inner.letter(id).await)
    }

    async fn letter_retries(&self, id: DlqId, limit: u32) -> Result<Vec<RetryRow>, ReadError> {
        self.read(self.inner.letter_retries(id, limit).await)
    }

    async fn letter_summary(&self, filter: &LetterFilter) -> Result<LetterSummary, ReadError> {
        self.read(self.inner.letter_summary(filter).await)
    }

    async fn workflow(&self, id: &WorkflowId) -> Result<Option<WorkflowRow>, ReadError> {
        self.read(self.inner.workflow(id).await)
    }

    async fn workflows(
        &self,
        after: Option<&WorkflowId>,
        limit: u32,
    ) -> Result<Vec<WorkflowRow>, ReadError> {
        self.read(self.inner.workflows(after, limit).await)
    }

    async fn version(
        &self,
        id: &WorkflowId,
        version: u32,
    ) -> Result<Option<VersionRow>, ReadError> {
        if version >= self.versions_gone_from.load(Ordering::SeqCst)
            || version == self.version_gone.load(Ordering::SeqCst)
        {
            return Ok(None);
        }
        if id.as_str() == "w" && self.w_is_damaged.load(Ordering::SeqCst) {
            return Err(corrupt("a definition"));
        }
        self.read(self.inner.version(id, version).await)
    }

    async fn versions(&self, id: &WorkflowId) -> Result<Vec<VersionRow>, ReadError> {
        self.read(self.inner.versions(id).await)
    }

    async fn trigger(&self, id: TriggerId) -> Result<Option<TriggerRow>, ReadError> {
        self.read(self.inner.trigger(id).await)
    }

    async fn webhook(&self, id: WebhookId) -> Result<Option<TriggerRow>, ReadError> {
        self.read(self.inner.webhook(id).await)
    }

    async fn triggers(
        &self,
        filter: &TriggerFilter,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<TriggerRow>, ReadError> {
        self.read(self.inner.triggers(filter, after, limit).await)
    }

    async fn count_triggers(&self, filter: &TriggerFilter) -> Result<u64, ReadError> {
        self.read(self.inner.count_triggers(filter).await)
    }

    async fn trigger_state(
        &self,
        id: TriggerId,
    ) -> Result<Option<refire_core::trigger::State>, ReadError> {
        self.read(self.inner.trigger_state(id).await)
    }

    async fn due_triggers(&self, by: Timestamp, limit: u32) -> Result<Vec<DueTrigger>, ReadError> {
        self.read(self.inner.due_triggers(by, limit).await)
    }

    async fn next_trigger_due(&self) -> Result<Option<Timestamp>, ReadError> {
        self.read(self.inner.next_trigger_due().await)
    }

    async fn slots(
        &self,
        trigger: TriggerId,
        statuses: &[SlotStatus],
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<SlotRow>, ReadError> {
        self.read(self.inner.slots(trigger, statuses, before, limit).await)
    }

    async fn slots_between(
        &self,
        trigger: TriggerId,
        from: Timestamp,
        to: Timestamp,
        limit: u32,
    ) -> Result<Vec<SlotRow>, ReadError> {
        self.read(self.inner.slots_between(trigger, from, to, limit).await)
    }

    async fn requests(
        &self,
        trigger: TriggerId,
        filter: &RequestFilter,
        before: Option<RequestId>,
        limit: u32,
    ) -> Result<Vec<RequestRow>, ReadError> {
        self.read(self.inner.requests(trigger, filter, before, limit).await)
    }

    async fn requests_beyond(
        &self,
        newest: u32,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<(TriggerId, Option<RequestId>)>, ReadError> {
        self.read(self.inner.requests_beyond(newest, after, limit).await)
    }

    async fn request(&self, id: RequestId) -> Result<Option<RequestRow>, ReadError> {
        self.read(self.inner.request(id).await)
    }

    async fn backup(
        &self,
        to: &Path,
        progress: &(dyn Fn(u64, u64) + Send + Sync),
    ) -> Result<(), ReadError> {
        self.inner.backup(to, progress).await
    }

    async fn join(&self, node: &Joining, now: Timestamp) -> Result<Lease, ReadError> {
        self.inner.join(node, now).await
    }

    async fn renew(
        &self,
        node: NodeId,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Lease, ReadError> {
        self.inner.renew(node, lease, now).await
    }

    async fn reap(&self, by: NodeId, now: Timestamp) -> Result<Vec<NodeId>, ReadError> {
        self.inner.reap(by, now).await
    }

    async fn leave(&self, node: NodeId) -> Result<(), ReadError> {
        self.says_nothing().await;
        self.inner.leave(node).await
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, ReadError> {
        self.inner.nodes().await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

/// One that is well so far.
pub(crate) fn troubled(world: &World) -> Arc<Troubled> {
    let options = Options::new(Timestamp::from_millis(1));
    Arc::new(Troubled {
        inner: Sqlite::open_in(world.dir.path(), &options).unwrap(),
        disk_is_full: AtomicBool::new(false),
        reads_fail: AtomicBool::new(false),
        poison: AtomicU32::new(0),
        commits_panic: AtomicBool::new(false),
        claims_panic: AtomicBool::new(false),
        states_panic: AtomicBool::new(false),
        versions_gone_from: AtomicU32::new(u32::MAX),
        version_gone: AtomicU32::new(u32::MAX),
        is_silent: AtomicBool::new(false),
        w_is_damaged: AtomicBool::new(false),
    })
}
