//! What is wrong at present, of everything that this engine looks after. The facts are read here, bounded;
//! what they mean is decided by `refire_core::trouble`.

use std::collections::BTreeMap;

use refire_core::alert::Phase;
use refire_core::dead_letter::{LetterStatus, archived_before};
use refire_core::definition::WorkflowId;
use refire_core::task::WorkerStatus;
use refire_core::time::Timestamp;
use refire_core::trouble::{
    Alarm, Broken, Facts, Lease, Letters, QUARANTINE_WINDOW, Refused, TROUBLES_MAX, Trouble,
    Unreadable, Waiting, judge,
};
use refire_core::webhook::RequestStatus;
use refire_store::{AlertFilter, LIMIT_MAX, LetterFilter, ReadError, TriggerFilter, WORKERS_MAX};

use super::Engine;
use crate::alert::{overdue, silent};
use crate::notify::NotifyError;
use crate::task::{Worker, WorkerFilter};
use crate::trigger::rows;

/// Workflows whose dead letters are looked at, those with the most first.
const WORKFLOWS_MAX: usize = 20;
/// Webhooks whose refused requests are counted.
const WEBHOOKS_MAX: u32 = 200;
/// Refused requests of one webhook that are counted.
const REFUSED_MAX: u32 = 1_000;

/// What is wrong, the worst first.
#[derive(Debug, Clone)]
pub struct Watched {
    /// What is wrong.
    pub troubles: Vec<Trouble>,
    /// Since when nothing was, as far as anybody has asked this node.
    pub quiet_since: Option<Timestamp>,
}

impl Engine {
    /// What is wrong at present.
    pub async fn trouble(&self) -> Result<Watched, ReadError> {
        let now = self.now();
        let most = u32::try_from(WORKERS_MAX).unwrap_or(u32::MAX);
        let all = WorkerFilter::default();
        let workers = self.tasks().workers(&all, None, most).await?;
        let is_dead = |worker: &Worker| worker.status == WorkerStatus::Dead;
        let (dead, living): (Vec<Worker>, Vec<Worker>) = workers.into_iter().partition(is_dead);
        let facts = Facts {
            letters: self.pending_letters().await?,
            overdue: overdue(&self.context).await?,
            unreadable: self.unreadable().await?,
            workers: dead.into_iter().map(|it| silent(it, &living)).collect(),
            nodes: self.leases().await?,
            refused: self.refused(now).await?,
            waiting: self.waiting(&living).await?,
            broken: self.broken_channels().await?,
            alarms: self.alarms().await?,
        };
        let troubles = judge(&facts, now);
        let mut quiet_since = self.quiet_since.lock();
        *quiet_since = match troubles.is_empty() {
            true => quiet_since.or(Some(now)),
            false => None,
        };
        Ok(Watched {
            troubles,
            quiet_since: *quiet_since,
        })
    }

    /// Enabled channels whose last message was given up. What cannot be read is in the log.
    async fn broken_channels(&self) -> Result<Vec<Broken>, ReadError> {
        let channels = match self.notifications().channels().await {
            Ok(channels) => channels,
            Err(NotifyError::Read(error)) => return Err(error),
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "channels cannot be read"
                );
                return Ok(Vec::new());
            }
        };
        let enabled = channels.into_iter().filter(|shown| shown.row.enabled);
        let broken = enabled.filter_map(|shown| {
            let last = shown.broken?;
            Some(Broken {
                channel: shown.row.id,
                name: shown.channel.name,
                because: last.error.map(|error| error.message).unwrap_or_default(),
                since: last.updated_at,
            })
        });
        Ok(broken.collect())
    }

    async fn pending_letters(&self) -> Result<Vec<Letters>, ReadError> {
        let from = Some(archived_before(self.now()));
        let pending = |workflow: Option<WorkflowId>| LetterFilter {
            workflow,
            statuses: vec![LetterStatus::Pending],
            from,
            ..LetterFilter::default()
        };
        let store = self.store();
        let mut counts: BTreeMap<WorkflowId, u64> = BTreeMap::new();
        for group in store.letter_summary(&pending(None)).await?.groups {
            *counts.entry(group.workflow).or_default() += group.count;
        }
        let mut workflows: Vec<(WorkflowId, u64)> = counts.into_iter().collect();
        workflows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut found = Vec::new();
        for (workflow, _) in workflows.into_iter().take(WORKFLOWS_MAX) {
            let filter = pending(Some(workflow.clone()));
            let summary = store.letter_summary(&filter).await?;
            if let (Some(oldest), Some(newest)) = (summary.oldest, summary.newest) {
                found.push(Letters {
                    workflow,
                    count: summary.count,
                    oldest,
                    newest,
                });
            }
        }
        Ok(found)
    }

    /// Of the oldest enabled triggers: whoever has more finds the others in the server's log.
    async fn unreadable(&self) -> Result<Vec<Unreadable>, ReadError> {
        let filter = TriggerFilter {
            enabled: Some(true),
            ..TriggerFilter::default()
        };
        let triggers = self.store().triggers(&filter, None, LIMIT_MAX).await?;
        let unreadable = triggers.into_iter().filter_map(|row| {
            let problems = rows::trigger(&row).err()?;
            let problem = problems.iter().next().map(ToString::to_string);
            Some(Unreadable {
                trigger: row.id,
                workflow: row.workflow,
                since: row.updated_at,
                problem: problem.unwrap_or_default(),
            })
        });
        Ok(unreadable.collect())
    }

    /// Alerts that fire.
    async fn alarms(&self) -> Result<Vec<Alarm>, ReadError> {
        let filter = AlertFilter {
            phases: vec![Phase::Firing],
            ..AlertFilter::default()
        };
        let most = u32::try_from(TROUBLES_MAX).unwrap_or(LIMIT_MAX);
        let rows = self.store().alerts(&filter, None, most).await?;
        let alarm = |row: refire_store::AlertRow| Alarm {
            alert: row.alert.id,
            rule: row.name,
            kind: row.kind,
            subject: row.subject,
            workflow: row.workflow,
            since: row.alert.since,
        };
        Ok(rows.into_iter().map(alarm).collect())
    }

    async fn leases(&self) -> Result<Vec<Lease>, ReadError> {
        let lease = |node: refire_store::NodeRow| Lease {
            node: node.id,
            name: node.name,
            renewed_at: node.renewed_at,
            expires_at: node.expires_at,
        };
        // A node that asks is there, and the only one where the store is not shared.
        let this = self.node();
        let nodes = self.nodes().await?.into_iter();
        Ok(nodes.filter(|node| node.id != this).map(lease).collect())
    }

    async fn refused(&self, now: Timestamp) -> Result<Vec<Refused>, ReadError> {
        let since = now.minus(QUARANTINE_WINDOW);
        // What was refused a moment ago may still wait to be written.
        self.webhooks().flush().await;
        let asked = &RequestStatus::QUARANTINED;
        let store = self.store();
        let found = store.refused_requests(asked, since, REFUSED_MAX, WEBHOOKS_MAX);
        let refused = |it: refire_store::RefusedRequests| Refused {
            trigger: it.trigger,
            workflow: it.workflow,
            count: it.count,
            since: it.since,
        };
        Ok(found.await?.into_iter().map(refused).collect())
    }

    async fn waiting(&self, living: &[Worker]) -> Result<Vec<Waiting>, ReadError> {
        let tally = self.tasks().tally_for(living).await?;
        let waiting = tally.types.into_iter().filter(|it| it.workers == 0);
        let waiting = waiting.filter_map(|it| {
            Some(Waiting {
                task_type: it.task_type,
                count: it.pending.max(1),
                since: it.oldest?,
            })
        });
        Ok(waiting.collect())
    }
}
