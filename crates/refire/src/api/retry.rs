//! Retries: the recent ones, and the simulator.

use axum::Json;
use axum::extract::State;
use refire_client::model::{Page, Problem as ProblemModel, RetriedExecution, RetryTimeline};
use refire_core::definition::RetrySettings;
use refire_store::ExecutionFilter;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::body::Content;
use super::cursor::{List, Scope};
use super::execution::{filter, from_key};
use super::problem::Problem;
use super::query::Query;
use super::{page, view};
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
    params(
        ("workflow" = Option<String>, Query, description = "Of this workflow"),
        ("status" = Option<String>, Query, description = "With one of these statuses; repeat it or separate by commas, such as `retrying`"),
        ("limit" = Option<u32>, Query, description = "Rows, 1 to 1000; default 50"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses((status = 200, description = "A page of executions", body = Page<RetriedExecution>)),
)]
async fn list(
    State(app): State<App>,
    mut query: Query,
) -> Result<Json<Page<RetriedExecution>>, Problem> {
    let filter = ExecutionFilter {
        retried: true,
        ..filter(&mut query)
    };
    let limit = query.limit();
    let cursor = query.text("cursor");
    query.finish()?;
    let scope = Scope::new(List::Retries, &filter);
    let before = scope.key(cursor.as_deref(), from_key)?;
    let store = app.engine.store();
    let mut rows = store
        .executions(&filter, before, page::rows_to_read(limit))
        .await?;
    let next_cursor = page::cut(&mut rows, limit, &scope, |row| row.id.as_bytes().to_vec());
    let now = app.engine.now();
    let mut items = Vec::with_capacity(rows.len());
    for row in &rows {
        items.push(view::retry::retried(&app.engine, row, now).await?);
    }
    Ok(Json(Page { items, next_cursor }))
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
        (status = 400, description = "The policy is not valid", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn simulate(query: Query, body: Content) -> Result<Json<RetryTimeline>, Problem> {
    query.finish()?;
    let text = if body.is_blank() { "{}" } else { body.text()? };
    let settings = RetrySettings::parse(text)
        .map_err(|found| Problem::definition(&codes::INVALID_POLICY, "the policy", &found))?;
    Ok(Json(view::retry::timeline(&settings.rules())))
}
