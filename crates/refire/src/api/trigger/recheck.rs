//! Refused requests to a webhook that are checked again, many at once.

use axum::Json;
use http::HeaderMap;
use refire_client::model::{self, RecheckRequests, RecheckedRequest, RecheckedRequests};
use refire_client::query::Paging;
use refire_core::id::{ExecutionId, RequestId, TriggerId};
use refire_core::time::Timestamp;
use refire_core::webhook::RequestStatus;
use refire_engine::trigger::{Equals, Received, TriggerError, Verdict};
use refire_store::{LIMIT_MAX, RequestFilter, RequestRow};

use super::find;
use super::requests::too_large;
use crate::api::execute::no_idempotency_key;
use crate::api::problem::wrong;
use crate::api::query::meant;
use crate::api::{Answer, App, Content, Id, List, Params, Problem, Window};
use crate::codes;

/// Requests that one call checks.
const CHECKED_MAX: u32 = 500;

/// What takes the place of an idempotency key.
const NO_KEY: &str = "a request that was started is not started again";

/// What became of one request, or would.
enum Checked {
    Started(Option<ExecutionId>),
    Before(ExecutionId),
    Refused(RequestStatus, String),
}

/// Checks refused requests again with the current settings of the trigger, oldest first, and runs those that
/// pass.
///
/// Tests are left out. Requests without an idempotency key that are equal byte for byte count as one, which
/// is started once. At most 500 a call: `next_cursor` goes on. With `dry_run` nothing is started or written.
#[utoipa::path(
    post,
    path = "/api/triggers/{id}/requests/recheck",
    request_body(
        content = RecheckRequests,
        example = json!({"status": ["auth_failed"], "from": "2026-11-15T00:00:00Z", "dry_run": true}),
    ),
    responses(
        (status = 200, description = "What became of each, or would", body = RecheckedRequests),
        (status = 400, description = "A time or the cursor is wrong, or there is an `Idempotency-Key`"),
        (status = 404, description = "There is no such trigger"),
        (status = 409, description = "It is disabled, or not a webhook"),
    ),
)]
pub(crate) async fn recheck_webhook_requests(
    app: App,
    id: Id<TriggerId>,
    _: Params<()>,
    headers: HeaderMap,
    body: Content,
) -> Answer<RecheckedRequests> {
    no_idempotency_key(&headers, NO_KEY)?;
    let wish: RecheckRequests = body.read()?;
    let filter = filter(&wish)?;
    let row = find(&app, &id).await?.row;
    if row.webhook.is_none() {
        return Err(id.named(TriggerError::Without {
            kind: row.kind.name(),
            what: "requests",
        }));
    }
    let paging = Paging {
        limit: Some(CHECKED_MAX),
        cursor: wish.cursor.clone(),
    };
    let window = Window::new(List::Rechecks, &(row.id, &filter), &paging)?;
    app.engine.webhooks().flush().await;
    let mut rows = refused(&app, row.id, &filter).await?;
    rows.retain(|row| {
        window
            .behind
            .is_none_or(|behind: RequestId| row.id > behind)
    });
    rows.truncate(window.rows as usize);
    let page = window.page(rows, |row| row.id);
    let mut answer = RecheckedRequests {
        looked_at: 0,
        would_start: wish.dry_run.then_some(0),
        started: (!wish.dry_run).then_some(0),
        already_started: 0,
        refused: 0,
        items: Vec::with_capacity(page.items.len()),
        next_cursor: page.next_cursor,
        error: None,
    };
    for row in &page.items {
        match check(&app, row, wish.dry_run).await {
            Ok(checked) => add(&mut answer, row, checked),
            // What was done is told, whatever comes after it.
            Err(problem) if answer.looked_at == 0 => return Err(problem),
            Err(problem) => {
                answer.error = Some(problem.detail().to_owned());
                break;
            }
        }
    }
    Ok(Json(answer))
}

/// Which requests are meant.
fn filter(wish: &RecheckRequests) -> Result<RequestFilter, Problem> {
    let mut errors = Vec::new();
    let mut moment = |field: &str, text: &Option<String>| match text.as_deref().map(str::parse) {
        None => None,
        Some(Ok(at)) => Some(at),
        Some(Err(error)) => {
            let error: <Timestamp as std::str::FromStr>::Err = error;
            errors.push(wrong(field, error.to_string()));
            None
        }
    };
    let (from, to) = (moment("from", &wish.from), moment("to", &wish.to));
    let statuses = meant(&wish.status, RequestStatus::from_name);
    if statuses.len() < wish.status.len() {
        let known = RequestStatus::REFUSED.map(RequestStatus::name).join(", ");
        errors.push(wrong("status", format!("is not of {known}")));
    }
    if statuses.contains(&RequestStatus::Triggered) {
        errors.push(wrong("status", "`triggered` requests were not refused"));
    }
    if !errors.is_empty() {
        return Err(Problem::fields(&codes::INVALID_BODY, errors));
    }
    Ok(RequestFilter {
        statuses: match statuses.is_empty() {
            true => RequestStatus::REFUSED.to_vec(),
            false => statuses,
        },
        is_test: Some(false),
        from,
        to,
    })
}

/// All of them, oldest first: a log keeps about a thousand.
async fn refused(
    app: &App,
    trigger: TriggerId,
    filter: &RequestFilter,
) -> Result<Vec<RequestRow>, Problem> {
    let (store, mut rows) = (app.engine.store(), Vec::new());
    loop {
        let before = rows.last().map(|row: &RequestRow| row.id);
        let page = store.requests(trigger, filter, before, LIMIT_MAX).await?;
        let is_last = page.len() < LIMIT_MAX as usize;
        rows.extend(page);
        if is_last {
            rows.reverse();
            return Ok(rows);
        }
    }
}

/// Checks one; an error is one that the next would meet as well.
async fn check(app: &App, row: &RequestRow, dry_run: bool) -> Result<Checked, Problem> {
    if let Some(reason) = too_large(app, row) {
        return Ok(Checked::Refused(row.status, reason));
    }
    let webhooks = app.engine.webhooks();
    let checked = if dry_run {
        webhooks.verdict(row.trigger, row.id).await.map(judged)
    } else {
        let again = webhooks.recheck(row.trigger, row.id, Equals::Same).await;
        again.map(became)
    };
    match checked {
        Err(
            error @ (TriggerError::NotKept
            | TriggerError::NoSuchRequest
            | TriggerError::Secrets(_)
            | TriggerError::Vault(_)),
        ) => Ok(Checked::Refused(row.status, error.to_string())),
        other => Ok(other?),
    }
}

fn judged(verdict: Verdict) -> Checked {
    match verdict {
        Verdict::Passes => Checked::Started(None),
        Verdict::Before(execution) => Checked::Before(execution),
        Verdict::Refused(received) => became(received),
    }
}

fn became(received: Received) -> Checked {
    let status = received.logged_as();
    match received {
        Received::Triggered(execution) => Checked::Started(Some(execution)),
        Received::AlreadyProcessed { execution, .. } => Checked::Before(execution),
        Received::Filtered(reason) | Received::Refused { reason, .. } => {
            Checked::Refused(status, reason)
        }
        Received::Challenge(_) => {
            let reason = "it was a handshake, which starts nothing";
            Checked::Refused(status, reason.to_owned())
        }
        Received::NotFound | Received::RateLimited(_) | Received::TooLarge | Received::Broken => {
            Checked::Refused(status, "it was not kept completely".to_owned())
        }
    }
}

fn add(answer: &mut RecheckedRequests, row: &RequestRow, checked: Checked) {
    answer.looked_at += 1;
    let (status, execution, reason) = match checked {
        Checked::Started(execution) => {
            let count = answer.started.as_mut().or(answer.would_start.as_mut());
            count.into_iter().for_each(|count| *count += 1);
            (RequestStatus::Triggered, execution, None)
        }
        Checked::Before(execution) => {
            answer.already_started += 1;
            (RequestStatus::Duplicate, Some(execution), None)
        }
        Checked::Refused(status, reason) => {
            answer.refused += 1;
            (status, None, Some(reason))
        }
    };
    answer.items.push(RecheckedRequest {
        request_id: row.id.to_string(),
        status: model::RequestStatus::from_name(status.name()),
        execution_id: execution.map(|id| id.to_string()),
        reason,
    });
}
