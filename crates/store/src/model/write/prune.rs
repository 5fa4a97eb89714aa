//! Retention: chunks along the time-ordered keys.

use std::convert::Infallible;
use std::ops::Bound;

use refire_core::alert::Phase;
use refire_core::id::{ExecutionId, RequestId, TriggerId};
use refire_core::time::Timestamp;

use super::Pen;
use crate::batch::Candidate;
use crate::model::change::Change;
use crate::model::image::{KeyName, Record};
use crate::request::first_id_at;
use crate::{OldExecutions, PartOutcome, Prune, RequestRow};

impl Pen<'_> {
    pub(super) fn prune(&mut self, prune: &Prune) -> PartOutcome {
        let removed = match prune {
            Prune::Executions(old) => return self.prune_executions(old),
            Prune::IdempotencyKeys { limit } => self.prune_keys(*limit as usize),
            Prune::Requests { before, limit } => {
                let first = first_id_at(*before);
                self.prune_requests(*limit, |row| row.id < first)
            }
            Prune::RequestsOf {
                trigger,
                up_to,
                limit,
            } => self.prune_requests(*limit, |row| {
                row.id <= *up_to && row.trigger == *trigger && !row.is_in_ring()
            }),
            Prune::Minutes { before, limit } => self.prune_minutes(*before, *limit as usize),
            Prune::Alerts { before, limit } => self.prune_alerts(*before, *limit as usize),
            Prune::BulkItems { before, limit } => self.prune_bulk_items(*before, *limit as usize),
            Prune::BulkJobs { before, limit } => self.prune_bulk_jobs(*before, *limit as usize),
            Prune::Triggers { before, limit } => self.prune_triggers(*before, *limit as usize),
        };
        PartOutcome::pruned(removed)
    }

    fn prune_executions(&mut self, old: &OldExecutions) -> PartOutcome {
        let start = old.after.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self.image.executions.range((start, Bound::Unbounded));
        let is_of = |record: &Record| {
            let workflow = old.workflow.as_ref();
            workflow.is_none_or(|workflow| *workflow == record.row.workflow)
        };
        let rows = rows.filter(|(_, record)| is_of(record));
        let candidates = rows.take(old.limit as usize).map(|(id, record)| Candidate {
            id: *id,
            status: record.row.update.status,
            created_at: record.row.created_at,
            updated_at: record.row.update.updated_at,
            version: record.row.update.version,
            parent: record.row.parent,
        });
        let candidates: Vec<Candidate> = candidates.collect();
        let letter_of = |id| {
            let filed = self.image.letter_of(id);
            Ok::<_, Infallible>(filed.map(|filed| (filed.letter.id, filed.state.status)))
        };
        let Ok(gone) = old.gone(&candidates, letter_of);
        for letter in &gone.letters {
            self.change(Change::Letter(*letter, None));
        }
        for id in &gone.executions {
            self.remove_execution(*id);
        }
        gone.outcome(gone.executions.len())
    }

    /// Removes an execution and what belongs to it, but for its letter.
    pub(super) fn remove_execution(&mut self, id: ExecutionId) {
        let sequences: Vec<u64> = self.image.log(id).map(|event| event.sequence).collect();
        for sequence in sequences {
            self.change(Change::Event((id, sequence), None));
        }
        self.remove_work_where(id, |_| true);
        self.remove_tasks(id);
        self.remove_callbacks(id);
        self.change(Change::Execution(id, None));
    }

    fn prune_keys(&mut self, limit: usize) -> usize {
        let mut expired: Vec<(Timestamp, KeyName)> = self
            .image
            .keys
            .iter()
            .filter(|(_, used)| used.expires_at <= self.now)
            .map(|(name, used)| (used.expires_at, name.clone()))
            .collect();
        expired.sort();
        expired.truncate(limit);
        let removed = expired.len();
        for (_, name) in expired {
            self.change(Change::Key(name, None));
        }
        removed
    }

    /// The oldest first.
    fn prune_requests(&mut self, limit: u32, goes: impl Fn(&RequestRow) -> bool) -> usize {
        let old = self.image.requests.values().filter(|row| goes(row));
        let old: Vec<RequestId> = old.take(limit as usize).map(|row| row.id).collect();
        for id in &old {
            self.change(Change::Request(*id, None));
        }
        old.len()
    }

    /// The oldest first.
    fn prune_minutes(&mut self, before: Timestamp, limit: usize) -> usize {
        let old = self.image.minutes.keys().take_while(|(at, _)| *at < before);
        let old: Vec<_> = old.take(limit).cloned().collect();
        for key in &old {
            self.change(Change::Minute(key.clone(), None));
        }
        old.len()
    }

    /// Those that have been over for longest.
    fn prune_alerts(&mut self, before: Timestamp, limit: usize) -> usize {
        let over = self.image.alerts.values();
        let over =
            over.filter(|row| row.alert.phase == Phase::Resolved && row.alert.since < before);
        let mut over: Vec<_> = over.map(|row| (row.alert.since, row.key())).collect();
        over.sort();
        over.truncate(limit);
        for (_, key) in &over {
            self.change(Change::Alert(key.clone(), None));
        }
        over.len()
    }

    /// One trigger after the other: what it left behind, then itself.
    fn prune_triggers(&mut self, before: Timestamp, limit: usize) -> usize {
        let triggers = self.image.triggers.values();
        let mut deleted: Vec<(Timestamp, TriggerId)> = triggers
            .filter_map(|told| Some((told.deleted_at?, told.row.id)))
            .filter(|(deleted_at, _)| *deleted_at < before)
            .collect();
        deleted.sort();
        let mut changes: Vec<Change> = Vec::new();
        for (_, id) in deleted {
            let slots = self.image.ledger(id).map(|row| row.seq);
            changes.extend(slots.map(|seq| Change::Slot((id, seq), None)));
            let requests = self.image.requests.values();
            let requests = requests.filter(|row| row.trigger == id);
            changes.extend(requests.map(|row| Change::Request(row.id, None)));
            changes.push(Change::Trigger(id, None));
        }
        changes.truncate(limit);
        let removed = changes.len();
        for change in changes {
            if let Change::Trigger(id, _) = &change {
                self.change(Change::Ring(*id, None));
            }
            self.change(change);
        }
        removed
    }
}
