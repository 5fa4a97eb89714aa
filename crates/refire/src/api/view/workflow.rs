//! Workflows, versions and their differences as the API shows them.

use refire_client::model::{Change, Workflow, WorkflowDiff, WorkflowVersion};
use refire_core::definition::{self, ChangeKind, WorkflowId, canonical};
use refire_engine::Engine;
use refire_store::{VersionRow, WorkflowRow};

use super::raw;
use crate::api::Problem;
use crate::api::problem::invalid_definition;

/// A workflow in a list.
pub(crate) async fn listed(engine: &Engine, row: &WorkflowRow) -> Workflow {
    // A definition that this build cannot read is still listed.
    let compiled = engine.catalog().version(&row.id, row.version).await.ok();
    Workflow {
        workflow_id: row.id.to_string(),
        name: row.name.clone(),
        description: compiled
            .as_ref()
            .and_then(|workflow| workflow.description.clone()),
        version: row.version,
        definition: None,
        source: None,
        steps: compiled.map_or(0, |workflow| workflow.steps.len()),
        created_at: row.created_at.to_string(),
        updated_at: row.updated_at.to_string(),
        stats: None,
    }
}

/// A workflow with its definition.
pub(crate) async fn full(engine: &Engine, row: WorkflowRow) -> Result<Workflow, Problem> {
    let mut shown = listed(engine, &row).await;
    let definition = canonical(&row.source, Some(row.id.as_str())).map_err(Problem::internal)?;
    shown.definition = Some(raw(&definition)?);
    shown.source = Some(row.source);
    Ok(shown)
}

/// A version; its text is empty in lists.
pub(crate) fn version(row: VersionRow) -> WorkflowVersion {
    let hash = row
        .content_hash
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    WorkflowVersion {
        workflow_id: row.workflow.to_string(),
        version: row.version,
        content_hash: hash,
        source: (!row.source.is_empty()).then_some(row.source),
        created_at: row.created_at.to_string(),
        created_by: row.created_by,
    }
}

/// What changed from one definition to another; without an old one everything is added.
pub(crate) fn diff(
    id: &WorkflowId,
    old: Option<(u32, &str)>,
    new: (Option<u32>, &str),
) -> Result<WorkflowDiff, Problem> {
    let text = |source: &str| {
        canonical(source, Some(id.as_str())).map_err(|problem| invalid_definition(&problem.into()))
    };
    let before = old.map(|(_, source)| text(source)).transpose()?;
    let before = before.as_ref().map_or("{}", |before| before.as_str());
    let after = text(new.1)?;
    let changes = definition::diff(before, after.as_str())
        .map_err(|problem| invalid_definition(&problem.into()))?;
    Ok(WorkflowDiff {
        from_version: old.map(|(version, _)| version),
        to_version: new.0,
        changes: changes.iter().map(change).collect::<Result<_, _>>()?,
    })
}

fn change(change: &definition::Change) -> Result<Change, Problem> {
    let kind = match change.kind {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Changed => "changed",
        ChangeKind::Moved => "moved",
    };
    Ok(Change {
        path: change.path.clone(),
        kind: kind.to_owned(),
        old: change.old.as_ref().map(raw).transpose()?,
        new: change.new.as_ref().map(raw).transpose()?,
    })
}
