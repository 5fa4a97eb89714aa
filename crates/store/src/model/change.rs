//! Changes that can be taken back: what is rolled back, dropped by a crash, or shown later.

use std::collections::BTreeMap;
use std::sync::Arc;

use refire_core::breaker::Breaker;
use refire_core::definition::WorkflowId;
use refire_core::execution::EventRow;
use refire_core::id::{
    AlertRuleId, BulkId, ChannelId, DlqId, ExecutionId, GroupId, ItemId, NoticeId, RequestId,
    ScheduledTaskId, SilenceId, TaskId, TriggerId,
};
use refire_core::minute::OfWorkflow;

use super::image::{
    AlertKey, Definition, Filed, Image, Job, KeyName, MinuteKey, Record, RingLength, Standing,
    Told, UsedKey,
};
use crate::{
    AlertRow, AlertRuleRow, BulkItemRow, CallbackKey, CallbackRow, ChannelRow, GroupRow, NewNotice,
    RequestRow, ScheduledRow, SecretHash, SessionRow, SilenceRow, SlotRow, TaskRow, WorkKey,
    WorkRow, WorkerRow,
};

/// The tables: how a change of a row is called, its key, the row, and where it lies.
macro_rules! tables {
    ($($change:ident($key:ty, $row:ty) in $table:ident,)*) => {
        /// A row as it shall be; absent = there shall be none.
        #[derive(Debug, Clone)]
        pub(super) enum Change {
            $($change($key, Option<Arc<$row>>),)*
        }

        impl Image {
            /// Makes a change and gives the one that takes it back.
            pub(super) fn change(&mut self, change: Change) -> Change {
                match change {
                    $(Change::$change(key, row) => {
                        let before = put(&mut self.$table, &key, row);
                        Change::$change(key, before)
                    })*
                }
            }
        }
    };
}

tables! {
    Workflow(WorkflowId, Definition) in workflows,
    Execution(ExecutionId, Record) in executions,
    Event((ExecutionId, u64), EventRow) in events,
    Work(WorkKey, WorkRow) in work,
    Task(TaskId, TaskRow) in tasks,
    Callback(CallbackKey, CallbackRow) in callbacks,
    Worker(String, WorkerRow) in workers,
    Session(SecretHash, SessionRow) in sessions,
    Breaker(String, Breaker) in breakers,
    Minute(MinuteKey, OfWorkflow) in minutes,
    AlertRule(AlertRuleId, AlertRuleRow) in alert_rules,
    Alert(AlertKey, AlertRow) in alerts,
    Silence(SilenceId, SilenceRow) in silences,
    Letter(DlqId, Filed) in letters,
    Key(KeyName, UsedKey) in keys,
    Trigger(TriggerId, Told) in triggers,
    TriggerState(TriggerId, Standing) in trigger_states,
    Scheduled(ScheduledTaskId, ScheduledRow) in scheduled,
    Slot((TriggerId, u64), SlotRow) in slots,
    Request(RequestId, RequestRow) in requests,
    Ring(TriggerId, RingLength) in rings,
    Bulk(BulkId, Job) in bulk_jobs,
    BulkItem((BulkId, ItemId), BulkItemRow) in bulk_items,
    Notice(NoticeId, NewNotice) in notices,
    Group((ChannelId, GroupId), GroupRow) in groups,
    Channel(ChannelId, ChannelRow) in channels,
}

impl Image {
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
