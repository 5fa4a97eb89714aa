//! Dead letters: look, retry, give up.

pub(super) mod bulk;
mod by_id;
mod detail;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use refire_client::model::{
    self, DeadLetter, DeadLetterDetail, DeadLetterRetried, DeadLetterSummary, Page, RetryLetter,
};
use refire_client::query::{LetterQuery, Paging};
use refire_core::breaker;
use refire_core::dead_letter::{LetterStatus, archived_before};
use refire_core::id::DlqId;
use refire_core::json::Json as Text;
use refire_core::time::Timestamp;
use refire_engine::{LetterRetryRequest, RetryFrom};
use refire_store::{LetterFilter, PartOutcome};

use self::by_id::Wanted;
use super::execute::not_null;
use super::query::{meant, parsed};
use super::{Actor, Answer, App, Content, Id, List, Params, Problem, Window, page, view};
use crate::codes;

/// The filters that the list and the overview share, and the id that is looked for, if one is.
fn filter(query: &LetterQuery, now: Timestamp) -> Result<(LetterFilter, Option<Wanted>), Problem> {
    let mut statuses = meant(&query.status, LetterStatus::from_name);
    let wanted = query.q.as_deref().and_then(Wanted::in_text);
    if statuses.is_empty() && wanted.is_none() {
        // What still concerns somebody. Who has an id wants it, wherever it stands.
        statuses = vec![LetterStatus::Pending, LetterStatus::Retrying];
    }
    let cause = query.fingerprint.as_deref();
    let cause = cause.map(|text| u64::from_str_radix(text, 16)).transpose();
    let filter = LetterFilter {
        workflow: parsed(query.workflow.as_deref())?,
        error_types: query.error_type.clone(),
        statuses,
        from: parsed(query.from.as_deref())?,
        to: parsed(query.to.as_deref())?,
        text: query.q.clone().filter(|_| wanted.is_none()),
        fingerprint: cause.map_err(Problem::internal)?,
        target: target(query.target.as_deref())?,
    };
    match wanted {
        Some(_) => Ok((filter, wanted)),
        None => Ok((of_age(filter, query.archived.as_deref(), now), wanted)),
    }
}

/// Archived letters only where they are asked for.
fn of_age(filter: LetterFilter, archived: Option<&str>, now: Timestamp) -> LetterFilter {
    let archived_to = archived_before(now);
    match archived {
        Some("all") => filter,
        Some("true") => LetterFilter {
            to: Some(filter.to.map_or(archived_to, |to| to.min(archived_to))),
            ..filter
        },
        _ => LetterFilter {
            from: Some(
                filter
                    .from
                    .map_or(archived_to, |from| from.max(archived_to)),
            ),
            ..filter
        },
    }
}

/// The target that a text means. Letters name it as it was called, so that a port which is the scheme's own is
/// left out.
fn target(text: Option<&str>) -> Result<Option<String>, Problem> {
    let names = text.map(breaker::names).transpose();
    let names = names.map_err(Problem::internal)?;
    Ok(names.and_then(|names| names.into_iter().next()))
}

/// Dead letters, newest first.
///
/// Without `status`, only those that are pending or being retried. What failed more than 30 days ago is archived: it
/// is shown with `archived=true` or `archived=all`.
#[utoipa::path(
    get,
    path = "/api/dlq",
    params(LetterQuery, Paging),
    responses(
        (status = 200, description = "A page of dead letters", body = Page<DeadLetter>),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
pub(super) async fn list_dead_letters(
    app: App,
    Params((query, paging)): Params<(LetterQuery, Paging)>,
) -> Answer<Page<DeadLetter>> {
    let (filter, wanted) = filter(&query, app.engine.now())?;
    let page = match wanted {
        Some(wanted) => {
            let row = wanted.find(&app, &filter).await?;
            page::whole(row.into_iter().collect())
        }
        None => {
            let window = Window::new(List::DeadLetters, &query, &paging)?;
            let store = app.engine.store();
            let rows = store.letters(&filter, window.behind, window.rows).await?;
            window.page(rows, |row| row.id)
        }
    };
    page::shown(page, |row| async move { view::letter::letter(&row) }).await
}

/// How many dead letters there are, the oldest and the newest, by workflow and error.
#[utoipa::path(
    get,
    path = "/api/dlq/summary",
    params(LetterQuery),
    responses((status = 200, description = "The overview", body = DeadLetterSummary)),
)]
pub(super) async fn summarize_dead_letters(
    app: App,
    Params(query): Params<LetterQuery>,
) -> Answer<DeadLetterSummary> {
    let (filter, wanted) = filter(&query, app.engine.now())?;
    let summary = match wanted {
        Some(wanted) => by_id::summary(wanted.find(&app, &filter).await?.as_ref()),
        None => app.engine.store().letter_summary(&filter).await?,
    };
    Ok(Json(view::letter::summary(summary)))
}

/// A dead letter: what the list has of it, and its log, the target's answer, what was undone, every
/// retry by people, and how many have the same cause.
#[utoipa::path(
    get,
    path = "/api/dlq/{id}",
    responses((status = 200, description = "The dead letter", body = DeadLetterDetail)),
)]
pub(super) async fn get_dead_letter(
    app: App,
    id: Id<DlqId>,
    _: Params<()>,
) -> Answer<DeadLetterDetail> {
    let row = app.engine.store().letter(id.known()?).await?;
    let row = row.ok_or_else(|| id.missing())?;
    Ok(Json(detail::detail(&app, &row).await?))
}

/// Retries a dead letter as a new execution, without automatic retries unless they are asked for.
///
/// Success resolves the letter; failure makes it pending again.
#[utoipa::path(
    post,
    path = "/api/dlq/{id}/retry",
    request_body(
        content = RetryLetter,
        description = "Everything is optional; an `input` that is present counts as edited, even {}",
        example = json!({"input": {"customer_id": 4712}, "from": "failed_step"}),
    ),
    responses(
        (status = 202, description = "The new execution is saved", body = DeadLetterRetried),
        (status = 400, description = "The body is wrong"),
        (status = 409, description = "It is not pending, or cannot be retried this way"),
    ),
)]
pub(super) async fn retry_dead_letter(
    app: App,
    actor: Actor,
    id: Id<DlqId>,
    _: Params<()>,
    body: Content,
) -> Result<Response, Problem> {
    let wish: RetryLetter = body.read()?;
    let from = match wish
        .from
        .as_deref()
        .map(|from| (from, RetryFrom::from_name(from)))
    {
        None => RetryFrom::default(),
        Some((_, Some(from))) => from,
        Some((other, None)) => {
            let message = format!("`{other}` is not `start` or `failed_step`");
            return Err(Problem::field(&codes::INVALID_BODY, "from", message));
        }
    };
    let input = match wish.input {
        Some(raw) => Some(not_null(Text::parse(raw.get())?)?),
        None => None,
    };
    let request = LetterRetryRequest {
        letter: id.known()?,
        input,
        from,
        version: wish.version,
        retries: wish.retries.unwrap_or_default(),
        by: actor.name(),
    };
    let execution = id.outcome(app.engine.letters().retry(request)).await?;
    let body = DeadLetterRetried {
        id: id.to_string(),
        status: model::LetterStatus::Retrying,
        execution_id: execution.to_string(),
    };
    Ok((StatusCode::ACCEPTED, Json(body)).into_response())
}

/// Deletes a dead letter: it is not retried any more.
///
/// It stays readable with `?status=deleted`.
#[utoipa::path(
    delete,
    path = "/api/dlq/{id}",
    responses(
        (status = 204, description = "Deleted"),
        (status = 409, description = "It is not pending"),
    ),
)]
pub(super) async fn delete_dead_letter(
    app: App,
    actor: Actor,
    id: Id<DlqId>,
    _: Params<()>,
) -> Result<StatusCode, Problem> {
    let letters = app.engine.letters();
    match letters.delete(id.known()?, &actor.name()).await? {
        PartOutcome::Done => Ok(StatusCode::NO_CONTENT),
        PartOutcome::LetterNotPending(Some(status)) => {
            let detail = format!("the dead letter is {}, not pending", status.name());
            Err(Problem::new(&codes::NOT_PENDING, detail))
        }
        _ => Err(id.missing()),
    }
}
