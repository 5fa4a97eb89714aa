//! Bulk jobs: read, paused, resumed, cancelled. What makes one stands with what it is about.

pub(super) mod wish;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use refire_client::model::{
    self, BulkAction, BulkJob, BulkOutcome, BulkPreview, BulkSample, BulkStarted, BulkState, Page,
};
use refire_client::query::{BulkItemQuery, BulkQuery, Paging};
use refire_core::bulk::{Action, ItemOutcome, JobChange, JobState};
use refire_core::id::{BulkId, ItemId};
use refire_core::json::Json as Text;
use refire_engine::bulk::{BulkError, BulkRequest, Preview};
use refire_store::{BulkItemRow, BulkRow, BulkWish, Selection};

use super::problem::wrong;
use super::query::meant;
use super::{Answer, App, Id, List, Params, Problem, Window, page, view};
use crate::codes;

/// Unknown things that are named in an answer.
const UNKNOWN_MAX: usize = 100;

/// Bulk jobs, newest first.
#[utoipa::path(
    get,
    path = "/api/bulk",
    params(BulkQuery, Paging),
    responses(
        (status = 200, description = "A page of bulk jobs", body = Page<BulkJob>),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
pub(super) async fn list_bulk_jobs(
    app: App,
    Params((query, paging)): Params<(BulkQuery, Paging)>,
) -> Answer<Page<BulkJob>> {
    let states = meant(&query.state, JobState::from_name);
    let window = Window::new(List::BulkJobs, &query, &paging)?;
    let store = app.engine.store();
    let rows = store.bulk_jobs(&states, window.behind, window.rows).await?;
    let page = window.page(rows, |row| row.id);
    let app = &app;
    page::shown(page, |row| async move { shown(app, row).await }).await
}

/// A bulk job: where it stands, and how many things have which outcome.
#[utoipa::path(
    get,
    path = "/api/bulk/{id}",
    responses((status = 200, description = "The bulk job", body = BulkJob)),
)]
pub(super) async fn get_bulk_job(app: App, id: Id<BulkId>, _: Params<()>) -> Answer<BulkJob> {
    let row = app.engine.store().bulk_job(id.known()?).await?;
    let row = row.ok_or_else(|| id.missing())?;
    Ok(Json(shown(&app, row).await?))
}

/// What became of the things of a bulk job, from the newest thing to the oldest. Kept for 30 days after its end.
#[utoipa::path(
    get,
    path = "/api/bulk/{id}/items",
    params(BulkItemQuery, Paging),
    responses(
        (status = 200, description = "A page of things", body = Page<model::BulkItem>),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
pub(super) async fn list_bulk_items(
    app: App,
    id: Id<BulkId>,
    Params((query, paging)): Params<(BulkItemQuery, Paging)>,
) -> Answer<Page<model::BulkItem>> {
    let job = id.known()?;
    let store = app.engine.store();
    let row = store.bulk_job(job).await?.ok_or_else(|| id.missing())?;
    let outcomes = meant(&query.outcome, ItemOutcome::from_name);
    let window = Window::new(List::BulkItems, &(job, &query), &paging)?;
    let rows = store
        .bulk_items(job, &outcomes, window.behind, window.rows)
        .await?;
    let page = window.page(rows, |row| row.item);
    page::shown(page, |item| async move { Ok(thing(row.action, item)) }).await
}

/// Pauses a bulk job: what is under way ends, nothing else begins.
#[utoipa::path(
    post,
    path = "/api/bulk/{id}/pause",
    responses(
        (status = 200, description = "Paused, now or before", body = BulkJob),
        (status = 409, description = "It has ended"),
    ),
)]
pub(super) async fn pause_bulk_job(app: App, id: Id<BulkId>, _: Params<()>) -> Answer<BulkJob> {
    change(&app, &id, JobChange::Pause).await
}

/// Lets a paused bulk job go on where it stopped.
#[utoipa::path(
    post,
    path = "/api/bulk/{id}/resume",
    responses(
        (status = 200, description = "Running, now or before", body = BulkJob),
        (status = 409, description = "It has ended"),
    ),
)]
pub(super) async fn resume_bulk_job(app: App, id: Id<BulkId>, _: Params<()>) -> Answer<BulkJob> {
    change(&app, &id, JobChange::Resume).await
}

/// Ends a bulk job where it stands. What it has done stays done.
#[utoipa::path(
    post,
    path = "/api/bulk/{id}/cancel",
    responses(
        (status = 200, description = "Cancelled, now or before", body = BulkJob),
        (status = 409, description = "It has come to its end"),
    ),
)]
pub(super) async fn cancel_bulk_job(app: App, id: Id<BulkId>, _: Params<()>) -> Answer<BulkJob> {
    change(&app, &id, JobChange::Cancel).await
}

async fn change(app: &App, id: &Id<BulkId>, change: JobChange) -> Answer<BulkJob> {
    let row = id.outcome(app.engine.bulk().change(id.known()?, change));
    Ok(Json(shown(app, row.await?).await?))
}

/// Makes a job, or says what it would do.
pub(super) async fn asked(
    app: &App,
    request: BulkRequest,
    dry_run: bool,
) -> Result<Response, Problem> {
    let (action, bulk) = (request.action, app.engine.bulk());
    let named = |error| named(error, action);
    if dry_run {
        let preview = bulk.preview(&request).await.map_err(named)?;
        return Ok(Json(previewed(action, preview)?).into_response());
    }
    let id = bulk.create(request).await.map_err(named)?.to_string();
    Ok((StatusCode::ACCEPTED, Json(BulkStarted { id })).into_response())
}

/// A problem; one about things that are not there says which.
fn named(error: BulkError, action: Action) -> Problem {
    match error {
        BulkError::Unknown(ids) => {
            let noun = match action.is_about_letters() {
                true => "dead letter",
                false => "execution",
            };
            let named = ids.iter().take(UNKNOWN_MAX);
            let named = named.map(|id| {
                let id = name(action, *id);
                wrong("ids", format!("there is no {noun} `{id}`"))
            });
            Problem::fields(&codes::INVALID_BULK, named.collect())
        }
        other => other.into(),
    }
}

/// The id of a thing in words.
fn name(action: Action, item: ItemId) -> String {
    match action.is_about_letters() {
        true => item.letter().to_string(),
        false => item.execution().to_string(),
    }
}

fn previewed(action: Action, preview: Preview) -> Result<BulkPreview, Problem> {
    let sample = preview.samples.into_iter().map(|sample| {
        let (after, error) = match sample.after {
            Ok(after) => (Some(view::raw(&after)?), None),
            Err(why) => (None, Some(why)),
        };
        Ok(BulkSample {
            id: name(action, sample.id),
            before: view::raw(&sample.before)?,
            after,
            error,
        })
    });
    Ok(BulkPreview {
        count: preview.count,
        at_least: preview.at_least,
        sample: sample.collect::<Result<_, Problem>>()?,
    })
}

async fn shown(app: &App, row: BulkRow) -> Result<BulkJob, Problem> {
    let wish = app.engine.store().bulk_wish(row.id).await?;
    let wish = wish.ok_or_else(|| Id::<BulkId>::new(row.id.to_string()).missing())?;
    let BulkWish { selection, options } = wish;
    let (filter, ids) = match selection {
        Selection::Ids(ids) => (None, Some(ids.len() as u64)),
        Selection::Letters { asked, .. } | Selection::Executions { asked, .. } => {
            (Some(asked.into_iter().collect()), None)
        }
    };
    let transform = options.transform.map(Text::parse).transpose();
    let transform = transform.map_err(Problem::internal)?;
    let is = |action| row.action == action;
    Ok(BulkJob {
        id: row.id.to_string(),
        action: BulkAction::from_name(row.action.name()),
        state: BulkState::from_name(row.state.name()),
        filter,
        ids,
        total: row.total,
        done: row.counts.all(),
        ok: row.counts.ok,
        failed: row.counts.failed,
        skipped: row.counts.skipped,
        rate: row.rate,
        from: is(Action::Retry).then(|| options.from.name().to_owned()),
        retries: is(Action::Retry).then_some(options.retries),
        transform: transform.as_ref().map(view::raw).transpose()?,
        include_pending: is(Action::Purge).then_some(options.include_pending),
        compensate: is(Action::Cancel).then_some(options.compensate),
        created_by: row.by,
        created_at: row.created_at.to_string(),
        updated_at: row.updated_at.to_string(),
        ended_at: row.ended_at.map(|at| at.to_string()),
    })
}

fn thing(action: Action, row: BulkItemRow) -> model::BulkItem {
    model::BulkItem {
        id: name(action, row.item),
        outcome: BulkOutcome::from_name(row.outcome.name()),
        execution_id: row.execution.map(|id| id.to_string()),
        detail: row.detail,
        at: row.at.to_string(),
    }
}
