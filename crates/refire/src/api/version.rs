//! Versions of workflows and the differences between them.

use std::fmt::Display;

use axum::Json;
use axum::extract::Path;
use refire_client::model::{Page, WorkflowDiff, WorkflowVersion};
use refire_client::query::DiffQuery;
use refire_core::definition::WorkflowId;
use refire_store::VersionRow;

use super::problem::invalid_definition;
use super::workflow::{find, newest};
use super::{Answer, App, Content, Id, Params, Problem, page, view};
use crate::codes;

async fn version(app: &App, id: &WorkflowId, version: u32) -> Result<VersionRow, Problem> {
    let row = app.engine.store().version(id, version).await?;
    row.ok_or_else(|| no_version(id, version))
}

fn no_version(id: &WorkflowId, version: impl Display) -> Problem {
    let detail = format!("workflow `{id}` has no version {version}");
    Problem::new(&codes::NO_VERSION, detail)
}

/// A workflow's versions, newest first, without their text.
#[utoipa::path(
    get,
    path = "/api/workflows/{id}/versions",
    params(("id" = String, Path, description = "The workflow's name")),
    responses((status = 200, description = "All versions", body = Page<WorkflowVersion>)),
)]
pub(super) async fn list_workflow_versions(
    app: App,
    id: Id<WorkflowId>,
    _: Params<()>,
) -> Answer<Page<WorkflowVersion>> {
    let rows = app.engine.store().versions(&id.known()?).await?;
    if rows.is_empty() {
        return Err(id.missing());
    }
    Ok(Json(page::whole(
        rows.into_iter().map(view::workflow::version).collect(),
    )))
}

/// One version with its text, also of a deleted workflow.
#[utoipa::path(
    get,
    path = "/api/workflows/{id}/versions/{version}",
    params(
        ("id" = String, Path, description = "The workflow's name"),
        ("version" = u32, Path, description = "Counted from 1", example = 1),
    ),
    responses(
        (status = 200, description = "The version", body = WorkflowVersion),
        (status = 404, description = "There is none"),
    ),
)]
pub(super) async fn get_workflow_version(
    app: App,
    Path((id, number)): Path<(String, String)>,
    _: Params<()>,
) -> Answer<WorkflowVersion> {
    let id = Id::new(id).known()?;
    let number = number.parse().map_err(|_| no_version(&id, number))?;
    let row = version(&app, &id, number).await?;
    Ok(Json(view::workflow::version(row)))
}

/// What changed between two versions.
///
/// Without `to` the newest, without `from` the one before it.
#[utoipa::path(
    get,
    path = "/api/workflows/{id}/diff",
    params(
        ("id" = String, Path, description = "The workflow's name"),
        DiffQuery,
    ),
    responses(
        (status = 200, description = "The changes", body = WorkflowDiff),
        (status = 404, description = "There is no such version"),
    ),
)]
pub(super) async fn diff_workflow_versions(
    app: App,
    id: Id<WorkflowId>,
    Params(query): Params<DiffQuery>,
) -> Answer<WorkflowDiff> {
    let to = match query.to {
        Some(to) => to,
        None => find(&app, &id).await?.version,
    };
    let id = id.known()?;
    let new = version(&app, &id, to).await?;
    let old = match query.from.unwrap_or(to - 1) {
        0 => None,
        from => Some(version(&app, &id, from).await?),
    };
    let old = old.as_ref().map(|row| (row.version, row.source.as_str()));
    Ok(Json(view::workflow::diff(
        &id,
        old,
        (Some(to), &new.source),
    )?))
}

/// What saving a definition would change. Saves nothing.
#[utoipa::path(
    post,
    path = "/api/workflows/{id}/diff",
    params(("id" = String, Path, description = "The workflow's name")),
    request_body(
        content((String = "application/yaml"), (serde_json::Value = "application/json")),
        description = "The definition",
    ),
    responses(
        (status = 200, description = "The changes; everything is added if there is no such workflow yet", body = WorkflowDiff),
        (status = 400, description = "Every problem of the definition"),
        (status = 404, description = "No workflow can have this name"),
    ),
)]
pub(super) async fn diff_workflow(
    app: App,
    id: Id<WorkflowId>,
    _: Params<()>,
    body: Content,
) -> Answer<WorkflowDiff> {
    let source = body.text()?;
    let id = id.known()?;
    app.engine
        .definitions()
        .check(source, Some(id.as_str()))
        .map_err(|problems| invalid_definition(&problems))?;
    let row = newest(&app, &id).await?;
    let old = row.as_ref().map(|row| (row.version, row.source.as_str()));
    Ok(Json(view::workflow::diff(&id, old, (None, source))?))
}
