//! Retries: the recent ones, and the simulator.

use axum::Json;
use axum::extract::State;
use refire_client::model::{Page, RetriedExecution, RetryTimeline};
use refire_client::query::{ExecutionQuery, Paging};
use refire_core::definition::RetrySettings;
use refire_store::ExecutionFilter;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::body::Content;
use super::cursor::List;
use super::execution::{filter, rows};
use super::problem::Problem;
use super::query::Params;
use super::view;
use crate::codes;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(simulate))
}

/// Executions that were retried at least once, newest first.
#[utoipa::path(
    get,
    path = "/api/retries",
    operation_id = "list_retries",
    tag = "Retries",
    params(ExecutionQuery, Paging),
    responses((status = 200, description = "A page of executions", body = Page<RetriedExecution>)),
)]
async fn list(
    State(app): State<App>,
    Params((query, paging)): Params<(ExecutionQuery, Paging)>,
) -> Result<Json<Page<RetriedExecution>>, Problem> {
    let filter = ExecutionFilter {
        retried: true,
        ..filter(&query)?
    };
    let page = rows(&app, List::Retries, &filter, &paging).await?;
    let now = app.engine.now();
    let mut items = Vec::with_capacity(page.items.len());
    for row in &page.items {
        items.push(view::retry::retried(&app.engine, row, now).await?);
    }
    Ok(Json(page.with(items)))
}

/// When the retries of a policy would happen if every attempt failed immediately.
#[utoipa::path(
    post,
    path = "/api/retry/simulate",
    operation_id = "simulate_retries",
    tag = "Retries",
    request_body(
        content((serde_json::Value = "application/json", example = json!({"maxRetries": 5, "initialDelay": "2s", "strategy": "exponential"})), (String = "application/yaml")),
        description = "A policy as in a definition's `retry`; empty for the default one",
    ),
    responses(
        (status = 200, description = "The timeline", body = RetryTimeline),
        (status = 400, description = "The policy is not valid"),
    ),
)]
async fn simulate(_: Params<()>, body: Content) -> Result<Json<RetryTimeline>, Problem> {
    let text = if body.is_blank() { "{}" } else { body.text()? };
    let settings = RetrySettings::parse(text)
        .map_err(|found| Problem::definition(&codes::INVALID_POLICY, "the policy", &found))?;
    Ok(Json(view::retry::timeline(&settings.rules())))
}
