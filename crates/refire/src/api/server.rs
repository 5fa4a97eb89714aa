//! The server itself: whether it is well, what it is, its papers.

use axum::Json;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, VARY};
use http::{HeaderMap, StatusCode};
use refire_client::model::{Health, Version};
use refire_core::definition::json_schema;
use refire_schedule::{zone_data_version, zone_source};

use super::{App, Problem, console};
use crate::codes;

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
    get, path = "/livez", security(()),
    responses((status = 200, description = "It runs", body = Health, example = json!({"status": "ok"}))),
)]
pub(super) async fn livez() -> Response {
    health(StatusCode::OK, "ok")
}

/// The same as /livez.
#[utoipa::path(
    get, path = "/healthz", security(()),
    responses((status = 200, description = "It runs", body = Health)),
)]
pub(super) async fn healthz() -> Response {
    health(StatusCode::OK, "ok")
}

/// Whether new work is accepted.
#[utoipa::path(
    get, path = "/readyz", security(()),
    responses(
        (status = 200, description = "It is", body = Health),
        (status = 503, description = "It is not, and why", body = Health, example = json!({"status": "stopping"})),
    ),
)]
pub(super) async fn readyz(app: App) -> Response {
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
    get, path = "/version", security(()),
    responses((status = 200, description = "The version", body = Version)),
)]
pub(super) async fn get_version(app: App) -> Json<Version> {
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
    get, path = "/api/schema/workflow", security(()),
    responses((status = 200, description = "JSON Schema, draft 2020-12", body = serde_json::Value, content_type = "application/schema+json")),
)]
pub(super) async fn get_workflow_schema() -> Response {
    ([(CONTENT_TYPE, "application/schema+json")], json_schema()).into_response()
}

/// What an error code means, and what to do.
#[utoipa::path(
    get, path = "/docs/errors/{code}", security(()),
    params(("code" = String, Path, description = "Such as RF0001", example = "RF0001")),
    responses(
        (status = 200, description = "The code's page", body = String, content_type = "text/plain"),
        (status = 404, description = "There is no such code"),
    ),
)]
pub(super) async fn get_error_page(Path(code): Path<String>) -> Result<Response, Problem> {
    match codes::page(&code) {
        // Plain text, so that a browser shows it rather than saving it.
        Some(page) => Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], page).into_response()),
        None => Err(Problem::new(
            &codes::NO_CODE,
            format!("there is no error code `{code}`"),
        )),
    }
}

/// The console for a browser, and where to look for everybody else.
pub(super) async fn home(app: App, headers: HeaderMap) -> Response {
    if console::wants_page(&headers) {
        return console::page(&app);
    }
    let text = concat!(
        "Refire ",
        env!("CARGO_PKG_VERSION"),
        ": durable workflows, retries and dead letters.\n\n",
        "  /              the console, in a browser\n",
        "  /docs          every call of the API, to read and to try\n",
        "  /openapi.json  the same for programs\n",
        "  /readyz        whether it accepts work\n",
        "  /version       what runs here\n",
    );
    let headers = [
        (CONTENT_TYPE, "text/plain; charset=utf-8"),
        (VARY, "accept"),
    ];
    (headers, text).into_response()
}
