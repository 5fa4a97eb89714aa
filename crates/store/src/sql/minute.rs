//! What happened to workflows, in numbers.

use std::time::Duration;

use async_trait::async_trait;
use refire_core::alert::WindowSum;
use refire_core::minute::{Minute, OfWorkflow};

use super::{Database, OF_WORKFLOW, Query};
use crate::ReadError;
use crate::column::Named;
use crate::minute::{MINUTES_READ_MAX, MinuteFilter, MinutePoint, Minutes};

/// The numbers added up.
fn sums() -> String {
    let sum = |column: &str| match column {
        "duration_max_ms" => format!("max({column})"),
        column => format!("CAST(sum({column}) AS bigint)"),
    };
    let columns = Minute::COLUMNS.split(", ").map(sum);
    columns.collect::<Vec<_>>().join(", ")
}

fn filtered(query: Query, filter: &MinuteFilter) -> Query {
    let workflow = filter.workflow.as_ref().map(|id| id.as_str());
    query
        .with("minute >= ?", filter.from)
        .with("AND minute < ?", filter.to)
        .and(OF_WORKFLOW, workflow)
}

#[async_trait]
impl<D: Database> Minutes for D {
    async fn minutes(
        &self,
        filter: &MinuteFilter,
        limit: u32,
    ) -> Result<Vec<OfWorkflow>, ReadError> {
        let columns = Minute::COLUMNS;
        let query = Query::new(format!(
            "SELECT workflows.id, minute, {columns} FROM workflow_minutes
               JOIN workflows ON workflows.key = workflow_minutes.workflow WHERE"
        ));
        let limit = limit.min(MINUTES_READ_MAX);
        let order = "ORDER BY minute DESC, workflows.id LIMIT ?";
        self.rows(filtered(query, filter).with(order, limit)).await
    }

    async fn minute_points(
        &self,
        filter: &MinuteFilter,
        step: Duration,
    ) -> Result<Vec<MinutePoint>, ReadError> {
        let step = u64::try_from(step.as_micros()).unwrap_or(u64::MAX).max(1);
        let query = Query::new("SELECT minute - minute %").with("?", step);
        let query = query.end(&format!("AS at, {} FROM workflow_minutes WHERE", sums()));
        self.rows(filtered(query, filter).end("GROUP BY 1 ORDER BY 1"))
            .await
    }

    async fn minute_sums(&self, filter: &MinuteFilter) -> Result<Vec<WindowSum>, ReadError> {
        let sums = sums();
        let query = Query::new(format!(
            "SELECT workflows.id, {sums}, max(CASE WHEN failed > 0 THEN minute END),
                    max(CASE WHEN completed > 0 THEN minute END)
               FROM workflow_minutes
               JOIN workflows ON workflows.key = workflow_minutes.workflow WHERE"
        ));
        let order = "GROUP BY workflows.id ORDER BY workflows.id";
        self.rows(filtered(query, filter).end(order)).await
    }
}
