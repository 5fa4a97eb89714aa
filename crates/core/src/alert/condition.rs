//! For whom a rule holds now: from facts that others have read to subjects with their values.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use super::SUBJECTS_MAX;
use super::rule::{Condition, Rule, thousandths};
use crate::definition::WorkflowId;
use crate::id::ScheduledTaskId;
use crate::minute::{MINUTE, Minute, OfWorkflow, floor};
use crate::time::Timestamp;
use crate::trouble::{Overdue, Silent};

/// A worker that was last heard of longer ago was taken away, and nobody waits for it.
const WORKER_FORGOTTEN: Duration = Duration::from_secs(24 * 60 * 60);

/// Tasks that workers have, and callbacks that are waited for, of a workflow, for longer than a rule allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongHeld {
    /// The workflow.
    pub workflow: WorkflowId,
    /// Since when the oldest of them is under way.
    pub since: Timestamp,
}

/// A host to which calls are held back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenBreaker {
    /// The host, with its port.
    pub host: String,
    /// Since when.
    pub since: Timestamp,
}

/// What is known. What no rule asks for may be left out.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// For each window that a rule has, the numbers of every workflow of which there are some.
    pub windows: BTreeMap<Duration, Vec<WindowSum>>,
    /// Workers that are dead.
    pub workers: Vec<Silent>,
    /// Triggers that are overdue.
    pub overdue: Vec<Overdue>,
    /// What takes longest, by workflow.
    pub held: Vec<LongHeld>,
    /// Hosts to which calls are held back.
    pub breakers: Vec<OpenBreaker>,
}

/// The numbers of a workflow within a window that ends now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowSum {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The numbers.
    pub sum: Minute,
    /// The last minute in which one failed.
    pub failed_at: Option<Timestamp>,
    /// The last minute in which one completed.
    pub completed_at: Option<Timestamp>,
}

/// Something that a rule holds for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is about: a workflow, a trigger, a worker, a host.
    pub subject: String,
    /// The workflow that it concerns.
    pub workflow: Option<WorkflowId>,
    /// How bad it is, in thousandths of what the rule counts: percent, executions, seconds.
    pub value: i64,
}

/// What a rule finds now, the worst first, at most [`SUBJECTS_MAX`].
#[must_use]
pub fn findings(rule: &Rule, facts: &Facts, now: Timestamp) -> Vec<Finding> {
    let concerns = |workflow: &WorkflowId| {
        let mut asked = rule.workflow.iter();
        asked.all(|asked| asked == workflow)
    };
    let of = |workflow: &WorkflowId, value: i64| Finding {
        subject: workflow.to_string(),
        workflow: Some(workflow.clone()),
        value,
    };
    let mut found: Vec<Finding> = match &rule.condition {
        Condition::DeadWorkers => dead_workers(&facts.workers, now),
        Condition::DeadMan => {
            let overdue = facts.overdue.iter().filter(|it| concerns(&it.workflow));
            let finding = |it: &Overdue| Finding {
                subject: it.trigger.to_string(),
                workflow: Some(it.workflow.clone()),
                value: seconds_since(it.since, now),
            };
            overdue.map(finding).collect()
        }
        Condition::LongProcessing { after } => {
            let held = facts.held.iter().filter(|it| concerns(&it.workflow));
            let held = held.filter(|it| now.since(it.since) > *after);
            held.map(|it| of(&it.workflow, seconds_since(it.since, now)))
                .collect()
        }
        Condition::BreakerOpen => {
            let finding = |it: &OpenBreaker| Finding {
                subject: it.host.clone(),
                workflow: None,
                value: seconds_since(it.since, now),
            };
            facts.breakers.iter().map(finding).collect()
        }
        Condition::FailureRate { window, .. }
        | Condition::DlqGrowth { window, .. }
        | Condition::MissedSlots { window, .. }
        | Condition::ScheduledTaskFailed { window } => {
            let windows = facts.windows.get(window).into_iter().flatten();
            let found = windows.filter(|it| concerns(&it.workflow));
            let found = found.filter_map(|it| {
                let window = Window {
                    sum: it.sum,
                    failed_at: it.failed_at,
                    completed_at: it.completed_at,
                };
                let value = window.value(&it.workflow, &rule.condition)?;
                Some(of(&it.workflow, value))
            });
            found.collect()
        }
    };
    found.sort_by(|a, b| (Reverse(a.value), &a.subject).cmp(&(Reverse(b.value), &b.subject)));
    found.truncate(SUBJECTS_MAX);
    found
}

fn dead_workers(workers: &[Silent], now: Timestamp) -> Vec<Finding> {
    let missed = |it: &&Silent| !it.is_replaced && now.since(it.seen_at) <= WORKER_FORGOTTEN;
    let finding = |it: &Silent| Finding {
        subject: it.worker.clone(),
        workflow: None,
        value: seconds_since(it.seen_at, now),
    };
    workers.iter().filter(missed).map(finding).collect()
}

fn seconds_since(since: Timestamp, now: Timestamp) -> i64 {
    thousandths(now.since(since).as_secs())
}

/// The first minute of a window that ends now: the one that it begins in.
#[must_use]
pub fn window_start(window: Duration, now: Timestamp) -> Timestamp {
    floor(now.minus(window), MINUTE)
}

/// Whether a minute reaches into a window that ends now.
pub(super) fn is_within(minute: Timestamp, window: Duration, now: Timestamp) -> bool {
    minute <= now && minute >= window_start(window, now)
}

/// The numbers of a workflow within a window.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Window {
    pub(super) sum: Minute,
    /// The last minute in which one failed, and in which one completed.
    pub(super) failed_at: Option<Timestamp>,
    pub(super) completed_at: Option<Timestamp>,
}

impl Window {
    pub(super) fn add(&mut self, one: &OfWorkflow) {
        self.sum.add(&one.minute);
        if one.minute.failed > 0 {
            self.failed_at = self.failed_at.max(Some(one.at));
        }
        if one.minute.completed > 0 {
            self.completed_at = self.completed_at.max(Some(one.at));
        }
    }

    /// A minute is not within it any more. What failed or completed last is known still, and counts only while
    /// something within it failed.
    pub(super) fn leave(&mut self, one: &OfWorkflow) {
        self.sum.take_out(&one.minute);
    }

    /// How bad it is, if it is bad.
    pub(super) fn value(&self, workflow: &WorkflowId, condition: &Condition) -> Option<i64> {
        let sum = &self.sum;
        match *condition {
            Condition::FailureRate {
                above, min_count, ..
            } => {
                let share = sum.failed as f64 * 100.0 / sum.ended().max(1) as f64;
                let is_bad = sum.ended() >= min_count && share > above;
                is_bad.then_some((share * 1_000.0).round() as i64)
            }
            Condition::DlqGrowth { above, .. } => {
                (sum.dead_lettered > above).then(|| thousandths(sum.dead_lettered))
            }
            Condition::MissedSlots { above, .. } => {
                (sum.missed > above).then(|| thousandths(sum.missed))
            }
            Condition::ScheduledTaskFailed { .. } => {
                let is_scheduled = workflow.as_str().parse::<ScheduledTaskId>().is_ok();
                // Within one minute nobody knows which came last.
                let is_mended = self.completed_at > self.failed_at;
                (is_scheduled && sum.failed > 0 && !is_mended).then(|| thousandths(sum.failed))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
