//! What is in flight, by everything that has a limit. Plain counting; the lock and the bell are
//! next door in `slots`.

use std::collections::HashMap;

use refire_core::definition::{Workflow, WorkflowId};
use refire_core::execution::state::Origin;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;

use super::bounds::Limits;
use super::gate::Gates;
use super::permit::{Start, Terms};
use super::rate::Rates;
use super::slots::{Ask, Blocked};

/// Attempts in flight of what the server runs for itself. Nobody else uses these slots, and it uses no others.
pub(super) const OWN_SLOTS: u32 = 8;

#[derive(Default)]
pub(super) struct Counts {
    pub(super) attempts: u32,
    /// Attempts of what the server runs for itself, which has slots of its own.
    pub(super) own_attempts: u32,
    /// Executions in flight, by workflow, with their number of attempts.
    pub(super) executions: HashMap<WorkflowId, HashMap<ExecutionId, u32>>,
    /// Executions in flight by workflow and key.
    pub(super) keys: HashMap<(WorkflowId, String), HashMap<ExecutionId, u32>>,
    pub(super) retries: HashMap<WorkflowId, u32>,
    pub(super) hosts: HashMap<String, HostCount>,
    pub(super) gates: Gates,
    workflow_rates: Rates<(WorkflowId, String), ExecutionId>,
    host_rates: Rates<String, (ExecutionId, String)>,
}

#[derive(Default)]
pub(super) struct HostCount {
    pub(super) attempts: u32,
    pub(super) retries: u32,
}

impl Counts {
    /// Whether every count has room for one more; takes nothing.
    pub(super) fn check(
        &self,
        limits: &Limits,
        ask: &Ask<'_>,
        key: Option<&str>,
    ) -> Result<(), Blocked> {
        if ask.workflow.id.is_system() {
            // No other limit is for it: it must get through when nothing else does.
            return match self.own_attempts < OWN_SLOTS {
                true => Ok(()),
                false => Err(Blocked::Node),
            };
        }
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
        let retries = self.retries.get(&ask.workflow.id).copied().unwrap_or(0);
        if ask.is_retry && retries >= limits.retries_per_workflow {
            return Err(Blocked::Workflow);
        }
        Ok(())
    }

    /// Takes a start of the workflow's rate, once per execution.
    pub(super) fn take_workflow_rate(
        &mut self,
        ask: &Ask<'_>,
        now: Timestamp,
    ) -> Result<Option<Start>, Blocked> {
        let Some(limit) = ask.workflow.rate_limit.as_ref().filter(|_| ask.is_first) else {
            return Ok(None);
        };
        let running = self.executions.get(&ask.workflow.id);
        if running.is_some_and(|running| running.contains_key(&ask.execution)) {
            // Its other first step has taken it.
            return Ok(None);
        }
        let start = Start {
            key: ask.origin.rate_key.clone().unwrap_or_default(),
            limit: (limit.max, limit.per),
        };
        let key = (ask.workflow.id.clone(), start.key.clone());
        self.workflow_rates
            .take(key, ask.execution, start.limit, now)
            .map_err(Blocked::Rate)?;
        Ok(Some(start))
    }

    /// When an execution may begin by the workflow's rate, where workers outside do what it begins with.
    pub(super) fn workflow_turn(
        &mut self,
        workflow: &Workflow,
        origin: &Origin,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let limit = workflow.rate_limit.as_ref()?;
        let running = self.executions.get(&workflow.id);
        if running.is_some_and(|running| running.contains_key(&origin.id)) {
            // Another first step has taken it.
            return None;
        }
        let key = (
            workflow.id.clone(),
            origin.rate_key.clone().unwrap_or_default(),
        );
        let rates = &mut self.workflow_rates;
        Some(rates.turn(key, origin.id, (limit.max, limit.per), now))
    }

    /// Releases a start of the workflow's rate that was not used.
    pub(super) fn release_start(&mut self, workflow: &WorkflowId, start: &Start) {
        let key = (workflow.clone(), start.key.clone());
        self.workflow_rates.release(&key, start.limit);
    }

    pub(super) fn forget_turn(&mut self, execution: ExecutionId) {
        self.workflow_rates.forget(&execution);
    }

    /// Takes a start of the host's rate, if it has a place; that is counted with the permit. True if the call
    /// is the one that tries the host.
    pub(super) fn take_host_rate(
        &mut self,
        limits: &Limits,
        terms: &Terms,
        host: &str,
        now: Timestamp,
    ) -> Result<bool, Blocked> {
        let (attempts, retries) = limits.of_host(host);
        let count = self.hosts.get(host);
        let used = count.map_or(0, |count| count.attempts);
        // What the server sends for itself is held back by nobody's trouble.
        let is_own = terms.workflow.is_system();
        if !is_own {
            self.gates.check(limits, (host, used), now)?;
        }
        if let Some(count) = count
            && (count.attempts >= attempts || (terms.is_retry && count.retries >= retries))
        {
            return Err(Blocked::Host);
        }
        if let Some(rate) = limits.rate_of_host(host) {
            let who = (terms.execution, terms.step.clone());
            let taken = self.host_rates.take(host.to_owned(), who, rate, now);
            taken.map_err(Blocked::Rate)?;
        }
        Ok(!is_own && self.gates.pass(host))
    }

    /// Counts an attempt.
    pub(super) fn enter(&mut self, terms: &Terms) {
        if terms.workflow.is_system() {
            self.own_attempts += 1;
            return;
        }
        self.attempts += 1;
        let running = self.executions.entry(terms.workflow.clone()).or_default();
        *running.entry(terms.execution).or_default() += 1;
        if let Some(key) = &terms.key {
            let group = self.keys.entry((terms.workflow.clone(), key.clone()));
            *group.or_default().entry(terms.execution).or_default() += 1;
        }
        if terms.is_retry {
            *self.retries.entry(terms.workflow.clone()).or_default() += 1;
        }
        if let Some(host) = &terms.host {
            self.enter_host(host, terms.is_retry);
        }
    }

    /// Counts the host of an attempt that is counted.
    pub(super) fn enter_host(&mut self, host: &str, is_retry: bool) {
        let count = self.hosts.entry(host.to_owned()).or_default();
        count.attempts += 1;
        count.retries += u32::from(is_retry);
    }

    /// Uncounts an attempt.
    pub(super) fn leave(&mut self, terms: &Terms) {
        if terms.workflow.is_system() {
            self.own_attempts = self.own_attempts.saturating_sub(1);
            return;
        }
        self.attempts = self.attempts.saturating_sub(1);
        uncount(&mut self.executions, &terms.workflow, terms.execution);
        if let Some(key) = &terms.key {
            let key = (terms.workflow.clone(), key.clone());
            uncount(&mut self.keys, &key, terms.execution);
        }
        if terms.is_retry
            && let Some(retries) = self.retries.get_mut(&terms.workflow)
        {
            *retries = retries.saturating_sub(1);
            if *retries == 0 {
                self.retries.remove(&terms.workflow);
            }
        }
        if let Some(host) = &terms.host
            && let Some(count) = self.hosts.get_mut(host)
        {
            count.attempts = count.attempts.saturating_sub(1);
            count.retries = count.retries.saturating_sub(u32::from(terms.is_retry));
            if count.attempts == 0 {
                self.hosts.remove(host);
            }
        }
    }
}

fn uncount<K: std::hash::Hash + Eq>(
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
