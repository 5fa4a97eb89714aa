//! The permits: counters behind one lock, and a bell that rings when one comes free.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use refire_core::breaker::{Breaker, Figures, Verdict};
use refire_core::definition::{Workflow, WorkflowId};
use refire_core::execution::state::Origin;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use refire_store::Bounds;
use tokio::sync::Notify;

use super::backlog::Backlog;
use super::bounds::Limits;
use super::counts::{Counts, OWN_SLOTS};
use super::gate::{Gates, Told};
use super::permit::{Permit, Start, Terms};
use crate::lock::Mutex;
use crate::step;

/// What a permit is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Ask<'a> {
    /// The definition, for its limits.
    pub(crate) workflow: &'a Workflow,
    /// The step's index.
    pub(crate) step: usize,
    /// The execution.
    pub(crate) execution: ExecutionId,
    /// Its keys.
    pub(crate) origin: &'a Origin,
    /// Whether the execution has run anything yet; only the first start counts for the rate.
    pub(crate) is_first: bool,
    /// Whether the attempt is a retry.
    pub(crate) is_retry: bool,
}

/// What stood in the way of a permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blocked {
    /// Every slot of the node is taken.
    Node,
    /// A limit of the workflow or its key.
    Workflow,
    /// A limit of the target host.
    Host,
    /// The rate limit; one can be had from then.
    Rate(Timestamp),
    /// The target fails, and is left alone until then.
    Breaker(Timestamp),
    /// The target is back, and has as many calls as it may for now.
    Ramp,
    /// The target fails, and somebody may try whether it is back.
    Probe,
}

/// What waiting work of a workflow could get a permit for, as far as it is known without looking
/// at the work itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Room {
    /// Attempts.
    pub(crate) attempts: u32,
    /// Retries among them.
    pub(crate) retries: u32,
}

/// The counters.
pub(crate) struct Slots {
    limits: Limits,
    /// Whether other nodes run the same workflows.
    is_shared: bool,
    counts: Mutex<Counts>,
    /// What is known of work that waits in the store.
    pub(crate) backlog: Mutex<Backlog>,
    freed: Notify,
    /// Whether any target is not simply to be called.
    has_standing: AtomicBool,
    /// Rings when something is to be written about a target.
    told: Notify,
}

impl Slots {
    /// Counters with these bounds. For a node among others, bounds of workflows are judged by the store,
    /// which knows what all of them run.
    pub(crate) fn new(limits: Limits, is_shared: bool) -> Arc<Self> {
        Arc::new(Self {
            limits,
            is_shared,
            counts: Mutex::default(),
            backlog: Mutex::default(),
            freed: Notify::new(),
            has_standing: AtomicBool::new(false),
            told: Notify::new(),
        })
    }

    /// A permit, if every limit allows one.
    pub(crate) fn reserve(
        self: &Arc<Self>,
        ask: &Ask<'_>,
        now: Timestamp,
    ) -> Result<Permit, Blocked> {
        let step = &ask.workflow.steps[ask.step];
        let terms = Terms {
            workflow: ask.workflow.id.clone(),
            execution: ask.execution,
            step: step.id.as_str().to_owned(),
            key: ask.origin.limit_key.clone(),
            host: step::of(&step.kind)
                .and_then(|step| step.host())
                .map(str::to_owned),
            is_retry: ask.is_retry,
        };
        let mut counts = self.counts.lock();
        counts.check(&self.limits, ask, terms.key.as_deref())?;
        let start = counts.take_workflow_rate(ask, now)?;
        let mut tries = false;
        if let Some(host) = &terms.host {
            match counts.take_host_rate(&self.limits, &terms, host, now) {
                Ok(is_first) => tries = is_first,
                Err(blocked) => {
                    if let Some(start) = &start {
                        counts.release_start(&terms.workflow, start);
                    }
                    return Err(blocked);
                }
            }
        }
        counts.enter(&terms);
        drop(counts);
        Ok(Permit::new(Arc::clone(self), (terms, tries), start))
    }

    /// When an execution may begin whose first step workers outside do; absent = whenever they like.
    pub(crate) fn turn(
        &self,
        workflow: &Workflow,
        origin: &Origin,
        now: Timestamp,
    ) -> Option<Timestamp> {
        self.counts.lock().workflow_turn(workflow, origin, now)
    }

    /// The bounds that a workflow has over all nodes, if there are others. Work of it runs only
    /// when the store has given it out by these.
    pub(crate) fn everywhere(&self, workflow: &Workflow) -> Option<Bounds> {
        bounds(workflow).filter(|_| self.is_shared)
    }

    /// Free slots of the node.
    pub(crate) fn free(&self) -> u32 {
        self.limits
            .attempts
            .saturating_sub(self.counts.lock().attempts)
    }

    /// How many slots more than half of them are free.
    pub(crate) fn beyond_half(&self) -> u32 {
        self.free().saturating_sub(self.limits.attempts / 2)
    }

    /// Whether a quarter of the retries that a workflow may have in flight are: then those to come
    /// may be in each other's way.
    pub(crate) fn retries_are_scarce(&self, workflow: &Workflow, now: Timestamp) -> bool {
        let hosts = static_hosts(workflow).map_or(1, |hosts| hosts.len().max(1));
        let hosts = u32::try_from(hosts).unwrap_or(u32::MAX);
        let of_hosts = self.limits.retries_per_host.saturating_mul(hosts);
        let most = self.limits.retries_per_workflow.min(of_hosts);
        self.room(workflow, now).retries < most - most / 4
    }

    /// What a workflow's waiting work could get a permit for now. The workflow's own bounds count
    /// executions, and only the store knows whose the waiting work is: here they say no more than
    /// how many steps so many executions may have in flight.
    pub(crate) fn room(&self, workflow: &Workflow, now: Timestamp) -> Room {
        let mut counts = self.counts.lock();
        let counts = &mut *counts;
        if workflow.id.is_system() {
            let free = OWN_SLOTS.saturating_sub(counts.own_attempts);
            return Room {
                attempts: free,
                retries: free,
            };
        }
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
                let gates = &mut counts.gates;
                let (attempts, retries) = gates.room(&self.limits, (host, used, retrying), now);
                free = free.saturating_add(attempts);
                free_for_retries = free_for_retries.saturating_add(retries);
            }
            attempts = attempts.min(free);
            retries = retries.min(free_for_retries);
        }
        Room { attempts, retries }
    }

    /// Notes that unowned due work of this workflow is in the store.
    pub(crate) fn mark_backlog(&self, workflow: &WorkflowId) {
        self.backlog.lock().mark(workflow);
        self.freed.notify_one();
    }

    /// Notes that unowned work in the store comes due then.
    pub(crate) fn look_again_at(&self, at: Timestamp) {
        self.backlog.lock().look_at(at);
        self.freed.notify_one();
    }

    /// An execution that was refused after all needs no turn.
    pub(crate) fn forget_turn(&self, execution: ExecutionId) {
        self.counts.lock().forget_turn(execution);
    }

    pub(super) fn take_host(
        &self,
        terms: &Terms,
        host: &str,
        now: Timestamp,
    ) -> Result<bool, Blocked> {
        let mut counts = self.counts.lock();
        let tries = counts.take_host_rate(&self.limits, terms, host, now)?;
        counts.enter_host(host, terms.is_retry);
        Ok(tries)
    }

    pub(super) fn release_start(&self, workflow: &WorkflowId, start: &Start) {
        self.counts.lock().release_start(workflow, start);
    }

    pub(super) fn enter(&self, terms: &Terms) {
        self.counts.lock().enter(terms);
    }

    pub(super) fn leave(&self, terms: &Terms) {
        self.counts.lock().leave(terms);
        // Whoever waits for the room that it leaves.
        if !self.backlog.lock().is_empty() {
            self.freed.notify_one();
        }
    }

    /// Whether a call that has its permit may still be made.
    pub(super) fn may_still(&self, host: &str, tries: bool, now: Timestamp) -> Result<(), Blocked> {
        if !self.limits.breakers || !self.has_standing.load(Ordering::Acquire) {
            return Ok(());
        }
        self.counts.lock().gates.still((host, tries), now)
    }

    /// A call has ended; how long its target is to be left alone at least, if most of them fail.
    pub(super) fn note(
        &self,
        host: (&str, bool),
        said: (Verdict, &str),
        now: Timestamp,
    ) -> Option<Duration> {
        let mut counts = self.counts.lock();
        let backoff = counts.gates.note(&self.limits, host, said, now);
        let (has_told, has_standing) = (counts.gates.has_told(), counts.gates.any_standing());
        drop(counts);
        if has_told {
            self.has_standing.store(has_standing, Ordering::Release);
            self.told.notify_one();
        }
        backoff
    }

    /// Nobody tries a target after all.
    pub(super) fn give_back(&self, host: &str) {
        self.counts.lock().gates.give_back(host);
        self.told.notify_one();
    }

    /// Waits until something is to be written about a target, or to be looked at.
    pub(crate) async fn told(&self) {
        self.told.notified().await;
    }

    /// Has targets looked at.
    pub(crate) fn ring_told(&self) {
        self.told.notify_one();
    }

    pub(crate) fn take_told(&self) -> Vec<(String, Told)> {
        self.counts.lock().gates.take_told()
    }

    pub(crate) fn tell_again(&self, host: String, told: Told) {
        self.counts.lock().gates.tell_again(host, told);
    }

    /// Whether breakers are used at all.
    pub(crate) fn has_breakers(&self) -> bool {
        self.limits.breakers
    }

    /// The breaker of a target, if it is not simply closed.
    pub(crate) fn breaker(&self, host: &str) -> Option<Breaker> {
        if !self.has_standing.load(Ordering::Acquire) {
            return None;
        }
        self.counts.lock().gates.breaker(host)
    }

    /// Targets that are not simply to be called.
    pub(crate) fn standing(&self) -> Vec<String> {
        if !self.has_standing.load(Ordering::Acquire) {
            return Vec::new();
        }
        self.counts.lock().gates.all_standing()
    }

    /// A breaker stands so; whoever waits for it looks again.
    pub(crate) fn apply(&self, breaker: &Breaker) {
        self.change_gates(|gates| gates.apply(breaker));
        self.freed.notify_one();
    }

    /// A breaker did not open after all.
    pub(crate) fn untrip(&self, host: &str) {
        self.change_gates(|gates| gates.untrip(host));
        self.freed.notify_one();
    }

    /// So many nodes share the targets.
    pub(crate) fn share_targets(&self, nodes: usize) {
        let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        self.change_gates(|gates| gates.nodes = nodes);
    }

    /// This node asks whether it may try a target; false if it does so already.
    pub(crate) fn ask_probe(&self, host: &str) -> bool {
        self.change_gates(|gates| gates.ask(host))
    }

    /// It may, with a call that takes so long at most; or it may not.
    pub(crate) fn probe_asked(&self, host: &str, may: Option<Duration>, now: Timestamp) {
        self.change_gates(|gates| gates.asked(host, may, now));
    }

    /// What this node may try is given back unless an attempt has taken it.
    pub(crate) fn give_back_untaken(&self, host: &str) {
        if self.change_gates(|gates| gates.untaken(host)) {
            self.give_back(host);
        }
    }

    /// What came of trying a target is known.
    pub(crate) fn probe_over(&self, host: &str) {
        self.change_gates(|gates| gates.over(host));
        self.freed.notify_one();
    }

    /// Whether this node tries a target.
    pub(crate) fn tries(&self, host: &str) -> bool {
        self.counts.lock().gates.tries(host)
    }

    /// Lets more calls through where they come back; the targets that have all of them again.
    pub(crate) fn rise(&self, now: Timestamp) -> Vec<String> {
        let (done, has_risen) = self.counts.lock().gates.rise(&self.limits, now);
        if has_risen {
            self.freed.notify_one();
        }
        done
    }

    /// Calls of the last half minute by target.
    pub(crate) fn figures(&self, now: Timestamp) -> HashMap<String, Figures> {
        self.counts.lock().gates.figures(now)
    }

    /// Calls that a target has in flight on this node, and how many it may have while they come back.
    pub(crate) fn calls_of(&self, host: &str) -> (u32, Option<u32>) {
        let mut counts = self.counts.lock();
        let used = counts.hosts.get(host).map_or(0, |count| count.attempts);
        (used, counts.gates.ramp_limit(host))
    }

    fn change_gates<T>(&self, change: impl FnOnce(&mut Gates) -> T) -> T {
        let mut counts = self.counts.lock();
        let changed = change(&mut counts.gates);
        let has_standing = counts.gates.any_standing();
        self.has_standing.store(has_standing, Ordering::Release);
        changed
    }

    /// Waits until a permit came free or work was marked.
    pub(crate) async fn changed(&self) {
        self.freed.notified().await;
    }
}

/// How many executions of a workflow may be in flight, if it says so.
pub(crate) fn bounds(workflow: &Workflow) -> Option<Bounds> {
    let bounds = Bounds {
        max: workflow.concurrency.max,
        max_per_key: workflow.concurrency.max_per_key,
    };
    (bounds != Bounds::default()).then_some(bounds)
}

/// The hosts a workflow calls, if all of them are known. What workers outside fetch is called by nobody.
fn static_hosts(workflow: &Workflow) -> Option<HashSet<&str>> {
    let called = workflow
        .steps
        .iter()
        .filter_map(|step| step::of(&step.kind));
    called.map(|step| step.host()).collect()
}

/// Whether a workflow calls this host and no other: then what waits for it is not even claimed.
pub(crate) fn is_alone(workflow: &Workflow, host: &str) -> bool {
    static_hosts(workflow).is_some_and(|hosts| hosts.iter().all(|known| *known == host))
}
