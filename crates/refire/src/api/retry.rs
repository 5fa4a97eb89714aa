//! Retries: the recent ones, and the simulator.

use axum::Json;
use refire_client::model::{Page, RetriedExecution, RetryTimeline};
use refire_client::query::{Paging, RetriedQuery};
use refire_core::definition::RetrySettings;
use refire_core::execution::Status;
use refire_store::ExecutionFilter;

use super::execution::list::{rows, workflows};
use super::query::meant;
use super::{Answer, App, Content, List, Params, Problem, page, view};
use crate::codes;

/// Executions that were retried at least once, newest first.
#[utoipa::path(
    get,
    path = "/api/retries",
    params(RetriedQuery, Paging),
    responses((status = 200, description = "A page of executions", body = Page<RetriedExecution>)),
)]
pub(super) async fn list_retries(
    app: App,
    Params((query, paging)): Params<(RetriedQuery, Paging)>,
) -> Answer<Page<RetriedExecution>> {
    let filter = ExecutionFilter {
        workflows: workflows(&query.workflow)?,
        statuses: meant(&query.status, Status::from_name),
        retried: true,
        ..ExecutionFilter::default()
    };
    let (page, _) = rows(&app, List::Retries, (&query, &filter), &paging).await?;
    let now = app.engine.now();
    let engine = &app.engine;
    let view = |row| async move { view::retry::retried(engine, &row, now).await };
    page::shown(page, view).await
}

/// When the retries of a policy would happen if every attempt failed immediately.
#[utoipa::path(
    post,
    path = "/api/retry/simulate",
    request_body(
        content((serde_json::Value = "application/json", example = json!({"maxRetries": 5, "initialDelay": "2s", "strategy": "exponential"})), (String = "application/yaml")),
        description = "A policy as in a definition's `retry`; empty for the default one",
    ),
    responses(
        (status = 200, description = "The timeline", body = RetryTimeline),
        (status = 400, description = "The policy is not valid"),
    ),
)]
pub(super) async fn simulate_retries(_: Params<()>, body: Content) -> Answer<RetryTimeline> {
    let text = if body.is_blank() { "{}" } else { body.text()? };
    let settings = RetrySettings::parse(text)
        .map_err(|found| Problem::definition(&codes::INVALID_POLICY, "the policy", &found))?;
    Ok(Json(view::retry::timeline(&settings.rules())))
}
