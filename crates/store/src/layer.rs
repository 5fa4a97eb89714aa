//! A store in front of another one: whatever it does not say itself is what the one below says.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::execution::{EventRow, Execution};
use refire_core::id::{DlqId, ExecutionId, NodeId, RequestId, TriggerId, WebhookId};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_core::trigger::{SlotStatus, State};

use crate::{
    Batch, CommitError, DueTrigger, EventFilter, ExecutionFilter, Joining, Lease, LetterFilter,
    LetterRow, LetterSummary, News, NodeRow, OpenCounts, PartOutcome, ReadError, RequestFilter,
    RequestRow, RetryRow, SlotRow, Store, Stored, Summary, TriggerFilter, TriggerRow, VersionRow,
    WorkKey, WorkRow, WorkflowRow,
};

/// See the module. A layer is a [`Store`].
#[async_trait]
pub trait Layer: Send + Sync + 'static {
    /// The store that is asked.
    fn below(&self) -> &dyn Store;

    /// See [`Store::commit`].
    async fn commit(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError> {
        self.below().commit(batch).await
    }

    /// Hears the method of every other question, and may refuse to pass it on.
    async fn asked(&self, method: &'static str) -> Result<(), ReadError> {
        let _ = method;
        Ok(())
    }

    /// The same of questions about these executions.
    async fn asked_about(
        &self,
        method: &'static str,
        executions: &[ExecutionId],
    ) -> Result<(), ReadError> {
        let _ = executions;
        self.asked(method).await
    }

    /// See [`Store::version`].
    async fn version(
        &self,
        id: &WorkflowId,
        version: u32,
    ) -> Result<Option<VersionRow>, ReadError> {
        self.asked("version").await?;
        self.below().version(id, version).await
    }
}

/// Passes questions on, each as `method(arguments) -> answer, hook(executions)`.
macro_rules! layers_pass_on {
    ($($method:ident($($argument:ident: $type:ty),*) -> $answer:ty, $hook:ident($($about:expr)?);)*) => {
        #[async_trait]
        impl<L: Layer> Store for L {
            async fn commit(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError> {
                Layer::commit(self, batch).await
            }

            async fn version(
                &self,
                id: &WorkflowId,
                version: u32,
            ) -> Result<Option<VersionRow>, ReadError> {
                Layer::version(self, id, version).await
            }

            $(
                async fn $method(&self, $($argument: $type),*) -> Result<$answer, ReadError> {
                    self.$hook(stringify!($method) $(, $about)?).await?;
                    self.below().$method($($argument),*).await
                }
            )*

            fn is_shared(&self) -> bool {
                self.below().is_shared()
            }

            fn tell(&self, news: News) {
                self.below().tell(news);
            }

            async fn news(&self) -> News {
                self.below().news().await
            }

            fn idle(&self) {
                self.below().idle();
            }

            async fn close(&self) {
                self.below().close().await;
            }
        }
    };
}

layers_pass_on! {
    execution(id: ExecutionId) -> Option<Stored>, asked_about(&[id]);
    values(id: ExecutionId, sequences: &[u64]) -> Vec<(u64, Json)>, asked();
    states(ids: &[ExecutionId]) -> Vec<Option<Execution>>, asked_about(ids);
    load(id: ExecutionId) -> Option<Stored>, asked_about(&[id]);
    load_values(id: ExecutionId, sequences: &[u64]) -> Vec<(u64, Json)>, asked();
    history(id: ExecutionId, filter: &EventFilter, after: u64, limit: u32)
        -> Vec<EventRow>, asked();
    executions(filter: &ExecutionFilter, before: Option<ExecutionId>, limit: u32)
        -> Vec<Summary>, asked();
    summaries(ids: &[ExecutionId]) -> Vec<Option<Summary>>, asked();
    ready_workflows(now: Timestamp) -> Vec<WorkflowId>, asked();
    orphans(after: Option<&WorkKey>, limit: u32) -> Vec<WorkRow>, asked();
    owned_due(node: NodeId, now: Timestamp, after: Option<&WorkKey>, limit: u32)
        -> Vec<WorkRow>, asked();
    open_counts(workflow: Option<&WorkflowId>) -> OpenCounts, asked();
    letters(filter: &LetterFilter, before: Option<DlqId>, limit: u32) -> Vec<LetterRow>, asked();
    letter(id: DlqId) -> Option<LetterRow>, asked();
    letter_retries(id: DlqId, limit: u32) -> Vec<RetryRow>, asked();
    letter_summary(filter: &LetterFilter) -> LetterSummary, asked();
    workflow(id: &WorkflowId) -> Option<WorkflowRow>, asked();
    workflows(after: Option<&WorkflowId>, limit: u32) -> Vec<WorkflowRow>, asked();
    versions(id: &WorkflowId) -> Vec<VersionRow>, asked();
    trigger(id: TriggerId) -> Option<TriggerRow>, asked();
    webhook(id: WebhookId) -> Option<TriggerRow>, asked();
    triggers(filter: &TriggerFilter, after: Option<TriggerId>, limit: u32)
        -> Vec<TriggerRow>, asked();
    count_triggers(filter: &TriggerFilter) -> u64, asked();
    trigger_state(id: TriggerId) -> Option<State>, asked();
    due_triggers(by: Timestamp, limit: u32) -> Vec<DueTrigger>, asked();
    next_trigger_due() -> Option<Timestamp>, asked();
    slots(trigger: TriggerId, statuses: &[SlotStatus], before: Option<u64>, limit: u32)
        -> Vec<SlotRow>, asked();
    slots_between(trigger: TriggerId, from: Timestamp, to: Timestamp, limit: u32)
        -> Vec<SlotRow>, asked();
    requests(trigger: TriggerId, filter: &RequestFilter, before: Option<RequestId>, limit: u32)
        -> Vec<RequestRow>, asked();
    requests_beyond(newest: u32, after: Option<TriggerId>, limit: u32)
        -> Vec<(TriggerId, Option<RequestId>)>, asked();
    request(id: RequestId) -> Option<RequestRow>, asked();
    backup(to: &Path, progress: &(dyn Fn(u64, u64) + Send + Sync)) -> (), asked();
    join(node: &Joining, now: Timestamp) -> Lease, asked();
    renew(node: NodeId, lease: Duration, now: Timestamp) -> Lease, asked();
    reap(by: NodeId, now: Timestamp) -> Vec<NodeId>, asked();
    leave(node: NodeId) -> (), asked();
    nodes() -> Vec<NodeRow>, asked();
    has_lease(node: NodeId) -> bool, asked();
}
