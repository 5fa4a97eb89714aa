//! Definitions and their versions.

use std::cmp::Reverse;

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::time::Timestamp;

use super::page;
use crate::model::Model;
use crate::model::image::{Definition, Image};
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
            let rows = image.listed_workflows();
            let rows = rows.filter(|row| after.is_none_or(|after| row.id > *after));
            Ok(rows.take(page(limit)).collect())
        })
        .await
    }

    async fn workflows_by_change(
        &self,
        behind: Option<&(Timestamp, WorkflowId)>,
        limit: u32,
    ) -> Result<Vec<WorkflowRow>, ReadError> {
        let place = |updated_at, id: &WorkflowId| (Reverse(updated_at), id.clone());
        let behind = behind.map(|(updated_at, id)| place(*updated_at, id));
        self.read("workflows_by_change", |image| {
            let of = |row: &WorkflowRow| place(row.updated_at, &row.id);
            let rows = image.listed_workflows();
            let rows = rows.filter(|row| behind.as_ref().is_none_or(|behind| of(row) > *behind));
            let mut rows: Vec<WorkflowRow> = rows.collect();
            rows.sort_by_key(of);
            rows.truncate(page(limit));
            Ok(rows)
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

impl Image {
    /// Those that lists have, by name.
    fn listed_workflows(&self) -> impl Iterator<Item = WorkflowRow> {
        let live = self.workflows.iter().filter(|(id, definition)| {
            definition.deleted_at.is_none()
                && !id.is_system()
                && !self.scheduled.values().any(|task| task.workflow == **id)
        });
        live.map(|(id, definition)| workflow_row(id, definition))
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
