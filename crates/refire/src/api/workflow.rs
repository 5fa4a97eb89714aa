//! Workflows: save, look, check, delete.

pub(super) mod list;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::ETAG;
use refire_client::model::{Workflow, WorkflowDeleted, WorkflowSaved};
use refire_core::definition::{WorkflowId, canonical, content_hash};
use refire_engine::{ApplyError, Deleted};
use refire_schedule::nearest;
use refire_store::{TriggerFilter, WorkflowRow};

use super::etag::{self, Wanted};
use super::problem::invalid_definition;
use super::{Actor, Answer, App, Content, Id, Params, Problem, view};
use crate::codes;

/// Workflows that are looked through for the one that was meant.
const SUGGESTED_FROM_MAX: u32 = 1_000;

/// The problem that a workflow is not there, with the one whose name is nearest to what the path says.
pub(super) async fn suggesting(app: &App, problem: Problem, path: &str) -> Problem {
    let Some(rest) = path.strip_prefix("/api/workflows/") else {
        return problem;
    };
    let written = rest.split('/').next().unwrap_or_default();
    let Ok(rows) = app.engine.store().workflows(None, SUGGESTED_FROM_MAX).await else {
        return problem;
    };
    let near = nearest(written, rows.iter().map(|row| row.id.as_str()));
    match near.filter(|near| *near != written) {
        Some(near) => problem.and(&format!("; did you mean `{near}`?")),
        None => problem,
    }
}

/// The newest version of a workflow that was not deleted.
pub(super) async fn find(app: &App, id: &Id<WorkflowId>) -> Result<WorkflowRow, Problem> {
    let row = newest(app, &id.known()?).await?;
    row.ok_or_else(|| id.missing())
}

/// The same; none if there is no such workflow.
pub(super) async fn newest(app: &App, id: &WorkflowId) -> Result<Option<WorkflowRow>, Problem> {
    let row = app.engine.store().workflow(id).await?;
    Ok(row.filter(|row| row.deleted_at.is_none()))
}

/// Saves a definition, in YAML or JSON. Unchanged content makes no new version.
///
/// With `If-Match`, it is saved only over the version that you have seen; with `If-None-Match: *`, only if
/// there is no such workflow. Without them the last change wins.
#[utoipa::path(
    put,
    path = "/api/workflows/{id}",
    params(
        ("If-Match" = Option<String>, Header, description = "The version that is changed, such as `\"3\"`"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: there is none yet"),
    ),
    request_body(
        content(
            (String = "application/yaml", example = "id: customer_360_view\nsteps:\n  - id: tickets\n    type: http\n    config:\n      method: POST\n      url: https://crm.example.com/tickets\n      body: { customer: \"${input.customer_id}\" }\n"),
            (serde_json::Value = "application/json"),
        ),
        description = "The definition; `GET /api/schema/workflow` is its schema",
    ),
    responses(
        (status = 200, description = "Saved, or nothing changed", body = WorkflowSaved,
            headers(("ETag" = String, description = "Its version, for `If-Match`")),
            example = json!({"workflow_id": "customer_360_view", "version": 1, "created": true, "notes": []})),
        (status = 400, description = "Every problem of the definition"),
        (status = 412, description = "It has another version", headers(("ETag" = String, description = "That version"))),
    ),
)]
pub(super) async fn save_workflow(
    app: App,
    actor: Actor,
    id: Id<WorkflowId>,
    _: Params<()>,
    headers: HeaderMap,
    body: Content,
) -> Result<Response, Problem> {
    let source = body.text()?;
    let name = WorkflowId::new(id.to_string())
        .map_err(|error| Problem::field(&codes::INVALID_PARAMETER, "id", error.to_string()))?;
    let before = app.engine.store().workflow(&name).await?;
    let live = before.as_ref().filter(|row| row.deleted_at.is_none());
    let expected = expected(&headers, &name, live)?;
    let (definitions, by) = (app.engine.definitions(), actor.name());
    let applied = match definitions
        .apply_over(source, Some(name.as_str()), &by, expected)
        .await
    {
        Err(ApplyError::Changed) => {
            let live = newest(&app, &name).await?;
            return Err(changed(&name, live.as_ref(), expected));
        }
        applied => applied?,
    };
    let restored = before.is_some_and(|row| row.deleted_at.is_some());
    let mut notes = app.engine.definitions().notes(&applied.definition.workflow);
    if restored {
        notes.extend(paused(&app, &name).await?);
    }
    let version = applied.definition.version;
    let saved = WorkflowSaved {
        workflow_id: applied.definition.workflow.id.to_string(),
        version,
        created: applied.created,
        restored,
        notes,
    };
    let mut response = Json(saved).into_response();
    etag::tag(response.headers_mut(), version);
    Ok(response)
}

/// The version that is to be there; 0 = none.
fn expected(
    headers: &HeaderMap,
    id: &WorkflowId,
    live: Option<&WorkflowRow>,
) -> Result<Option<u32>, Problem> {
    match (etag::wanted(headers)?, etag::must_be_new(headers)?) {
        (Some(_), true) => {
            let message = "is of no use together with If-Match";
            let field = "If-None-Match";
            Err(Problem::field(&codes::INVALID_PARAMETER, field, message))
        }
        (None, true) => Ok(Some(0)),
        (Some(Wanted::Version(version)), false) => Ok(Some(version)),
        (Some(Wanted::Any), false) => match live {
            Some(live) => Ok(Some(live.version)),
            None => Err(changed(id, None, None)),
        },
        (None, false) => Ok(None),
    }
}

/// The problem that another version is there than was expected.
fn changed(id: &WorkflowId, live: Option<&WorkflowRow>, expected: Option<u32>) -> Problem {
    let detail = match (live, expected) {
        (None, _) => format!("there is no workflow `{id}`"),
        (Some(live), Some(0)) => {
            format!(
                "there is a workflow `{id}` already; it has version {}",
                live.version
            )
        }
        (Some(live), expected) => {
            let (version, expected) = (live.version, expected.unwrap_or_default());
            format!("the workflow `{id}` has version {version} now, and not {expected}")
        }
    };
    let problem = Problem::new(&codes::WORKFLOW_CHANGED, detail);
    match live.and_then(|live| etag::value(live.version)) {
        Some(tag) => problem.with_header(ETAG, tag),
        None => problem,
    }
}

/// How many triggers of a workflow are enabled, or are not.
async fn triggers(app: &App, workflow: &WorkflowId, enabled: bool) -> Result<u64, Problem> {
    let filter = TriggerFilter {
        workflow: Some(workflow.clone()),
        enabled: Some(enabled),
        ..TriggerFilter::default()
    };
    Ok(app.engine.store().count_triggers(&filter).await?)
}

/// What is worth knowing of the triggers of a workflow that is back.
async fn paused(app: &App, workflow: &WorkflowId) -> Result<Option<String>, Problem> {
    let count = triggers(app, workflow, false).await?;
    let what = match count {
        0 => return Ok(None),
        1 => "1 of its triggers is disabled".to_owned(),
        count => format!("{count} of its triggers are disabled"),
    };
    Ok(Some(format!(
        "{what} (deleting a workflow disables its triggers): \
         `refire trigger list --workflow {workflow} --disabled` lists them"
    )))
}

/// A workflow with its newest definition.
#[utoipa::path(
    get,
    path = "/api/workflows/{id}",
    responses((status = 200, description = "The workflow", body = Workflow,
        headers(("ETag" = String, description = "Its version, for `If-Match`")))),
)]
pub(super) async fn get_workflow(
    app: App,
    id: Id<WorkflowId>,
    _: Params<()>,
) -> Result<Response, Problem> {
    let row = find(&app, &id).await?;
    let version = row.version;
    let mut response = Json(view::workflow::full(&app.engine, row).await?).into_response();
    etag::tag(response.headers_mut(), version);
    Ok(response)
}

/// Deletes a workflow and disables its triggers. Its executions and dead letters are kept.
#[utoipa::path(
    delete,
    path = "/api/workflows/{id}",
    responses(
        (status = 200, description = "Deleted, with how many triggers were disabled", body = WorkflowDeleted),
        (status = 409, description = "Executions are open"),
    ),
)]
pub(super) async fn delete_workflow(
    app: App,
    id: Id<WorkflowId>,
    _: Params<()>,
) -> Answer<WorkflowDeleted> {
    let name = id.known()?;
    let triggers_disabled = triggers(&app, &name, true).await?;
    match app.engine.definitions().delete(&name).await? {
        Deleted::Done => Ok(Json(WorkflowDeleted {
            workflow_id: name.to_string(),
            deleted: true,
            triggers_disabled,
        })),
        Deleted::NotFound => Err(id.missing()),
        Deleted::Open(open) => {
            let plural = if open == 1 { "execution" } else { "executions" };
            let detail = format!("the workflow has {open} open {plural}");
            Err(Problem::new(&codes::WORKFLOW_IN_USE, detail))
        }
    }
}

/// Checks a definition and says what saving it would do. Saves nothing.
#[utoipa::path(
    post,
    path = "/api/workflows/validate",
    request_body(
        content((String = "application/yaml"), (serde_json::Value = "application/json")),
        description = "The definition",
    ),
    responses(
        (status = 200, description = "It is valid; the version it would get", body = WorkflowSaved),
        (status = 400, description = "Every problem of the definition"),
    ),
)]
pub(super) async fn validate_workflow(
    app: App,
    _: Params<()>,
    body: Content,
) -> Answer<WorkflowSaved> {
    let source = body.text()?;
    let workflow = app
        .engine
        .definitions()
        .check(source, None)
        .map_err(|found| invalid_definition(&found))?;
    let hash = |source: &str| {
        canonical(source, Some(workflow.id.as_str())).map(|text| content_hash(&text))
    };
    let before = app.engine.store().workflow(&workflow.id).await?;
    let restored = before.as_ref().is_some_and(|row| row.deleted_at.is_some());
    let (version, created) = match before {
        None => (1, true),
        Some(row) if hash(&row.source) == hash(source) => (row.version, false),
        Some(row) => (row.version.saturating_add(1), true),
    };
    let notes = app.engine.definitions().notes(&workflow);
    Ok(Json(WorkflowSaved {
        workflow_id: workflow.id.to_string(),
        version,
        created,
        restored,
        notes,
    }))
}
