//! Versions of workflows and the differences between them.

use axum::Json;
use axum::extract::{Path, State};
use refire_client::model::{Page, WorkflowDiff, WorkflowVersion};
use refire_client::query::DiffQuery;
use refire_core::definition::WorkflowId;
use refire_store::VersionRow;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::body::Content;
use super::problem::{Problem, invalid_definition};
use super::query::Params;
use super::workflow::{find, known_name, not_found};
use super::{page, view};
use crate::codes;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(one))
        .routes(routes!(between, against))
}

async fn version(app: &App, id: &WorkflowId, version: u32) -> Result<VersionRow, Problem> {
    let missing = || {
        let detail = format!("workflow `{id}` has no version {version}");
        Problem::new(&codes::NO_VERSION, detail)
    };
    app.engine
        .store()
        .version(id, version)
        .await?
        .ok_or_else(missing)
}

/// A workflow's versions, newest first, without their text.
#[utoipa::path(
    get,
    path = "/api/workflows/{id}/versions",
    operation_id = "list_workflow_versions",
    tag = "Workflows",
    params(("id" = String, Path, description = "The workflow's name")),
    responses(
        (status = 200, description = "All versions", body = Page<WorkflowVersion>),
        (status = 404, description = "There is no such workflow"),
    ),
)]
async fn list(
    State(app): State<App>,
    Path(id): Path<String>,
    _: Params<()>,
) -> Result<Json<Page<WorkflowVersion>>, Problem> {
    let rows = app.engine.store().versions(&known_name(&id)?).await?;
    if rows.is_empty() {
        return Err(not_found(&id));
    }
    Ok(Json(page::whole(
        rows.into_iter().map(view::workflow::version).collect(),
    )))
}

/// One version with its text, also of a deleted workflow.
#[utoipa::path(
    get,
    path = "/api/workflows/{id}/versions/{version}",
    operation_id = "get_workflow_version",
    tag = "Workflows",
    params(
        ("id" = String, Path, description = "The workflow's name"),
        ("version" = u32, Path, description = "Counted from 1", example = 1),
    ),
    responses(
        (status = 200, description = "The version", body = WorkflowVersion),
        (status = 404, description = "There is none"),
    ),
)]
async fn one(
    State(app): State<App>,
    Path((id, number)): Path<(String, String)>,
    _: Params<()>,
) -> Result<Json<WorkflowVersion>, Problem> {
    let id = known_name(&id)?;
    let number = number.parse().map_err(|_| {
        let detail = format!("workflow `{id}` has no version {number}");
        Problem::new(&codes::NO_VERSION, detail)
    })?;
    Ok(Json(view::workflow::version(
        version(&app, &id, number).await?,
    )))
}

/// What changed between two versions.
///
/// Without `to` the newest, without `from` the one before it.
#[utoipa::path(
    get,
    path = "/api/workflows/{id}/diff",
    operation_id = "diff_workflow_versions",
    tag = "Workflows",
    params(
        ("id" = String, Path, description = "The workflow's name"),
        DiffQuery,
    ),
    responses(
        (status = 200, description = "The changes", body = WorkflowDiff),
        (status = 404, description = "There is no such version"),
    ),
)]
async fn between(
    State(app): State<App>,
    Path(id): Path<String>,
    Params(query): Params<DiffQuery>,
) -> Result<Json<WorkflowDiff>, Problem> {
    let id = known_name(&id)?;
    let to = match query.to {
        Some(to) => to,
        None => {
            find(&app, &id)
                .await?
                .ok_or_else(|| not_found(id.as_str()))?
                .version
        }
    };
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
    operation_id = "diff_workflow",
    tag = "Workflows",
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
async fn against(
    State(app): State<App>,
    Path(id): Path<String>,
    _: Params<()>,
    body: Content,
) -> Result<Json<WorkflowDiff>, Problem> {
    let source = body.text()?;
    let id = known_name(&id)?;
    app.engine
        .definitions()
        .check(source, Some(id.as_str()))
        .map_err(|problems| invalid_definition(&problems))?;
    let row = find(&app, &id).await?;
    let old = row.as_ref().map(|row| (row.version, row.source.as_str()));
    Ok(Json(view::workflow::diff(&id, old, (None, source))?))
}
