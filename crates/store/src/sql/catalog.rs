//! Definitions and their versions.

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::time::Timestamp;

use super::{AFTER_SYSTEM, Database, Query};
use crate::catalog::verify;
use crate::column::Named;
use crate::{Catalog, ReadError, VersionRow, WorkflowRow};

/// Of workflows with their newest version.
const NEWEST: &str = "FROM workflows JOIN workflow_versions AS v
     ON v.workflow = workflows.key AND v.version = workflows.version WHERE workflows.ns = 1";

/// Of all versions.
const ALL: &str = "FROM workflow_versions AS v JOIN workflows ON workflows.key = v.workflow
     WHERE workflows.ns = 1";

/// Those that lists have.
fn listed() -> Query {
    let columns = WorkflowRow::COLUMNS;
    Query::new(format!(
        "SELECT {columns} {NEWEST} AND workflows.deleted_at IS NULL AND workflows.id > '{AFTER_SYSTEM}'
         AND NOT EXISTS (SELECT 1 FROM scheduled_tasks WHERE workflow = workflows.key)"
    ))
}

#[async_trait]
impl<D: Database> Catalog for D {
    async fn workflow(&self, id: &WorkflowId) -> Result<Option<WorkflowRow>, ReadError> {
        let query = Query::new(format!("SELECT {} {NEWEST}", WorkflowRow::COLUMNS));
        self.row(query.with("AND workflows.id = ?", id.as_str()))
            .await
    }

    async fn workflows(
        &self,
        after: Option<&WorkflowId>,
        limit: u32,
    ) -> Result<Vec<WorkflowRow>, ReadError> {
        let query = listed()
            .and("workflows.id > ?", after.map(WorkflowId::as_str))
            .page("workflows.id", limit);
        self.rows(query).await
    }

    async fn workflows_by_change(
        &self,
        behind: Option<&(Timestamp, WorkflowId)>,
        limit: u32,
    ) -> Result<Vec<WorkflowRow>, ReadError> {
        let mut query = listed();
        if let Some((updated_at, id)) = behind {
            query = query
                .with("AND (workflows.updated_at < ?", *updated_at)
                .with("OR (workflows.updated_at = ?", *updated_at)
                .with("AND workflows.id > ?))", id.as_str());
        }
        self.rows(query.page("workflows.updated_at DESC, workflows.id", limit))
            .await
    }

    async fn version(
        &self,
        id: &WorkflowId,
        version: u32,
    ) -> Result<Option<VersionRow>, ReadError> {
        let columns = VersionRow::COLUMNS;
        let query = Query::new(format!("SELECT {columns}, v.source, v.crc {ALL}"))
            .with("AND workflows.id = ?", id.as_str())
            .with("AND v.version = ?", version);
        let Some((row, source, crc)) = self.row::<(VersionRow, String, u32)>(query).await? else {
            return Ok(None);
        };
        verify(crc, id, row.version, &source)?;
        Ok(Some(VersionRow { source, ..row }))
    }

    async fn versions(&self, id: &WorkflowId) -> Result<Vec<VersionRow>, ReadError> {
        let query = Query::new(format!("SELECT {} {ALL}", VersionRow::COLUMNS))
            .with("AND workflows.id = ? ORDER BY v.version DESC", id.as_str());
        self.rows(query).await
    }
}
