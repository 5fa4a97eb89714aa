//! Scheduled tasks as they are kept. Each has a workflow of its own and a trigger with the same id.

use refire_core::definition::WorkflowId;
use refire_core::id::{ScheduledTaskId, TriggerId};
use refire_core::time::Timestamp;
use refire_core::trigger::State;

use crate::column::{Columns, Cursor, Field, read_from};
use crate::error::corrupt;
use crate::layer::store_trait;
use crate::{ReadError, TriggerRow, checksum};

store_trait! {
    /// Scheduled tasks, with the triggers that start them.
    pub trait ScheduledTasks {
        /// One task, unless it was deleted.
        async fn scheduled_task(&self, id: ScheduledTaskId) -> Result<Option<Scheduled>, ReadError>;

        /// The task that was made with this key, unless it was deleted.
        async fn scheduled_task_by_key(&self, key: [u8; 16]) -> Result<Option<Scheduled>, ReadError>;

        /// Tasks before this one, newest first, not the deleted ones.
        async fn scheduled_tasks(
            &self,
            filter: &ScheduledFilter,
            before: Option<ScheduledTaskId>,
            limit: u32,
        ) -> Result<Vec<Scheduled>, ReadError>;
    }
}

/// A scheduled task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledRow {
    /// Its id.
    pub id: ScheduledTaskId,
    /// Its workflow.
    pub workflow: WorkflowId,
    /// What people call it.
    pub name: Option<String>,
    /// What kind of task it is.
    pub task_type: String,
    /// What kind of schedule it has.
    pub schedule_type: String,
    /// Counted from 1; grows with each change.
    pub version: u32,
    /// The first sixteen bytes of the SHA-256 of the key that it was made with.
    pub key_hash: Option<[u8; 16]>,
    /// The first eight bytes of the SHA-256 of the request that made it.
    pub body_hash: [u8; 8],
    /// The request as it was sent, and as changes made it.
    pub request: Vec<u8>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// When it was cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// When it was deleted.
    pub deleted_at: Option<Timestamp>,
}

read_from! {
    ScheduledRow {
        id: "st.id",
        workflow: "workflows.id",
        name: "st.name",
        task_type: "st.task_type",
        schedule_type: "st.schedule_type",
        version: "st.version",
        key_hash: "st.key_hash",
        body_hash: "st.body_hash",
        request: "st.request",
        created_at: "st.created_at",
        updated_at: "st.updated_at",
        cancelled_at: "st.cancelled_at",
        deleted_at: "st.deleted_at"
    } checked by "st.crc" with fits
}

fn fits(row: &ScheduledRow, crc: u32) -> Result<(), ReadError> {
    checksum::verify(crc, row.checksum()).map_err(corrupt(|| format!("the request of {}", row.id)))
}

impl ScheduledRow {
    /// The trigger that starts it.
    #[must_use]
    pub fn trigger(&self) -> TriggerId {
        TriggerId::from_bytes(*self.id.as_bytes())
    }

    pub(crate) fn checksum(&self) -> u32 {
        checksum::settings(self.trigger(), &self.request)
    }
}

/// A scheduled task with its trigger and where that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheduled {
    /// The task.
    pub row: ScheduledRow,
    /// Its trigger.
    pub trigger: TriggerRow,
    /// Where that stands.
    pub state: State,
}

impl Field for Scheduled {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        let (row, trigger, state) = cursor.next()?;
        Ok(Self {
            row,
            trigger,
            state,
        })
    }
}

impl Scheduled {
    /// Whether no cycle of it will begin by itself any more. A paused one is not finished.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.row.cancelled_at.is_some() || (self.trigger.enabled && self.state.due_at.is_none())
    }
}

/// Which scheduled tasks to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScheduledFilter {
    /// Of this kind.
    pub task_type: Option<String>,
    /// With this kind of schedule.
    pub schedule_type: Option<String>,
    /// Only those that are neither paused nor cancelled, or only the others.
    pub is_active: Option<bool>,
    /// Only those that are finished, or only the others.
    pub is_finished: Option<bool>,
}

impl ScheduledFilter {
    /// Whether a task is among those.
    #[cfg(feature = "model")]
    pub(crate) fn passes(&self, task: &Scheduled) -> bool {
        let is = |wanted: &Option<String>, found: &String| {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        };
        is(&self.task_type, &task.row.task_type)
            && is(&self.schedule_type, &task.row.schedule_type)
            && self
                .is_active
                .is_none_or(|asked| asked == task.trigger.enabled)
            && self
                .is_finished
                .is_none_or(|asked| asked == task.is_finished())
    }
}
