//! Retention: chunks along the time-ordered keys.

use std::ops::Bound;
use std::sync::Arc;

use refire_core::dead_letter::LetterStatus;
use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId, RequestId, TriggerId};
use refire_core::time::Timestamp;

use super::Pen;
use crate::model::change::Change;
use crate::model::image::{KeyName, Record};
use crate::request::first_id_at;
use crate::{PartOutcome, Prune};

/// Rows that one chunk removes, at most, unless a single execution has more.
const ROWS_REMOVED_MAX: u64 = 500;

impl Pen<'_> {
    pub(super) fn prune(&mut self, prune: &Prune) -> PartOutcome {
        match prune {
            Prune::Executions {
                statuses,
                before,
                after,
                limit,
            } => self.prune_executions(statuses, *before, *after, *limit as usize),
            Prune::IdempotencyKeys { limit } => self.prune_keys(*limit as usize),
            Prune::Requests { before, limit } => self.prune_requests(*before, *limit as usize),
            Prune::RequestsOf {
                trigger,
                up_to,
                limit,
            } => self.prune_requests_of(*trigger, *up_to, *limit as usize),
            Prune::Triggers { before, limit } => self.prune_triggers(*before, *limit as usize),
        }
    }

    fn prune_executions(
        &mut self,
        statuses: &[Status],
        before: Timestamp,
        after: Option<ExecutionId>,
        limit: usize,
    ) -> PartOutcome {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let looked_at: Vec<Arc<Record>> = self
            .image
            .executions
            .range((start, Bound::Unbounded))
            .take(limit)
            .map(|(_, record)| Arc::clone(record))
            .collect();
        // Whatever comes later was made later, so none of it can have ended early enough.
        let is_end = looked_at.len() < limit
            || looked_at
                .last()
                .is_some_and(|last| last.row.created_at >= before);
        let (mut removed, mut rows, mut last) = (0, 0, None);
        for record in looked_at {
            let (id, update) = (record.row.id, &record.row.update);
            let is_old = update.status.is_terminal()
                && statuses.contains(&update.status)
                && update.updated_at < before;
            let letter = self.image.letter_of(id);
            let letter = letter.map(|filed| (filed.letter.id, filed.state.status));
            let of_parent = record
                .row
                .parent
                .and_then(|parent| self.image.letter_of(parent));
            let of_parent = of_parent.map(|filed| filed.state.status);
            let mut both = letter
                .map(|(_, status)| status)
                .into_iter()
                .chain(of_parent);
            let is_needed = both.any(LetterStatus::is_open);
            if is_old && !is_needed {
                rows += update.version + 1 + u64::from(letter.is_some());
                if removed > 0 && rows > ROWS_REMOVED_MAX {
                    // The next chunk begins with this one.
                    return PartOutcome::Pruned {
                        removed,
                        next: last,
                    };
                }
                self.remove_execution(id, letter.map(|(letter, _)| letter));
                removed += 1;
            }
            last = Some(id);
        }
        let next = last.filter(|_| !is_end);
        PartOutcome::Pruned { removed, next }
    }

    /// Removes an execution and all that belongs to it.
    fn remove_execution(&mut self, id: ExecutionId, letter: Option<DlqId>) {
        if let Some(letter) = letter {
            self.change(Change::Letter(letter, None));
        }
        let sequences: Vec<u64> = self.image.log(id).map(|event| event.sequence).collect();
        for sequence in sequences {
            self.change(Change::Event((id, sequence), None));
        }
        self.remove_work_where(id, |_| true);
        self.change(Change::Execution(id, None));
    }

    fn prune_keys(&mut self, limit: usize) -> PartOutcome {
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
        pruned(removed)
    }

    fn prune_requests(&mut self, before: Timestamp, limit: usize) -> PartOutcome {
        let old = self.image.requests.range(..first_id_at(before));
        let old: Vec<RequestId> = old.take(limit).map(|(id, _)| *id).collect();
        let removed = old.len();
        for id in old {
            self.change(Change::Request(id, None));
        }
        pruned(removed)
    }

    fn prune_requests_of(
        &mut self,
        trigger: TriggerId,
        up_to: RequestId,
        limit: usize,
    ) -> PartOutcome {
        let old = self.image.requests.range(..=up_to);
        let own = old.filter(|(_, row)| row.trigger == trigger && !row.is_in_ring());
        let own: Vec<RequestId> = own.take(limit).map(|(id, _)| *id).collect();
        let removed = own.len();
        for id in own {
            self.change(Change::Request(id, None));
        }
        pruned(removed)
    }

    /// One trigger after the other: what it left behind, then itself.
    fn prune_triggers(&mut self, before: Timestamp, limit: usize) -> PartOutcome {
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
        pruned(removed)
    }
}

/// A chunk of rows that have no walk.
fn pruned(removed: usize) -> PartOutcome {
    PartOutcome::Pruned {
        removed: removed as u64,
        next: None,
    }
}
