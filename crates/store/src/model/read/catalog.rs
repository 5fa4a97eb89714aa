//! Definitions and their versions.

use std::sync::Arc;

use refire_core::definition::WorkflowId;

use super::page;
use crate::model::image::{Definition, Image};
use crate::{VersionRow, WorkflowRow};

impl Image {
    pub(in crate::model) fn workflow(&self, id: &WorkflowId) -> Option<WorkflowRow> {
        let definition = self.workflows.get(id)?;
        Some(workflow_row(id, definition))
    }

    /// Those that are not deleted, in the order of their ids.
    pub(in crate::model) fn workflow_page(
        &self,
        after: Option<&WorkflowId>,
        limit: u32,
    ) -> Vec<WorkflowRow> {
        self.workflows
            .iter()
            .filter(|(id, _)| after.is_none_or(|after| *id > after))
            .filter(|(_, definition)| definition.deleted_at.is_none())
            .take(page(limit))
            .map(|(id, definition)| workflow_row(id, definition))
            .collect()
    }

    pub(in crate::model) fn version(&self, id: &WorkflowId, version: u32) -> Option<VersionRow> {
        let version = self.workflows.get(id)?.versions.get(&version)?;
        Some((**version).clone())
    }

    /// All versions without their texts, newest first.
    pub(in crate::model) fn versions(&self, id: &WorkflowId) -> Vec<VersionRow> {
        let definition = self.workflows.get(id);
        let versions = definition.map(|definition| definition.versions.values().rev());
        versions
            .into_iter()
            .flatten()
            .map(|version| VersionRow {
                source: String::new(),
                ..(**version).clone()
            })
            .collect()
    }
}

fn workflow_row(id: &WorkflowId, definition: &Arc<Definition>) -> WorkflowRow {
    let newest = definition.versions.get(&definition.version);
    WorkflowRow {
        id: id.clone(),
        name: definition.name.clone(),
        version: definition.version,
        source: newest.map_or_else(String::new, |newest| newest.source.clone()),
        created_at: definition.created_at,
        updated_at: definition.updated_at,
        deleted_at: definition.deleted_at,
    }
}
