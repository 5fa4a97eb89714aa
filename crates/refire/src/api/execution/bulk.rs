//! Many executions at once.

use axum::response::Response;
use refire_client::model::{BulkExecutions, BulkStarted};
use refire_client::query::ExecutionQuery;
use refire_core::bulk::Action;
use refire_core::execution::Status;
use refire_core::id::ExecutionId;
use refire_engine::bulk::BulkRequest;
use refire_store::{BulkOptions, BulkWish, Selection};

use super::list::filter;
use crate::api::bulk::asked;
use crate::api::bulk::wish::{self, Chosen, Wrong};
use crate::api::{Actor, App, Content, Params, Problem};

const ACTIONS: [Action; 4] = [
    Action::Cancel,
    Action::Pause,
    Action::Resume,
    Action::RunAgain,
];

/// Cancels, pauses, resumes or runs many executions again, as a job of the server.
///
/// Which those are is said by `ids` or by `filter`; what comes later is never met. With `dry_run` nothing is written, and the
/// answer says how many there are and what would become of ten of them (status 200, `BulkPreview`).
#[utoipa::path(
    post,
    path = "/api/executions/bulk",
    request_body(
        content = BulkExecutions,
        example = json!({"action": "cancel", "filter": {"workflow": ["ship_order"], "status": ["retrying"]}}),
    ),
    responses(
        (status = 200, description = "What it would do", body = refire_client::model::BulkPreview),
        (status = 202, description = "The job is saved and begins", body = BulkStarted),
        (status = 400, description = "The body is wrong"),
        (status = 409, description = "Too many bulk jobs are open"),
    ),
)]
pub(in crate::api) async fn bulk_executions(
    app: App,
    actor: Actor,
    _: Params<()>,
    body: Content,
) -> Result<Response, Problem> {
    let wish: BulkExecutions = body.read()?;
    let request = request(&app, &wish, actor.name()).await?;
    asked(&app, request, wish.dry_run).await
}

async fn request(app: &App, wish: &BulkExecutions, by: String) -> Result<BulkRequest, Problem> {
    let mut wrong = Wrong::default();
    let action = wrong.action(&wish.action, &ACTIONS);
    let is_cancel = action.is_none_or(|action| action == Action::Cancel);
    wrong.only_for("compensate", wish.compensate.is_some(), is_cancel, "cancel");
    let rate = wrong.rate(wish.rate);
    let (ids, given) = (wish.ids.as_deref(), wish.filter.as_ref());
    let chosen = wrong.selection::<ExecutionId, ExecutionQuery>(ids, given);
    wrong.end()?;
    // All that is missing was told.
    let (Some(action), Some(chosen)) = (action, chosen) else {
        return Err(Problem::internal("a bulk job without an action"));
    };
    let selection = match chosen {
        Chosen::Ids(ids) => ids,
        Chosen::Filter(query) => {
            let mut filter = Box::new(filter(app, &query).await?);
            if filter.statuses.is_empty() {
                filter.statuses = statuses(action);
            }
            let asked = wish::asked(&query);
            Selection::Executions { filter, asked }
        }
    };
    let options = BulkOptions {
        compensate: wish.compensate.unwrap_or_default(),
        ..BulkOptions::default()
    };
    let wish = BulkWish { selection, options };
    Ok(BulkRequest {
        action,
        wish,
        rate,
        by,
    })
}

/// Those that an action is for, where nobody says otherwise.
fn statuses(action: Action) -> Vec<Status> {
    use Status::{Cancelled, Dlq, Failed, Paused, Pending, Retrying, Running, Waiting};
    match action {
        Action::Resume => vec![Paused],
        Action::RunAgain => vec![Failed, Dlq, Cancelled],
        Action::Pause => vec![Pending, Running, Retrying, Waiting],
        _ => vec![Pending, Running, Retrying, Waiting, Paused],
    }
}
