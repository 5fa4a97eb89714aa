//! The log of a webhook: every request with what became of it.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use refire_client::model::{Page, Problem as ProblemModel, WebhookAnswer, WebhookRequest};
use refire_core::id::RequestId;
use refire_core::time::Timestamp;
use refire_engine::trigger::{Equals, Received, TriggerError};
use refire_store::{RequestFilter, RequestStatus};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::find;
use crate::api::App;
use crate::api::cursor::{List, Scope};
use crate::api::problem::Problem;
use crate::api::query::Query;
use crate::api::webhook::Reader;
use crate::api::{page, view, webhook};
use crate::codes;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(one))
        .routes(routes!(recheck))
}

/// Requests to a webhook, newest first, without headers and bodies.
#[utoipa::path(
    get,
    path = "/api/triggers/{id}/requests",
    operation_id = "list_webhook_requests",
    tag = "Triggers",
    params(
        ("id" = String, Path, description = "`trg_…`"),
        ("status" = Option<String>, Query, description = "With one of these: `triggered`, `filtered`, `auth_failed`, `duplicate`, `too_large`, `rate_limited`, `ip_refused`, `disabled`, `error`"),
        ("test" = Option<bool>, Query, description = "Only tests, or only others"),
        ("from" = Option<String>, Query, description = "That arrived at or after this time, such as `2026-11-08T00:00:00Z`"),
        ("to" = Option<String>, Query, description = "That arrived before this time"),
        ("limit" = Option<u32>, Query, description = "Rows, 1 to 1000; default 50"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses(
        (status = 200, description = "A page of requests", body = Page<WebhookRequest>),
        (status = 404, description = "There is no such trigger", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn list(
    State(app): State<App>,
    Path(id): Path<String>,
    mut query: Query,
) -> Result<Json<Page<WebhookRequest>>, Problem> {
    let filter = RequestFilter {
        statuses: query.words("status", &RequestStatus::ALL, RequestStatus::name),
        is_test: query.maybe_flag("test"),
        from: query.value::<Timestamp>("from"),
        to: query.value::<Timestamp>("to"),
    };
    let limit = query.limit();
    let cursor = query.text("cursor");
    query.finish()?;
    let trigger = find(&app, &id).await?.row.id;
    let scope = Scope::new(List::Requests, &(trigger, &filter));
    let from_key = |key: &[u8]| Some(RequestId::from_bytes(key.try_into().ok()?));
    let before = scope.key(cursor.as_deref(), from_key)?;
    app.engine.webhooks().flush().await;
    let store = app.engine.store();
    let mut rows = store
        .requests(trigger, &filter, before, page::rows_to_read(limit))
        .await?;
    let next_cursor = page::cut(&mut rows, limit, &scope, |row| row.id.as_bytes().to_vec());
    let items = rows.iter().map(view::request::listed).collect();
    Ok(Json(Page { items, next_cursor }))
}

/// One request with its headers and its body.
///
/// The body of a request that started an execution is that execution's input.
#[utoipa::path(
    get,
    path = "/api/triggers/{id}/requests/{request_id}",
    operation_id = "get_webhook_request",
    tag = "Triggers",
    params(
        ("id" = String, Path, description = "`trg_…`"),
        ("request_id" = String, Path, description = "`whr_…`"),
    ),
    responses(
        (status = 200, description = "The request", body = WebhookRequest),
        (status = 404, description = "There is none", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn one(
    State(app): State<App>,
    Path((id, request_id)): Path<(String, String)>,
    query: Query,
) -> Result<Json<WebhookRequest>, Problem> {
    query.finish()?;
    let trigger = find(&app, &id).await?.row.id;
    app.engine.webhooks().flush().await;
    let row = match request_id.parse::<RequestId>() {
        Ok(known) => app.engine.store().request(known).await?,
        Err(_) => None,
    };
    let row = row.filter(|row| row.trigger == trigger).ok_or_else(|| {
        let detail = format!("there is no request `{request_id}`");
        Problem::new(&codes::NO_REQUEST, detail)
    })?;
    Ok(Json(view::request::full(&app.engine, &row).await?))
}

/// Checks a refused request again with the current settings of the trigger, and runs it if it passes.
///
/// Its status becomes `triggered`, or `duplicate` if its execution was started before. If its
/// signature or key was right when it arrived, that is not checked again. Otherwise the time of
/// signing is compared with the time of arrival.
#[utoipa::path(
    post,
    path = "/api/triggers/{id}/requests/{request_id}/recheck",
    operation_id = "recheck_webhook_request",
    tag = "Triggers",
    params(
        ("id" = String, Path, description = "`trg_…`"),
        ("request_id" = String, Path, description = "`whr_…`"),
        ("equal_once" = Option<bool>, Query, description = "For checking many: requests without an idempotency key that are equal byte for byte count as one, which is started once, or not at all if the sender has repeated it with success"),
    ),
    responses(
        (status = 200, description = "It passed: it was started now or before", body = WebhookAnswer),
        (status = 404, description = "There is no such trigger or request", body = ProblemModel, content_type = "application/problem+json"),
        (status = 409, description = "It still does not pass, whether by a signature or by a filter, or was not kept completely", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn recheck(
    State(app): State<App>,
    Path((id, request)): Path<(String, String)>,
    mut query: Query,
) -> Result<Response, Problem> {
    let equals = match query.flag("equal_once") {
        true => Equals::Same,
        false => Equals::Apart,
    };
    query.finish()?;
    let trigger = find(&app, &id).await?.row.id;
    let request: RequestId = request
        .parse()
        .map_err(|_| Problem::from(TriggerError::NoSuchRequest))?;
    app.engine.webhooks().flush().await;
    if let Some(row) = app.engine.store().request(request).await?
        && row.status != RequestStatus::Triggered
        && row.body_bytes > app.body_bytes_max as u64
    {
        let (bytes, max) = (row.body_bytes, app.body_bytes_max);
        let detail = format!(
            "the body has {bytes} bytes, and the server accepts at most {max}; raise --max-body-bytes"
        );
        return Err(Problem::new(&codes::STILL_REFUSED, detail));
    }
    match app
        .engine
        .webhooks()
        .recheck(trigger, request, equals)
        .await?
    {
        Received::Refused { reason, .. } | Received::Filtered(reason) => {
            Err(Problem::new(&codes::STILL_REFUSED, reason))
        }
        Received::Challenge(_) => {
            let detail = "it was a handshake, which starts nothing";
            Err(Problem::new(&codes::STILL_REFUSED, detail))
        }
        received => webhook::answer(received, app.body_bytes_max, Reader::Any),
    }
}
