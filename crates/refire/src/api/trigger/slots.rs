//! The planned times of a trigger: those to come, what became of the others, and running them again.

use axum::Json;
use http::HeaderMap;
use refire_client::model::{
    BackfillRequest, BackfillResult, BackfilledSlot, LedgerEntry, Page, PlannedSlot,
};
use refire_client::query::{NextQuery, Paging, SlotQuery};
use refire_core::id::TriggerId;
use refire_core::time::Timestamp;
use refire_engine::trigger::{Backfill, TriggerError};
use refire_store::{SlotFilter, SlotStatus};

use super::find;
use crate::api::execute::no_idempotency_key;
use crate::api::problem::wrong;
use crate::api::query::{meant, parsed};
use crate::api::{Actor, Answer, App, Content, Id, List, Params, Problem, Window, page, view};
use crate::codes;

/// Planned times that are told unless somebody asks for more: the next one and the one after it.
const NEXT_COUNT: u32 = 2;

/// What takes the place of an idempotency key.
const NO_KEY: &str = "times that were started are not run again, unless `only_missed` is false";

/// The next planned times, whether or not the trigger is enabled.
#[utoipa::path(
    get,
    path = "/api/triggers/{id}/next",
    params(NextQuery),
    responses(
        (status = 200, description = "The planned times, the next one first; fewer if there are no more", body = Page<PlannedSlot>),
        (status = 404, description = "There is no such trigger"),
        (status = 409, description = "A webhook has no planned times"),
    ),
)]
pub(crate) async fn list_next_slots(
    app: App,
    id: Id<TriggerId>,
    Params(query): Params<NextQuery>,
) -> Answer<Page<PlannedSlot>> {
    let count = query.count.unwrap_or(NEXT_COUNT);
    let slots = id
        .outcome(app.engine.triggers().upcoming(id.known()?, count as usize))
        .await?;
    let items = slots.iter().map(view::trigger::planned).collect();
    Ok(Json(page::whole(items)))
}

/// The ledger: what happened at every planned time, newest first.
///
/// Consecutive planned times that were skipped for the same reason are one entry, which is in every range
/// that has one of them. For each trigger
/// the last 100 of these are kept, the last 2000 that were backfilled, and the last 200 others.
#[utoipa::path(
    get,
    path = "/api/triggers/{id}/slots",
    params(SlotQuery, Paging),
    responses(
        (status = 200, description = "A page of the ledger", body = Page<LedgerEntry>),
        (status = 404, description = "There is no such trigger"),
    ),
)]
pub(crate) async fn list_slots(
    app: App,
    id: Id<TriggerId>,
    Params((query, paging)): Params<(SlotQuery, Paging)>,
) -> Answer<Page<LedgerEntry>> {
    let filter = SlotFilter {
        statuses: meant(&query.status, SlotStatus::from_name),
        from: parsed(query.from.as_deref())?,
        to: parsed(query.to.as_deref())?,
    };
    let trigger = find(&app, &id).await?;
    let known = trigger.row.id;
    let window = Window::new(List::Slots, &(known, &filter), &paging)?;
    let store = app.engine.store();
    let rows = store
        .slots(known, &filter, window.behind, window.rows)
        .await?;
    let zone = &view::trigger::zone(&trigger);
    let view = |row| async move { Ok(view::trigger::entry(&row, zone)) };
    page::shown(window.page(rows, |row| row.seq), view).await
}

/// Runs planned times of the past, oldest first.
///
/// By default only times that were skipped are run, so that repeating the request runs nothing twice.
/// With `only_missed: false` all of them are run again. A range in the future is refused, as is an
/// `Idempotency-Key`, since none is kept for this. At most 1,000.
#[utoipa::path(
    post,
    path = "/api/triggers/{id}/backfill",
    request_body(
        content = BackfillRequest,
        example = json!({"from": "2026-11-15T00:00:00Z", "to": "2026-11-16T00:00:00Z", "only_missed": true, "dry_run": true}),
    ),
    responses(
        (status = 200, description = "What was started or would be; `error` if not all of it could be started", body = BackfillResult),
        (status = 400, description = "The range is wrong or too long, or there is an `Idempotency-Key`"),
        (status = 404, description = "There is no such trigger"),
        (status = 409, description = "It is disabled, or has no planned times"),
    ),
)]
pub(crate) async fn backfill_trigger(
    app: App,
    actor: Actor,
    id: Id<TriggerId>,
    _: Params<()>,
    headers: HeaderMap,
    body: Content,
) -> Answer<BackfillResult> {
    no_idempotency_key(&headers, NO_KEY)?;
    let known = id.known()?;
    let wish: BackfillRequest = body.read()?;
    let range = range(&wish, app.engine.now())?;
    let known_from = match range.only_missed {
        true => app.engine.triggers().ledger_known_from(known).await,
        false => Ok(None),
    };
    let known_from = known_from.map_err(|error| id.named(error))?;
    let known_from = known_from.filter(|first| range.from < *first);
    let mut error = None;
    let slots: Vec<BackfilledSlot> = if wish.dry_run {
        let slots = app.engine.triggers().backfill_slots(known, range).await;
        let would = |slot: Timestamp| backfilled(slot, None);
        let slots = slots.map_err(|error| id.named(error))?;
        slots.into_iter().map(would).collect()
    } else {
        let by = Some(actor.name());
        let started = match app.engine.triggers().backfill(known, range, by).await {
            // These run: whoever asked must be told of them.
            Err(TriggerError::Partly { started, because }) => {
                error = Some(because.to_string());
                started
            }
            other => other.map_err(|error| id.named(error))?,
        };
        started
            .into_iter()
            .map(|(slot, execution)| backfilled(slot, Some(execution.to_string())))
            .collect()
    };
    Ok(Json(BackfillResult {
        count: slots.len() as u64,
        slots,
        error,
        ledger_from: known_from.map(|first| first.to_string()),
    }))
}

fn backfilled(slot: Timestamp, execution_id: Option<String>) -> BackfilledSlot {
    BackfilledSlot {
        nominal: slot.to_string(),
        execution_id,
    }
}

fn range(wish: &BackfillRequest, now: Timestamp) -> Result<Backfill, Problem> {
    let (from, to) = (wish.from.parse::<Timestamp>(), wish.to.parse::<Timestamp>());
    match (from, to) {
        (Ok(from), Ok(to)) if to < from => {
            let message = "is before `from`";
            Err(Problem::field(&codes::INVALID_BODY, "to", message))
        }
        (Ok(from), Ok(_)) if from > now => {
            let message = "is in the future: nothing is due there yet, so nothing was started";
            Err(Problem::field(&codes::INVALID_BODY, "from", message))
        }
        (Ok(from), Ok(to)) => Ok(Backfill {
            from,
            to,
            only_missed: wish.only_missed.unwrap_or(true),
        }),
        (from, to) => {
            let problems = [("from", from.err()), ("to", to.err())].into_iter();
            let problems = problems.filter_map(|(field, error)| Some((field, error?)));
            let problems = problems.map(|(field, error)| wrong(field, error.to_string()));
            Err(Problem::fields(&codes::INVALID_BODY, problems.collect()))
        }
    }
}
