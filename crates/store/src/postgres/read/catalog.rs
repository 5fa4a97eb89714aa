//! Definitions and their versions.

use refire_core::definition::WorkflowId;
use tokio_postgres::Row;

use crate::checksum;
use crate::postgres::columns::{
    crc, foreign, get, maybe_time, signed_small, small, time, workflow_id,
};
use crate::postgres::failure::corrupt;
use crate::postgres::pool::Reader;
use crate::{LIMIT_MAX, ReadError, VersionRow, WorkflowRow};

/// A workflow with its newest version.
const WORKFLOW: &str = "SELECT workflows.id, workflows.name, workflows.version, newest.source, \
     workflows.created_at, workflows.updated_at, workflows.deleted_at, newest.crc \
     FROM workflows JOIN workflow_versions AS newest \
     ON newest.workflow = workflows.key AND newest.version = workflows.version";

fn workflow_row(row: &Row) -> Result<WorkflowRow, ReadError> {
    let workflow = WorkflowRow {
        id: workflow_id(row, 0)?,
        name: foreign(row, 1)?,
        version: small(row, 2)?,
        source: foreign(row, 3)?,
        created_at: time(row, 4)?,
        updated_at: time(row, 5)?,
        deleted_at: maybe_time(row, 6)?,
    };
    verify(
        crc(row, 7)?,
        &workflow.id,
        workflow.version,
        &workflow.source,
    )?;
    Ok(workflow)
}

/// Whether a definition's text is what was saved.
fn verify(crc: u32, id: &WorkflowId, version: u32, source: &str) -> Result<(), ReadError> {
    checksum::verify(crc, checksum::definition(id, version, source))
        .map_err(corrupt(|| format!("version {version} of workflow `{id}`")))
}

pub(in crate::postgres) async fn workflow(
    reader: &Reader,
    id: &WorkflowId,
) -> Result<Option<WorkflowRow>, ReadError> {
    let sql = format!("{WORKFLOW} WHERE workflows.ns = 1 AND workflows.id = $1");
    let row = reader.row(&sql, &[&id.as_str()]).await?;
    row.as_ref().map(workflow_row).transpose()
}

/// Those that are not deleted, in the order of their ids.
pub(in crate::postgres) async fn workflows(
    reader: &Reader,
    after: Option<&WorkflowId>,
    limit: u32,
) -> Result<Vec<WorkflowRow>, ReadError> {
    // No id is empty, so an empty text comes before all of them.
    let after = after.map_or("", WorkflowId::as_str);
    let sql = format!(
        "{WORKFLOW} WHERE workflows.ns = 1 AND workflows.id > $1 AND workflows.deleted_at IS NULL
         ORDER BY workflows.id LIMIT $2"
    );
    let limit = i64::from(limit.min(LIMIT_MAX));
    let rows = reader.rows(&sql, &[&after, &limit]).await?;
    rows.iter().map(workflow_row).collect()
}

/// One version with its text.
pub(in crate::postgres) async fn version(
    reader: &Reader,
    id: &WorkflowId,
    version: u32,
) -> Result<Option<VersionRow>, ReadError> {
    let row = reader
        .row(
            "SELECT v.version, v.content_hash, v.created_at, v.created_by, v.source, v.crc
             FROM workflow_versions AS v JOIN workflows ON workflows.key = v.workflow
             WHERE workflows.ns = 1 AND workflows.id = $1 AND v.version = $2",
            &[&id.as_str(), &signed_small(version)],
        )
        .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let version = version_row(&row, id, foreign(&row, 4)?)?;
    verify(crc(&row, 5)?, id, version.version, &version.source)?;
    Ok(Some(version))
}

/// All versions without their texts, newest first.
pub(in crate::postgres) async fn versions(
    reader: &Reader,
    id: &WorkflowId,
) -> Result<Vec<VersionRow>, ReadError> {
    let rows = reader
        .rows(
            "SELECT v.version, v.content_hash, v.created_at, v.created_by
             FROM workflow_versions AS v JOIN workflows ON workflows.key = v.workflow
             WHERE workflows.ns = 1 AND workflows.id = $1 ORDER BY v.version DESC",
            &[&id.as_str()],
        )
        .await?;
    rows.iter()
        .map(|row| version_row(row, id, String::new()))
        .collect()
}

fn version_row(row: &Row, id: &WorkflowId, source: String) -> Result<VersionRow, ReadError> {
    let hash: &[u8] = get(row, 1)?;
    Ok(VersionRow {
        workflow: id.clone(),
        version: small(row, 0)?,
        content_hash: hash
            .try_into()
            .map_err(corrupt(|| format!("a version of workflow `{id}`")))?,
        source,
        created_at: time(row, 2)?,
        created_by: foreign(row, 3)?,
    })
}
