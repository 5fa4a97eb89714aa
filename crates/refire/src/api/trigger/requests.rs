//! The log of a webhook: every request with what became of it.

use axum::Json;
use axum::extract::Path;
use axum::response::Response;
use refire_client::model::{Page, RequestSummary, WebhookAnswer, WebhookRequest};
use refire_client::query::{Paging, RangeQuery, RecheckQuery, RequestQuery};
use refire_core::id::{RequestId, TriggerId};
use refire_engine::trigger::{Equals, Received, TriggerError};
use refire_store::{RequestFilter, RequestRow, RequestStatus, RequestTally};

use super::find;
use crate::api::query::{meant, parsed};
use crate::api::webhook::Reader;
use crate::api::{Answer, App, Id, List, Params, Problem, Window, page, view, webhook};
use crate::codes;

/// Requests that are counted.
const COUNTED_MAX: u32 = 10_000;

/// Requests to a webhook, newest first, without headers and bodies.
#[utoipa::path(
    get,
    path = "/api/triggers/{id}/requests",
    params(RequestQuery, Paging),
    responses(
        (status = 200, description = "A page of requests", body = Page<WebhookRequest>),
        (status = 404, description = "There is no such trigger"),
    ),
)]
pub(crate) async fn list_webhook_requests(
    app: App,
    id: Id<TriggerId>,
    Params((query, paging)): Params<(RequestQuery, Paging)>,
) -> Answer<Page<WebhookRequest>> {
    let filter = RequestFilter {
        statuses: meant(&query.status, RequestStatus::from_name),
        is_test: query.test,
        from: parsed(query.from.as_deref())?,
        to: parsed(query.to.as_deref())?,
    };
    let trigger = find(&app, &id).await?.row.id;
    let window = Window::new(List::Requests, &(trigger, &filter), &paging)?;
    app.engine.webhooks().flush().await;
    let store = app.engine.store();
    let rows = store
        .requests(trigger, &filter, window.behind, window.rows)
        .await?;
    let view = |row| async move { Ok(view::request::listed(&row)) };
    page::shown(window.page(rows, |row| row.id), view).await
}

/// What became of the requests to a webhook, counted.
///
/// Of many the newest 10,000 are counted.
#[utoipa::path(
    get,
    path = "/api/triggers/{id}/requests/summary",
    params(RangeQuery),
    responses(
        (status = 200, description = "How many came to what", body = RequestSummary),
        (status = 404, description = "There is no such trigger"),
    ),
)]
pub(crate) async fn summarize_webhook_requests(
    app: App,
    id: Id<TriggerId>,
    Params(range): Params<RangeQuery>,
) -> Answer<RequestSummary> {
    let filter = RequestFilter {
        from: parsed(range.from.as_deref())?,
        to: parsed(range.to.as_deref())?,
        ..RequestFilter::default()
    };
    let trigger = find(&app, &id).await?.row.id;
    app.engine.webhooks().flush().await;
    let store = app.engine.store();
    let tallies = store.request_tally(trigger, &filter, COUNTED_MAX).await?;
    let total: u64 = tallies.iter().map(|tally| tally.count).sum();
    let is_quarantined = |tally: &&RequestTally| RequestStatus::QUARANTINED.contains(&tally.status);
    let quarantined = tallies.iter().filter(is_quarantined);
    let oldest = tallies.iter().map(|tally| tally.oldest).min();
    let newest = tallies.iter().map(|tally| tally.newest).max();
    Ok(Json(RequestSummary {
        total,
        exact: total < COUNTED_MAX.into(),
        quarantined: quarantined.map(|tally| tally.count).sum(),
        by_status: tallies
            .iter()
            .map(|tally| (tally.status.name().to_owned(), tally.count))
            .collect(),
        oldest: oldest.map(|at| at.to_string()),
        newest: newest.map(|at| at.to_string()),
    }))
}

/// Why a request cannot be checked again as long as bodies are limited as they are.
pub(super) fn too_large(app: &App, row: &RequestRow) -> Option<String> {
    let (bytes, max) = (row.body_bytes, app.body_bytes_max);
    let is_so = row.status != RequestStatus::Triggered && bytes > max as u64;
    is_so.then(|| {
        format!(
            "the body has {bytes} bytes, and the server accepts at most {max}; raise --max-body-bytes"
        )
    })
}

/// One request with its headers and its body.
///
/// The body of a request that started an execution is that execution's input.
#[utoipa::path(
    get,
    path = "/api/triggers/{id}/requests/{request_id}",
    params(
        ("request_id" = String, Path, description = "`whr_…`"),
    ),
    responses((status = 200, description = "The request", body = WebhookRequest)),
)]
pub(crate) async fn get_webhook_request(
    app: App,
    Path((id, request_id)): Path<(String, String)>,
    _: Params<()>,
) -> Answer<WebhookRequest> {
    let trigger = find(&app, &Id::new(id)).await?.row.id;
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
    params(
        ("request_id" = String, Path, description = "`whr_…`"),
        RecheckQuery,
    ),
    responses(
        (status = 200, description = "It passed: it was started now or before", body = WebhookAnswer),
        (status = 404, description = "There is no such trigger or request"),
        (status = 409, description = "It still does not pass, whether by a signature or by a filter, or was not kept completely"),
    ),
)]
pub(crate) async fn recheck_webhook_request(
    app: App,
    Path((id, request)): Path<(String, String)>,
    Params(query): Params<RecheckQuery>,
) -> Result<Response, Problem> {
    let equals = match query.equal_once {
        Some(true) => Equals::Same,
        _ => Equals::Apart,
    };
    let trigger = find(&app, &Id::new(id)).await?.row.id;
    let request: RequestId = request
        .parse()
        .map_err(|_| Problem::from(TriggerError::NoSuchRequest))?;
    app.engine.webhooks().flush().await;
    let row = app.engine.store().request(request).await?;
    if let Some(detail) = row.and_then(|row| too_large(&app, &row)) {
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
