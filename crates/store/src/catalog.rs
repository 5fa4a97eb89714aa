//! Workflow definitions as they are read back.

use refire_core::definition::WorkflowId;
use refire_core::time::Timestamp;

use crate::column::read_from;
use crate::error::corrupt;
use crate::layer::store_trait;
use crate::{ReadError, checksum};

store_trait! {
    /// Definitions and their versions.
    pub trait Catalog {
        /// A workflow's newest version, deleted ones too.
        async fn workflow(&self, id: &WorkflowId) -> Result<Option<WorkflowRow>, ReadError>;

        /// Workflows by name after `after`, not the deleted ones, nor those of scheduled tasks.
        async fn workflows(
            &self,
            after: Option<&WorkflowId>,
            limit: u32,
        ) -> Result<Vec<WorkflowRow>, ReadError>;

        /// The same workflows by when they were last saved, newest first, behind a place in that order.
        async fn workflows_by_change(
            &self,
            behind: Option<&(Timestamp, WorkflowId)>,
            limit: u32,
        ) -> Result<Vec<WorkflowRow>, ReadError>;

        /// One version of a definition.
        async fn version(&self, id: &WorkflowId, version: u32) -> Result<Option<VersionRow>, ReadError>; as Layer;

        /// All versions of a definition, newest first, without their text.
        async fn versions(&self, id: &WorkflowId) -> Result<Vec<VersionRow>, ReadError>;
    }
}

/// A workflow and its newest version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowRow {
    /// The workflow.
    pub id: WorkflowId,
    /// Its name for people.
    pub name: String,
    /// The newest version.
    pub version: u32,
    /// That version's text as it was sent.
    pub source: String,
    /// When it was first saved.
    pub created_at: Timestamp,
    /// When the newest version was saved.
    pub updated_at: Timestamp,
    /// When it was deleted. Its versions stay for the executions that keep them.
    pub deleted_at: Option<Timestamp>,
}

read_from! {
    WorkflowRow {
        id: "workflows.id",
        name: "workflows.name",
        version: "workflows.version",
        source: "v.source",
        created_at: "workflows.created_at",
        updated_at: "workflows.updated_at",
        deleted_at: "workflows.deleted_at"
    } checked by "v.crc" with fits
}

fn fits(row: &WorkflowRow, crc: u32) -> Result<(), ReadError> {
    verify(crc, &row.id, row.version, &row.source)
}

/// One immutable version of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRow {
    /// The workflow.
    pub workflow: WorkflowId,
    /// Counted from 1.
    pub version: u32,
    /// SHA-256 of the canonical content.
    pub content_hash: [u8; 32],
    /// The text as it was sent; empty in lists.
    pub source: String,
    /// When it was saved.
    pub created_at: Timestamp,
    /// Who saved it.
    pub created_by: String,
}

read_from! {
    VersionRow {
        workflow: "workflows.id",
        version: "v.version",
        content_hash: "v.content_hash",
        created_at: "v.created_at",
        created_by: "v.created_by";
        source = String::new()
    }
}

/// Whether a definition's text is what was saved.
pub(crate) fn verify(
    crc: u32,
    id: &WorkflowId,
    version: u32,
    source: &str,
) -> Result<(), ReadError> {
    checksum::verify(crc, checksum::definition(id, version, source))
        .map_err(corrupt(|| format!("version {version} of workflow `{id}`")))
}
