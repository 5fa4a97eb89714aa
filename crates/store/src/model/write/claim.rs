//! Claims: which unowned work a node gets, and in which order. Every claim walks over all work in
//! that order; a model need not be quick about it, but must be plain.

use std::collections::HashMap;
use std::sync::Arc;

use refire_core::id::{ExecutionId, NodeId};

use super::Pen;
use crate::{Claim, ClaimTimers, PartOutcome, Want, WorkRow};

impl Pen<'_> {
    pub(super) fn claim(&mut self, claim: &Claim) -> PartOutcome {
        let mut claimed = Vec::new();
        for want in &claim.wants {
            let rows = self.ready(want);
            claimed.extend(self.own(rows, claim.node));
        }
        PartOutcome::Claimed(claimed)
    }

    /// Unowned work of a workflow that is due, as far as there is room.
    fn ready(&self, want: &Want) -> Vec<Arc<WorkRow>> {
        let mut rows = self.unowned(|row| {
            row.workflow == want.workflow && row.due_at.is_none_or(|due_at| due_at <= self.now)
        });
        // Absent times come first. The rows are in the order of their keys, and equal ones stay so.
        rows.sort_by_key(|row| (row.priority, row.due_at));
        let bounds = want.bounds.unwrap_or_default();
        let mut in_flight: HashMap<ExecutionId, Option<String>> = self.in_flight(want).collect();
        let mut retries = 0;
        rows.retain(|row| {
            if row.is_retry && retries >= want.retries_up_to {
                return false;
            }
            if !in_flight.contains_key(&row.execution) {
                let key = &row.limit_key;
                let alike = in_flight.values().filter(|of| *of == key).count();
                let has_room = |max: Option<u32>, count| max.is_none_or(|max| count < max as usize);
                let is_free = has_room(bounds.max, in_flight.len())
                    && (key.is_none() || has_room(bounds.max_per_key, alike));
                if !is_free {
                    return false;
                }
                in_flight.insert(row.execution, key.clone());
            }
            retries += u32::from(row.is_retry);
            true
        });
        // What comes after the last one that is wanted has changed nothing about those before.
        rows.truncate(want.up_to as usize);
        rows
    }

    /// Work of the workflow that is owned and has begun or is due.
    fn in_flight(&self, want: &Want) -> impl Iterator<Item = (ExecutionId, Option<String>)> {
        let rows = self.image.work.values();
        let rows = rows.filter(|row| row.workflow == want.workflow && row.owner.is_some());
        rows.filter(|row| row.begun || row.due_at.is_none_or(|due_at| due_at <= self.now))
            .map(|row| (row.execution, row.limit_key.clone()))
    }

    /// Unowned timers that are still to come due by then, the earliest first.
    pub(super) fn claim_timers(&mut self, claim: &ClaimTimers) -> PartOutcome {
        let mut rows = self.unowned(|row| {
            row.due_at
                .is_some_and(|due_at| due_at > self.now && due_at <= claim.until)
        });
        rows.sort_by_key(|row| row.due_at);
        rows.truncate(claim.up_to as usize);
        PartOutcome::Claimed(self.own(rows, claim.node))
    }

    fn unowned(&self, is_wanted: impl Fn(&WorkRow) -> bool) -> Vec<Arc<WorkRow>> {
        let rows = self.image.work.iter();
        rows.filter(|(key, row)| {
            row.owner.is_none() && is_wanted(row) && !self.locked.contains(*key)
        })
        .map(|(_, row)| Arc::clone(row))
        .collect()
    }

    /// The rows are the node's and have not begun.
    fn own(&mut self, rows: Vec<Arc<WorkRow>>, node: NodeId) -> Vec<WorkRow> {
        let mut owned = Vec::with_capacity(rows.len());
        for row in rows {
            let row = WorkRow {
                owner: Some(node),
                begun: false,
                begun_at: None,
                ..(*row).clone()
            };
            self.write_work(row.clone());
            owned.push(row);
        }
        owned
    }
}
