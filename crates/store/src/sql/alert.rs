//! Alerts, their rules, and silences.

use async_trait::async_trait;
use refire_core::alert::{LongHeld, RULES_MAX, SILENCES_MAX, SUBJECTS_MAX};
use refire_core::id::AlertId;
use refire_core::task::TaskStatus;

use super::{Database, Query};
use crate::ReadError;
use crate::alert::{AlertFilter, AlertRow, AlertRuleRow, Alerts, SilenceRow};
use crate::column::Named;

/// Twice as many as there may be: those that were removed are among them.
const RULES_READ_MAX: u64 = 2 * RULES_MAX as u64;
const STATES_READ_MAX: u64 = (RULES_MAX * SUBJECTS_MAX) as u64;

#[async_trait]
impl<D: Database> Alerts for D {
    async fn alert_rules(&self) -> Result<Vec<AlertRuleRow>, ReadError> {
        let columns = AlertRuleRow::COLUMNS;
        let query = Query::new(format!("SELECT {columns} FROM alert_rules"));
        self.rows(query.with("ORDER BY id LIMIT ?", RULES_READ_MAX))
            .await
    }

    async fn alert_states(&self) -> Result<Vec<AlertRow>, ReadError> {
        let columns = AlertRow::COLUMNS;
        let query = Query::new(format!("SELECT {columns} FROM alert_state"));
        self.rows(query.with("ORDER BY rule, subject LIMIT ?", STATES_READ_MAX))
            .await
    }

    async fn alerts(
        &self,
        filter: &AlertFilter,
        before: Option<AlertId>,
        limit: u32,
    ) -> Result<Vec<AlertRow>, ReadError> {
        let columns = AlertRow::COLUMNS;
        let mut query = Query::new(format!("SELECT {columns} FROM alert_state WHERE true"));
        if !filter.phases.is_empty() {
            query = query.end("AND (false");
            for phase in &filter.phases {
                query = query.with("OR phase = ?", *phase as u32);
            }
            query = query.end(")");
        }
        let query = query.and("rule = ?", filter.rule);
        let query = query.and("subject = ?", filter.subject.as_deref());
        let query = query.and("id < ?", before);
        self.rows(query.page("id DESC", limit)).await
    }

    async fn alert(&self, id: AlertId) -> Result<Option<AlertRow>, ReadError> {
        let columns = AlertRow::COLUMNS;
        let query = Query::new(format!("SELECT {columns} FROM alert_state WHERE true"));
        self.row(query.with("AND id = ?", id)).await
    }

    async fn silences(&self) -> Result<Vec<SilenceRow>, ReadError> {
        let columns = SilenceRow::COLUMNS;
        let query = Query::new(format!("SELECT {columns} FROM silences"));
        let order = "ORDER BY ends_at DESC, id LIMIT ?";
        self.rows(query.with(order, SILENCES_MAX as u64)).await
    }

    async fn held_longest(&self, looked_at: u32) -> Result<Vec<LongHeld>, ReadError> {
        let query = Query::new(
            "SELECT workflow, min(since) FROM (
               SELECT workflow, since FROM (
                 SELECT workflow, status, locked_at AS since FROM workflow_external_tasks
                  WHERE wake_at IS NOT NULL ORDER BY wake_at",
        );
        let query = query
            .with("LIMIT ?", looked_at)
            .end(") AS tasks")
            .with(
                "WHERE since IS NOT NULL AND status = ?",
                TaskStatus::Locked as u32,
            )
            .end(
                "UNION ALL SELECT workflow, since FROM (
                   SELECT workflow, created_at AS since FROM task_callbacks
                    WHERE wake_at IS NOT NULL ORDER BY wake_at",
            )
            .with("LIMIT ?", looked_at)
            .end(") AS callbacks) AS held GROUP BY workflow ORDER BY workflow");
        self.rows(query).await
    }
}
