//! The server itself: whether it is well, what it is, its papers.

use std::path::{Path as FilePath, PathBuf};
use std::time::Instant;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use refire_client::model::{BackupRequest, BackupResult, Health, Problem as ProblemModel, Version};
use refire_core::definition::json_schema;
use refire_schedule::{zone_data_version, zone_source};
use refire_store::ReadError;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::body::Content;
use super::problem::Problem;
use super::query::Query;
use crate::codes;

/// What needs no key.
pub(super) fn open_router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(livez))
        .routes(routes!(healthz))
        .routes(routes!(readyz))
        .routes(routes!(version))
        .routes(routes!(schema))
        .routes(routes!(error_page))
        .route("/", axum::routing::get(home))
}

/// What needs one.
pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(backup))
}

fn health(status: StatusCode, word: &str) -> Response {
    (
        status,
        Json(Health {
            status: word.to_owned(),
        }),
    )
        .into_response()
}

/// The process runs.
#[utoipa::path(
    get, path = "/livez", tag = "Server", security(()),
    responses((status = 200, description = "It runs", body = Health, example = json!({"status": "ok"}))),
)]
async fn livez() -> Response {
    health(StatusCode::OK, "ok")
}

/// The same as /livez.
#[utoipa::path(
    get, path = "/healthz", tag = "Server", security(()),
    responses((status = 200, description = "It runs", body = Health)),
)]
async fn healthz() -> Response {
    health(StatusCode::OK, "ok")
}

/// Whether new work is accepted.
#[utoipa::path(
    get, path = "/readyz", tag = "Server", security(()),
    responses(
        (status = 200, description = "It is", body = Health),
        (status = 503, description = "It is not, and why", body = Health, example = json!({"status": "stopping"})),
    ),
)]
async fn readyz(State(app): State<App>) -> Response {
    let refuse = |why| health(StatusCode::SERVICE_UNAVAILABLE, why);
    if app.gate.is_stopping() {
        refuse("stopping")
    } else if !app.engine.is_ready() || !app.readiness.store_answers(&app.engine).await {
        refuse("the store is not available")
    } else {
        health(StatusCode::OK, "ok")
    }
}

/// What runs here.
#[utoipa::path(
    get, path = "/version", operation_id = "get_version", tag = "Server", security(()),
    responses((status = 200, description = "The version", body = Version)),
)]
async fn version(State(app): State<App>) -> Json<Version> {
    Json(Version {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        node_id: app.engine.node().to_string(),
        store: if app.engine.store().is_shared() {
            "postgres".to_owned()
        } else {
            "sqlite".to_owned()
        },
        time_zones: zone_data_version().to_owned(),
        time_zone_source: zone_source().as_str().to_owned(),
    })
}

/// The JSON Schema of definitions, for editors.
#[utoipa::path(
    get, path = "/api/schema/workflow", operation_id = "get_workflow_schema", tag = "Workflows", security(()),
    responses((status = 200, description = "JSON Schema, draft 2020-12", body = serde_json::Value, content_type = "application/schema+json")),
)]
async fn schema() -> Response {
    ([(CONTENT_TYPE, "application/schema+json")], json_schema()).into_response()
}

/// What an error code means, and what to do.
#[utoipa::path(
    get, path = "/docs/errors/{code}", operation_id = "get_error_page", tag = "Server", security(()),
    params(("code" = String, Path, description = "Such as RF0001", example = "RF0001")),
    responses(
        (status = 200, description = "The code's page", body = String, content_type = "text/markdown"),
        (status = 404, description = "There is no such code", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn error_page(Path(code): Path<String>) -> Result<Response, Problem> {
    match codes::page(&code) {
        // Plain text, so that a browser shows it rather than saving it.
        Some(page) => Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], page).into_response()),
        None => Err(Problem::new(
            &codes::NO_CODE,
            format!("there is no error code `{code}`"),
        )),
    }
}

async fn home() -> Response {
    let text = concat!(
        "Refire ",
        env!("CARGO_PKG_VERSION"),
        ": durable workflows, retries and dead letters.\n\n",
        "  /docs          every call of the API, to read and to try\n",
        "  /openapi.json  the same for programs\n",
        "  /readyz        whether it accepts work\n",
        "  /version       what runs here\n",
    );
    ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

/// Backs up all data to a new file on the server's machine, while the server runs. The file is an
/// SQLite database, also for PostgreSQL.
#[utoipa::path(
    post,
    path = "/api/backup",
    operation_id = "back_up",
    tag = "Server",
    request_body(content = BackupRequest, example = json!({"to": "/var/backups/refire-2026-11-15.db"})),
    responses(
        (status = 200, description = "The copy is complete and on disk", body = BackupResult),
        (status = 400, description = "The body is wrong", body = ProblemModel, content_type = "application/problem+json"),
        (status = 409, description = "The file exists or cannot be written", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn backup(
    State(app): State<App>,
    query: Query,
    body: Content,
) -> Result<Json<BackupResult>, Problem> {
    query.finish()?;
    let wish: BackupRequest = body.read()?;
    let target = absolute(&wish.to)?;
    let began = Instant::now();
    app.engine
        .store()
        .backup(&target, &|_, _| {})
        .await
        .map_err(refused)?;
    let bytes = tokio::fs::metadata(&target)
        .await
        .map_err(Problem::internal)?
        .len();
    Ok(Json(BackupResult {
        path: target.display().to_string(),
        bytes,
        duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    }))
}

fn absolute(to: &str) -> Result<PathBuf, Problem> {
    let refuse = |message: String| Problem::field(&codes::INVALID_BODY, "to", message);
    if to.trim().is_empty() {
        return Err(refuse(
            "is empty; name a new file on the server's machine".to_owned(),
        ));
    }
    std::path::absolute(FilePath::new(to)).map_err(|error| refuse(error.to_string()))
}

/// A file that cannot be written is the caller's to choose again, and its story is theirs.
fn refused(error: ReadError) -> Problem {
    match error {
        ReadError::File { what, source } => {
            // What the system said of a missing directory adds nothing to its name.
            let is_whole = what.ends_with("does not exist") || what.ends_with("not a directory");
            let detail = if is_whole {
                what
            } else {
                format!("{what}: {source}")
            };
            Problem::new(&codes::CANNOT_BACK_UP, detail)
        }
        other => other.into(),
    }
}
