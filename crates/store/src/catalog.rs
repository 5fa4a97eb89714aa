//! Workflow definitions as they are read back.

use refire_core::definition::WorkflowId;
use refire_core::time::Timestamp;

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
