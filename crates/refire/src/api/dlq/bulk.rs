//! Many dead letters at once.

use axum::response::Response;
use refire_client::model::{BulkDeadLetters, BulkStarted};
use refire_client::query::LetterQuery;
use refire_core::bulk::Action;
use refire_core::dead_letter::LetterStatus;
use refire_core::id::DlqId;
use refire_engine::RetryFrom;
use refire_engine::bulk::BulkRequest;
use refire_store::{BulkOptions, BulkWish, Selection};

use super::by_id::Wanted;
use super::filter;
use crate::api::bulk::asked;
use crate::api::bulk::wish::{self, Chosen, Wrong};
use crate::api::{Actor, App, Content, Params, Problem};

const ACTIONS: [Action; 3] = [Action::Retry, Action::Delete, Action::Purge];

/// Retries, deletes or purges many dead letters, as a job of the server.
///
/// Which those are is said by `ids` or by `filter`; what fails later is never met. With `dry_run` nothing is written, and
/// the answer says how many there are and what would become of ten of them (status 200, `BulkPreview`).
#[utoipa::path(
    post,
    path = "/api/dlq/bulk",
    request_body(
        content = BulkDeadLetters,
        example = json!({
            "action": "retry",
            "filter": {"workflow_id": "ship_order", "error_type": ["http_status"]},
            "rate": 20,
            "transform": {"merge": {"carrier": "${input.carrier ?? \"dhl\"}"}},
        }),
    ),
    responses(
        (status = 200, description = "What it would do", body = refire_client::model::BulkPreview),
        (status = 202, description = "The job is saved and begins", body = BulkStarted),
        (status = 400, description = "The body is wrong"),
        (status = 409, description = "Too many bulk jobs are open"),
    ),
)]
pub(in crate::api) async fn bulk_dead_letters(
    app: App,
    actor: Actor,
    _: Params<()>,
    body: Content,
) -> Result<Response, Problem> {
    let wish: BulkDeadLetters = body.read()?;
    let request = request(&app, &wish, actor.name())?;
    asked(&app, request, wish.dry_run).await
}

fn request(app: &App, wish: &BulkDeadLetters, by: String) -> Result<BulkRequest, Problem> {
    let mut wrong = Wrong::default();
    let action = wrong.action(&wish.action, &ACTIONS);
    let is = |asked| action.is_none_or(|action| action == asked);
    wrong.only_for(
        "transform",
        wish.transform.is_some(),
        is(Action::Retry),
        "retry",
    );
    wrong.only_for("from", wish.from.is_some(), is(Action::Retry), "retry");
    wrong.only_for(
        "retries",
        wish.retries.is_some(),
        is(Action::Retry),
        "retry",
    );
    let pending = wish.include_pending;
    wrong.only_for(
        "include_pending",
        pending.is_some(),
        is(Action::Purge),
        "purge",
    );
    let rate = wrong.rate(wish.rate);
    let from = match wish.from.as_deref().map(RetryFrom::from_name) {
        None => RetryFrom::default(),
        Some(Some(from)) => from,
        Some(None) => {
            wrong.add("from", "is not `start` or `failed_step`");
            RetryFrom::default()
        }
    };
    let chosen = wrong.selection::<DlqId, LetterQuery>(wish.ids.as_deref(), wish.filter.as_ref());
    if let Some(Chosen::Filter(query)) = &chosen
        && query.q.as_deref().and_then(Wanted::in_text).is_some()
    {
        wrong.add("filter.q", "is an id; name it in `ids`");
    }
    let transform = wish.transform.as_ref().map(|raw| raw.get().to_owned());
    let transform_problems = transform
        .as_deref()
        .map(refire_core::dead_letter::Transform::parse);
    if let Some(Err(problems)) = transform_problems {
        for problem in problems {
            let field = match problem.path.as_str() {
                "" => "transform".to_owned(),
                path => format!("transform.{path}"),
            };
            wrong.add(&field, problem.message);
        }
    }
    wrong.end()?;
    // All that is missing was told.
    let (Some(action), Some(chosen)) = (action, chosen) else {
        return Err(Problem::internal("a bulk job without an action"));
    };
    let include_pending = pending.unwrap_or_default();
    let selection = match chosen {
        Chosen::Ids(ids) => ids,
        Chosen::Filter(query) => letters(app, &query, action, include_pending)?,
    };
    let options = BulkOptions {
        from,
        retries: wish.retries.unwrap_or_default(),
        transform,
        include_pending,
        compensate: false,
    };
    let wish = BulkWish { selection, options };
    Ok(BulkRequest {
        action,
        wish,
        rate,
        by,
    })
}

fn letters(
    app: &App,
    query: &LetterQuery,
    action: Action,
    include_pending: bool,
) -> Result<Selection, Problem> {
    let (mut filter, _) = filter(query, app.engine.now())?;
    if action == Action::Purge && query.status.is_empty() {
        filter.statuses = vec![LetterStatus::Resolved, LetterStatus::Deleted];
        if include_pending {
            filter.statuses.insert(0, LetterStatus::Pending);
        }
    }
    let asked = wish::asked(query);
    Ok(Selection::Letters { filter, asked })
}
