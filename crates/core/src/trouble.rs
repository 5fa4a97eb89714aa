//! What is wrong at present: judged from facts that others have read, the worst first, in words for people.
//!
//! Nothing here reads a store or a clock. What is worth a word, how bad it is and in which order it stands is
//! decided here and nowhere else.

mod words;

use std::cmp::Reverse;
use std::time::Duration;

use crate::alert::RuleKind;
use crate::definition::WorkflowId;
use crate::id::{AlertId, ChannelId, NodeId, TriggerId};
use crate::time::Timestamp;

pub use words::Words;

/// Troubles that are told; who has more has no use for a longer list.
pub const TROUBLES_MAX: usize = 50;
/// Letters that came within this time: it goes on.
const LETTERS_FRESH: Duration = Duration::from_secs(60 * 60);
/// Letters of which none came for this long are no news.
const LETTERS_OLD: Duration = Duration::from_secs(24 * 60 * 60);
/// A worker that was last heard of longer ago was taken away, and nobody waits for it.
const WORKER_FORGOTTEN: Duration = Duration::from_secs(24 * 60 * 60);
/// So long a task may wait for a worker that nobody has seen: it may be starting.
const TASK_PATIENCE: Duration = Duration::from_secs(60);
/// From then on it is bad.
const TASK_LATE: Duration = Duration::from_secs(15 * 60);
/// How far back refused requests are looked for.
pub const QUARANTINE_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Something fails or stands still now.
    Critical,
    /// Something waits for a person.
    Warning,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Dead letters of a workflow wait.
    DeadLetters,
    /// An expected success is missing.
    TriggerOverdue(TriggerId),
    /// A trigger cannot be read, with what is wrong with it.
    TriggerUnreadable(TriggerId, String),
    /// A worker was not heard of; whether another does its tasks.
    WorkerDead {
        /// Its name.
        worker: String,
        /// Whether another one does its tasks.
        is_replaced: bool,
    },
    /// A node was not heard of.
    NodeLost {
        /// The node.
        node: NodeId,
        /// Its name for people.
        name: String,
        /// Whether its lease is over, so that others take its work.
        is_over: bool,
    },
    /// Requests to a webhook were refused, and are kept.
    Quarantine(TriggerId),
    /// Tasks of a type wait, and no worker asks for them.
    TaskWaitingWithoutWorker(String),
    /// Nothing gets through a channel.
    ChannelBroken {
        /// The channel.
        channel: ChannelId,
        /// Its name.
        name: String,
        /// What went wrong.
        because: String,
    },
    /// An alert fires.
    AlertFiring {
        /// Which.
        alert: AlertId,
        /// What its rule is called.
        rule: String,
        /// What it is about.
        about: String,
    },
}

impl Kind {
    /// The word for it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::DeadLetters => "dead_letters",
            Self::TriggerOverdue(_) => "trigger_overdue",
            Self::TriggerUnreadable(..) => "trigger_unreadable",
            Self::WorkerDead { .. } => "worker_dead",
            Self::NodeLost { .. } => "node_lost",
            Self::Quarantine(_) => "quarantine",
            Self::TaskWaitingWithoutWorker(_) => "task_waiting_without_worker",
            Self::ChannelBroken { .. } => "channel_broken",
            Self::AlertFiring { .. } => "alert_firing",
        }
    }

    /// Of what is equally bad, what comes first: what stops the most.
    const fn rank(&self) -> u8 {
        match self {
            Self::NodeLost { .. } => 0,
            // Nobody hears of all the rest.
            Self::ChannelBroken { .. } => 0,
            Self::TriggerUnreadable(..) => 1,
            Self::TriggerOverdue(_) => 2,
            Self::TaskWaitingWithoutWorker(_) => 3,
            Self::AlertFiring { .. } => 4,
            Self::DeadLetters => 5,
            Self::Quarantine(_) => 6,
            Self::WorkerDead { .. } => 7,
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What.
    pub kind: Kind,
    /// How bad it is.
    pub severity: Severity,
    /// The workflow that it concerns, if it is one.
    pub workflow: Option<WorkflowId>,
    /// How many, if there may be several.
    pub count: Option<u64>,
    /// Since when.
    pub since: Timestamp,
}

impl Trouble {
    /// What it is about, by its id or name.
    #[must_use]
    pub fn subject(&self) -> String {
        match &self.kind {
            Kind::DeadLetters => self.workflow.as_ref().map(ToString::to_string),
            Kind::TriggerOverdue(id) | Kind::TriggerUnreadable(id, _) | Kind::Quarantine(id) => {
                Some(id.to_string())
            }
            Kind::WorkerDead { worker, .. } => Some(worker.clone()),
            Kind::NodeLost { node, .. } => Some(node.to_string()),
            Kind::TaskWaitingWithoutWorker(task_type) => Some(task_type.clone()),
            Kind::ChannelBroken { channel, .. } => Some(channel.to_string()),
            Kind::AlertFiring { alert, .. } => Some(alert.to_string()),
        }
        .unwrap_or_default()
    }
}

/// Pending dead letters of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letters {
    /// The workflow.
    pub workflow: WorkflowId,
    /// How many.
    pub count: u64,
    /// When the first of them failed.
    pub oldest: Timestamp,
    /// When the last of them failed.
    pub newest: Timestamp,
}

/// A trigger of which an expected success is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overdue {
    /// The trigger.
    pub trigger: TriggerId,
    /// Its workflow.
    pub workflow: WorkflowId,
    /// Since when.
    pub since: Timestamp,
}

/// A trigger that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The trigger.
    pub trigger: TriggerId,
    /// Its workflow.
    pub workflow: WorkflowId,
    /// When it was changed last.
    pub since: Timestamp,
    /// What is wrong with it.
    pub problem: String,
}

/// A worker that was not heard of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Silent {
    /// Its name.
    pub worker: String,
    /// When it was last heard of.
    pub seen_at: Timestamp,
    /// Whether another one does its tasks.
    pub is_replaced: bool,
}

/// A node by its lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The node.
    pub node: NodeId,
    /// Its name for people.
    pub name: String,
    /// When it was last heard of.
    pub renewed_at: Timestamp,
    /// From when on others take its work.
    pub expires_at: Timestamp,
}

/// A webhook with requests that were refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The webhook.
    pub trigger: TriggerId,
    /// Its workflow.
    pub workflow: WorkflowId,
    /// How many.
    pub count: u64,
    /// When the first of them came.
    pub since: Timestamp,
}

/// Tasks of a type that no living worker asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The type.
    pub task_type: String,
    /// How many.
    pub count: u64,
    /// Since when the first of them can be fetched.
    pub since: Timestamp,
}

/// A channel that nothing gets through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The channel.
    pub channel: ChannelId,
    /// Its name.
    pub name: String,
    /// What went wrong.
    pub because: String,
    /// When its last message failed.
    pub since: Timestamp,
}

/// An alert that fires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// Which.
    pub alert: AlertId,
    /// What its rule is called.
    pub rule: String,
    /// What it watches.
    pub kind: RuleKind,
    /// What it is about.
    pub subject: String,
    /// The workflow that it concerns.
    pub workflow: Option<WorkflowId>,
    /// Since when.
    pub since: Timestamp,
}

/// What is known.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Pending dead letters by workflow.
    pub letters: Vec<Letters>,
    /// Triggers that are overdue.
    pub overdue: Vec<Overdue>,
    /// Triggers that cannot be read.
    pub unreadable: Vec<Unreadable>,
    /// Workers that are dead.
    pub workers: Vec<Silent>,
    /// All nodes.
    pub nodes: Vec<Lease>,
    /// Webhooks with refused requests.
    pub refused: Vec<Refused>,
    /// Tasks without workers.
    pub waiting: Vec<Waiting>,
    /// Channels that nothing gets through.
    pub broken: Vec<Broken>,
    /// Alerts that fire.
    pub alarms: Vec<Alarm>,
}

/// What is wrong by now, the worst first, at most [`TROUBLES_MAX`].
#[must_use]
pub fn judge(facts: &Facts, now: Timestamp) -> Vec<Trouble> {
    let mut all: Vec<Trouble> = Vec::new();
    all.extend(facts.letters.iter().map(|it| letters(it, now)));
    all.extend(facts.overdue.iter().map(overdue));
    all.extend(facts.unreadable.iter().map(unreadable));
    all.extend(facts.workers.iter().filter_map(|it| silent(it, now)));
    all.extend(facts.nodes.iter().filter_map(|it| lease(it, now)));
    all.extend(facts.refused.iter().map(refused));
    all.extend(facts.broken.iter().map(broken));
    all.extend(facts.waiting.iter().filter_map(|it| waiting(it, now)));
    all.extend(facts.alarms.iter().filter_map(alarm));
    all.sort_by_cached_key(|it| {
        let many = Reverse(it.count.unwrap_or(0));
        (it.severity, it.kind.rank(), many, it.since, it.subject())
    });
    all.truncate(TROUBLES_MAX);
    all
}

fn letters(found: &Letters, now: Timestamp) -> Trouble {
    let age = now.since(found.newest);
    let severity = if age <= LETTERS_FRESH {
        Severity::Critical
    } else if age <= LETTERS_OLD {
        Severity::Warning
    } else {
        Severity::Info
    };
    Trouble {
        kind: Kind::DeadLetters,
        severity,
        workflow: Some(found.workflow.clone()),
        count: Some(found.count),
        since: found.oldest,
    }
}

fn overdue(found: &Overdue) -> Trouble {
    Trouble {
        kind: Kind::TriggerOverdue(found.trigger),
        severity: Severity::Critical,
        workflow: Some(found.workflow.clone()),
        count: None,
        since: found.since,
    }
}

fn unreadable(found: &Unreadable) -> Trouble {
    Trouble {
        kind: Kind::TriggerUnreadable(found.trigger, found.problem.clone()),
        severity: Severity::Critical,
        workflow: Some(found.workflow.clone()),
        count: None,
        since: found.since,
    }
}

fn silent(found: &Silent, now: Timestamp) -> Option<Trouble> {
    let severity = match found.is_replaced {
        true => Severity::Info,
        false => Severity::Warning,
    };
    (now.since(found.seen_at) <= WORKER_FORGOTTEN).then(|| Trouble {
        kind: Kind::WorkerDead {
            worker: found.worker.clone(),
            is_replaced: found.is_replaced,
        },
        severity,
        workflow: None,
        count: None,
        since: found.seen_at,
    })
}

/// A node is silent when half of its lease has gone by: it renews several times within that.
fn lease(found: &Lease, now: Timestamp) -> Option<Trouble> {
    let is_over = found.expires_at <= now;
    let half = found.expires_at.since(found.renewed_at) / 2;
    (is_over || found.renewed_at.plus(half) < now).then(|| Trouble {
        kind: Kind::NodeLost {
            node: found.node,
            name: found.name.clone(),
            is_over,
        },
        severity: match is_over {
            true => Severity::Critical,
            false => Severity::Warning,
        },
        workflow: None,
        count: None,
        since: found.renewed_at,
    })
}

fn broken(it: &Broken) -> Trouble {
    Trouble {
        kind: Kind::ChannelBroken {
            channel: it.channel,
            name: it.name.clone(),
            because: it.because.clone(),
        },
        severity: Severity::Critical,
        workflow: None,
        count: None,
        since: it.since,
    }
}

fn refused(found: &Refused) -> Trouble {
    Trouble {
        kind: Kind::Quarantine(found.trigger),
        severity: Severity::Warning,
        workflow: Some(found.workflow.clone()),
        count: Some(found.count),
        since: found.since,
    }
}

fn waiting(found: &Waiting, now: Timestamp) -> Option<Trouble> {
    let age = now.since(found.since);
    let severity = match age > TASK_LATE {
        true => Severity::Critical,
        false => Severity::Warning,
    };
    (age > TASK_PATIENCE).then(|| Trouble {
        kind: Kind::TaskWaitingWithoutWorker(found.task_type.clone()),
        severity,
        workflow: None,
        count: Some(found.count),
        since: found.since,
    })
}

/// What stands in the list by itself is not told a second time.
fn alarm(found: &Alarm) -> Option<Trouble> {
    let is_told = matches!(
        found.kind,
        RuleKind::DeadMan | RuleKind::DeadWorkers | RuleKind::DlqGrowth
    );
    (!is_told).then(|| Trouble {
        kind: Kind::AlertFiring {
            alert: found.alert,
            rule: found.rule.clone(),
            about: found.subject.clone(),
        },
        severity: Severity::Critical,
        workflow: found.workflow.clone(),
        count: None,
        since: found.since,
    })
}

#[cfg(test)]
mod tests;
