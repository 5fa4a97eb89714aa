//! The permits: counters behind one lock, and a bell that rings when one comes free.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use refire_core::definition::{Workflow, WorkflowId};
use refire_core::execution::state::Origin;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use refire_store::Bounds;
use tokio::sync::Notify;

use super::bounds::Limits;
use super::counts::{Counts, Held, HostCall};
use super::permit::{Permit, Start, Terms};
use crate::step;

/// What a permit is asked for.
#[derive(Debug, Clone)]
pub struct Ask<'a> {
    /// The definition, for its limits.
    pub workflow: &'a Workflow,
    /// The step's index.
    pub step: usize,
    /// The execution.
    pub execution: ExecutionId,
    /// Its keys.
    pub origin: &'a Origin,
    /// Whether the execution has run anything yet; only the first start counts for the rate.
    pub is_first: bool,
    /// Whether the attempt is a retry.
    pub is_retry: bool,
}

/// What stood in the way of a permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocked {
    /// Every slot of the node is taken.
    Node,
    /// A limit of the workflow or its key.
    Workflow,
    /// A limit of the target host.
    Host,
    /// The rate limit; one can be had from then.
    Rate(Timestamp),
}

/// What waiting work of a workflow could get a permit for, as far as it is known without looking
/// at the work itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// Attempts.
    pub attempts: u32,
    /// Retries among them.
    pub retries: u32,
}

/// The counters.
pub struct Slots {
    limits: Limits,
    /// Whether other nodes run the same workflows.
    is_shared: bool,
    counts: Mutex<Counts>,
    freed: Notify,
}

impl Slots {
    /// Counters with these bounds.
    #[must_use]
    pub fn new(limits: Limits) -> Arc<Self> {
        Self::of(limits, false)
    }

    /// The same, if need be for a node among others: bounds of workflows are then judged by the store,
    /// which knows what all of them run.
    #[must_use]
    pub fn of(limits: Limits, is_shared: bool) -> Arc<Self> {
        Arc::new(Self {
            limits,
            is_shared,
            counts: Mutex::default(),
            freed: Notify::new(),
        })
    }

    /// A permit, if every limit allows one.
    pub fn reserve(self: &Arc<Self>, ask: &Ask<'_>, now: Timestamp) -> Result<Permit, Blocked> {
        let step = &ask.workflow.steps[ask.step];
        let host = step::of(&step.kind).host().map(str::to_owned);
        let key = ask.origin.limit_key.clone();
        let mut counts = self.counts();
        counts.check(&self.limits, ask, key.as_deref())?;
        let start = counts.take_workflow_rate(ask, now)?;
        if let Some(host) = &host {
            let call = HostCall {
                host,
                execution: ask.execution,
                step: step.id.as_str(),
                is_retry: ask.is_retry,
            };
            if let Err(blocked) = counts.take_host(&self.limits, &call, now) {
                if let Some(start) = &start {
                    counts.return_start(&ask.workflow.id, start);
                }
                return Err(blocked);
            }
        }
        counts.add(ask, key.as_deref());
        drop(counts);
        let terms = Terms {
            workflow: ask.workflow.id.clone(),
            execution: ask.execution,
            step: step.id.as_str().to_owned(),
            key,
            host,
            is_retry: ask.is_retry,
            start,
        };
        Ok(Permit::new(Arc::clone(self), terms))
    }

    /// The bounds that a workflow has over all nodes, if there are others. Work of it runs only
    /// when the store has given it out by these.
    #[must_use]
    pub fn everywhere(&self, workflow: &Workflow) -> Option<Bounds> {
        bounds(workflow).filter(|_| self.is_shared)
    }

    /// Free slots of the node.
    #[must_use]
    pub fn free(&self) -> u32 {
        self.limits.attempts.saturating_sub(self.counts().attempts)
    }

    /// How many slots more than half of them are free.
    #[must_use]
    pub fn beyond_half(&self) -> u32 {
        self.free().saturating_sub(self.limits.attempts / 2)
    }

    /// Whether a quarter of the retries that a workflow may have in flight are: then those to come
    /// may be in each other's way.
    #[must_use]
    pub fn retries_are_scarce(&self, workflow: &Workflow) -> bool {
        let hosts = static_hosts(workflow).map_or(1, |hosts| hosts.len().max(1));
        let hosts = u32::try_from(hosts).unwrap_or(u32::MAX);
        let of_hosts = self.limits.retries_per_host.saturating_mul(hosts);
        let most = self.limits.retries_per_workflow.min(of_hosts);
        self.room(workflow).retries < most - most / 4
    }

    /// What a workflow's waiting work could get a permit for now. The workflow's own bounds count
    /// executions, and only the store knows whose the waiting work is: here they say no more than
    /// how many steps so many executions may have in flight.
    #[must_use]
    pub fn room(&self, workflow: &Workflow) -> Room {
        let counts = self.counts();
        let mut attempts = self.limits.attempts.saturating_sub(counts.attempts);
        if let Some(max) = workflow.concurrency.max {
            let steps = u32::try_from(workflow.steps.len()).unwrap_or(u32::MAX);
            let running = counts.executions.get(&workflow.id);
            let running = running.map_or(0, |running| running.values().sum());
            attempts = attempts.min(max.saturating_mul(steps).saturating_sub(running));
        }
        let retrying = counts.retries.get(&workflow.id).copied().unwrap_or(0);
        let mut retries = self.limits.retries_per_workflow.saturating_sub(retrying);
        if let Some(hosts) = static_hosts(workflow) {
            let (mut free, mut free_for_retries) = (0u32, 0u32);
            for host in hosts {
                let (used, retrying) = counts
                    .hosts
                    .get(host)
                    .map_or((0, 0), |host| (host.attempts, host.retries));
                let (attempts, retries) = self.limits.of_host(host);
                free = free.saturating_add(attempts.saturating_sub(used));
                free_for_retries =
                    free_for_retries.saturating_add(retries.saturating_sub(retrying));
            }
            attempts = attempts.min(free);
            retries = retries.min(free_for_retries);
        }
        Room { attempts, retries }
    }

    /// Notes that unowned due work of this workflow is in the store.
    pub fn mark_backlog(&self, workflow: &WorkflowId) {
        self.counts().backlog.mark(workflow);
        self.freed.notify_one();
    }

    /// Notes that unowned work in the store comes due then.
    pub fn look_again_at(&self, at: Timestamp) {
        self.counts().backlog.look_at(at);
        self.freed.notify_one();
    }

    /// Whether work that was put off has come due since the last call, and when the next does.
    pub fn looks(&self, now: Timestamp) -> (bool, Option<Timestamp>) {
        self.counts().backlog.looks(now)
    }

    /// Whether older work of this workflow waits in the store: then new work queues behind it.
    #[must_use]
    pub fn has_backlog(&self, workflow: &WorkflowId) -> bool {
        self.counts().backlog.has(workflow)
    }

    /// Whether any work is known to wait.
    #[must_use]
    pub fn has_any_backlog(&self) -> bool {
        !self.counts().backlog.is_empty()
    }

    /// How often work was marked; for [`Slots::clear_backlog`].
    #[must_use]
    pub fn backlog_marks(&self) -> u64 {
        self.counts().backlog.marks()
    }

    /// Keeps only these workflows marked, unless a mark came in since.
    pub fn clear_backlog(&self, marks: u64, still: &[WorkflowId]) {
        self.counts().backlog.clear(marks, still);
    }

    /// An execution that was refused after all needs no turn.
    pub fn forget_turn(&self, execution: ExecutionId) {
        self.counts().forget_turn(execution);
    }

    pub(super) fn take_host(&self, call: &HostCall<'_>, now: Timestamp) -> Result<(), Blocked> {
        self.counts().take_host(&self.limits, call, now)
    }

    pub(super) fn return_start(&self, workflow: &WorkflowId, start: &Start) {
        self.counts().return_start(workflow, start);
    }

    pub(super) fn enter(&self, held: &Held<'_>) {
        self.counts().enter(held);
    }

    pub(super) fn leave(&self, held: &Held<'_>) {
        let waiting = self.counts().leave(held);
        if waiting {
            self.freed.notify_one();
        }
    }

    /// Waits until a permit came free or work was marked.
    pub async fn changed(&self) {
        self.freed.notified().await;
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many executions of a workflow may be in flight, if it says so.
#[must_use]
pub fn bounds(workflow: &Workflow) -> Option<Bounds> {
    let bounds = Bounds {
        max: workflow.concurrency.max,
        max_per_key: workflow.concurrency.max_per_key,
    };
    (bounds != Bounds::default()).then_some(bounds)
}

/// The hosts a workflow calls, if all of them are known.
fn static_hosts(workflow: &Workflow) -> Option<HashSet<&str>> {
    let hosts = workflow
        .steps
        .iter()
        .map(|step| step::of(&step.kind).host());
    hosts.collect()
}
