//! Definitions: immutable versions, and whether their workflow is deleted.

use std::collections::BTreeMap;
use std::sync::Arc;

use refire_core::definition::WorkflowId;

use super::Pen;
use crate::model::change::Change;
use crate::model::image::Definition;
use crate::{PartOutcome, PutWorkflow, VersionRow};

impl Pen<'_> {
    pub(super) fn put_workflow(&mut self, put: &PutWorkflow) -> PartOutcome {
        let known = self.image.workflows.get(&put.id).cloned();
        let live = known.as_ref().filter(|known| known.deleted_at.is_none());
        if !put.may_follow(live.map(|live| live.version)) {
            return PartOutcome::NotNewest;
        }
        let is_new = known.as_ref().is_none_or(|known| {
            known
                .versions
                .get(&known.version)
                .is_none_or(|newest| newest.content_hash != put.content_hash)
        });
        let mut definition = known.map_or_else(
            || Definition {
                serial: self.image.workflows.len() as u64 + 1,
                name: put.name.clone(),
                version: 0,
                created_at: self.now,
                updated_at: self.now,
                deleted_at: None,
                versions: BTreeMap::new(),
            },
            |known| (*known).clone(),
        );
        definition.deleted_at = None;
        if is_new {
            definition.name.clone_from(&put.name);
            definition.version += 1;
            definition.updated_at = self.now;
            let version = VersionRow {
                workflow: put.id.clone(),
                version: definition.version,
                content_hash: put.content_hash,
                source: put.source.clone(),
                created_at: self.now,
                created_by: put.by.clone(),
            };
            definition
                .versions
                .insert(definition.version, Arc::new(version));
        }
        let version = definition.version;
        self.change(Change::Workflow(put.id.clone(), Some(Arc::new(definition))));
        PartOutcome::Saved {
            version,
            created: is_new,
        }
    }

    pub(super) fn delete_workflow(&mut self, id: &WorkflowId) -> PartOutcome {
        let known = self.image.workflows.get(id).cloned();
        let Some(known) = known.filter(|known| known.deleted_at.is_none()) else {
            return PartOutcome::NoSuchWorkflow;
        };
        let is_open = |status: refire_core::execution::Status| !status.is_terminal();
        let open = self
            .image
            .executions
            .values()
            .filter(|record| record.row.workflow == *id && is_open(record.row.update.status))
            .count();
        if open > 0 {
            return PartOutcome::OpenExecutions(open as u64);
        }
        let deleted = Definition {
            deleted_at: Some(self.now),
            ..(*known).clone()
        };
        self.change(Change::Workflow(id.clone(), Some(Arc::new(deleted))));
        self.disable_triggers(id);
        PartOutcome::Done
    }
}
