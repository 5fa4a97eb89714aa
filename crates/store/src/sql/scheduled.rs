//! Scheduled tasks, with the triggers that start them.

use async_trait::async_trait;
use refire_core::id::ScheduledTaskId;
use refire_core::trigger::State;

use super::{Database, Query};
use crate::column::Named;
use crate::{ReadError, Scheduled, ScheduledFilter, ScheduledRow, ScheduledTasks, TriggerRow};

/// Whether no cycle of a task will begin by itself any more.
const FINISHED: &str = "(st.cancelled_at IS NOT NULL OR (t.enabled AND s.due_at IS NULL)) = ?";

fn live() -> Query {
    Query::new(format!(
        "SELECT {}, {}, {} FROM scheduled_tasks AS st
           JOIN workflow_triggers AS t ON t.id = st.id
           JOIN trigger_state AS s ON s.trigger = st.id
           JOIN workflows ON workflows.key = st.workflow
          WHERE st.deleted_at IS NULL",
        ScheduledRow::COLUMNS,
        TriggerRow::COLUMNS,
        State::COLUMNS,
    ))
}

#[async_trait]
impl<D: Database> ScheduledTasks for D {
    async fn scheduled_task(&self, id: ScheduledTaskId) -> Result<Option<Scheduled>, ReadError> {
        self.row(live().with("AND st.id = ?", id)).await
    }

    async fn scheduled_task_by_key(&self, key: [u8; 16]) -> Result<Option<Scheduled>, ReadError> {
        self.row(live().with("AND st.key_hash = ?", key.to_vec()))
            .await
    }

    async fn scheduled_tasks(
        &self,
        filter: &ScheduledFilter,
        before: Option<ScheduledTaskId>,
        limit: u32,
    ) -> Result<Vec<Scheduled>, ReadError> {
        let query = live()
            .and("st.task_type = ?", filter.task_type.as_deref())
            .and("st.schedule_type = ?", filter.schedule_type.as_deref())
            .and("t.enabled = ?", filter.is_active)
            .and(FINISHED, filter.is_finished)
            .and("st.id < ?", before);
        self.rows(query.page("st.id DESC", limit)).await
    }
}
