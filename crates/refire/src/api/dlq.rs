//! Dead letters: look, retry, give up.

mod by_id;
mod detail;

use axum::Json;
use axum::extract::{Extension, Path, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use refire_client::model::{
    DeadLetter, DeadLetterDetail, DeadLetterRetried, DeadLetterSummary, Page,
    Problem as ProblemModel, RetryLetter,
};
use refire_core::dead_letter::LetterStatus;
use refire_core::definition::WorkflowId;
use refire_core::id::DlqId;
use refire_core::json::Json as Text;
use refire_core::time::Timestamp;
use refire_engine::{LetterRetryError, LetterRetryRequest, RetryFrom};
use refire_store::{LetterFilter, LetterRow, PartOutcome};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::by_id::Wanted;
use super::App;
use super::auth::Actor;
use super::body::Content;
use super::cursor::{List, Scope};
use super::execute::not_null;
use super::problem::Problem;
use super::query::Query;
use super::{page, view};
use crate::codes;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(summary))
        .routes(routes!(one, delete))
        .routes(routes!(retry))
}

fn known_id(id: &str) -> Result<DlqId, Problem> {
    id.parse().map_err(|_| not_found(id))
}

fn not_found(id: &str) -> Problem {
    Problem::new(
        &codes::NO_DEAD_LETTER,
        format!("there is no dead letter `{id}`"),
    )
}

/// The filters that the list and the overview share, and the id that is looked for, if one is.
fn filter(query: &mut Query) -> (LetterFilter, Option<Wanted>) {
    let mut statuses = query.words("status", &LetterStatus::ALL, LetterStatus::name);
    let text = query.text("q");
    let wanted = text.as_deref().and_then(Wanted::in_text);
    if statuses.is_empty() && wanted.is_none() {
        // What still concerns somebody. Who has an id wants it, wherever it stands.
        statuses = vec![LetterStatus::Pending, LetterStatus::Retrying];
    }
    let filter = LetterFilter {
        workflow: query.value::<WorkflowId>("workflow_id"),
        error_type: query.text("error_type"),
        statuses,
        from: query.value::<Timestamp>("from"),
        to: query.value::<Timestamp>("to"),
        text: text.filter(|_| wanted.is_none()),
        fingerprint: fingerprint(query),
    };
    (filter, wanted)
}

fn fingerprint(query: &mut Query) -> Option<u64> {
    let text = query.text("fingerprint")?;
    let number = u64::from_str_radix(&text, 16)
        .ok()
        .filter(|_| text.len() == 16);
    if number.is_none() {
        query.refuse("fingerprint", format!("`{text}` is not 16 hex digits"));
    }
    number
}

/// Dead letters, newest first.
///
/// Without `status`, only those that are pending or being retried.
#[utoipa::path(
    get,
    path = "/api/dlq",
    operation_id = "list_dead_letters",
    tag = "Dead letters",
    params(
        ("workflow_id" = Option<String>, Query, description = "Of this workflow"),
        ("error_type" = Option<String>, Query, description = "With this class of error, such as `http_status`"),
        ("status" = Option<String>, Query, description = "With one of these statuses; repeat it or separate by commas, such as `pending,resolved`"),
        ("from" = Option<String>, Query, description = "That failed at or after this time, such as `2026-11-08T00:00:00Z`"),
        ("to" = Option<String>, Query, description = "That failed before this time, such as `2026-11-15T00:00:00Z`"),
        ("q" = Option<String>, Query, description = "Whose message, workflow, code or step contains this; or the id of a letter or an execution (`dlq_…`, `exec_…`)"),
        ("fingerprint" = Option<String>, Query, description = "With this cause, such as `00c0ffee00c0ffee`"),
        ("limit" = Option<u32>, Query, description = "Rows, 1 to 1000; default 50"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses(
        (status = 200, description = "A page of dead letters", body = Page<DeadLetter>),
        (status = 400, description = "A parameter is wrong", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn list(State(app): State<App>, mut query: Query) -> Result<Json<Page<DeadLetter>>, Problem> {
    let (filter, wanted) = filter(&mut query);
    let limit = query.limit();
    let cursor = query.text("cursor");
    query.finish()?;
    if let Some(wanted) = wanted {
        let row = wanted.find(&app, &filter).await?;
        let items = row.iter().map(view::letter::letter);
        return Ok(Json(Page {
            items: items.collect::<Result<_, _>>()?,
            next_cursor: None,
        }));
    }
    let scope = Scope::new(List::DeadLetters, &filter);
    let from_key = |key: &[u8]| Some(DlqId::from_bytes(key.try_into().ok()?));
    let before = scope.key(cursor.as_deref(), from_key)?;
    let store = app.engine.store();
    let mut rows = store
        .letters(&filter, before, page::rows_to_read(limit))
        .await?;
    let next_cursor = page::cut(&mut rows, limit, &scope, |row| row.id.as_bytes().to_vec());
    let items = rows
        .iter()
        .map(view::letter::letter)
        .collect::<Result<_, _>>()?;
    Ok(Json(Page { items, next_cursor }))
}

/// How many dead letters there are, the oldest and the newest, by workflow and error.
#[utoipa::path(
    get,
    path = "/api/dlq/summary",
    operation_id = "summarize_dead_letters",
    tag = "Dead letters",
    params(
        ("workflow_id" = Option<String>, Query, description = "Of this workflow"),
        ("error_type" = Option<String>, Query, description = "With this class of error"),
        ("status" = Option<String>, Query, description = "With one of these statuses"),
        ("from" = Option<String>, Query, description = "That failed at or after"),
        ("to" = Option<String>, Query, description = "That failed before"),
        ("q" = Option<String>, Query, description = "Whose message, workflow, code or step contains this; or the id of a letter or an execution (`dlq_…`, `exec_…`)"),
        ("fingerprint" = Option<String>, Query, description = "With this cause"),
    ),
    responses((status = 200, description = "The overview", body = DeadLetterSummary)),
)]
async fn summary(
    State(app): State<App>,
    mut query: Query,
) -> Result<Json<DeadLetterSummary>, Problem> {
    let (filter, wanted) = filter(&mut query);
    query.finish()?;
    let summary = match wanted {
        Some(wanted) => by_id::summary(wanted.find(&app, &filter).await?.as_ref()),
        None => app.engine.store().letter_summary(&filter).await?,
    };
    Ok(Json(view::letter::summary(summary)))
}

async fn find(app: &App, id: &str) -> Result<LetterRow, Problem> {
    app.engine
        .store()
        .letter(known_id(id)?)
        .await?
        .ok_or_else(|| not_found(id))
}

/// A dead letter: what the list has of it, and its log, the target's answer, what was undone, every
/// retry by people, and how many have the same cause.
#[utoipa::path(
    get,
    path = "/api/dlq/{id}",
    operation_id = "get_dead_letter",
    tag = "Dead letters",
    params(("id" = String, Path, description = "`dlq_…`")),
    responses(
        (status = 200, description = "The dead letter", body = DeadLetterDetail),
        (status = 404, description = "There is none", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn one(
    State(app): State<App>,
    Path(id): Path<String>,
    query: Query,
) -> Result<Json<DeadLetterDetail>, Problem> {
    query.finish()?;
    let row = find(&app, &id).await?;
    Ok(Json(detail::detail(&app, &row).await?))
}

/// Retries a dead letter as a new execution without automatic retries.
///
/// Success resolves the letter; failure makes it pending again.
#[utoipa::path(
    post,
    path = "/api/dlq/{id}/retry",
    operation_id = "retry_dead_letter",
    tag = "Dead letters",
    params(("id" = String, Path, description = "`dlq_…`")),
    request_body(
        content = RetryLetter,
        description = "Everything is optional; an `input` that is present counts as edited, even {}",
        example = json!({"input": {"customer_id": 4712}, "from": "failed_step"}),
    ),
    responses(
        (status = 202, description = "The new execution is saved", body = DeadLetterRetried),
        (status = 400, description = "The body is wrong", body = ProblemModel, content_type = "application/problem+json"),
        (status = 404, description = "There is none", body = ProblemModel, content_type = "application/problem+json"),
        (status = 409, description = "It is not pending, or cannot be retried this way", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn retry(
    State(app): State<App>,
    Extension(actor): Extension<Actor>,
    Path(id): Path<String>,
    query: Query,
    body: Content,
) -> Result<Response, Problem> {
    query.finish()?;
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
        letter: known_id(&id)?,
        input,
        from,
        version: wish.version,
        by: actor.name().to_owned(),
    };
    let execution = match app.engine.letters().retry(request).await {
        Ok(execution) => execution,
        Err(LetterRetryError::NotFound) => return Err(not_found(&id)),
        Err(error) => return Err(error.into()),
    };
    let body = DeadLetterRetried {
        id,
        status: LetterStatus::Retrying.name().to_owned(),
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
    operation_id = "delete_dead_letter",
    tag = "Dead letters",
    params(("id" = String, Path, description = "`dlq_…`")),
    responses(
        (status = 204, description = "Deleted"),
        (status = 404, description = "There is none", body = ProblemModel, content_type = "application/problem+json"),
        (status = 409, description = "It is not pending", body = ProblemModel, content_type = "application/problem+json"),
    ),
)]
async fn delete(
    State(app): State<App>,
    Extension(actor): Extension<Actor>,
    Path(id): Path<String>,
    query: Query,
) -> Result<StatusCode, Problem> {
    query.finish()?;
    match app
        .engine
        .letters()
        .delete(known_id(&id)?, actor.name())
        .await?
    {
        PartOutcome::Done => Ok(StatusCode::NO_CONTENT),
        PartOutcome::LetterNotPending(Some(status)) => {
            let detail = format!("the dead letter is {}, not pending", status.name());
            Err(Problem::new(&codes::NOT_PENDING, detail))
        }
        _ => Err(not_found(&id)),
    }
}
