//! Changes that can be taken back: what is rolled back, dropped by a crash, or shown later.

use std::collections::BTreeMap;
use std::sync::Arc;

use refire_core::definition::WorkflowId;
use refire_core::execution::EventRow;
use refire_core::id::{DlqId, ExecutionId, RequestId, TriggerId};

use super::image::{
    Definition, Filed, Image, KeyName, Record, RingLength, Standing, Told, UsedKey,
};
use crate::{RequestRow, SlotRow, WorkKey, WorkRow};

/// A row as it shall be; absent = there shall be none.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Workflow(WorkflowId, Option<Arc<Definition>>),
    Execution(ExecutionId, Option<Arc<Record>>),
    Event((ExecutionId, u64), Option<Arc<EventRow>>),
    Work(WorkKey, Option<Arc<WorkRow>>),
    Letter(DlqId, Option<Arc<Filed>>),
    Key(KeyName, Option<Arc<UsedKey>>),
    Trigger(TriggerId, Option<Arc<Told>>),
    TriggerState(TriggerId, Option<Arc<Standing>>),
    Slot((TriggerId, u64), Option<Arc<SlotRow>>),
    Request(RequestId, Option<Arc<RequestRow>>),
    Ring(TriggerId, Option<Arc<RingLength>>),
}

impl Image {
    /// Makes a change and gives the one that takes it back.
    pub(super) fn change(&mut self, change: Change) -> Change {
        match change {
            Change::Workflow(key, row) => {
                let before = put(&mut self.workflows, &key, row);
                Change::Workflow(key, before)
            }
            Change::Execution(key, row) => {
                let before = put(&mut self.executions, &key, row);
                Change::Execution(key, before)
            }
            Change::Event(key, row) => {
                let before = put(&mut self.events, &key, row);
                Change::Event(key, before)
            }
            Change::Work(key, row) => {
                let before = put(&mut self.work, &key, row);
                Change::Work(key, before)
            }
            Change::Letter(key, row) => {
                let before = put(&mut self.letters, &key, row);
                Change::Letter(key, before)
            }
            Change::Key(key, row) => {
                let before = put(&mut self.keys, &key, row);
                Change::Key(key, before)
            }
            Change::Trigger(key, row) => {
                let before = put(&mut self.triggers, &key, row);
                Change::Trigger(key, before)
            }
            Change::TriggerState(key, row) => {
                let before = put(&mut self.trigger_states, &key, row);
                Change::TriggerState(key, before)
            }
            Change::Slot(key, row) => {
                let before = put(&mut self.slots, &key, row);
                Change::Slot(key, before)
            }
            Change::Request(key, row) => {
                let before = put(&mut self.requests, &key, row);
                Change::Request(key, before)
            }
            Change::Ring(key, row) => {
                let before = put(&mut self.rings, &key, row);
                Change::Ring(key, before)
            }
        }
    }

    /// Makes changes in their order and gives those that take them back, in theirs.
    pub(super) fn change_all(&mut self, changes: Vec<Change>) -> Vec<Change> {
        let mut back: Vec<Change> = changes
            .into_iter()
            .map(|change| self.change(change))
            .collect();
        back.reverse();
        back
    }
}

fn put<K: Ord + Clone, V>(
    table: &mut BTreeMap<K, Arc<V>>,
    key: &K,
    row: Option<Arc<V>>,
) -> Option<Arc<V>> {
    match row {
        Some(row) => table.insert(key.clone(), row),
        None => table.remove(key),
    }
}
