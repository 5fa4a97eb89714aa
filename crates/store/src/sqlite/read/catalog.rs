//! Definitions and their versions.

use refire_core::definition::WorkflowId;
use rusqlite::{Row, params};

use crate::checksum;
use crate::sqlite::columns::{maybe_time, time, workflow_id};
use crate::sqlite::failure::corrupt;
use crate::sqlite::readers::Reader;
use crate::{LIMIT_MAX, ReadError, VersionRow, WorkflowRow};

/// A workflow with its newest version.
const WORKFLOW: &str = "SELECT workflows.id, workflows.name, workflows.version, newest.source, \
     workflows.created_at, workflows.updated_at, workflows.deleted_at, newest.crc \
     FROM workflows JOIN workflow_versions AS newest \
     ON newest.workflow = workflows.key AND newest.version = workflows.version";

fn workflow_row(row: &Row<'_>) -> Result<WorkflowRow, ReadError> {
    let workflow = WorkflowRow {
        id: workflow_id(row, 0)?,
        name: row.get(1)?,
        version: row.get(2)?,
        source: row.get(3)?,
        created_at: time(row, 4)?,
        updated_at: time(row, 5)?,
        deleted_at: maybe_time(row, 6)?,
    };
    verify(
        row.get(7)?,
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

pub(in crate::sqlite) fn workflow(
    reader: &Reader,
    id: &WorkflowId,
) -> Result<Option<WorkflowRow>, ReadError> {
    reader
        .prepare(&format!(
            "{WORKFLOW} WHERE workflows.ns = 1 AND workflows.id = ?1"
        ))?
        .query_and_then([id.as_str()], workflow_row)?
        .next()
        .transpose()
}

/// Those that are not deleted, in the order of their ids.
pub(in crate::sqlite) fn workflows(
    reader: &Reader,
    after: Option<&WorkflowId>,
    limit: u32,
) -> Result<Vec<WorkflowRow>, ReadError> {
    // No id is empty, so an empty text comes before all of them.
    let after = after.map_or("", WorkflowId::as_str);
    reader
        .prepare(&format!(
            "{WORKFLOW} WHERE workflows.ns = 1 AND workflows.id > ?1
               AND workflows.deleted_at IS NULL
             ORDER BY workflows.id LIMIT ?2"
        ))?
        .query_and_then(params![after, limit.min(LIMIT_MAX)], workflow_row)?
        .collect()
}

/// One version with its text.
pub(in crate::sqlite) fn version(
    reader: &Reader,
    id: &WorkflowId,
    version: u32,
) -> Result<Option<VersionRow>, ReadError> {
    reader
        .prepare(
            "SELECT v.version, v.content_hash, v.created_at, v.created_by, v.source, v.crc
             FROM workflow_versions AS v JOIN workflows ON workflows.key = v.workflow
             WHERE workflows.ns = 1 AND workflows.id = ?1 AND v.version = ?2",
        )?
        .query_and_then(params![id.as_str(), version], |row| {
            let version = version_row(row, id)?;
            verify(row.get(5)?, id, version.version, &version.source)?;
            Ok(version)
        })?
        .next()
        .transpose()
}

/// All versions without their texts, newest first.
pub(in crate::sqlite) fn versions(
    reader: &Reader,
    id: &WorkflowId,
) -> Result<Vec<VersionRow>, ReadError> {
    reader
        .prepare(
            "SELECT v.version, v.content_hash, v.created_at, v.created_by, ''
             FROM workflow_versions AS v JOIN workflows ON workflows.key = v.workflow
             WHERE workflows.ns = 1 AND workflows.id = ?1 ORDER BY v.version DESC",
        )?
        .query_map([id.as_str()], |row| version_row(row, id))?
        .map(|row| row.map_err(ReadError::from))
        .collect()
}

fn version_row(row: &Row<'_>, id: &WorkflowId) -> rusqlite::Result<VersionRow> {
    Ok(VersionRow {
        workflow: id.clone(),
        version: row.get(0)?,
        content_hash: row.get(1)?,
        created_at: time(row, 2)?,
        created_by: row.get(3)?,
        source: row.get(4)?,
    })
}
