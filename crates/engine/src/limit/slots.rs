//! The permits: counters behind one lock, and a bell that rings when one comes free.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use refire_core::definition::{Step, StepKind, Workflow, WorkflowId};
use refire_core::execution::state::Origin;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use tokio::sync::Notify;

use super::rate::Rate;

/// Rate states kept; idle ones are forgotten beyond this.
const RATES_MAX: usize = 100_000;
/// Turns kept; those that are over are forgotten beyond this.
const TURNS_MAX: usize = 100_000;

/// The bounds that hold for every workflow.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Attempts in flight on this node.
    pub attempts: u32,
    /// Attempts in flight per target host.
    pub attempts_per_host: u32,
    /// Retries in flight per workflow: a storm of them must not crowd out first attempts.
    pub retries_per_workflow: u32,
    /// Retries in flight per target host.
    pub retries_per_host: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            attempts: 256,
            attempts_per_host: 128,
            retries_per_workflow: 50,
            retries_per_host: 20,
        }
    }
}

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
    /// Executions per key, and how many of each are in flight.
    pub keys: Option<(u32, HashMap<String, u32>)>,
}

/// The counters.
pub struct Slots {
    limits: Limits,
    counts: Mutex<Counts>,
    freed: Notify,
}

#[derive(Default)]
struct Counts {
    attempts: u32,
    /// Executions in flight, by workflow, with their number of attempts.
    executions: HashMap<WorkflowId, HashMap<ExecutionId, u32>>,
    /// Executions in flight by workflow and key.
    keys: HashMap<(WorkflowId, String), HashMap<ExecutionId, u32>>,
    retries: HashMap<WorkflowId, u32>,
    hosts: HashMap<String, HostCount>,
    rates: HashMap<(WorkflowId, String), Rate>,
    /// Starts that were put off by a rate limit, and the turn each of them has.
    turns: HashMap<ExecutionId, Timestamp>,
    /// Workflows that may have unowned due work in the store.
    backlog: HashSet<WorkflowId>,
    /// When work that was put off comes due.
    look_again: Option<Timestamp>,
    /// Grows with every mark, so that clearing never loses one.
    backlog_marks: u64,
}

#[derive(Default)]
struct HostCount {
    attempts: u32,
    retries: u32,
}

/// The right to run one attempt; given back when dropped.
pub struct Permit {
    slots: Arc<Slots>,
    workflow: WorkflowId,
    execution: ExecutionId,
    key: Option<String>,
    host: Option<String>,
    is_retry: bool,
}

impl std::fmt::Debug for Permit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Permit({} {})", self.workflow, self.execution)
    }
}

impl Slots {
    /// Counters with these bounds.
    #[must_use]
    pub fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            counts: Mutex::default(),
            freed: Notify::new(),
        })
    }

    /// A permit, if every limit allows one.
    pub fn reserve(self: &Arc<Self>, ask: &Ask<'_>, now: Timestamp) -> Result<Permit, Blocked> {
        let host = static_host(&ask.workflow.steps[ask.step]).map(str::to_owned);
        let key = ask.origin.limit_key.clone();
        let mut counts = self.counts();
        counts.check(&self.limits, ask, host.as_deref(), key.as_deref())?;
        counts.take_rate(ask, now)?;
        counts.add(ask, host.as_deref(), key.as_deref());
        drop(counts);
        Ok(Permit {
            slots: Arc::clone(self),
            workflow: ask.workflow.id.clone(),
            execution: ask.execution,
            key,
            host,
            is_retry: ask.is_retry,
        })
    }

    /// Free slots of the node.
    #[must_use]
    pub fn free(&self) -> u32 {
        self.limits.attempts.saturating_sub(self.counts().attempts)
    }

    /// What a workflow's waiting work could get a permit for now.
    #[must_use]
    pub fn room(&self, workflow: &Workflow) -> Room {
        let counts = self.counts();
        let mut attempts = self.limits.attempts.saturating_sub(counts.attempts);
        if let Some(max) = workflow.concurrency.max {
            let running = counts.executions.get(&workflow.id).map_or(0, HashMap::len);
            attempts = attempts.min(max.saturating_sub(u32::try_from(running).unwrap_or(u32::MAX)));
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
                free += self.limits.attempts_per_host.saturating_sub(used);
                free_for_retries += self.limits.retries_per_host.saturating_sub(retrying);
            }
            attempts = attempts.min(free);
            retries = retries.min(free_for_retries);
        }
        let keys = workflow.concurrency.max_per_key.map(|max| {
            let in_flight = counts
                .keys
                .iter()
                .filter(|((of, _), _)| *of == workflow.id)
                .map(|((_, key), running)| {
                    (
                        key.clone(),
                        u32::try_from(running.len()).unwrap_or(u32::MAX),
                    )
                })
                .collect();
            (max, in_flight)
        });
        Room {
            attempts,
            retries,
            keys,
        }
    }

    /// Notes that unowned due work of this workflow is in the store.
    pub fn mark_backlog(&self, workflow: &WorkflowId) {
        let mut counts = self.counts();
        counts.backlog.insert(workflow.clone());
        counts.backlog_marks += 1;
        drop(counts);
        self.freed.notify_one();
    }

    /// Notes that unowned work in the store comes due then.
    pub fn look_again_at(&self, at: Timestamp) {
        let mut counts = self.counts();
        counts.look_again = Some(counts.look_again.map_or(at, |earlier| earlier.min(at)));
        drop(counts);
        self.freed.notify_one();
    }

    /// When to look at the latest, if anything was noted; that note is taken once it is due.
    pub fn next_look(&self, now: Timestamp) -> Option<Timestamp> {
        let mut counts = self.counts();
        match counts.look_again {
            Some(at) if at <= now => counts.look_again.take(),
            later => later,
        }
    }

    /// Whether older work of this workflow waits in the store: then new work queues behind it.
    #[must_use]
    pub fn has_backlog(&self, workflow: &WorkflowId) -> bool {
        self.counts().backlog.contains(workflow)
    }

    /// The mark to pass to [`Slots::clear_backlog`]; absent when nothing is marked.
    #[must_use]
    pub fn backlog(&self) -> Option<u64> {
        let counts = self.counts();
        (!counts.backlog.is_empty()).then_some(counts.backlog_marks)
    }

    /// Keeps only these workflows marked, unless a mark came in since.
    pub fn clear_backlog(&self, mark: u64, still: &[WorkflowId]) {
        let mut counts = self.counts();
        if counts.backlog_marks == mark {
            counts.backlog = still.iter().cloned().collect();
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

impl Permit {
    /// Adds the host of a call whose address came from a template.
    pub fn add_host(&mut self, host: &str) -> Result<(), Blocked> {
        if self.host.is_some() {
            return Ok(());
        }
        let mut counts = self.slots.counts();
        counts.check_host(&self.slots.limits, host, self.is_retry)?;
        counts.add_host(host, self.is_retry);
        drop(counts);
        self.host = Some(host.to_owned());
        Ok(())
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut counts = self.slots.counts();
        counts.attempts = counts.attempts.saturating_sub(1);
        leave(&mut counts.executions, &self.workflow, self.execution);
        if let Some(key) = &self.key {
            leave(
                &mut counts.keys,
                &(self.workflow.clone(), key.clone()),
                self.execution,
            );
        }
        if self.is_retry
            && let Some(retries) = counts.retries.get_mut(&self.workflow)
        {
            *retries = retries.saturating_sub(1);
        }
        if let Some(host) = &self.host
            && let Some(count) = counts.hosts.get_mut(host)
        {
            count.attempts = count.attempts.saturating_sub(1);
            count.retries = count.retries.saturating_sub(u32::from(self.is_retry));
            if count.attempts == 0 {
                counts.hosts.remove(host);
            }
        }
        let waiting = !counts.backlog.is_empty();
        drop(counts);
        if waiting {
            self.slots.freed.notify_one();
        }
    }
}

/// The hosts a workflow calls, if all of them are known.
fn static_hosts(workflow: &Workflow) -> Option<HashSet<&str>> {
    workflow.steps.iter().map(static_host).collect()
}

fn static_host(step: &Step) -> Option<&str> {
    match &step.kind {
        StepKind::Http(http) => http.static_host.as_deref(),
        StepKind::Local(_) => None,
    }
}

fn leave<K: std::hash::Hash + Eq>(
    all: &mut HashMap<K, HashMap<ExecutionId, u32>>,
    key: &K,
    execution: ExecutionId,
) {
    let Some(group) = all.get_mut(key) else {
        return;
    };
    if let Some(attempts) = group.get_mut(&execution) {
        *attempts -= 1;
        if *attempts == 0 {
            group.remove(&execution);
        }
    }
    if group.is_empty() {
        all.remove(key);
    }
}

impl Counts {
    fn check(
        &self,
        limits: &Limits,
        ask: &Ask<'_>,
        host: Option<&str>,
        key: Option<&str>,
    ) -> Result<(), Blocked> {
        if self.attempts >= limits.attempts {
            return Err(Blocked::Node);
        }
        // An execution that is in flight already may run its parallel steps too.
        let full = |group: Option<&HashMap<ExecutionId, u32>>, max: Option<u32>| {
            group.zip(max).is_some_and(|(group, max)| {
                group.len() >= max as usize && !group.contains_key(&ask.execution)
            })
        };
        let concurrency = &ask.workflow.concurrency;
        if full(self.executions.get(&ask.workflow.id), concurrency.max) {
            return Err(Blocked::Workflow);
        }
        if let Some(key) = key
            && full(
                self.keys.get(&(ask.workflow.id.clone(), key.to_owned())),
                concurrency.max_per_key,
            )
        {
            return Err(Blocked::Workflow);
        }
        if ask.is_retry
            && self.retries.get(&ask.workflow.id).copied().unwrap_or(0)
                >= limits.retries_per_workflow
        {
            return Err(Blocked::Workflow);
        }
        host.map_or(Ok(()), |host| self.check_host(limits, host, ask.is_retry))
    }

    fn check_host(&self, limits: &Limits, host: &str, is_retry: bool) -> Result<(), Blocked> {
        let Some(count) = self.hosts.get(host) else {
            return Ok(());
        };
        let full = count.attempts >= limits.attempts_per_host
            || (is_retry && count.retries >= limits.retries_per_host);
        if full { Err(Blocked::Host) } else { Ok(()) }
    }

    /// Takes a start of the rate, or gives out a turn: each that is put off has its own, so that
    /// they do not all come back at the same moment for the one that is free.
    fn take_rate(&mut self, ask: &Ask<'_>, now: Timestamp) -> Result<(), Blocked> {
        let Some(limit) = ask.workflow.rate_limit.as_ref().filter(|_| ask.is_first) else {
            return Ok(());
        };
        if let Some(turn) = self.turns.get(&ask.execution).copied() {
            if turn > now {
                return Err(Blocked::Rate(turn));
            }
            self.turns.remove(&ask.execution);
            return Ok(());
        }
        if self.rates.len() >= RATES_MAX {
            self.rates.retain(|_, rate| !rate.is_idle(now));
        }
        let key = (
            ask.workflow.id.clone(),
            ask.origin.rate_key.clone().unwrap_or_default(),
        );
        let turn = self
            .rates
            .entry(key)
            .or_default()
            .book(limit.max, limit.per, now);
        if turn <= now {
            return Ok(());
        }
        if self.turns.len() >= TURNS_MAX {
            // Those whose time is long over were started elsewhere or cancelled.
            self.turns.retain(|_, turn| *turn > now);
        }
        self.turns.insert(ask.execution, turn);
        Err(Blocked::Rate(turn))
    }

    fn add(&mut self, ask: &Ask<'_>, host: Option<&str>, key: Option<&str>) {
        self.attempts += 1;
        let workflow = &ask.workflow.id;
        *self
            .executions
            .entry(workflow.clone())
            .or_default()
            .entry(ask.execution)
            .or_default() += 1;
        if let Some(key) = key {
            let group = self
                .keys
                .entry((workflow.clone(), key.to_owned()))
                .or_default();
            *group.entry(ask.execution).or_default() += 1;
        }
        if ask.is_retry {
            *self.retries.entry(workflow.clone()).or_default() += 1;
        }
        if let Some(host) = host {
            self.add_host(host, ask.is_retry);
        }
    }

    fn add_host(&mut self, host: &str, is_retry: bool) {
        let count = self.hosts.entry(host.to_owned()).or_default();
        count.attempts += 1;
        count.retries += u32::from(is_retry);
    }
}
