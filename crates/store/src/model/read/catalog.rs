//! Definitions and their versions.

use async_trait::async_trait;
use refire_core::definition::WorkflowId;

use super::page;
use crate::model::Model;
use crate::model::image::Definition;
use crate::{Catalog, ReadError, VersionRow, WorkflowRow};

#[async_trait]
impl Catalog for Model {
    async fn workflow(&self, id: &WorkflowId) -> Result<Option<WorkflowRow>, ReadError> {
        self.read("workflow", |image| {
            let definition = image.workflows.get(id);
            Ok(definition.map(|definition| workflow_row(id, definition)))
        })
        .await
    }

    async fn workflows(
        &self,
        after: Option<&WorkflowId>,
        limit: u32,
    ) -> Result<Vec<WorkflowRow>, ReadError> {
        self.read("workflows", |image| {
            let live = image.workflows.iter().filter(|(id, definition)| {
                after.is_none_or(|after| *id > after)
                    && definition.deleted_at.is_none()
                    && !image.scheduled.values().any(|task| task.workflow == **id)
            });
            let rows = live.map(|(id, definition)| workflow_row(id, definition));
            Ok(rows.take(page(limit)).collect())
        })
        .await
    }

    async fn version(
        &self,
        id: &WorkflowId,
        version: u32,
    ) -> Result<Option<VersionRow>, ReadError> {
        self.read("version", |image| {
            let definition = image.workflows.get(id);
            let row = definition.and_then(|definition| definition.versions.get(&version));
            Ok(row.map(|row| (**row).clone()))
        })
        .await
    }

    async fn versions(&self, id: &WorkflowId) -> Result<Vec<VersionRow>, ReadError> {
        self.read("versions", |image| {
            let definition = image.workflows.get(id).into_iter();
            let versions = definition.flat_map(|definition| definition.versions.values().rev());
            let without_text = versions.map(|version| VersionRow {
                source: String::new(),
                ..(**version).clone()
            });
            Ok(without_text.collect())
        })
        .await
    }
}

fn workflow_row(id: &WorkflowId, definition: &Definition) -> WorkflowRow {
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
